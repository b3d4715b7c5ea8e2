/* Instructions that concern a whole warp or a whole CTA. */
#include "emu_kit.h"

#include "base/rng.h"

enum { G_P0 = 0, G_P1 = 1, G_NOT = ISA_GUARD_NOT };

static void store_at_tid(struct kit *k, uint16_t base, uint16_t value)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, RD(28), base, R(30), 4);
    st32(k, RD(28), value, ISA_GLOBAL);
}
static void load_at_tid(struct kit *k, uint16_t dst, uint16_t base)
{
    s2r(k, R(30), ISA_SREG_TID, 0);
    index_word(k, RD(28), base, R(30), 4);
    ld32(k, dst, RD(28), ISA_GLOBAL);
}

/* The pseudo-code of shfl.sync in the PTX manual, for one lane. */
static uint32_t shfl_reference(uint32_t mode, const uint32_t *a, uint32_t lane, uint32_t b, uint32_t c,
                               bool *p)
{
    uint32_t bval = b & 0x1f, cval = c & 0x1f, segmask = c >> 8 & 0x1f;
    uint32_t max_lane = (lane & segmask) | (cval & ~segmask), min_lane = lane & segmask;
    int j = 0;
    if (mode == ISA_SHFL_UP) *p = (j = (int)lane - (int)bval) >= (int)max_lane;
    if (mode == ISA_SHFL_DOWN) *p = (j = (int)(lane + bval)) <= (int)max_lane;
    if (mode == ISA_SHFL_BFLY) *p = (j = (int)(lane ^ bval)) <= (int)max_lane;
    if (mode == ISA_SHFL_IDX) *p = (j = (int)(min_lane | (bval & ~segmask))) <= (int)max_lane;
    if (!*p) j = (int)lane;
    return a[j];
}

static void test_shuffles(void **state)
{
    struct rng r = {7};
    for (uint32_t round = 0; round < 64; round++) {
        struct kit k;
        kit_open(&k);
        uint32_t *in = kit_buffer(&k, 96, 0), *out = kit_buffer(&k, 64, 2), mode = round % 4;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t width = 1u << rng_below(&r, 6);
            in[i] = rng_u32(&r);
            in[32 + i] = round & 4 ? rng_u32(&r) & 31 : round / 8; /* lane or distance */
            in[64 + i] = (32 - width) << 8 | (mode == ISA_SHFL_UP ? 0 : 31);
        }
        if (round & 8)
            for (uint32_t i = 1; i < 32; i++) in[64 + i] = in[64];
        load_at_tid(&k, R(1), param64(&k, 0));
        ld32(&k, R(2), RD(28), ISA_GLOBAL)->imm = 128;
        ld32(&k, R(3), RD(28), ISA_GLOBAL)->imm = 256;
        emit(&k, ISA_OP_SHFL, D(R(1), P(0)), S(R(1), R(2), R(3), imm(&k, UINT32_MAX)))->mod = (uint8_t)mode;
        emit(&k, ISA_OP_P2R, D(R(5)), S(P(0)));
        store_at_tid(&k, param64(&k, 2), R(1));
        st32(&k, RD(28), R(5), ISA_GLOBAL)->imm = 128;
        exit_(&k);
        kit_run(&k, 1, 32);
        for (uint32_t l = 0; l < 32; l++) {
            bool p = false;
            uint32_t expect = shfl_reference(mode, in, l, in[32 + l], in[64 + l], &p);
            assert_int_equal(out[32 + l], p);
            assert_int_equal(out[l], expect);
        }
        kit_close(&k);
    }
}

