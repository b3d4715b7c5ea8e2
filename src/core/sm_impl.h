/* sm_impl.h: inside the SM: its state, and which file does what. Only the files of the SM include this.
 *
 * Terms. A *flight* is an instruction between issue and writeback (arithmetic) or the load-store unit
 * (memory). An *access* holds the transactions of a memory instruction until the caches have taken them. A
 * *pending* is a memory instruction that waits for answers. A *program* is a kernel decoded for this SM, with
 * the statistics of its loads.
 *
 * Masks have a bit for each warp slot and are kept by events (issue, writeback, fetch, barrier), never found
 * by scanning warps:
 *   resident    holds a warp that has not left
 *   done        has executed its last instruction, waits for what is under way
 *   held        at a barrier, or waits for its lanes
 *   asleep      in nanosleep
 *   buffered    the head of its i-buffer is its next instruction
 *   hazard      its next instruction waits for a result; hazard_mem: of a memory operation
 *   next[c]     its next instruction goes to class c; memory_next: to global or local memory
 * (1) resident contains all others. (2) ready = resident, buffered, not done, held, asleep or hazard, with
 * room in the unit and all votes. */
#ifndef HEDDLE_SM_IMPL_H
#define HEDDLE_SM_IMPL_H

#include "core/collector.h"
#include "core/machine.h"
#include "core/pipes.h"
#include "core/sm.h"
#include "core/split.h"
#include "mem/coalesce.h"
#include "mem/l1_hooks.h"
#include "mem/l1_sleep.h"
#include "mem/lineset.h"
#include "mem/rocache.h"

enum { SM_WARPS_MAX = 64, SM_SCHEDULERS_MAX = 4, ASYNC_GROUPS = 16 };
/* Accesses of one instruction, at most: filtered texels of a volume; the coalescer makes fewer. */
enum { SM_TXN_MAX = ISA_LANES * EMU_TEXELS_MAX };
#define SM_NONE UINT32_MAX
enum sm_ro { RO_INST, RO_CONST, RO_TEX, RO_COUNT };

/* Memory that programs cannot name lies beyond their range of device addresses, which begins at
 * SM_DEVICE_BASE. */
#define SM_DEVICE_BASE 0x7e9000000000ull
#define SM_CODE_BASE   (SM_DEVICE_BASE + (1ull << 38))
#define SM_LOCAL_BASE  (SM_DEVICE_BASE + (1ull << 39))
enum {
    SM_CODE_BITS = 20 /* bytes of code of a kernel */,
    SM_LOCAL_BITS = 24 /* bytes of local memory of a warp */,
    SM_INST_BYTES = 8
};

/* Tokens of L1 transactions: what an answer is for. */
enum sm_token { TOKEN_LOAD, TOKEN_ATOMIC };
enum { TOKEN_SHIFT = 28, TOKEN_MASK = (1 << TOKEN_SHIFT) - 1 };

/* Of one load instruction: what an access at the L1 touches is the first line of the host's cache. */
struct sm_load {
    _Alignas(HOST_LINE) struct lineset
        seen; /* lines that it read, for unique_lines; made when it first executes */
    struct pc_load_stats stats;
    struct {
        uint64_t address, warp;
        bool valid;
    } last; /* execution, for strides */
};

struct sm_program {
    uint64_t grid; /* emu_grid_id: a grid may lie where an older one was */
    const struct isa_kernel *kernel;
    struct uop *uops;      /* [inst_count] */
    struct sm_load *loads; /* [inst_count] */
    uint64_t code;         /* address */
    uint32_t inst_count;   /* the kernel's; it may be gone when the program is freed */
    uint32_t ctas;         /* resident */
    bool has_ended;        /* kept for its statistics alone */
    uint16_t place;        /* of its requests */
    struct sm_own own;
};

/* The load whose access this is: found by the counters of its grid, which lie in the program. */
static inline struct sm_load *sm_load_of(const struct l1_txn *t)
{
    const char *own = (const char *)t->own;
    const struct sm_program *p = (const void *)(own - offsetof(struct sm_program, own.l1));
    return &p->loads[t->pc];
}

