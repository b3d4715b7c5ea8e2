/* print_energy.c: see print_energy.h. */
#include "stats/print_energy.h"

#include "stats/json.h"

/* Parts in a line of the table. */
enum { PER_LINE = 3 };

static double watts(const struct energy_sum *e, double joules)
{
    return e->seconds > 0 ? joules / e->seconds : 0;
}

static void print_joules(double joules, struct strbuf *out)
{
    static const struct {
        double at_least;
        const char *unit;
    } units[] = {{1, "J"}, {1e-3, "mJ"}, {1e-6, "uJ"}, {0, "nJ"}};
    static const double per_unit[] = {1, 1e3, 1e6, 1e9};
    uint32_t i = 0;
    while (joules < units[i].at_least) i++;
    strbuf_printf(out, "%.2f %s", joules * per_unit[i], units[i].unit);
}

/* A row of a mechanism; its part has it already. */
static void print_row(const struct stats_view *v, void *const *stats, const struct energy_row *row,
                      double all, struct strbuf *out)
{
    const double joules = view_row_joules(v, stats, row);
    strbuf_printf(out, "    %-24s %7.3f%%  ", row->name, all > 0 ? 100 * joules / all : 0);
    print_joules(joules, out);
    strbuf_printf(out, ", in %s\n", energy_part_names[energy_row_part(row)]);
}

void energy_print_table(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    const struct energy_sum e = view_energy(v, stats);
    const double all = energy_total(&e, true), dynamic = energy_total(&e, false);
    strbuf_puts(out, "  energy     ");
    print_joules(all, out);
    strbuf_printf(out, "  %.1f W;  without leakage ", watts(&e, all));
    print_joules(dynamic, out);
    strbuf_printf(out, "  %.1f W  (%s)", watts(&e, dynamic), v->energy->name);
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++)
        strbuf_printf(out, "%s%-10s %5.1f%%", p % PER_LINE ? "   " : "\n    ", energy_part_names[p],
                      all > 0 ? 100 * e.joules[p] / all : 0);
    strbuf_putc(out, '\n');
    if (e.helper > 0) {
        strbuf_printf(out, "    %-24s %7.3f%%  ", "SMs in cache mode", 100 * e.helper / all);
        print_joules(e.helper, out);
        strbuf_puts(out, ", in the parts above\n");
    }
    for (uint32_t i = 0; i < v->energy_row_count; i++) print_row(v, stats, v->energy_rows[i], all, out);
}

static void json_pair(struct strbuf *out, const char *name, double v)
{
    json_string(out, name);
    strbuf_putc(out, ':');
    json_number(out, v);
}

void energy_print_json(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    const struct energy_sum e = view_energy(v, stats);
    strbuf_puts(out, "{\"table\":");
    json_string(out, v->energy->name);
    strbuf_puts(out, ",\"joules\":{");
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++) {
        if (p) strbuf_putc(out, ',');
        json_pair(out, energy_part_names[p], e.joules[p]);
    }
    strbuf_puts(out, "},\"mechanisms\":{");
    for (uint32_t i = 0; i < v->energy_row_count; i++) {
        if (i) strbuf_putc(out, ',');
        json_pair(out, v->energy_rows[i]->name, view_row_joules(v, stats, v->energy_rows[i]));
    }
    strbuf_puts(out, "},");
    json_pair(out, "helper", e.helper);
    strbuf_putc(out, ',');
    json_pair(out, "total", energy_total(&e, true));
    strbuf_putc(out, ',');
    json_pair(out, "without_leakage", energy_total(&e, false));
    strbuf_putc(out, ',');
    json_pair(out, "watts", watts(&e, energy_total(&e, true)));
    strbuf_putc(out, '}');
}
