/* xbar.h: the crossbar: a request network (SMs -> L2 slices) and a reply network (slices -> SMs), each
 * with its own flit size, on the crossbar's clock. Packets are cut into flits; an input port sends one
 * flit a cycle, an output port takes one a cycle; buffers are bounded; outputs choose among inputs by
 * iSLIP. Packet sizes: read request 8 bytes; write and atomic request 8 + data; read reply 8 + sectors *
 * 32; write ack 8; atomic reply 8 + data. */
#ifndef HEDDLE_XBAR_H
#define HEDDLE_XBAR_H

#include "config/param.h"
#include "mem/link.h"
#include "mem/req.h"
#include "stats/stat.h"

struct xbar_params {
    /* bytes */
    uint32_t request_flit, reply_flit;
    /* bytes of a packet before its data */
    uint32_t header;
    /* flits, each input */
    uint32_t injection;
    /* virtual channels of an input; flits, each */
    uint32_t vcs, vc_buffer;
    /* packets, each output */
    uint32_t ejection;
    uint32_t input_speedup, output_speedup;
    /* rounds of iSLIP in a cycle */
    uint32_t iterations;
    /* crossbar cycles */
    uint32_t latency;
    /* bytes of data in a packet of a reply; 0 = any number */
    uint32_t reply_data;
    bool infinite;
    /* Not a parameter of machines: SMs, the first ones, whose packets wait while the gate of their slice is
     * closed (xbar_set_gate); 0: there are no gates. */
    uint32_t gated_sms;
};
extern const struct param_row xbar_rows[];
extern const struct stat_row xbar_stat_rows[];

struct xbar_net_stats {
    /* packets that left an output */
    uint64_t packets, flits;
    /* waits of packets at the head of a virtual channel */
    uint64_t stall_cycles;
    /* busy cycles, summed over the outputs */
    uint64_t output_busy_cycles;
    /* waits of complete packets for room at their destination */
    uint64_t eject_wait_cycles;
    /* time from the link at the input to the link at the output, summed over packets */
    uint64_t latency_cycles;
};
struct xbar_stats {
    struct xbar_net_stats request, reply;
};

struct xbar;
/* Links are owned by the GPU: from_sm[i] (SM i -> crossbar), to_slice[j], from_slice[j], to_sm[i]. The
 * arrays are copied. All carry request ids. A packet that has been ejected is pushed into the link of its
 * destination when the last flit has arrived. */
struct xbar *xbar_create(const struct xbar_params *p, uint32_t sms, uint32_t slices,
                         const struct clock_domain *clock, struct req_pool *pool, struct link **from_sm,
                         struct link **to_slice, struct link **from_slice, struct link **to_sm);
void xbar_destroy(struct xbar *x);
/* From this time on no packet of a gated SM is sent to the slice; packets that have passed the switch still
 * come, at most xbar_packets_behind. TICK_NEVER: the gate is open, as all are at first. Only where there are
 * gates, and while the crossbar does not run. */
void xbar_set_gate(struct xbar *x, uint32_t slice, tick closed_from);
/* The first `sms` SMs are gated from now on. There are gates, and no packet is under way. */
void xbar_set_gated(struct xbar *x, uint32_t sms);
/* The most packets that an output holds behind the switch. */
uint32_t xbar_packets_behind(const struct xbar *x);
void xbar_tick(struct xbar *x, tick now);
/* The variable that links wake; xbar_tick sets it to the next time it has something to do. */
tick *xbar_wake(struct xbar *x);
bool xbar_idle(const struct xbar *x);
void *xbar_stats(struct xbar *x);
/* Who waits for whom, oldest first, for the report of a stuck machine. */
void xbar_explain(const struct xbar *x, tick now, struct strbuf *out);

#endif