/* Lines of the host's cache: what issue and writeback touch, with the first 64 registers; the other registers; the rest. */
struct sm_warp {
    _Alignas(HOST_LINE) const struct uop *next; /* NULL: it is held or done */
    struct warp *emu;
    struct sm_program *program;
    uint32_t next_pc, buffer_pc; /* buffer_pc: the first in the i-buffer */
    uint32_t fetch_pc;           /* where the next fetch begins */
    uint32_t cta;
    uint16_t flights, memory; /* arithmetic, memory instructions under way */
    uint8_t buffered;         /* instructions in the i-buffer */
    uint8_t pending_preds;
    struct {
        uint64_t any, memory; /* by anything, by memory operations */
    } pending[REG_WORDS];     /* scoreboard: registers to be written */
    uint64_t number;          /* in the grid, for strides */
    uint64_t since;           /* cycle of the last issue */
    uint64_t sleep_until;     /* cycle; while it is asleep */
    uint32_t index;
    uint32_t group;                /* of cp.async: the open one */
    uint16_t groups[ASYNC_GROUPS]; /* copies under way, by group modulo */
};
_Static_assert(offsetof(struct sm_warp, pending[1]) == HOST_LINE, "the first registers end the first line");

struct sm_cta {
    struct cta *emu; /* NULL: free */
    struct emu_grid *grid;
    struct sm_program *program;
    uint64_t warps, linear; /* mask of slots; number in the grid */
    uint32_t left;          /* warps that have not left */
    uint32_t registers, threads;
    uint64_t shared;
};

struct sm_flight {
    const struct uop *op;
    uint32_t warp, access; /* SM_NONE: arithmetic */
    uint32_t next;         /* free list */
};

/* A line of the host's cache, and one for four transactions. The address and the sectors of `ask` are those of a transaction: they are
 * set in a copy of it, and their place is used for something else. */
struct sm_access {
    union {
        struct {
            _Alignas(HOST_LINE) uint16_t count; /* transactions */
            uint16_t done, local_from;          /* those taken; from here on they are to local memory */
            uint16_t passes;                    /* of shared memory, left */
            uint32_t pending;
            uint8_t ro; /* enum sm_ro, RO_COUNT = the L1 */
            bool has_shared, is_texture;
        };
        struct l1_txn ask; /* what is the same for all of its transactions */
        uint32_t next;     /* free list */
    };
    struct coalesce_txn txns[SM_TXN_MAX];
};
_Static_assert(offsetof(struct sm_access, is_texture) < offsetof(struct l1_txn, partial) &&
                   offsetof(struct l1_txn, write_bytes) < offsetof(struct l1_txn, partial),
               "what `ask` says lies behind the access's own");
_Static_assert(offsetof(struct sm_access, txns) == HOST_LINE, "transactions begin at a line");

struct sm_pending { /* half a line of the host's cache */
    const struct uop *op;
    uint64_t issued; /* cycle */
    uint32_t next;   /* free list, queue of writebacks */
    uint32_t record; /* of a deferred atomic */
    uint16_t group;  /* modulo ASYNC_GROUPS */
    uint16_t hits;   /* of `left`: hits in the L1, where the SM may sleep past these */
    uint16_t left;   /* answers that are still to come */
    uint8_t warp;
    bool is_timed; /* a load from global or local memory: its latency counts */
};
_Static_assert(sizeof(struct sm_pending) == HOST_LINE / 2, "two pendings are a line");

struct sm_atomic {
    uint32_t pending, lanes, next;
}; /* one transaction of an atomic */

struct sm_prefetch {
    uint64_t line;
    uint32_t pc, warp;
};

/* By how often it is touched, in lines of the host's cache: between two ticks of an SM the others and the memory below have had
 * their turn, so that every line is fetched anew. Parameters that stages read lie beside the state that they read. */
