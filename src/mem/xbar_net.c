/* xbar_net.c: one network of the crossbar, flit by flit in time but packet by packet in work.
 *
 *   link -> injection buffer -> channel -> virtual channels -> switch -> wires -> ejection buffer -> link
 *
 * The single-stage "fly" of GPGPU-Sim's Fermi (BookSim): an input's channel carries one flit a cycle, so does
 * an output. The steps of a cycle run from the last to the first, so that room made by one is used by the one
 * before.
 *
 * Invariants. (1) An output sends one flit a cycle, a packet without a gap (wormhole: a packet that has begun
 * ends); with output_speedup 1 it takes nothing else from the switch meanwhile. (2) An input takes at most one flit a cycle out of its injection buffer. (3)
 * Packets of one input to one output keep their order: the virtual channel is chosen by the output. (4) A
 * packet that is longer than a buffer may enter it when it is empty; otherwise flits in a buffer never exceed
 * its size. (5) All times are derived from events; a tick in which nothing can happen changes nothing.
 *
 * Flits are not moved one at a time: behind a granted packet its flits leave the buffer one a cycle and
 * others come in at most as fast, so its room counts as free at the grant.
 *
 * Left out: credit return time, and more than one packet on an input's channel. The infinite network keeps
 * the time of an idle one for each packet, and lets any number through at once. */
#include "mem/xbar_net.h"

enum { INFINITE_PACKETS = 4096 }; /* of an output: more than the machine's links ever hold */

static void xbar_ring_init(struct xbar_ring *r, uint32_t capacity)
{
    *r = (struct xbar_ring){.at = mem_zalloc(sizeof(struct xbar_packet) * capacity), .capacity = capacity};
}

static void xbar_input_init(struct xbar_input *in, const struct xbar_params *p)
{
    xbar_ring_init(&in->injection, p->injection);
    in->vcs = mem_zalloc(sizeof(struct xbar_vc) * p->vcs);
    for (uint32_t v = 0; v < p->vcs; v++) xbar_ring_init(&in->vcs[v].packets, p->vc_buffer);
}

static struct link **xbar_copy_links(struct link **links, uint32_t count)
{
    struct link **copy = mem_alloc(sizeof *copy * count);
    memcpy(copy, links, sizeof *copy * count);
    return copy;
}

void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats)
{
    *n = (struct xbar_net){.params = p,
                           .clock = clock,
                           .pool = pool,
                           .is_reply = is_reply,
                           .flit_bytes = is_reply ? p->reply_flit : p->request_flit,
                           .inputs = inputs,
                           .outputs = outputs,
                           .words = (inputs + 63) / 64,
                           .out_words = (outputs + 63) / 64,
                           .in = mem_zalloc(sizeof(struct xbar_input) * inputs),
                           .out = mem_zalloc(sizeof(struct xbar_output) * outputs),
                           .from = xbar_copy_links(from, inputs),
                           .to = xbar_copy_links(to, outputs),
                           .stats = stats,
                           .offer = mem_alloc(sizeof(uint32_t) * inputs),
                           .offered = mem_alloc(sizeof(uint32_t) * inputs),
                           .open = mem_alloc(sizeof(uint32_t) * outputs),
                           .ejecting = mem_zalloc(sizeof(uint64_t) * ((outputs + 63) / 64)),
                           .asked = mem_zalloc(sizeof(uint64_t) * ((outputs + 63) / 64)),
                           .noted = mem_zalloc(inputs + NOTE_WORD),
                           .until = mem_zalloc(sizeof(tick) * inputs)};
    for (uint32_t i = 0; i < inputs; i++) {
        xbar_input_init(&n->in[i], p);
        n->offer[i] = UINT32_MAX;
        n->noted[i] = NOTE_LOOK; /* the link may hold something already */
    }
    for (uint32_t o = 0; o < outputs; o++) {
        xbar_ring_init(&n->out[o].ejection, p->infinite ? INFINITE_PACKETS : p->ejection);
        n->out[o].requests = mem_zalloc(sizeof(uint64_t) * n->words);
    }
}

