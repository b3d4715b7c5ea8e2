/* warp.h: inside the emulator: a warp and its threads of control.
 *
 * Terms. A *leaf* is a set of lanes that run together: program counter, mask, call depth. A *node* is the
 * reconvergence point of a branch at one call depth, where lanes that diverged wait for each other.
 * docs/divergence.md says how they work together. Invariants. (1) Each live lane is in exactly one leaf, or
 * in `arrived` of exactly one node. (2) A node's expected lanes are live, contain its arrived ones, and are
 * contained in those of its parent. (3) A node whose expected lanes have all arrived does not exist: it has
 * become a leaf of its parent. */
#ifndef HEDDLE_EMU_WARP_H
#define HEDDLE_EMU_WARP_H

#include "base/vec.h"
#include "emu/exec.h"

enum { LEAVES_MAX = ISA_LANES, NODES_MAX = 64, NODE_NONE = 0xff };

enum leaf_state {
    LEAF_READY,
    /* waits at a barrier of the CTA */
    LEAF_AT_BARRIER,
    /* .sync: for the lanes of a member mask */
    LEAF_AT_SYNC
};

/* How long lanes have run while others of the warp wait for them. Leaves that come from a leaf inherit it,
 * until all live lanes of the warp are together again. */
struct patience {
    /* backward branches of loops that look like waiting */
    uint32_t spins;
    /* instructions of turns that it used up */
    uint32_t insts;
    /* when it last gave up its turn; the leaf that did so longest ago runs next */
    uint64_t ran;
};

struct leaf {
    uint32_t pc, mask;
    /* calls that it is in */
    uint32_t depth;
    /* where it goes to meet the others; NODE_NONE = nowhere */
    uint8_t node;
    /* enum leaf_state */
    uint8_t state;
    /* AT_BARRIER: its number */
    uint8_t barrier;
    struct patience patience;
    /* order of birth: the youngest ready leaf runs first */
    uint64_t serial;
};

struct node {
    uint32_t reconv, depth;
    uint32_t expected, arrived;
    uint8_t parent;
    /* the most of those that arrived */
    struct patience patience;
};

/* What an exec function did beyond registers; the higher value wins. */
enum warp_event {
    EVENT_NONE,
    /* pc or mask of the current leaf changed: go on with it */
    EVENT_GO,
    /* the current leaf cannot go on: pick another */
    EVENT_SWITCH,
    /* the turn is over: the program waits for others */
    EVENT_YIELD,
    EVENT_FAULT
};

struct call_row {
    /* where each lane goes back to */
    uint32_t ret[ISA_LANES];
    /* its stack in use, bytes */
    uint32_t sp[ISA_LANES];
};

/* What copies do to mbarriers when they end: they arrive, or count as bytes that have come (is_tx). */
struct arrival {
    uint32_t pc, mask;
    bool is_tx;
    /* offset of the mbarrier in shared memory */
    uint32_t offset[ISA_LANES];
    uint32_t bytes[ISA_LANES];
};

struct run;
struct run_share;
struct cta;

/* A step touches the first three lines of the host's cache, and the leaf. */
struct warp {
    /* x.warp = this warp */
    _Alignas(HOST_LINE) struct exec x;
    /* enum warp_event */
    uint32_t event;
    /* the code read memory as one does that waits for another thread */
    uint32_t sync_seen;
    /* the current one */
    struct leaf *leaf;
    /* number in the CTA */
    uint32_t index;
    /* lanes that exist and have not ended */
    uint32_t live;
    /* when stepped: executed since the leaf's last turn */
    uint32_t turn_insts;
    /* when stepped: its atomics that have not happened yet: deferred.h */
    uint32_t deferred_first;
    uint32_t pred[8];
    struct run *run;
    /* the share of its SM */
    struct run_share *share;
    struct cta *cta;
    /* executed so far */
    uint64_t insts;
    /* insts when its turn began */
    uint64_t turn_start;
    /* when stepped: where a texture fetch records what each lane read; or NULL */
    struct emu_texels *texels;
    /* local memory of lane 0; the others follow, run->local_bytes apart */
    uint8_t *local;
    /* x, y, z of its threads */
    const uint32_t (*tid)[ISA_LANES];
    /* lanes that exist: fewer than 32 in the last warp of an odd CTA */
    uint32_t lanes;
    /* masks of slots */
    uint32_t leaf_used, leaf_ready;
    /* mask of slots that are AT_SYNC */
    uint32_t sync_waiting;
    uint64_t node_used;
    /* in a watch (idle.h): its number among the resident warps */
    uint32_t watch;
    /* leaves made so far; turns passed so far */
    uint64_t serial, clock;
    /* return addresses, by depth */
    VEC(struct call_row) calls;
    /* When stepped: arrivals wait until the timing model asks for them (mbarrier.c). */
    bool defers_arrivals;
    VEC(struct arrival) arrivals;
    /* how many of these were made */
    uint32_t arrivals_made;
    /* Written when they come into use. */
    struct leaf leaves[LEAVES_MAX];
    struct node nodes[NODES_MAX];
    /* An odd number of lines: else the first lines of all warps would lie in the same few sets of the host's
     * caches. */
    uint8_t odd[HOST_LINE];
};
_Static_assert(sizeof(struct warp) / HOST_LINE % 2 == 1, "warps lie in different sets of the host's caches");

