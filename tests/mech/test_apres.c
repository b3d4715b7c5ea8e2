/* test_apres.c: LAWS and APRES on a machine: hits of small kernels counted on paper, and results that do not
 * depend on what is skipped nor on threads. Orders of the queue, tables and readings: unit/test_mech_laws.c. */
#include "script_kit.h"

/* ---- figure 6 ---- */

/* Each of four warps loads line a and waits; then two loads that nothing waits for: a line of its own, at a
 * stride of one line, and a again. */
static const char two_loads[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry two(.param .u64 shared_line, .param .u64 own, .param .u64 out)\n{\n"
    ".reg .u64 %a, %b, %o, %x; .reg .u32 %t, %w, %u, %v, %s;\n"
    "ld.param.u64 %a, [shared_line]; ld.param.u64 %b, [own]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
    "shr.u32 %w, %t, 5; mul.wide.u32 %x, %w, 128; add.u64 %b, %b, %x;\n"
    "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x;\n"
    "ld.global.u32 %s, [%a]; add.u32 %s, %s, 1;\n"
    "bar.sync 0;\n"
    "ld.global.u32 %u, [%b];\nld.global.u32 %v, [%a];\n"
    "add.u32 %s, %s, %u; add.u32 %s, %s, %v; st.global.u32 [%o], %s;\nret;\n}\n";

enum { WARPS = 4 };

/* One scheduler, an L1 of one set of four lines. */
static void run_two_loads(const char *mech)
{
    static const char *const sets[] = {"sm.count=1", "sm.schedulers=1", "l1.size=512", "l1.ways=4",
                                       "sm.perfect_icache=true", "sm.prefetch_queue=64"};
    rig_open(&rig, two_loads,
             &(struct rig_options){
                 .sets = sets, .set_count = ARRAY_LEN(sets), .timed = {.mechs = &mech, .mech_count = 1}});
    const uint64_t buf = rig_alloc(&rig, (1 + WARPS) * LINE_BYTES), out = rig_alloc(&rig, WARPS * 32 * 4);
    for (uint32_t i = 0; i <= WARPS; i++) *(uint32_t *)(uintptr_t)(buf + i * LINE_BYTES) = 10 * i;
    rig_run(&rig, "two", 1, WARPS * 32, (const uint64_t[]){buf, buf + LINE_BYTES, out});
    for (uint32_t i = 0; i < WARPS * 32; i++)
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], 1 + 10 * (i / 32 + 1));
}

static void figure_6_hits(void **state)
{
    static const char *const mechs[] = {"lrr", "laws", "apres"};
    for (size_t i = 0; i < ARRAY_LEN(mechs); i++) {
        run_two_loads(mechs[i]);
        fprintf(stderr, "%s: hits %llu late %llu useful %llu pending? reads %llu\n", mechs[i], (unsigned long long)stat_of("l1.global_load_hits"), (unsigned long long)stat_of("l1.prefetch_late"),(unsigned long long)stat_of("l1.prefetch_useful"), (unsigned long long)stat_of("l1.requests_read"));
        rig_close(&rig);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(figure_6_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
