/* req.c: the pool of memory requests. Returned requests are used again newest first; untouched ones come
 * after those, so that the memory in use follows the number alive. */
#include "mem/req.h"

static struct req *make_items(uint32_t count)
{
    struct req *items = aligned_alloc(sizeof(struct req), sizeof(struct req) * count);
    if (!items) UNREACHABLE("memory for requests");
    return items;
}

void req_pool_init(struct req_pool *p, uint32_t count)
{
    assert(count >= 1 && count < REQ_NONE);
    *p = (struct req_pool){.items = make_items(count), .cap = count, .free_head = REQ_NONE};
}

void req_pool_free(struct req_pool *p)
{
    free(p->items);
    *p = (struct req_pool){.free_head = REQ_NONE};
}

void req_reserve(struct req_pool *p, uint32_t more)
{
    if (p->cap - p->live >= more) return;
    uint32_t cap = p->cap;
    while (cap - p->live < more) {
        assert(cap < REQ_NONE / 2);
        cap *= 2;
    }
    struct req *items = make_items(cap);
    memcpy(items, p->items, sizeof(struct req) * p->cap);
    free(p->items);
    p->items = items;
    p->cap = cap;
}

static inline void req_route(const struct req_pool *p, struct req *r)
{
    if (p->map) r->local = addrmap_route(p->map, r->addr, &r->slice, &r->channel);
}

void req_rename(const struct req_pool *p, struct req *r, uint64_t addr, uint32_t sectors)
{
    r->addr = addr;
    r->sectors = sectors;
    req_route(p, r);
}

COLD uint32_t req_take_fresh(struct req_pool *p)
{
    if (p->fresh == p->cap)
        UNREACHABLE("the request pool is exhausted: it is smaller than the machine's queues");
    return p->fresh++;
}

void req_start(struct req_pool *p, struct req *r)
{
    req_route(p, r);
    p->made++;
    p->live++;
    assert(r->owner < REQ_OWNERS);
    p->owners[r->owner].made++;
    p->owners[r->owner].live++;
}

uint32_t req_new(struct req_pool *p, const struct req *init)
{
    const uint32_t id = req_take(p);
    struct req *r = req_at(p, id);
    *r = *init;
    r->next = REQ_NONE;
    req_start(p, r);
    return id;
}

void req_del(struct req_pool *p, uint32_t id)
{
    assert(id < p->fresh);
    p->items[id].next = p->free_head;
    p->free_head = id;
    p->spare++;
    p->live--;
    p->owners[p->items[id].owner].live--;
}

void req_pool_clear_owner(struct req_pool *p, uint32_t owner) { p->owners[owner] = (struct req_owner){0}; }

/* ---- parts ---- */

/* A part that holds this many times as many free requests as it needs gives half of them back. */
enum { PART_RICH = 8 };

void req_part_init(struct req_pool *part, const struct req_pool *whole)
{
    *part = (struct req_pool){.items = whole->items,
                              .cap = whole->cap,
                              .fresh = whole->cap,
                              .free_head = REQ_NONE,
                              .map = whole->map};
}

static uint32_t whole_take(struct req_pool *p)
{
    uint32_t id = p->free_head;
    p->live++;
    if (id == REQ_NONE) return p->fresh++;
    p->free_head = p->items[id].next;
    p->spare--;
    return id;
}

static void move_one(struct req_pool *from, struct req_pool *to)
{
    uint32_t id = from->free_head;
    from->free_head = from->items[id].next;
    from->spare--;
    to->items[id].next = to->free_head;
    to->free_head = id;
    to->spare++;
}

void req_part_follow(struct req_pool *part, const struct req_pool *whole)
{
    part->items = whole->items;
    part->cap = part->fresh = whole->cap;
}

void req_part_balance(struct req_pool *part, struct req_pool *whole, uint32_t low)
{
    const bool is_poor = part->spare < low;
    if (is_poor) req_reserve(whole, 2 * low);
    req_part_follow(part, whole); /* the whole may have grown for this part or another one */
    while (is_poor && part->spare < 2 * low) {
        uint32_t id = whole_take(whole);
        part->items[id].next = part->free_head;
        part->free_head = id;
        part->spare++;
    }
    if (part->spare <= PART_RICH * low) return;
    while (part->spare > PART_RICH / 2 * low) {
        move_one(part, whole);
        whole->live--;
    }
}
