/* base.h: what every file of Heddle may rely on: fixed-width types, checked memory, asserts that are on in
 * every build. This folder knows nothing of GPUs. */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <assert.h> /* static_assert */
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
/* A function that is seldom called: the compiler keeps it apart from the code that is. */
#define COLD __attribute__((cold, noinline))
/* A function that runs in most cycles: the compiler keeps these side by side. */
#define HOT __attribute__((hot))
/* A function whose caller is better off without its code: it needs registers that the caller has no use
 * for. */
#define NOINLINE __attribute__((noinline))
#else
#define PRINTF_LIKE(fmt, first)
#define NORETURN
#define LIKELY(x)   (x)
#define UNLIKELY(x) (x)
#define COLD
#define HOT
#define NOINLINE
#endif

/* Bytes of a cache line of the host. State that is used together lies together. */
enum { HOST_LINE = 64 };

/* Ends the process and names the source line: the code relies on never getting there. */
NORETURN COLD void base_unreachable(const char *file, int line, const char *what);
#define UNREACHABLE(what) base_unreachable(__FILE__, __LINE__, what)

/* Asserts state what the code relies on. `assert` is on in every build, for checks that cost next to nothing
 * beside the code around them. `debug_assert` is for costly ones: on a path that every access or every cycle
 * takes, or a walk over a whole structure. Only builds without NDEBUG (debug, sanitizers, fuzzing) evaluate
 * it; the others compile it and drop it. */
NORETURN COLD void base_assert_failed(const char *file, int line, const char *condition);
#undef assert
#define assert(condition) (LIKELY(condition) ? (void)0 : base_assert_failed(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define debug_assert(condition) ((void)(0 && (condition)))
#else
#define debug_assert(condition) assert(condition)
#endif

/* Allocations that never return NULL: without memory the process ends with a message. mem_zalloc clears;
 * mem_zalloc_lines starts at a cache line of the host and fills whole ones. mem_check returns `got`, the
 * result of a request for `bytes`, unless that failed. */
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
