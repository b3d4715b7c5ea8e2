/* map.c: slots hold entry index + 1; the table doubles at three quarters full. */
#include "base/map.h"

#include "base/hash.h"

static uint32_t *map_slot(const struct map *m, const char *key, size_t len)
{
    uint32_t mask = m->slot_count - 1;
    for (uint32_t i = (uint32_t)hash_bytes(HASH_SEED, key, len) & mask;; i = (i + 1) & mask) {
        uint32_t e = m->slots[i];
        if (!e) return &m->slots[i];
        const char *k = m->entries.data[e - 1].key;
        if (!strncmp(k, key, len) && !k[len]) return &m->slots[i];
    }
}

static void map_grow(struct map *m)
{
    m->slot_count = m->slot_count ? m->slot_count * 2 : 16;
    free(m->slots);
    m->slots = mem_zalloc(sizeof(uint32_t) * m->slot_count);
    for (uint32_t e = 0; e < m->entries.len; e++)
        *map_slot(m, m->entries.data[e].key, strlen(m->entries.data[e].key)) = e + 1;
}

void *map_get_n(const struct map *m, const char *key, size_t len)
{
    if (!m->slot_count) return NULL;
    uint32_t e = *map_slot(m, key, len);
    return e ? m->entries.data[e - 1].value : NULL;
}

void *map_get(const struct map *m, const char *key) { return map_get_n(m, key, strlen(key)); }

void map_put(struct map *m, const char *key, void *value)
{
    if (m->entries.len * 4 >= m->slot_count * 3) map_grow(m);
    uint32_t *slot = map_slot(m, key, strlen(key));
    if (!*slot) {
        vec_push(&m->entries, (struct map_entry){mem_strdup(key), NULL});
        *slot = m->entries.len;
    }
    m->entries.data[*slot - 1].value = value;
}

void map_free(struct map *m)
{
    for (uint32_t e = 0; e < m->entries.len; e++) free(m->entries.data[e].key);
    vec_free(&m->entries);
    free(m->slots);
    m->slots = NULL;
    m->slot_count = 0;
}
