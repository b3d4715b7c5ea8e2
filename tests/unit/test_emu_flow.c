/* Control flow: divergence, loops, calls, waiting within a warp. */
#include "emu_kit.h"

enum { G_P0 = 0, G_P1 = 1, G_NOT = ISA_GUARD_NOT };

/* Writes r[value] to out[tid] (parameter 0) and ends. */
static void store_result(struct kit *k, uint16_t value)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, RD(28), param64(k, 0), R(30), 4);
    st32(k, RD(28), value, ISA_GLOBAL);
    exit_(k);
}

static void test_if_else(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 64, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 10));
    uint32_t branch = bra(&k, G_P0, 0, 0);
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 100)));
    uint32_t skip = bra(&k, ISA_PT, 0, 0);
    uint32_t other = here(&k);
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 200)));
    uint32_t join = here(&k);
    patch(&k, branch, other, join);
    patch(&k, skip, join, join);
    /* after the join all lanes run together: the count of active lanes goes into the result */
    emit(&k, ISA_OP_ACTIVEMASK, D(R(2)), S(NO));
    emit(&k, ISA_OP_POPC_32, D(R(2)), S(R(2)));
    emit(&k, ISA_OP_ADD_32, D(R(1)), S(R(1), R(2)));
    store_result(&k, R(1));
    kit_run(&k, 1, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], (t < 10 ? 200 : 100) + 32);
    assert_int_equal(k.stats.divergent_branches, 1);
    kit_close(&k);
}

/* sum = 0; for (i = 0; ; i++) { if (i == tid) break; if (i == 20) break; sum += i } with both breaks at one
 * place. */
static void test_loop_with_breaks(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 0)));
    emit(&k, ISA_OP_MOV_32, D(R(2)), S(imm(&k, 0)));
    uint32_t head = here(&k);
    setp(&k, ISA_EQ, 0, R(1), R(0));
    uint32_t b1 = bra(&k, G_P0, 0, 0);
    setp(&k, ISA_EQ, 1, R(1), imm(&k, 20));
    uint32_t b2 = bra(&k, G_P1, 0, 0);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), R(1)));
    emit(&k, ISA_OP_ADD_32, D(R(1)), S(R(1), imm(&k, 1)));
    bra(&k, ISA_PT, head, ISA_NO_RECONV);
    uint32_t end = here(&k);
    patch(&k, b1, end, end);
    patch(&k, b2, end, end);
    emit(&k, ISA_OP_ACTIVEMASK, D(R(3)), S(NO));
    emit(&k, ISA_OP_POPC_32, D(R(3)), S(R(3)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(2)), S(R(3), imm(&k, 1000), R(2)));
    store_result(&k, R(2));
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t n = t < 20 ? t : 20;
        assert_int_equal(out[t], 32000 + n * (n - 1) / 2);
    }
    kit_close(&k);
}

/* Nested: three levels of branches on bits of tid; each path adds its own number; all meet at the end. */
static void test_nested(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    uint32_t outer[2], inner[2];
    emit(&k, ISA_OP_AND_32, D(R(1)), S(R(0), imm(&k, 1)));
    setp(&k, ISA_NE, 0, R(1), imm(&k, 0));
    outer[0] = bra(&k, G_P0, 0, 0);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), imm(&k, 1)));
    emit(&k, ISA_OP_AND_32, D(R(1)), S(R(0), imm(&k, 2)));
    setp(&k, ISA_NE, 1, R(1), imm(&k, 0));
    inner[0] = bra(&k, G_P1, 0, 0);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), imm(&k, 10)));
    inner[1] = bra(&k, ISA_PT, 0, 0);
    uint32_t inner_else = here(&k);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), imm(&k, 20)));
    uint32_t inner_join = here(&k);
    patch(&k, inner[0], inner_else, inner_join);
    patch(&k, inner[1], inner_join, inner_join);
    emit(&k, ISA_OP_ACTIVEMASK, D(R(3)), S(NO));
    emit(&k, ISA_OP_POPC_32, D(R(3)), S(R(3)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(2)), S(R(3), imm(&k, 100), R(2))); /* 16 lanes */
    outer[1] = bra(&k, ISA_PT, 0, 0);
    uint32_t outer_else = here(&k);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), imm(&k, 3)));
    uint32_t join = here(&k);
    patch(&k, outer[0], outer_else, join);
    patch(&k, outer[1], join, join);
    store_result(&k, R(2));
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], t & 1 ? 3 : 1 + (t & 2 ? 20 : 10) + 1600);
    kit_close(&k);
}