/* Half of the warp comes to the shuffle by one way, half by another: it takes place when both are there. */
static void test_shuffle_waits_for_members(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 16));
    uint32_t branch = bra(&k, G_P0, 0, ISA_NO_RECONV); /* no place to meet again is known */
    emit(&k, ISA_OP_ADD_32, D(R(1)), S(R(0), imm(&k, 500)));
    uint32_t skip = bra(&k, ISA_PT, 0, ISA_NO_RECONV);
    uint32_t low = here(&k);
    emit(&k, ISA_OP_ADD_32, D(R(1)), S(R(0), imm(&k, 1000)));
    uint32_t join = here(&k);
    patch(&k, branch, low, ISA_NO_RECONV);
    patch(&k, skip, join, ISA_NO_RECONV);
    emit(&k, ISA_OP_SHFL, D(R(2)), S(R(1), imm(&k, 16), imm(&k, 31), imm(&k, UINT32_MAX)))->mod =
        ISA_SHFL_BFLY;
    store_at_tid(&k, param64(&k, 0), R(2));
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], (l ^ 16) + (l < 16 ? 500 : 1000));
    kit_close(&k);
}

/* Groups of lanes with masks of their own in one instruction. */
static void test_groups_with_their_own_masks(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_AND_32, D(R(1)), S(R(0), imm(&k, 3)));
    emit(&k, ISA_OP_MATCH_ANY_32, D(R(2)), S(R(1), imm(&k, UINT32_MAX)));
    struct isa_inst *sum = emit(&k, ISA_OP_REDUX, D(R(3)), S(R(0), R(2)));
    sum->mod2 = ISA_ATOM_ADD;
    sum->type = ISA_U32;
    store_at_tid(&k, param64(&k, 0), R(3));
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], (l & 3) * 8 + 4 * 28);
    kit_close(&k);
}

static void test_votes(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32 * 6, 0);
    uint16_t all = imm(&k, UINT32_MAX), low = imm(&k, 0xffff), base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 20));
    emit(&k, ISA_OP_BALLOT, D(R(1)), S(P(0), all));
    store_at_tid(&k, base, R(1));
    emit(&k, ISA_OP_BALLOT, D(R(1)), S(NP(0), all))->mod = ISA_NOSYNC;
    st32(&k, RD(28), R(1), ISA_GLOBAL)->imm = 128;
    for (uint32_t mode = 0; mode < 3; mode++) {
        emit(&k, ISA_OP_VOTE, D(P(1)), S(P(0), all))->mod = (uint8_t)mode;
        emit(&k, ISA_OP_P2R, D(R(1)), S(P(1)));
        st32(&k, RD(28), R(1), ISA_GLOBAL)->imm = 256 + 128 * (int64_t)mode;
    }
    setp(&k, ISA_LT, 1, R(0), imm(&k, 16));
    emit(&k, ISA_OP_VOTE, D(P(2)), S(P(0), low))->mod = ISA_VOTE_ALL;
    k.insts.data[here(&k) - 1].guard = G_P1;
    emit(&k, ISA_OP_P2R, D(R(1)), S(P(2)));
    st32(&k, RD(28), R(1), ISA_GLOBAL)->imm = 640;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l], 0xfffff);
        assert_int_equal(out[32 + l], 0xfff00000);
        assert_int_equal(out[64 + l], 0);  /* all */
        assert_int_equal(out[96 + l], 1);  /* any */
        assert_int_equal(out[128 + l], 0); /* uni */
        assert_int_equal(out[160 + l], l < 16);
    }
    kit_close(&k);
}

static void test_match_all_and_elect(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 128, 0);
    uint16_t all = imm(&k, UINT32_MAX);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_MATCH_ALL_32, D(R(1), P(0)), S(imm(&k, 5), all));
    store_at_tid(&k, param64(&k, 0), R(1));
    emit(&k, ISA_OP_MATCH_ALL_32, D(R(1), P(1)), S(R(0), all));
    st32(&k, RD(28), R(1), ISA_GLOBAL)->imm = 128;
    emit(&k, ISA_OP_P2R, D(R(2)), S(P(0)));
    emit(&k, ISA_OP_P2R, D(R(3)), S(P(1)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(2)), S(R(2), imm(&k, 10), R(3)));
    st32(&k, RD(28), R(2), ISA_GLOBAL)->imm = 256;
    emit(&k, ISA_OP_ELECT, D(R(4), P(2)), S(imm(&k, UINT32_MAX)));
    emit(&k, ISA_OP_P2R, D(R(5)), S(P(2)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(5)), S(R(4), imm(&k, 10), R(5)));
    st32(&k, RD(28), R(5), ISA_GLOBAL)->imm = 384;
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(out[l], UINT32_MAX);
        assert_int_equal(out[32 + l], 0);
        assert_int_equal(out[64 + l], 10);
        assert_int_equal(out[96 + l], l == 0);
    }
    kit_close(&k);
}

