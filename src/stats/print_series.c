/* print_series.c: the time series (--sample N): a line, or an object, for each interval. Counts are those of
 * the interval; a maximum is the one since the start of the run. Histograms are left out of the CSV: a column
 * holds one number. */
#include "stats/json.h"
#include "stats/print.h"

static double sample_rate(const struct stats_view *v, const struct timed_sample *s, enum stats_name id)
{
    uint64_t cycles = s->end_cycle - s->start_cycle;
    return cycles ? (double)view_count(v, s->stats, id) / (double)cycles : 0.0;
}

void view_print_series_csv(const struct stats_view *v, struct strbuf *out)
{
    strbuf_puts(out, "start_cycle,end_cycle,ipc");
    for (uint32_t g = 0; g < v->group_count; g++)
        for (const struct stat_row *r = v->groups[g].rows; r && r->name; r++)
            if (r->type != STAT_HISTOGRAM) strbuf_printf(out, ",%s", r->name);
    strbuf_putc(out, '\n');
    for (uint32_t i = 0; i < v->sample_count; i++) {
        const struct timed_sample *s = v->samples[i];
        strbuf_printf(out, "%llu,%llu,%.10g", (unsigned long long)s->start_cycle,
                      (unsigned long long)s->end_cycle, sample_rate(v, s, STATS_SM_WARP_INSTS));
        for (uint32_t g = 0; g < v->group_count; g++)
            for (const struct stat_row *r = v->groups[g].rows; r && r->name; r++) {
                if (r->type == STAT_HISTOGRAM) continue;
                strbuf_putc(out, ',');
                json_stat(out, r, s->stats[g]);
            }
        strbuf_putc(out, '\n');
    }
}

void view_print_series_json(const struct stats_view *v, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < v->sample_count; i++) {
        const struct timed_sample *s = v->samples[i];
        strbuf_printf(out, "%s\n    {\"start_cycle\":%llu,\"end_cycle\":%llu,\"ipc\":", i ? "," : "",
                      (unsigned long long)s->start_cycle, (unsigned long long)s->end_cycle);
        json_number(out, sample_rate(v, s, STATS_SM_WARP_INSTS));
        strbuf_puts(out, ",\"stats\":{");
        for (uint32_t g = 0; g < v->group_count; g++) {
            if (g) strbuf_putc(out, ',');
            json_string(out, v->groups[g].name);
            strbuf_putc(out, ':');
            json_stats(out, v->groups[g].rows, s->stats[g]);
        }
        strbuf_puts(out, "}}");
    }
    strbuf_puts(out, "]");
}