/* fact(n) = n < 2 ? 1 : n * fact(n - 1), n = tid % 7: lanes at different depths. The frame is kept in local
 * memory by hand: r[10] is the stack pointer. */
static void emit_factorial(struct kit *k, uint32_t *entry, uint32_t call_at)
{
    *entry = here(k);
    setp(k, ISA_LT, 0, R(0), imm(k, 2));
    uint32_t base = bra(k, G_P0, 0, ISA_NO_RECONV);
    struct isa_inst *push = st32(k, R(10), R(0), ISA_LOCAL);
    push->flags = ISA_A32;
    emit(k, ISA_OP_ADD_32, D(R(10)), S(R(10), imm(k, 4)));
    emit(k, ISA_OP_SUB_32, D(R(0)), S(R(0), imm(k, 1)));
    emit(k, ISA_OP_CALL, D(NO), S(NO))->target = *entry;
    emit(k, ISA_OP_SUB_32, D(R(10)), S(R(10), imm(k, 4)));
    ld32(k, R(0), R(10), ISA_LOCAL)->flags = ISA_A32;
    emit(k, ISA_OP_MUL_LO_32, D(R(1)), S(R(1), R(0)));
    emit(k, ISA_OP_RET, D(NO), S(NO));
    uint32_t one = here(k);
    emit(k, ISA_OP_MOV_32, D(R(1)), S(imm(k, 1)));
    emit(k, ISA_OP_RET, D(NO), S(NO));
    patch(k, base, one, ISA_NO_RECONV);
    k->insts.data[call_at].target = *entry;
    vec_push(&k->funcs, (struct isa_func){.name = "fact", .func_id = 1, .pc = *entry, .frame_bytes = 4});
}

static void test_recursion(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_REM_U32, D(R(0)), S(R(0), imm(&k, 7)));
    emit(&k, ISA_OP_CALL, D(NO), S(NO));
    uint32_t call = here(&k) - 1;
    emit(&k, ISA_OP_ACTIVEMASK, D(R(3)), S(NO)); /* all came back before anyone goes on */
    emit(&k, ISA_OP_POPC_32, D(R(3)), S(R(3)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(3), imm(&k, 10000), R(1)));
    store_result(&k, R(1));
    uint32_t entry;
    emit_factorial(&k, &entry, call);
    k.proto.uses_stack = true;
    kit_run(&k, 1, 32);
    static const uint32_t fact[] = {1, 1, 2, 6, 24, 120, 720};
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], 320000 + fact[t % 7]);
    kit_close(&k);
}

static void test_endless_recursion(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_CALL, D(NO), S(NO))->target = 2;
    exit_(&k);
    emit(&k, ISA_OP_CALL, D(NO), S(NO))->target = 2;
    emit(&k, ISA_OP_RET, D(NO), S(NO));
    vec_push(&k.funcs, (struct isa_func){.name = "f", .func_id = 1, .pc = 2, .frame_bytes = 32});
    k.proto.uses_stack = true;
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_STACK_OVERFLOW);
    assert_non_null(
        strstr(k.fault.message, "stack overflow: calls 33 deep use 1056 bytes, the stack has 1024"));
    assert_non_null(strstr(k.fault.message, "t.ptx:102"));
    kit_close(&k);
}

