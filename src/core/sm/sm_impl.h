/* sm_impl.h: the SM as the sum of its parts. Only the files of this folder and their unit tests include it.
 *
 *   fetch.c            instruction cache, instruction buffers
 *   warp_status.c      the next instruction of a warp, barriers, nanosleep
 *   scoreboard.c       registers and memory operations under way
 *   scheduler.c        which warp issues
 *   execute.c          collectors, units, writeback (collector.c, pipes.c)
 *   lsu.c              queue of memory instructions, L1 (lsu_build.c, lsu_reply.c, lsu_reexec.c, lsu_sleep.c)
 *   readonly.c         instruction, constant and texture caches
 *   prefetch.c         lines that mechanisms ask for
 *   transfer.c         registers on their way to memory and back
 *   residency.c        CTAs, contexts, slots (program.c, registers.c)
 *   cta_swap.c         CTAs without slots
 *   account.c          where issue slots and residency go
 *   load_stats.c       what is counted of each load
 *   sleep.c, ahead.c   when the SM need not tick
 *   sm_ports.c         what mechanisms do; sm_events.c: what they are told
 *
 * Each part is the only writer of its struct (the test map.writers); others read it, or call its functions.
 * What every tick touches of all parts lies in the first lines of struct sm: between two ticks of an SM the
 * other SMs and the memory system have run, so that the host fetches every line from an outer cache again. */
#ifndef HEDDLE_SM_IMPL_H
#define HEDDLE_SM_IMPL_H

#include "core/machine.h"
#include "core/sm/account.h"
#include "core/sm/cta_swap.h"
#include "core/sm/execute.h"
#include "core/sm/fetch.h"
#include "core/sm/lsu.h"
#include "core/sm/prefetch.h"
#include "core/sm/readonly.h"
#include "core/sm/residency.h"
#include "core/sm/scheduler.h"
#include "core/sm/scoreboard.h"
#include "core/sm/sleep.h"
#include "core/sm/sm.h"
#include "core/sm/sm_mech.h"
#include "core/sm/transfer.h"
#include "core/sm/warp_status.h"
#include "mem/l1_hooks.h"
#include "mem/l1_prefetch.h"
#include "mem/l1_resize.h"
#include "mem/l1_sleep.h"

/* Memory that programs cannot name lies beyond their range of device addresses, which begins at
 * SM_DEVICE_BASE. */
#define SM_DEVICE_BASE 0x7e9000000000ull
#define SM_CODE_BASE   (SM_DEVICE_BASE + (1ull << 38))
#define SM_LOCAL_BASE  (SM_DEVICE_BASE + (1ull << 39))
#define SM_SIDE_BASE   0x880000000000ull
enum {
    /* bytes of code of a kernel */
    SM_CODE_BITS = 20,
    /* bytes of local memory of a warp */
    SM_LOCAL_BITS = 24,
    SM_INST_BYTES = 8
};

struct sm {
    /* read in every tick: does the SM have to run more than the L1? */
    _Alignas(HOST_LINE) struct sleep sleep;
    struct l1 *l1;
    struct clock_domain clock;
    struct execute_hot exec;
    struct fetch_hot fetching;
    struct board_hot board;

    /* read in every tick that runs the stages: which of them have work? The first word of `pipes`, the time
     * of the next result, ends this line. */
    /* scheduler.c: cycle of the next timer, or at which the first sleeping warp goes on */
    _Alignas(HOST_LINE) uint64_t alarm;
    struct sm_port *port;
    struct lsu_hot lsu;
    struct readonly_hot misses;
    union prefetch_hot prefetches;
    struct sched_hot sched;
    struct pipes pipes;

    /* what warps can do */
    struct bank banks[SM_BANKS_MAX];
    /* two lines, and the contexts of slots */
    _Alignas(HOST_LINE) struct sched scheduler;
    struct fetch fetch;
    struct execute execute;
    struct residency_hot state;
    struct collector collector;

