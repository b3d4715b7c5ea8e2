/* print_json.c: everything that was counted, as one JSON object. docs/statistics.md describes the schema;
 * "schema" is raised when a key changes its meaning or goes away (new keys do not raise it). */
#include "stats/json.h"
#include "stats/loads.h"
#include "stats/print.h"
#include "stats/print_energy.h"

enum { JSON_SCHEMA = 1 };

static void json_groups(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    strbuf_putc(out, '{');
    for (uint32_t g = 0; g < v->group_count; g++) {
        if (g) strbuf_puts(out, ",");
        strbuf_puts(out, "\n      ");
        json_string(out, v->groups[g].name);
        strbuf_putc(out, ':');
        json_stats(out, v->groups[g].rows, stats[g]);
    }
    strbuf_puts(out, "}");
}

/* The part that all scopes share: cycles, the two most used rates, and the groups. */
static void json_scope(const struct stats_view *v, const struct timed_kernel *k, struct strbuf *out)
{
    strbuf_printf(out, "\"start_cycle\":%llu,\"end_cycle\":%llu,\"cycles\":%llu,\"ipc\":",
                  (unsigned long long)k->start_cycle, (unsigned long long)k->end_cycle,
                  (unsigned long long)kernel_cycles(k));
    json_number(out, view_per_cycle(v, k, STATS_SM_WARP_INSTS));
    strbuf_puts(out, ",\"thread_ipc\":");
    json_number(out, view_per_cycle(v, k, STATS_SM_THREAD_INSTS));
    strbuf_puts(out, ",\n     \"stats\":");
    json_groups(v, k->stats, out);
    if (!v->energy) return;
    strbuf_puts(out, ",\n     \"energy\":");
    energy_print_json(v, k->stats, out);
}

static void json_kernel(const struct stats_view *v, const struct timed_kernel *k, struct strbuf *out)
{
    strbuf_printf(out, "{\"id\":%llu,\"name\":", (unsigned long long)k->id);
    json_string(out, k->name);
    strbuf_printf(out,
                  ",\"stream\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"registers\":%u,"
                  "\"shared_bytes\":%llu,\"ctas\":%llu,\"ctas_per_sm\":%u,\"limit\":\"%s\",\"requests\":%llu,"
                  "\"partial\":%s,\"overlapped\":%s,\n     ",
                  (unsigned long long)k->stream, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
                  k->block[2], k->registers, (unsigned long long)k->shared_bytes, (unsigned long long)k->ctas,
                  k->ctas_per_sm, k->limit ? k->limit : "", (unsigned long long)k->requests,
                  k->partial ? "true" : "false", k->overlapped ? "true" : "false");
    json_scope(v, k, out);
    if (k->loads) {
        strbuf_puts(out, ",\n     \"loads\":");
        loads_json(k->loads, k->load_count, out);
    }
    strbuf_putc(out, '}');
}

/* What mechanisms wrote down. */
static void json_notes(const struct stats_view *v, struct strbuf *out)
{
    strbuf_puts(out, ",\n  \"events\":[");
    for (uint32_t i = 0; i < v->note_count; i++) {
        const struct timed_note *n = &v->notes[i];
        strbuf_printf(out, "%s{\"cycle\":%llu,\"sm\":%u,\"mechanism\":", i ? ",\n    " : "\n    ",
                      (unsigned long long)n->cycle, n->sm);
        json_string(out, n->mechanism_name);
        strbuf_puts(out, ",\"kind\":");
        json_string(out, n->kind);
        strbuf_printf(out, ",\"a\":%llu,\"b\":%llu}", (unsigned long long)n->a, (unsigned long long)n->b);
    }
    strbuf_puts(out, "]");
    if (v->notes_dropped)
        strbuf_printf(out, ",\n  \"events_dropped\":%llu", (unsigned long long)v->notes_dropped);
}

/* What each statistic means, so that a file can be read without this program. */
static void json_legend(const struct stats_view *v, struct strbuf *out)
{
    bool first = true;
    strbuf_putc(out, '{');
    for (uint32_t g = 0; g < v->group_count; g++)
        for (const struct stat_row *r = v->groups[g].rows; r && r->name; r++, first = false) {
            strbuf_puts(out, first ? "\n    " : ",\n    ");
            json_string(out, r->name);
            strbuf_puts(out, ":{\"unit\":");
            json_string(out, r->unit);
            strbuf_puts(out, ",\"help\":");
            json_string(out, r->help);
            if (v->is_own && v->is_own(&v->groups[g], r)) strbuf_puts(out, ",\"own\":true");
            if (r->ncu) {
                strbuf_puts(out, ",\"ncu\":");
                json_string(out, r->ncu);
            }
            strbuf_putc(out, '}');
        }
    strbuf_puts(out, "}");
}

void view_print_json(const struct stats_view *v, struct strbuf *out)
{
    const struct stats_machine *m = &v->machine;
    strbuf_printf(out, "{\"schema\":%d,\"machine\":{\"name\":", JSON_SCHEMA);
    json_string(out, m->name);
    strbuf_printf(
        out,
        ",\"sms\":%u,\"warps_per_sm\":%u,\"core_khz\":%u,\"xbar_khz\":%u,\"l2_khz\":%u,\"dram_khz\":%u,"
        "\"request_flit\":%u,\"reply_flit\":%u,\"burst_bytes\":%u},\n",
        m->sms, m->warps_per_sm, m->core_khz, m->xbar_khz, m->l2_khz, m->dram_khz, m->request_flit,
        m->reply_flit, m->burst_bytes);
    strbuf_printf(out, "  \"partial\":%s,\"hash\":\"%016llx\",\n  \"kernels\":[",
                  v->partial ? "true" : "false", (unsigned long long)v->hash);
    for (uint32_t i = 0; i < v->kernel_count; i++) {
        strbuf_puts(out, i ? ",\n    " : "\n    ");
        json_kernel(v, v->kernels[i], out);
    }
    strbuf_puts(out, "],\n  \"total\":{");
    json_scope(v, &v->total, out);
    strbuf_puts(out, "}");
    if (v->sample_count) {
        strbuf_puts(out, ",\n  \"samples\":");
        view_print_series_json(v, out);
    }
    if (v->note_count) json_notes(v, out);
    strbuf_puts(out, ",\n  \"legend\":");
    json_legend(v, out);
    strbuf_puts(out, "}\n");
}
