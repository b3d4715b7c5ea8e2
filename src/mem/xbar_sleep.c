/* xbar_sleep.c: the rare cases of xbar_sleep.h. */
#include "mem/xbar_sleep.h"

COLD uint64_t xbar_leap(struct xbar_net *n, tick now)
{
    uint64_t cycle = now / n->period, passed = cycle - n->cycle, first = (n->cycle + 1) % WHEEL_SLOTS;
    n->cycle = cycle;
    if (passed >= WHEEL_SLOTS) return ~0ull;
    uint64_t run = (1ull << passed) - 1;
    return run << first | (first ? run >> (WHEEL_SLOTS - first) : 0);
}

COLD uint64_t xbar_free_now(struct xbar_net *n, enum xbar_event e, uint32_t word, uint64_t ports)
{
    uint64_t free = ports;
    for (; ports; ports &= ports - 1) {
        uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(ports);
        uint64_t at = e == EVENT_OUT_FREE ? n->out[port].free : n->in[port].port_free;
        if (at <= n->cycle) continue;
        free &= ~xbar_bit(port);
        xbar_plan(n, &n->ports[word], e, xbar_bit(port), at - n->cycle);
    }
    return free;
}

COLD void xbar_note_all(struct xbar_net *n)
{
    memset(n->pushed, 1, n->inputs);
    memset(n->room, 1, n->outputs);
}
