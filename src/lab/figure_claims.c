/* figure_claims.c: see figure_claims.h. */
#include "lab/figure_claims.h"

/* The verdict "not reproduced" names what does not hold. */
void figure_claim_verdict(const struct figure_claim *c, char out[TABLE_TEXT_BYTES])
{
    const char *why = c->verdict != VERDICT_NOT ? ""
                      : c->sign                 ? ": order"
                      : c->order                ? ": sign"
                                                : ": sign, order";
    snprintf(out, TABLE_TEXT_BYTES, "%s%s", verdict_text(c->verdict), why);
}

static void put_claim(struct text_table *t, const struct figure_data *d, const struct figure_claim *c)
{
    struct text_column *columns = t->columns.data;
    char text[TABLE_TEXT_BYTES];
    text_column_put(&columns[CLAIM_ID], c->claim->id);
    text_column_put(&columns[CLAIM_METRIC], c->metric);
    figure_format(d->figure, NULL, c->paper, text);
    text_column_put(&columns[CLAIM_PAPER], text);
    figure_format(d->figure, NULL, c->ours, text);
    text_column_put(&columns[CLAIM_OURS], text);
    figure_claim_verdict(c, text);
    text_column_put(&columns[CLAIM_VERDICT], text);
}

void figure_claims_table(const struct figure_data *d, struct text_table *t)
{
    static const struct {
        const char *text;
        bool left;
    } heads[CLAIM_COLUMNS] = {
        {"claim", true}, {"of", true}, {"paper", false}, {"ours", false}, {"verdict", true}};
    *t = (struct text_table){.head = 1};
    for (int i = 0; i < CLAIM_COLUMNS; i++) text_column_put(text_table_add(t, heads[i].left), heads[i].text);
    for (uint32_t i = 0; i < d->claim_count; i++) put_claim(t, d, &d->claims[i]);
}

void figure_claim_excuse(const struct figure_claim *c, struct strbuf *out)
{
    if (c->verdict != VERDICT_INCOMPARABLE) return;
    strbuf_printf(out, "%s is not comparable: %s\n", c->claim->id,
                  c->claim->excuse ? c->claim->excuse : "the runs give it no value");
}

void figure_claims_excuses(const struct figure_data *d, struct strbuf *out)
{
    for (uint32_t i = 0; i < d->claim_count; i++) figure_claim_excuse(&d->claims[i], out);
}
