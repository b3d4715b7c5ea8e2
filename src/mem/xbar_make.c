/* xbar_make.c: a network of the crossbar is made, wired to its links, taken apart; its part in the report of a stuck machine. */
#include "mem/xbar_net.h"

enum { INFINITE_PACKETS = 4096 }; /* of an output: more than the machine's links ever hold */

static void xbar_ring_init(struct xbar_ring *r, uint32_t capacity)
{
    *r = (struct xbar_ring){.at = mem_zalloc(sizeof(struct xbar_packet) * capacity), .capacity = capacity};
}

static uint64_t *xbar_masks(uint32_t words) { return mem_zalloc(sizeof(uint64_t) * words); }

static void xbar_make_wheel(struct xbar_net *n)
{
    const uint32_t words[EVENT_COUNT] = {[EVENT_DELIVER] = n->out_words,
                                         [EVENT_OUT_FREE] = n->out_words,
                                         [EVENT_IN_FREE] = n->words,
                                         [EVENT_LOOK] = n->words};
    for (int e = 0; e < EVENT_COUNT; e++) {
        n->event_word[e] = n->wheel_words;
        n->wheel_words += words[e];
    }
    n->wheel = xbar_masks(n->wheel_words * WHEEL_SLOTS);
}

static void xbar_make_sizes(struct xbar_net *n)
{
    enum { SECTORS_MAX = 32, SECTOR_BYTES = 32 };
    n->read_sizes = mem_zalloc(sizeof *n->read_sizes * (SECTORS_MAX + 1));
    for (uint32_t i = 0; i <= SECTORS_MAX; i++)
        n->read_sizes[i] = xbar_size_of(n, SECTOR_BYTES * i, n->params->reply_data);
}

static void xbar_make_ports(struct xbar_net *n, struct link **from, struct link **to)
{
    const struct xbar_params *p = n->params;
    for (uint32_t i = 0; i < n->inputs; i++) {
        xbar_ring_init(&n->in[i].injection, p->injection);
        n->in[i].from = from[i];
        n->offer[i] = UINT32_MAX;
        n->pushed[i] = 1; /* the link may hold something already */
    }
    for (uint32_t i = 0; i < n->inputs * p->vcs; i++) xbar_ring_init(&n->vcs[i].packets, p->vc_buffer);
    for (uint32_t o = 0; o < n->outputs; o++) {
        xbar_ring_init(&n->out[o].ejection, p->infinite ? INFINITE_PACKETS : p->ejection);
        n->out[o].to = to[o];
    }
}

void xbar_net_init(struct xbar_net *n, const struct xbar_params *p, bool is_reply, uint32_t inputs,
                   uint32_t outputs, const struct clock_domain *clock, struct req_pool *pool,
                   struct link **from, struct link **to, struct xbar_net_stats *stats)
{
    uint32_t words = (inputs + 63) / 64, out_words = (outputs + 63) / 64;
    *n = (struct xbar_net){.params = p,
                           .pool = pool,
                           .is_reply = is_reply,
                           .has_one_vc = p->vcs == 1,
                           .flit_bytes = is_reply ? p->reply_flit : p->request_flit,
                           .inputs = inputs,
                           .outputs = outputs,
                           .period = clock->period,
                           .words = words,
                           .out_words = out_words,
                           .now = 0 - (tick)clock->period, /* one cycle before the first */
                           .cycle = UINT64_MAX,
                           .in = mem_zalloc(sizeof(struct xbar_input) * inputs),
                           .vcs = mem_zalloc(sizeof(struct xbar_vc) * inputs * p->vcs),
                           .out = mem_zalloc(sizeof(struct xbar_output) * outputs),
                           .stats = stats,
                           .deliver = xbar_masks(out_words),
                           .asked = xbar_masks(out_words),
                           .busy = xbar_masks(out_words),
                           .full = xbar_masks(out_words),
                           .look = xbar_masks(words),
                           .in_busy = xbar_masks(words),
                           .in_soon = xbar_masks(words),
                           .requests_of = xbar_masks(words * outputs),
                           .pushed = mem_zalloc(inputs + NOTE_WORD),
                           .room = mem_zalloc(outputs + NOTE_WORD),
                           .offer = mem_alloc(sizeof(uint32_t) * inputs),
                           .offered = mem_alloc(sizeof(uint32_t) * inputs)};
    xbar_make_wheel(n);
    xbar_make_sizes(n);
    xbar_make_ports(n, from, to);
}

void xbar_net_take_notes(struct xbar_net *n)
{
    n->has_notes = true;
    for (uint32_t i = 0; i < n->inputs; i++) n->in[i].from->consumer_note = &n->pushed[i];
    for (uint32_t o = 0; o < n->outputs; o++) n->out[o].to->producer_note = &n->room[o];
}

void xbar_net_free(struct xbar_net *n)
{
    for (uint32_t i = 0; i < n->inputs; i++) free(n->in[i].injection.at);
    for (uint32_t i = 0; i < n->inputs * n->params->vcs; i++) free(n->vcs[i].packets.at);
    for (uint32_t o = 0; o < n->outputs; o++) free(n->out[o].ejection.at);
    void *const parts[] = {n->in,    n->vcs,     n->out,     n->deliver,     n->asked,  n->busy,
                           n->full,  n->look,    n->in_busy, n->requests_of, n->pushed, n->room,
                           n->offer, n->offered, n->in_soon, n->read_sizes,  n->wheel};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) free(parts[i]);
}

static void xbar_explain_packet(const struct xbar_net *n, const char *where, uint32_t port,
                                const struct xbar_packet *p, tick now, struct strbuf *out)
{
    strbuf_printf(out, "  %s network, %s %u: request %u (%u flits) for port %u, %llu cycles here\n",
                  n->is_reply ? "reply" : "request", where, port, p->id, p->flits, p->dst,
                  (unsigned long long)(now / n->period - p->taken));
}

void xbar_net_explain(const struct xbar_net *n, tick now, struct strbuf *out)
{
    for (uint32_t o = 0; o < n->outputs; o++) {
        const struct xbar_ring *r = &n->out[o].ejection;
        if (!r->count) continue;
        xbar_explain_packet(n, "output", o, xbar_ring_head(r), now, out);
        if (xbar_ring_head(r)->ready <= now / n->period)
            strbuf_printf(out, "    waits for room in %s\n", n->out[o].to->name);
    }
    for (uint32_t i = 0; i < n->inputs; i++) {
        for (uint32_t v = 0; v < n->params->vcs; v++)
            if (n->vcs[i * n->params->vcs + v].packets.count)
                xbar_explain_packet(n, "input", i, xbar_ring_head(&n->vcs[i * n->params->vcs + v].packets),
                                    now, out);
        if (n->in[i].injection.count)
            xbar_explain_packet(n, "injection", i, xbar_ring_head(&n->in[i].injection), now, out);
    }
}
