/* helper_counts.c: see helper_counts.h. */
#include "core/helper_counts.h"

#include "core/sm/sm.h"
#include "core/sm/sm_stats.h"
#include "mem/l1.h"

const struct stat_row helper_stat_rows[] = {
    STAT_COUNT(helper_counts, elapsed, "helper.elapsed", "cycles", "core cycles", NULL),
    STAT_RATIO(helper_counts, cycles, elapsed, "helper.sms", "SMs", "SMs in cache mode, on average", NULL),
    STAT_COUNT(helper_counts, changes, "helper.changes", "changes", "times that SMs changed their roles",
               NULL),
    STAT_COUNT(helper_counts, change_cycles, "helper.change_cycles", "cycles",
               "core cycles for which kernels waited while SMs changed their roles", NULL),
    STAT_RATIO(helper_counts, issues, slots, "helper.busy", "%", "issue slots that they used, of all", NULL),
#define HELPER_COUNT(field, unit, help, value)                                                               \
    STAT_COUNT(helper_counts, field, "helper." #field, unit, help, NULL),
#include "core/helper_counts.def"
#undef HELPER_COUNT
    {0},
};

void helper_counts_add(const struct wiring *w, struct helper_counts *out)
{
    out->changes += w->role_counts.changes;
    out->change_cycles += w->role_counts.cycles;
    out->elapsed += ((const struct sm_stats *)sm_stats(w->sms[0]))->cycles;
    for (uint32_t i = w->compute_count; i < w->sm_count; i++) {
        const struct sm_stats *sm = sm_stats(w->sms[i]);
        const struct l1_stats *l1 = sm_l1_stats(w->sms[i]);
#define HELPER_COUNT(field, unit, help, value) out->field += value;
#include "core/helper_counts.def"
#undef HELPER_COUNT
    }
}