enum warp_end { WARP_TURN_OVER, WARP_SPINS, WARP_BLOCKED, WARP_DONE, WARP_FAULT };

/* The registers, predicates and control of a fresh warp. x.rows, run, cta, index, tid and local stay. */
void warp_start(struct warp *w, uint32_t lanes);
/* Executes at most `budget` instructions of the warp. */
enum warp_end warp_run(struct warp *w, uint64_t budget);

/* warp_run in steps of one instruction. warp_settle merges the lanes that wait for reconvergence and picks
 * the leaf that runs next; false: none can. warp_fetch returns its next instruction, counted as executed, and
 * the lanes that execute it. warp_execute runs fn for it; true: the turn is over, the program waits for
 * others. */
bool warp_settle(struct warp *w);
const struct isa_inst *warp_fetch(struct warp *w, uint32_t *mask);
bool warp_execute(struct warp *w, const struct isa_inst *i, uint32_t mask, exec_fn *fn);

static inline void warp_raise(struct warp *w, enum warp_event e)
{
    if (w->event < (uint32_t)e) w->event = (uint32_t)e;
}
/* The baseline instruction set of the host has no popcnt. */
static inline uint32_t lanes_count(uint32_t mask)
{
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return ((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
static inline uint32_t lane_first(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }
static inline uint32_t lane_last(uint32_t mask) { return 31 - (uint32_t)__builtin_clz(mask); }
/* The lanes that the guard of an instruction lets execute it. */
static inline uint32_t warp_guard(const struct warp *w, const struct isa_inst *i)
{
    return w->pred[i->guard & 7] ^ (0u - (i->guard >> 7));
}
/* Each lane of mask, in ascending order. */
#define FOR_LANES(l, mask)                                                                                   \
    for (uint32_t l##_rest = (mask), l; l##_rest && ((l = (uint32_t)__builtin_ctz(l##_rest)), true);         \
         l##_rest &= l##_rest - 1)

/* ---- diverge.c: leaves and nodes ---- */
struct part {
    uint32_t pc, mask, depth;
};

/* Splits the current leaf into parts (disjoint, not empty, together its mask), which meet again at reconv at
 * the given depth; ISA_NO_RECONV = not before the leaf's own reconvergence point. parts[0] runs first. */
void diverge_split(struct warp *w, const struct part *parts, uint32_t count, uint32_t reconv, uint32_t depth);
/* Moves lanes of a waiting leaf into a new, ready leaf at pc. Returns the slot of that leaf. */
uint32_t diverge_detach(struct warp *w, struct leaf *from, uint32_t mask, uint32_t pc);
/* The current leaf is at its node's reconv. */
void diverge_arrive(struct warp *w);
/* These lanes of the current leaf end. */
void diverge_exit(struct warp *w, uint32_t mask);
/* The current leaf waits at its pc. */
void diverge_block(struct warp *w, enum leaf_state state);
void diverge_wake(struct warp *w, struct leaf *leaf, uint32_t pc);
/* Sets w->leaf to one that can run. */
bool diverge_pick(struct warp *w);
/* Gives the turn to the leaf that has waited longest. */
void diverge_rotate(struct warp *w);
/* Lets arrived lanes continue without the others; false: none. */
bool diverge_release(struct warp *w);

/* warp.c: a branch that only some lanes take. */
exec_fn warp_op_bra;

/* ---- sync.c: waiting for the lanes of a member mask ---- */

/* Releases leaves that wait for no lane any more. */
void sync_resolve(struct warp *w);
/* Lanes that a waiting leaf still waits for. */
uint32_t sync_missing(struct warp *w, const struct leaf *leaf);

#endif
