/* top.c: a "space saving" summary (Metwally et al., ICDT'05): a value without a counter takes that of the
 * rarest one, and its count. Counts are estimates: never below the truth for a value that has a counter. */
#include "stats/top.h"

void top_note(struct top *t, int64_t value)
{
    uint32_t at = 0, least = 0;
    while (at < TOP_VALUES && !(t->count[at] && t->value[at] == value)) {
        if (t->count[at] < t->count[least]) least = at;
        at++;
    }
    if (at == TOP_VALUES) at = least;
    t->value[at] = value;
    t->count[at]++;
}

/* The most frequent of n, whose count is not 0; n: there is none. */
static uint32_t most_frequent(const int64_t *value, const uint64_t *count, uint32_t n)
{
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
        if (count[i] &&
            (best == n || count[i] > count[best] || (count[i] == count[best] && value[i] < value[best])))
            best = i;
    return best;
}

void top_add(struct top *dst, const struct top *src)
{
    int64_t value[2 * TOP_VALUES];
    uint64_t count[2 * TOP_VALUES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2 * TOP_VALUES; i++) {
        const struct top *from = i < TOP_VALUES ? dst : src;
        const int64_t v = from->value[i % TOP_VALUES];
        uint32_t at = 0;
        if (!from->count[i % TOP_VALUES]) continue;
        while (at < n && value[at] != v) at++;
        if (at == n) {
            value[n] = v;
            count[n++] = 0;
        }
        count[at] += from->count[i % TOP_VALUES];
    }
    for (uint32_t k = 0; k < TOP_VALUES; k++) {
        const uint32_t best = most_frequent(value, count, n);
        dst->value[k] = best < n ? value[best] : 0;
        dst->count[k] = best < n ? count[best] : 0;
        if (best < n) count[best] = 0;
    }
}

uint32_t top_first(const struct top *t)
{
    const uint32_t first = most_frequent(t->value, t->count, TOP_VALUES);
    return first < TOP_VALUES ? first : 0;
}
