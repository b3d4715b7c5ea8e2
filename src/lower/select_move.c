/* select_move.c: mov: values, packing and unpacking, and the special registers (PTX ISA 9.7.9, chapter 10);
 * imov, the indirect move of Morpheus.
 *
 * What is fixed at launch is a launch constant (MIR_ENV) that folding puts into the uses; what differs
 * between threads or moments is read by S2R. A cluster has one CTA: its registers follow from those of the
 * CTA. */
#include "lower/select.h"

enum sreg_how { HOW_ZERO, HOW_ONE, HOW_S2R, HOW_ENV, HOW_RESERVED, HOW_RESERVED_BYTES };
/* Shared memory that belongs to the system software; cooperative groups of more than a warp synchronise in
 * its second half. A kernel that never asks for it has none. */
enum { RESERVED_UNITS = 2, RESERVED_UNIT_BYTES = 512 };
/* code is enum isa_sreg, enum isa_env (of component x), or the number of a kilobyte in the reserved
 * memory. */
struct sreg_row {
    uint8_t how, code;
};
static const struct sreg_row sreg_rows[PTX_SREG_COUNT] = {
    [PTX_SREG_tid] = {HOW_S2R, ISA_SREG_TID},
    [PTX_SREG_ntid] = {HOW_ENV, ISA_ENV_NTID_X},
    [PTX_SREG_laneid] = {HOW_S2R, ISA_SREG_LANEID},
    [PTX_SREG_warpid] = {HOW_S2R, ISA_SREG_WARPID},
    [PTX_SREG_nwarpid] = {HOW_ENV, ISA_ENV_NWARPID},
    [PTX_SREG_ctaid] = {HOW_S2R, ISA_SREG_CTAID},
    [PTX_SREG_nctaid] = {HOW_ENV, ISA_ENV_NCTAID_X},
    [PTX_SREG_smid] = {HOW_S2R, ISA_SREG_SMID},
    [PTX_SREG_nsmid] = {HOW_ENV, ISA_ENV_NSMID},
    [PTX_SREG_gridid] = {HOW_ENV, ISA_ENV_GRIDID_LO},
    [PTX_SREG_clusterid] = {HOW_S2R, ISA_SREG_CTAID},
    [PTX_SREG_nclusterid] = {HOW_ENV, ISA_ENV_NCTAID_X},
    [PTX_SREG_cluster_nctaid] = {HOW_ONE, 0},
    [PTX_SREG_cluster_nctarank] = {HOW_ONE, 0},
    [PTX_SREG_lanemask_eq] = {HOW_S2R, ISA_SREG_LANEMASK_EQ},
    [PTX_SREG_lanemask_le] = {HOW_S2R, ISA_SREG_LANEMASK_LE},
    [PTX_SREG_lanemask_lt] = {HOW_S2R, ISA_SREG_LANEMASK_LT},
    [PTX_SREG_lanemask_ge] = {HOW_S2R, ISA_SREG_LANEMASK_GE},
    [PTX_SREG_lanemask_gt] = {HOW_S2R, ISA_SREG_LANEMASK_GT},
    [PTX_SREG_clock] = {HOW_S2R, ISA_SREG_CLOCK},
    [PTX_SREG_clock_hi] = {HOW_S2R, ISA_SREG_CLOCK_HI},
    [PTX_SREG_clock64] = {HOW_S2R, ISA_SREG_CLOCK64},
    [PTX_SREG_globaltimer] = {HOW_S2R, ISA_SREG_GLOBALTIMER},
    [PTX_SREG_globaltimer_lo] = {HOW_S2R, ISA_SREG_GLOBALTIMER_LO},
    [PTX_SREG_globaltimer_hi] = {HOW_S2R, ISA_SREG_GLOBALTIMER_HI},
    [PTX_SREG_total_smem_size] = {HOW_ENV, ISA_ENV_TOTAL_SMEM},
    [PTX_SREG_aggr_smem_size] = {HOW_ENV, ISA_ENV_TOTAL_SMEM},
    [PTX_SREG_dynamic_smem_size] = {HOW_ENV, ISA_ENV_DYNAMIC_SMEM},
    [PTX_SREG_reserved_smem_offset_begin] = {HOW_RESERVED, 0},
    [PTX_SREG_reserved_smem_offset_end] = {HOW_RESERVED, RESERVED_UNITS},
    [PTX_SREG_reserved_smem_offset_cap] = {HOW_RESERVED_BYTES, 0},
    /* All others read as zero: performance counters, environment registers but two, graphs. */
};
static const uint8_t sreg_types[PTX_SREG_COUNT] = {
#define PTX_SREG(name, text, type, is_vector) [PTX_SREG_##name] = type,
#include "ptx/sreg.def"
#undef PTX_SREG
};
static const bool sreg_is_vector[PTX_SREG_COUNT] = {
#define PTX_SREG(name, text, type, is_vector) [PTX_SREG_##name] = is_vector,
#include "ptx/sreg.def"
#undef PTX_SREG
};

