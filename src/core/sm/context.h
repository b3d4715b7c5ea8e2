/* context.h: a warp on the SM, and the masks of warp slots.
 *
 * A warp that is resident has a *context*: its registers in flight, its instruction buffer, its memory
 * operations. While it may issue it also has a *slot*, which belongs to a scheduler. Local-memory addresses,
 * flights, pending loads, unacknowledged stores and instruction misses belong to the context; masks of what
 * can issue belong to slots.
 *
 * Slots are numbered in banks of 64, so that a mask is one word: slot = 64 * bank + bit. An SM of up to 64
 * slots has one bank, which its schedulers share (slot modulo schedulers); a larger one has a bank for each
 * scheduler.
 *
 * Each field has one writer, the part of the SM that is named above it. */
#ifndef HEDDLE_SM_CONTEXT_H
#define HEDDLE_SM_CONTEXT_H

#include "core/mech/vote_masks.h"
#include "core/sm/uop.h"
#include "emu/step.h"

enum {
    SM_BANK_SLOTS = 64,
    SM_BANKS_MAX = 4,
    SM_SLOTS_MAX = SM_BANK_SLOTS * SM_BANKS_MAX,
    SM_CONTEXTS_MAX = 512,
    /* CTA slots where a mechanism lets CTAs in without warp slots */
    SM_CTAS_INACTIVE_MAX = 128,
    SM_SCHEDULERS_MAX = 4,
    ASYNC_GROUPS = 16
};
#define SM_NONE       UINT32_MAX
#define SM_NO_SLOT    UINT16_MAX
#define SM_NO_CONTEXT UINT16_MAX

/* A warp has had no slot yet; runs; has executed its last instruction; has left the SM. */
enum warp_stage { WARP_NEW, WARP_RUNS, WARP_ENDED, WARP_LEFT };

/* Lines of the host's cache: what issue and writeback touch, with the first 64 registers; the other
 * registers; the rest. */
struct context {
    /* warp_status.c: the next instruction; NULL while the warp waits at a barrier or has ended */
    _Alignas(HOST_LINE) const struct uop *next;
    /* residency.c */
    struct warp *emu;
    struct sm_program *program;
    /* warp_status.c: the PC of `next` */
    uint32_t next_pc;
    /* residency.c: SM_NO_SLOT while the warp is not active; CTA slot */
    uint16_t slot, cta;
    /* fetch.c: where the next fetch begins; the first instruction in the buffer, and how many it holds */
    uint32_t fetch_pc, fetch_buffer_pc;
    uint8_t fetch_buffered;
    /* scoreboard.c: predicates to be written; arithmetic and memory instructions under way */
    uint8_t board_preds;
    uint16_t board_flights, board_memory;
    /* residency.c: its number among the contexts of the SM */
    uint16_t id;
    /* scoreboard.c: registers to be written, by anything and by memory operations */
    struct {
        uint64_t any, memory;
    } board_pending[REG_WORDS];
    /* scheduler.c: cycle of the newest issue */
    uint64_t issue_cycle;
    /* warp_status.c: the cycle at which nanosleep ends */
    uint64_t sleep_until;
    /* residency.c: number of the warp in the grid; launch number, which is its age; number in its CTA */
    uint64_t number, launch;
    uint32_t index;
    /* residency.c: the slot that it holds, held last or will hold; the next context of its CTA */
    uint16_t last_slot, sibling;
    /* warp_status.c: enum warp_stage */
    uint8_t stage;
    /* without a slot. fetch.c: it waits for an instruction miss. scoreboard.c: it waits at a fence; it waits
     * there, or has ended and waits for its stores */
    bool fetch_missed, board_fenced, board_away;
    /* scoreboard.c: cp.async: the open group; copies under way, by group modulo ASYNC_GROUPS */
    uint32_t board_group;
    uint16_t board_groups[ASYNC_GROUPS];
    /* scoreboard.c: copies between one arrival at an mbarrier and the next are an *epoch*: the open one; the
     * oldest whose arrival has not happened; copies under way, by epoch modulo ASYNC_GROUPS */
    uint32_t board_epoch, board_epoch_first;
    uint16_t board_epochs[ASYNC_GROUPS];
};
_Static_assert(offsetof(struct context, board_pending[1]) == HOST_LINE,
               "the first registers end the first line");

/* warp_status.c. (1) resident contains all other masks of a bank. */
struct warp_masks {
    /* holds a warp that has not left; has executed its last instruction; waits at a barrier or for its lanes;
     * in nanosleep */
    uint64_t resident, done, held, asleep;
};
/* scoreboard.c: the next instruction waits for a result; for that of a memory operation; the warp waits at a
 * fence */
struct board_masks {
    uint64_t hazard, hazard_mem, fenced;
};
/* fetch.c: the buffer begins with the next instruction; is empty; waits for an instruction miss; holds other
 * instructions */
struct fetch_masks {
    uint64_t buffered, empty, missed, astray;
};
/* warp_status.c: what the next instruction is: of global or local memory, a load of these, one that other SMs
 * may disturb, its class */
struct next_masks {
    uint64_t memory, load, sees, cls[CLASS_COUNT];
};

/* The masks of 64 slots, in the order in which a scheduler asks for them: three lines of the host's cache. */
struct bank {
    _Alignas(HOST_LINE) struct warp_masks warp;
    struct board_masks board;
    struct fetch_masks fetch;
    /* scheduler.c: as mechanisms had voted when it last heard them */
    struct vote_masks votes;
    struct next_masks next;
};
_Static_assert(offsetof(struct bank, fetch.empty) == HOST_LINE,
               "what decides whether a warp can issue is one line");

static inline uint32_t slot_bank(uint32_t slot) { return slot / SM_BANK_SLOTS; }
static inline uint64_t slot_bit(uint32_t slot) { return 1ull << slot % SM_BANK_SLOTS; }

/* Each bit of a mask, in ascending order, as its number. */
#define FOR_BITS(i, mask)                                                                                    \
    for (uint64_t i##_rest = (mask), i; i##_rest && ((i = (uint64_t)__builtin_ctzll(i##_rest)), true);       \
         i##_rest &= i##_rest - 1)

#endif
