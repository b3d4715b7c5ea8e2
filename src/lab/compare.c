/* compare.c: see compare.h. Texts are quoted as JSON, which YAML reads as well.
 *
 * The figures of the experiment: speed-ups, L1 hit rates, energy where it was asked for, then a table for
 * each column whose mechanisms count something, then one for each statistic that was asked for. */
#include "lab/compare.h"

#include "core/mech/mech_set.h"
#include "energy/energy.h"
#include "stats/json.h"

#include <math.h>

/* How many statistics of a mechanism are shown: the first ones of its table. */
enum { STATS_OF_EACH = 3 };
#define SPEEDUP  "speedup"
#define HIT_RATE "L1 hit rate"
#define ENERGY   "energy"
#define POWER    "power"

/* ---- columns ---- */

static void split_mechs(struct compare_column *c, const char *named, struct arena *arena)
{
    c->mechs = ARENA_ARRAY(arena, const char *, strlen(named) + 1);
    for (const char *at = named; *at;) {
        size_t len = strcspn(at, "+");
        c->mechs[c->mech_count++] = arena_strndup(arena, at, len);
        at += len + (at[len] == '+');
    }
}

static void main_stats(struct compare_column *c, const struct mechanism *m, struct arena *arena)
{
    uint32_t taken = 0;
    for (const struct stat_row *row = m->stats; row && row->name && taken < STATS_OF_EACH; row++) {
        if (row->type == STAT_HISTOGRAM) continue;
        c->has_ratio |= row->type == STAT_RATIO;
        c->stats[c->stat_count++] = arena_strdup(arena, row->name); /* a plug-in is closed again */
        taken++;
    }
}

bool compare_column_read(struct compare_column *c, const char *named, struct arena *arena,
                         struct diag_list *diags)
{
    *c = (struct compare_column){.name = arena_strdup(arena, named)};
    if (!strcmp(named, COMPARE_NONE)) return true;
    split_mechs(c, named, arena);
    struct mech_set *set = mech_set_create(c->mechs, c->mech_count, NULL, 0, diags);
    if (!set) return false;
    c->stats = ARENA_ARRAY(arena, const char *, c->mech_count *STATS_OF_EACH + 1);
    for (uint32_t i = 0; i < c->mech_count; i++) main_stats(c, mech_set_at(set, i), arena);
    mech_set_destroy(set);
    return true;
}

/* ---- the experiment ---- */

static void put_names(const char *const *names, uint32_t count, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i) strbuf_puts(out, ", ");
        json_string(out, names[i]);
    }
    strbuf_putc(out, ']');
}

/* A setting names its mechanism up to the dot, a plug-in's file without folder and ending. */
bool compare_takes(const struct compare_column *c, const char *setting)
{
    size_t len = strcspn(setting, ".=");
    for (uint32_t i = 0; i < c->mech_count; i++) {
        const char *slash = strrchr(c->mechs[i], '/'), *name = slash ? slash + 1 : c->mechs[i];
        if (strcspn(name, ".") == len && !strncmp(setting, name, len)) return true;
    }
    return false;
}

static void put_settings(const char *key, const char *const *settings, uint32_t count,
                         const struct compare_column *of, struct strbuf *out)
{
    uint32_t put = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *equals = strchr(settings[i], '=');
        if (of && !compare_takes(of, settings[i])) continue;
        char *name = mem_strdup(settings[i]);
        name[equals ? equals - settings[i] : (ptrdiff_t)strlen(settings[i])] = 0;
        strbuf_printf(out, put++ ? ", " : ", %s: {", key);
        json_string(out, name);
        strbuf_puts(out, ": ");
        json_string(out, equals ? equals + 1 : "");
        free(name);
    }
    if (put) strbuf_putc(out, '}');
}

static void put_column(const struct comparison *c, const struct compare_column *column, struct strbuf *out)
{
    strbuf_puts(out, "  ");
    json_string(out, column->name);
    strbuf_puts(out, ": {mech: ");
    put_names((const char *const *)column->mechs, column->mech_count, out);
    put_settings("set", c->sets, c->set_count, NULL, out);
    put_settings("mech_set", c->mech_sets, c->mech_set_count, column, out);
    strbuf_puts(out, "}\n");
}

static void put_measure(const char *name, const char *value, struct strbuf *out)
{
    strbuf_puts(out, "  ");
    json_string(out, name);
    strbuf_puts(out, ": {value: ");
    json_string(out, value);
    strbuf_puts(out, "}\n");
}

static void put_stat_measure(const char *name, struct strbuf *out)
{
    struct strbuf value = {0};
    strbuf_printf(&value, "\"%s\"", name); /* names may have dashes */
    put_measure(name, strbuf_text(&value), out);
    strbuf_free(&value);
}