static void test_indirect_calls(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_REM_U32, D(R(4)), S(R(0), imm(&k, 3)));
    emit(&k, ISA_OP_ADD_32, D(R(4)), S(R(4), imm(&k, 1)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(4)), S(R(4), imm(&k, 16), imm(&k, ISA_FUNC_BASE)));
    emit(&k, ISA_OP_MOV_32, D(R(5)), S(imm(&k, 0)));
    emit(&k, ISA_OP_CALLI, D(NO), S(RD(4)));
    emit(&k, ISA_OP_ACTIVEMASK, D(R(3)), S(NO));
    emit(&k, ISA_OP_POPC_32, D(R(3)), S(R(3)));
    emit(&k, ISA_OP_ADD_32, D(R(1)), S(R(1), R(3)));
    store_result(&k, R(1));
    for (uint32_t f = 1; f <= 3; f++) {
        vec_push(&k.funcs, (struct isa_func){.name = "f", .func_id = f, .pc = here(&k)});
        emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, f * 1000)));
        emit(&k, ISA_OP_RET, D(NO), S(NO));
    }
    k.proto.uses_stack = true;
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], (t % 3 + 1) * 1000 + 32);
    kit_close(&k);
}

static void test_bad_call(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_CALLI, D(NO), S(imm64(&k, 0xdeadbeef)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_BAD_CALL);
    assert_non_null(
        strstr(k.fault.message, "call through 0xdeadbeef, which is not a function of the module"));
    kit_close(&k);
}

static void test_branch_table(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_AND_32, D(R(1)), S(R(0), imm(&k, 3)));
    struct isa_inst *brx = emit(&k, ISA_OP_BRX, D(NO), S(R(1)));
    brx->target = 4;
    uint32_t at = here(&k) - 1, jumps[4];
    for (uint32_t c = 0; c < 4; c++) {
        vec_push(&k.targets, here(&k));
        emit(&k, ISA_OP_MOV_32, D(R(2)), S(imm(&k, c * c + 7)));
        jumps[c] = bra(&k, ISA_PT, 0, 0);
    }
    uint32_t join = here(&k);
    for (uint32_t c = 0; c < 4; c++) patch(&k, jumps[c], join, join);
    k.insts.data[at].reconv = join;
    store_result(&k, R(2));
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], (t & 3) * (t & 3) + 7);
    kit_close(&k);
}

/* while (atomicCAS(lock, 0, 1) != 0); counter++ without atomics; lock = 0. The lane that gets the lock waits
 * at the end of the loop for those that spin: only independent threads get through. */
static void test_spin_lock_in_a_warp(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *lock = kit_buffer(&k, 2, 0); /* lock, counter */
    uint16_t base = param64(&k, 0), zero = imm(&k, 0), one = imm(&k, 1);
    uint32_t head = here(&k);
    struct isa_inst *cas = emit(&k, ISA_OP_ATOM_32, D(R(1)), S(base, zero, one));
    cas->mod = ISA_GLOBAL;
    cas->mod2 = ISA_ATOM_CAS;
    cas->type = ISA_U32;
    setp(&k, ISA_NE, 0, R(1), zero);
    bra(&k, G_P0, head, here(&k) + 1);
    ld32(&k, R(2), base, ISA_GLOBAL)->imm = 4;
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), one));
    st32(&k, base, R(2), ISA_GLOBAL)->imm = 4;
    st32(&k, base, zero, ISA_GLOBAL);
    exit_(&k);
    kit_run(&k, 3, 64);
    assert_int_equal(lock[0], 0);
    assert_int_equal(lock[1], 3 * 64);
    kit_close(&k);
}

/* Lane 0 waits for a flag that lane 1 sets on the other side of the branch. */
static void test_producer_and_consumer_in_a_warp(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *flag = kit_buffer(&k, 2, 0);
    uint16_t base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 1));
    uint32_t branch = bra(&k, G_P0, 0, 0);
    uint32_t head = here(&k);
    ld32(&k, R(1), base, ISA_GLOBAL)->flags = ISA_VOLATILE;
    setp(&k, ISA_EQ, 1, R(1), imm(&k, 0));
    bra(&k, G_P1, head, here(&k) + 1);
    uint32_t skip = bra(&k, ISA_PT, 0, 0);
    uint32_t producer = here(&k);
    st32(&k, base, imm(&k, 7), ISA_GLOBAL);
    uint32_t join = here(&k);
    patch(&k, branch, producer, join);
    patch(&k, skip, join, join);
    st32(&k, base, R(1), ISA_GLOBAL)->imm = 4;
    k.insts.data[here(&k) - 1].guard = G_P0 | G_NOT;
    exit_(&k);
    kit_run(&k, 1, 2);
    assert_int_equal(flag[1], 7);
    kit_close(&k);
}

