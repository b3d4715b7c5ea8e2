/* uop.h: a machine instruction as the pipeline sees it: which registers must be free, which unit takes it,
 * how long. It is made once for each grid (uop_table.h), so that nothing is decoded at issue. */
#ifndef HEDDLE_UOP_H
#define HEDDLE_UOP_H

#include "core/sm/sm_params.h"
#include "isa/work.h"

/* Classes of units. */
enum sm_class { CLASS_SP, CLASS_INT, CLASS_DP, CLASS_SFU, CLASS_MEM, CLASS_COUNT };

enum uop_flags {
    UOP_LOAD = 1 << 0,
    UOP_STORE = 1 << 1,
    UOP_ATOMIC = 1 << 2,
    /* may go to global or local memory */
    UOP_DEVICE = 1 << 3,
    UOP_BRANCH = 1 << 4,
    /* may let other warps of its CTA go on: barriers, exit */
    UOP_SYNCS = 1 << 5,
    UOP_BARRIER = 1 << 6,
    /* the warp waits until its memory operations are done */
    UOP_FENCE = 1 << 7,
    /* cp.async */
    UOP_ASYNC = 1 << 8,
    UOP_COMMIT = 1 << 9,
    /* cp.async.wait */
    UOP_WAIT = 1 << 10,
    /* nanosleep */
    UOP_SLEEP = 1 << 11,
    /* a call of the device runtime, made at the end of the cycle: the warp issues no other */
    UOP_ALONE = 1 << 12,
    /* its result depends on how far the other SMs have come (it reads memory that they may write, or a
     * clock), or it lets other warps go on */
    UOP_SEES = 1 << 13,
    /* cp.async.bulk to shared memory */
    UOP_BULK = 1 << 14,
    /* imov: reads one more register, whose number the registers of its list give */
    UOP_INDIRECT = 1 << 15
};

enum { UOP_READS_MAX = 16, UOP_WRITES_MAX = 8, REG_WORDS = 4 };

/* Registers of an instruction, as bits. */
struct uop_registers {
    /* those that it reads, may read or writes: none may be pending; those that it writes */
    uint64_t hazard, def;
};

/* An instruction that names only registers below 64 is one line of the host. */
struct uop {
    /* enum sm_class, isa_unit */
    _Alignas(HOST_LINE) uint8_t cls;
    uint8_t unit;
    uint8_t hazard_preds, def_preds;
    uint16_t flags;
    /* cycles */
    uint16_t latency, interval;
    /* entries of `registers`, up to the last that is not 0 */
    uint8_t words;
    uint8_t read_count, write_count;
    /* sources that are neither registers nor predicates */
    uint8_t other_count;
    /* enum isa_work */
    uint8_t work;
    /* distinct registers, for the banks of the register file */
    uint8_t reads[UOP_READS_MAX], writes[UOP_WRITES_MAX];
    /* UOP_WAIT: cp.async groups that may be outstanding */
    int32_t groups;
    struct uop_registers registers[REG_WORDS];
};
_Static_assert(offsetof(struct uop, registers[1]) == HOST_LINE, "the first registers end the first line");

void uop_decode(const struct sm_params *p, const struct isa_inst *inst, struct uop *out);

#endif