struct sm {
    /* of every tick: does it have to look further than the L1? */
    _Alignas(HOST_LINE) tick *wake; /* with those of the other SMs, or own_wake */
    tick now, next_own;             /* now: time of the newest tick */
    uint64_t cycle;                 /* of `now` */
    struct l1 *l1;
    struct clock_domain clock;
    union {
        struct {
            bool
                is_busy; /* the newest cycle moved something; if not, before next_own only the L1 has something to do */
            bool
                changed; /* something has changed in this cycle: before issue, so that schedulers look; from issue on */
            bool must_look; /* the schedulers may find something else than when they looked last */
            bool mech_news; /* mech_host.h: what `votes` holds has changed */
        };
        uint32_t is_awake; /* one of these */
    };
    bool has_ticked;
    bool blocked;   /* the L1 refused the head of the load-store unit, or will; only the L1 can change that */
    bool moved;     /* what is in the collectors may move on in the next cycle */
    bool has_reply; /* the L1 took the acknowledgement of a store in this cycle, or let one go */
    bool faulted;
    bool has_finished; /* CTAs: see finished */
    uint8_t ahead;     /* ahead.c: enum sm_ahead, a mask */
    uint16_t prefetch_count;

    /* of every tick that goes on: do the stages have work? The first word of `pipes`, when a result is due, is in this line too */
    _Alignas(
        HOST_LINE) uint64_t alarm; /* cycle of the next timer, or at which the first that sleeps goes on */
    uint32_t queue_count, head;    /* of the load-store unit; the access at its head, while there is one */
    uint32_t untaken, untaken_max; /* transactions in it that no cache has taken; sm.lsu_requests */
    uint32_t writeback_head;       /* chain of pendings */
    uint32_t access_free, pending_free;
    uint32_t unsent;                    /* misses of read-only caches that are still to be sent */
    uint16_t queue_max;                 /* sm.lsu_queue */
    uint8_t ports, replies, writebacks; /* sm.lsu_... */
    uint8_t schedulers;
    bool has_collector;
    bool awaits_unit;      /* a scheduler's slot went to str-ALU */
    bool awaits_writes;    /* there may be warps that are fenced or done */
    bool wants_fetch;      /* there may be warps that lack instructions */
    bool collects;         /* what is in the collectors may move */
    bool awaits_queue;     /* it waits for room in the load-store unit's queue */
    uint8_t fetched_count; /* between fetch and decode; 0 = nothing */
    bool
        sleeps_past_hits; /* hits in the L1 that end no load are taken when the SM wakes for something else */
    uint16_t only_hits;   /* pendings that wait for nothing but hits */
    struct pipes pipes;

    /* what warps can do, two lines */
    _Alignas(HOST_LINE) uint64_t resident;
    uint64_t done, held, asleep, buffered, hazard, hazard_mem, memory_next;
    uint64_t next[CLASS_COUNT];
    uint64_t empty;  /* i-buffers without instructions */
    uint64_t missed; /* instruction miss */
    uint64_t astray; /* holds instructions that do not come next */

    /* schedulers, two lines */
    uint64_t slots_of[SM_SCHEDULERS_MAX]; /* warp slots of a scheduler */
    uint64_t charged;                     /* cycles whose slots are charged */
    struct {
        uint64_t timer, issue, memory; /* as in mech_sm: cycle of the next timer, masks of warps */
    } votes;
    uint64_t fenced;                  /* waits for its memory operations */
    uint64_t sees_next;               /* the next instruction has UOP_SEES */
    int last[SM_SCHEDULERS_MAX];      /* warp slots that issued last */
    uint8_t cause[SM_SCHEDULERS_MAX]; /* enum issue_slot of the newest cycle */
    uint32_t turn;                    /* scheduler that is the first to issue */
    uint32_t fetched_pc, fetched_warp;
    uint32_t fetch_last;     /* warp slot that fetched last */
    uint32_t writeback_tail; /* of the chain of pendings */
    uint8_t issue_width;
    bool forwards, turns_by_cycle, fetches_past_branch;

    struct collector collector;

    /* load-store unit */
    _Alignas(HOST_LINE) struct sm_access *accesses;
    struct sm_pending *pendings;
    struct sm_flight *flights;
    uint32_t *queue;  /* accesses, a ring */
    uint32_t counted; /* transactions of the head that statistics have */
    uint32_t queue_head, atomic_free, flight_free;
    uint32_t access_live, pending_live;
    struct { /* accesses to global and local memory, for mechanisms; sm_mech.c */
        uint64_t by_answer[L1_TAKEN], intra_warp;
        uint32_t line_shift;
    } seen;
    struct mech_sm *mech;
    const struct sm_params *p;
    struct sm_atomic *atomics;