/* do { v = flag; if (tid & 1) a += v; else a -= v; } while (!v), but lane `setter` leaves at once and sets
 * the flag: behind the loop, where it waits for the others, or in a branch beside it. The lanes that wait
 * part and meet in each round. */
static void waiting_loop(bool plain, bool beside)
{
    struct kit k;
    kit_open(&k);
    uint32_t *flag = kit_buffer(&k, 33, 0);
    uint16_t base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_AND_32, D(R(5)), S(R(0), imm(&k, 1)));
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 7));
    setp(&k, ISA_NE, 1, R(5), imm(&k, 0));
    uint32_t leave = bra(&k, G_P0, 0, 0), head = here(&k);
    struct isa_inst *poll = ld32(&k, R(1), base, ISA_GLOBAL);
    if (!plain) poll->flags = ISA_VOLATILE;
    uint32_t odd = bra(&k, G_P1, 0, 0);
    emit(&k, ISA_OP_SUB_32, D(R(2)), S(R(2), R(1)));
    uint32_t skip = bra(&k, ISA_PT, 0, 0);
    patch(&k, odd, here(&k), here(&k) + 1);
    emit(&k, ISA_OP_ADD_32, D(R(2)), S(R(2), R(1)));
    patch(&k, skip, here(&k), here(&k));
    setp(&k, ISA_EQ, 2, R(1), imm(&k, 0));
    bra(&k, 2, head, here(&k) + 1);
    uint32_t over = beside ? bra(&k, ISA_PT, 0, 0) : 0;
    patch(&k, leave, here(&k), here(&k) + (beside ? 1 : 0));
    st32(&k, base, imm(&k, 3), ISA_GLOBAL)->guard = G_P0;
    if (beside) patch(&k, over, here(&k), here(&k));
    index_word(&k, RD(28), base, R(0), 4);
    st32(&k, RD(28), R(2), ISA_GLOBAL)->imm = 4;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal((int32_t)flag[1 + t], t == 7 ? 0 : t & 1 ? 3 : -3);
    kit_close(&k);
}

static void test_nobody_starves(void **state)
{
    for (uint32_t n = 0; n < 4; n++) waiting_loop(n & 1, n & 2);
}

/* CTA 0 waits for a flag that CTA 5 sets: CTAs become resident while others wait. */
static void test_ctas_that_wait(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *flag = kit_buffer(&k, 1, 0);
    uint16_t base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_CTAID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 5));
    st32(&k, base, imm(&k, 1), ISA_GLOBAL);
    k.insts.data[here(&k) - 1].guard = G_P0;
    uint32_t head = here(&k);
    ld32(&k, R(1), base, ISA_GLOBAL)->flags = ISA_VOLATILE;
    setp(&k, ISA_EQ, 1, R(1), imm(&k, 0));
    bra(&k, G_P1, head, here(&k) + 1);
    exit_(&k);
    kit_run(&k, 6, 32);
    assert_int_equal(*flag, 1);
    kit_close(&k);
}

static void test_divergent_exit(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 8));
    setp(&k, ISA_LT, 1, R(0), imm(&k, 4));
    uint32_t branch = bra(&k, G_P1, 0, 0);
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P0; /* 8 to 31 end inside the branch */
    emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 1)));
    uint32_t join = here(&k);
    patch(&k, branch, join, join);
    emit(&k, ISA_OP_ACTIVEMASK, D(R(2)), S(NO));
    emit(&k, ISA_OP_MAD_LO_32, D(R(2)), S(R(1), imm(&k, 1000), R(2)));
    store_result(&k, R(2));
    kit_run(&k, 1, 32);
    for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], t < 4 ? 0xff : t < 8 ? 1000 + 0xff : 0);
    assert_int_equal(k.stats.thread_insts, 3 * 32 + 4 + 24 + 4 + 7 * 8); /* lanes whose guard is true */
    kit_close(&k);
}

