/* dram_queue.h: requests that wait for a bank, and the rule by which a free bank takes one. */
#ifndef HEDDLE_DRAM_QUEUE_H
#define HEDDLE_DRAM_QUEUE_H

#include "mem/dram_bank.h"

/* One cache line of the host. */
struct dram_entry {
    _Alignas(HOST_LINE) uint32_t req;
    uint32_t row;
    /* slice of the channel whose link takes the reply */
    uint16_t slice;
    uint8_t bank;
    /* begun: its first column command was given */
    bool is_write, begun;
    /* column commands that are still to be given */
    uint16_t bursts;
    /* next in its list */
    uint32_t next;
    /* number and clock of its arrival in the queue */
    uint64_t order, queued;
    /* when the slice's link showed it */
    tick came;
};

#define DRAM_ENTRY_NONE UINT32_MAX

struct dram_list {
    uint32_t head, tail;
};

/* side: 0, or 1 for writes with write_drain. */
struct dram_queue {
    /* entries that wait and those that a bank works on; these and the next fields are one host line */
    _Alignas(HOST_LINE) struct dram_entry *entries;
    /* [side]: mask of banks with a waiting request */
    uint64_t banks_waiting[2];
    /* [side] */
    uint32_t waiting[2], depth[2];
    uint32_t free_head;
    /* write_drain: a batch of writes is under way */
    bool draining;
    bool write_drain, is_fcfs;
    uint64_t arrivals;
    /* clock of the newest change of the number of waiting requests */
    uint64_t changed;

    /* second line */
    const struct dram_params *params;
    /* statistics: clocks at each level */
    uint64_t *levels;
    /* levels as in link.h */
    uint8_t *level_of;
    struct dram_list lists[2][DRAM_BANKS_MAX];
};

void dram_queue_init(struct dram_queue *q, const struct dram_params *p, uint64_t *levels);
void dram_queue_free(struct dram_queue *q);
/* Returns the side on which reads, or writes, wait. */
static inline uint32_t dram_queue_side(const struct dram_queue *q, bool is_write)
{
    return q->write_drain && is_write;
}
static inline bool dram_queue_has_room(const struct dram_queue *q, uint32_t side)
{
    return q->waiting[side] < q->depth[side];
}
void dram_queue_add(struct dram_queue *q, uint64_t clock, const struct dram_entry *e);
/* Returns the entry that a free bank takes, by the scheduler's rule, or NONE. The entry then no longer counts
 * as waiting; free it when it is done. */
uint32_t dram_queue_take(struct dram_queue *q, uint64_t clock, uint32_t bank, int64_t open_row);
/* Returns the banks among `free_banks` for which dram_queue_take would find an entry. */
static inline uint64_t dram_queue_takers(const struct dram_queue *q, uint64_t free_banks)
{
    uint64_t waiting = q->banks_waiting[q->draining];
    if (!q->is_fcfs || !waiting) return waiting & free_banks;
    return 1ull << q->entries[q->lists[q->draining][0].head].bank & free_banks;
}
/* write_drain: starts or ends a batch; changes nothing when the numbers of waiting requests have not
 * changed. */
void dram_queue_turn(struct dram_queue *q);
void dram_queue_release(struct dram_queue *q, uint32_t entry);
void dram_queue_settle(struct dram_queue *q, uint64_t clock);
static inline uint32_t dram_queue_waiting(const struct dram_queue *q)
{
    return q->waiting[0] + q->waiting[1];
}

#endif
