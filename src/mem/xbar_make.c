/* xbar_make.c: makes a network of the crossbar, joins it to its links, frees it, and reports what it holds
 * when a machine is stuck. */
#include "mem/xbar_notes.h"

#include "base/hugepage.h"
#include "mem/link_ahead.h"

/* Packets at an output of the infinite network: more than the links of a machine ever hold. */
enum { INFINITE_PACKETS = 4096 };

static struct xbar_packet *xbar_make_packets(uint32_t count)
{
    return mem_zalloc_huge(sizeof(struct xbar_packet) * count);
}

static struct xbar_entries *xbar_make_entries(uint32_t count)
{
    return mem_zalloc_huge(sizeof(struct xbar_entries) + sizeof(struct xbar_packet) * count);
}

static void xbar_make_sizes(struct xbar_net *n)
{
    enum { SECTOR_BYTES = 32 };
    for (uint32_t i = 0; i <= SECTORS_MAX; i++)
        n->read_sizes[i] = xbar_size_of(n, SECTOR_BYTES * i, n->params->reply_data);
}

static void xbar_make_inputs(struct xbar_net *n, struct link **from)
{
    n->in = mem_zalloc_huge(sizeof *n->in * n->inputs);
    for (uint32_t i = 0; i < n->inputs; i++) {
        struct xbar_entries *entries = xbar_make_entries(n->injection_wrap + 1u);
        n->in[i] = (struct xbar_input){.from = from[i], .injection.entries = entries};
        if (n->has_one_vc) n->in[i].vc.items = xbar_make_packets(n->vc_wrap + 1u);
        n->pushed[i] = 1; /* the link may hold something already */
    }
}

static void xbar_make_vcs(struct xbar_net *n)
{
    uint32_t count = n->inputs * n->params->vcs;
    n->vcs = mem_zalloc_huge(sizeof *n->vcs * count);
    for (uint32_t i = 0; i < count; i++) n->vcs[i].items = xbar_make_packets(n->vc_wrap + 1u);
    n->accept_at = mem_zalloc_huge(sizeof *n->accept_at * n->inputs);
    n->offered = mem_zalloc_huge(sizeof *n->offered * n->inputs);
    n->offer = mem_zalloc_huge(sizeof *n->offer * n->inputs);
    for (uint32_t i = 0; i < n->inputs; i++) n->offer[i] = UINT32_MAX;
}

static void xbar_make_outputs(struct xbar_net *n, struct link **to)
{
    n->out = mem_zalloc_huge(sizeof *n->out * n->outputs);
    const bool own = n->words <= ARRAY_LEN(n->out->own_asks);
    n->requests_of = own ? NULL : mem_zalloc_huge(sizeof *n->requests_of * n->words * n->outputs);
    for (uint32_t o = 0; o < n->outputs; o++)
        n->out[o] = (struct xbar_output){
            .to = to[o],
            .asks = own ? n->out[o].own_asks : n->requests_of + (size_t)o * n->words,
            .items = mem_zalloc_huge(sizeof(struct xbar_arrival) * (n->arrival_wrap + 1u)),
        };
}

static uint32_t xbar_per(uint32_t speedup) { return ((1u << 31) + speedup - 1) / speedup; }

void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats)
{
    assert(inputs <= UINT16_MAX && outputs <= UINT16_MAX);
    *n = (struct xbar_net){.params = p,
                           .pool = pool,
                           .is_reply = is_reply,
                           .is_infinite = p->infinite,
                           .has_one_vc = p->vcs == 1,
                           .injection = (uint16_t)p->injection,
                           .vc_buffer = (uint16_t)p->vc_buffer,
                           .ejection = p->infinite ? INFINITE_PACKETS : (uint16_t)p->ejection,
                           .latency = (uint16_t)p->latency,
                           .per_input_speedup = xbar_per(p->input_speedup),
                           .per_output_speedup = xbar_per(p->output_speedup),
                           .input_speedup = (uint8_t)p->input_speedup,
                           .output_speedup = (uint8_t)p->output_speedup,
                           .flit_bytes = is_reply ? p->reply_flit : p->request_flit,
                           .inputs = (uint16_t)inputs,
                           .outputs = (uint16_t)outputs,
                           .period = clock->period,
                           .words = (uint16_t)((MAX(inputs, outputs) + 63) / 64),
                           .in_words = (uint16_t)((inputs + 63) / 64),
                           .out_words = (uint16_t)((outputs + 63) / 64),
                           .now = 0 - (tick)clock->period, /* one cycle before the first */
                           .cycle = UINT64_MAX,
                           .stats = stats};
    n->injection_wrap = short_ring_wrap(n->injection);
    n->vc_wrap = short_ring_wrap(n->vc_buffer);
    n->arrival_wrap = short_ring_wrap(n->ejection);
    n->gated = is_reply ? 0 : p->gated_sms;
    n->is_plain = n->words == 1 && n->has_one_vc && !n->is_infinite && !n->gated;
    uint32_t pushed_bytes = xbar_notes_bytes(n, inputs);
    n->pushed = mem_zalloc_huge(pushed_bytes + xbar_notes_bytes(n, outputs));
    n->room = n->pushed + pushed_bytes;
    n->ports = mem_zalloc_huge(sizeof *n->ports * n->words);
    xbar_make_sizes(n);
    xbar_make_inputs(n, from);
    xbar_make_outputs(n, to);
    if (!n->has_one_vc) xbar_make_vcs(n);
    if (n->gated) n->gates = mem_alloc(sizeof *n->gates * outputs);
    for (uint32_t o = 0; n->gated && o < outputs; o++) n->gates[o] = TICK_NEVER;
}

