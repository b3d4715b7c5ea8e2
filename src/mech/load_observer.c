/* load_observer.c: `loads`, an observer for Linebacker's Figures 2 and 3 (Oh et al., ISCA'19, section 2.3):
 * how much data the static loads of a kernel find again within a window, and how much they stream through.
 *
 * In a window an endless cache is kept for each load. A load *streams* if more than 95% of its accesses are
 * the first to their line. Of the others the four with the most accesses count: their lines that they access
 * again are the *reused working set*; a line of it is one load's own if no other load touches it in the
 * window. (1) It changes nothing. (2) A window ends with the kernel, too. Left out: local memory, and lines
 * and loads beyond its tables, which are counted. */
#include "heddle/mechanism.h"

enum { LOADS_MAX = 64, LOADS_TOP = 4 };

struct loads_params {
    uint32_t window, threshold, lines;
};

/* A line that a load has touched: in which window, and how often. */
struct loads_line {
    uint64_t line, window;
    uint32_t load, count;
};

struct loads_load {
    uint32_t pc;
    uint64_t accesses, distinct;
};

struct loads {
    const struct loads_params *params;
    const struct mech_ports *ports;
    struct loads_line *table;
    uint64_t window;
    uint32_t used, count;
    bool is_fresh;
    struct loads_load loads[LOADS_MAX];
    uint64_t windows, accesses, reused_lines, own_lines, streaming_lines, streaming_loads, overflows,
        loads_max;
};

static const struct param_row loads_params[] = {
    PARAM_NUMBER(loads_params, window, "loads.window", "cycles", "50000", 100, 100000000, "period"),
    PARAM_NUMBER(loads_params, threshold, "loads.threshold", "percent", "95", 0, 100,
                 "share of first accesses above which a load streams"),
    PARAM_NUMBER(loads_params, lines, "loads.lines", "lines", "65536", 64, 1 << 22,
                 "lines of all loads that a window has room for, a power of two"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(loads, field, "loads." #field, unit, help, NULL)
static const struct stat_row loads_stats[] = {
    COUNT(windows, "windows", "windows, SM by SM, in which a load was seen"),
    COUNT(accesses, "accesses", "accesses of loads to global memory"),
    COUNT(reused_lines, "lines",
          "lines that the four busiest loads that do not stream touched again, summed over windows"),
    COUNT(own_lines, "lines", "of these, touched by one load alone"),
    COUNT(streaming_lines, "lines", "lines of loads that stream, summed over windows"),
    COUNT(streaming_loads, "loads", "loads that stream, summed over windows"),
    COUNT(overflows, "accesses", "accesses that the tables had no room for"),
    STAT_LARGEST(loads, loads_max, "loads.loads", "loads", "most static loads in a window"),
    {0},
};

static bool loads_is_pow2(uint32_t n) { return n && !(n & (n - 1)); }

static enum mech_fit loads_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct loads_params *p = params;
    static const char text[] = "loads.lines must be a power of two";
    if (loads_is_pow2(p->lines)) return MECH_FITS;
    for (size_t i = 0; i < sizeof text; i++) reason[i] = text[i];
    return MECH_MISFIT;
}

static void loads_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct loads *s = state;
    s->params = params;
    s->ports = ports;
    s->table = ports->memory(ports->host, s->params->lines * sizeof *s->table);
    s->window = 1;
}

/* ---- tables ---- */

/* The slot of a line and load in this window: its own, or a free one. NULL: the table is full. */
static struct loads_line *loads_find(const struct loads *s, uint64_t line, uint32_t load)
{
    const uint32_t mask = s->params->lines - 1;
    uint64_t hash = (line / s->ports->line_bytes * LOADS_MAX + load) * 0x9e3779b97f4a7c15ull >> 24;
    for (uint32_t n = 0; n <= mask; n++, hash++) {
        struct loads_line *l = &s->table[hash & mask];
        if (l->window != s->window || (l->line == line && l->load == load)) return l;
    }
    return NULL;
}

static uint32_t loads_number(struct loads *s, uint32_t pc)
{
    uint32_t i = 0;
    while (i < s->count && s->loads[i].pc != pc) i++;
    if (i == s->count && s->count < LOADS_MAX) s->loads[s->count++] = (struct loads_load){.pc = pc};
    return i;
}

static void loads_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct loads *s = state;
    if (e->is_store || e->is_atomic || e->is_local || e->is_prefetch) return;
    const uint32_t load = loads_number(s, e->pc);
    struct loads_line *l =
        load < LOADS_MAX && s->used < s->params->lines / 4 * 3 ? loads_find(s, e->line, load) : NULL;
    s->accesses++;
    if (!l) {
        s->overflows++;
        return;
    }
    s->loads[load].accesses++;
    if (l->window == s->window) {
        l->count++;
        return;
    }
    *l = (struct loads_line){.line = e->line, .window = s->window, .load = load, .count = 1};
    s->loads[load].distinct++;
    s->used++;
}