void xbar_net_take_notes(struct xbar_net *n)
{
    for (uint32_t i = 0; i < n->inputs; i++) n->from[i]->consumer_note = &n->noted[i];
}

void xbar_net_free(struct xbar_net *n)
{
    for (uint32_t i = 0; i < n->inputs; i++) {
        free(n->in[i].injection.at);
        for (uint32_t v = 0; v < n->params->vcs; v++) free(n->in[i].vcs[v].packets.at);
        free(n->in[i].vcs);
    }
    for (uint32_t o = 0; o < n->outputs; o++) {
        free(n->out[o].ejection.at);
        free(n->out[o].requests);
    }
    free(n->from);
    free(n->to);
    free(n->in);
    free(n->out);
    free(n->offer);
    free(n->offered);
    free(n->open);
    free(n->ejecting);
    free(n->asked);
    free(n->noted);
    free(n->until);
}

static uint32_t xbar_packet_bytes(const struct xbar_net *n, const struct req *r)
{
    uint32_t header = n->params->header;
    switch ((enum req_kind)r->kind) {
    case REQ_READ: return n->is_reply ? header + 32 * (uint32_t)__builtin_popcount(r->sectors) : header;
    case REQ_WRITE: return n->is_reply ? header : header + r->write_bytes;
    case REQ_ATOMIC: return header + r->write_bytes;
    }
    UNREACHABLE("a request of no kind");
}

static struct xbar_packet xbar_packet_of(const struct xbar_net *n, uint32_t id, tick now)
{
    const struct req *r = req_at(n->pool, id);
    uint32_t bytes = xbar_packet_bytes(n, r), header = n->params->header, unit = n->params->reply_data;
    uint32_t parts = 1;
    if (n->is_reply && r->kind == REQ_READ && unit && bytes > header + unit) {
        parts = (bytes - header + unit - 1) / unit;
        bytes = header + unit;
    }
    uint32_t step = MAX(1u, (bytes + n->flit_bytes - 1) / n->flit_bytes), flits = step * parts;
    uint16_t dst = n->is_reply ? r->sm : r->slice;
    assert(dst < n->outputs && flits <= UINT16_MAX);
    return (struct xbar_packet){
        .id = id, .dst = dst, .flits = (uint16_t)flits, .step = (uint16_t)step, .taken = now, .ready = now};
}

void xbar_request(struct xbar_net *n, uint32_t input, struct xbar_vc *vc)
{
    uint32_t dst = xbar_ring_at(&vc->packets, 0)->dst;
    struct xbar_output *o = &n->out[dst];
    assert(!(o->requests[input / 64] >> (input % 64) & 1));
    xbar_mask_set(o->requests, input);
    xbar_mask_set(n->asked, dst);
    o->request_count++;
    n->requests++;
}

/* ---- from the ejection buffers into the links: one packet a cycle ---- */
static void xbar_deliver(struct xbar_net *n, uint32_t output, tick now, tick *wake)
{
    struct xbar_ring *r = &n->out[output].ejection;
    while (r->count) {
        struct xbar_packet *p = xbar_ring_at(r, 0);
        if (p->ready > now || !link_can_push(n->to[output], now)) return; /* the link wakes us */
        n->stats->packets++;
        n->stats->flits += p->flits;
        n->stats->eject_wait_cycles += (now - p->ready) / n->clock->period;
        n->stats->latency_cycles += (now - p->taken) / n->clock->period;
        link_push(n->to[output], now, p->id);
        xbar_ring_pop(r);
        if (!r->count) xbar_mask_clear(n->ejecting, output);
        n->packets--;
        if (n->params->infinite) continue;
        if (r->count) wake_at(wake, MAX(now + n->clock->period, xbar_ring_at(r, 0)->ready));
        return;
    }
}

