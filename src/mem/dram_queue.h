/* dram_queue.h: requests that wait for a bank, and the rule by which a free bank takes one. */
#ifndef HEDDLE_DRAM_QUEUE_H
#define HEDDLE_DRAM_QUEUE_H

#include "mem/dram_bank.h"

struct dram_entry { /* one line of the host */
    _Alignas(HOST_LINE) uint32_t req;
    uint32_t row;
    uint16_t slice; /* of the channel: whose link the answer takes */
    uint8_t bank;
    bool is_write, begun; /* begun: its first column command was given */
    uint16_t bursts;      /* column commands still to give */
    uint32_t next;        /* list */
    uint64_t order;       /* of arrival in the queue */
    uint64_t queued;      /* clock of arrival in the queue */
    tick came;            /* when the slice's link showed it */
};

#define DRAM_ENTRY_NONE UINT32_MAX

struct dram_list {
    uint32_t head, tail;
};

struct dram_queue {
    /* one line of the host */
    _Alignas(HOST_LINE) struct dram_entry *entries; /* waiting ones and those that a bank works on */
    uint64_t banks_waiting[2];                      /* banks with a waiting request, by side */
    uint32_t waiting[2], places[2];                 /* by side */
    uint32_t free_head;
    bool draining; /* write_drain: a batch of writes is under way */
    bool write_drain, is_fcfs;
    uint64_t arrivals;
    uint64_t changed; /* clock of the newest change of the number waiting */
    /* second line */
    const struct dram_params *params;
    uint64_t *levels;  /* statistics: clocks at each level */
    uint8_t *level_of; /* as in link.h */
    struct dram_list lists[2][DRAM_BANKS_MAX];
};

void dram_queue_init(struct dram_queue *q, const struct dram_params *p, uint64_t *levels);
void dram_queue_free(struct dram_queue *q);
/* The side on which reads, or writes, wait. */
static inline uint32_t dram_queue_side(const struct dram_queue *q, bool is_write)
{
    return q->write_drain && is_write;
}
static inline bool dram_queue_has_room(const struct dram_queue *q, uint32_t side)
{
    return q->waiting[side] < q->places[side];
}
void dram_queue_add(struct dram_queue *q, uint64_t clock, const struct dram_entry *e);
/* The entry that a free bank takes, by the scheduler's rule, or NONE. It no longer counts as waiting; free it
 * when done. */
uint32_t dram_queue_take(struct dram_queue *q, uint64_t clock, uint32_t bank, int64_t open_row);
/* Banks among `free_banks` for which dram_queue_take would find something. */
static inline uint64_t dram_queue_takers(const struct dram_queue *q, uint64_t free_banks)
{
    uint64_t waiting = q->banks_waiting[q->draining];
    if (!q->is_fcfs || !waiting) return waiting & free_banks;
    return 1ull << q->entries[q->lists[q->draining][0].head].bank & free_banks;
}
/* write_drain: starts or ends a batch; changes nothing when the numbers are as at the last call. */
void dram_queue_turn(struct dram_queue *q);
void dram_queue_release(struct dram_queue *q, uint32_t entry);
void dram_queue_settle(struct dram_queue *q, uint64_t clock);
static inline uint32_t dram_queue_waiting(const struct dram_queue *q)
{
    return q->waiting[0] + q->waiting[1];
}

#endif
