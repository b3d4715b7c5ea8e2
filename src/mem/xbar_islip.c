/* xbar_islip.c: which input may send to which output: iSLIP (McKeown, IEEE/ACM ToN 7(2), 1999).
 *
 * A round has three steps. Request: each head of a virtual channel asks for its output (kept as masks by the
 * network). Grant: each free output picks the first asking input at or after its pointer. Accept: an input
 * with several grants takes the first output at or after its pointer. Pointers move one past the choice, and
 * only for grants accepted in the first round: that makes them drift apart, so that under load all ports are
 * busy, and a head that asks is served within `inputs` grants of its output.
 *
 * The cost is that of the outputs that somebody asks for, not of all pairs. */
#include "mem/xbar_net.h"

#define NO_OFFER UINT32_MAX

/* The input that the output grants, or `inputs`. */
static uint32_t islip_grant(const struct xbar_net *n, const struct xbar_output *o, tick now)
{
    uint32_t left = o->request_count;
    uint32_t word = o->grant_at / 64;
    uint64_t bits = o->requests[word] & ~0ull << (o->grant_at % 64);
    while (left) {
        while (!bits) {
            word = word + 1 == n->words ? 0 : word + 1;
            bits = o->requests[word];
        }
        uint32_t input = word * 64 + (uint32_t)__builtin_ctzll(bits);
        if (n->in[input].port_free <= now) return input;
        bits &= bits - 1;
        left--;
    }
    return n->inputs;
}

/* How far a port is from a pointer, going round. */
static uint32_t islip_distance(uint32_t port, uint32_t pointer, uint32_t ports)
{
    return port >= pointer ? port - pointer : port + ports - pointer;
}

static uint32_t islip_after(uint32_t port, uint32_t ports) { return port + 1 == ports ? 0 : port + 1; }

/* A packet of n flits takes the output's wires for n cycles, the switch's ports for n / their speedup. Of a reply of
 * several packets one goes; the others stay at the head, and ask again. */
static void islip_start(struct xbar_net *n, uint32_t input, uint32_t output, tick now)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_output *o = &n->out[output];
    struct xbar_vc *vc = xbar_vc_for(n, input, output);
    struct xbar_packet *head = xbar_ring_at(&vc->packets, 0), p;
    uint32_t step = head->step;
    uint32_t period = n->clock->period, speedup = n->params->input_speedup;
    assert(head->dst == output && head->ready <= now && o->free <= now && in->port_free <= now);
    n->stats->stall_cycles += (now - vc->head_since) / period;
    n->stats->output_busy_cycles += step;
    n->noted[input] = NOTE_LOOK; /* the channel may have waited for this room */
    vc->flits -= step;           /* they leave at least as fast as others come in */
    uint32_t drain = n->params->output_speedup;
    o->free = clock_after(n->clock, now, (step + drain - 1) / drain);
    o->sent = clock_after(n->clock, MAX(o->sent, now), step);
    in->port_free = clock_after(n->clock, now, (step + speedup - 1) / speedup);
    vc->head_since = in->port_free;
    head->sent = (uint16_t)(head->sent + step);
    if (head->sent < head->flits) return;
    p = xbar_ring_pop(&vc->packets);
    xbar_mask_clear(o->requests, input);
    if (!--o->request_count) xbar_mask_clear(n->asked, output);
    n->requests--;
    p.ready = clock_after(n->clock, o->sent, n->params->latency);
    xbar_eject(n, p);
    if (vc->packets.count) xbar_request(n, input, vc);
}

static void islip_offer(struct xbar_net *n, uint32_t input, uint32_t output, uint32_t *offered)
{
    struct xbar_input *in = &n->in[input];
    if (n->offer[input] == NO_OFFER) {
        n->offered[(*offered)++] = input;
        n->offer[input] = output;
    } else if (islip_distance(output, in->accept_at, n->outputs) <
               islip_distance(n->offer[input], in->accept_at, n->outputs))
        n->offer[input] = output;
}

static void islip_accept(struct xbar_net *n, uint32_t input, bool first_round, tick now)
{
    uint32_t output = n->offer[input];
    n->offer[input] = NO_OFFER;
    islip_start(n, input, output, now);
    if (!first_round) return;
    n->out[output].grant_at = islip_after(input, n->inputs);
    n->in[input].accept_at = islip_after(output, n->outputs);
}

static bool islip_is_open(const struct xbar_output *o, tick now)
{
    return o->request_count && o->free <= now && o->ejection.count < o->ejection.capacity;
}

void xbar_arbitrate(struct xbar_net *n, tick now)
{
    uint32_t open = 0;
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = n->asked[w]; m; m &= m - 1) {
            uint32_t o = w * 64 + (uint32_t)__builtin_ctzll(m);
            if (islip_is_open(&n->out[o], now)) n->open[open++] = o;
        }
    for (uint32_t round = 0; round < n->params->iterations && open; round++) {
        uint32_t offered = 0;
        for (uint32_t i = 0; i < open; i++) {
            uint32_t input = islip_grant(n, &n->out[n->open[i]], now);
            if (input < n->inputs) islip_offer(n, input, n->open[i], &offered);
        }
        if (!offered) return;
        for (uint32_t i = 0; i < offered; i++) islip_accept(n, n->offered[i], round == 0, now);
        uint32_t still = 0;
        for (uint32_t i = 0; i < open; i++)
            if (islip_is_open(&n->out[n->open[i]], now)) n->open[still++] = n->open[i];
        open = still;
    }
}
