/* claims_page.c: see claims_page.h. */
#include "lab/claims_page.h"

#include "base/map.h"
#include "lab/figure_claims.h"

enum { PAGE_WHERE, PAGE_CLAIM, PAGE_METRIC, PAGE_PAPER, PAGE_OURS, PAGE_VERDICT, PAGE_COLUMNS };

/* The text behind a note's first word, which says what kind of number the claim is; NULL: it is of another
 * kind (experiments/claims.tsv). */
static const char *note_of_kind(const struct figure_claim *c, const char *kind)
{
    const size_t n = strlen(kind);
    if (strncmp(c->note, kind, n) != 0 || c->note[n] != ':') return NULL;
    return c->note + n + 1 + strspn(c->note + n + 1, " ");
}

/* What the paper says: a number, a bound, or an order of two systems. */
static void paper_words(const struct figure_data *d, const struct figure_claim *c, char out[TABLE_TEXT_BYTES])
{
    const char *order = note_of_kind(c, "order");
    char value[TABLE_TEXT_BYTES];
    if (order) {
        snprintf(out, TABLE_TEXT_BYTES, "%.*s", (int)strcspn(order, ";"), order);
        return;
    }
    figure_format(d->figure, NULL, c->paper, value);
    const char *word = c->claim->relation == CLAIM_ABOVE   ? "above "
                       : c->claim->relation == CLAIM_BELOW ? "below "
                       : note_of_kind(c, "about")          ? "about "
                                                           : "";
    snprintf(out, TABLE_TEXT_BYTES, "%s%.*s", word, TABLE_TEXT_BYTES - 8, value);
}

static void put_claim(struct text_table *t, const struct figure_data *d, const struct figure_claim *c)
{
    struct text_column *columns = t->columns.data;
    char text[TABLE_TEXT_BYTES];
    text_column_put(&columns[PAGE_WHERE], c->where);
    text_column_put(&columns[PAGE_CLAIM], c->claim->id);
    text_column_put(&columns[PAGE_METRIC], c->metric);
    paper_words(d, c, text);
    text_column_put(&columns[PAGE_PAPER], text);
    figure_format(d->figure, NULL, c->ours, text);
    text_column_put(&columns[PAGE_OURS], text);
    figure_claim_verdict(c, text);
    text_column_put(&columns[PAGE_VERDICT], text);
}

static struct text_table new_table(void)
{
    static const struct {
        const char *text;
        bool left;
    } heads[PAGE_COLUMNS] = {{"where", true},  {"claim", true}, {"of", true},
                             {"paper", false}, {"ours", false}, {"verdict", true}};
    struct text_table t = {.head = 1};
    for (int i = 0; i < PAGE_COLUMNS; i++) text_column_put(text_table_add(&t, heads[i].left), heads[i].text);
    return t;
}

/* The claims of a figure that no figure before it has. */
static void put_new_claims(struct text_table *t, const struct figure_data *d, struct map *seen,
                           struct strbuf *excuses)
{
    for (uint32_t i = 0; i < d->claim_count; i++) {
        const struct figure_claim *c = &d->claims[i];
        if (map_get(seen, c->claim->id)) continue;
        map_put(seen, c->claim->id, seen);
        put_claim(t, d, c);
        figure_claim_excuse(c, excuses);
    }
}

static void put_paper(const char *paper, const struct figure_set *sets, uint32_t count, struct strbuf *out)
{
    struct text_table t = new_table();
    struct strbuf excuses = {0};
    struct map seen = {0};
    for (uint32_t s = 0; s < count; s++) {
        if (strcmp(sets[s].plan->experiment->paper, paper) != 0) continue;
        for (uint32_t f = 0; f < sets[s].count; f++) put_new_claims(&t, &sets[s].figures[f], &seen, &excuses);
    }
    if (t.columns.data[0].cells.len > t.head) {
        strbuf_printf(out, "\n## %s\n\n", *paper ? paper : "of no paper");
        text_table_markdown(&t, out);
        if (excuses.len) strbuf_printf(out, "\n%s", strbuf_text(&excuses));
    }
    map_free(&seen);
    strbuf_free(&excuses);
    text_table_free(&t);
}

static bool is_first_of_paper(const struct figure_set *sets, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(sets[k].plan->experiment->paper, sets[i].plan->experiment->paper)) return false;
    return true;
}

void claims_page(const struct figure_set *sets, uint32_t count, struct strbuf *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_first_of_paper(sets, i)) put_paper(sets[i].plan->experiment->paper, sets, count, out);
}
