/* uop.h: a machine instruction as the pipeline sees it: which registers must be free, which unit takes it,
 * how long. Made once a kernel and SM, so that nothing is decoded when an instruction issues. */
#ifndef HEDDLE_UOP_H
#define HEDDLE_UOP_H

#include "core/sm/sm_params.h"
#include "isa/isa.h"

enum sm_class { CLASS_SP, CLASS_INT, CLASS_DP, CLASS_SFU, CLASS_MEM, CLASS_COUNT }; /* of units */

enum uop_flags {
    UOP_LOAD = 1 << 0,
    UOP_STORE = 1 << 1,
    UOP_ATOMIC = 1 << 2,
    UOP_DEVICE = 1 << 3, /* may go to global or local memory */
    UOP_BRANCH = 1 << 4,
    UOP_SYNCS = 1 << 5, /* may let other warps of its CTA go on: barriers, exit */
    UOP_BARRIER = 1 << 6,
    UOP_FENCE = 1 << 7, /* the warp waits for its memory operations */
    UOP_ASYNC = 1 << 8, /* cp.async */
    UOP_COMMIT = 1 << 9,
    UOP_WAIT = 1 << 10,  /* cp.async.wait */
    UOP_SLEEP = 1 << 11, /* nanosleep */
    UOP_ALONE =
        1 << 12, /* a call of the device runtime, made at the end of the cycle: the warp issues no other */
    UOP_SEES =
        1
        << 13 /* needs the other SMs to be there: reads memory that they write, or a clock; or lets other warps go on */
};

enum { UOP_READS_MAX = 16, UOP_WRITES_MAX = 8, REG_WORDS = 4 };

struct uop {
    uint64_t hazard[REG_WORDS]; /* registers that it reads or writes: none may be pending */
    uint64_t def[REG_WORDS];    /* registers that it writes */
    uint8_t hazard_preds, def_preds;
    uint8_t cls, unit; /* enum sm_class, isa_unit */
    uint16_t flags;
    uint16_t latency, interval; /* cycles */
    uint8_t words;              /* of hazard and def that are not 0 */
    uint8_t read_count, write_count;
    uint8_t reads[UOP_READS_MAX], writes[UOP_WRITES_MAX]; /* distinct registers, for the banks */
    int32_t groups; /* UOP_WAIT: cp.async groups that may be outstanding */
};

void uop_decode(const struct sm_params *p, const struct isa_inst *inst, struct uop *out);

#endif
