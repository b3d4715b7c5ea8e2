/* cover.c: greedy: a row begins with a pair that is not covered yet, then takes the value with the most such
 * pairs in the row, and so on. */
#include "property/cover.h"

#include "base/base.h"

#include <string.h>

void cover_init(struct cover *c, uint32_t machines, uint64_t seed)
{
    assert(machines >= 1 && machines <= COVER_MACHINES_MAX);
    c->machines = machines;
    c->rng.state = seed;
}

void cover_add_value(struct cover *c, uint16_t param, bool hides)
{
    const uint32_t v = c->values++;
    assert(v < COVER_VALUES_MAX);
    c->params[v] = param;
    c->hides[v] = hides;
    c->row_max[v] = COVER_ROW;
    for (uint32_t w = 0; w <= v; w++) c->covered[v][w] = c->covered[w][v] = c->params[w] == param;
}

void cover_set_slow(struct cover *c, uint32_t value) { c->slows[value] = true; }

static bool do_fit(const struct cover *c, uint32_t machine, uint32_t a, uint32_t b)
{
    return !((c->refused[a] | c->refused[b] | c->refused_pairs[a][b]) >> machine & 1);
}

/* ---- the pair that a row is made for ---- */

struct pair {
    uint32_t a, b;
};

/* Finds a pair that is left; on a machine, one that the machine may take. */
static bool find_pair(const struct cover *c, bool is_any, uint32_t machine, struct pair *out)
{
    for (uint32_t a = c->first; a < c->values; a++)
        for (uint32_t b = 0; b < a; b++)
            if (!c->covered[a][b] && (is_any || do_fit(c, machine, a, b))) {
                *out = (struct pair){a, b};
                return true;
            }
    return false;
}

static void advance_first(struct cover *c)
{
    while (c->first < c->values && !memchr(c->covered[c->first], false, c->first)) c->first++;
}

/* Returns whether a machine may take the pair together with others. */
static bool next_pair(struct cover *c, uint32_t *machine, struct pair *out)
{
    for (uint32_t i = 0; i < c->machines; i++) {
        *machine = c->turn++ % c->machines;
        if (c->exhausted >> *machine & 1) continue;
        if (find_pair(c, false, *machine, out)) return true;
        c->exhausted |= 1u << *machine; /* nothing is ever taken back: it stays so */
    }
    return false;
}

/* ---- the rest of the row ---- */

struct choice {
    bool is_blocked[COVER_VALUES_MAX];
    /* pairs that the value would cover in the row */
    uint16_t gain[COVER_VALUES_MAX];
};

static void row_take(const struct cover *c, struct cover_row *row, struct choice *choice, uint32_t v)
{
    const bool is_hidden = row->count && c->hides[row->values[0]];
    row->values[row->count++] = (uint16_t)v;
    for (uint32_t w = 0; w < c->values; w++) {
        if (c->params[w] == c->params[v] || (c->slows[w] && c->slows[v]) || !do_fit(c, row->machine, v, w))
            choice->is_blocked[w] = true;
        if (!is_hidden && !c->covered[v][w]) choice->gain[w]++;
    }
}

/* The search begins anywhere, so that equal values take turns. */
static bool best_choice(struct cover *c, const struct choice *choice, uint32_t count, uint32_t *out)
{
    const uint32_t begin = (uint32_t)rng_below(&c->rng, c->values);
    uint16_t best = 0;
    for (uint32_t i = 0; i < c->values; i++) {
        const uint32_t v = (begin + i) % c->values;
        if (choice->is_blocked[v] || choice->gain[v] <= best || c->row_max[v] <= count) continue;
        best = choice->gain[v];
        *out = v;
    }
    return best > 0;
}

static void fill_row(struct cover *c, struct cover_row *row, struct pair p)
{
    struct choice choice = {0};
    for (uint32_t v = 0; v < c->values; v++) choice.is_blocked[v] = c->hides[v];
    row_take(c, row, &choice, c->hides[p.b] ? p.b : p.a);
    row_take(c, row, &choice, c->hides[p.b] ? p.a : p.b);
    if ((c->hides[p.a] && c->hides[p.b]) || (c->slows[p.a] && c->slows[p.b])) return;
    uint32_t v, max = MIN(c->row_max[p.a], c->row_max[p.b]);
    while (row->count < max && best_choice(c, &choice, row->count, &v)) {
        row_take(c, row, &choice, v);
        max = MIN(max, c->row_max[v]);
    }
}

bool cover_next(struct cover *c, struct cover_row *out)
{
    struct pair p;
    *out = (struct cover_row){0};
    advance_first(c);
    if (next_pair(c, &out->machine, &p)) {
        fill_row(c, out, p);
        return true;
    }
    if (!find_pair(c, true, 0, &p)) return false;
    out->count = 2;
    out->values[0] = (uint16_t)p.a;
    out->values[1] = (uint16_t)p.b;
    return true;
}

/* ---- what became of rows ---- */

void cover_took(struct cover *c, const struct cover_row *row)
{
    const bool is_hidden = c->hides[row->values[0]];
    for (uint32_t i = 0; i < row->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint32_t a = row->values[i], b = row->values[j];
            if (!is_hidden || j == 0) c->covered[a][b] = c->covered[b][a] = true;
        }
}

void cover_too_slow(struct cover *c, const struct cover_row *row)
{
    /* the shortest row that is made; shorter ones come of rows that are cut */
    enum { SHORTEST = 8 };
    const uint16_t half = (uint16_t)MAX(row->count / 2, (uint32_t)SHORTEST);
    for (uint32_t i = 0; i < row->count; i++)
        if (c->slows[row->values[i]]) c->row_max[row->values[i]] = half;
}

void cover_refused(struct cover *c, const struct cover_row *culprits)
{
    const uint8_t bit = (uint8_t)(1u << culprits->machine);
    const uint32_t a = culprits->values[0], b = culprits->values[1];
    if (culprits->count == 1) c->refused[a] |= bit;
    if (culprits->count != 2) return;
    c->refused_pairs[a][b] |= bit;
    c->refused_pairs[b][a] |= bit;
    cover_took(c, culprits);
}

uint64_t cover_left(const struct cover *c)
{
    uint64_t left = 0;
    for (uint32_t a = 0; a < c->values; a++)
        for (uint32_t b = 0; b < a; b++) left += !c->covered[a][b];
    return left;
}