/* What else such masks do: test_emu_masks.c. */
static void test_mask_without_the_lane(void **state)
{
    struct kit k;
    kit_open(&k);
    emit(&k, ISA_OP_WARPSYNC, D(NO), S(imm(&k, 0xff)));
    exit_(&k);
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_OK);
    assert_non_null(strstr(strbuf_text(&k.err), "member mask 0x000000ff, which does not name lane 8"));
    kit_close(&k);
}

/* Ended lanes are not waited for and do not vote; lanes that wait elsewhere for ever are told about. */
static void test_members_that_end(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 32, 0);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 10));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P0;
    emit(&k, ISA_OP_WARPSYNC, D(NO), S(imm(&k, UINT32_MAX)));
    emit(&k, ISA_OP_BALLOT, D(R(1)), S(NP(0), imm(&k, UINT32_MAX)));
    store_at_tid(&k, param64(&k, 0), R(1));
    exit_(&k);
    kit_run(&k, 1, 32);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(out[l], l < 10 ? 0x3ff : 0);
    kit_close(&k);
}

static void test_sync_deadlock(void **state)
{
    struct kit k;
    kit_open(&k);
    s2r(&k, R(0), ISA_SREG_LANEID, 0);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 10));
    uint32_t branch = bra(&k, G_P0, 0, 0);
    emit(&k, ISA_OP_BALLOT, D(R(1)), S(P(0), imm(&k, UINT32_MAX)));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO));
    uint32_t other = here(&k);
    emit(&k, ISA_OP_BALLOT, D(R(1)), S(P(0), imm(&k, UINT32_MAX)));
    exit_(&k);
    patch(&k, branch, other, ISA_NO_RECONV);
    assert_int_equal(kit_launch(&k, 1, 32, false), EMU_DEADLOCK);
    assert_non_null(strstr(
        k.fault.message,
        "10 threads of warp 0, first (0,0,0), at t.ptx:103, wait in vote.ballot for lanes 0xfffffc00"));
    assert_non_null(strstr(
        k.fault.message,
        "22 threads of warp 0, first (10,0,0), at t.ptx:105, wait in vote.ballot for lanes 0x000003ff"));
    kit_close(&k);
}

/* ---- barriers ---- */
static struct isa_inst *bar(struct kit *k, enum isa_op op, uint16_t dst, uint16_t number, uint16_t count,
                            uint16_t p)
{
    return emit(k, op, D(dst), S(number, count, p));
}

/* Each thread writes its number to shared memory, all wait, each reads its mirror image. */
static void test_barrier(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 200, 0);
    k.proto.shared_bytes = 800;
    s2r(&k, R(0), ISA_SREG_TID, 0);
    emit(&k, ISA_OP_SHL_32, D(R(1)), S(R(0), imm(&k, 2)));
    emit(&k, ISA_OP_MUL_LO_32, D(R(2)), S(R(0), imm(&k, 3)));
    st32(&k, R(1), R(2), ISA_SHARED)->flags = ISA_A32;
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 0), NO, NO);
    emit(&k, ISA_OP_SUB_32, D(R(1)), S(imm(&k, 796), R(1)));
    ld32(&k, R(3), R(1), ISA_SHARED)->flags = ISA_A32;
    store_at_tid(&k, param64(&k, 0), R(3));
    exit_(&k);
    kit_run(&k, 3, 200);
    for (uint32_t t = 0; t < 200; t++) assert_int_equal(out[t], (199 - t) * 3);
    kit_close(&k);
}