static void test_endless_loop(void **state)
{
    struct kit k;
    kit_open(&k);
    emu_device_limits(k.device)->warp_insts_max = 100000;
    bra(&k, ISA_PT, 0, ISA_NO_RECONV);
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_ENDLESS);
    assert_non_null(strstr(k.fault.message, "endless loop? a warp has executed 100000 instructions"));
    assert_non_null(strstr(k.fault.message, "at t.ptx:100, CTA (0,0,0), thread (0,0,0)"));
    assert_int_equal(k.stats.warp_insts, 100000);
    kit_close(&k);
}

static void test_trap(void **state)
{
    struct kit k;
    kit_open(&k);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 40));
    emit(&k, ISA_OP_TRAP, D(NO), S(NO))->guard = G_P0;
    exit_(&k);
    assert_int_equal(kit_launch(&k, 2, 64, false), EMU_TRAP);
    assert_int_equal(k.fault.thread[0], 40);
    assert_int_equal(k.fault.ptx_line, 102);
    kit_close(&k);
}

/* A random tree of branches is run and compared with the same tree walked by each thread alone. */
static void test_random_trees(void **state)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct kit k;
        kit_open(&k);
        uint32_t *out = kit_buffer(&k, 32, 0), rng = seed * 2654435761u;
        s2r(&k, R(0), ISA_SREG_TID, 0);
        uint32_t expect[32];
        for (uint32_t t = 0; t < 32; t++) expect[t] = 1;
        emit(&k, ISA_OP_MOV_32, D(R(1)), S(imm(&k, 1)));
        for (uint32_t block = 0; block < 12;
             block++) { /* if (hash(tid) & bit) loop of tid % n rounds else multiply */
            rng = rng * 1664525u + 1013904223u;
            uint32_t bit = rng >> 27, n = (rng >> 20 & 7) + 1, factor = (rng >> 8 & 255) | 1;
            emit(&k, ISA_OP_MUL_LO_32, D(R(2)), S(R(0), imm(&k, factor * 2654435761u)));
            emit(&k, ISA_OP_SHR_U32, D(R(2)), S(R(2), imm(&k, bit)));
            emit(&k, ISA_OP_AND_32, D(R(2)), S(R(2), imm(&k, 1)));
            setp(&k, ISA_NE, 0, R(2), imm(&k, 0));
            uint32_t branch = bra(&k, G_P0, 0, 0);
            emit(&k, ISA_OP_REM_U32, D(R(3)), S(R(0), imm(&k, n)));
            uint32_t head = here(&k);
            emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(1), imm(&k, factor), R(3)));
            setp(&k, ISA_EQ, 1, R(3), imm(&k, 0));
            uint32_t leave = bra(&k, G_P1, 0, 0);
            emit(&k, ISA_OP_SUB_32, D(R(3)), S(R(3), imm(&k, 1)));
            bra(&k, ISA_PT, head, ISA_NO_RECONV);
            patch(&k, leave, here(&k), here(&k));
            uint32_t skip = bra(&k, ISA_PT, 0, 0);
            uint32_t other = here(&k);
            emit(&k, ISA_OP_MUL_LO_32, D(R(1)), S(R(1), imm(&k, 7)));
            patch(&k, branch, other, here(&k));
            patch(&k, skip, here(&k), here(&k));
            for (uint32_t t = 0; t < 32; t++) {
                if (t * (factor * 2654435761u) >> bit & 1) {
                    expect[t] *= 7;
                    continue;
                }
                for (uint32_t i = t % n;; i--) {
                    expect[t] = expect[t] * factor + i;
                    if (!i) break;
                }
            }
        }
        store_result(&k, R(1));
        kit_run(&k, 1, 32);
        for (uint32_t t = 0; t < 32; t++) assert_int_equal(out[t], expect[t]);
        kit_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_else),
        cmocka_unit_test(test_loop_with_breaks),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_endless_recursion),
        cmocka_unit_test(test_indirect_calls),
        cmocka_unit_test(test_bad_call),
        cmocka_unit_test(test_branch_table),
        cmocka_unit_test(test_spin_lock_in_a_warp),
        cmocka_unit_test(test_producer_and_consumer_in_a_warp),
        cmocka_unit_test(test_nobody_starves),
        cmocka_unit_test(test_ctas_that_wait),
        cmocka_unit_test(test_divergent_exit),
        cmocka_unit_test(test_endless_loop),
        cmocka_unit_test(test_trap),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
