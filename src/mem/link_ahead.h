/* link_ahead.h: functions of links that only make the simulator fast: notes, and refusals that are predicted.
 *
 * An end that has many links uses notes to find those that it has to look at.
 *
 * A producer that asks once in each of its turns, and has just filled the link, need not run its next turn
 * only to be refused: the refusal is recorded ahead. A pop before that turn wakes the producer, and the
 * refusal is taken back. The counts are those of a producer that asks in each turn. */
#ifndef HEDDLE_LINK_AHEAD_H
#define HEDDLE_LINK_AHEAD_H

#include "mem/link.h"

/* From now on each push sets *note to 1, as does room for a waiting producer. */
void link_note_pushes(struct link *l, uint8_t *note);
void link_note_room(struct link *l, uint8_t *note);

static inline void link_refuse_ahead(struct link *l, tick next)
{
    debug_assert(link_is_full(l, next, 1) && !l->producer_waits);
    link_refuse(l, next);
}

/* link_can_push for a producer that uses link_refuse_ahead. */
static inline bool link_can_push_after_all(struct link *l, tick now)
{
    const bool was_foreseen = l->producer_waits && l->waits_since == now;
    if (!link_can_push(l, now)) return false;
    l->refusals -= was_foreseen;
    return true;
}

/* Refusals up to now, without one that is recorded ahead. */
static inline uint64_t link_refusals(const struct link *l, tick now)
{
    return l->refusals - (l->producer_waits && l->waits_since > now);
}

#endif
