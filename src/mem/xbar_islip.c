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
static inline uint32_t islip_grant(const struct xbar_net *n, uint32_t output)
{
    const uint64_t *asks = n->out[output].asks;
    uint32_t first = n->out[output].grant_at, word = first / 64;
    uint64_t bits = asks[word] & ~n->ports[word].in_busy, later = bits & ~0ull << (first % 64);
    if (LIKELY(n->words == 1)) {
        uint64_t any = later ? later : bits;
        return any ? (uint32_t)__builtin_ctzll(any) : n->inputs;
    }
    if (later) return word * 64 + (uint32_t)__builtin_ctzll(later);
    for (uint32_t i = 1; i < n->words; i++) {
        uint32_t w = word + i < n->words ? word + i : word + i - n->words;
        uint64_t more = asks[w] & ~n->ports[w].in_busy;
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

/* Cycles that flits take at `speedup` a cycle: their quotient, rounded up; exact for all that a packet can have. */
static inline uint32_t islip_cycles(uint32_t flits, uint32_t speedup, uint32_t per_speedup)
{
    return (uint32_t)((uint64_t)(flits + speedup - 1) * per_speedup >> 31);
}

/* All of the packet at the head is through the switch: the next one asks. */
static inline void islip_pass(struct xbar_net *n, struct xbar_ports *ports, uint32_t input, uint32_t output,
                              struct xbar_vc *vc)
{
    const struct xbar_packet *p = xbar_queue_pop(&vc->packets, n->vc_buffer);
    struct xbar_output *o = &n->out[output];
    vc->packets.passing = 0;
    o->asks[input / 64] &= ~xbar_bit(input);
    if (!--o->askers) ports->asked &= ~xbar_bit(output);
    xbar_eject(
        n, ports, output,
        &(struct xbar_arrival){
            .id = p->id, .taken = p->taken, .ready = (xbar_stamp)(o->sent + n->latency), .flits = p->flits});
    if (vc->packets.count) xbar_request(n, input, xbar_queue_head(&vc->packets));
}

/* A packet of n flits takes the output's wires for n cycles, the switch's ports for n / their speedup. Of a reply of
 * several packets one goes; the others stay at the head, and ask again. ports: the output's. */
static inline __attribute__((always_inline)) void islip_start(struct xbar_net *n, struct xbar_ports *ports,
                                                              uint32_t input, uint32_t output)
{
    struct xbar_input *in = &n->in[input];
    struct xbar_output *o = &n->out[output];
    struct xbar_ports *in_ports = xbar_ports_of(n, input);
    struct xbar_vc *vc = xbar_vc_for(n, input, output);
    const struct xbar_packet *head = xbar_queue_head(&vc->packets);
    const uint64_t cycle = n->cycle;
    uint32_t step = head->step;
    uint32_t out_cycles = islip_cycles(step, n->output_speedup, n->per_output_speedup),
             in_cycles = islip_cycles(step, n->input_speedup, n->per_input_speedup);
    assert(head->dst == output && o->free <= cycle && in->port_free <= cycle);
    n->stats->stall_cycles += (xbar_stamp)cycle - vc->head_since;
    n->stats->output_busy_cycles += step;
    if (in->injection.count)
        in_ports->look |= xbar_bit(input); /* the channel may have waited for this room */
    vc->packets.flits =
        (uint16_t)(vc->packets.flits - step); /* they leave at least as fast as others come in */
    o->free = cycle + out_cycles;
    o->sent = MAX(o->sent, cycle) + step;
    in->port_free = cycle + in_cycles;
    if (out_cycles > 1 || !n->has_one_vc) { /* else it is not looked at again before */
        ports->busy |= xbar_bit(output);
        xbar_plan(n, ports, EVENT_OUT_FREE, output, out_cycles);
    }
    vc->head_since = (xbar_stamp)in->port_free;
    vc->packets.passing = (uint16_t)(vc->packets.passing + step);
    if (vc->packets.passing == head->flits) islip_pass(n, ports, input, output, vc);
    if (!vc->packets.count && n->has_one_vc) return;
    if (in_cycles > 1) {
        xbar_keep_input(n, in_ports, input, in->port_free);
    } else {
        in_ports->in_busy |= xbar_bit(input);
        in_ports->in_soon |= xbar_bit(input);
    }
}

static inline void islip_one_vc(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->words; w++)
        for (uint64_t m = xbar_open(&n->ports[w]); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m), input = islip_grant(n, output);
            if (input == n->inputs) continue;
            n->out[output].grant_at = (uint16_t)islip_after(input, n->inputs);
            islip_start(n, &n->ports[w], input, output);
        }
}

/* ---- several virtual channels ---- */
static void islip_offer(struct xbar_net *n, uint32_t input, uint32_t output, uint32_t *offered)
{
    uint32_t first = n->accept_at[input];
    if (n->offer[input] == NO_OFFER) {
        n->offered[(*offered)++] = input;
        n->offer[input] = output;
    } else if (islip_distance(output, first, n->outputs) < islip_distance(n->offer[input], first, n->outputs))
        n->offer[input] = output;
}

static void islip_accept(struct xbar_net *n, uint32_t input, bool first_round)
{
    uint32_t output = n->offer[input];
    n->offer[input] = NO_OFFER;
    islip_start(n, xbar_ports_of(n, output), input, output);
    if (!first_round) return;
    n->out[output].grant_at = (uint16_t)islip_after(input, n->inputs);
    n->accept_at[input] = islip_after(output, n->outputs);
}

/* True: something was granted. */
static bool islip_round(struct xbar_net *n, bool first_round)
{
    uint32_t offered = 0;
    for (uint32_t w = 0; w < n->words; w++)
        for (uint64_t m = xbar_open(&n->ports[w]); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m), input = islip_grant(n, output);
            if (input < n->inputs) islip_offer(n, input, output, &offered);
        }
    for (uint32_t i = 0; i < offered; i++) islip_accept(n, n->offered[i], first_round);
    return offered != 0;
}

COLD static void islip_many_vcs(struct xbar_net *n)
{
    for (uint32_t round = 0; round < n->params->iterations && islip_round(n, round == 0); round++) {}
}

void xbar_arbitrate(struct xbar_net *n)
{
    if (LIKELY(n->has_one_vc))
        islip_one_vc(n);
    else
        islip_many_vcs(n);
    for (uint32_t w = 0; w < n->words; w++) {
        n->ports[w].in_busy &= ~n->ports[w].in_soon;
        n->ports[w].in_soon = 0;
    }
}
