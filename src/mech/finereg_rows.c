/* finereg_rows.c: the parameters and statistics of FineReg (finereg.c), and its cost (V-F): the paper's sum
 * is 5.02 KB. Its parts add up to 5.24 KB as printed (tags 2.15 KB), to 5.71 KB with 1,024 tags of the 21
 * bits that it names; the fields of V-D are 23 bits, which with the free-space monitor makes 6.09 KB. */
#include "mech/cost.h"
#include "mech/finereg.h"

#include <stdio.h>

static const char *const finereg_first[] = {"new", "ready", NULL};
const struct param_row finereg_param_rows[] = {
    PARAM_SIZE(finereg_params, acrf, "finereg.acrf", "128K", 1024, 1 << 30,
               "registers of active CTAs; with finereg.pcrf the register file of an SM"),
    PARAM_SIZE(finereg_params, pcrf, "finereg.pcrf", "128K", 128, PCRF_ENTRIES_MAX * 128,
               "rows of 128 bytes for live registers of pending CTAs"),
    PARAM_NUMBER(finereg_params, vectors, "finereg.vectors", "entries", "32", 2, VECTORS_MAX,
                 "of the cache of live-register vectors; a power of two"),
    PARAM_NUMBER(finereg_params, vector_bits, "finereg.vector_bits", "bits", "64", 64,
                 MECH_REGISTER_WORDS * 64,
                 "of a live-register vector: registers of a thread; a multiple of 64"),
    PARAM_NUMBER(finereg_params, access_cycles, "finereg.access_cycles", "cycles", "4", 1, 1000,
                 "from a tag of the PCRF to its row; rows follow each other"),
    PARAM_NUMBER(finereg_params, stall_cycles, "finereg.stall_cycles", "cycles", "100", 0, 100000,
                 "for which a CTA waits before it counts as stalled: longer than a hit of the L1"),
    PARAM_NUMBER(finereg_params, cycles_per_warp, "finereg.cycles_per_warp", "cycles", "2", 0, 10000,
                 "to move the scheduling state of a warp"),
    PARAM_CHOICE(finereg_params, first, "finereg.first", "new", finereg_first,
                 "who runs when a CTA stalls and the PCRF has room: a new CTA (V-B) or a ready one (V-E)"),
    PARAM_FLAG(finereg_params, unified, "finereg.unified", "false",
               "the PCRF lies in unified memory (VI-G.3): its size is free"),
    PARAM_NUMBER(finereg_params, control_bits, "finereg.control_bits", "bits", "19661", 0, 1 << 30,
                 "storage of the CTA switching logic: 2.4 KB, Virtual Thread's"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(finereg, field, "finereg." #field, unit, help, NULL)
const struct stat_row finereg_stat_rows[] = {
    CTA_TABLE_STATS(finereg, "finereg"),
    COUNT(launches, "switches", "CTAs that went to the PCRF for a new one"),
    COUNT(exchanges, "switches", "CTAs that were exchanged for one of the PCRF"),
    COUNT(restores, "switches", "CTAs that came from the PCRF into free rows"),
    COUNT(context_swaps, "switches", "CTAs that got slots with their registers in the ACRF"),
    COUNT(resumed, "switches", "switches that were given up: the CTA went on"),
    COUNT(rows_out, "rows", "rows that went to the PCRF"),
    COUNT(rows_in, "rows", "rows that came from the PCRF"),
    COUNT(conflicts, "rows", "times that a row found its bank of the ACRF taken"),
    STAT_COUNT(finereg, vectors.lookups, "finereg.vector_lookups", "lookups", "of live-register vectors",
               NULL),
    STAT_COUNT(finereg, vectors.misses, "finereg.vector_misses", "lookups", "that read memory", NULL),
    COUNT(depletions, "CTAs", "stalled CTAs that stayed for want of entries of the PCRF"),
    COUNT(depleted_cycles, "cycles", "cycles with such a CTA, summed over SMs"),
    COUNT(results, "results", "that came for a CTA in the PCRF"),
    COUNT(row_cycles, "row-cycles", "entries of the PCRF in use, summed over cycles"),
    STAT_RATIO(finereg, row_cycles, table.counts.cycles, "finereg.pcrf_rows", "rows",
               "entries of the PCRF that an SM used in cycles with a CTA", NULL),
    STAT_LARGEST(finereg, pcrf_max, "finereg.pcrf_max", "rows", "most entries of the PCRF in use on one SM"),
    {0},
};

const struct energy_row finereg_energy_rows[] = {
    ENERGY_PJ("finereg.vectors", "finereg.vector_lookups", COST_SMALL_TABLE_PJ,
              "access to the cache of live-register vectors"),
    ENERGY_PJ("finereg.tags_out", "finereg.rows_out", COST_LARGE_TABLE_PJ, "tag of the PCRF that is written"),
    ENERGY_PJ("finereg.tags_in", "finereg.rows_in", COST_LARGE_TABLE_PJ, "tag of the PCRF that is read"),
    ENERGY_PJ("finereg.status", "finereg.swaps", COST_SMALL_TABLE_PJ,
              "access to status monitor and pointer table"),
    ENERGY_PJ("finereg.switching", "finereg.swaps", COST_LARGE_TABLE_PJ, "access to the CTA switching logic"),
    ENERGY_LIKE("finereg.acrf_reads", "finereg.rows_out", COST_ROW_LANES, "register_read",
                "row that leaves the ACRF"),
    ENERGY_LIKE("finereg.pcrf_writes", "finereg.rows_out", COST_ROW_LANES, "register_write",
                "row that comes into the PCRF"),
    ENERGY_LIKE("finereg.pcrf_reads", "finereg.rows_in", COST_ROW_LANES, "register_read",
                "row that leaves the PCRF"),
    ENERGY_LIKE("finereg.acrf_writes", "finereg.rows_in", COST_ROW_LANES, "register_write",
                "row that comes back into the ACRF"),
    {0},
};

/* V-F. The tag has the fields of V-D: valid, end, next, warp of 32, register of 64. */
void finereg_cost(const void *params, const struct mech_machine *machine, struct mech_cost *c)
{
    const struct finereg_params *p = params;
    const uint32_t entries = finereg_pcrf_entries(p), next = cost_index_bits(entries);
    mech_cost_add(c, MECH_EACH_SM, "status", CTAS_MAX, 2 * 2,
                  "CTA status monitor: where its context and its registers are");
    mech_cost_add(c, MECH_EACH_SM, "vectors", p->vectors, 8 * VECTOR_PC_BYTES + p->vector_bits,
                  "cache of live-register vectors: PC, vector");
    mech_cost_add(c, MECH_EACH_SM, "pointers", CTAS_MAX, next + 6, "PCRF pointer table: first entry, rows");
    mech_cost_add(c, MECH_EACH_SM, "tags", entries, 1 + 1 + next + 5 + 6,
                  "PCRF tags: valid, end, next, warp, register");
    mech_cost_add(c, MECH_EACH_SM, "free_map", entries, 1, "free-space monitor");
    mech_cost_add(c, MECH_EACH_SM, "switching", 1, p->control_bits,
                  "CTA switching logic (finereg.control_bits)");
}

enum mech_fit finereg_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct finereg_params *p = params;
    const uint64_t file = (uint64_t)machine->register_rows * MECH_ROW_BYTES;
    if (p->acrf + p->pcrf != file && !p->unified)
        snprintf(reason, MECH_REASON_BYTES,
                 "finereg.acrf %llu and finereg.pcrf %llu make %llu bytes, the register"
                 " file has %llu",
                 (unsigned long long)p->acrf, (unsigned long long)p->pcrf,
                 (unsigned long long)(p->acrf + p->pcrf), (unsigned long long)file);
    else if (p->pcrf % MECH_ROW_BYTES || p->acrf % MECH_ROW_BYTES)
        snprintf(reason, MECH_REASON_BYTES, "finereg.acrf and finereg.pcrf are whole rows of %d bytes",
                 (int)MECH_ROW_BYTES);
    else if (p->vector_bits % 64)
        snprintf(reason, MECH_REASON_BYTES, "finereg.vector_bits is %u, which is not a multiple of 64",
                 p->vector_bits);
    else if (p->vectors & (p->vectors - 1))
        snprintf(reason, MECH_REASON_BYTES, "finereg.vectors is %u, which is not a power of two", p->vectors);
    else if (p->unified && machine->takes_rows)
        snprintf(
            reason, MECH_REASON_BYTES,
            "with finereg.unified the L1 has what FineReg leaves, and '%s' wants it, too: keep one of them",
            machine->takes_rows);
    else
        return MECH_FITS;
    return MECH_MISFIT;
}
