/* collector.h: operand collectors between issue and the units.
 *
 * An instruction goes from its class's input latch into a collector unit, reads its registers there, one read
 * a bank and cycle, and leaves through the class's output latch. An indirect move has one more read, in a
 * later cycle: the register whose number it has read (Morpheus, section 4.3.2). Writebacks have their banks
 * first. Stages run last to first: what one stage does in a cycle the next one sees in the following
 * cycle. */
#ifndef HEDDLE_COLLECTOR_H
#define HEDDLE_COLLECTOR_H

#include "core/sm/uop.h"

enum { COLLECTOR_UNITS_MAX = 64, COLLECTOR_NO_BANK = 0xff, LATCH_MAX = 16 };

/* Instructions between two stages, a ring of mask + 1 entries, the least power of two that holds `width`. */
struct latch {
    uint16_t first, count, width, mask;
    uint32_t ids[LATCH_MAX];
};
static inline uint32_t latch_room(const struct latch *l) { return (uint32_t)(l->width - l->count); }
static inline bool latch_has_room(const struct latch *l) { return l->count < l->width; }
static inline void latch_put(struct latch *l, uint32_t id)
{
    debug_assert(latch_has_room(l));
    l->ids[(l->first + l->count++) & l->mask] = id;
}
static inline uint32_t latch_oldest(const struct latch *l)
{
    debug_assert(l->count);
    return l->ids[l->first];
}
/* Takes the oldest. */
static inline uint32_t latch_take(struct latch *l)
{
    uint32_t id = latch_oldest(l);
    l->first = (l->first + 1) & l->mask;
    l->count--;
    return id;
}

struct collector_unit {
    uint32_t flight;
    /* class of the instruction; reads that are left */
    uint8_t cls, left;
    /* mask of classes that may use the unit */
    uint8_t users;
    /* the bank of the read that comes after all others (UOP_INDIRECT); COLLECTOR_NO_BANK: none */
    uint8_t then;
    /* the reads that are left: a set of banks; 0: a list of banks */
    uint64_t set;
    uint8_t banks[UOP_READS_MAX];
};

/* The warp whose registers an instruction reads. */
struct collector_reader {
    uint32_t warp;
    /* UOP_INDIRECT: the register that it reads behind the others */
    uint32_t indirect;
};

struct collector {
    /* what every cycle touches, a line of the host's cache: units in use, and those of them that lack
     * operands */
    _Alignas(HOST_LINE) uint64_t used;
    uint64_t reading;
    /* banks that writebacks take in this cycle */
    uint64_t written;
    /* unit-cycles in which a read found its bank taken */
    uint64_t conflict_cycles;
    /* instructions in latches and units */
    uint16_t work;
    /* the newest cycle moved nothing, and no instruction has entered or left since: the next cycle moves
     * nothing either */
    bool is_stuck;
    bool by_warp;
    /* mechanisms use the banks too, so the banks of writebacks are remembered */
    bool is_shared;
    /* masks of classes: whose input latch has room; with instructions in the input latch, in the output
     * latch */
    uint8_t room, entering, leaving;
    /* classes for which something has changed since they last found no free unit, or no room in the output
     * latch */
    uint8_t may_enter, may_leave;
    /* the unit that left last */
    uint8_t last[CLASS_COUNT];
    /* mask of the classes that have units */
    uint8_t classes;
    uint8_t unit_count, reads, banks;
    /* banks - 1 where that is a power of two, else 0 */
    uint8_t bank_mask;
    /* banks that the newest arbitration gave to operands, and the low bits of its cycle */
    uint32_t granted_cycle;
    uint64_t granted;
    /* units that hold an instruction of the class */
    uint64_t held[CLASS_COUNT];
    /* units that a class may use */
    uint64_t own[CLASS_COUNT];
    struct latch in[CLASS_COUNT], out[CLASS_COUNT];
    struct collector_unit units[COLLECTOR_UNITS_MAX];
    /* banks that writebacks took last, and that others got last; their cycles */
    uint64_t wrote, wrote_cycle;
    uint64_t asked, asked_cycle;
};
_Static_assert(offsetof(struct collector, held) == HOST_LINE, "what every cycle touches is one line");

/* The number of collector units that the parameters ask for; a class without any gets one. More than
 * COLLECTOR_UNITS_MAX cannot be made. */
uint32_t collector_units(const struct sm_params *p);
void collector_init(struct collector *c, const struct sm_params *p);
/* A writeback takes the banks of its registers in this cycle. */
void collector_write(struct collector *c, uint32_t warp, const struct uop *u, uint64_t cycle);
/* Puts an instruction into the input latch of its class, which has room. */
void collector_put(struct collector *c, enum sm_class cls, uint32_t flight);
/* One cycle; says whether anything moved. Finished units to the output latches, then reads, then input
 * latches to free units. */
bool collector_cycle(struct collector *c, uint64_t cycle,
                     const struct uop *(*uop_of)(void *ctx, uint32_t flight, struct collector_reader *),
                     void *ctx);
/* Takes the oldest instruction from the output latch of a class, which has one. */
uint32_t collector_take(struct collector *c, enum sm_class cls);
/* A mechanism wants the bank of a row of the register file in this cycle. The arbiter decides a cycle ahead,
 * so operands that won in the cycle before go first, as do writebacks and earlier requests of this cycle.
 * False: the bank is taken. */
bool collector_ask(struct collector *c, uint32_t row, uint64_t cycle);

#endif