    /* two lines */
    _Alignas(HOST_LINE) struct lsu memory;
    struct mech_sm *mech;
    const struct sm_params *p;
    /* in one line with the first slots of stats */
    _Alignas(HOST_LINE) struct account account;
    struct sm_stats stats;
    struct readonly readonly;

    /* cold */
    struct lsu_reexec reexec;
    struct prefetch prefetch;
    struct transfer transfer;
    struct swaps swaps;
    struct board_cold board_cold;
    struct fetch_cold fetch_cold;
    struct access_counts accesses;
    struct mech_view mech_view;
    struct sleep_cold sleep_cold;
    struct sm_setup setup;
    uint32_t line_bytes;
    /* sm.c: see sm_sum */
    struct sm_own sum;
    struct residency residency;
};
_Static_assert((1 << SM_LOCAL_BITS) / ISA_LANES >= SM_THREAD_LOCAL_MAX,
               "the local memory of a warp fits its range of addresses");
_Static_assert((int)SM_CONTEXTS_MAX <= (int)L1_WARPS_MAX, "the L1 names a warp by its context");
_Static_assert(offsetof(struct sm, alarm) == HOST_LINE, "the first line is that of every tick");
_Static_assert(offsetof(struct sm, pipes) + sizeof(uint64_t) == 2 * HOST_LINE,
               "a result's time ends the second");
_Static_assert(offsetof(struct sm, state.context_of) == offsetof(struct sm, scheduler) + 2 * HOST_LINE,
               "what issue looks at is two lines");
_Static_assert(offsetof(struct sm, account) == offsetof(struct sm, memory) + 2 * HOST_LINE,
               "what a memory instruction looks at is two lines");

/* The bank of a slot. */
static inline struct bank *bank_at(struct sm *m, uint32_t slot) { return &m->banks[slot_bank(slot)]; }
/* The counters of the grid that a warp belongs to; m->stats has those that no grid owns. */
static inline struct sm_stats *grid_stats(const struct context *x) { return &x->program->own.sm; }
/* The stage of a cycle that writes back results that are due. */
static inline void execute_writeback(struct sm *m)
{
    if (pipes_due(&m->pipes, m->sleep.cycle)) execute_write_results(m);
}
/* With collectors: the classes whose instructions find no room. (The class of an instruction has units.) */
static inline uint32_t execute_full(const struct sm *m)
{
    const uint32_t full = m->collector.classes & ~m->collector.room;
    return lsu_has_room(&m->lsu) ? full : full | 1u << CLASS_MEM;
}
/* The scheduler of a slot. */
static inline uint32_t sched_of(const struct sm *m, uint32_t slot)
{
    return m->state.bank_count > 1 ? slot_bank(slot) : slot % m->sched.count;
}
/* Has the load-store unit something to do in this cycle: answers and writebacks; accesses? */
static inline bool lsu_has_replies(const struct sm *m)
{
    const bool has_answer = l1_next_done_at(m->l1) <= m->sleep.now,
               has_delay = pipes_may_delay(&m->pipes, m->sleep.cycle);
    return has_answer | has_delay | (m->lsu.writeback_head != SM_NONE);
}
static inline bool lsu_has_work(const struct sm *m)
{
    return m->lsu.queue_count || m->lsu.has_reexec || m->lsu.has_transfer || m->prefetches.has_work;
}
/* Would the load-store unit have something to do in the next cycle, even if nothing else has? */
static inline bool lsu_is_busy(struct sm *m)
{
    if (m->lsu.writeback_head != SM_NONE || m->prefetches.is_busy || m->lsu.sleep.transfers_now) return true;
    if (m->lsu.sleep.blocked) return false;
    return UNLIKELY(m->lsu.has_reexec) ? !lsu_reexec_may_rest(m) : m->lsu.queue_count != 0;
}

/* All sectors of a line of the L1. */
static inline uint32_t sm_line_sectors(const struct sm *m) { return coalesce_line_sectors(m->line_bytes); }

/* What the SM and its L1 have counted, with what grids own. */
struct sm_own *sm_sum(struct sm *m);
/* The stages of a cycle from the schedulers on (sm.c). */
void sm_end_cycle(struct sm *m);

#endif
