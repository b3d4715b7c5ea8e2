/* select_mbarrier.c: mbarrier and the asynchronous copies that arrive at one (PTX ISA 9.7.13.15,
 * 9.7.9.25).
 *
 * Acquire, release and scopes need no code: memory operations of a thread take effect in program order. A
 * cluster is one CTA, so .shared::cluster is the CTA's own shared memory. try_wait may return early in
 * PTX; here it looks once, as test_wait does, and the program's loop polls: its time limit has no effect. */
#include "lower/select.h"

static struct mir_inst *mbar_emit(struct sel *s, enum isa_op op, const struct sel_addr *a,
                                  const struct mir_opnd *dst, const struct mir_opnd *more,
                                  uint32_t more_count)
{
    struct mir_opnd src[3] = {a->base};
    for (uint32_t i = 0; i < more_count; i++) src[i + 1] = more[i];
    struct mir_inst *i = sel_emit_n(s, op, dst, dst ? 1 : 0, src, more_count + 1);
    i->mod = a->space;
    i->imm = a->offset;
    i->flags = a->flags & ISA_A32;
    return i;
}

static bool mbar_address(struct sel *s, uint32_t op, struct sel_addr *a)
{
    return sel_address(s, &s->in->ops[op], (enum ptx_space)s->in->m.space, a);
}

/* mbarrier.arrive state, [addr]{, count or bytes} */
static void mbar_arrive(struct sel *s)
{
    struct sel_addr a;
    if (!mbar_address(s, 1, &a)) return;
    struct mir_opnd operand = sel_has_op(s, 2) ? sel_src(s, &s->in->ops[2], PTX_U32) : mir_imm(1);
    bool expects = sel_has_word(s, PTX_W_EXPECT_TX);
    struct mir_opnd more[2] = {expects ? mir_imm(1) : operand, expects ? operand : mir_none()};
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_D);
    mbar_emit(s, ISA_OP_MBAR_ARRIVE, &a, &dst, more, 2)->mod2 =
        (uint8_t)((sel_has_word(s, PTX_W_ARRIVE_DROP) ? ISA_ARRIVE_DROP : 0) |
                  (sel_has_word(s, PTX_W_NO_COMPLETE) ? ISA_ARRIVE_NO_COMPLETE : 0));
}

static void mbar_test(struct sel *s)
{
    struct sel_addr a;
    if (!mbar_address(s, 1, &a)) return;
    bool by_parity = sel_has_word(s, PTX_W_PARITY);
    struct mir_opnd phase = sel_src(s, &s->in->ops[2], by_parity ? PTX_U32 : PTX_B64);
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_P);
    mbar_emit(s, by_parity ? ISA_OP_MBAR_TEST_PARITY : ISA_OP_MBAR_TEST_STATE, &a, &dst, &phase, 1);
}

/* The state's low bits are the arrivals that were pending (emu/mbarrier.c). */
static void mbar_pending_count(struct sel *s)
{
    struct mir_opnd low = sel_temp(s, MIR_R);
    sel_emit(s, ISA_OP_UNPACK_64_32, low, sel_src(s, &s->in->ops[1], PTX_B64));
    sel_emit(s, ISA_OP_AND_32, sel_dst(s, &s->in->ops[0], MIR_R), low, mir_imm(ISA_MBAR_COUNT_MAX));
}