static void test_barrier_reductions(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 70, 0);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_LT, 0, R(0), imm(&k, 41));
    bar(&k, ISA_OP_BAR_RED_POPC, R(1), imm(&k, 3), NO, P(0));
    bar(&k, ISA_OP_BAR_RED_P, P(1), imm(&k, 3), NO, P(0))->mod2 = ISA_ATOM_AND;
    bar(&k, ISA_OP_BAR_RED_P, P(2), imm(&k, 3), NO, P(0))->mod2 = ISA_ATOM_OR;
    emit(&k, ISA_OP_P2R, D(R(2)), S(P(1)));
    emit(&k, ISA_OP_P2R, D(R(3)), S(P(2)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(2), imm(&k, 1000), R(1)));
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(3), imm(&k, 10000), R(1)));
    store_at_tid(&k, param64(&k, 0), R(1));
    exit_(&k);
    kit_run(&k, 1, 70);
    for (uint32_t t = 0; t < 70; t++) assert_int_equal(out[t], 10041);
    kit_close(&k);
}

/* Warp 0 makes, warp 1 takes, by bar.arrive and bar.sync with a count; warps 2 and 3 are not concerned. */
static void test_named_barrier(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 1, 0);
    k.proto.shared_bytes = 4;
    s2r(&k, R(0), ISA_SREG_WARPID, 0);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 1));
    uint32_t b1 = bra(&k, G_P0, 0, 0);
    setp(&k, ISA_EQ, 1, R(0), imm(&k, 0));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P1 | G_NOT;
    st32(&k, imm(&k, 0), imm(&k, 77), ISA_SHARED)->flags = ISA_A32;
    bar(&k, ISA_OP_BAR_ARRIVE, NO, imm(&k, 5), imm(&k, 64), NO);
    exit_(&k);
    uint32_t taker = here(&k);
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 5), imm(&k, 64), NO);
    ld32(&k, R(1), imm(&k, 0), ISA_SHARED)->flags = ISA_A32;
    st32(&k, param64(&k, 0), R(1), ISA_GLOBAL);
    exit_(&k);
    patch(&k, b1, taker, ISA_NO_RECONV);
    kit_run(&k, 1, 128);
    assert_int_equal(*out, 77);
    kit_close(&k);
}

/* Writes 3 * tid to the thread's word of shared memory; R(0) is tid. */
static void write_shared(struct kit *k)
{
    s2r(k, R(0), ISA_SREG_TID, 0);
    emit(k, ISA_OP_SHL_32, D(R(1)), S(R(0), imm(k, 2)));
    emit(k, ISA_OP_MUL_LO_32, D(R(2)), S(R(0), imm(k, 3)));
    st32(k, R(1), R(2), ISA_SHARED)->flags = ISA_A32;
}

/* Reads the word of thread `last` - tid into out[tid], and ends. */
static void read_mirrored(struct kit *k, uint32_t last)
{
    emit(k, ISA_OP_SUB_32, D(R(1)), S(imm(k, 4 * last), R(1)));
    ld32(k, R(3), R(1), ISA_SHARED)->flags = ISA_A32;
    store_at_tid(k, param64(k, 0), R(3));
    exit_(k);
}

/* Of four warps, the last two and a part of the second end before the barrier. */
static void test_ended_threads_count_as_arrived(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 128, 0);
    k.proto.shared_bytes = 512;
    write_shared(&k);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 50));
    emit(&k, ISA_OP_EXIT, D(NO), S(NO))->guard = G_P0;
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 0), NO, NO);
    read_mirrored(&k, 49);
    kit_run(&k, 1, 128);
    for (uint32_t t = 0; t < 128; t++) assert_int_equal(out[t], t < 50 ? 3 * (49 - t) : 0);
    kit_close(&k);
}

/* if (tid < 16) __syncthreads() in a branch, the others meet it behind: threads arrive for themselves, and
 * nobody goes on before the last one has come. */
