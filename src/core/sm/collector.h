/* collector.h: operand collectors between issue and the units.
 *
 * An instruction goes from its class's input latch into a collector unit, reads its registers there, one read
 * a bank and cycle, and leaves through the class's output latch. Writebacks have their banks first. Stages
 * run last to first: what one stage does in a cycle the next one sees in the following cycle. */
#ifndef HEDDLE_COLLECTOR_H
#define HEDDLE_COLLECTOR_H

#include "core/sm/uop.h"

enum { COLLECTOR_UNITS_MAX = 64, LATCH_MAX = 8 /* a power of two */ };

struct latch { /* a ring */
    uint8_t first, count, width;
    uint32_t ids[LATCH_MAX];
};
static inline bool latch_has_room(const struct latch *l) { return l->count < l->width; }
static inline void latch_put(struct latch *l, uint32_t id)
{
    debug_assert(latch_has_room(l));
    l->ids[(l->first + l->count++) % LATCH_MAX] = id;
}
static inline uint32_t latch_oldest(const struct latch *l)
{
    debug_assert(l->count);
    return l->ids[l->first];
}
static inline uint32_t latch_take(struct latch *l) /* the oldest */
{
    uint32_t id = latch_oldest(l);
    l->first = (l->first + 1) % LATCH_MAX;
    l->count--;
    return id;
}

struct collector_unit {
    uint32_t flight;
    uint8_t cls, left;
    uint8_t users;                /* mask of classes that may use it */
    uint8_t banks[UOP_READS_MAX]; /* of the reads that are left */
};

struct collector {
    /* of every cycle, a line of the host's cache */
    _Alignas(HOST_LINE) uint64_t used; /* mask of units */
    uint64_t reading;                  /* those of them that lack operands */
    uint64_t written;                  /* banks that writebacks take in this cycle */
    uint64_t conflict_cycles;          /* unit-cycles in which a read found its bank taken */
    uint16_t work;                     /* instructions in latches and units */
    bool is_stuck; /* the newest cycle moved nothing, and nothing came or went since: nor will the next */
    bool by_warp;
    /* masks of classes: whose input latch has room; with instructions in the input latch, in the output latch */
    uint8_t room, entering, leaving;
    /* those for which something has changed since a unit, or room in the output latch, was last looked for in vain */
    uint8_t may_enter, may_leave;
    uint8_t last[CLASS_COUNT]; /* the unit that left last */
    uint8_t classes;           /* mask of those that have units */
    uint8_t unit_count, reads, banks;
    uint8_t bank_mask;          /* banks - 1 where that is a power of two, else 0 */
    uint64_t held[CLASS_COUNT]; /* units that hold an instruction of the class */
    uint64_t own[CLASS_COUNT];  /* units that a class may use */
    struct latch in[CLASS_COUNT], out[CLASS_COUNT];
    /* banks that the newest arbitration gave to operands, that writebacks took last, and that others got last; their cycles */
    uint64_t granted, granted_cycle;
    uint64_t wrote, wrote_cycle;
    uint64_t asked, asked_cycle;
    /* somebody else than instructions uses the banks: what is written is remembered */
    bool is_shared;
    /* accesses of others that found their bank taken */
    uint64_t others, other_conflicts;
    struct collector_unit units[COLLECTOR_UNITS_MAX];
};

/* How many the parameters ask for, those that a class without any gets included: at most COLLECTOR_UNITS_MAX may be made. */
uint32_t collector_units(const struct sm_params *p);
void collector_init(struct collector *c, const struct sm_params *p);
/* The bank that a writeback takes in this cycle. */
void collector_write(struct collector *c, uint32_t warp, const struct uop *u, uint64_t cycle);
void collector_put(struct collector *c, enum sm_class cls, uint32_t flight); /* needs room in the latch */
/* One cycle; says whether anything moved. Finished units to the output latches, then reads, then input
 * latches to free units. */
bool collector_cycle(struct collector *c, uint64_t cycle,
                     const struct uop *(*uop_of)(void *ctx, uint32_t flight, uint32_t *warp), void *ctx);
uint32_t collector_take(struct collector *c, enum sm_class cls); /* from the output latch, which has one */
/* Somebody else than an instruction wants the bank of a row of the register file in this cycle. The arbiter decides a cycle ahead:
 * operands of the arbitration before, writebacks, and what was asked for before in this cycle go first. False: the bank is taken. */
bool collector_ask(struct collector *c, uint32_t row, uint64_t cycle);

#endif
