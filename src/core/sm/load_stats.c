/* load_stats.c: see load_stats.h. */
#include "core/sm/load_stats.h"

#include "core/sm/sm_impl.h"

/* The initial size of a set of lines in regions. It is small, since each launch makes a set for each load,
 * and many loads touch few lines. */
enum { SEEN_REGIONS = 2 };

/* A stride as in APRES, Table I: the difference of the addresses of successive executions by different warps,
 * divided by the difference of the numbers of the warps. */
static void note_stride(struct pc_load_stats *s, int64_t stride)
{
    top_note(&s->stride, stride);
    s->strides++;
}

void load_executed(struct sm_load *l, uint64_t warp, uint64_t address, uint32_t lines)
{
    const bool is_first = !l->stats.executions++;
    if (is_first) lineset_init(&l->seen, SEEN_REGIONS);
    l->stats.lines += lines;
    if (!is_first && l->last.warp != warp) {
        int64_t warps = (int64_t)(warp - l->last.warp), stride = (int64_t)(address - l->last.address);
        note_stride(&l->stats, warps == 1 ? stride : stride / warps);
    }
    l->last.address = address;
    l->last.warp = warp;
}

/* The L1 took one access of a load; line: the number of the line. */
static void accessed(struct sm_load *l, uint64_t line, enum l1_answer answer)
{
    l->stats.accesses++;
    l->stats.misses += answer == L1_MISS;
    l->stats.merges += answer == L1_PENDING;
    l->stats.unique_lines += lineset_add(&l->seen, line);
}

/* The load is the first that wants the line of a prefetch; is_late: the line is still under way. */
static void used_prefetch(struct sm_load *l, bool is_late)
{
    l->stats.prefetch_useful += !is_late;
    l->stats.prefetch_late += is_late;
}

/* A line that the load brought was replaced for a load at this PC. */
static void evicted(struct sm_load *l, uint32_t by_pc)
{
    l->stats.evicted++;
    top_note(&l->stats.evictor, by_pc);
}

void load_prefetched(struct sm_load *l) { l->stats.prefetches++; }

/* The program whose access this is: the counters of its grid lie in it. */
static const struct sm_program *program_of(const struct l1_txn *t)
{
    const char *own = (const char *)t->own;
    return (const void *)(own - offsetof(struct sm_program, own.l1));
}

/* Counts the line that a miss replaced, and the first use of a prefetch. */
NOINLINE static void count_replaced(const struct sm_program *p, const struct l1_txn *t,
                                    const struct l1_result *r)
{
    if (r->has_evicted && r->evicted_pc < p->inst_count) evicted(&p->loads[r->evicted_pc], t->pc);
    if (r->is_first_use) used_prefetch(&p->loads[t->pc], r->answer != L1_HIT);
}

HOT void load_on_access(void *sm, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    struct sm *m = sm;
    if (t->is_prefetch || !load_is_of_program(t)) return;
    if (t->kind != REQ_READ) {
        m->accesses.others[r->answer]++;
        return;
    }
    if (UNLIKELY(r->answer == L1_SENT)) m->accesses.loads_sent++;
    const struct sm_program *p = program_of(t);
    accessed(&p->loads[t->pc], t->addr >> p->line_shift, r->answer);
    if (UNLIKELY(r->has_evicted | r->is_first_use)) count_replaced(p, t, r);
}