static const struct ptx_var reserved_shared = {.name = "%reserved_smem",
                                               .space = PTX_SPACE_SHARED,
                                               .type = PTX_B8,
                                               .align = 128,
                                               .bytes = RESERVED_UNITS * RESERVED_UNIT_BYTES};

static struct sreg_row sel_sreg_row(const struct ptx_operand *o)
{
    if (o->index == PTX_SREG_envreg && (o->imm == 1 || o->imm == 2))
        return (struct sreg_row){HOW_ENV, o->imm == 1 ? ISA_ENV_ENVREG1 : ISA_ENV_ENVREG2};
    if (o->index == PTX_SREG_reserved_smem_offset) return (struct sreg_row){HOW_RESERVED, o->imm == 1};
    return sreg_rows[o->index];
}

/* The register in its own width. */
static struct mir_opnd sel_sreg_value(struct sel *s, const struct ptx_operand *o, bool is_wide)
{
    struct sreg_row row = sel_sreg_row(o);
    uint32_t comp = !sreg_is_vector[o->index] ? 0
                    : o->comp == 'y'          ? 1
                    : o->comp == 'z'          ? 2
                    : o->comp == 'w'          ? 3
                                              : 0;
    /* The fourth component of the index registers is 0, of the size registers too: PTX keeps it for the
     * future. */
    if (comp == 3 || row.how == HOW_ZERO) return mir_imm(0);
    if (row.how == HOW_ONE) return mir_imm(1);
    if (row.how == HOW_RESERVED_BYTES) return mir_imm(RESERVED_UNITS * RESERVED_UNIT_BYTES);
    if (row.how == HOW_RESERVED)
        return mir_imm((int64_t)mir_shared_offset(s->prog, &reserved_shared) +
                       row.code * RESERVED_UNIT_BYTES);
    if (row.how == HOW_ENV) return (struct mir_opnd){.kind = MIR_ENV, .v = row.code + comp};
    struct mir_opnd t = sel_temp(s, is_wide ? MIR_D : MIR_R);
    struct mir_inst *i = sel_emit_n(s, is_wide ? ISA_OP_S2R_64 : ISA_OP_S2R_32, &t, 1, NULL, 0);
    i->mod = row.code;
    i->mod2 = (uint8_t)comp;
    if (row.code >= ISA_SREG_CLOCK) i->flags = ISA_VOLATILE; /* a moment: stays where it was written */
    return t;
}

struct mir_opnd sel_sreg(struct sel *s, const struct ptx_operand *o, enum ptx_type t)
{
    if (o->index >= PTX_SREG_COUNT) return mir_imm(0);
    enum ptx_type own = (enum ptx_type)sreg_types[o->index];
    if (own == PTX_PRED || t == PTX_PRED) return mir_imm(0); /* is_explicit_cluster, the only one */
    bool is_wide = ptx_type_bytes(own) == 8;
    struct mir_opnd v = sel_sreg_value(s, o, is_wide);
    uint32_t bits = 8 * MIN(ptx_type_bytes(own), ptx_type_bytes(t));
    return sel_extend(s, v, 8 * ptx_type_bytes(own), bits, false, sel_class(t) == MIR_D ? 64 : bits);
}

struct pack_row {
    uint16_t pack, unpack;
};
/* The type of one of `count` pieces of a value of `bytes`. */
static bool sel_pack_row(uint32_t bytes, uint32_t count, struct pack_row *row)
{
    static const struct {
        uint8_t bytes, count;
        struct pack_row row;
    } rows[] = {
        {8, 2, {ISA_OP_PACK_64_32, ISA_OP_UNPACK_64_32}}, {8, 4, {ISA_OP_PACK_64_16, ISA_OP_UNPACK_64_16}},
        {4, 2, {ISA_OP_PACK_32_16, ISA_OP_UNPACK_32_16}}, {4, 4, {ISA_OP_PACK_32_8, ISA_OP_UNPACK_32_8}},
        {2, 2, {ISA_OP_PACK_16_8, ISA_OP_UNPACK_16_8}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].bytes != bytes || rows[i].count != count) continue;
        *row = rows[i].row;
        return true;
    }
    return false;
}

