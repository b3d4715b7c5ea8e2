/* xbar_islip.c: which input may send to which output: iSLIP (McKeown, IEEE/ACM ToN 7(2), 1999).
 *
 * A round has three steps. Request: each head of a virtual channel asks for its output (kept as masks by the
 * network). Grant: each free output picks the first asking input at or after its pointer. Accept: an input
 * with several grants takes the first output at or after its pointer. Pointers move one past the choice, and
 * only for grants accepted in the first round: that makes them drift apart, so that under load all ports are
 * busy, and a head that asks is served within `inputs` grants of its output.
 *
 * An input with one virtual channel asks for one output, so that every grant is accepted and a second round
 * finds nothing more: the free outputs are gone through once. The cost depends on the outputs that inputs ask
 * for, not on the number of pairs. */
#include "mem/xbar_eject.h"

#define NO_OFFER UINT32_MAX
#define NO_INPUT UINT32_MAX

/* Inputs of this word that ask for the output and whose port is free. */
XBAR_INLINE uint64_t islip_asking(const struct xbar_ports *p, uint64_t asks)
{
    return asks & ~(p->in_busy | p->granted);
}

/* The same without inputs that the output's gate holds back. */
static inline uint64_t islip_passing(const struct xbar_net *n, const struct xbar_output *o, uint32_t word)
{
    const uint64_t held_back = xbar_held_back(n, (uint32_t)(o - n->out), word);
    return islip_asking(&n->ports[word], o->asks[word]) & ~held_back;
}

/* The first input at or after the output's pointer that asks and whose port is free, or NO_INPUT. */
static inline uint32_t islip_grant(const struct xbar_net *n, const struct xbar_output *o)
{
    uint32_t first = o->grant_at, word = first / 64;
    uint64_t bits = islip_passing(n, o, word), later = bits & ~0ull << (first % 64);
    if (later) return word * 64 + (uint32_t)__builtin_ctzll(later);
    for (uint32_t i = 1; i < n->in_words; i++) {
        uint32_t w = word + i < n->in_words ? word + i : word + i - n->in_words;
        uint64_t more = islip_passing(n, o, w);
        if (more) return w * 64 + (uint32_t)__builtin_ctzll(more);
    }
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : NO_INPUT;
}

/* islip_grant for one word of inputs; the answer is a bit, 0: none. */
XBAR_INLINE uint64_t islip_grant_plain(const struct xbar_net *n, const struct xbar_output *o)
{
    uint64_t bits = islip_asking(n->ports, o->own_asks[0]), later = bits & ~0ull << (o->grant_at % 64);
    uint64_t any = later ? later : bits;
    return any & (0 - any);
}

/* The distance of a port from a pointer, with wrap-around. */
static uint32_t islip_distance(uint32_t port, uint32_t pointer, uint32_t ports)
{
    return port >= pointer ? port - pointer : port + ports - pointer;
}

static uint32_t islip_after(uint32_t port, uint32_t ports) { return port + 1 == ports ? 0 : port + 1; }

/* Cycles that flits take at `speedup` a cycle: their quotient, rounded up; exact for all that a packet can
 * have. */
static inline uint32_t islip_cycles(uint32_t flits, uint32_t speedup, uint32_t per_speedup)
{
    return (uint32_t)((uint64_t)(flits + speedup - 1) * per_speedup >> 31);
}

/* The ports of a grant, and their bits in the masks. */
struct islip_pair {
    uint32_t input, output;
    uint64_t in_bit, out_bit;
};

/* The whole packet at the head has passed the switch: the next one asks. */
XBAR_INLINE void islip_pass(struct xbar_net *n, struct xbar_ports *ports, struct islip_pair g,
                            struct xbar_vc *vc, bool plain)
{
    const struct xbar_packet *p = xbar_vc_pop(n, vc);
    struct xbar_output *o = &n->out[g.output];
    if (xbar_ask_no_more(o, g.input, g.in_bit, plain)) ports->asked &= ~g.out_bit;
    xbar_eject(n, ports, o, g.out_bit, p, (xbar_stamp)(o->sent + n->latency));
    if (vc->ring.count) xbar_ask(n, g.input, g.in_bit, xbar_vc_head(vc), plain);
}

/* One packet of a reply of several packets has passed. True: it was the last. */
static inline bool islip_pass_part(struct xbar_vc *vc, uint32_t step, uint32_t flits)
{
    vc->passed = (uint16_t)(vc->passed + step);
    if (vc->passed < flits) return false;
    vc->passed = 0;
    return true;
}

/* A packet of n flits takes the output's wires for n cycles, the switch's ports for n / their speedup. Of
 * a reply of several packets one goes; the others stay at the head, and ask again. ports: the output's. */