/* ---- windows ---- */

static bool loads_streams(const struct loads *s, const struct loads_load *l)
{
    return l->distinct * 100 > l->accesses * s->params->threshold;
}

/* The busiest loads that do not stream, a mask. */
static uint64_t loads_top(const struct loads *s)
{
    uint64_t top = 0;
    for (int n = 0; n < LOADS_TOP; n++) {
        uint32_t best = LOADS_MAX;
        for (uint32_t i = 0; i < s->count; i++)
            if (!(top >> i & 1) && !loads_streams(s, &s->loads[i]) &&
                (best == LOADS_MAX || s->loads[i].accesses > s->loads[best].accesses))
                best = i;
        if (best < LOADS_MAX) top |= 1ull << best;
    }
    return top;
}

static bool loads_is_own(const struct loads *s, const struct loads_line *l)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct loads_line *other = i == l->load ? NULL : loads_find(s, l->line, i);
        if (other && other->window == s->window) return false;
    }
    return true;
}

static void loads_end_window(struct loads *s)
{
    const uint64_t top = loads_top(s);
    for (uint32_t i = 0; i < s->params->lines; i++) {
        const struct loads_line *l = &s->table[i];
        if (l->window != s->window || l->count < 2 || !(top >> l->load & 1)) continue;
        s->reused_lines++;
        s->own_lines += loads_is_own(s, l);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (!loads_streams(s, &s->loads[i])) continue;
        s->streaming_lines += s->loads[i].distinct;
        s->streaming_loads++;
    }
    if (s->count > s->loads_max) s->loads_max = s->count;
    s->windows += s->count != 0;
    s->count = s->used = 0;
    s->window++;
}

static void loads_on_timer(void *state, uint64_t cycle) { loads_end_window(state); }

static void loads_on_kernel(void *state, bool is_start)
{
    struct loads *s = state;
    s->is_fresh = is_start;
    if (is_start) return;
    loads_end_window(s);
    s->ports->set_timer(s->ports->host, 0, 0);
}

static void loads_on_cta(void *state, const struct mech_cta *e)
{
    struct loads *s = state;
    if (s->is_fresh) s->ports->set_timer(s->ports->host, e->cycle, s->params->window);
    s->is_fresh = false;
}

const struct mechanism mechanism_loads = {
    .api = HEDDLE_MECHANISM_API,
    .name = "loads",
    .summary = "observer: what static loads find again and what they stream, window by window",
    .paper = "Figures 2 and 3 of Linebacker, ISCA'19",
    .params = loads_params,
    .param_bytes = sizeof(struct loads_params),
    .stats = loads_stats,
    .state_bytes = sizeof(struct loads),
    .check = loads_check,
    .init = loads_init,
    .on_kernel = loads_on_kernel,
    .on_cta = loads_on_cta,
    .on_timer = loads_on_timer,
    .on_l1_access = loads_on_l1_access,
};
