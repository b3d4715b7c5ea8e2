/* laws.c: see laws.h. */
#include "core/laws.h"

#include "core/owned_stats.h"

#include <inttypes.h>

static void law(struct strbuf *out, bool holds, const char *what, uint32_t index, uint64_t is,
                uint64_t should)
{
    if (!holds) strbuf_printf(out, "  %s %u: %" PRIu64 ", should be %" PRIu64 "\n", what, index, is, should);
}

static void check_link(struct strbuf *out, const struct link *l, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (l[i].count) strbuf_printf(out, "  link '%s' %u holds %u\n", l[i].name, i, l[i].count);
}

static void check_slots(const struct wiring *w, struct strbuf *out)
{
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const struct sm_stats *s = sm_stats(w->sms[i]);
        uint64_t sum = 0;
        for (int c = 0; c < SLOT_COUNT; c++) sum += s->slots[c];
        uint64_t slots = s->cycles * w->machine->sm.schedulers;
        law(out, sum == slots, "issue slots of SM", i, sum, slots);
    }
}

static void check_sms(const struct wiring *w, struct strbuf *out)
{
    for (uint32_t i = 0; i < w->compute_count; i++) {
        law(out, sm_idle(w->sms[i]), "SM not idle:", i, 0, 1);
        law(out, sm_ctas(w->sms[i]) == 0, "CTAs left on SM", i, sm_ctas(w->sms[i]), 0);
        law(out, sm_registers_used(w->sms[i]) == 0, "registers taken on SM", i, sm_registers_used(w->sms[i]),
            0);
    }
}

/* Prefetches of mechanisms that have ended, by all of their ends. */
static uint64_t prefetches_ended(struct sm *m)
{
    const struct sm_stats *s = sm_stats(m);
    const uint64_t queue = s->prefetches_refused + s->prefetches_merged + s->prefetches_dropped;
    const struct l1_stats *l1 = sm_l1_stats(m);
    return queue + l1->prefetch_redundant + l1->prefetch_dropped + l1->prefetch_useful + l1->prefetch_late +
           l1->prefetch_early + l1->prefetch_useless;
}

static void check_prefetches(const struct wiring *w, struct strbuf *out)
{
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const uint64_t asked = ((const struct sm_stats *)sm_stats(w->sms[i]))->prefetches;
        const uint64_t found = asked ? prefetches_ended(w->sms[i]) + sm_prefetches_open(w->sms[i]) : 0;
        law(out, found == asked, "prefetches that have ended or are open, of SM", i, found, asked);
    }
}

static void check_no_prefetch(const struct wiring *w, struct strbuf *out)
{
    for (uint32_t i = 0; w->machine->l1.flush && i < w->sm_count; i++) {
        const uint64_t open = sm_prefetches_open(w->sms[i]);
        law(out, open == 0, "prefetches that are open, of SM", i, open, 0);
    }
}

static void judge(struct strbuf *out, uint64_t cycle, const char *when, struct run_end *end)
{
    if (out->len) {
        struct strbuf text = {0};
        strbuf_printf(&text, "heddle: a law is broken at cycle %" PRIu64 ", %s:\n%s", cycle, when,
                      strbuf_text(out));
        run_end_set(end, END_LAW, EMU_LAW_BROKEN, strbuf_text(&text));
        strbuf_free(&text);
    }
    strbuf_free(out);
}

void laws_check_kernel(const struct wiring *w, const struct gpu_kernel *k, uint64_t cycle,
                       struct run_end *end)
{
    struct strbuf out = {0};
    const struct req_owner r = units_owner(w->units, k->owner_slot);
    law(&out, k->next_cta == k->ctas && k->ctas_done == k->ctas, "CTAs of kernel", (uint32_t)k->id,
        k->ctas_done, k->ctas);
    law(&out, r.live == 0, "requests not answered of kernel", (uint32_t)k->id, r.live, 0);
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const char *wrong = sm_leaks(w->sms[i], k->grid);
        if (wrong) strbuf_printf(&out, "  SM %u: %s\n", i, wrong);
    }
    check_slots(w, &out);
    check_prefetches(w, &out);
    judge(&out, cycle, "a kernel has ended", end);
}

void laws_check_alone(const struct gpu_kernel *k, void *const *stats, uint64_t cycle, struct run_end *end)
{
    struct strbuf out = {0};
    owned_compare(stats, &k->measure.owned.events, &out);
    judge(&out, cycle, "a kernel has ended", end);
}

/* Law 14. */
static void check_ring(const struct smring *ring, struct strbuf *out)
{
    law(out, smring_idle(ring), "messages in ring", 0, smring_held(ring), 0);
    law(out, smring_open(ring) == 0, "messages not taken from ring", 0, smring_open(ring), 0);
}

