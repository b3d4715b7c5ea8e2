/* uop.c: decodes a machine instruction into what the pipeline needs of it.
 *
 * The classes of operations and the table of latencies follow GPGPU-Sim (add, max, mul, mad, div for
 * integers, single and double precision); divisions and exact roots run on the special-function units, as
 * there. 64-bit values are two registers. */
#include "core/sm/uop.h"

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static void add_once(uint8_t *list, uint8_t *count, uint32_t max, uint32_t reg)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == reg) return;
    if (*count < max) list[(*count)++] = (uint8_t)reg;
}

static void add_hazard(struct uop *u, uint32_t reg) { u->registers[reg / 64].hazard |= 1ull << reg % 64; }

static void add_register(struct uop *u, uint32_t reg, bool is_def)
{
    assert(reg < ISA_REGS_MAX);
    add_hazard(u, reg);
    if (is_def) {
        u->registers[reg / 64].def |= 1ull << reg % 64;
        add_once(u->writes, &u->write_count, UOP_WRITES_MAX, reg);
    } else
        add_once(u->reads, &u->read_count, UOP_READS_MAX, reg);
}

/* array: registers of an operand with letter n. */
static void add_operand(struct uop *u, uint16_t o, char letter, bool is_def, bool is_narrow_address,
                        uint32_t array)
{
    if (o == ISA_NONE) return;
    if (isa_is_pred(o)) {
        uint32_t p = isa_index(o) & 7;
        if (p == ISA_PT) return;
        u->hazard_preds |= (uint8_t)(1u << p);
        if (is_def) u->def_preds |= (uint8_t)(1u << p);
    } else if (letter == 'n') {
        for (uint32_t i = 0; i < array; i++) add_hazard(u, isa_index(o) + i);
    } else if (isa_is_reg(o)) {
        bool is_pair = letter == 'd' || (letter == 'a' && !is_narrow_address);
        add_register(u, isa_index(o), is_def);
        if (is_pair) add_register(u, isa_index(o) + 1, is_def);
    } else if (!is_def)
        u->other_count++;
}

/* Operand letters of isa.def: a letter followed by * is repeated inst.vec times. */
static void add_operands(struct uop *u, const struct isa_inst *inst, const char *letters, const uint16_t *ops,
                         uint32_t max, bool is_def)
{
    uint32_t n = 0;
    bool is_narrow = inst->flags & ISA_A32;
    for (const char *c = letters; *c; c++) {
        uint32_t times = c[1] == '*' ? MAX(inst->vec, 1u) : 1;
        for (uint32_t i = 0; i < times && n < max; i++)
            add_operand(u, ops[n++], *c, is_def, is_narrow, (uint32_t)inst->imm);
        if (inst->op == ISA_OP_CPASYNC && *c == 'a')
            is_narrow = false; /* A32 is about the address in shared memory alone */
        if (c[1] == '*') c++;
    }
}

static uint32_t op_cycles(const struct sm_op_cycles *t, const char *name, bool is_slow)
{
    static const char *const mads[] = {"mad", "fma", "dp4a", "dp2a"};
    if (is_slow || starts_with(name, "rem")) return t->div;
    if (starts_with(name, "mul")) return t->mul;
    if (starts_with(name, "min") || starts_with(name, "max")) return t->max;
    for (size_t i = 0; i < ARRAY_LEN(mads); i++)
        if (starts_with(name, mads[i])) return t->mad;
    return t->add;
}

