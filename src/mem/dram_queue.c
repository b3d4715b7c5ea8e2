/* dram_queue.c: the request queue of a DRAM channel and its scheduler.
 *
 * FR-FCFS (Rixner, ISCA'00): a free bank takes the oldest request for its open row, or else its oldest
 * request. FCFS: only the oldest request of all may be taken, when its bank is free. A bank works on one
 * request at a time; an entry of the queue is free again when a bank takes the request, as in GPGPU-Sim 3.2.2
 * (dram_sched.cc). Reads and writes share one queue and one age (side 0), unless write_drain is set: then
 * writes wait on side 1 and go in batches, from write_high waiting (or no read waiting) down to write_low.
 * Invariants. (1) A list is in order of age. (2) The order of arrival decides every tie: no choice depends on
 * when it is asked. */
#include "mem/dram_queue.h"

#include "base/hugepage.h"

static uint32_t queue_capacity(const struct dram_params *p)
{
    return p->queue + (p->write_drain ? p->write_queue : 0) + p->banks;
}

void dram_queue_init(struct dram_queue *q, const struct dram_params *p, uint64_t *levels)
{
    uint32_t n = queue_capacity(p);
    *q = (struct dram_queue){.params = p,
                             .entries = mem_zalloc_huge(sizeof *q->entries * n),
                             .depth = {p->queue, p->write_queue},
                             .write_drain = p->write_drain,
                             .is_fcfs = p->sched == DRAM_FCFS,
                             .levels = levels,
                             .level_of = link_levels(p->queue)};
    for (uint32_t i = 0; i < n; i++) q->entries[i].next = i + 1 < n ? i + 1 : DRAM_ENTRY_NONE;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t b = 0; b < DRAM_BANKS_MAX; b++)
            q->lists[side][b] = (struct dram_list){DRAM_ENTRY_NONE, DRAM_ENTRY_NONE};
}

void dram_queue_free(struct dram_queue *q)
{
    mem_free_huge(q->entries);
    free(q->level_of);
}

/* FCFS keeps one list for all banks. */
static uint32_t queue_list(const struct dram_queue *q, uint32_t bank) { return q->is_fcfs ? 0 : bank; }

/* Levels of the queue as link.h defines them (of the reads' side where writes have their own). */
void dram_queue_settle(struct dram_queue *q, uint64_t clock)
{
    uint32_t n = q->waiting[0];
    assert(clock >= q->changed);
    if (n) q->levels[q->level_of[n]] += clock - q->changed;
    q->changed = clock;
}

void dram_queue_add(struct dram_queue *q, uint64_t clock, const struct dram_entry *e)
{
    assert(dram_queue_has_room(q, dram_queue_side(q, e->is_write)) && q->free_head != DRAM_ENTRY_NONE);
    dram_queue_settle(q, clock);
    uint32_t id = q->free_head, side = dram_queue_side(q, e->is_write), bank = queue_list(q, e->bank);
    struct dram_entry *slot = &q->entries[id];
    q->free_head = slot->next;
    *slot = *e;
    slot->queued = clock;
    slot->order = q->arrivals++;
    slot->next = DRAM_ENTRY_NONE;
    struct dram_list *l = &q->lists[side][bank];
    if (l->head == DRAM_ENTRY_NONE)
        l->head = id;
    else
        q->entries[l->tail].next = id;
    l->tail = id;
    q->waiting[side]++;
    q->banks_waiting[side] |= 1ull << bank;
}

/* Takes the entry after `before` (NONE = the head) out of its list. */
static uint32_t queue_unlink(struct dram_queue *q, uint64_t clock, uint32_t side, uint32_t bank,
                             uint32_t before)
{
    struct dram_list *l = &q->lists[side][bank];
    uint32_t id = before == DRAM_ENTRY_NONE ? l->head : q->entries[before].next;
    uint32_t next = q->entries[id].next;
    dram_queue_settle(q, clock);
    if (before == DRAM_ENTRY_NONE)
        l->head = next;
    else
        q->entries[before].next = next;
    if (l->tail == id) l->tail = before;
    if (l->head == DRAM_ENTRY_NONE) q->banks_waiting[side] &= ~(1ull << bank);
    q->waiting[side]--;
    return id;
}

uint32_t dram_queue_take(struct dram_queue *q, uint64_t clock, uint32_t bank, int64_t open_row)
{
    uint32_t side = q->draining, list = queue_list(q, bank);
    if (!(q->banks_waiting[side] >> list & 1)) return DRAM_ENTRY_NONE;
    if (q->is_fcfs) {
        if (q->entries[q->lists[side][0].head].bank != bank) return DRAM_ENTRY_NONE;
        return queue_unlink(q, clock, side, 0, DRAM_ENTRY_NONE);
    }
    uint32_t before = DRAM_ENTRY_NONE;
    for (uint32_t id = q->lists[side][bank].head; id != DRAM_ENTRY_NONE;
         before = id, id = q->entries[id].next)
        if ((int64_t)q->entries[id].row == open_row) return queue_unlink(q, clock, side, bank, before);
    return queue_unlink(q, clock, side, bank, DRAM_ENTRY_NONE);
}

void dram_queue_turn(struct dram_queue *q)
{
    const struct dram_params *p = q->params;
    uint32_t reads = q->waiting[0], writes = q->waiting[1];
    if (!q->write_drain) return;
    if (!q->draining)
        q->draining = writes >= p->write_high || (writes && !reads);
    else if (!writes || (writes <= p->write_low && reads))
        q->draining = false;
}

void dram_queue_release(struct dram_queue *q, uint32_t entry)
{
    q->entries[entry].next = q->free_head;
    q->free_head = entry;
}
