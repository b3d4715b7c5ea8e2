/* hooks_kit.h: for the tests of the interface: a mechanism of a few lines, and the L1 accesses that it was
 * told of. */
#ifndef HEDDLE_HOOKS_KIT_H
#define HEDDLE_HOOKS_KIT_H

#include "script_kit.h"

/* The state of all mechanisms here: a few numbers, which are also statistics. */
enum { COUNTS = 4 };
struct tiny {
    const struct mech_ports *ports;
    uint64_t n[COUNTS];
};
#define N(i) STAT_COUNT(tiny, n[i], "blank.n" #i, "", "for the test", NULL)
static const struct stat_row tiny_stats[] = {N(0), N(1), N(2), N(3), {0}};

static inline void tiny_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct tiny *)state)->ports = ports;
}

/* Attaches these hooks; init is tiny_init unless they have one. */
static inline void attach(struct mechanism hooks)
{
    hooks.state_bytes = sizeof(struct tiny);
    hooks.stats = tiny_stats;
    if (!hooks.init) hooks.init = tiny_init;
    blank_fill(hooks);
}

/* Adds the content and the time of an event to a statistic. */
static inline void tell(void *state, uint32_t i, uint64_t cycle, uint64_t what)
{
    ((struct tiny *)state)->n[i] += (cycle + 1) * (what + 1);
}

static inline struct play with_blank(const char *script)
{
    return (struct play){.script = script, .mechs = {blank_file}};
}

/* The first accesses of the L1; a test sets access_count to 0. */
static struct mech_l1_access access_log[256];
static uint32_t access_count;

static inline void log_access(void *state, const struct mech_l1_access *e)
{
    if (access_count < ARRAY_LEN(access_log)) access_log[access_count++] = *e;
}

#endif
