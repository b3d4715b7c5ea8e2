/* arena.h: memory that is allocated piece by piece and freed all at once. Pieces are 16-byte aligned and
 * zeroed. */
#ifndef HEDDLE_ARENA_H
#define HEDDLE_ARENA_H

#include "base/base.h"

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t bytes_used;
};

void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strndup(struct arena *a, const char *text, size_t len);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The arena is empty and usable again afterwards. */
void arena_free(struct arena *a);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

#endif
