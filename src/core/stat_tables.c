/* stat_tables.c: the tables of all statistics that a machine can count. */
#include "core/stat_tables.h"

#include "core/helper_counts.h"
#include "core/mech/mech_host.h"
#include "core/queue_stats.h"
#include "core/snapshot.h"

static const struct stats_table component_tables[] = {
    {"gpu", "the whole GPU", "src/core", gpu_stat_rows},
    {"sm", "streaming multiprocessors, summed over all", "src/core", sm_stat_rows},
    {"l1", "L1 data caches, summed over all SMs", "src/mem", l1_stat_rows},
    {"xbar", "crossbar, both networks", "src/mem", xbar_stat_rows},
    {"helper", "SMs in cache mode, where a mechanism has some", "src/core", helper_stat_rows},
    {"ring", "ring between the SMs, where a mechanism uses it", "src/mem", smring_stat_rows},
    {"l2", "L2 cache, summed over all slices", "src/mem", l2_stat_rows},
    {"dram", "DRAM, summed over all channels", "src/mem", dram_stat_rows},
    {"queue", "queues between the components, summed over all of a kind", "src/mem/link.c", queue_stat_rows},
};

bool machine_stats_at(uint32_t i, struct stats_table *out)
{
    if (i < ARRAY_LEN(component_tables)) {
        *out = component_tables[i];
        return true;
    }
    i -= ARRAY_LEN(component_tables);
    for (const struct mechanism *const *m = mech_builtin; *m; m++) {
        if (!(*m)->stats || i--) continue;
        *out = (struct stats_table){(*m)->name, (*m)->summary, "src/mech", (*m)->stats};
        return true;
    }
    return false;
}
