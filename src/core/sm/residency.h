/* residency.h: which CTAs are on the SM, and the contexts, slots, registers and shared memory that they hold.
 * See residency.c. */
#ifndef HEDDLE_SM_RESIDENCY_H
#define HEDDLE_SM_RESIDENCY_H

#include "core/sm/context.h"
#include "core/sm/program.h"
#include "core/sm/registers.h"
#include "core/sm/split.h"

/* A CTA slot. */
struct sm_cta {
    /* NULL: the slot is free */
    struct cta *emu;
    struct emu_grid *grid;
    struct sm_program *program;
    /* slots of its warps, by bank */
    uint64_t slots[SM_BANKS_MAX];
    /* its first context: SM_NO_CONTEXT ends the list (context.sibling) */
    uint16_t first;
    /* it has slots, or they are reserved for it */
    bool has_slots;
    /* number in the grid */
    uint64_t linear;
    /* warps; those of them that have not left */
    uint32_t warps, left;
    /* registers, threads of whole warps, bytes of shared memory */
    uint32_t registers, threads;
    uint64_t shared;
    /* rows of the register file, a bit set: those that it owns, or owned when they left for memory
     * (transfer.c) */
    uint64_t *rows;
    bool has_rows;
};

struct residency_hot {
    /* [residency.context_count] */
    struct context *contexts;
    /* warps that have not left */
    uint32_t warp_count;
    uint8_t bank_count;
    bool faulted;
    /* CTAs have ended: see finished */
    bool has_finished;
    /* a mechanism lets more CTAs in than before */
    bool has_room;
    /* the context in each slot; SM_NO_CONTEXT: the slot is free */
    uint16_t context_of[SM_SLOTS_MAX];
};
struct residency {
    struct sm_cta *ctas;
    /* launch number and CTA slot of the warp in each slot, for schedulers */
    uint64_t age[SM_SLOTS_MAX];
    uint32_t cta_of[SM_SLOTS_MAX];
    /* slots in use, by bank; contexts in use */
    uint64_t slots_taken[SM_BANKS_MAX], contexts_taken[SM_CONTEXTS_MAX / 64];
    /* the numbers that the SM has */
    uint32_t slot_count, cta_slots, context_count;
    /* what is resident: all CTAs; those with slots, and their threads; those without rows; warps without
     * slots that have not left */
    uint32_t cta_count, active_count, thread_count, saved_count, slotless;
    /* registers and shared memory in use */
    uint64_t registers, shared;
    struct register_file file;
    /* sizes that shared memory can have */
    struct split_sizes sizes;
    /* bytes that shared memory and the L1 have now */
    uint64_t shared_size, l1_size;
    /* launch number of the next warp */
    uint64_t next_launch;
    /* mask of CTA slots whose warps have all left in this cycle */
    uint64_t *finished;
    /* between the first CTA and sm_kernel_end */
    bool in_kernel;
    /* CTAs that have not started, as the SM was told; it has asked for one and not got an answer */
    bool ctas_left, has_asked;
    struct programs programs;
};

void residency_init(struct sm *m);
/* The L1 was made: its size is known. */
void residency_see_l1(struct sm *m);
void residency_free(struct sm *m);
/* A warp has left; with the last one its CTA ends. */
void residency_warp_left(struct sm *m, struct context *x);
/* Sets the capacity of the L1 to what a mechanism wants, or else to what the split of the array leaves. */
void residency_size_l1(struct sm *m);
/* residency_give_rows: the registers of a CTA have left for memory, and it gives its rows back.
 * residency_take_rows: it gets rows again, maybe others, before its registers come back; false: there are not
 * enough. */
void residency_give_rows(struct sm *m, uint32_t cta);
bool residency_take_rows(struct sm *m, uint32_t cta);
/* A mechanism lets more CTAs in than before. */
void residency_has_room(struct sm *m);
/* The emulator has met a fault: the SM issues nothing more. */
void residency_fault(struct sm *m);
/* Does the address lie in memory that the host has allocated? Always false while no CTA is on the SM. */
bool residency_has_memory(const struct sm *m, uint64_t address);
/* CTAs without slots (cta_swap.c). residency_has_slots: would there be slots for `in` after `out`
 * (MECH_NO_CTA: none) has left? A CTA reserves slots, its warps enter them, leave them, and it frees the
 * slots. */
bool residency_has_slots(const struct sm *m, uint32_t in, uint32_t out);
void residency_reserve_slots(struct sm *m, uint32_t cta);
void residency_seat(struct sm *m, uint32_t cta);
void residency_unseat(struct sm *m, uint32_t cta);
void residency_give_slots(struct sm *m, uint32_t cta);
/* A grid has come to the machine: its CTAs have not started. */
void residency_launch(struct sm *m);
/* No kernel is on the SM any more. */
void residency_kernel_end(struct sm *m);
/* The context of a number. */
static inline struct context *context_at(const struct residency_hot *r, uint32_t context)
{
    return &r->contexts[context];
}
/* The warp in a slot that is not free. */
static inline struct context *slot_context(const struct residency_hot *r, uint64_t slot)
{
    return &r->contexts[r->context_of[slot]];
}

#endif
