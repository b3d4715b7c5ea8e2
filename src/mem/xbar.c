/* xbar.c: the crossbar as the machine sees it: parameters, statistics, and its two networks, which share
 * nothing but the clock. Sizes of the thesis's Fermi: Tables 3.1 and 3.3; buffers and arbitration of
 * GPGPU-Sim 3.2.2's GTX 480.
 *
 * The time of a packet on an idle machine: xbar_idle_cycles. */
#include "mem/xbar_ahead.h"
#include "mem/xbar_net.h"

#include "base/hugepage.h"

const struct param_row xbar_rows[] = {
    PARAM_NUMBER(xbar_params, request_flit, "xbar.request_flit", "bytes", "32", 1, 4096,
                 "flit of the request network (SM to L2)"),
    PARAM_NUMBER(xbar_params, reply_flit, "xbar.reply_flit", "bytes", "32", 1, 4096,
                 "flit of the reply network (L2 to SM)"),
    PARAM_NUMBER(xbar_params, header, "xbar.header", "bytes", "8", 0, 256,
                 "bytes of a packet before its data"),
    PARAM_NUMBER(xbar_params, injection, "xbar.injection", "flits", "9", 1, 65535,
                 "injection buffer of an input"),
    PARAM_NUMBER(xbar_params, vcs, "xbar.vcs", "", "1", 1, 256,
                 "virtual channels of an input, chosen by the output; 1 = a head blocks all behind it"),
    PARAM_NUMBER(xbar_params, vc_buffer, "xbar.vc_buffer", "flits", "8", 1, 65535,
                 "buffer of a virtual channel"),
    PARAM_NUMBER(xbar_params, ejection, "xbar.ejection", "packets", "8", 1, 65535,
                 "ejection buffer of an output"),
    PARAM_NUMBER(xbar_params, input_speedup, "xbar.input_speedup", "", "2", 1, 64,
                 "flits a cycle that an input can put through the switch; its channel brings one"),
    PARAM_NUMBER(xbar_params, output_speedup, "xbar.output_speedup", "", "1", 1, 64,
                 "flits a cycle that an output takes from the switch into its buffer; it sends one"),
    PARAM_NUMBER(xbar_params, iterations, "xbar.iterations", "", "1", 1, 64, "rounds of iSLIP in a cycle"),
    PARAM_NUMBER(xbar_params, latency, "xbar.latency", "crossbar cycles", "2", 0, 10000,
                 "pipeline of the switch, beyond one cycle for the channel and one a flit"),
    PARAM_NUMBER(xbar_params, reply_data, "xbar.reply_data", "bytes", "0", 0, 4096,
                 "data of a read reply that travels in one packet; a longer reply is several packets, each "
                 "of which competes for the switch by itself; 0: one packet, however long"),
    PARAM_FLAG(xbar_params, infinite, "xbar.infinite", "false",
               "no bandwidth limits: every packet takes the time of an idle network"),
    {0}};

#define NET_ROWS(net, nm, way)                                                                               \
    STAT_COUNT(xbar_stats, net.packets, "xbar." nm "_packets", "packets", "packets " way, NULL),             \
        STAT_COUNT(xbar_stats, net.flits, "xbar." nm "_flits", "flits", "flits " way, NULL),                 \
        STAT_COUNT(xbar_stats, net.stall_cycles, "xbar." nm "_stalls", "crossbar cycles",                    \
                   "cycles that packets at the head of an input waited for their output, " way, NULL),       \
        STAT_COUNT(xbar_stats, net.output_busy_cycles, "xbar." nm "_busy", "crossbar cycles",                \
                   "cycles that outputs were busy, summed over them, " way, NULL),                           \
        STAT_COUNT(xbar_stats, net.eject_wait_cycles, "xbar." nm "_eject_wait", "crossbar cycles",           \
                   "cycles that complete packets waited for room at their destination, " way, NULL),         \
        STAT_COUNT(xbar_stats, net.latency_cycles, "xbar." nm "_latency_sum", "crossbar cycles",             \
                   "time in the crossbar, summed over packets, " way, NULL),                                 \
        STAT_RATIO(xbar_stats, net.latency_cycles, net.packets, "xbar." nm "_latency", "crossbar cycles",    \
                   "average time of a packet in the crossbar, " way, NULL)

