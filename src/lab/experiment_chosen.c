/* experiment_chosen.c: `KEY: chosen(COLUMN, PARAM)`: a setting whose value is what a column with `best` chose
 * for the workload, such as PCAL's start at the best limit of a sweep. */
#include "lab/column_param.h"
#include "lab/experiment_read.h"

static const char head[] = "chosen(";
#define EXAMPLE "for example pcal.start_n: 'chosen(best-swl, swl.warps)'"

bool chosen_is(const char *value) { return !strncmp(value, head, sizeof head - 1); }

/* The two words between the parentheses. */
static bool split(struct experiment_reading *r, const struct setting *s, const char **column,
                  const char **param)
{
    const char *at = s->value + sizeof head - 1, *comma = strrchr(at, ','), *end = at + strlen(at);
    if (comma && end[-1] == ')') {
        const char *after = comma + 1 + strspn(comma + 1, " ");
        size_t len = strcspn(after, " )");
        *column = arena_strndup(&r->e->arena, at, (size_t)(comma - at));
        *param = arena_strndup(&r->e->arena, after, len);
        if (**column && len && after[len + strspn(after + len, " ")] == ')') return true;
    }
    yaml_error(&r->e->file, s->value_at, r->diags, EXAMPLE,
               "'chosen' takes a column with 'best', and a parameter");
    return false;
}

/* Every choice must have the parameter: any of them may win. */
static bool choices_have(struct experiment_reading *r, const struct setting *s, const struct lab_chosen *c)
{
    const struct lab_column *oracle = &r->columns.data[c->column];
    for (uint32_t i = 0; i < oracle->choice_count; i++) {
        const struct lab_column *choice = &r->columns.data[oracle->choices[i]];
        if (column_param_row(choice, c->param)) continue;
        yaml_error(&r->e->file, s->value_at, r->diags, "`heddle list params` shows them",
                   "'%s', which '%s' may choose, has no parameter '%s'", choice->name, oracle->name,
                   c->param);
        return false;
    }
    return true;
}

bool chosen_read(struct experiment_reading *r, const struct setting *s, struct lab_chosen *out,
                 const char **first_value)
{
    struct strbuf value = {0};
    const char *column;
    out->key = s->key;
    if (!split(r, s, &column, &out->param)) return false;
    const struct yaml_node at = {YAML_TEXT, s->value_at->line, s->value_at->col, column, 0, NULL, NULL};
    out->column = experiment_column(r, &at);
    if (out->column == UINT32_MAX) return false;
    if (!column_is_choice(&r->columns.data[out->column])) {
        yaml_error(&r->e->file, s->value_at, r->diags, EXAMPLE,
                   "'%s' chooses nothing: it has no 'best' for each workload", column);
        return false;
    }
    if (!choices_have(r, s, out)) return false;
    column_param_text(&r->columns.data[r->columns.data[out->column].choices[0]], out->param, &value);
    *first_value = arena_strdup(&r->e->arena, strbuf_text(&value));
    strbuf_free(&value);
    return true;
}
