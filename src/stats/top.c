/* top.c: a "space saving" summary (Metwally et al., ICDT'05): a value without a counter takes that of the
 * rarest one, and its count. Counts are estimates: never below the truth for a value that has a counter. */
#include "stats/top.h"

void top_note(struct top *t, int64_t value)
{
    struct top_value *least = t->at;
    for (struct top_value *v = t->at; v < t->at + TOP_VALUES; v++) {
        if (v->value == value && v->count) {
            v->count++;
            return;
        }
        if (v->count < least->count) least = v;
    }
    least->value = value;
    least->count++;
}

/* The most frequent of n, whose count is not 0; n: there is none. */
static uint32_t most_frequent(const struct top_value *v, uint32_t n)
{
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
        if (v[i].count && (best == n || v[i].count > v[best].count ||
                           (v[i].count == v[best].count && v[i].value < v[best].value)))
            best = i;
    return best;
}

void top_add(struct top *dst, const struct top *src)
{
    struct top_value all[2 * TOP_VALUES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2 * TOP_VALUES; i++) {
        const struct top_value *from = &(i < TOP_VALUES ? dst : src)->at[i % TOP_VALUES];
        uint32_t at = 0;
        if (!from->count) continue;
        while (at < n && all[at].value != from->value) at++;
        if (at == n) all[n++] = (struct top_value){.value = from->value};
        all[at].count += from->count;
    }
    for (uint32_t k = 0; k < TOP_VALUES; k++) {
        const uint32_t best = most_frequent(all, n);
        dst->at[k] = best < n ? all[best] : (struct top_value){0};
        if (best < n) all[best].count = 0;
    }
}

uint32_t top_first(const struct top *t)
{
    const uint32_t first = most_frequent(t->at, TOP_VALUES);
    return first < TOP_VALUES ? first : 0;
}