/* ---- from the links into the injection buffers, and over the channel: at most one flit a cycle ---- */
static bool xbar_has_room(uint32_t used, uint32_t size, uint32_t flits)
{
    return used == 0 || used + flits <= size;
}

static void xbar_start_channel(struct xbar_net *n, uint32_t input, tick now)
{
    struct xbar_input *in = &n->in[input];
    if (!in->injection.count || in->channel_free > now) return;
    struct xbar_packet *first = xbar_ring_at(&in->injection, 0);
    struct xbar_vc *vc = xbar_vc_for(n, input, first->dst);
    if (vc->packets.count == vc->packets.capacity ||
        !xbar_has_room(vc->flits, n->params->vc_buffer, first->flits))
        return;
    struct xbar_packet p = xbar_ring_pop(&in->injection);
    p.ready = now + n->clock->period;
    vc->flits += p.flits;
    in->channel_flits = p.flits;
    in->channel_free = clock_after(n->clock, now, p.flits);
    xbar_ring_push(&vc->packets, p);
    if (vc->packets.count > 1) return;
    vc->head_since = MAX(p.ready, in->port_free);
    xbar_request(n, input, vc);
}

static bool xbar_fits(const struct xbar_net *n, const struct xbar_input *in, uint32_t flits)
{
    return in->injection.count < in->injection.capacity &&
           xbar_has_room(in->flits, n->params->injection, flits);
}

/* What is to be done for an input next, and when: by itself at `until`, or by a push or a grant. */
static void xbar_note_input(struct xbar_net *n, uint32_t input, tick until)
{
    const struct xbar_input *in = &n->in[input];
    const struct link *from = n->from[input];
    n->until[input] = until;
    if (!from->consumer_note)
        n->noted[input] = NOTE_LOOK;
    else
        n->noted[input] =
            in->channel_flits || in->injection.count || from->count ? NOTE_SLEEPS : NOTE_NOTHING;
}

/* Returns the time at which there is something to do again, if nothing else happens. */
static tick xbar_inject(struct xbar_net *n, uint32_t input, tick now)
{
    struct xbar_input *in = &n->in[input];
    struct link *from = n->from[input];
    tick next = now + n->clock->period, until = TICK_NEVER;
    uint32_t id;
    if (in->channel_flits && in->channel_free <= now) {
        in->flits -= in->channel_flits;
        in->channel_flits = 0;
    }
    bool is_blocked =
        in->waiting && !xbar_fits(n, in, in->waiting); /* until what is on the channel has passed */
    if (!is_blocked && link_peek(from, now, &id)) {
        struct xbar_packet p = xbar_packet_of(n, id, now);
        in->waiting = p.flits;
        if (xbar_fits(n, in, p.flits)) {
            in->waiting = 0;
            link_pop(from, now);
            xbar_ring_push(&in->injection, p);
            in->flits += p.flits;
            n->packets++;
            wake_at(&until, MAX(next, link_next(from)));
        }
    } else if (!is_blocked)
        wake_at(&until, link_next(from));
    xbar_start_channel(n, input, now);
    if (in->channel_flits) wake_at(&until, in->channel_free);
    return until;
}

/* ---- the infinite network: each packet takes the time of an idle network ---- */
static void xbar_insert_by_time(struct xbar_net *n, struct xbar_packet p)
{
    xbar_eject(n, p);
    struct xbar_ring *r = &n->out[p.dst].ejection;
    uint32_t i = r->count - 1;
    for (; i && xbar_ring_at(r, i - 1)->ready > p.ready; i--) *xbar_ring_at(r, i) = *xbar_ring_at(r, i - 1);
    *xbar_ring_at(r, i) = p;
}

static tick xbar_inject_all(struct xbar_net *n, uint32_t input, tick now)
{
    struct link *from = n->from[input];
    uint32_t id;
    while (link_peek(from, now, &id)) {
        struct xbar_packet p = xbar_packet_of(n, id, now);
        const struct xbar_ring *to = &n->out[p.dst].ejection;
        if (to->count == to->capacity) return now + n->clock->period; /* room comes with a delivery */
        link_pop(from, now);
        p.ready = clock_after(n->clock, now, 1 + p.flits + n->params->latency);
        xbar_insert_by_time(n, p);
        n->packets++;
    }
    return link_next(from);
}