static bool has_stat(const struct compare_column *c, const char *name)
{
    for (uint32_t i = 0; i < c->stat_count; i++)
        if (!strcmp(c->stats[i], name)) return true;
    return false;
}

/* By one of the first `count` columns? */
static bool is_measured(const struct comparison *c, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (has_stat(&c->columns[i], name)) return true;
    return false;
}

/* A part has the name that tables and the page show, such as "front end". */
static void put_energy_measures(const char *baseline, struct strbuf *out)
{
    struct strbuf value = {0};
    strbuf_printf(&value, "energy(total) / \"%s\".energy(total)", baseline);
    put_measure(ENERGY, strbuf_text(&value), out);
    put_measure(POWER, "energy(total) / energy(seconds)", out);
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++) {
        value.len = 0;
        strbuf_printf(&value, "energy(%s) / \"%s\".energy(total)", energy_part_words[p], baseline);
        put_measure(energy_part_names[p], strbuf_text(&value), out);
    }
    strbuf_free(&value);
}

static void put_measures(const struct comparison *c, struct strbuf *out)
{
    struct strbuf speedup = {0};
    strbuf_printf(&speedup, "\"%s\".cycles / cycles", c->columns[0].name);
    strbuf_puts(out, "measures:\n");
    put_measure(SPEEDUP, strbuf_text(&speedup), out);
    put_measure(HIT_RATE, "l1.hit_rate", out);
    if (c->has_energy) put_energy_measures(c->columns[0].name, out);
    for (uint32_t i = 0; i < c->column_count; i++)
        for (uint32_t k = 0; k < c->columns[i].stat_count; k++)
            if (!is_measured(c, i, c->columns[i].stats[k])) put_stat_measure(c->columns[i].stats[k], out);
    for (uint32_t i = 0; i < c->shown_count; i++)
        if (!is_measured(c, c->column_count, c->shown[i])) put_stat_measure(c->shown[i], out);
    strbuf_free(&speedup);
}

struct drawing {
    const char *title, *more;
    const char *const *columns, *const *measures;
    uint32_t column_count, measure_count;
};

static void put_figure(const char *id, const struct drawing *d, struct strbuf *out)
{
    strbuf_puts(out, "  - {id: ");
    json_string(out, id);
    strbuf_puts(out, ", title: ");
    json_string(out, d->title);
    strbuf_puts(out, ", columns: ");
    put_names(d->columns, d->column_count, out);
    strbuf_puts(out, ", measures: ");
    put_names(d->measures, d->measure_count, out);
    strbuf_printf(out, ", %s}\n", d->more);
}

/* `d` has the columns. */
static void put_energy_figures(const struct comparison *c, struct drawing d, struct strbuf *out)
{
    const char *const energy = ENERGY, *const power = POWER;
    struct strbuf title = {0};
    strbuf_printf(&title, "energy over that of %s, with leakage", c->columns[0].name);
    d.title = strbuf_text(&title), d.measures = &energy, d.more = "mean: geometric, digits: 3";
    put_figure("energy", &d, out);
    d.title = "power of the chip in W", d.measures = &power, d.more = "mean: arithmetic, digits: 1";
    put_figure("power", &d, out);
    d.measures = energy_part_names, d.measure_count = ENERGY_PARTS;
    d.title = strbuf_text(&title), d.more = "draw: stacked, mean: arithmetic, percent: true";
    if (c->has_parts) put_figure("energy-parts", &d, out);
    strbuf_free(&title);
}

static void put_figures(const struct comparison *c, struct strbuf *out)
{
    VEC(const char *) names = {0};
    const char *const speedup = SPEEDUP, *const hit_rate = HIT_RATE;
    struct strbuf title = {0};
    for (uint32_t i = 0; i < c->column_count; i++) vec_push(&names, c->columns[i].name);
    struct drawing d = {.columns = names.data, .column_count = names.len, .measure_count = 1};
    strbuf_printf(&title, "speed-up over %s", c->columns[0].name);
    d.title = strbuf_text(&title), d.measures = &speedup, d.more = "mean: geometric, digits: 3";
    put_figure("speedup", &d, out);
    d.title = "L1 hit rate in %", d.measures = &hit_rate, d.more = "mean: arithmetic, digits: 1";
    put_figure("l1-hit-rate", &d, out);
    if (c->has_energy) put_energy_figures(c, d, out);
    for (uint32_t i = 0; i < c->column_count; i++) {
        const struct compare_column *column = &c->columns[i];
        struct drawing did = {.title = "what it did",
                              .more = column->has_ratio ? "draw: table" : "draw: table, digits: 0",
                              .columns = &column->name,
                              .measures = (const char *const *)column->stats,
                              .column_count = 1,
                              .measure_count = column->stat_count};
        if (column->stat_count) put_figure(column->name, &did, out);
    }
    d.more = "draw: bars";
    for (uint32_t i = 0; i < c->shown_count; i++) {
        d.title = "of each column", d.measures = &c->shown[i];
        put_figure(c->shown[i], &d, out);
    }
    strbuf_free(&title);
    vec_free(&names);
}

