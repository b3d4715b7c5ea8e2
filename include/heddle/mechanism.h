/* mechanism.h: the public interface of Heddle's mechanisms: all that a plug-in may include.
 *
 * A mechanism is one struct: what it is called, its parameters and statistics as rows, the size of its state,
 * and the hooks that it fills. The host makes one state for each SM (and one for the GPU, shared, where
 * gpu_state_bytes > 0), zeroed. Hooks get the state, read-only views and events; a mechanism acts through its
 * ports alone.
 *
 * A *policy* hook (pick) is filled by exactly one of the attached mechanisms. *Votes* of any number of
 * modifiers are combined by rules that do not depend on order: issue masks are ANDed, allocation is allowed
 * when all allow it, limits take the minimum. Every voter is asked every time. Everything is called in
 * core-clock order, one SM after another, and must be deterministic: no time of day, no host addresses.
 *
 * Invariants. (1) pick is called only when view->ready is not empty, at most once a cycle and scheduler; what
 * it answers issues in that cycle. So a policy does not depend on how often an idle machine is looked at. (2)
 * A vote stays until it is set again; the first one is "all". It counts from the next pick or access on. (3)
 * Events come when what they tell happens: on_timer before the picks of its cycle, on_issue and the start of
 * a wait at a barrier between the picks of two schedulers. (4) What a mechanism does in a hook never reaches
 * into an earlier cycle. */
#ifndef HEDDLE_MECHANISM_H
#define HEDDLE_MECHANISM_H

#include "heddle/rows.h"

#define HEDDLE_MECHANISM_API 1
#define MECH_NO_WARP         (-1)
enum { MECH_WARPS_MAX = 64, MECH_SCHEDULERS_MAX = 8 };

/* ---- views ---- */
struct mech_sched_view {  /* one scheduler at one cycle; masks are over the SM's warp slots */
    uint64_t ready;       /* warp slots of this scheduler that can issue now (already masked by all votes) */
    uint64_t resident;    /* warp slots of this scheduler that hold a warp that has not ended */
    uint64_t memory_next; /* whose next instruction is a load, store or atomic to global or local memory */
    const uint64_t *age;  /* by warp slot: launch order of the warp, smaller = older; no two are equal */
    const uint32_t *cta;  /* by warp slot: CTA slot */
    int last;             /* warp slot that this scheduler issued from last, or MECH_NO_WARP */
    uint32_t scheduler, scheduler_count;
    uint64_t cycle;
    uint64_t memory_wait;  /* whose next instruction needs the result of a load or atomic that is under way */
    uint64_t barrier_wait; /* that wait at a barrier, or sleep */
    uint64_t allowed;      /* that the votes let issue their next instruction; filled by the host */
};

struct mech_counters { /* of one SM, since the kernel began: read only */
    uint64_t cycles, issued, loads, l1_accesses, l1_hits, l1_intra_warp_hits, l1_misses, l1_stall_cycles,
        miss_latency_sum, misses_done;
};

/* ---- events ---- */
struct mech_issue {
    uint64_t cycle;
    int warp;
    uint32_t pc;
    bool is_load, is_store, is_global;
    uint32_t scheduler;
    uint32_t lanes;
};
enum mech_l1_outcome { MECH_L1_HIT, MECH_L1_PENDING, MECH_L1_MISS, MECH_L1_SENT };
struct mech_l1_access {
    uint64_t cycle;
    int warp;
    uint32_t pc;
    uint64_t line;
    bool is_store, is_first_line /* of its instruction */, intra_warp, is_prefetch;
    enum mech_l1_outcome outcome;
    uint64_t lane_address /* of the first active lane */;
};
struct mech_l1_evict {
    uint64_t cycle;
    uint64_t line;
    int owner_warp;
    uint32_t owner_pc;
    bool was_prefetch, was_used;
};
struct mech_l1_fill {
    uint64_t cycle;
    uint64_t line;
    uint32_t latency_cycles;
    bool is_prefetch;
};
struct mech_warp_event {
    uint64_t cycle;
    int warp;
    uint32_t cta_slot;
    uint64_t cta;
    bool is_start;                        /* false: it has ended; its last stores may still be under way */
    uint32_t scheduler, index, cta_warps; /* whose warp it is; its place in the CTA, and how many that has */
};
struct mech_barrier {
    uint64_t cycle;
    uint64_t warps;
    bool is_wait; /* false: released */
};

