/* test_mech_issue.c: the content of the events of instructions and warps: the registers that an instruction
 * reads and writes, the memory that it accesses, warps that start and end. test_mech_hooks.c tests when they
 * come. */
#include "hooks_kit.h"

/* ---- registers ---- */

typedef uint64_t register_set[MECH_REGISTER_WORDS];

static void add_registers(register_set set, uint32_t first, uint32_t count)
{
    for (uint32_t r = first; r < first + count; r++) set[r / 64] |= 1ull << r % 64;
}

/* The registers among the operands of an instruction, by the letters of isa.def. */
static void registers_of(register_set set, const struct isa_inst *inst, const char *letters,
                         const uint16_t *operands)
{
    memset(set, 0, sizeof(register_set));
    for (const char *c = letters; *c; c++) {
        if (*c == '*') continue;
        const uint32_t times = c[1] == '*' && inst->vec > 1 ? inst->vec : 1;
        const bool is_pair = *c == 'd' || (*c == 'a' && !(inst->flags & ISA_A32));
        for (uint32_t i = 0; i < times; i++, operands++)
            if (*operands != ISA_NONE && isa_is_reg(*operands))
                add_registers(set, isa_index(*operands), is_pair ? 2 : 1);
    }
}

static const struct isa_kernel *kernel;
static uint32_t issues, reading, writing;

static void compare_registers(void *state, const struct mech_issue *e)
{
    const struct isa_inst *inst = &kernel->insts[e->pc];
    register_set reads, writes;
    const register_set none = {0};
    registers_of(reads, inst, isa_ops[inst->op].src, inst->src);
    registers_of(writes, inst, isa_ops[inst->op].dst, inst->dst);
    if (memcmp(e->reads, reads, sizeof reads) || memcmp(e->writes, writes, sizeof writes))
        fail_msg("pc %u, %s: reads %#llx, not %#llx; writes %#llx, not %#llx", e->pc, isa_ops[inst->op].name,
                 (unsigned long long)e->reads[0], (unsigned long long)reads[0],
                 (unsigned long long)e->writes[0], (unsigned long long)writes[0]);
    reading += memcmp(reads, none, sizeof none) != 0;
    writing += memcmp(writes, none, sizeof none) != 0;
    issues++;
}