static void test_barrier_in_a_branch(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 64, 0);
    k.proto.shared_bytes = 256;
    write_shared(&k);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 16));
    uint32_t branch = bra(&k, G_P0, 0, 0);
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 0), NO, NO);
    patch(&k, branch, here(&k), here(&k));
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 0), NO, NO);
    k.insts.data[here(&k) - 1].guard = G_P0;
    read_mirrored(&k, 63);
    kit_run(&k, 1, 64);
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(out[t], 3 * (63 - t));
    kit_close(&k);
}

static void test_barrier_deadlock(void **state)
{
    struct kit k;
    kit_open(&k);
    s2r(&k, R(0), ISA_SREG_TID, 0);
    setp(&k, ISA_GE, 0, R(0), imm(&k, 32));
    uint32_t branch = bra(&k, G_P0, 0, 0);
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 1), NO, NO);
    exit_(&k);
    patch(&k, branch, here(&k), ISA_NO_RECONV);
    bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, 2), NO, NO);
    exit_(&k);
    assert_int_equal(kit_launch(&k, 2, 64, false), EMU_DEADLOCK);
    assert_non_null(strstr(k.fault.message, "deadlock in CTA (0,0,0)"));
    assert_non_null(strstr(k.fault.message, "barrier 1: 32 of 64 threads arrived"));
    assert_non_null(strstr(k.fault.message, "barrier 2: 32 of 64 threads arrived"));
    assert_non_null(
        strstr(k.fault.message, "32 threads of warp 0, first (0,0,0), at t.ptx:103, wait at barrier 1"));
    assert_non_null(
        strstr(k.fault.message, "32 threads of warp 1, first (32,0,0), at t.ptx:105, wait at barrier 2"));
    kit_close(&k);
}

static void test_bad_barriers(void **state)
{
    static const struct {
        uint32_t number, count;
        const char *text;
    } cases[] = {{16, 64, "barrier 16: a CTA has barriers 0 to 15"},
                 {1, 33, "with 33 threads: must be a multiple of 32"},
                 {1, 128, "with 128 threads, but the CTA has only 64"}};
    for (uint32_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct kit k;
        kit_open(&k);
        bar(&k, ISA_OP_BAR_SYNC, NO, imm(&k, cases[c].number), imm(&k, cases[c].count), NO);
        exit_(&k);
        assert_int_equal(kit_launch(&k, 1, 64, false), EMU_BAD_BARRIER);
        assert_non_null(strstr(k.fault.message, cases[c].text));
        kit_close(&k);
    }
}

/* The barrier of cooperative groups: the master of each CTA adds to a word of the workspace and waits for its
 * top bit. */
static void test_grid_sync(void **state)
{
    enum { CTAS = 16 };
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 2 * CTAS, 0);
    uint16_t workspace = env(&k, ISA_ENV_ENVREG2), high = env(&k, ISA_ENV_ENVREG1), base = param64(&k, 0);
    s2r(&k, R(0), ISA_SREG_CTAID, 0);
    emit(&k, ISA_OP_MOV_32, D(R(4)), S(workspace));
    emit(&k, ISA_OP_MOV_32, D(R(5)), S(high));
    index_word(&k, RD(6), base, R(0), 4);
    st32(&k, RD(6), imm(&k, 1), ISA_GLOBAL);
    setp(&k, ISA_EQ, 0, R(0), imm(&k, 0));
    emit(&k, ISA_OP_SEL_32, D(R(1)), S(imm(&k, 0x80000000u - (CTAS - 1)), imm(&k, 1), P(0)));
    struct isa_inst *add = emit(&k, ISA_OP_ATOM_32, D(R(2)), S(RD(4), R(1)));
    add->mod = ISA_GENERIC;
    add->mod2 = ISA_ATOM_ADD;
    add->type = ISA_U32;
    add->imm = 4;
    uint32_t head = here(&k);
    struct isa_inst *poll = ld32(&k, R(3), RD(4), ISA_GENERIC);
    poll->imm = 4;
    poll->flags = ISA_VOLATILE;
    emit(&k, ISA_OP_XOR_32, D(R(3)), S(R(3), R(2)));
    emit(&k, ISA_OP_SHR_U32, D(R(3)), S(R(3), imm(&k, 31)));
    setp(&k, ISA_EQ, 1, R(3), imm(&k, 0));
    bra(&k, G_P1, head, here(&k) + 1);
    emit(&k, ISA_OP_SUB_32, D(R(8)), S(imm(&k, CTAS - 1), R(0))); /* what another CTA wrote before */
    index_word(&k, RD(10), base, R(8), 4);
    ld32(&k, R(9), RD(10), ISA_GLOBAL);
    st32(&k, RD(6), R(9), ISA_GLOBAL)->imm = 4 * CTAS;
    exit_(&k);
    assert_int_equal(kit_launch(&k, CTAS, 1, true), EMU_OK);
    for (uint32_t c = 0; c < CTAS; c++) assert_int_equal(out[CTAS + c], 1);
    assert_int_equal(kit_launch(&k, 100000, 1, true), EMU_BAD_LAUNCH);
    assert_non_null(strstr(k.fault.message,
                           "cooperative launch of 100000 blocks, but only 128 can be resident together"));
    kit_close(&k);
}