/* ---- ports: what a mechanism may do; any of them in any hook, init too ---- */
struct mech_ports {
    void *host;
    uint32_t sm, sm_count, warps, schedulers, line_bytes;
    /* Which warps may issue at all, and which may issue memory instructions; ANDed over all mechanisms. Kept
     * until set again. */
    void (*allow_issue)(void *host, uint64_t warps);
    void (*allow_memory)(void *host, uint64_t warps);
    /* Asks for a line to be brought into the L1 when it has a free port and MSHR. False: the prefetch queue
     * is full, nothing is kept. */
    bool (*prefetch)(void *host, uint64_t address, uint32_t pc, int target_warp);
    const struct mech_counters *(*counters)(void *host);
    /* Calls on_timer at now + cycles and every so many core cycles after that, in place of timer_cycles;
     * cycles 0 = never. now: the cycle of the event that is being handled, 0 in init. */
    void (*set_timer)(void *host, uint64_t now, uint32_t cycles);
};

struct mechanism {
    uint32_t api; /* HEDDLE_MECHANISM_API */
    const char *name, *summary, *paper;
    const struct param_row *params; /* of a struct of param_bytes: "NAME.something" each; may be NULL */
    size_t param_bytes;
    const struct stat_row *stats; /* offsets into the state; may be NULL */
    size_t state_bytes, gpu_state_bytes;
    uint32_t timer_cycles; /* call on_timer every so many core cycles; 0 = never */

    /* params and ports live as long as the state: keep the pointers. */
    void (*init)(void *state, void *gpu_state, const void *params, const struct mech_ports *ports);
    void (*on_kernel)(void *state, bool is_start);

    /* Policy: a bit of view->ready, or MECH_NO_WARP to leave the slot empty. */
    int (*pick)(void *state, const struct mech_sched_view *view);

    /* Vote: may this miss take a line of the L1? Asked once for each access, however often the L1 refuses it before it is taken. */
    bool (*may_allocate)(void *state, const struct mech_l1_access *a);

    /* Events. An access is one that the L1 took; one that it refused and that comes again is none. Warps
     * start in launch order. on_barrier: warps begin to wait, or go on. on_timer: the cycle at which it was
     * due. */
    void (*on_issue)(void *state, const struct mech_issue *e);
    void (*on_l1_access)(void *state, const struct mech_l1_access *e);
    void (*on_l1_evict)(void *state, const struct mech_l1_evict *e);
    void (*on_l1_fill)(void *state, const struct mech_l1_fill *e);
    void (*on_warp)(void *state, const struct mech_warp_event *e);
    void (*on_timer)(void *state, uint64_t cycle);
    void (*on_barrier)(void *state, const struct mech_barrier *e);

    /* Every gpu_timer_cycles core cycles, once for the whole GPU, before the SMs have that cycle; 0 = never. Hooks of an
     * SM may then write only what belongs to that SM in the GPU-wide state, so that SMs can run side by side. */
    uint32_t gpu_timer_cycles;
    void (*on_gpu_timer)(void *gpu_state, uint64_t cycle);
};

/* A plug-in built as a shared object exports this symbol, marked with HEDDLE_MECHANISM_EXPORT. */
#define HEDDLE_MECHANISM_SYMBOL "heddle_mechanism"
#define HEDDLE_MECHANISM_EXPORT __attribute__((visibility("default")))
extern const struct mechanism heddle_mechanism;

#endif