/* Pairs, predicates, vectors, constants, a guard and an atomic. */
static const char many_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry many(.param .u64 buf)\n{\n"
    ".reg .u64 %b, %x; .reg .u32 %t, %c<8>; .reg .f64 %d; .reg .pred %p, %q;\n"
    "ld.param.u64 %b, [buf]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 16; add.u64 %x, %b, %x;\n"
    "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%x];\n"
    "setp.gt.u32 %p, %c0, %t; setp.lt.u32 %q, %c1, 7;\n"
    "selp.u32 %c4, %c1, %c2, %p; mad.lo.u32 %c5, %c3, %c4, %t;\n"
    "@%q add.u32 %c5, %c5, 3;\n"
    "cvt.rn.f64.u32 %d, %c5; add.f64 %d, %d, 0d3ff8000000000000; cvt.rzi.u32.f64 %c6, %d;\n"
    "atom.global.add.u32 %c7, [%b+4096], %c6;\n"
    "@%p st.global.v2.u32 [%x], {%c6, %c7};\nret;\n}\n";

static void reads_and_writes_are_the_registers_of_the_operands(void **state)
{
    issues = reading = writing = 0;
    attach((struct mechanism){.on_issue = compare_registers});
    const struct play p = with_blank("");
    rig_open(&rig, many_ptx, &(struct rig_options){.timed = {.mechs = p.mechs, .mech_count = 1}});
    kernel = emu_find_kernel(rig.module, "many");
    rig_run(&rig, "many", 2, 64, (const uint64_t[]){rig_alloc(&rig, 8192)});
    assert_int_equal(issues, stat_of("sm.warp_insts"));
    assert_true(reading > issues / 2 && writing > issues / 2);
    play_close();
}

/* ---- memory ---- */

/* Instructions that access global and local memory, and their accesses to the L1. */
static uint32_t global_loads, global_stores, local_loads, local_stores, local_accesses[2], global_accesses,
    local_fills, local_evictions;

static void count_spaces(void *state, const struct mech_issue *e)
{
    global_loads += e->is_global && e->is_load;
    global_stores += e->is_global && e->is_store;
    local_loads += e->is_local && e->is_load;
    local_stores += e->is_local && e->is_store;
    assert_false(e->is_local && e->is_global);
    assert_int_equal(e->l1_lines, e->is_local || e->is_global ? 1 : 0);
    assert_true((e->id != 0) == (e->l1_lines != 0));
}
static void count_local_access(void *state, const struct mech_l1_access *e)
{
    if (!e->is_local)
        global_accesses++;
    else
        local_accesses[e->is_store]++;
}
static void count_local_fill(void *state, const struct mech_l1_fill *e) { local_fills += e->is_local; }
static void count_local_eviction(void *state, const struct mech_l1_evict *e)
{
    local_evictions += e->is_local;
}

/* Two stores to local memory and two loads of it, the same word of all lanes: one line. The lines b to g push
 * it out of an L1 of four lines, and the second load brings it back. */
static void local_memory_is_told_as_such(void **state)
{
    global_loads = global_stores = local_loads = local_stores = global_accesses = 0;
    local_fills = local_evictions = 0;
    memset(local_accesses, 0, sizeof local_accesses);
    attach((struct mechanism){.on_issue = count_spaces,
                              .on_l1_access = count_local_access,
                              .on_l1_fill = count_local_fill,
                              .on_l1_evict = count_local_eviction});
    const struct play p = with_blank("a$bcdefg$");
    play(&p);
    assert_int_equal(global_loads, 7);
    assert_int_equal(global_stores, 1); /* the result */
    assert_int_equal(local_loads, 2);
    assert_int_equal(local_stores, 2);
    assert_int_equal(global_accesses, 8);
    assert_int_equal(local_accesses[false], 2);
    assert_int_equal(local_accesses[true], 2);
    assert_true(local_evictions > 0);
    assert_int_equal(local_fills, stat_of("l1.local_load_misses"));
    play_close();
}

static void sum_issue(void *state, const struct mech_issue *e)
{
    tell(state, 0, e->cycle, e->reads[0] ^ e->writes[0] << 1);
    tell(state, 1, e->cycle, (uint64_t)e->warp * 64 + e->pc);
    tell(state, 2, e->cycle, e->is_load + 2 * e->is_store + 4 * e->is_global + 8 * e->is_local);
    tell(state, 3, e->cycle, e->id ^ (uint64_t)e->lanes << 8 ^ e->launch * e->l1_lines ^ e->scheduler);
}

static void an_issue_is_the_same_whatever_is_skipped(void **state)
{
    attach((struct mechanism){.on_issue = sum_issue});
    const struct play p = with_blank("ab$#A_!cd*#$");
    expect_same_everywhere(&p);
}

/* ---- warps ---- */

enum { CTA_WARPS = 3, CTAS = 5 };
static struct mech_warp_event starts[CTAS * CTA_WARPS];
static uint32_t start_count, end_count;

static void see_warp(void *state, const struct mech_warp_event *e)
{
    assert_false(e->is_swap);
    assert_int_equal(e->cta_warps, CTA_WARPS);
    if (e->is_start) {
        assert_int_equal(e->launch, start_count);
        assert_int_equal(e->cta, start_count / CTA_WARPS);
        assert_int_equal(e->index, start_count % CTA_WARPS);
        starts[start_count++] = *e;
        return;
    }
    const struct mech_warp_event *s = &starts[e->launch];
    assert_true(e->launch < start_count && e->cycle > s->cycle);
    assert_int_equal(e->warp, s->warp);
    assert_int_equal(e->cta_slot, s->cta_slot);
    assert_int_equal(e->cta, s->cta);
    assert_int_equal(e->index, s->index);
    assert_int_equal(e->scheduler, s->scheduler);
    end_count++;
}
static void see_scheduler(void *state, const struct mech_issue *e)
{
    assert_int_equal(e->scheduler, starts[e->launch].scheduler);
    assert_int_equal(e->warp, starts[e->launch].warp);
}

static void sum_warp(void *state, const struct mech_warp_event *e)
{
    tell(state, 0, e->cycle, e->launch * 64 + (uint64_t)e->warp);
    tell(state, 1, e->cycle, e->cta * 64 + e->cta_slot);
    tell(state, 2, e->cycle, (uint64_t)e->is_start * 64 + e->index * 8 + e->scheduler);
    tell(state, 3, e->cycle, (uint64_t)e->is_swap * 64 + e->cta_warps);
}

/* Warps start in launch order, CTA by CTA, and their ends carry the same numbers. Two CTAs fit at a time. */
static void on_warp_tells_each_start_and_end(void **state)
{
    start_count = end_count = 0;
    attach((struct mechanism){.on_warp = see_warp, .on_issue = see_scheduler});
    struct play p = with_blank("ab#A_!cd");
    p.grid = CTAS;
    p.block = CTA_WARPS * 32;
    p.sets[0] = "sm.ctas=2";
    play(&p);
    assert_int_equal(start_count, CTAS * CTA_WARPS);
    assert_int_equal(end_count, CTAS * CTA_WARPS);
    play_close();
    attach((struct mechanism){.on_warp = sum_warp});
    p.grid = p.block = 0;
    expect_same_everywhere(&p);
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(reads_and_writes_are_the_registers_of_the_operands),
        RIG_TEST(local_memory_is_told_as_such),
        RIG_TEST(an_issue_is_the_same_whatever_is_skipped),
        RIG_TEST(on_warp_tells_each_start_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
