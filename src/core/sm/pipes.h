/* pipes.h: the arithmetic units and the result buses behind them.
 *
 * A unit takes an operation and is busy for its initiation interval; the result comes out after its latency,
 * on the first cycle from then on that has a free result bus. A calendar of the next cycles holds what comes
 * out when; the load-store unit keeps its fixed delays in the same calendar, without using a bus. (1) Nothing
 * due is ever passed: the owner looks at the cycle `next`. (2) At most result_buses
 * arithmetic results a cycle. */
#ifndef HEDDLE_PIPES_H
#define HEDDLE_PIPES_H

#include "base/bitset.h"
#include "core/sm/uop.h"

enum { PIPE_UNITS_MAX = 8 };
#define PIPES_NONE UINT32_MAX

struct pipes_day {            /* a cycle of the calendar */
    uint32_t results, delays; /* heads of chains */
    uint32_t used;            /* result buses taken */
};

struct pipes {
    uint64_t next;   /* the first cycle at which anything is due; UINT64_MAX = none */
    uint32_t mask;   /* size of the calendar - 1 */
    uint32_t live;   /* results and delays in it */
    uint16_t passes; /* of a warp through the lanes */
    uint8_t buses;
    uint8_t units[CLASS_COUNT];
    struct pipes_day *days;                        /* by cycle & mask */
    uint64_t *busy;                                /* bit set: days with anything due */
    uint32_t *result_next, *delay_next;            /* the chains: by flight, by pending id */
    uint64_t free_at[CLASS_COUNT][PIPE_UNITS_MAX]; /* cycle */
};

/* flights, pendings: ids that may be passed to pipes_start and pipes_delay. */
void pipes_init(struct pipes *p, const struct sm_params *params, uint32_t flights, uint32_t pendings);
void pipes_free(struct pipes *p);
/* Results that can be in the calendar at once. */
uint32_t pipes_capacity(const struct sm_params *params);
bool pipes_accepts(const struct pipes *p, enum sm_class cls, uint64_t cycle);
/* Starts flight `id` on a unit that accepts it; extra: cycles of stages around the unit, negative
 * where its result is forwarded ahead of them, though not to the past. False: no result bus
 * in reach. */
bool pipes_start(struct pipes *p, const struct uop *u, uint32_t id, uint64_t cycle, int32_t extra);
void pipes_delay(struct pipes *p, uint32_t pending, uint64_t cycle, uint64_t due);
/* Is anything due at cycle? */
static inline bool pipes_due(const struct pipes *p, uint64_t cycle) { return p->next <= cycle; }
/* Take one flight (pending) that is due at cycle, PIPES_NONE when there is none left. */
uint32_t pipes_result(struct pipes *p, uint64_t cycle);
uint32_t pipes_delayed(struct pipes *p, uint64_t cycle);
/* The first cycle after `cycle` at which a unit that is busy now becomes free; UINT64_MAX = none is. */
uint64_t pipes_next_free(const struct pipes *p, uint64_t cycle);

#endif
