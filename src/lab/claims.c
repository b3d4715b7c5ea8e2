/* claims.c: reads claims.tsv. */
#include "lab/claims.h"

#include <errno.h>
#include <math.h>

enum {
    CLAIM_FIELDS = 8,
    /* the note may be missing */
    CLAIM_FIELDS_MIN = 7
};

struct claims_file {
    struct claim_set *set;
    struct diag_source src;
    struct diag_list *diags;
};

/* Cuts the line at its tabs, in place. Returns the number of fields; those beyond the array are counted, but
 * not stored. */
static uint32_t cut_fields(char *line, char *fields[CLAIM_FIELDS])
{
    uint32_t count = 0;
    for (char *at = line; at; count++) {
        char *tab = strchr(at, '\t');
        if (tab) *tab = 0;
        if (count < CLAIM_FIELDS) fields[count] = at;
        at = tab ? tab + 1 : NULL;
    }
    return count;
}

/* A copy of an experiment may have a copy of the claims beside it. */
static bool is_same(const struct claim *a, const struct claim *b)
{
    return a->value == b->value && !strcmp(a->paper, b->paper) && !strcmp(a->where, b->where) &&
           !strcmp(a->metric, b->metric) && !strcmp(a->baseline, b->baseline) &&
           !strcmp(a->system, b->system) && !strcmp(a->note, b->note);
}

static void read_claim(struct claims_file *f, char *line, int number)
{
    char *field[CLAIM_FIELDS] = {0}, *end = NULL;
    uint32_t count = cut_fields(line, field);
    if (count < CLAIM_FIELDS_MIN || count > CLAIM_FIELDS) {
        diag_add(f->diags, DIAG_ERROR, &f->src, number, 1, 1,
                 "id, paper, where, metric, baseline, system, value, note, with tabs between them",
                 "a claim has %d or %d fields, this line has %u", CLAIM_FIELDS_MIN, CLAIM_FIELDS, count);
        return;
    }
    double value = strtod(field[6], &end);
    if (end == field[6] || *end || !isfinite(value)) {
        diag_add(f->diags, DIAG_ERROR, &f->src, number, (int)(field[6] - line) + 1, (int)strlen(field[6]),
                 "make two claims of two values", "the value of a claim is one number, not '%s'", field[6]);
        return;
    }
    struct claim c = {
        field[0], field[1], field[2], field[3], field[4], field[5], count == CLAIM_FIELDS ? field[7] : "",
        value};
    const struct claim *twin = claims_find(f->set, c.id);
    if (!*c.id || (twin && !is_same(twin, &c)))
        diag_add(f->diags, DIAG_ERROR, &f->src, number, 1, (int)strlen(c.id),
                 "ids must differ, or the whole lines be the same",
                 *c.id ? "claim '%s' is there already, and says something else" : "a claim without an id%s",
                 c.id);
    else if (!twin)
        vec_push(&f->set->items, c);
}

static bool read_text(const char *path, struct strbuf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(out, block, n);
    bool ok = !ferror(f);
    fclose(f);
    return ok;
}

bool claims_load(struct claim_set *set, const char *path, struct diag_list *diags)
{
    struct strbuf text = {0};
    uint32_t errors = diags->errors;
    if (!read_text(path, &text)) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "cannot read %s: %s", path, strerror(errno));
        strbuf_free(&text);
        return false;
    }
    struct claims_file f = {set, {path, strbuf_text(&text), text.len}, diags};
    int number = 1;
    for (const char *at = strbuf_text(&text); *at; number++) {
        size_t len = strcspn(at, "\n");
        size_t kept = len && at[len - 1] == '\r' ? len - 1 : len;
        if (kept && *at != '#') read_claim(&f, arena_strndup(&set->arena, at, kept), number);
        at += len + (at[len] == '\n');
    }
    strbuf_free(&text);
    return diags->errors == errors;
}

void claims_free(struct claim_set *set)
{
    vec_free(&set->items);
    arena_free(&set->arena);
}

const struct claim *claims_find(const struct claim_set *set, const char *id)
{
    for (uint32_t i = 0; i < set->items.len; i++)
        if (!strcmp(set->items.data[i].id, id)) return &set->items.data[i];
    return NULL;
}

const char *claims_nearest(const struct claim_set *set, const char *id)
{
    VEC(const char *) ids = {0};
    for (uint32_t i = 0; i < set->items.len; i++) vec_push(&ids, set->items.data[i].id);
    const char *near = diag_nearest(id, ids.data, ids.len);
    vec_free(&ids);
    return near;
}
