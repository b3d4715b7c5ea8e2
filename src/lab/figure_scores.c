/* figure_scores.c: see figure_scores.h. */
#include "lab/figure_scores.h"

#include "lab/figure_table.h"
#include "stats/json.h"

/* ---- counting ---- */

static struct paper_score *score_of(struct scoreboard *b, const char *paper)
{
    for (uint32_t i = 0; i < b->papers.len; i++)
        if (!strcmp(b->papers.data[i].paper, paper)) return &b->papers.data[i];
    vec_push(&b->papers, (struct paper_score){.paper = paper});
    return &b->papers.data[b->papers.len - 1];
}

static void add_claim(struct scoreboard *b, const char *paper, const struct figure_claim *c)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%s %s", paper, c->claim->id);
    if (!map_get(&b->seen, strbuf_text(&name))) {
        map_put(&b->seen, strbuf_text(&name), b);
        score_of(b, paper)->counts[c->verdict]++;
    }
    strbuf_free(&name);
}

void scores_add(struct scoreboard *b, const struct figure_set *set)
{
    for (uint32_t f = 0; f < set->count; f++)
        for (uint32_t i = 0; i < set->figures[f].claim_count; i++)
            add_claim(b, set->plan->experiment->paper, &set->figures[f].claims[i]);
}

void scores_free(struct scoreboard *b)
{
    vec_free(&b->papers);
    map_free(&b->seen);
}

static uint32_t claims_of(const struct paper_score *p)
{
    uint32_t sum = 0;
    for (int v = 0; v < VERDICTS; v++) sum += p->counts[v];
    return sum;
}

/* ---- printing ---- */

/* The verdicts in the order of the columns behind "paper" and "claims". */
static const struct {
    enum verdict verdict;
    const char *title, *key;
} parts[] = {{VERDICT_REPRODUCED, "reproduced", "reproduced"},
             {VERDICT_TREND, "trend only", "trend_only"},
             {VERDICT_NOT, "not", "not"},
             {VERDICT_INCOMPARABLE, "not comparable", "not_comparable"},
             {VERDICT_OPEN, "open", "open"}};

static void put_row(struct text_table *t, const struct paper_score *p)
{
    char text[TABLE_TEXT_BYTES];
    text_column_put(&t->columns.data[0], *p->paper ? p->paper : "of no paper");
    snprintf(text, sizeof text, "%u", claims_of(p));
    text_column_put(&t->columns.data[1], text);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        snprintf(text, sizeof text, "%u", p->counts[parts[i].verdict]);
        text_column_put(&t->columns.data[2 + i], text);
    }
}

static struct text_table table_of(const struct scoreboard *b)
{
    struct text_table t = {.head = 1};
    struct paper_score all = {.paper = "all"};
    text_column_put(text_table_add(&t, true), "paper");
    text_column_put(text_table_add(&t, false), "claims");
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) text_column_put(text_table_add(&t, false), parts[i].title);
    for (uint32_t i = 0; i < b->papers.len; i++) {
        put_row(&t, &b->papers.data[i]);
        for (int v = 0; v < VERDICTS; v++) all.counts[v] += b->papers.data[i].counts[v];
    }
    if (b->papers.len > 1) put_row(&t, &all);
    return t;
}

void scores_print_table(const struct scoreboard *b, uint32_t width, struct strbuf *out)
{
    if (!b->papers.len) return;
    struct text_table t = table_of(b);
    text_table_print(&t, width, out);
    text_table_free(&t);
}

void scores_print_markdown(const struct scoreboard *b, struct strbuf *out)
{
    if (!b->papers.len) return;
    struct text_table t = table_of(b);
    strbuf_puts(out, "\n## Claims by paper\n\n");
    text_table_markdown(&t, out);
    text_table_free(&t);
}

void scores_json(const struct scoreboard *b, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < b->papers.len; i++) {
        const struct paper_score *p = &b->papers.data[i];
        strbuf_puts(out, i ? ",\n  {\"paper\": " : "\n  {\"paper\": ");
        json_string(out, p->paper);
        strbuf_printf(out, ", \"claims\": %u", claims_of(p));
        for (size_t k = 0; k < ARRAY_LEN(parts); k++)
            strbuf_printf(out, ", \"%s\": %u", parts[k].key, p->counts[parts[k].verdict]);
        strbuf_putc(out, '}');
    }
    strbuf_putc(out, ']');
}
