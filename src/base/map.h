/* map.h: text -> pointer, by open addressing. Keys are copied. A NULL value means absent. Walk entries in the
 * order they were put in (map.entries.data[0 .. len-1]), so that nothing depends on hash order. */
#ifndef HEDDLE_MAP_H
#define HEDDLE_MAP_H

#include "base/vec.h"

struct map_entry {
    char *key;
    void *value;
};
struct map {
    VEC(struct map_entry) entries;
    uint32_t *slots;
    uint32_t slot_count;
};

void *map_get(const struct map *m, const char *key);
void *map_get_n(const struct map *m, const char *key, size_t len);
/* Replaces an earlier value. */
void map_put(struct map *m, const char *key, void *value);
void map_free(struct map *m);

#endif
