/* pass.h: inside lowering: an image under work, and the steps that it goes through, in the order of this
 * file.
 *
 * Terms. An *image* is what one kernel needs to run: its entry and every function that it can reach. A *unit*
 * is one function of the image. Units[0] is the entry. */
#ifndef HEDDLE_PASS_H
#define HEDDLE_PASS_H

#include "base/map.h"
#include "lower/cfg.h"
#include "lower/lower.h"
#include "lower/mir.h"

/* Slots of a unit beyond those of mir.h: the outgoing argument area of a real call, at the very end of the
 * frame (one of 0 bytes stands for the end itself). */
enum { SLOT_OUT = MIR_SLOT_SPILL + 1 };

struct unit {
    struct mir_func mir;
    const struct ptx_func *ptx;
    bool is_entry;
    bool is_recursive; /* some call chain comes back to it: never inlined */
    bool is_live;      /* still called, or its address is taken: becomes code of its own */
    bool address_taken;
    uint32_t call_sites; /* direct calls to it, before inlining */
    uint8_t visit;       /* walk of the call graph: 0 new, 1 open, 2 done */
    uint32_t fp;         /* vreg of the frame pointer, MIR_NO_VREG where there is none */
    uint16_t *phys;      /* vreg -> first physical register or predicate, after allocation */
    uint32_t reg_count, pred_count;
    uint32_t frame_bytes, spill_bytes;
    int32_t *slot_offset; /* slot -> byte offset from the frame pointer (entry: from 0), after layout */
};

struct image {
    struct mir_prog prog;
    const struct ptx_module *ptx;
    const struct lower_options *opts;
    struct diag_list *diags;
    VEC(struct unit *) units;
    bool has_indirect;   /* a call through a pointer: all functions whose address is taken are reachable */
    bool uses_stack;     /* has real calls */
    bool calls_runtime;  /* printf, malloc and the like */
    uint32_t regs_limit; /* registers that the allocator may use */
    uint32_t frame_align;
};

enum { REG_FRAME = 1, REGS_LIMIT_MIN = 16 };

struct unit *image_find_unit(struct image *m, const struct ptx_func *f);

/* inline.c */
void image_mark_calls(struct image *m); /* recursion, call sites */
void image_inline(struct image *m);
void image_mark_live(struct image *m); /* units that are still called */
/* call.c: real calls. Arguments go through memory at the end of the caller's frame. */
bool unit_expand_calls(struct image *m,
                       struct unit *u); /* false: a call does not fit its callee (diagnosed) */
void unit_single_return(struct unit *u);
void unit_save_across_calls(struct unit *u);
void unit_bind_frame(struct unit *u); /* addresses of slots as values: frame pointer + offset */
void unit_layout_frame(struct image *m, struct unit *u);
/* Places of the rets and args of a signature in the area below the callee's frame. Returns the area's bytes.
 */
uint32_t call_area(const struct mir_slot *slots, const uint32_t *rets, uint32_t ret_count,
                   const uint32_t *args, uint32_t arg_count, uint32_t *offsets);
/* promote.c: slots that never need an address -> vregs. True when some were. */
bool unit_promote_slots(struct unit *u);
/* fold.c */
bool unit_fold(struct unit *u); /* copies, constants, addresses; true when anything changed */
/* cse.c */
bool unit_common(struct unit *u);
/* dce.c */
bool unit_drop_dead(struct unit *u);
/* legal.c: operands as a real machine can encode them */
void unit_legalise(struct unit *u);
/* sched.c: the order within blocks: latency hidden, registers spent */
void unit_schedule(struct unit *u, uint32_t regs_limit);
/* alloc.c */
bool unit_allocate(struct image *m, struct unit *u);
/* scratch.c: registers beyond those that hold values */
void unit_count_scratch(struct image *m, struct unit *u);
uint32_t image_thread_regs(const struct image *m); /* that every thread of the target has on top */
uint32_t image_reg_count(const struct image *m, uint32_t highest); /* what the kernel is reported to use */
/* emit.c */
bool image_emit(struct image *m, struct arena *arena, const char *ptx_name, struct isa_kernel *k);
/* verify.c: the invariants of mir.h, and of an allocation. False, with a diagnostic, where one does not hold;
 * `stage` names the step before. */
bool unit_verify(struct image *m, const struct unit *u, const char *stage);
bool unit_verify_allocation(struct image *m, const struct unit *u);
/* undef.c: what is read but never written is 0. */
void unit_zero_undefined(struct unit *u);

#endif