/* Operations in GPGPU-Sim's tables of latencies; all others, fma included, take one cycle there. */
static bool has_row(const char *name)
{
    static const char *const rows[] = {"add", "sub", "mul", "mad", "min", "max", "div", "rem"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (starts_with(name, rows[i])) return true;
    return false;
}

static void set_timing(const struct sm_params *p, struct uop *u, const struct isa_op_info *op)
{
    const struct sm_op_cycles *latency = &p->int_latency, *interval = &p->int_interval;
    bool is_slow = op->flags & ISA_SLOW;
    u->cls = p->int_units ? CLASS_INT : CLASS_SP;
    switch ((enum isa_unit)op->unit) {
    case ISA_UNIT_INT:
    case ISA_UNIT_CTRL: break;
    case ISA_UNIT_SYS: is_slow = true; break; /* stands for a call into the device runtime */
    case ISA_UNIT_FP32:
    case ISA_UNIT_HALF:
    case ISA_UNIT_CVT:
        u->cls = CLASS_SP;
        latency = &p->fp_latency;
        interval = &p->fp_interval;
        break;
    case ISA_UNIT_FP64:
        u->cls = p->dp_units ? CLASS_DP : CLASS_SFU;
        latency = &p->dp_latency;
        interval = &p->dp_interval;
        break;
    case ISA_UNIT_SFU:
        u->cls = CLASS_SFU;
        u->latency = (uint16_t)p->sfu_latency;
        u->interval = (uint16_t)p->sfu_interval;
        return;
    case ISA_UNIT_SYNC:
        u->latency = (uint16_t)p->warp_latency;
        u->interval = (uint16_t)p->warp_interval;
        return;
    case ISA_UNIT_LSU:
    case ISA_UNIT_TEX:
        u->cls = CLASS_MEM;
        u->latency = u->interval = 1;
        return;
    case ISA_UNIT_COUNT: UNREACHABLE("a unit that does not exist");
    }
    if (is_slow && u->cls != CLASS_DP) u->cls = CLASS_SFU;
    u->latency = (uint16_t)op_cycles(latency, op->name, is_slow);
    u->interval = (uint16_t)op_cycles(interval, op->name, is_slow);
    if (!p->other_latency || is_slow || has_row(op->name)) return;
    u->latency = (uint16_t)p->other_latency;
    u->interval = 1;
}

/* Does its result depend on what other SMs have done so far? They cannot change constants, parameters, local
 * and shared memory. */
static bool sees_others(const struct isa_inst *inst, const struct isa_op_info *op)
{
    if (op->unit == ISA_UNIT_TEX || inst->op == ISA_OP_CPASYNC || inst->op == ISA_OP_CPBULK_LOAD) return true;
    if (op->flags & ISA_SREG) return inst->mod >= ISA_SREG_CLOCK; /* the clocks come last */
    if (op->unit != ISA_UNIT_LSU || !(op->flags & (ISA_LOAD | ISA_ATOMIC))) return false;
    return inst->mod != ISA_SHARED && inst->mod != ISA_LOCAL && inst->mod != ISA_CONST &&
           inst->mod != ISA_PARAM;
}

static void set_flags(const struct sm_params *p, struct uop *u, const struct isa_inst *inst,
                      const struct isa_op_info *op)
{
    if (op->flags & ISA_LOAD) u->flags |= UOP_LOAD;
    if (op->flags & ISA_STORE) u->flags |= UOP_STORE;
    if (op->flags & ISA_ATOMIC) u->flags |= UOP_ATOMIC;
    if (op->flags & ISA_BRANCH) u->flags |= UOP_BRANCH;
    if (op->flags & ISA_BARRIER) u->flags |= UOP_BARRIER | UOP_SYNCS;
    bool is_memory = op->unit == ISA_UNIT_LSU && op->flags & (ISA_LOAD | ISA_STORE | ISA_ATOMIC);
    if (is_memory && (inst->op == ISA_OP_CPASYNC || inst->mod == ISA_GENERIC || inst->mod == ISA_GLOBAL ||
                      inst->mod == ISA_LOCAL))
        u->flags |= UOP_DEVICE;
    switch (inst->op) {
    case ISA_OP_EXIT:
    case ISA_OP_RET: u->flags |= UOP_SYNCS; break; /* a return from the entry ends the thread */
    case ISA_OP_MEMBAR: u->flags |= UOP_FENCE; break;
    case ISA_OP_CPASYNC: u->flags |= UOP_ASYNC; break;
    case ISA_OP_CPBULK_LOAD: u->flags |= UOP_BULK; break;
    case ISA_OP_NANOSLEEP: u->flags |= UOP_SLEEP; break;
    case ISA_OP_IMOV_32: u->flags |= UOP_INDIRECT; break;
    case ISA_OP_PRINTF:
    case ISA_OP_MALLOC:
    case ISA_OP_FREE:
    case ISA_OP_ASSERTFAIL: u->flags |= UOP_ALONE; break;
    case ISA_OP_CPASYNC_COMMIT: u->flags |= UOP_COMMIT; break;
    case ISA_OP_CPASYNC_WAIT:
        u->flags |= UOP_WAIT;
        u->groups = inst->imm < 0 ? -1 : (int32_t)MIN(inst->imm, 64);
        break;
    default: break;
    }
    if (u->flags & UOP_SYNCS || sees_others(inst, op)) u->flags |= UOP_SEES;
    if (inst->op == ISA_OP_CPASYNC_COMMIT || inst->op == ISA_OP_TXQ) { /* touch no memory */
        u->cls = p->int_units ? CLASS_INT : CLASS_SP;
        u->latency = (uint16_t)p->int_latency.add;
        u->interval = (uint16_t)p->int_interval.add;
    }
}

void uop_decode(const struct sm_params *p, const struct isa_inst *inst, struct uop *out)
{
    const struct isa_op_info *op = &isa_ops[inst->op];
    *out = (struct uop){.unit = op->unit, .work = (uint8_t)isa_work(op)};
    add_operands(out, inst, op->dst, inst->dst, ISA_DST_MAX, true);
    add_operands(out, inst, op->src, inst->src, ISA_SRC_MAX, false);
    uint32_t guard = inst->guard & 7;
    if (guard != ISA_PT) out->hazard_preds |= (uint8_t)(1u << guard);
    for (uint32_t i = 0; i < REG_WORDS; i++)
        if (out->registers[i].hazard) out->words = (uint8_t)(i + 1);
    set_timing(p, out, op);
    set_flags(p, out, inst, op);
}