    _Alignas(HOST_LINE) struct sm_stats stats;
    struct rocache ro[RO_COUNT];
    struct sm_port *port;

    /* cold */
    struct sm_prefetch *prefetches;
    uint32_t prefetch_head;
    tick own_wake;
    struct sm_setup setup;
    uint32_t line_bytes, warp_slots, cta_slots;
    struct mech_counters counters,
        counters_from; /* as they were last asked for; totals when the kernel began */
    struct sm_cta *ctas;
    uint32_t cta_count, warp_count, thread_count;
    bool in_kernel;             /* between the first CTA and sm_kernel_end */
    uint64_t sleep_next;        /* cycle at which the first that is asleep goes on */
    uint64_t occupied_to;       /* cycles whose occupancy is charged */
    uint64_t taken;             /* warp slots of resident CTAs */
    uint64_t registers, shared; /* in use */
    struct split_sizes sizes;
    uint64_t shared_size, l1_size; /* bytes that shared memory and the L1 have now */
    uint64_t next_age;
    struct sm_program **programs;
    uint32_t program_count;
    uint64_t *finished; /* mask of CTA slots whose warps have all left in this cycle */

    /* of the warps: large, so that what every cycle touches lies together before */
    uint64_t age[SM_WARPS_MAX];
    uint32_t cta_of[SM_WARPS_MAX];
    struct sm_warp warps[SM_WARPS_MAX];
};
_Static_assert(offsetof(struct sm, slots_of) - offsetof(struct sm, resident) == 2 * HOST_LINE,
               "the masks of warps are two lines");
_Static_assert(offsetof(struct sm, alarm) == HOST_LINE, "the first line is that of every tick");
_Static_assert(offsetof(struct sm, pipes) + sizeof(uint64_t) == 2 * HOST_LINE,
               "a result's time ends the second");

