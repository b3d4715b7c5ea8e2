/* linebacker_rows.c: the parameters of Linebacker (the paper's Table 3), what it counts, what it does not run
 * on, and what it costs (section 4.2). */
#include "mech/linebacker.h"

#include "mech/cost.h"

#include <stdio.h>

static const char *const agree_names[] = {"set", "load", NULL}, *const row_names[] = {"idle", "dynamic",
                                                                                      NULL};

#define NUMBER(field, unit, def, lo, hi, help)                                                               \
    PARAM_NUMBER(linebacker_params, field, "linebacker." #field, unit, def, lo, hi, help)
const struct param_row linebacker_params[] = {
    PARAM_FLAG(linebacker_params, select, "linebacker.select", "true",
               "keep lines of the loads that the monitor chooses; false: of all, from the first cycle on"),
    PARAM_FLAG(linebacker_params, throttle, "linebacker.throttle", "true",
               "throttle CTAs by the change of the IPC, and use their rows; needs linebacker.select"),
    NUMBER(window, "cycles", "50000", 100, 100000000, "period of the monitor and of the IPC (Table 3)"),
    NUMBER(threshold, "percent", "20", 0, 100, "share of hits above which a load is hot (Table 3)"),
    PARAM_CHOICE(linebacker_params, agree, "linebacker.agree", "set", agree_names,
                 "two windows agree if their sets of hot loads are equal (3.2), or on each load that is hot "
                 "in both (4.1)"),
    NUMBER(first_row, "rows", "512", 0, 65536, "row of the first entry of the tag table (equation 2)"),
    NUMBER(ways, "ways", "4", 1, 64, "ways of a partition (Table 3)"),
    NUMBER(partitions, "partitions", "8", 1, VTT_PARTITIONS_MAX,
           "partitions of the tag table (Table 3); at most as many as there are rows for"),
    NUMBER(vp_latency, "cycles", "3", 0, 1000, "time to search one partition (Table 3)"),
    NUMBER(upper, "percent", "10", 0, 1000, "gain of IPC above which one more CTA is throttled (Table 3)"),
    NUMBER(lower, "percent", "10", 0, 100, "loss of IPC above which one comes back (Table 3)"),
    NUMBER(buffer, "rows", "6", 1, MECH_TRANSFER_BUFFER_MAX,
           "rows in the buffer between registers and memory (section 4)"),
    NUMBER(restore_rows, "rows", "64", 1, MECH_TRANSFER_BUFFER_MAX,
           "asked back from memory at a time: the buffer holds rows that are here and wait for their bank "
           "(section 4); linebacker.buffer: it holds a row from its request on"),
    PARAM_CHOICE(linebacker_params, rows, "linebacker.rows", "idle", row_names,
                 "rows for lines: all idle ones, or those of throttled CTAs alone (beside cacheext)"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(linebacker, field, "linebacker." #field, unit, help, NULL)
const struct stat_row linebacker_stats[] = {
    COUNT(windows, "windows", "windows that have ended, on all SMs"),
    COUNT(choices, "kernels", "kernels, SM by SM, whose hot loads were chosen"),
    COUNT(choice_windows, "windows", "windows that these took until then"),
    COUNT(chosen_loads, "loads", "entries of the load monitor that were chosen"),
    COUNT(kernels_off, "kernels", "kernels, SM by SM, in which two windows had no hot load"),
    COUNT(kernels_short, "kernels", "kernels, SM by SM, that ended before two windows had"),
    COUNT(kernels_cooperative, "kernels",
          "kernels, SM by SM, of cooperative grids, whose CTAs are not throttled: they wait for each other"),
    COUNT(lookups, "misses", "misses of the L1 that were looked up in the registers"),
    COUNT(hits, "misses", "of these, found: register hits"),
    COUNT(inserts, "lines", "lines that went into a row"),
    COUNT(invalidations, "lines", "lines in rows that a store or atomic dropped"),
    COUNT(conflicts, "accesses", "reads and writes of a row whose bank was taken"),
    COUNT(search_cycles, "cycles", "cycles of all searches"),
    COUNT(throttles, "CTAs", "CTAs that were throttled"),
    COUNT(releases, "CTAs", "CTAs that may be active again for a loss of IPC"),
    COUNT(refusals, "CTAs",
          "CTAs that could not be throttled: none but one is active, or one leaves already"),
    COUNT(active_cycles, "cycles", "cycles with a CTA, summed over SMs"),
    COUNT(idle_static, "row-cycles", "rows that no CTA of the kernel has had (SUR), summed over these"),
    COUNT(idle_dynamic, "row-cycles",
          "of the others, rows without registers of a CTA while CTAs are throttled (DUR)"),
    COUNT(used_rows, "row-cycles", "rows of partitions that were on"),
    COUNT(manager_accesses, "accesses",
          "of the CTA manager: CTAs that start, end, leave or return; judged windows"),
    COUNT(lm_accesses, "accesses", "of the load monitor: loads that it counted"),
    COUNT(vtt_accesses, "accesses", "of the tag table: partitions that were searched, and tags that came in"),
    COUNT(rows_out, "rows", "rows of registers of throttled CTAs that went to memory"),
    COUNT(rows_in, "rows", "rows of registers of these that came back"),
    {0},
};

const struct energy_row linebacker_energy[] = {
    ENERGY_PJ("linebacker.manager", "linebacker.manager_accesses", 1.94,
              "access to the CTA manager (Table 3)"),
    ENERGY_PJ("linebacker.hpc", "l1.load_accesses", 0.09, "access to the hashed PC of a line (Table 3)"),
    ENERGY_PJ("linebacker.lm", "linebacker.lm_accesses", 0.32, "access to the load monitor (Table 3)"),
    ENERGY_PJ("linebacker.vtt", "linebacker.vtt_accesses", 2.05,
              "access to a partition of the tag table (Table 3)"),
    COST_LINES_IN_ROWS("linebacker", "hits", "inserts"),
    ENERGY_LIKE("linebacker.backup", "linebacker.rows_out", COST_ROW_LANES, "register_read",
                "row of a CTA that goes to memory"),
    ENERGY_LIKE("linebacker.restore", "linebacker.rows_in", COST_ROW_LANES, "register_write",
                "row of a CTA that comes back"),
    {0},
};

uint32_t linebacker_partitions(const struct linebacker_params *p, uint32_t sets, uint32_t rows)
{
    const uint32_t fit = rows > p->first_row ? (rows - p->first_row) / (sets * p->ways) : 0;
    return fit < p->partitions ? fit : p->partitions;
}

enum mech_fit linebacker_check(const void *params, const struct mech_machine *m, char *reason)
{
    const struct linebacker_params *p = params;
    if (m->line_bytes != MECH_ROW_BYTES)
        snprintf(reason, MECH_REASON_BYTES, "l1.line is %u; a row of registers holds a line of %d bytes",
                 m->line_bytes, (int)MECH_ROW_BYTES);
    else if (!linebacker_partitions(p, m->l1_sets, m->register_rows))
        snprintf(reason, MECH_REASON_BYTES,
                 "the register file has %u rows, and one partition of %u sets needs linebacker.first_row + "
                 "%u = %u",
                 m->register_rows, m->l1_sets, m->l1_sets * p->ways, p->first_row + m->l1_sets * p->ways);
    else if (p->throttle && !p->select)
        snprintf(reason, MECH_REASON_BYTES, "linebacker.throttle needs linebacker.select: turn it off, too");
    else if (p->throttle && m->admits)
        snprintf(reason, MECH_REASON_BYTES,
                 "it throttles CTAs, and '%s' decides which are active: set linebacker.throttle to false",
                 m->admits);
    else
        return MECH_FITS;
    return MECH_MISFIT;
}

void linebacker_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { WORD = 32, TAG = 18 };
    const struct linebacker_params *p = params;
    const uint64_t row = cost_index_bits(m->register_rows);
    const uint64_t ways = (uint64_t)p->ways * linebacker_partitions(p, m->l1_sets, m->register_rows);
    mech_cost_add(c, MECH_EACH_SM, "hpc", (uint64_t)m->l1_sets * m->l1_ways, LM_INDEX_BITS,
                  "hashed PC of each line of the L1");
    mech_cost_add(c, MECH_EACH_SM, "lm", LM_ENTRIES, 3 * WORD + 2,
                  "load monitor: PC, hits, misses, two valid bits");
    mech_cost_add(c, MECH_EACH_SM, "ipc", 3, WORD, "IPC monitor");
    mech_cost_add(c, MECH_EACH_SM, "manager", 1, 2 * row + WORD, "CTA manager: two rows, an address");
    mech_cost_add(c, MECH_EACH_SM, "ctas", m->ctas, 2 + row + WORD,
                  "CTA manager, of each CTA: active, complete, first row, address");
    mech_cost_add(c, MECH_EACH_SM, "vtt", m->l1_sets * ways, 1 + TAG + cost_index_bits(ways),
                  "victim tag table: valid, tag, order");
    mech_cost_add(c, MECH_EACH_SM, "buffer", p->buffer, WORD + 8ull * MECH_ROW_BYTES,
                  "buffer between registers and memory: address, row");
}
