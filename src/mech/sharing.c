/* sharing.c: an observer that measures reuse between SMs (thesis, 4.3.1) and changes nothing. A load of
 * global memory that misses in its L1 is *shared* if another L1 holds the line at that time; the share of
 * such misses is the reuse coefficient (Table 4.2). Who shares with whom is a matrix (Figure 4.2): the row is
 * the SM that misses, the column one that holds the line; a miss counts for each of its holders.
 *
 * (1) "At that time" is the end of the cycle before. (2) The diagonal is zero: what an SM misses it does not
 * hold. (3) SMs from SHARING_SMS on are in no row or column of the matrix, but count in all else. */
#include "heddle/mechanism.h"

enum { SHARING_SMS = 32 };

struct sharing {
    const struct mech_ports *ports;
    uint64_t misses, shared, holders;
    /* by the distance in SMs, the shorter way round */
    uint64_t distance[SHARING_SMS];
    /* [SM that misses * SHARING_SMS + SM that holds the line] */
    uint64_t matrix[SHARING_SMS * SHARING_SMS];
};

static const struct stat_row sharing_stats[] = {
    STAT_COUNT(sharing, misses, "sharing.misses", "misses", "loads of global memory that missed in the L1",
               NULL),
    STAT_COUNT(sharing, shared, "sharing.shared", "misses", "those whose line another L1 held", NULL),
    STAT_RATIO(sharing, shared, misses, "sharing.reuse", "misses",
               "reuse coefficient: share of the misses whose line another L1 held", NULL),
    STAT_COUNT(sharing, holders, "sharing.holders", "L1s", "L1s that held the line, summed over these misses",
               NULL),
    STAT_HISTOGRAM(sharing, distance, "sharing.distance", SHARING_SMS, "L1s",
                   "holders by their distance from the SM that misses, the shorter way round the SMs"),
    STAT_HISTOGRAM(sharing, matrix, "sharing.matrix", SHARING_SMS *SHARING_SMS, "L1s",
                   "holders by SM that misses (32 bins each) and SM that holds the line"),
    {0},
};

static void sharing_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    ((struct sharing *)state)->ports = ports;
}

static uint32_t sharing_uses(const void *params) { return MECH_USES_SHARERS; }

static void sharing_count_holder(struct sharing *s, uint32_t holder)
{
    const uint32_t sm = s->ports->sm, around = s->ports->sm_count;
    const uint32_t apart = holder > sm ? holder - sm : sm - holder;
    const uint32_t distance = apart < around - apart ? apart : around - apart;
    s->holders++;
    if (distance < SHARING_SMS) s->distance[distance]++;
    if (sm < SHARING_SMS && holder < SHARING_SMS) s->matrix[sm * SHARING_SMS + holder]++;
}

static void sharing_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct sharing *s = state;
    const bool is_load = !e->is_store && !e->is_atomic && !e->is_local && !e->is_prefetch;
    if (!is_load || e->outcome != MECH_L1_MISS) return;
    const uint64_t before = s->holders, *sharers = s->ports->sharers(s->ports->host, e->line);
    for (uint32_t sm = 0; sm < s->ports->sm_count; sm++)
        if (sharers[sm / 64] >> sm % 64 & 1 && sm != s->ports->sm) sharing_count_holder(s, sm);
    s->misses++;
    s->shared += s->holders != before;
}

const struct mechanism mechanism_sharing = {
    .api = HEDDLE_MECHANISM_API,
    .name = "sharing",
    .summary = "measures reuse between the L1s of SMs; changes nothing",
    .paper = "thesis, 4.3.1",
    .stats = sharing_stats,
    .state_bytes = sizeof(struct sharing),
    .uses = sharing_uses,
    .init = sharing_init,
    .on_l1_access = sharing_on_l1_access,
};
