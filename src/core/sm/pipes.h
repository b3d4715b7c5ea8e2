/* pipes.h: the arithmetic units and the result buses behind them.
 *
 * A unit takes an operation and is busy for its initiation interval; the result comes out after its latency,
 * on the first cycle from then on that has a free result bus. A calendar of the next cycles holds what comes
 * out when; the load-store unit keeps its fixed delays in the same calendar, without using a bus. (1) Nothing
 * that is due is passed over: the owner looks at the cycle `next`. (2) A cycle has at most result_buses
 * arithmetic results. */
#ifndef HEDDLE_PIPES_H
#define HEDDLE_PIPES_H

#include "base/bitset.h"
#include "core/sm/uop.h"

enum { PIPE_UNITS_MAX = 16 };
#define PIPES_NONE     UINT32_MAX
#define PIPES_NO_DELAY UINT16_MAX

/* A cycle of the calendar: small, since the calendar turns through the host's cache. */
struct pipes_day {
    /* heads of chains: PIPES_NONE, PIPES_NO_DELAY for none */
    uint32_t results;
    uint16_t delays;
    /* result buses taken */
    uint16_t used;
};

struct pipes {
    /* the first cycle at which anything is due; UINT64_MAX = none */
    uint64_t next;
    /* size of the calendar - 1 */
    uint32_t mask;
    /* results and delays in it; the delays among them */
    uint32_t live, delays;
    /* passes that a warp takes through the lanes of a unit */
    uint16_t passes;
    uint8_t buses;
    uint8_t units[CLASS_COUNT];
    /* by cycle & mask */
    struct pipes_day *days;
    /* bit set: cycles of the calendar with anything due */
    uint64_t *busy;
    /* the chains: by flight, by pending id */
    uint32_t *result_next;
    uint16_t *delay_next;
    /* the cycle from which on a unit accepts an operation */
    uint64_t free_at[CLASS_COUNT][PIPE_UNITS_MAX];
};

/* flights, pendings: ids that may be passed to pipes_start and pipes_delay. */
void pipes_init(struct pipes *p, const struct sm_params *params, uint32_t flights, uint32_t pendings);
void pipes_free(struct pipes *p);
/* Results that can be in the calendar at once. */
uint32_t pipes_capacity(const struct sm_params *params);
/* Does a unit of the class take an operation in this cycle? */
bool pipes_accepts(const struct pipes *p, enum sm_class cls, uint64_t cycle);
/* Starts flight `id` on a unit that accepts it. extra: cycles of the stages around the unit; negative where
 * the result is forwarded ahead of them, though never to the past. False: the calendar has no free result
 * bus. */
bool pipes_start(struct pipes *p, const struct uop *u, uint32_t id, uint64_t cycle, int32_t extra);
/* A pending memory instruction is due at a later cycle; it needs no result bus. */
void pipes_delay(struct pipes *p, uint32_t pending, uint64_t cycle, uint64_t due);
/* Is anything due at cycle? */
static inline bool pipes_due(const struct pipes *p, uint64_t cycle) { return p->next <= cycle; }
/* May a delay be due at cycle? */
static inline bool pipes_may_delay(const struct pipes *p, uint64_t cycle)
{
    return pipes_due(p, cycle) && p->delays; /* in the line that every cycle reads */
}
/* Takes one flight, or pending memory instruction, that is due at cycle; PIPES_NONE: there is none left. */
uint32_t pipes_result(struct pipes *p, uint64_t cycle);
uint32_t pipes_delayed(struct pipes *p, uint64_t cycle);
/* The first cycle after `cycle` at which a unit that is busy now becomes free; UINT64_MAX = none is. */
uint64_t pipes_next_free(const struct pipes *p, uint64_t cycle);

#endif