void compare_write(const struct comparison *c, struct strbuf *out)
{
    struct strbuf title = {0};
    for (uint32_t i = 0; i < c->column_count; i++)
        strbuf_printf(&title, "%s%s", i ? ", " : "", c->columns[i].name);
    strbuf_printf(&title, " on %s", c->machine);
    strbuf_puts(out, "title: ");
    json_string(out, strbuf_text(&title));
    strbuf_puts(out, "\nmachine: ");
    json_string(out, c->machine);
    if (c->size) {
        strbuf_puts(out, "\nsize: ");
        json_string(out, c->size);
    }
    strbuf_puts(out, "\nworkloads: ");
    put_names(c->workloads, c->workload_count, out);
    strbuf_puts(out, "\ncolumns:\n");
    for (uint32_t i = 0; i < c->column_count; i++) put_column(c, &c->columns[i], out);
    put_measures(c, out);
    strbuf_puts(out, "figures:\n");
    put_figures(c, out);
    strbuf_free(&title);
}

/* ---- the outcome ---- */

/* NAN: it is open, or no figure has it. */
static double value_of(const struct figure_set *set, uint32_t workload, uint32_t column, const char *measure)
{
    const struct experiment *e = set->plan->experiment;
    for (uint32_t f = 0; f < set->count; f++)
        for (uint32_t i = 0; i < set->figures[f].cell_count; i++) {
            const struct figure_cell *cell = &set->figures[f].cells[i];
            if (cell->workload == workload && cell->column == column &&
                !strcmp(e->measures[cell->measure].name, measure))
                return cell->value;
        }
    return NAN;
}

static void put_value(const char *key, double value, struct strbuf *out)
{
    json_string(out, key);
    strbuf_puts(out, ": ");
    json_number(out, value);
}

static void put_outcome(const struct comparison *c, const struct figure_set *set, uint32_t workload,
                        uint32_t column, struct strbuf *out)
{
    const struct compare_column *of = &c->columns[column];
    strbuf_puts(out, "\"mechanism\": ");
    json_string(out, of->name);
    strbuf_puts(out, ", ");
    put_value("speedup", value_of(set, workload, column, SPEEDUP), out);
    strbuf_puts(out, ", ");
    put_value("l1_hit_rate", value_of(set, workload, column, HIT_RATE), out);
    if (c->has_energy) {
        strbuf_puts(out, ", ");
        put_value("energy", value_of(set, workload, column, ENERGY), out);
        strbuf_puts(out, ", ");
        put_value("watts", value_of(set, workload, column, POWER), out);
    }
    if (workload == UINT32_MAX) return;
    strbuf_puts(out, ", \"statistics\": {");
    for (uint32_t i = 0; i < of->stat_count; i++) {
        if (i) strbuf_puts(out, ", ");
        put_value(of->stats[i], value_of(set, workload, column, of->stats[i]), out);
    }
    for (uint32_t i = 0; i < c->shown_count; i++) {
        if (has_stat(of, c->shown[i])) continue;
        if (i || of->stat_count) strbuf_puts(out, ", ");
        put_value(c->shown[i], value_of(set, workload, column, c->shown[i]), out);
    }
    strbuf_putc(out, '}');
}

void compare_json(const struct comparison *c, const struct figure_set *set, struct strbuf *out)
{
    const struct experiment *e = set->plan->experiment;
    strbuf_puts(out, "{\"machine\": ");
    json_string(out, e->machine);
    strbuf_puts(out, ", \"baseline\": ");
    json_string(out, c->columns[0].name);
    strbuf_puts(out, ", \"runs\": [");
    for (uint32_t i = 0; i < e->workload_count * c->column_count; i++) {
        uint32_t w = i / c->column_count;
        strbuf_puts(out, i ? ",\n  {\"workload\": " : "\n  {\"workload\": ");
        json_string(out, e->workloads[w]->name);
        strbuf_puts(out, ", \"size\": ");
        json_string(out, e->sizes[w]);
        strbuf_puts(out, ", ");
        put_outcome(c, set, w, i % c->column_count, out);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "],\n \"means\": [");
    for (uint32_t i = 0; i < c->column_count; i++) {
        strbuf_puts(out, i ? ",\n  {" : "\n  {");
        put_outcome(c, set, UINT32_MAX, i, out);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "]}\n");
}
