/* req.h: memory requests: what travels between the SMs, the crossbar, L2 and DRAM. They live in one pool and move as 32-bit ids. */
#ifndef HEDDLE_REQ_H
#define HEDDLE_REQ_H

#include "base/tick.h"
#include "mem/addrmap.h"

enum req_kind { REQ_READ, REQ_WRITE, REQ_ATOMIC };
enum req_class { REQ_GLOBAL, REQ_LOCAL, REQ_CONST, REQ_TEX, REQ_INST, REQ_CLASS_COUNT };

struct req {
    uint64_t addr;        /* of the line that the request is for, line aligned */
    uint32_t sectors;     /* 32-byte sectors of the line that are wanted or written, bit 0 = lowest */
    uint32_t write_bytes; /* bytes of data that a write or atomic carries */
    uint8_t kind, cls;    /* enum req_kind, req_class */
    bool is_prefetch, is_fill_partial; /* partial: a write that does not cover its sectors */
    uint8_t l1_outcome;                /* for statistics */
    bool l2_hit;
    uint16_t sm;             /* who asked; the reply goes back there */
    uint16_t warp;           /* warp slot of the SM */
    uint16_t owner;          /* the grid whose warp waits for it (its place); 0 = nobody's */
    uint32_t pc;             /* instruction index */
    uint32_t token;          /* the asker's own: a pending load, an MSHR, an atomic record */
    uint16_t slice, channel; /* where the address map sends it */
    uint32_t next;           /* free list, and chains that a component may build while it owns the request */
    uint8_t client;          /* of its SM's port: who takes the reply */
    tick born;               /* made at the L1 */
    union {
        uint64_t local; /* until it is at the tags of the L2: its address within the slice, from the map */
        tick at_l2;     /* then: when the slice accepted it */
    };
};
_Static_assert(sizeof(struct req) == 64,
               "a request is one line of the host's cache; items of a pool are aligned to it");

#define REQ_NONE UINT32_MAX

enum { REQ_OWNERS = 129 }; /* places of grids, and 0 */
struct req_owner {
    uint64_t made;
    uint32_t live;
};

/* items[fresh..] have never been used: memory of a generous pool is committed only when it is touched. To make or to end a request
 * touches what comes before the owners, one of these, and the request. */
struct req_pool {
    uint32_t spare; /* length of the free list */
    uint32_t free_head;
    struct req *items;
    const struct addrmap *map; /* sets slice, channel and local of a new request; NULL: nobody does */
    uint32_t cap, fresh;
    uint64_t made;
    uint32_t live;
    struct req_owner owners[REQ_OWNERS];
};

/* Size it for all that the machine's queues and MSHRs can hold at once: req_new on an exhausted pool ends the process. */
void req_pool_init(struct req_pool *p, uint32_t count);
/* Makes room for `more` requests beyond those alive. Moves the items: never inside a tick. */
void req_reserve(struct req_pool *p, uint32_t more);
static inline bool req_has_room(const struct req_pool *p) { return p->live < p->cap; }
void req_pool_free(struct req_pool *p);
/* Part of a pool for one user, so that users on several threads share nothing: same items, own free list. What it counts is
 * what its user made less what its user gave back (live may wrap around): only sums over all parts mean something. The pool itself
 * counts as alive what lies in the free lists of its parts. */
void req_part_init(struct req_pool *part, const struct req_pool *whole);
/* Never inside a tick: sees to it that `low` requests can be made, and that far more than that go back. */
void req_part_balance(struct req_pool *part, struct req_pool *whole, uint32_t low);
uint32_t req_new(struct req_pool *p, const struct req *init);
void req_del(struct req_pool *p, uint32_t id);
/* Sectors in a mask; lines of four, nearly always: then it is looked up in a word. */
static inline uint32_t req_sector_count(uint32_t mask)
{
    return mask < 16 ? (uint32_t)(0x4332322132212110ull >> (4 * mask)) & 15
                     : (uint32_t)__builtin_popcount(mask);
}
static inline struct req *req_at(struct req_pool *p, uint32_t id) { return &p->items[id]; }

#endif