static void test_special_registers(void **state)
{
    struct kit k;
    kit_open(&k);
    uint32_t *out = kit_buffer(&k, 64 * 8, 0);
    static const struct {
        uint8_t sreg, component;
    } regs[8] = {{ISA_SREG_TID, 0},         {ISA_SREG_TID, 1},         {ISA_SREG_TID, 2},
                 {ISA_SREG_LANEMASK_LT, 0}, {ISA_SREG_LANEMASK_GE, 0}, {ISA_SREG_WARPID, 0},
                 {ISA_SREG_CTAID, 1},       {ISA_SREG_SMID, 0}};
    s2r(&k, R(1), ISA_SREG_WARPID, 0);
    s2r(&k, R(2), ISA_SREG_LANEID, 0);
    emit(&k, ISA_OP_MAD_LO_32, D(R(1)), S(R(1), imm(&k, 32), R(2)));
    index_word(&k, RD(4), param64(&k, 0), R(1), 32);
    for (uint32_t n = 0; n < 8; n++) {
        s2r(&k, R(3), (enum isa_sreg)regs[n].sreg, regs[n].component);
        st32(&k, RD(4), R(3), ISA_GLOBAL)->imm = 4 * n;
    }
    exit_(&k);
    const struct isa_kernel *kernel = kit_load(&k);
    struct emu_launch l = {
        .module = k.module, .kernel = kernel, .grid = {1, 3, 2}, .block = {5, 3, 4}, .params = k.params};
    assert_int_equal(emu_run(k.device, &l, &k.stats, &k.fault), EMU_OK);
    for (uint32_t t = 0; t < 60; t++) {
        const uint32_t *o = out + t * 8;
        uint32_t lane = t % 32;
        assert_int_equal(o[0], t % 5);
        assert_int_equal(o[1], t / 5 % 3);
        assert_int_equal(o[2], t / 15);
        assert_int_equal(o[3], (1u << lane) - 1);
        assert_int_equal(o[4], UINT32_MAX << lane);
        assert_int_equal(o[5], t / 32);
        assert_int_equal(o[6], 2); /* the last CTA is (0,2,1), number 5 */
        assert_int_equal(o[7], 5 % 4);
    }
    assert_int_equal(k.stats.ctas, 6);
    assert_int_equal(k.stats.warps, 12);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_shuffle_waits_for_members),
        cmocka_unit_test(test_groups_with_their_own_masks),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_match_all_and_elect),
        cmocka_unit_test(test_mask_without_the_lane),
        cmocka_unit_test(test_members_that_end),
        cmocka_unit_test(test_sync_deadlock),
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_barrier_reductions),
        cmocka_unit_test(test_named_barrier),
        cmocka_unit_test(test_ended_threads_count_as_arrived),
        cmocka_unit_test(test_barrier_in_a_branch),
        cmocka_unit_test(test_barrier_deadlock),
        cmocka_unit_test(test_bad_barriers),
        cmocka_unit_test(test_grid_sync),
        cmocka_unit_test(test_special_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
