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
    strbuf_puts(out, "},");
    json_pair(out, "total", energy_total(&e, true));
    strbuf_putc(out, ',');
    json_pair(out, "without_leakage", energy_total(&e, false));
    strbuf_putc(out, ',');
    json_pair(out, "watts", watts(&e, energy_total(&e, true)));
    strbuf_putc(out, '}');
}
