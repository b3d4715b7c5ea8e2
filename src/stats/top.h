/* top.h: the most frequent values of a stream, in a few counters. See top.c. */
#ifndef HEDDLE_STATS_TOP_H
#define HEDDLE_STATS_TOP_H

#include "base/base.h"

enum { TOP_VALUES = 4 };
struct top {
    /* side by side: most streams have few values, in one line of the host's cache */
    struct top_value {
        int64_t value;
        /* 0: it is free */
        uint64_t count;
    } at[TOP_VALUES];
};

void top_note(struct top *t, int64_t value);
/* dst += src. Among equal counts the smaller value stays: for two of them the order does not matter. */
void top_add(struct top *dst, const struct top *src);
/* The position of the most frequent one. */
uint32_t top_first(const struct top *t);

#endif
