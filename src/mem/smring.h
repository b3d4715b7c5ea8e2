/* smring.h: a ring between the SMs: a request channel from each SM to the next one and a response channel the
 * other way round, on the core clock. It is there only where a mechanism uses it.
 *
 * At each SM a channel has a bounded *queue*, which all that passes goes through. A message is for one SM,
 * for all, or for all that hold a line. What is not for one SM is looked at by every SM on the way when it
 * is at the head of the queue there; the SM takes it or lets it pass, and it comes back to the SM that sent
 * it. An SM that does not hold the line need not look. What is for one SM hops on by itself, and does not
 * enter that SM's queue: it is seen when it has come (thesis 4.4.5, step 7).
 *
 * A hop takes `latency` cycles and one more for each flit behind the first; the next message follows when the
 * last flit has left, and a message goes on when it is complete (store and forward).
 *
 * Invariants. (1) What an SM sees in a cycle is what the cycle before left, and what it does counts from the
 * end of the cycle on: within a cycle the order of SMs does not matter, nor does it matter whether
 * smring_tick of an earlier cycle was skipped because nothing could move. (2) The bubble rule: a new message
 * needs two free slots of the queue, one that passes needs one. So a channel is never full, and its messages
 * move as long as SMs take or pass what they see. (3) Room that a message leaves is used from the next cycle
 * on. */
#ifndef HEDDLE_SMRING_H
#define HEDDLE_SMRING_H

#include "base/strbuf.h"
#include "base/tick.h"
#include "config/param.h"
#include "stats/stat.h"

enum smring_channel { SMRING_REQUEST, SMRING_RESPONSE, SMRING_CHANNELS };

struct smring_params {
    /* cycles of a hop, of a message of one flit */
    uint32_t latency;
    /* bytes of a flit */
    uint32_t request_bytes, response_bytes;
    /* messages in a queue */
    uint32_t queue;
    /* new messages that wait at an SM for room in its queue, behind those that pass; 0: a new one goes
     * straight into the queue, before those that pass */
    uint32_t request_buffer, response_buffer;
};
extern const struct param_row smring_rows[];
extern const struct stat_row smring_stat_rows[];

struct smring_channel_stats {
    /* messages that SMs have sent, and taken */
    uint64_t messages, taken;
    uint64_t hops, flits;
    /* new messages that were refused for lack of room */
    uint64_t refused;
    /* cycles that messages waited, complete, to leave a queue; that new ones waited in a buffer */
    uint64_t wait_cycles, buffer_cycles;
    /* most messages in one queue */
    uint64_t queue_max;
};
struct smring_stats {
    struct smring_channel_stats request, response;
};

/* For all SMs on the way. For those whose L1 holds the line words[0]: others need not look at it. */
#define SMRING_ALL     UINT32_MAX
#define SMRING_HOLDERS (UINT32_MAX - 1)
enum { SMRING_WORDS = 4 };
struct smring_message {
    uint64_t words[SMRING_WORDS];
    uint32_t bytes;
    /* an SM other than the sender, SMRING_ALL or SMRING_HOLDERS */
    uint32_t to;
    /* links that it has travelled: 0 when it is pushed */
    uint32_t hops;
};

struct smring;
struct smring *smring_create(const struct smring_params *p, uint32_t sms, const struct clock_domain *core);
void smring_destroy(struct smring *r);

/* ---- what an SM does in its cycle; it touches its own stops of the ring alone ---- */

/* False: there is no room for a new message. */
bool smring_push(struct smring *r, uint32_t sm, enum smring_channel c, tick now,
                 const struct smring_message *m);
/* The message that the SM sees, or NULL. It does not see a message again that it has let pass. */
const struct smring_message *smring_peek(const struct smring *r, uint32_t sm, enum smring_channel c,
                                         tick now);
/* Takes the message that smring_peek shows. */
void smring_pop(struct smring *r, uint32_t sm, enum smring_channel c, tick now);
/* Lets it go on to the next SM, when there is room. Only what is for all. */
void smring_pass(struct smring *r, uint32_t sm, enum smring_channel c);
/* When the SM next sees a message, as of the end of the newest cycle; TICK_NEVER: no message is on its way to
 * it. */
tick smring_next(const struct smring *r, uint32_t sm);

/* ---- the machine ---- */

/* Moves messages at the end of a cycle, after all SMs have run it. */
void smring_tick(struct smring *r, tick now);
/* The next time at which a message can move by itself, or an SM sees a message. */
tick smring_wake(const struct smring *r);
/* Adds the SMs that see a message at `now` to a mask. False: there are none. */
bool smring_find_seeing(const struct smring *r, tick now, uint64_t *sms);
/* The message that an SM sees, if it is for holders of a line, comes from another SM and is the only one that
 * the SM sees. If the L1 does not hold that line, the machine may let it pass before the SM runs its
 * cycle. */
const struct smring_message *smring_asks(const struct smring *r, uint32_t sm, enum smring_channel c,
                                         tick now);
/* The machine lets the message that smring_asks shows pass, as an SM does by smring_pass. */
void smring_let_pass(struct smring *r, uint32_t sm, enum smring_channel c);
bool smring_idle(const struct smring *r);
void *smring_stats(struct smring *r);
/* Messages in the ring: found in its queues, and sent but not taken. Both must be equal. */
uint64_t smring_held(const struct smring *r);
uint64_t smring_open(const struct smring *r);
/* Who waits for whom, for the report of a stuck machine. */
void smring_explain(const struct smring *r, tick now, struct strbuf *out);

#endif
