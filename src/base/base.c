/* base.c: checked memory, and the end of a process that has met a bug of Heddle. */
#include "base/base.h"

void base_unreachable(const char *file, int line, const char *what)
{
    fprintf(stderr, "heddle: internal error: %s:%d: %s\n", file, line, what);
    abort();
}

void base_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "heddle: internal error: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

void *mem_check(void *p, size_t bytes)
{
    if (!p && bytes) {
        fprintf(stderr, "heddle: out of memory: could not allocate %zu bytes\n", bytes);
        abort();
    }
    return p;
}

void *mem_alloc(size_t bytes) { return mem_check(malloc(bytes ? bytes : 1), bytes); }
void *mem_zalloc(size_t bytes) { return mem_check(calloc(1, bytes ? bytes : 1), bytes); }
void *mem_realloc(void *old, size_t bytes) { return mem_check(realloc(old, bytes ? bytes : 1), bytes); }

void *mem_zalloc_lines(size_t bytes)
{
    size_t whole = round_up_u64(MAX(bytes, 1u), HOST_LINE);
    return memset(mem_check(aligned_alloc(HOST_LINE, whole), whole), 0, whole);
}

char *mem_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(mem_alloc(n), text, n);
}
