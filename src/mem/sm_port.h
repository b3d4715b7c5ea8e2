/* sm_port.h: the SM's only way to the crossbar and back.
 *
 * The port owns the SM's ends of the two links; the L1's miss queue, which registers that leave the SM also
 * use; and a queue of the same depth for the small caches (instructions, constants, textures), which has
 * priority. In a cycle one reply comes in and one request goes out. A request carries the number of its
 * client; the port hands its reply to that client, which ends the request. Requests on the link name lines of
 * the L2, whatever the client's lines are (sm_port_lines.c).
 *
 * Invariants. (1) A reply is always taken when it may be: no client refuses one. (2) Requests of one queue
 * leave in the order in which they came. (3) The L2 is asked for exactly the sectors that a client asked for,
 * and the client gets them. */
#ifndef HEDDLE_SM_PORT_H
#define HEDDLE_SM_PORT_H

#include "mem/link.h"
#include "mem/req.h"
#include "mem/ring.h"

/* In req.client. */
enum sm_port_client {
    SM_PORT_L1,
    SM_PORT_INST,
    SM_PORT_CONST,
    SM_PORT_TEX,
    SM_PORT_SIDE,
    SM_PORT_CONTEXT,
    SM_PORT_CLIENTS
};

struct sm_port_handler {
    void *ctx;
    /* takes the reply and ends the request */
    void (*reply)(void *ctx, tick now, uint32_t req);
    /* called after one of the client's requests has left; may be NULL */
    void (*sent)(void *ctx, tick now);
    /* its requests are for lines of this size, a power of two */
    uint32_t line_bytes;
};

struct sm_port_setup {
    struct link *to_xbar, *from_xbar;
    const struct clock_domain *clock;
    struct req_pool *pool;
    /* depth of each of the two queues */
    uint32_t queue;
    /* cycles: l1.reply_step */
    uint32_t reply_step;
    /* the line size of the L2, a power of two */
    uint32_t line_bytes;
};

RING_TYPE(sm_port_queue, uint32_t)

/* Every cycle touches the first line of the host's cache; a request and a reply of the L1 touch the
 * second. */
struct sm_port {
    _Alignas(HOST_LINE) struct link *to_xbar;
    struct link *from_xbar;
    /* its period: reply_step; 0: none */
    struct clock_domain reply_clock;
    /* requests in both queues */
    uint32_t to_send;
    /* for l1_sleep.c: how many requests have left the L1's queue, modulo 2^31 */
    uint32_t sent : 31;
    /* for sm_port_sleep.h: the link is full, and says when it has room */
    uint32_t is_blocked : 1;
    /* the L1's miss queue */
    struct sm_port_queue misses;
    struct req_pool *pool;

    /* requests that are not answered, with those in the queues */
    uint32_t out;
    /* a client is told when one of its requests has left */
    bool tells_sent;
    /* mask of clients whose lines are not the L2's */
    uint8_t translated;
    /* sectors of `whole` that have not left */
    uint32_t whole_left;
    /* time in which a request waited in the queues; since when one waits (TICK_NEVER: none) */
    tick busy, busy_since;
    /* for the laws: sectors that reads of the clients asked for; sectors that came */
    uint64_t sectors_asked, sectors_got;
    /* the function that takes the replies to a client's requests: the client's handler, or that of
     * sm_port_lines.c, which calls the former */
    struct sm_port_taker {
        void *ctx;
        void (*reply)(void *ctx, tick now, uint32_t req);
    } takers[SM_PORT_CLIENTS];

    struct sm_port_handler clients[SM_PORT_CLIENTS];
    /* for the laws: bytes of writes and atomics */
    uint64_t bytes_sent;
    struct sm_port_queue others;
    uint64_t other_requests;
    /* ticks of a cycle of the core */
    uint32_t period;
    /* the line size of the L2 */
    uint32_t line_bytes;
    /* a request for several lines of the L2 whose parts are leaving */
    uint32_t whole;
};
_Static_assert(offsetof(struct sm_port, out) == HOST_LINE, "a cycle touches one line of the host's cache");
_Static_assert(offsetof(struct sm_port, takers[SM_PORT_L1 + 1]) == 2 * HOST_LINE,
               "what takes the L1's replies ends the second");

struct sm_port *sm_port_create(const struct sm_port_setup *s);
void sm_port_destroy(struct sm_port *p);
/* Sets the handler of replies to the client's requests. */
void sm_port_connect(struct sm_port *p, enum sm_port_client client, const struct sm_port_handler *h);

static inline uint32_t sm_port_room(const struct sm_port *p) /* in the L1's queue */
{
    return p->misses.ring.capacity - p->misses.ring.count;
}

/* Puts a request of the L1, or of a client that shares its queue, into that queue. There must be room. */
static inline void sm_port_send_beside(struct sm_port *p, enum sm_port_client client, uint32_t req)
{
    req_at(p->pool, req)->client = (uint8_t)client;
    sm_port_queue_push(&p->misses, req);
    p->to_send++;
    p->out++;
}
static inline void sm_port_send_miss(struct sm_port *p, uint32_t req)
{
    sm_port_send_beside(p, SM_PORT_L1, req);
}

/* Is there room for a request of a small cache? */
static inline bool sm_port_has_room(const struct sm_port *p) { return sm_port_queue_has_room(&p->others); }
/* Queues a request of a small cache. There must be room. */
void sm_port_send(struct sm_port *p, enum sm_port_client client, uint32_t req);

/* Called once a core cycle: takes a reply, if one may be taken, and hands it to its client. */
void sm_port_receive(struct sm_port *p, tick now);
/* Called once a core cycle: sends the oldest request, if there is one and the crossbar has room. */
void sm_port_forward(struct sm_port *p, tick now);

/* When the reply at the head of its link may be taken: at once or, with reply_step, at the first whole number
 * of steps after its request was made that is not before the reply. (The clocks of core and crossbar differ:
 * if replies were taken at once, the same way would take longer or shorter depending on the time from the
 * request to the crossbar's next edge.) TICK_NEVER: there is no reply. */
static inline tick sm_port_reply_at(const struct sm_port *p)
{
    const struct link *l = p->from_xbar;
    if (!p->reply_clock.period || !l->count) return link_next(l);
    tick born = req_at(p->pool, l->head_value)->born, passed = link_next(l) - born;
    const uint64_t steps = clock_cycles(&p->reply_clock, passed);
    return born + (steps + 1) * p->reply_clock.period;
}

/* sm_port_lines.c, for sm_port.c alone */
/* The request of a client whose lines are not the L2's leaves: returns the request to put into the link. */
uint32_t sm_port_name(struct sm_port *p, uint32_t req);
/* Returns the next part of p->whole. */
uint32_t sm_port_next_part(struct sm_port *p);
/* Handler of the translated clients; ctx is the port. */
void sm_port_reply_named(void *port, tick now, uint32_t req);

/* Returns the cycles in which a request waited in one of the queues. */
uint64_t sm_port_busy_cycles(const struct sm_port *p, tick now);

#endif
