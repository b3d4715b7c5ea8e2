/* disasm.c: machine code as text: each PTX line once, below it the instructions that it became, each with its
 * address, the registers live before it, and a label where some branch leads.
 *
 *   kernel 'saxpy': 8 registers, 1 predicate, 0 bytes shared, 0 bytes local (0 spilled), 14 instructions
 *
 *      31 | mad.lo.s32 %r1, %r2, %r3, %r4;
 *                 2    4      mad.lo.32 r2, r0, ntid.x, r1
 *
 * Operands: r4 a register, r4:5 a pair, r4..11 an array, p0 a predicate; numbers are immediates, c[8] is the
 * parameter word at byte 8, names are launch constants (ntid.x) or symbols (&table). */
#include "lower/lower.h"

#include "base/bitset.h"

#define ENUM_NAME(table, value) ((value) < ARRAY_LEN(table) && (table)[value] ? (table)[value] : "?")

static const char *const space_names[] = {"", ".global", ".shared", ".local", ".const", ".param"};
static const char *const cache_names[] = {"", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"};
static const char *const cmp_names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
static const char *const bool_names[] = {"", ".and", ".or", ".xor"};
static const char *const round_names[] = {"", ".rz", ".rm", ".rp", ".rna", ".rni", ".rzi", ".rmi", ".rpi"};
static const char *const type_names[] = {"",        ".u8",  ".s8",  ".u16", ".s16",  ".u32",
                                         ".s32",    ".u64", ".s64", ".f16", ".bf16", ".f16x2",
                                         ".bf16x2", ".f32", ".f64", ".b128"};
static const char *const atom_names[] = {".and", ".or",  ".xor", ".cas", ".exch",
                                         ".add", ".inc", ".dec", ".min", ".max"};
static const char *const shfl_names[] = {".up", ".down", ".bfly", ".idx"};
static const char *const vote_names[] = {".all", ".any", ".uni"};
static const char *const prmt_names[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
static const char *const testp_names[] = {".finite",     ".infinite", ".number",
                                          ".notanumber", ".normal",   ".subnormal"};
static const char *const txq_names[] = {
    ".width", ".height", ".depth", ".channel_data_type", ".channel_order", ".normalized", ".filter",
    ".addr0", ".addr1",  ".addr2", ".array_size",        ".levels",        ".samples",    ".layout"};
static const char *const video_names[] = {".add",  ".sub", ".absdiff", ".min", ".max",
                                          ".avrg", ".set", ".shl",     ".shr"};
static const char *const second_names[] = {"", ".add", ".min", ".max", ""};
static const char *const part_names[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1", ""};
static const char *const scope_names[] = {".cta", ".gl", ".sys"};
static const char *const sreg_names[] = {"tid",         "ctaid",       "laneid",         "warpid",
                                         "smid",        "lanemask_eq", "lanemask_le",    "lanemask_lt",
                                         "lanemask_ge", "lanemask_gt", "clock",          "clock_hi",
                                         "clock64",     "globaltimer", "globaltimer_lo", "globaltimer_hi"};
static const char *const env_names[] = {
    "ntid.x", "ntid.y",    "ntid.z",   "nctaid.x",   "nctaid.y", "nctaid.z", "nwarpid",    "nsmid",
    "gridid", "gridid.hi", "dyn_smem", "total_smem", "envreg1",  "envreg2",  "param_base", "param_base.hi"};

/* ---- operands ---- */

/* Letter of operand i ("ar*" with vec 2: a r r), 0 when there is none. */
static char letter_at(const char *letters, const struct isa_inst *in, uint32_t i)
{
    uint32_t at = 0;
    for (const char *c = letters; *c; c++) {
        bool star = c[1] == '*';
        at += star ? MAX(in->vec, 1) : 1;
        if (i < at) {
            if (*c != 'a') return *c;
            return in->flags & ISA_A32 && !(in->op == ISA_OP_CPASYNC && i == 1) ? 'r' : 'd';
        }
        if (star) c++;
    }
    return 0;
}

static bool is_address(const struct isa_inst *in, uint32_t i)
{
    return i < 2 && isa_ops[in->op].src[0] && isa_ops[in->op].src[i] == 'a';
}

static void put_number(struct strbuf *out, uint64_t v, bool wide)
{
    int64_t s = wide ? (int64_t)v : (int64_t)(int32_t)v;
    if (s > -65536 && s < 65536)
        strbuf_printf(out, "%lld", (long long)s);
    else
        strbuf_printf(out, "0x%llx", (unsigned long long)v);
}

static void put_const(const struct isa_kernel *k, uint32_t row, bool wide, struct strbuf *out)
{
    if (row >= k->const_count) {
        strbuf_printf(out, "const%u?", row);
        return;
    }
    const struct isa_const *c = &k->consts[row];
    switch (c->kind) {
    case ISA_CONST_IMM: {
        uint64_t high = wide && row + 1 < k->const_count ? k->consts[row + 1].value : 0;
        put_number(out, c->value | high << 32, wide);
        break;
    }
    case ISA_CONST_PARAM: strbuf_printf(out, "c[%u]", c->value); break;
    case ISA_CONST_ENV: strbuf_puts(out, ENUM_NAME(env_names, c->value)); break;
    default:
        strbuf_printf(out, "&%s", c->value < k->sym_count ? k->syms[c->value].name : "?");
        if (c->addend) strbuf_printf(out, "%+lld", (long long)c->addend);
        if (c->kind == ISA_CONST_SYM_HI) strbuf_puts(out, ".hi");
        break;
    }
}

static void put_operand(const struct isa_kernel *k, uint16_t o, char letter, struct strbuf *out)
{
    if (o == ISA_NONE) {
        strbuf_putc(out, '_');
    } else if (letter == 'p') {
        strbuf_puts(out, o & ISA_P_NOT ? "!" : "");
        if ((o & 7) == ISA_PT)
            strbuf_puts(out, "pt");
        else
            strbuf_printf(out, "p%u", o & 7u);
    } else if (isa_is_const(o)) {
        put_const(k, isa_index(o), letter == 'd', out);
    } else if (letter == 'd') {
        strbuf_printf(out, "r%u:%u", o, o + 1u);
    } else {
        strbuf_printf(out, "r%u", o);
    }
}

static void put_address(const struct isa_kernel *k, const struct isa_inst *in, uint32_t i, struct strbuf *out)
{
    int64_t offset = i == 0 ? in->imm : (int64_t)(int32_t)in->target;
    strbuf_putc(out, '[');
    bool zero = in->src[i] == ISA_KIND_C && letter_at(isa_ops[in->op].src, in, i) == 'r';
    if (!zero) put_operand(k, in->src[i], letter_at(isa_ops[in->op].src, in, i), out);
    if (zero)
        strbuf_printf(out, "%lld", (long long)offset);
    else if (offset)
        strbuf_printf(out, "%+lld", (long long)offset);
    strbuf_putc(out, ']');
}

/* ---- mnemonic ---- */

static void put_signs(const struct isa_inst *in, struct strbuf *out)
{
    for (int i = 0; i < 3; i++) strbuf_puts(out, in->type >> i & 1 ? ".s32" : ".u32");
}

static void put_video(const struct isa_inst *in, struct strbuf *out)
{
    strbuf_puts(out, ENUM_NAME(video_names, in->mod));
    if (in->mod == ISA_VIDEO_SET) strbuf_printf(out, ".%s", ENUM_NAME(cmp_names, isa_selected_cmp(in)));
    put_signs(in, out);
    if (in->mod2 & ISA_CLAMP) strbuf_puts(out, ".clamp");
    strbuf_puts(out, ENUM_NAME(second_names, in->mod2 & ~ISA_CLAMP));
}

static void put_vmad(const struct isa_inst *in, struct strbuf *out)
{
    put_signs(in, out);
    if (in->mod & ISA_VMAD_MINUS_PRODUCT) strbuf_puts(out, ".neg");
    if (in->mod & ISA_VMAD_MINUS_C) strbuf_puts(out, ".negc");
    if (in->mod & ISA_VMAD_PLUS_ONE) strbuf_puts(out, ".po");
    if (in->mod2) strbuf_printf(out, ".shr%u", in->mod2);
}

static void put_texture(const struct isa_inst *in, struct strbuf *out)
{
    const char *layered = in->mod & ISA_TEX_LAYERED ? "a" : "";
    if (in->mod & ISA_TEX_CUBE)
        strbuf_printf(out, ".%scube", layered);
    else
        strbuf_printf(out, ".%s%ud", layered, in->mod & ISA_TEX_DIMS);
    strbuf_puts(out, ENUM_NAME(type_names, in->type));
}

static void put_surface(const struct isa_inst *in, struct strbuf *out)
{
    static const char *const outside[] = {".trap", ".clamp", ".zero"};
    strbuf_printf(out, ".%s%ud", isa_surface_layered(in) ? "a" : "", isa_surface_dims(in));
    strbuf_puts(out, ENUM_NAME(cache_names, in->mod2));
    if (isa_surface_formatted(in) && in->op != ISA_OP_SUST_P) strbuf_puts(out, ".p");
    if (in->vec > 1) strbuf_printf(out, ".v%u", in->vec);
    strbuf_puts(out, ENUM_NAME(outside, isa_surface_outside(in)));
}

static void put_modifiers(const struct isa_inst *in, struct strbuf *out)
{
    uint8_t mod = in->mod & 0x7f; /* bit 7: the old form of a warp-wide instruction, without member mask */
    switch (in->op) {
    case ISA_OP_LD_U8:
    case ISA_OP_LD_S8:
    case ISA_OP_LD_U16:
    case ISA_OP_LD_S16:
    case ISA_OP_LD_32:
    case ISA_OP_LD_64:
    case ISA_OP_ST_8:
    case ISA_OP_ST_16:
    case ISA_OP_ST_32:
    case ISA_OP_ST_64:
        strbuf_puts(out, ENUM_NAME(space_names, in->mod));
        strbuf_puts(out, ENUM_NAME(cache_names, in->mod2));
        if (in->vec > 1) strbuf_printf(out, ".v%u", in->vec);
        break;
    case ISA_OP_PREFETCH:
    case ISA_OP_ISSPACEP: strbuf_puts(out, ENUM_NAME(space_names, in->mod)); break;
    case ISA_OP_ATOM_16:
    case ISA_OP_ATOM_32:
    case ISA_OP_ATOM_64:
    case ISA_OP_ATOM_128:
        strbuf_puts(out, ENUM_NAME(space_names, in->mod));
        strbuf_puts(out, ENUM_NAME(atom_names, in->mod2));
        strbuf_puts(out, ENUM_NAME(type_names, in->type));
        break;
    case ISA_OP_REDUX:
        strbuf_puts(out, ENUM_NAME(atom_names, in->mod2));
        strbuf_puts(out, ENUM_NAME(type_names, in->type));
        break;
    case ISA_OP_SHFL: strbuf_puts(out, ENUM_NAME(shfl_names, mod)); break;
    case ISA_OP_VOTE: strbuf_puts(out, ENUM_NAME(vote_names, mod)); break;
    case ISA_OP_PRMT: strbuf_puts(out, ENUM_NAME(prmt_names, in->mod)); break;
    case ISA_OP_TXQ: strbuf_puts(out, ENUM_NAME(txq_names, in->mod)); break;
    case ISA_OP_TEX: put_texture(in, out); break;
    case ISA_OP_MBAR_ARRIVE:
        if (in->mod2 & ISA_ARRIVE_DROP) strbuf_puts(out, ".drop");
        if (in->mod2 & ISA_ARRIVE_NO_COMPLETE) strbuf_puts(out, ".noComplete");
        break;
    case ISA_OP_MBAR_TX: strbuf_puts(out, in->mod2 ? ".complete" : ".expect"); break;
    case ISA_OP_CPASYNC_ARRIVE: strbuf_puts(out, in->mod2 ? ".noinc" : ""); break;
    case ISA_OP_VIDEO:
    case ISA_OP_VIDEO_2:
    case ISA_OP_VIDEO_4: put_video(in, out); break;
    case ISA_OP_VMAD: put_vmad(in, out); break;
    case ISA_OP_MEMBAR: strbuf_puts(out, ENUM_NAME(scope_names, in->mod)); break;
    case ISA_OP_TESTP_F32:
    case ISA_OP_TESTP_F64: strbuf_puts(out, ENUM_NAME(testp_names, in->mod)); break;
    case ISA_OP_BAR_RED_P: strbuf_puts(out, ENUM_NAME(atom_names, in->mod2)); break;
    default:
        if (in->op >= ISA_OP_SULD_8 && in->op <= ISA_OP_SURED_AT) put_surface(in, out);
        if (in->op >= ISA_OP_SETP_U16 && in->op <= ISA_OP_SET_BF16X2)
            strbuf_printf(out, ".%s%s", ENUM_NAME(cmp_names, in->mod), ENUM_NAME(bool_names, in->mod2));
        break;
    }
}

static void put_flags(const struct isa_inst *in, struct strbuf *out)
{
    static const struct {
        uint16_t flag;
        const char *text;
    } names[] = {{ISA_FTZ, ".ftz"},
                 {ISA_SAT, ".sat"},
                 {ISA_RELU, ".relu"},
                 {ISA_NANPROP, ".nan"},
                 {ISA_ABS, ".abs"},
                 {ISA_XORSIGN, ".xorsign"},
                 {ISA_SATFINITE, ".satfinite"},
                 {ISA_NC, ".nc"},
                 {ISA_UNIFORM, ".uni"},
                 {ISA_VOLATILE, ".volatile"},
                 {ISA_ORDERED, ".ordered"}};
    strbuf_puts(out, ENUM_NAME(round_names, in->round));
    for (uint32_t i = 0; i < ARRAY_LEN(names); i++)
        if (in->flags & names[i].flag) strbuf_puts(out, names[i].text);
}

/* ---- one instruction ---- */

struct labels {
    /* pc -> label number + 1 */
    uint32_t *number;
};

static void put_target(const struct labels *l, uint32_t pc, struct strbuf *out)
{
    if (l && l->number[pc])
        strbuf_printf(out, "L%u", l->number[pc] - 1);
    else
        strbuf_printf(out, "@%u", pc);
}

static const char *function_at(const struct isa_kernel *k, uint32_t pc)
{
    for (uint32_t i = 1; i < k->func_count; i++)
        if (k->funcs[i].pc == pc) return k->funcs[i].name;
    return NULL;
}

static bool put_control(const struct isa_kernel *k, const struct isa_inst *in, const struct labels *l,
                        struct strbuf *out)
{
    switch (in->op) {
    case ISA_OP_BRA: put_target(l, in->target, out); break;
    case ISA_OP_CALL: {
        const char *name = function_at(k, in->target);
        if (name)
            strbuf_puts(out, name);
        else
            put_target(l, in->target, out);
        return true;
    }
    case ISA_OP_BRX:
        put_operand(k, in->src[0], 'r', out);
        strbuf_puts(out, ", {");
        for (uint32_t i = 0; i < in->target && in->imm + i < k->branch_target_count; i++) {
            if (i) strbuf_puts(out, ", ");
            if (i == 8) {
                strbuf_printf(out, "... %u", in->target);
                break;
            }
            put_target(l, k->branch_targets[in->imm + i], out);
        }
        strbuf_putc(out, '}');
        break;
    default: return false;
    }
    if (in->reconv != ISA_NO_RECONV) {
        strbuf_puts(out, "  (meet ");
        put_target(l, in->reconv, out);
        strbuf_putc(out, ')');
    }
    return true;
}

static bool has_immediate(uint16_t op)
{
    return op == ISA_OP_LEA_32 || op == ISA_OP_LEA_64 || op == ISA_OP_LOP3 || op == ISA_OP_LOP3_P ||
           op == ISA_OP_CPASYNC_WAIT;
}

/* The part of source i that a video instruction selects; i = 2: of the destination. */
static void put_part(const struct isa_inst *in, uint32_t i, struct strbuf *out)
{
    uint32_t parts = i == 0 ? isa_selected_a(in) : i == 1 ? isa_selected_b(in) : isa_selected_dst(in);
    switch (in->op) {
    case ISA_OP_VIDEO:
    case ISA_OP_VMAD: strbuf_puts(out, ENUM_NAME(part_names, parts)); break;
    case ISA_OP_VIDEO_2:
    case ISA_OP_VIDEO_4:
        if (i == 2)
            strbuf_printf(out, ".mask%x", parts);
        else
            strbuf_printf(out, in->op == ISA_OP_VIDEO_2 ? ".h%02x" : ".b%04x", parts);
        break;
    default: break;
    }
}

static void put_operands(const struct isa_kernel *k, const struct isa_inst *in, struct strbuf *out)
{
    const struct isa_op_info *row = &isa_ops[in->op];
    const char *comma = "";
    uint32_t last_dst = 0, last_src = 0;
    for (uint32_t i = 0; i < ISA_DST_MAX; i++)
        if (in->dst[i] != ISA_NONE) last_dst = i + 1;
    for (uint32_t i = 0; i < ISA_SRC_MAX; i++)
        if (in->src[i] != ISA_NONE) last_src = i + 1;
    if (!last_dst && *row->dst && last_src) last_dst = 1; /* "_" where a result is not wanted */
    for (uint32_t i = 0; i < last_dst; i++, comma = ", ") {
        strbuf_puts(out, comma);
        put_operand(k, in->dst[i], letter_at(row->dst, in, i), out);
        put_part(in, 2, out);
    }
    if (row->flags & ISA_SREG) {
        strbuf_printf(out, "%s%s", comma, ENUM_NAME(sreg_names, in->mod));
        if (in->mod <= ISA_SREG_CTAID) strbuf_printf(out, ".%c", "xyz?"[MIN(in->mod2, 3)]);
    }
    for (uint32_t i = 0; i < last_src; i++, comma = ", ") {
        strbuf_puts(out, comma);
        if (is_address(in, i))
            put_address(k, in, i, out);
        else if (letter_at(row->src, in, i) == 'n')
            strbuf_printf(out, "r%u..%u", in->src[i], in->src[i] + (uint32_t)in->imm - 1);
        else
            put_operand(k, in->src[i], letter_at(row->src, in, i), out);
        if (i < 2) put_part(in, i, out);
    }
    if (has_immediate(in->op)) strbuf_printf(out, "%s#%lld", comma, (long long)in->imm);
}

static void put_inst(const struct isa_kernel *k, uint32_t pc, const struct labels *l, struct strbuf *out)
{
    const struct isa_inst *in = &k->insts[pc];
    if ((in->guard & 7) != ISA_PT || in->guard & ISA_GUARD_NOT)
        strbuf_printf(out, "@%sp%u ", in->guard & ISA_GUARD_NOT ? "!" : "", in->guard & 7u);
    strbuf_puts(out, isa_ops[in->op].name);
    put_modifiers(in, out);
    put_flags(in, out);
    size_t before = out->len;
    strbuf_putc(out, ' ');
    if (!put_control(k, in, l, out)) put_operands(k, in, out);
    if (out->len == before + 1) { /* no operand followed */
        out->len = before;
        out->data[before] = 0;
    }
}

void lower_disasm_inst(const struct isa_kernel *k, uint32_t pc, struct strbuf *out)
{
    put_inst(k, pc, NULL, out);
}

/* ---- the listing ---- */

enum { LISTING_COLUMNS = 110 };

static void find_labels(const struct isa_kernel *k, struct labels *l)
{
    uint64_t *marked = mem_zalloc(sizeof *marked * bitset_words(k->inst_count + 1));
    for (uint32_t i = 0; i < k->inst_count; i++) {
        const struct isa_inst *in = &k->insts[i];
        if (in->op == ISA_OP_BRA) bitset_add(marked, in->target);
        if ((in->op == ISA_OP_BRA || in->op == ISA_OP_BRX) && in->reconv != ISA_NO_RECONV)
            bitset_add(marked, in->reconv);
    }
    for (uint32_t i = 0; i < k->branch_target_count; i++) bitset_add(marked, k->branch_targets[i]);
    uint32_t next = 0;
    for (uint32_t i = 0; i < k->inst_count; i++)
        if (bitset_has(marked, i)) l->number[i] = ++next;
    free(marked);
}

/* Finds the start of line n (from 1) of the text; continues where the last search ended. */
struct text_lines {
    const char *text;
    size_t len, *starts;
    uint32_t count;
};

static void split_lines(struct text_lines *t)
{
    VEC(size_t) starts = {0};
    vec_push(&starts, 0);
    for (size_t i = 0; i < t->len; i++)
        if (t->text[i] == '\n') vec_push(&starts, i + 1);
    t->starts = starts.data;
    t->count = starts.len;
}

static void put_ptx_line(const struct text_lines *t, uint32_t line, struct strbuf *out)
{
    if (line == 0 || line > t->count) return;
    size_t from = t->starts[line - 1], to = line < t->count ? t->starts[line] - 1 : t->len;
    while (from < to && (t->text[from] == ' ' || t->text[from] == '\t')) from++;
    strbuf_printf(out, "%6u | ", line);
    for (size_t i = from; i < to && i - from < LISTING_COLUMNS - 10; i++) {
        char c = t->text[i];
        strbuf_putc(out, c == '\t' || (unsigned char)c < ' ' ? ' ' : c);
    }
    strbuf_putc(out, '\n');
}

static void put_header(const struct isa_kernel *k, struct strbuf *out)
{
    strbuf_printf(
        out, "kernel '%s': %u register%s, %u predicate%s, %u bytes shared, %u bytes local (%u spilled)%s\n",
        k->name, k->reg_count, k->reg_count == 1 ? "" : "s", k->pred_count, k->pred_count == 1 ? "" : "s",
        k->shared_bytes, k->frame_bytes, k->spill_bytes, k->uses_stack ? ", stack" : "");
    strbuf_printf(out, "%u instructions, %u constants, %u bytes of parameters:", k->inst_count,
                  k->const_count, k->param_bytes);
    size_t column = 50;
    for (uint32_t i = 0; i < k->param_count; i++) {
        char text[160];
        int n = snprintf(text, sizeof text, " %s c[%u]", k->params[i].name, k->params[i].offset);
        if (column + (size_t)n > LISTING_COLUMNS) {
            strbuf_puts(out, "\n   ");
            column = 3;
        }
        strbuf_puts(out, text);
        column += (size_t)n;
    }
    strbuf_puts(out, k->param_count ? "\n\n" : " none\n\n");
    strbuf_puts(out, "         pc live\n");
}

static void put_row(const struct isa_kernel *k, uint32_t pc, const struct labels *l, struct strbuf *out)
{
    struct strbuf text = {0};
    char label[16] = "";
    put_inst(k, pc, l, &text);
    if (l->number[pc]) snprintf(label, sizeof label, "L%u:", l->number[pc] - 1);
    const char *rest = strbuf_text(&text);
    strbuf_printf(out, "     %6u %4u %-6s ", pc, k->insts[pc].live, label);
    enum { INDENT = 24 };
    for (size_t room = LISTING_COLUMNS - INDENT; strlen(rest) > room;) { /* long operand lists go on below */
        size_t cut = room;
        while (cut > 1 && rest[cut - 1] != ' ') cut--;
        if (cut <= 1) cut = room;
        strbuf_add(out, rest, cut);
        strbuf_printf(out, "\n%*s", INDENT + 4, "");
        rest += cut;
        room = LISTING_COLUMNS - INDENT - 4;
    }
    strbuf_puts(out, rest);
    strbuf_putc(out, '\n');
    strbuf_free(&text);
}

void lower_disasm(const struct isa_module *m, const struct isa_kernel *k, bool with_ptx, struct strbuf *out)
{
    struct labels l = {.number = mem_zalloc(sizeof *l.number * (k->inst_count + 1))};
    struct text_lines t = {.text = m->ptx_text, .len = m->ptx_len};
    if (with_ptx) split_lines(&t);
    find_labels(k, &l);
    put_header(k, out);
    uint32_t shown = 0;
    for (uint32_t pc = 0; pc < k->inst_count; pc++) {
        const char *function = pc ? function_at(k, pc) : NULL;
        if (function) strbuf_printf(out, "\nfunction '%s':\n", function);
        uint32_t line = k->insts[pc].loc < k->loc_count ? k->locs[k->insts[pc].loc].ptx_line : 0;
        if (with_ptx && line && line != shown) {
            put_ptx_line(&t, line, out);
            shown = line;
        }
        put_row(k, pc, &l, out);
    }
    free(t.starts);
    free(l.number);
}