const struct stat_row xbar_stat_rows[] = {
    NET_ROWS(request, "request", "from SMs to L2"), NET_ROWS(reply, "reply", "from L2 to SMs"), {0}};

enum { NET_REQUEST, NET_REPLY, NET_COUNT };

struct xbar {
    struct xbar_net nets[NET_COUNT];
    struct xbar_stats stats;
    tick wake;
    struct xbar_params params;
    struct clock_domain clock;
};

struct xbar *xbar_create(const struct xbar_params *p, uint32_t sms, uint32_t slices,
                         const struct clock_domain *clock, struct req_pool *pool, struct link **from_sm,
                         struct link **to_slice, struct link **from_slice, struct link **to_sm)
{
    struct xbar *x = mem_zalloc_huge(sizeof *x);
    x->params = *p;
    x->clock = *clock;
    xbar_net_init(&x->nets[NET_REQUEST], &x->params, false, sms, slices, &x->clock, pool, from_sm, to_slice,
                  &x->stats.request);
    xbar_net_init(&x->nets[NET_REPLY], &x->params, true, slices, sms, &x->clock, pool, from_slice, to_sm,
                  &x->stats.reply);
    return x;
}

void xbar_take_notes(struct xbar *x)
{
    for (uint32_t i = 0; i < NET_COUNT; i++) xbar_net_take_notes(&x->nets[i]);
}

void xbar_destroy(struct xbar *x)
{
    if (!x) return;
    for (uint32_t i = 0; i < NET_COUNT; i++) xbar_net_free(&x->nets[i]);
    mem_free_huge(x);
}

void xbar_tick(struct xbar *x, tick now)
{
    x->wake = TICK_NEVER;
    xbar_nets_tick(x->nets, NET_COUNT, now, &x->wake);
}

tick *xbar_wake(struct xbar *x) { return &x->wake; }

void xbar_set_gate(struct xbar *x, uint32_t slice, tick closed_from)
{
    debug_assert(x->nets[NET_REQUEST].gates);
    x->nets[NET_REQUEST].gates[slice] = closed_from;
}

void xbar_set_gated(struct xbar *x, uint32_t sms)
{
    assert(x->nets[NET_REQUEST].gates && sms && xbar_idle(x));
    x->nets[NET_REQUEST].gated = sms;
}

uint32_t xbar_packets_behind(const struct xbar *x) { return x->nets[NET_REQUEST].ejection; }

tick xbar_reply_floor(const struct xbar *x, uint32_t sm, tick edge)
{
    const struct xbar_net *n = &x->nets[NET_REPLY];
    const struct xbar_output *o = &n->out[sm];
    if (n->is_infinite) return edge + n->period; /* packets overtake each other */
    if (!o->ring.count) return edge + xbar_idle_cycles(n, 1) * (tick)n->period;
    int32_t ahead = xbar_until(n, xbar_arrival_head(o)->ready);
    tick ready = n->now + (ahead > 0 ? (tick)ahead * n->period : 0);
    return MAX(ready, edge) + n->period;
}

bool xbar_idle(const struct xbar *x) { return !x->nets[NET_REQUEST].packets && !x->nets[NET_REPLY].packets; }
void *xbar_stats(struct xbar *x) { return &x->stats; }

void xbar_explain(const struct xbar *x, tick now, struct strbuf *out)
{
    if (xbar_idle(x)) return;
    strbuf_puts(out, "crossbar:\n");
    for (uint32_t i = 0; i < NET_COUNT; i++) xbar_net_explain(&x->nets[i], now, out);
}