/* Law 10. */
static void check_sm_traffic(const struct wiring *w, struct strbuf *out)
{
    struct sm_traffic sms = {0};
    uint64_t read_sectors = 0, taken_bytes = 0;
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const struct sm_traffic t = sm_traffic(w->sms[i]);
        sms.sectors_asked += t.sectors_asked;
        sms.sectors_got += t.sectors_got;
        sms.bytes_sent += t.bytes_sent;
    }
    for (uint32_t i = 0; i < w->slice_count; i++) {
        read_sectors += ((const struct l2_stats *)l2_stats(w->slices[i]))->read_sectors;
        taken_bytes += l2_taken_bytes(w->slices[i]);
    }
    law(out, read_sectors == sms.sectors_asked, "sectors read from the L2 by SMs 0 to", w->sm_count - 1,
        read_sectors, sms.sectors_asked);
    law(out, sms.sectors_got == sms.sectors_asked, "sectors that came to SMs 0 to", w->sm_count - 1,
        sms.sectors_got, sms.sectors_asked);
    law(out, taken_bytes == sms.bytes_sent, "bytes that the L2 took from SMs 0 to", w->sm_count - 1,
        taken_bytes, sms.bytes_sent);
}

/* Law 11, channel by channel. */
static void check_dram_traffic(const struct wiring *w, struct strbuf *out)
{
    const uint32_t per_channel = w->slice_count / w->channel_count;
    for (uint32_t c = 0; c < w->channel_count; c++) {
        uint64_t fetched = 0, written = 0;
        for (uint32_t i = c * per_channel; i < (c + 1) * per_channel; i++) {
            const struct l2_stats *s = l2_stats(w->slices[i]);
            fetched += s->fetched_sectors;
            written += s->written_sectors;
        }
        const uint64_t read = dram_sectors(w->channels[c], REQ_READ),
                       stored = dram_sectors(w->channels[c], REQ_WRITE);
        law(out, read == fetched, "sectors read by DRAM channel", c, read, fetched);
        law(out, stored == written, "sectors written by DRAM channel", c, stored, written);
    }
}

/* Law 15. One row can take one request at the L2 or several. */
static void check_rows(const struct wiring *w, struct strbuf *out)
{
    const uint64_t parts = MAX(MECH_ROW_BYTES / w->machine->l2.line, 1u);
    uint64_t moved = 0, taken = 0;
    for (uint32_t i = 0; i < w->sm_count; i++) {
        const struct sm_stats *s = sm_stats(w->sms[i]);
        law(out, s->rows_in == s->rows_out, "rows of registers that came back to SM", i, s->rows_in,
            s->rows_out);
        moved += s->rows_out + s->rows_in + s->rows_late;
    }
    for (uint32_t i = 0; i < w->slice_count; i++)
        taken += ((const struct l2_stats *)l2_stats(w->slices[i]))->cls[REQ_CONTEXT].accesses;
    law(out, taken == moved * parts, "requests of registers from SMs 0 to", w->sm_count - 1, taken,
        moved * parts);
}

void laws_check_empty(const struct wiring *w, uint64_t cycle, struct run_end *end)
{
    struct strbuf out = {0};
    const uint32_t live = units_requests_live(w->units);
    law(&out, live == w->helper_loads, "requests not answered, pool", 0, live, w->helper_loads);
    check_sms(w, &out);
    law(&out, xbar_idle(w->xbar), "crossbar not idle:", 0, 0, 1);
    for (uint32_t i = 0; i < w->slice_count; i++)
        law(&out, l2_idle(w->slices[i]), "L2 slice not idle:", i, 0, 1);
    for (uint32_t i = 0; i < w->channel_count; i++)
        law(&out, dram_idle(w->channels[i]), "DRAM channel not idle:", i, 0, 1);
    if (w->ring) check_ring(w->ring, &out);
    check_link(&out, w->links.sm_to_xbar, w->sm_count);
    check_link(&out, w->links.xbar_to_sm, w->sm_count);
    check_link(&out, w->links.xbar_to_slice, w->slice_count);
    check_link(&out, w->links.slice_to_xbar, w->slice_count);
    check_link(&out, w->links.slice_to_dram, w->slice_count);
    check_link(&out, w->links.dram_to_slice, w->slice_count);
    check_sm_traffic(w, &out);
    check_dram_traffic(w, &out);
    check_no_prefetch(w, &out);
    check_rows(w, &out);
    judge(&out, cycle, "the machine should be empty", end);
}
