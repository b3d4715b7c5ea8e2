/* sm_mixed.h: for the tests of the SM: a program with a little of everything, and its result. */
#ifndef HEDDLE_SM_MIXED_H
#define HEDDLE_SM_MIXED_H

#include "sm_rig.h"

/* Loads, shared memory, a barrier, divergence, atomics, stores: out[i] = in[i] + in[255 - i of the CTA], odd
 * ones doubled; counts CTAs. */
static inline void mixed_program(struct kit *k)
{
    k->proto.shared_bytes = 1024;
    s2r(k, R(2), ISA_SREG_TID, 0);
    s2r(k, R(3), ISA_SREG_CTAID, 0);
    emit(k, ISA_OP_MAD_LO_32, D(R(4)), S(R(3), imm(k, 256), R(2)));
    index_word(k, RD(0), param64(k, 0), R(4), 4);
    index_word(k, RD(6), param64(k, 2), R(4), 4);
    ld32(k, R(8), RD(0), ISA_GLOBAL);
    emit(k, ISA_OP_SHL_32, D(R(9)), S(R(2), imm(k, 2)));
    st32(k, R(9), R(8), ISA_SHARED)->flags |= ISA_A32;
    emit(k, ISA_OP_BAR_SYNC, D(NO), S(imm(k, 0), NO));
    emit(k, ISA_OP_SUB_32, D(R(10)), S(imm(k, 1020), R(9)));
    ld32(k, R(11), R(10), ISA_SHARED)->flags |= ISA_A32;
    emit(k, ISA_OP_ADD_32, D(R(12)), S(R(8), R(11)));
    emit(k, ISA_OP_AND_32, D(R(13)), S(R(2), imm(k, 1)));
    setp(k, ISA_EQ, 0, R(13), imm(k, 0));
    uint32_t skip = bra(k, 0, 0, 0);
    emit(k, ISA_OP_ADD_32, D(R(12)), S(R(12), R(12)));
    patch(k, skip, here(k), here(k));
    st32(k, RD(6), R(12), ISA_GLOBAL);
    struct isa_inst *red = emit(k, ISA_OP_ATOM_32, D(NO), S(param64(k, 4), imm(k, 1)));
    red->mod = ISA_GLOBAL, red->mod2 = ISA_ATOM_ADD, red->type = ISA_U32;
    exit_(k);
    k->insts.data[skip + 2].flags |= ISA_JOIN;
}

enum { MIXED_CTAS = 40, MIXED_THREADS = 256 };

static inline void run_mixed(struct rig *r)
{
    uint32_t *in = kit_buffer(&r->kit, MIXED_CTAS * MIXED_THREADS, 0);
    uint32_t *out = kit_buffer(&r->kit, MIXED_CTAS * MIXED_THREADS, 2);
    uint32_t *count = kit_buffer(&r->kit, 64, 4);
    for (uint32_t i = 0; i < MIXED_CTAS * MIXED_THREADS; i++) in[i] = i * 7 + 3;
    mixed_program(&r->kit);
    rig_run(r, MIXED_CTAS, MIXED_THREADS);
    assert_int_equal(count[0], MIXED_CTAS * MIXED_THREADS);
    for (uint32_t i = 0; i < MIXED_CTAS * MIXED_THREADS; i++) {
        uint32_t t = i % MIXED_THREADS, sum = in[i] + in[i - t + 255 - t];
        assert_int_equal(out[i], t & 1 ? 2 * sum : sum);
    }
}

#endif
