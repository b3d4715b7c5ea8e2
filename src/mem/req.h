/* req.h: memory requests: they travel between the SMs, the crossbar, L2 and DRAM, live in one pool and
 * move as 32-bit ids. */
#ifndef HEDDLE_REQ_H
#define HEDDLE_REQ_H

#include "base/tick.h"
#include "mem/addrmap.h"

enum req_kind { REQ_READ, REQ_WRITE, REQ_ATOMIC };
enum req_class {
    REQ_GLOBAL,
    REQ_LOCAL,
    REQ_CONST,
    REQ_TEX,
    REQ_INST,
    /* registers of a CTA, which an SM keeps in memory for a while */
    REQ_CONTEXT,
    REQ_CLASS_COUNT
};
/* Registers that SMs keep in memory lie from here on, beyond all other addresses: a line's address says what
 * it holds, whatever request drives it out of the L2. */
#define REQ_CONTEXT_BASE 0x900000000000ull

struct req {
    /* the line that the request is for, line aligned */
    uint64_t addr;
    /* 32-byte sectors of the line that are wanted or written, bit 0 = lowest */
    uint32_t sectors;
    /* bytes of data that a write or atomic carries */
    uint32_t write_bytes;
    /* enum req_kind, enum req_class */
    uint8_t kind, cls;
    /* is_fill_partial: a write that does not cover its sectors */
    bool is_prefetch, is_fill_partial;
    /* for statistics */
    uint8_t l1_outcome;
    bool l2_hit;
    /* the sender; the reply goes back there */
    uint16_t sm;
    /* context of the warp on the SM */
    uint16_t warp;
    /* the slot of the grid whose warp waits for it; 0 = none */
    uint16_t owner;
    /* instruction index */
    uint32_t pc;
    /* the sender's own: a pending load, an MSHR, an atomic record */
    uint32_t token;
    /* where the address map sends it */
    uint16_t slice, channel;
    /* free list, and chains that a component may build while it owns the request */
    uint32_t next;
    /* enum sm_port_client: who takes the reply */
    uint8_t client;
    /* sm_port_lines.c: it brings a part of the request that its token names */
    bool is_part;
    /* parts that are not answered, of a request that travels in parts */
    uint8_t parts;
    /* l2_claim.c: a mechanism has it, and has no work for it */
    bool is_parked;
    /* made at the L1 */
    tick born;
    union {
        /* until it is at the tags of the L2: its address within the slice, from the map */
        uint64_t local;
        /* then: when the slice accepted it; of a request that travels in parts, the first of them */
        tick at_l2;
    };
};
_Static_assert(sizeof(struct req) == 64,
               "a request is one line of the host's cache; items of a pool are aligned to it");

#define REQ_NONE UINT32_MAX

/* Slots of grids, and 0. */
enum { REQ_OWNERS = 129 };
struct req_owner {
    uint64_t made;
    uint32_t live;
};

/* items[fresh..] have never been used: the memory of a generous pool is committed only when it is touched.
 * Making or ending a request touches the fields before the owners, one owner, and the request. */
struct req_pool {
    /* length of the free list */
    uint32_t spare;
    uint32_t free_head;
    struct req *items;
    /* sets slice, channel and local of a new request; may be NULL */
    const struct addrmap *map;
    uint32_t cap, fresh;
    uint64_t made;
    uint32_t live;
    struct req_owner owners[REQ_OWNERS];
};

/* count: at least what the machine's queues and MSHRs can hold at once: req_new on an exhausted pool ends the
 * process. */
void req_pool_init(struct req_pool *p, uint32_t count);
/* Makes room for `more` requests beyond those alive. Moves the items: never inside a tick. */
void req_reserve(struct req_pool *p, uint32_t more);
static inline bool req_has_room(const struct req_pool *p) { return p->live < p->cap; }
void req_pool_free(struct req_pool *p);
/* A part of a pool for one user, so that users on several threads share nothing: the same items, a free list
 * of its own. A part counts the requests that its user made minus those that its user freed, so `live` may
 * wrap around: only the sum over all parts has a meaning. The pool counts requests in the free lists of its
 * parts as alive. */
void req_part_init(struct req_pool *part, const struct req_pool *whole);
/* Called when the pool may have grown, which moves its items. */
void req_part_follow(struct req_pool *part, const struct req_pool *whole);
/* Moves free requests between part and pool so that the user can make `low` of them, and does not hold far
 * more. Never inside a tick. */
void req_part_balance(struct req_pool *part, struct req_pool *whole, uint32_t low);
/* Counts the requests of this owner from 0 again. */
void req_pool_clear_owner(struct req_pool *p, uint32_t owner);
uint32_t req_new(struct req_pool *p, const struct req *init);
/* req_new in two steps, for a caller that fills the request where it lies instead of copying one. req_take
 * (below) returns a request that is 0, but for `next`; req_start follows when it is filled. */
void req_start(struct req_pool *p, struct req *r);
/* For req_take: a request that has never been used. */
uint32_t req_take_fresh(struct req_pool *p);
void req_del(struct req_pool *p, uint32_t id);
/* Changes line and sectors of a request. */
void req_rename(const struct req_pool *p, struct req *r, uint64_t addr, uint32_t sectors);
/* Sectors in a mask. Nearly all lines have four: their count is looked up in a word. */
static inline uint32_t req_sector_count(uint32_t mask)
{
    return mask < 16 ? (uint32_t)(0x4332322132212110ull >> (4 * mask)) & 15
                     : (uint32_t)__builtin_popcount(mask);
}
static inline struct req *req_at(struct req_pool *p, uint32_t id) { return &p->items[id]; }
static inline uint32_t req_take(struct req_pool *p)
{
    uint32_t id = p->free_head;
    if (LIKELY(id != REQ_NONE)) {
        p->free_head = p->items[id].next;
        p->spare--;
    } else
        id = req_take_fresh(p);
    p->items[id] = (struct req){.next = REQ_NONE};
    return id;
}
static inline bool req_is_context(const struct req *r) { return r->addr >= REQ_CONTEXT_BASE; }

#endif
