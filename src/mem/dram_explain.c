/* dram_explain.c: a channel's part in the report of a stuck machine. */
#include "mem/dram_channel.h"

#include <inttypes.h>

static const char *command_name(enum dram_command c)
{
    static const char *const names[] = {"activate", "precharge", "read", "write"};
    return names[c];
}

COLD static void channel_explain_bank(const struct dram_channel *d, uint64_t clock, uint32_t bank,
                                      struct strbuf *out)
{
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
    uint64_t at = dram_chips_earliest(&d->chips, clock, bank, c);
    strbuf_printf(out, "  bank %u: %s of 0x%" PRIx64 " (row %u), in the queue since clock %" PRIu64 ", ",
                  bank, e->is_write ? "write" : "read", req_at(d->pool, e->req)->addr, e->row, e->queued);
    if (dram_channel_is_held(d, e, c))
        strbuf_puts(out, "waits for a slot of the return queue\n");
    else if (at > clock)
        strbuf_printf(out, "may %s at clock %" PRIu64 "\n", command_name(c), at);
    else
        strbuf_printf(out, "may %s now\n", command_name(c));
}

COLD void dram_explain(const struct dram_channel *d, tick now, struct strbuf *out)
{
    uint64_t clock = now / d->period;
    if (!d->inside) return;
    strbuf_printf(out,
                  "dram channel %u, clock %" PRIu64 ": %u of %u requests inside; %u on the way, %u of %u "
                  "wait in the queue, %u of %u in the return queue\n",
                  d->index, clock, d->inside, d->inside_max, d->way.ring.count, dram_queue_waiting(&d->queue),
                  d->params.queue, d->returns_taken, d->returns.ring.capacity);
    if (d->returns.ring.count) {
        const struct dram_way *r = dram_way_at(&d->returns, 0);
        const struct link *l = d->out[r->slice];
        strbuf_printf(out, "  oldest answer: 0x%" PRIx64 " for slice %u of the channel, ",
                      req_at(d->pool, r->req)->addr, r->slice);
        if (r->ready > now)
            strbuf_printf(out, "complete at clock %" PRIu64 "\n", r->ready / d->period);
        else
            strbuf_printf(out, "waits for its link, %u of %u full\n", l->count, l->capacity);
    }
    for (uint64_t m = d->busy_banks; m; m &= m - 1)
        channel_explain_bank(d, clock, (uint32_t)__builtin_ctzll(m), out);
}
