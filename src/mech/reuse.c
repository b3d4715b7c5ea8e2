/* reuse.c: how far apart the loads of a warp from one line of the L1 are. It decides nothing and changes no
 * cycle: a measuring instrument, for the reuse distance R of the thesis (5.5.2, Figure 5.6).
 *
 * The distance is the number of loads that the SM's L1 has taken from one load of a warp from a line to the
 * next load of the same warp from it, pending hits included; the thesis does not say how it counts. Loads
 * between which another warp loads the line are of that other warp's reuse too.
 *
 * (1) A warp is its launch, not its slot. (2) The table has one entry for each hash of warp and line; of two
 * with the same hash the older is lost (reuse.lost). */
#include "mech/warps.h"

#include <stdio.h>

struct reuse_params {
    uint32_t entries;
};

struct reuse_entry {
    uint64_t line, launch;
    /* number of the load; 0: empty */
    uint64_t at;
};

struct reuse {
    const struct reuse_params *params;
    struct reuse_entry *entries;
    uint64_t loads, pairs, distances, lost;
};

static const struct param_row reuse_params[] = {
    PARAM_NUMBER(reuse_params, entries, "reuse.entries", "entries", "65536", 1, 1u << 24,
                 "entries of the table of warps and lines, a power of two"),
    {0},
};

static const struct stat_row reuse_stats[] = {
    STAT_COUNT(reuse, loads, "reuse.loads", "loads", "loads that the L1 took", NULL),
    STAT_COUNT(reuse, pairs, "reuse.pairs", "loads", "loads from a line that the warp had loaded before",
               NULL),
    STAT_COUNT(reuse, distances, "reuse.distances", "loads",
               "loads from the one before to these, summed over the pairs", NULL),
    STAT_COUNT(reuse, lost, "reuse.lost", "loads", "loads that another one drove out of the table", NULL),
    {0},
};

static enum mech_fit reuse_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const uint32_t entries = ((const struct reuse_params *)params)->entries;
    if (!(entries & (entries - 1))) return MECH_FITS;
    snprintf(reason, MECH_REASON_BYTES, "reuse.entries is %u, which is not a power of two", entries);
    return MECH_MISFIT;
}

static void reuse_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct reuse *r = state;
    r->params = params;
    r->entries = ports->memory(ports->host, r->params->entries * sizeof *r->entries);
}

static struct reuse_entry *reuse_entry(const struct reuse *r, uint64_t line, uint64_t launch)
{
    uint64_t hash = (line ^ launch << 48) * 0x9e3779b97f4a7c15u;
    hash ^= (hash >> 32) + launch;
    return &r->entries[(hash * 0x9e3779b97f4a7c15u >> 32) & (r->params->entries - 1)];
}

static void reuse_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct reuse *r = state;
    if (a->is_store || a->is_atomic || a->is_prefetch || a->outcome == MECH_L1_SENT) return;
    struct reuse_entry *e = reuse_entry(r, a->line, a->launch);
    r->loads++;
    if (e->at && e->line == a->line && e->launch == a->launch) {
        r->pairs++;
        r->distances += r->loads - e->at;
    } else {
        r->lost += e->at != 0;
    }
    *e = (struct reuse_entry){.line = a->line, .launch = a->launch, .at = r->loads};
}

const struct mechanism mechanism_reuse = {
    .api = HEDDLE_MECHANISM_API,
    .name = "reuse",
    .summary = "measures how far apart a warp's loads from a line are; changes nothing",
    .paper = "thesis 5.5.2",
    .params = reuse_params,
    .param_bytes = sizeof(struct reuse_params),
    .stats = reuse_stats,
    .state_bytes = sizeof(struct reuse),
    .check = reuse_check,
    .init = reuse_init,
    .on_l1_access = reuse_on_l1_access,
};
