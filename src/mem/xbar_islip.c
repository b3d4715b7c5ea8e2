/* xbar_islip.c: which input may send to which output: iSLIP (McKeown, IEEE/ACM ToN 7(2), 1999).
 *
 * A round has three steps. Request: each head of a virtual channel asks for its output (kept as masks by the
 * network). Grant: each free output picks the first asking input at or after its pointer. Accept: an input
 * with several grants takes the first output at or after its pointer. Pointers move one past the choice, and
 * only for grants accepted in the first round: that makes them drift apart, so that under load all ports are
 * busy, and a head that asks is served within `inputs` grants of its output.
 *
 * An input with one virtual channel asks for one output, so that every grant is accepted and a second round
 * finds nothing more: the free outputs are gone through once. The cost is that of the outputs that somebody
 * asks for, not of all pairs. */
#include "mem/xbar_net.h"

#define NO_OFFER UINT32_MAX

/* The first input at or after the output's pointer that asks and whose port is free, or `inputs`. */
static uint32_t islip_grant(const struct xbar_net *n, uint32_t output)
{
    const uint64_t *asks = n->requests_of + (size_t)output * n->words;
    uint32_t first = n->out[output].grant_at, word = first / 64;
    uint64_t bits = asks[word] & ~n->in_busy[word], later = bits & ~0ull << (first % 64);
    if (later) return word * 64 + (uint32_t)__builtin_ctzll(later);
    for (uint32_t i = 1; i < n->words; i++) {
        uint32_t w = word + i < n->words ? word + i : word + i - n->words;
        uint64_t more = asks[w] & ~n->in_busy[w];
        if (more) return w * 64 + (uint32_t)__builtin_ctzll(more);
    }
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : n->inputs;
}

/* How far a port is from a pointer, going round. */
static uint32_t islip_distance(uint32_t port, uint32_t pointer, uint32_t ports)
{
    return port >= pointer ? port - pointer : port + ports - pointer;
}

static uint32_t islip_after(uint32_t port, uint32_t ports) { return port + 1 == ports ? 0 : port + 1; }

/* Cycles that flits take at `speedup` a cycle. */
static inline uint32_t islip_cycles(uint32_t flits, uint32_t speedup)
{
    if (speedup == 1) return flits;
    return speedup == 2 ? (flits + 1) / 2 : (flits + speedup - 1) / speedup; /* without a division, mostly */
}

/* All of the packet at the head is through the switch: the next one asks. */
static void islip_pass(struct xbar_net *n, uint32_t input, uint32_t output, struct xbar_vc *vc)
{
    struct xbar_packet *p = xbar_ring_pop(&vc->packets);
    uint64_t *asks = n->requests_of + (size_t)output * n->words, left = 0;
    xbar_mask_clear(asks, input);
    for (uint32_t w = 0; w < n->words; w++) left |= asks[w];
    if (!left) xbar_mask_clear(n->asked, output);
    p->ready = n->out[output].sent + n->params->latency;
    xbar_eject(n, p);
    if (vc->packets.count) xbar_request(n, input, vc);
}

/* A packet of n flits takes the output's wires for n cycles, the switch's ports for n / their speedup. Of a reply of
 * several packets one goes; the others stay at the head, and ask again. */
static void islip_start(struct xbar_net *n, uint32_t input, uint32_t output)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_output *o = &n->out[output];
    struct xbar_vc *vc = xbar_vc_for(n, input, output);
    struct xbar_packet *head = xbar_ring_head(&vc->packets);
    uint32_t step = head->step;
    assert(head->dst == output && head->ready <= n->cycle && o->free <= n->cycle &&
           in->port_free <= n->cycle);
    n->stats->stall_cycles += n->cycle - vc->head_since;
    n->stats->output_busy_cycles += step;
    if (in->injection.count) xbar_mask_set(n->look, input); /* the channel may have waited for this room */
    vc->flits -= step; /* they leave at least as fast as others come in */
    o->free = n->cycle + islip_cycles(step, n->params->output_speedup);
    o->sent = MAX(o->sent, n->cycle) + step;
    in->port_free = n->cycle + islip_cycles(step, n->params->input_speedup);
    if (o->free > n->cycle + 1 || !n->has_one_vc) { /* else it is not looked at again before */
        xbar_mask_set(n->busy, output);
        xbar_plan(n, EVENT_OUT_FREE, output, o->free);
    }
    vc->head_since = in->port_free;
    head->sent = (uint16_t)(head->sent + step);
    if (head->sent == head->flits) islip_pass(n, input, output, vc);
    if (!vc->packets.count && n->has_one_vc) return;
    if (in->port_free > n->cycle + 1) {
        xbar_keep_input(n, input);
    } else {
        xbar_mask_set(n->in_busy, input);
        xbar_mask_set(n->in_soon, input);
    }
}

/* Outputs that somebody asks for and that have room. */
static inline uint64_t islip_open(const struct xbar_net *n, uint32_t word)
{
    return n->asked[word] & ~n->busy[word] & ~n->full[word];
}

static void islip_one_vc(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = islip_open(n, w); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m), input = islip_grant(n, output);
            if (input == n->inputs) continue;
            n->out[output].grant_at = islip_after(input, n->inputs);
            islip_start(n, input, output);
        }
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

static void islip_accept(struct xbar_net *n, uint32_t input, bool first_round)
{
    uint32_t output = n->offer[input];
    n->offer[input] = NO_OFFER;
    islip_start(n, input, output);
    if (!first_round) return;
    n->out[output].grant_at = islip_after(input, n->inputs);
    n->in[input].accept_at = islip_after(output, n->outputs);
}

/* True: something was granted. */
static bool islip_round(struct xbar_net *n, bool first_round)
{
    uint32_t offered = 0;
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = islip_open(n, w); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m), input = islip_grant(n, output);
            if (input < n->inputs) islip_offer(n, input, output, &offered);
        }
    for (uint32_t i = 0; i < offered; i++) islip_accept(n, n->offered[i], first_round);
    return offered != 0;
}

void xbar_arbitrate(struct xbar_net *n)
{
    if (n->has_one_vc)
        islip_one_vc(n);
    else
        for (uint32_t round = 0; round < n->params->iterations && islip_round(n, round == 0); round++) {}
    for (uint32_t w = 0; w < n->words; w++) {
        n->in_busy[w] &= ~n->in_soon[w];
        n->in_soon[w] = 0;
    }
}
