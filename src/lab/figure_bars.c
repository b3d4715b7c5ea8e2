/* figure_bars.c: bars, counted in the figures and printed. */
#include "lab/figure_bars.h"

#include "lab/figure_table.h"
#include "stats/json.h"

#include <math.h>

/* ---- counting ---- */

static void add_one(struct bar_result *b, bool is_open, bool counts)
{
    b->of++;
    b->open += is_open;
    b->count += counts;
}

static void add_cell(struct bar_result *b, const struct figure_cell *c)
{
    if (c->workload == FIGURE_MEAN || !bar_takes(b->bar, c->column, c->measure)) return;
    if (b->bar->count == BAR_SAME_CLASS && c->paper_class)
        add_one(b, isnan(c->value), c->agreement == AGREEMENT_SAME_CLASS);
    if (b->bar->count == BAR_QUARTER && !isnan(c->paper))
        add_one(b, isnan(c->value), value_is_near(c->value, c->paper));
}

static void add_claim(struct bar_result *b, const struct figure_claim *c)
{
    if (c->verdict == VERDICT_INCOMPARABLE || !bar_takes(b->bar, c->claim->column, c->claim->measure)) return;
    const enum verdict wanted = b->bar->count == BAR_REPRODUCED ? VERDICT_REPRODUCED : VERDICT_NOT;
    add_one(b, c->verdict == VERDICT_OPEN, c->verdict == wanted);
}

void bar_add(struct bar_result *b, const struct figure_set *set)
{
    for (uint32_t f = 0; f < set->count; f++) {
        const struct figure_data *d = &set->figures[f];
        if (b->bar->figure != BAR_ALL && b->bar->figure != f) continue;
        if (bar_counts_claims(b->bar))
            for (uint32_t i = 0; i < d->claim_count; i++) add_claim(b, &d->claims[i]);
        else
            for (uint32_t i = 0; i < d->cell_count; i++) add_cell(b, &d->cells[i]);
    }
}

/* The number that the aim asks for; a share is rounded up. */
static uint32_t wanted(const struct bar_result *b)
{
    const struct lab_bar *bar = b->bar;
    if (!bar->aim_of) return bar->aim;
    return (uint32_t)(((uint64_t)bar->aim * b->of + bar->aim_of - 1) / bar->aim_of);
}

void bar_decide(struct bar_result *b)
{
    const uint32_t want = wanted(b), most = b->count + b->open;
    assert(most <= b->of);
    b->outcome = BAR_OPEN;
    if (!b->of) return;
    if (b->bar->is_most)
        b->outcome = b->count > want ? BAR_MISSED : most <= want ? BAR_MET : BAR_OPEN;
    else if (b->of >= want)
        b->outcome = b->count >= want ? BAR_MET : most < want ? BAR_MISSED : BAR_OPEN;
}

/* ---- printing ---- */

const char *bar_outcome_text(enum bar_outcome o)
{
    static const char *const texts[] = {[BAR_OPEN] = "open", [BAR_MET] = "met", [BAR_MISSED] = "missed"};
    assert(o <= BAR_MISSED);
    return texts[o];
}

enum { COLUMN_NAME, COLUMN_COUNT, COLUMN_OF, COLUMN_AIM, COLUMN_OUTCOME, COLUMNS };

static void put_bar(struct text_table *t, const struct bar_result *b)
{
    struct text_column *columns = t->columns.data;
    char text[TABLE_TEXT_BYTES];
    text_column_put(&columns[COLUMN_NAME], b->bar->name);
    snprintf(text, sizeof text, "%u", b->count);
    text_column_put(&columns[COLUMN_COUNT], text);
    snprintf(text, sizeof text, "%u", b->of);
    text_column_put(&columns[COLUMN_OF], text);
    snprintf(text, sizeof text, "%s%.40s", b->bar->is_most ? "at most " : "", b->bar->aim_text);
    text_column_put(&columns[COLUMN_AIM], text);
    text_column_put(&columns[COLUMN_OUTCOME], bar_outcome_text(b->outcome));
}

static struct text_table bars_table(const struct bar_result *bars, uint32_t count)
{
    static const struct {
        const char *text;
        bool left;
    } heads[COLUMNS] = {{"bar", true}, {"count", false}, {"of", false}, {"aim", false}, {"outcome", true}};
    struct text_table t = {.head = 1};
    for (int i = 0; i < COLUMNS; i++) text_column_put(text_table_add(&t, heads[i].left), heads[i].text);
    for (uint32_t i = 0; i < count; i++) put_bar(&t, &bars[i]);
    return t;
}

void bars_print_table(const struct bar_result *bars, uint32_t count, uint32_t width, struct strbuf *out)
{
    struct text_table t = bars_table(bars, count);
    text_table_print(&t, width, out);
    text_table_free(&t);
}

void bars_print_markdown(const struct bar_result *bars, uint32_t count, struct strbuf *out)
{
    struct text_table t = bars_table(bars, count);
    strbuf_puts(out, "\n## Bars\n\n");
    text_table_markdown(&t, out);
    text_table_free(&t);
}

void bars_json(const struct bar_result *bars, uint32_t count, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct bar_result *b = &bars[i];
        strbuf_puts(out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        json_string(out, b->bar->name);
        strbuf_puts(out, ", \"counts\": ");
        json_string(out, b->bar->count_text);
        strbuf_printf(out, ", \"count\": %u, \"of\": %u, \"open\": %u, \"%s\": ", b->count, b->of, b->open,
                      b->bar->is_most ? "at_most" : "aim");
        json_string(out, b->bar->aim_text);
        strbuf_printf(out, ", \"outcome\": \"%s\"}", bar_outcome_text(b->outcome));
    }
    strbuf_putc(out, ']');
}
