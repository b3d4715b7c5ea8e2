/* test_morpheus_bandwidth.c: more warps of an SM in cache mode serve more requests at a time, in each store
 * (Morpheus, Figure 11). */
#include "timing_kit.h"

/* A set has 16 blocks, and about 8 lines of the buffer: they stay. */
enum { BLOCKS = 16, LINES_OF_SET = 8, LINE_BYTES = 128, CTAS = 3, WARPS_EACH = 32 };

/* Each warp loads whole lines, another one in each round. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry loads(.param .u64 buf, .param .u32 lines, .param .u32 rounds)\n{\n"
    ".reg .u64 %b, %x; .reg .u32 %i, %t, %n, %r, %c, %v; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; ld.param.u32 %n, [lines]; ld.param.u32 %c, [rounds];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; shr.u32 %r, %t, 5; mad.lo.u32 %i, %i, 32, %r;\n"
    "and.b32 %t, %t, 31; mad.wide.u32 %b, %t, 4, %b; mov.u32 %r, 0;\n"
    "again: mad.lo.u32 %t, %r, 29, %i; rem.u32 %t, %t, %n; mul.wide.u32 %x, %t, 128; add.u64 %x, %b, %x;\n"
    "ld.global.cg.u32 %v, [%x]; setp.eq.u32 %p, %v, -1; @%p trap;\n"
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %c; @%p bra again; ret;\n}\n";

/* ---- a run ---- */

struct store {
    const char *name, *warps, *blocks;
};
static const struct store stores[] = {
    {"registers", "morpheus.warps", "morpheus.blocks"},
    {"the L1", "morpheus.l1_warps", "morpheus.l1_blocks"},
    {"shared memory", "morpheus.shared_warps", "morpheus.shared_blocks"},
};

static struct rig rig;

static void open_run(const struct store *s, uint32_t warps)
{
    static const char *const morpheus = "morpheus";
    static const char *const sets[] = {"sm.count=4",       "addr.channels=1", "addr.slices=1",
                                       "l2.slice_size=1K", "l2.ways=2",       "sm.perfect_icache=true"};
    char warps_text[64], blocks_text[64];
    snprintf(warps_text, sizeof warps_text, "%s=%u", s->warps, warps);
    snprintf(blocks_text, sizeof blocks_text, "%s=%u", s->blocks, (unsigned)BLOCKS);
    const char *settings[] = {"morpheus.cache_sms=1",
                              "morpheus.warps=0",
                              "morpheus.l1_warps=0",
                              "morpheus.inserts=64",
                              "morpheus.join=false",
                              warps_text,
                              blocks_text};
    const struct rig_options o = {.machine = "rtx3080",
                                  .sets = sets,
                                  .set_count = ARRAY_LEN(sets),
                                  .timed = {.mechs = &morpheus,
                                            .mech_count = 1,
                                            .mech_settings = settings,
                                            .mech_setting_count = ARRAY_LEN(settings)}};
    rig_open(&rig, ptx, &o);
}

/* Bytes of hits in 1000 cycles, of a kernel whose lines are there. */
static uint64_t bandwidth_of(const struct store *s, uint32_t warps)
{
    const uint64_t lines = LINES_OF_SET * warps;
    open_run(s, warps);
    const uint64_t buf = rig_alloc(&rig, lines * LINE_BYTES);
    for (uint32_t i = 0; i < 2; i++)
        rig_run(&rig, "loads", CTAS, WARPS_EACH * 32, (const uint64_t[]){buf, lines, i ? 16 : 8});
    const uint64_t hits = (uint64_t)rig_stat(&rig, 1, "morpheus.hits");
    const uint64_t requests = (uint64_t)rig_stat(&rig, 1, "morpheus.requests");
    assert_true(requests && hits * 10 >= requests * 9);
    const uint64_t bytes = hits * LINE_BYTES * 1000 / rig_cycles(&rig, 1);
    print_message("%u warps, %s: %u bytes in 1000 cycles, service %u cycles\n", warps, s->name,
                  (unsigned)bytes, (unsigned)rig_stat(&rig, 1, "morpheus.service"));
    rig_close(&rig);
    return bytes;
}

/* ---- tests ---- */

/* From few warps, each with one request at a time, on: eight serve at least three times what one does. */
static void more_warps_serve_more_bytes(void **state)
{
    static const uint32_t warps[] = {1, 8, 24, 48};
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        uint64_t bytes[ARRAY_LEN(warps)];
        for (size_t k = 0; k < ARRAY_LEN(warps); k++) {
            bytes[k] = bandwidth_of(&stores[i], warps[k]);
            if (k) assert_true(bytes[k] > bytes[k - 1]);
        }
        assert_true(bytes[1] > 3 * bytes[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {RIG_TEST(more_warps_serve_more_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