/* When the next packet is complete at an output, or the next head could be granted. Heads without room in
 * their ejection buffer wait for a delivery. */
static void xbar_wake_for_output(const struct xbar_net *n, uint32_t o, tick now, tick *wake)
{
    const struct xbar_output *out = &n->out[o];
    const struct xbar_ring *r = &out->ejection;
    if (r->count && xbar_ring_at(r, 0)->ready > now) wake_at(wake, xbar_ring_at(r, 0)->ready);
    if (out->request_count && r->count < r->capacity) wake_at(wake, MAX(now + n->clock->period, out->free));
}

static void xbar_wake_for_outputs(const struct xbar_net *n, tick now, tick *wake)
{
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = n->ejecting[w] | n->asked[w]; m; m &= m - 1)
            xbar_wake_for_output(n, w * 64 + (uint32_t)__builtin_ctzll(m), now, wake);
}

static void xbar_deliver_all(struct xbar_net *n, tick now, tick *wake)
{
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = n->ejecting[w]; m; m &= m - 1)
            xbar_deliver(n, w * 64 + (uint32_t)__builtin_ctzll(m), now, wake);
}

static void xbar_look_at_input(struct xbar_net *n, uint32_t input, tick now)
{
    tick until = n->params->infinite ? xbar_inject_all(n, input, now) : xbar_inject(n, input, now);
    xbar_note_input(n, input, until);
}

/* A port that nobody has pushed to, and that holds nothing, costs an eighth of a look. */
static void xbar_inject_noted(struct xbar_net *n, tick now, tick *wake)
{
    for (uint32_t first = 0; first < n->inputs; first += NOTE_WORD) {
        uint64_t notes;
        memcpy(&notes, n->noted + first, sizeof notes);
        if (!notes) continue;
        for (uint32_t i = first; i < first + NOTE_WORD; i++) {
            if (n->noted[i] == NOTE_NOTHING) continue;
            if (n->noted[i] == NOTE_LOOK || n->until[i] <= now) xbar_look_at_input(n, i, now);
            wake_at(wake, n->until[i]);
        }
    }
}

void xbar_net_tick(struct xbar_net *n, tick now, tick *wake)
{
    xbar_deliver_all(n, now, wake);
    if (n->requests) xbar_arbitrate(n, now);
    xbar_inject_noted(n, now, wake);
    xbar_wake_for_outputs(n, now, wake);
}

static void xbar_explain_packet(const struct xbar_net *n, const char *where, uint32_t port,
                                const struct xbar_packet *p, tick now, struct strbuf *out)
{
    strbuf_printf(out, "  %s network, %s %u: request %u (%u flits) for port %u, %llu cycles here\n",
                  n->is_reply ? "reply" : "request", where, port, p->id, p->flits, p->dst,
                  (unsigned long long)((now - p->taken) / n->clock->period));
}

void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out)
{
    for (uint32_t o = 0; o < n->outputs; o++) {
        const struct xbar_ring *r = &n->out[o].ejection;
        if (!r->count) continue;
        xbar_explain_packet(n, "output", o, xbar_ring_at(r, 0), now, out);
        if (xbar_ring_at(r, 0)->ready <= now)
            strbuf_printf(out, "    waits for room in %s\n", n->to[o]->name);
    }
    for (uint32_t i = 0; i < n->inputs; i++) {
        for (uint32_t v = 0; v < n->params->vcs; v++)
            if (n->in[i].vcs[v].packets.count)
                xbar_explain_packet(n, "input", i, xbar_ring_at(&n->in[i].vcs[v].packets, 0), now, out);
        if (n->in[i].injection.count)
            xbar_explain_packet(n, "injection", i, xbar_ring_at(&n->in[i].injection, 0), now, out);
    }
}
