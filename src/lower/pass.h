/* pass.h: inside lowering: the image being made, and the steps that it goes through, in the order of this
 * file.
 *
 * Terms. An *image* is what one kernel needs to run: its entry and every function that it can reach. A
 * *routine* is one function of the image. routines[0] is the entry. */
#ifndef HEDDLE_PASS_H
#define HEDDLE_PASS_H

#include "base/map.h"
#include "lower/cfg.h"
#include "lower/lower.h"
#include "lower/mir.h"

/* Slots of a routine beyond those of mir.h: the outgoing argument area of a real call, at the very end of the
 * frame (one of 0 bytes stands for the end itself). */
enum { SLOT_OUT = MIR_SLOT_SPILL + 1 };

struct routine {
    struct mir_func mir;
    const struct ptx_func *ptx;
    bool is_entry;
    /* some call chain returns to it: never inlined */
    bool is_recursive;
    /* still called, or its address is taken: becomes code of its own */
    bool is_live;
    bool address_taken;
    /* direct calls to it, before inlining */
    uint32_t call_sites;
    /* walk of the call graph: 0 new, 1 open, 2 done */
    uint8_t visit;
    /* vreg of the frame pointer, MIR_NO_VREG where there is none */
    uint32_t fp;
    /* vreg -> first physical register or predicate, after allocation */
    uint16_t *phys;
    uint32_t reg_count, pred_count;
    uint32_t frame_bytes, spill_bytes;
    /* slot -> byte offset from the frame pointer (entry: from 0), after layout */
    int32_t *slot_offset;
};

struct image {
    struct mir_prog prog;
    const struct ptx_module *ptx;
    const struct lower_options *opts;
    struct diag_list *diags;
    VEC(struct routine *) routines;
    /* a call through a pointer: all functions whose address is taken are reachable */
    bool has_indirect;
    /* has real calls */
    bool uses_stack;
    /* printf, malloc and the like */
    bool calls_runtime;
    /* registers that the allocator may use */
    uint32_t regs_limit;
    uint32_t frame_align;
};

enum { REG_FRAME = 1, REGS_LIMIT_MIN = 16 };

struct routine *image_find_routine(struct image *m, const struct ptx_func *f);

/* inline.c */

/* Recursion, call sites. */
void image_mark_calls(struct image *m);
void image_inline(struct image *m);
/* Routines that are still called. */
void image_mark_live(struct image *m);
/* call.c: real calls. Arguments go through memory at the end of the caller's frame. */
/* False: a call does not fit its callee (diagnosed). */
bool routine_expand_calls(struct image *m, struct routine *u);
void routine_single_return(struct routine *u);
void routine_save_across_calls(struct routine *u);
/* Turns addresses of slots that are used as values into frame pointer + offset. */
void routine_bind_frame(struct routine *u);
void routine_layout_frame(struct image *m, struct routine *u);
/* Lays the rets and args of a signature out in the area below the callee's frame. Returns the area's
 * bytes. */
uint32_t call_area(const struct mir_slot *slots, const uint32_t *rets, uint32_t ret_count,
                   const uint32_t *args, uint32_t arg_count, uint32_t *offsets);
/* promote.c: slots that never need an address -> vregs. True when some were. */
bool routine_promote_slots(struct routine *u);
/* fold.c */

/* Copies, constants, addresses; true when anything changed. */
bool routine_fold(struct routine *u);
/* cse.c */
bool routine_common(struct routine *u);
/* dce.c */
bool routine_drop_dead(struct routine *u);
/* legal.c: operands as a real machine can encode them */
void routine_legalise(struct routine *u);
/* sched.c: the order within blocks: hides latency, at the price of registers */
void routine_schedule(struct routine *u, uint32_t regs_limit);
/* alloc.c */
bool routine_allocate(struct image *m, struct routine *u);
/* scratch.c: registers beyond those that hold values */
void routine_count_scratch(struct image *m, struct routine *u);
/* Registers that every thread of the target has on top of the highest one. */
uint32_t image_thread_regs(const struct image *m);
/* Registers that the kernel is reported to use. */
uint32_t image_reg_count(const struct image *m, uint32_t highest);
/* emit.c */
/* Name, parameters and bounds: all that a kernel which cannot run has. */
void image_emit_signature(const struct ptx_func *f, struct arena *arena, const char *ptx_name,
                          struct isa_kernel *k);
bool image_emit(struct image *m, struct arena *arena, const char *ptx_name, struct isa_kernel *k);
/* verify.c: the invariants of mir.h, and of an allocation. False, with a diagnostic, where one does not hold;
 * `stage` names the step before. */
bool routine_verify(struct image *m, const struct routine *u, const char *stage);
/* routine_verify as an assert of debug builds, for the steps between. */
void routine_check(struct image *m, const struct routine *u, const char *stage);
bool routine_verify_allocation(struct image *m, const struct routine *u);
/* undef.c: vregs that are read but never written become 0. */
void routine_zero_undefined(struct routine *u);

#endif