#define FOR_WARPS(w, mask) /* each warp slot of mask, in ascending order */                                  \
    for (uint64_t w##_rest = (mask), w; w##_rest && ((w = (uint64_t)__builtin_ctzll(w##_rest)), true);       \
         w##_rest &= w##_rest - 1)
static inline uint64_t bit(uint32_t i) { return 1ull << i; }
/* The counters of the grid that a warp belongs to. */
static inline struct sm_stats *sm_own_of(struct sm *m, uint32_t w) { return &m->warps[w].program->own.sm; }

/* ---- ahead.c: runs before the others have come as far ---- */
enum sm_ahead {
    AHEAD_RUNS = 1,
    AHEAD_PAUSED = 2, /* before the schedulers of the newest cycle, whose step is to come */
    AHEAD_NEWS = 4    /* it has left something for the end of that step */
};
void sm_cycle_again(struct sm *m, tick now);
void sm_end_cycle(struct sm *m); /* sm.c: from the schedulers on */

/* ---- sm_warp.c: what a warp waits for ---- */
void sm_warp_refresh(struct sm *m, uint32_t w); /* its pending registers, fence or copies changed */
void sm_warps_set_right(struct sm *m);          /* empties the buffers of warps that fetched past a branch */
void sm_warp_next(struct sm *m, uint32_t w);    /* asks the emulator what comes next */
void sm_warp_reserve(struct sm_warp *s, const struct uop *u);
void sm_warp_release(struct sm *m, uint32_t w, const struct uop *u); /* writeback */
bool sm_warp_writes(const struct sm *m, uint32_t w); /* has memory operations that are not acknowledged */
void sm_warps_acknowledged(
    struct sm *m); /* fences and ended warps go on when their stores are acknowledged */
void sm_warp_leave(struct sm *m, uint32_t w);              /* if it is done and nothing is under way */
void sm_warp_sleep(struct sm *m, uint32_t w, uint32_t ns); /* it has executed nanosleep */
void sm_warps_awake(struct sm *m);                         /* those whose time has come */
void sm_set_alarm(struct sm *m);                           /* who sleeps, or the next timer, has changed */
void sm_hear_votes(struct sm *m);                          /* mech_news was set */
void sm_cta_recheck(struct sm *m, uint32_t cta);           /* warps that are held may go on */

/* ---- fetch.c ---- */
void sm_decode(struct sm *m);
void sm_fetch(struct sm *m);
void sm_fetch_filled(void *sm, const uint32_t *warps, uint32_t count);

/* ---- issue.c ---- */
void sm_issue(struct sm *m);
bool sm_may_see(const struct sm *m); /* would sm_issue look at a warp whose next instruction has UOP_SEES? */
void sm_execute(struct sm *m);       /* collectors -> units */
void sm_write_results(struct sm *m);
static inline void sm_writeback(struct sm *m) /* units -> scoreboard */
{
    if (pipes_due(&m->pipes, m->cycle)) sm_write_results(m);
}
uint64_t sm_room(const struct sm *m); /* warps whose next instruction finds room in its unit */

/* ---- lsu.c, lsu_build.c ---- */
static inline bool lsu_has_room(const struct sm *m) /* for one more memory instruction at issue */
{
    return m->access_free != SM_NONE && m->pending_free != SM_NONE;
}
static inline bool lsu_is_full(const struct sm *m)
{
    return m->queue_count == m->queue_max || m->untaken >= m->untaken_max;
}
uint32_t lsu_build(struct sm *m, uint32_t w, const struct uop *u, const struct emu_access *e);
bool lsu_enqueue(struct sm *m, uint32_t access); /* false: the queue is full */
void lsu_cycle(struct sm *m);
void lsu_filled(void *sm, const uint32_t *pendings, uint32_t count); /* by a read-only cache */
void lsu_replies(struct sm *m);            /* answers -> pendings -> writeback */
void lsu_catch_up(struct sm *m, tick now); /* the SM slept until now: hits that were due meanwhile */
static inline tick lsu_wake(const struct sm *m)
{
    return m->sleeps_past_hits && !m->only_hits ? l1_wake_past_hits(m->l1) : l1_wake(m->l1);
}
static inline bool lsu_busy(const struct sm *m)
{
    return (m->queue_count && !m->blocked) || m->writeback_head != SM_NONE || m->prefetch_count || m->unsent;
}
void lsu_count(struct sm *m); /* the transactions of the head that are taken, for statistics at this moment */
enum rocache_answer lsu_ask_read_only(struct sm *m, enum sm_ro which, uint64_t addr, uint32_t waiter,
                                      uint32_t w, uint32_t pc);
void lsu_log_atomic(struct sm *m, const struct req *r); /* an ideal L1 makes it, in the SM's own cycle */
void lsu_note_load(struct sm_load *l, uint64_t warp, uint64_t address, uint32_t lines);

/* ---- account.c ---- */
/* Why a scheduler issues nothing; free: its warps that lack nothing but room in a unit, ready: those that have it. */
enum issue_slot account_cause(const struct sm *m, uint32_t scheduler, uint64_t free, uint64_t ready);
/* Charges the cycles before `until` to the causes in m->cause: call it before one of them changes. */
void account_slots(struct sm *m, uint64_t until);
/* Charges what the SM held in the cycles before `until`. It changes with CTAs and warps alone, far more seldom than
 * cycles pass, so it is charged before each change and before anyone looks. */
void account_occupancy(struct sm *m, uint64_t until);

/* ---- residency.c: programs and CTAs ---- */
/* For who runs the SM: a CTA has ended, or a warp has faulted. */
static inline void sm_tell_news(struct sm *m)
{
    if (m->setup.news) *m->setup.news = 1;
}
static inline void sm_fault(struct sm *m)
{
    m->faulted = true;
    sm_tell_news(m);
}
struct sm_program *sm_program_for(struct sm *m, const struct emu_grid *g);
void sm_programs_end(struct sm *m); /* marks those that have no CTA here */
void sm_programs_free(struct sm *m);

/* ---- sm_mech.c: mechanisms and the L1's observers ---- */
void sm_mech_connect(struct sm *m);
void sm_mech_begin_kernel(struct sm *m); /* counters begin at 0 */

#endif