static enum ptx_type sel_piece_type(uint32_t bytes)
{
    return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

static bool sel_mov_pack(struct sel *s, enum ptx_type t, struct mir_opnd dst, const struct ptx_operand *sub,
                         uint32_t count)
{
    struct pack_row row;
    uint32_t bytes = ptx_type_bytes(t);
    if (!sel_pack_row(bytes, count, &row)) return false;
    struct mir_opnd src[4];
    for (uint32_t i = 0; i < count; i++) src[i] = sel_src(s, &sub[i], sel_piece_type(bytes / count));
    sel_emit_n(s, (enum isa_op)row.pack, &dst, 1, src, count);
    return true;
}

static bool sel_mov_unpack(struct sel *s, enum ptx_type t, const struct ptx_operand *sub, uint32_t count,
                           struct mir_opnd src)
{
    struct pack_row row;
    if (!sel_pack_row(ptx_type_bytes(t), count, &row)) return false;
    struct mir_opnd dst[4];
    for (uint32_t i = 0; i < count; i++) dst[i] = sel_dst(s, &sub[i], MIR_R);
    sel_emit_n(s, (enum isa_op)row.unpack, dst, count, &src, 1);
    return true;
}

static bool sel_mov_128(struct sel *s, const struct ptx_operand *d, const struct ptx_operand *a)
{
    struct mir_opnd dst[2], src[2];
    if (a->kind == PTX_O_VECTOR) { /* pack */
        sel_dst_128(s, d, dst);
        if (a->sub_count == 2) {
            for (int i = 0; i < 2; i++) src[i] = sel_src(s, &a->sub[i], PTX_B64);
        } else if (a->sub_count == 4) {
            for (int i = 0; i < 2; i++)
                sel_mov_pack(s, PTX_B64, src[i] = sel_temp(s, MIR_D), &a->sub[2 * i], 2);
        } else {
            return false;
        }
    } else if (d->kind == PTX_O_VECTOR) { /* unpack */
        sel_src_128(s, a, src);
        if (d->sub_count == 4)
            return sel_mov_unpack(s, PTX_B64, d->sub, 2, src[0]) &&
                   sel_mov_unpack(s, PTX_B64, d->sub + 2, 2, src[1]);
        if (d->sub_count != 2) return false;
        for (int i = 0; i < 2; i++) dst[i] = sel_dst(s, &d->sub[i], MIR_D);
    } else {
        sel_dst_128(s, d, dst);
        sel_src_128(s, a, src);
    }
    for (int i = 0; i < 2; i++) sel_move(s, dst[i], src[i], MIR_D); /* halves of one register never cross */
    return true;
}

void sel_mov(struct sel *s)
{
    const struct ptx_operand *d = &s->in->ops[0], *a = &s->in->ops[1];
    enum ptx_type t = sel_type(s);
    bool ok = true;
    if (t == PTX_B128) {
        ok = sel_mov_128(s, d, a);
    } else if (a->kind == PTX_O_VECTOR) {
        ok = sel_mov_pack(s, t, sel_dst(s, d, sel_class(t)), a->sub, a->sub_count);
    } else if (d->kind == PTX_O_VECTOR) {
        ok = sel_mov_unpack(s, t, d->sub, d->sub_count, sel_src(s, a, t));
    } else {
        sel_move(s, sel_dst(s, d, sel_class(t)), sel_src(s, a, t), sel_class(t));
    }
    if (!ok) sel_unsupported(s, NULL);
}

/* ---- imov ---- */

/* The array of an imov before this one that has the same vregs; NULL: none. */
static const uint32_t *sel_known_array(const struct sel *s, const uint32_t *vregs, uint32_t count)
{
    for (uint32_t i = 0; i < s->out->insts.len; i++) {
        const struct mir_inst *in = &s->out->insts.data[i];
        if (in->array && in->imm == count && !memcmp(in->array, vregs, sizeof *vregs * count))
            return in->array;
    }
    return NULL;
}

static const uint32_t *sel_array(struct sel *s, const struct ptx_operand *o)
{
    uint32_t *vregs = ARENA_ARRAY(s->prog->arena, uint32_t, o->sub_count);
    for (uint32_t i = 0; i < o->sub_count; i++) vregs[i] = s->vregs[o->sub[i].reg];
    const uint32_t *known = sel_known_array(s, vregs, o->sub_count);
    if (known) return known;
    for (uint32_t i = 0; i < o->sub_count; i++) {
        struct mir_vreg *r = &s->out->vregs.data[vregs[i]];
        if (r->in_array)
            sel_error(s, "use arrays of other registers, or the whole array",
                      "register '%s' is in another array already", s->f->regs[o->sub[i].reg].name);
        if (s->failed) return NULL;
        r->in_array = true;
    }
    return vregs;
}

void sel_imov(struct sel *s)
{
    const struct ptx_operand *array = &s->in->ops[1];
    if (!s->prog->indirect_move) {
        sel_lack(s, "the machine has no indirect move; set sm.indirect_move",
                 "instruction 'imov' is not supported");
        return;
    }
    const uint32_t *vregs = sel_array(s, array);
    if (!vregs) return;
    struct mir_opnd dst = sel_dst(s, &s->in->ops[0], MIR_R), index = sel_src(s, &s->in->ops[2], PTX_U32);
    struct mir_inst *i = sel_emit_n(s, ISA_OP_IMOV_32, &dst, 1, &index, 1);
    i->array = vregs;
    i->imm = array->sub_count;
}