XBAR_INLINE void islip_start(struct xbar_net *n, struct xbar_ports *ports, struct islip_pair g, bool plain)
{
    struct xbar_input *in = &n->in[g.input];
    struct xbar_output *o = &n->out[g.output];
    struct xbar_ports *in_ports = xbar_ports_of(n, g.input, plain);
    struct xbar_vc *vc = xbar_vc_for(n, g.input, g.output, plain);
    const struct xbar_packet *head = xbar_vc_head(vc);
    const uint64_t cycle = n->cycle;
    uint32_t step = head->step, out_cycles = 1, in_cycles = 1;
    if (step > 1) {
        out_cycles = islip_cycles(step, n->output_speedup, n->per_output_speedup);
        in_cycles = islip_cycles(step, n->input_speedup, n->per_input_speedup);
    }
    debug_assert(head->dst == g.output && o->free <= cycle && in->port_free <= cycle);
    n->stats->stall_cycles += (xbar_stamp)cycle - vc->head_since;
    in_ports->granted |= g.in_bit;
    if (in->injection.ring.count) in_ports->look |= g.in_bit; /* the channel may have waited for this room */
    vc->flits = (uint16_t)(vc->flits - step); /* they leave at least as fast as others come in */
    o->sent = MAX(o->sent, cycle) + step;
    in->port_free = cycle + in_cycles;
    vc->head_since = (xbar_stamp)in->port_free;
    n->stats->output_busy_cycles += step;               /* not beside the other sum: see xbar_deliver_head */
    if (out_cycles > 1 || !xbar_has_one_vc(n, plain)) { /* else nothing asks for it before */
        o->free = cycle + out_cycles;
        ports->busy |= g.out_bit;
        xbar_plan(n, ports, EVENT_OUT_FREE, g.out_bit, out_cycles);
    }
    if (step == head->flits || islip_pass_part(vc, step, head->flits)) islip_pass(n, ports, g, vc, plain);
    if (in_cycles > 1 && (vc->ring.count || !xbar_has_one_vc(n, plain)))
        xbar_keep_input(n, in_ports, g.in_bit, in->port_free);
}

static inline void islip_one_word(struct xbar_net *n)
{
    for (uint64_t m = xbar_open(n->ports); m; m &= m - 1) {
        struct islip_pair g = {.output = (uint32_t)__builtin_ctzll(m), .out_bit = m & (0 - m)};
        struct xbar_output *o = &n->out[g.output];
        g.in_bit = islip_grant_plain(n, o);
        if (!g.in_bit) continue;
        g.input = (uint32_t)__builtin_ctzll(g.in_bit);
        o->grant_at = (uint16_t)(g.input + 1); /* beyond the last input the search wraps around */
        islip_start(n, n->ports, g, true);
    }
}

static void islip_start_any(struct xbar_net *n, uint32_t input, uint32_t output)
{
    struct islip_pair g = {input, output, xbar_bit(input), xbar_bit(output)};
    islip_start(n, xbar_ports_of(n, output, false), g, false);
}

static inline void islip_one_vc(struct xbar_net *n)
{
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = xbar_open(&n->ports[w]); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m);
            uint32_t input = islip_grant(n, &n->out[output]);
            if (input == NO_INPUT) continue;
            n->out[output].grant_at = (uint16_t)islip_after(input, n->inputs);
            islip_start_any(n, input, output);
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
    islip_start_any(n, input, output);
    if (!first_round) return;
    n->out[output].grant_at = (uint16_t)islip_after(input, n->inputs);
    n->accept_at[input] = islip_after(output, n->outputs);
}

/* True: something was granted. */
static bool islip_round(struct xbar_net *n, bool first_round)
{
    uint32_t offered = 0;
    for (uint32_t w = 0; w < n->out_words; w++)
        for (uint64_t m = xbar_open(&n->ports[w]); m; m &= m - 1) {
            uint32_t output = w * 64 + (uint32_t)__builtin_ctzll(m), input = islip_grant(n, &n->out[output]);
            if (input != NO_INPUT) islip_offer(n, input, output, &offered);
        }
    for (uint32_t i = 0; i < offered; i++) islip_accept(n, n->offered[i], first_round);
    return offered != 0;
}

COLD static void islip_many_vcs(struct xbar_net *n)
{
    for (uint32_t round = 0; round < n->params->iterations && islip_round(n, round == 0); round++) {}
}

void xbar_arbitrate_plain(struct xbar_net *n) { islip_one_word(n); }

void xbar_arbitrate(struct xbar_net *n)
{
    if (LIKELY(n->has_one_vc))
        islip_one_vc(n);
    else
        islip_many_vcs(n);
}
