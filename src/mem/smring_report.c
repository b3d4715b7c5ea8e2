/* smring_report.c: the ring's parameters and statistics, what it holds, and why a message waits. */
#include "mem/smring_impl.h"

const struct param_row smring_rows[] = {
    PARAM_NUMBER(smring_params, latency, "ring.latency", "cycles", "1", 1, 10000,
                 "a hop between neighbouring SMs, of a message of one flit"),
    PARAM_NUMBER(smring_params, request_bytes, "ring.request_bytes", "bytes", "4", 1, 4096,
                 "flit of the ring's request channel"),
    PARAM_NUMBER(smring_params, response_bytes, "ring.response_bytes", "bytes", "32", 1, 4096,
                 "flit of the ring's response channel"),
    PARAM_NUMBER(
        smring_params, queue, "ring.queue", "messages", "8", 2, 65535,
        "queue of a channel at an SM; a new message needs two free slots, one that passes needs one"),
    PARAM_NUMBER(smring_params, request_buffer, "ring.request_buffer", "messages", "8", 0, 65535,
                 "new requests that wait at an SM, behind those that pass; 0: they go straight into the "
                 "queue, before those that pass"),
    PARAM_NUMBER(smring_params, response_buffer, "ring.response_buffer", "messages", "0", 0, 65535,
                 "the same for new responses"),
    {0}};

#define CHANNEL_ROWS(ch, way)                                                                                \
    STAT_COUNT(smring_stats, ch.messages, "ring." #ch "_messages", "messages",                               \
               "messages that SMs sent, " way, NULL),                                                        \
        STAT_COUNT(smring_stats, ch.taken, "ring." #ch "_taken", "messages", "messages that SMs took, " way, \
                   NULL),                                                                                    \
        STAT_COUNT(smring_stats, ch.hops, "ring." #ch "_hops", "hops", "hops between neighbours, " way,      \
                   NULL),                                                                                    \
        STAT_COUNT(smring_stats, ch.flits, "ring." #ch "_flits", "flits", "flits on the links, " way, NULL), \
        STAT_COUNT(smring_stats, ch.refused, "ring." #ch "_refused", "messages",                             \
                   "new messages that found no room, " way, NULL),                                           \
        STAT_COUNT(smring_stats, ch.wait_cycles, "ring." #ch "_wait", "cycles",                              \
                   "time that messages waited in queues, complete, summed over hops, " way, NULL),           \
        STAT_COUNT(smring_stats, ch.buffer_cycles, "ring." #ch "_buffer_wait", "cycles",                     \
                   "time that new messages waited for the queue, " way, NULL),                               \
        STAT_LARGEST(smring_stats, ch.queue_max, "ring." #ch "_queue_max", "messages",                       \
                     "most messages in one queue, " way)

const struct stat_row smring_stat_rows[] = {CHANNEL_ROWS(request, "from each SM to the next"),
                                            CHANNEL_ROWS(response, "from each SM to the one before"),
                                            {0}};

uint64_t smring_held(const struct smring *r)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            const struct smring_stop *s = &r->lanes[c].stops[i];
            held += s->queue.ring.count + s->buffer.ring.count + s->has_arrived;
        }
    return held;
}

uint64_t smring_open(const struct smring *r)
{
    uint64_t open = 0; /* one stop's count may be below zero; the unsigned sum is right all the same */
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++)
            open += r->lanes[c].stops[i].stats.messages - r->lanes[c].stops[i].stats.taken;
    return open;
}

static void add_channel(struct smring_channel_stats *sum, const struct smring_channel_stats *s)
{
    sum->messages += s->messages;
    sum->taken += s->taken;
    sum->hops += s->hops;
    sum->flits += s->flits;
    sum->refused += s->refused;
    sum->wait_cycles += s->wait_cycles;
    sum->buffer_cycles += s->buffer_cycles;
    sum->queue_max = MAX(sum->queue_max, s->queue_max);
}

void *smring_stats(struct smring *r)
{
    r->sum = (struct smring_stats){r->lanes[SMRING_REQUEST].stats, r->lanes[SMRING_RESPONSE].stats};
    for (uint32_t i = 0; i < r->count; i++) {
        add_channel(&r->sum.request, &r->lanes[SMRING_REQUEST].stops[i].stats);
        add_channel(&r->sum.response, &r->lanes[SMRING_RESPONSE].stops[i].stats);
    }
    return &r->sum;
}

static const char *why_waits(const struct smring *r, enum smring_channel c, uint32_t i, tick now)
{
    const struct smring_stop *s = &r->lanes[c].stops[i], *to = &r->lanes[c].stops[smring_next_stop(r, c, i)];
    if (!s->queue.ring.count) return "nothing";
    if (smring_undecided(s)) return "its SM's mechanism";
    if (smring_queue_front(&s->queue)->ready > now) return "its last flit";
    return to->occupied >= r->params.queue ? "the next queue, which is full" : "the link";
}

void smring_explain(const struct smring *r, tick now, struct strbuf *out)
{
    static const char *const names[] = {"request", "response"};
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            const struct smring_stop *s = &r->lanes[c].stops[i];
            if (!s->queue.ring.count && !s->buffer.ring.count && !s->has_arrived) continue;
            strbuf_printf(
                out, "ring, %s channel at SM %u: queue %u of %u, %u wait to enter, head waits for %s%s\n",
                names[c], i, s->queue.ring.count, r->params.queue, s->buffer.ring.count,
                why_waits(r, (enum smring_channel)c, i, now),
                s->has_arrived ? "; its SM has not taken what came for it" : "");
        }
}
