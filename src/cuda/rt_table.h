/* rt_table.h: 64-bit key -> pointer, for handles and host addresses of kernels and variables. Values are
 * never NULL. */
#ifndef HEDDLE_RT_TABLE_H
#define HEDDLE_RT_TABLE_H

#include "base/base.h"

struct rt_table_slot {
    uint64_t key;
    /* NULL: empty or removed */
    void *value;
};
struct rt_table {
    struct rt_table_slot *slots;
    uint32_t slot_count, used;
};

void *rt_table_get(const struct rt_table *t, uint64_t key);
/* Replaces an earlier value. */
void rt_table_put(struct rt_table *t, uint64_t key, void *value);
/* Returns the value, or NULL. */
void *rt_table_remove(struct rt_table *t, uint64_t key);
void rt_table_free(struct rt_table *t);

static inline uint64_t rt_key(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The next value at or after *at, or NULL; for (uint32_t i = 0; (v = rt_table_next(t, &i));) ... */
void *rt_table_next(const struct rt_table *t, uint32_t *at);

#endif
