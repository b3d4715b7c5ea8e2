/* arena.c: a chain of blocks, newest first; a piece larger than a block gets a block of its own. */
#include "base/arena.h"

#include <stdarg.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024, ARENA_ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

void *arena_alloc(struct arena *a, size_t bytes)
{
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < bytes) {
        size_t size = MAX(bytes, (size_t)ARENA_BLOCK_BYTES);
        b = mem_zalloc(sizeof *b + size);
        b->size = size;
        b->next = a->head;
        a->head = b;
    }
    void *p = b->data + b->used;
    b->used += bytes;
    a->bytes_used += bytes;
    return p;
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
    char *p = arena_alloc(a, len + 1);
    memcpy(p, text, len);
    p[len] = 0;
    return p;
}

char *arena_strdup(struct arena *a, const char *text) { return arena_strndup(a, text, strlen(text)); }

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){0};
}
