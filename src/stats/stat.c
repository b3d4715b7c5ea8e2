/* stat.c: arithmetic over statistics structs, row by row. A ratio holds nothing of its own: its two counters
 * have rows too, so sums and differences of ratios are right too. */
#include "stats/stat.h"

#include <string.h>

static uint64_t *stat_words(const struct stat_row *row, void *stats)
{
    return (uint64_t *)((char *)stats + row->offset);
}

static uint64_t stat_word(const void *stats, size_t offset)
{
    uint64_t v;
    memcpy(&v, (const char *)stats + offset, sizeof v);
    return v;
}

void stat_add(const struct stat_row *rows, void *dst, const void *src)
{
    for (const struct stat_row *r = rows; r->name; r++) {
        uint64_t *to = stat_words(r, dst);
        switch (r->type) {
        case STAT_COUNT: *to += stat_word(src, r->offset); break;
        case STAT_LARGEST: *to = MAX(*to, stat_word(src, r->offset)); break;
        case STAT_HISTOGRAM:
            for (uint32_t i = 0; i < r->length; i++) to[i] += stat_word(src, r->offset + i * sizeof *to);
            break;
        case STAT_RATIO: break;
        }
    }
}

void stat_sub(const struct stat_row *rows, void *dst, const void *src)
{
    for (const struct stat_row *r = rows; r->name; r++) {
        uint64_t *to = stat_words(r, dst);
        switch (r->type) {
        case STAT_COUNT: *to -= stat_word(src, r->offset); break;
        case STAT_HISTOGRAM:
            for (uint32_t i = 0; i < r->length; i++) to[i] -= stat_word(src, r->offset + i * sizeof *to);
            break;
        case STAT_LARGEST: /* the maximum up to the later snapshot; that of the interval alone is not known */
        case STAT_RATIO: break;
        }
    }
}

double stat_value(const struct stat_row *row, const void *stats)
{
    if (row->type == STAT_RATIO) {
        double den = (double)stat_word(stats, row->offset2);
        double scale = row->unit && !strcmp(row->unit, "%") ? 100.0 : 1.0;
        return den > 0 ? scale * (double)stat_word(stats, row->offset) / den : 0.0;
    }
    if (row->type != STAT_HISTOGRAM) return (double)stat_word(stats, row->offset);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < row->length; i++) sum += stat_word(stats, row->offset + i * sizeof sum);
    return (double)sum;
}