void xbar_net_take_notes(struct xbar_net *n)
{
    n->has_notes = true;
    for (uint32_t i = 0; i < n->inputs; i++) link_note_pushes(n->in[i].from, &n->pushed[i]);
    for (uint32_t o = 0; o < n->outputs; o++) link_note_room(n->out[o].to, &n->room[o]);
}

void xbar_net_free(struct xbar_net *n)
{
    for (uint32_t i = 0; i < n->inputs; i++) {
        mem_free_huge(n->in[i].injection.entries);
        mem_free_huge(n->in[i].vc.items);
    }
    for (uint32_t i = 0; n->vcs && i < n->inputs * n->params->vcs; i++) mem_free_huge(n->vcs[i].items);
    for (uint32_t o = 0; o < n->outputs; o++) mem_free_huge(n->out[o].items);
    void *const parts[] = {n->in,    n->out,     n->requests_of, n->ports,    n->pushed,
                           n->offer, n->offered, n->vcs,         n->accept_at};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) mem_free_huge(parts[i]);
    free(n->gates);
}

/* A packet at a port that came in at `taken` and wants to go to dst. */
struct xbar_waiter {
    const char *where;
    uint32_t port, id, flits, dst;
    xbar_stamp taken;
};

static void xbar_explain_waiter(const struct xbar_net *n, const struct xbar_waiter *p, tick now,
                                struct strbuf *out)
{
    strbuf_printf(out, "  %s network, %s %u: request %u (%u flits) for port %u, %u cycles here\n",
                  n->is_reply ? "reply" : "request", p->where, p->port, p->id, p->flits, p->dst,
                  (xbar_stamp)(now / n->period) - p->taken);
}

static void xbar_explain_packet(const struct xbar_net *n, const char *where, uint32_t input,
                                const struct xbar_packet *p, tick now, struct strbuf *out)
{
    xbar_explain_waiter(
        n, &(struct xbar_waiter){where, input, p->origin.id, p->flits, p->dst, p->origin.taken}, now, out);
}

static void xbar_explain_input(const struct xbar_net *n, uint32_t input, tick now, struct strbuf *out)
{
    for (uint32_t v = 0; v < n->params->vcs; v++) {
        const struct xbar_vc *vc = xbar_vc_for(n, input, v, false);
        if (vc->ring.count) xbar_explain_packet(n, "input", input, xbar_vc_head(vc), now, out);
    }
    const struct xbar_injection *q = &n->in[input].injection;
    if (q->ring.count) xbar_explain_packet(n, "injection", input, xbar_injection_head(q), now, out);
}

void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out)
{
    for (uint32_t o = 0; o < n->outputs; o++) {
        if (!n->out[o].ring.count) continue;
        const struct xbar_arrival *a = xbar_arrival_head(&n->out[o]);
        xbar_explain_waiter(n, &(struct xbar_waiter){"output", o, a->origin.id, a->flits, o, a->origin.taken},
                            now, out);
        if ((int32_t)(a->ready - (xbar_stamp)(now / n->period)) <= 0)
            strbuf_printf(out, "    waits for room in %s\n", n->out[o].to->name);
    }
    for (uint32_t i = 0; i < n->inputs; i++) xbar_explain_input(n, i, now, out);
}
