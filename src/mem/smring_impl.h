/* smring_impl.h: the state of the ring between the SMs, for smring.c and smring_report.c alone. */
#ifndef HEDDLE_SMRING_IMPL_H
#define HEDDLE_SMRING_IMPL_H

#include "mem/ring.h"
#include "mem/smring.h"

struct smring_slot {
    _Alignas(HOST_LINE) struct smring_message message;
    /* when it is complete, and may be seen or go on */
    tick ready;
    uint32_t flits;
};
RING_TYPE(smring_queue, struct smring_slot)

/* A channel at one SM. A hop touches the first host line, and those of the message. */
struct smring_stop {
    _Alignas(HOST_LINE) struct smring_queue queue;
    /* slots of the queue that were taken when the cycle began */
    uint32_t occupied;
    /* its SM lets the head of the queue pass; a message came into the queue in this cycle; the SM has a
     * message that did not enter the queue */
    bool passes, has_entered, has_arrived;
    /* when the link to the next stop takes a flit again */
    tick link_free;
    struct smring_queue buffer;
    struct smring_slot arrived;
    /* counts of what its SM does */
    struct smring_channel_stats stats;
};
_Static_assert(offsetof(struct smring_stop, arrived) == HOST_LINE, "a hop touches one line of a stop");
_Static_assert(sizeof(struct smring_slot) == HOST_LINE, "a message fills one line");

/* A channel, as the end of a cycle sees it. */
struct smring_lane {
    /* [SM] */
    struct smring_stop *stops;
    /* [SM]: when it sees a message of this channel; when the head of its queue may leave */
    tick *sight, *leaves;
    /* mask of stops that the end of this cycle has to look at: something came or left or waits in the buffer,
     * or the SM has done something */
    uint64_t *touched;
    uint32_t flit_bytes;
    /* counts of what moves at the end of a cycle */
    struct smring_channel_stats stats;
};

struct smring {
    struct smring_lane lanes[SMRING_CHANNELS];
    /* [SM]: mask of channels that it has used in this cycle; a byte for each SM, so that several threads can
     * write them at once */
    uint8_t *acted;
    /* SMs, and words of a mask of them */
    uint32_t count, words;
    struct clock_domain clock;
    struct smring_params params;
    /* when something can move; when an SM sees something */
    tick wake, sight;
    struct smring_stats sum;
};

/* The head of the queue, if the SM is to decide about it. */
static inline const struct smring_slot *smring_undecided(const struct smring_stop *s)
{
    if (!s->queue.ring.count || s->passes) return NULL;
    const struct smring_slot *head = smring_queue_front(&s->queue);
    return head->message.to >= SMRING_HOLDERS && head->message.hops ? head : NULL;
}

static inline uint32_t smring_next_stop(const struct smring *r, enum smring_channel c, uint32_t i)
{
    if (c == SMRING_REQUEST) return i + 1 == r->count ? 0 : i + 1;
    return i ? i - 1 : r->count - 1;
}

#endif
