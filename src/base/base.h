/* base.h: what every file of Heddle may lean on: fixed-width types, checked memory, asserts that stay in.
 * This folder knows nothing of GPUs. */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN                __attribute__((noreturn))
#define LIKELY(x)               __builtin_expect(!!(x), 1)
#define UNLIKELY(x)             __builtin_expect(!!(x), 0)
#define COLD                    __attribute__((cold, noinline)) /* seldom called: out of the way of the code that is */
#else
#define PRINTF_LIKE(fmt, first)
#define NORETURN
#define LIKELY(x)   (x)
#define UNLIKELY(x) (x)
#define COLD
#endif

enum { HOST_LINE = 64 }; /* bytes of a cache line of the host: state that is used together lies together */

/* A state that the code relies on never to be reached; ends the process and names the place. */
NORETURN void base_unreachable(const char *file, int line, const char *what);
#define UNREACHABLE(what) base_unreachable(__FILE__, __LINE__, what)

/* Memory that is there or the process ends saying so. mem_zalloc clears; mem_zalloc_lines begins at a cache line of the host and
 * fills whole ones. mem_check gives back what a request for so many bytes got. */
void *mem_alloc(size_t bytes);
void *mem_zalloc(size_t bytes);
void *mem_zalloc_lines(size_t bytes);
void *mem_realloc(void *old, size_t bytes);
char *mem_strdup(const char *text);
void *mem_check(void *got, size_t bytes);

static inline uint64_t round_up_u64(uint64_t value, uint64_t multiple)
{
    return multiple ? (value + multiple - 1) / multiple * multiple : value;
}
static inline bool is_pow2_u64(uint64_t v) { return v && !(v & (v - 1)); }

#endif