void sel_mbarrier(struct sel *s)
{
    struct sel_addr a;
    if (sel_has_word(s, PTX_W_PENDING_COUNT)) {
        mbar_pending_count(s);
    } else if (sel_has_word(s, PTX_W_ARRIVE) || sel_has_word(s, PTX_W_ARRIVE_DROP)) {
        mbar_arrive(s);
    } else if (sel_has_word(s, PTX_W_TEST_WAIT) || sel_has_word(s, PTX_W_TRY_WAIT)) {
        mbar_test(s);
    } else if (mbar_address(s, 0, &a)) {
        bool is_inval = sel_has_word(s, PTX_W_INVAL), is_init = sel_has_word(s, PTX_W_INIT);
        struct mir_opnd operand = is_inval ? mir_none() : sel_src(s, &s->in->ops[1], PTX_U32);
        enum isa_op op = is_inval ? ISA_OP_MBAR_INVAL : is_init ? ISA_OP_MBAR_INIT : ISA_OP_MBAR_TX;
        mbar_emit(s, op, &a, NULL, &operand, is_inval ? 0 : 1)->mod2 = sel_has_word(s, PTX_W_COMPLETE_TX);
    }
}

void sel_cp_arrive(struct sel *s)
{
    struct sel_addr a;
    if (mbar_address(s, 0, &a))
        mbar_emit(s, ISA_OP_CPASYNC_ARRIVE, &a, NULL, NULL, 0)->mod2 = sel_has_word(s, PTX_W_NOINC);
}

/* ---- cp.async.bulk ---- */

/* The 32-bit offset in shared memory. */
static struct mir_opnd bulk_shared(struct sel *s, const struct ptx_operand *o)
{
    struct sel_addr a;
    if (!sel_address(s, o, PTX_SPACE_SHARED, &a)) return mir_imm(0);
    if (!(a.flags & ISA_A32)) {
        struct mir_opnd low = sel_temp(s, MIR_R);
        sel_emit(s, ISA_OP_UNPACK_64_32, low, a.base);
        a.base = low;
    }
    if (!a.offset) return a.base;
    struct mir_opnd sum = sel_temp(s, MIR_R);
    sel_emit(s, ISA_OP_ADD_32, sum, a.base, mir_imm(a.offset & 0xffffffff));
    return sum;
}

static struct mir_opnd bulk_global(struct sel *s, const struct ptx_operand *o)
{
    struct sel_addr a;
    if (!sel_address(s, o, PTX_SPACE_GLOBAL, &a)) return mir_imm(0);
    if (!a.offset) return a.base;
    struct mir_opnd sum = sel_temp(s, MIR_D);
    sel_emit(s, ISA_OP_ADD_64, sum, a.base, mir_imm(a.offset));
    return sum;
}

static void bulk_copy(struct sel *s)
{
    const struct ptx_operand *ops = s->in->ops;
    bool is_load = s->in->m.space == PTX_SPACE_SHARED;
    if (is_load && s->in->m.space2 == PTX_SPACE_SHARED) {
        sel_lack(s, "within a CTA copy with ld.shared and st.shared",
                 "a bulk copy from shared memory to shared memory needs thread-block clusters, which are not "
                 "modelled");
        return;
    }
    struct mir_opnd src[4] = {bulk_shared(s, &ops[is_load ? 0 : 1]), bulk_global(s, &ops[is_load ? 1 : 0]),
                              sel_src(s, &ops[2], PTX_U32)};
    if (is_load) src[3] = bulk_shared(s, &ops[3]);
    sel_emit_n(s, is_load ? ISA_OP_CPBULK_LOAD : ISA_OP_CPBULK_STORE, NULL, 0, src, is_load ? 4 : 3)->mod =
        ISA_GLOBAL;
}

/* Bulk stores have read their source when they have issued; a wait for their writes is a fence, whatever the
 * number of groups that may be left. A prefetch is a hint, and is dropped. */
void sel_cp_bulk(struct sel *s)
{
    if (sel_has_word(s, PTX_W_COMMIT_GROUP) || sel_has_word(s, PTX_W_PREFETCH)) return;
    if (!sel_has_word(s, PTX_W_WAIT_GROUP))
        bulk_copy(s);
    else if (!sel_has_word(s, PTX_W_READ))
        sel_emit_n(s, ISA_OP_MEMBAR, NULL, 0, NULL, 0)->mod = ISA_SCOPE_CTA;
}
