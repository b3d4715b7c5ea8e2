/* finereg.h: the state of FineReg (finereg.c), its parameters and what it costs (finereg_rows.c),
 * live registers (finereg_live.c) and rows on their way (finereg_move.c). */
#ifndef HEDDLE_MECH_FINEREG_H
#define HEDDLE_MECH_FINEREG_H

#include "mech/cta_table.h"
#include "mech/live_vectors.h"
#include "mech/pcrf.h"

/* finereg.first */
enum { FIRST_NEW, FIRST_READY };
/* Table IV, of a context and of registers: backed up, in the PCRF; in the pipeline, in the ACRF. */
enum { AT_REST = 1, AT_WORK = 2 };
/* V-F: warps of a CTA; CTAs and warps of an SM, at most. */
enum { CTA_WARPS = 64, CTAS_MAX = 128, WARPS_MAX = 512 };

struct finereg_params {
    uint64_t acrf, pcrf;
    uint32_t vectors, access_cycles, cycles_per_warp, stall_cycles, first, vector_bits, control_bits;
    bool unified;
};

/* The CTA status monitor. */
struct finereg_status {
    uint8_t context, registers;
    /* it stays stalled for want of entries */
    bool is_depleted;
};

enum finereg_stage { SWITCH_NONE, SWITCH_VECTORS, SWITCH_MOVE };
struct finereg_switch {
    enum finereg_stage stage;
    /* the CTA that goes to the PCRF; the one that comes from it; MECH_NO_CTA: none */
    uint32_t out, in;
    /* VECTORS: the next warp, and the next of its PCs; MOVE: the next register to leave */
    uint32_t warp, next;
    /* rows that leave, by warp: the sets that are kept */
    uint32_t rows;
    uint64_t kept[CTA_WARPS][MECH_REGISTER_WORDS];
    /* MOVE: the contexts have moved at this cycle, the last row at that one */
    uint64_t contexts_at, rows_at;
};

struct finereg {
    const struct finereg_params *params;
    const struct mech_ports *ports;
    struct cta_table table;
    struct pcrf pcrf;
    struct live_vectors vectors;
    struct finereg_status *status;
    struct finereg_switch now;
    /* shared memory of a CTA of the kernel that asked last, and of the SM */
    uint64_t shared_asked, shared_limit;
    uint32_t asked_warps;
    bool is_cooperative;
    /* rows of the ACRF are free for a CTA of the grid that has not come yet */
    bool expects;
    uint32_t depleted;
    uint64_t depleted_since;
    /* up to which cycle row_cycles goes */
    uint64_t rows_counted_to;
    uint64_t launches, exchanges, restores, context_swaps, resumed, rows_out, rows_in, conflicts, depletions,
        depleted_cycles, results, pcrf_max, row_cycles;
};

extern const struct param_row finereg_param_rows[];
extern const struct stat_row finereg_stat_rows[];
extern const struct energy_row finereg_energy_rows[];
enum mech_fit finereg_check(const void *params, const struct mech_machine *machine, char *reason);
/* Looks up the vectors of the CTA that will leave, warp by warp, until one has to come from memory; has_come:
 * that one has come. True: all vectors are there, and the registers to keep are known. */
bool finereg_find_live(struct finereg *f, uint64_t cycle, bool has_come);
/* Moves a row each way, as far as banks and entries let it. */
void finereg_move_rows(struct finereg *f, uint64_t cycle);
/* Counts entries in use up to this cycle: before entries are taken or given, and at each event of a CTA. */
void finereg_count_rows(struct finereg *f, uint64_t cycle);
/* Rows of a warp of a CTA. */
uint32_t finereg_warp_rows(const struct finereg *f, uint32_t cta);
/* Rows of the ACRF, the first ones of the register file, and of the PCRF. */
static inline uint32_t finereg_acrf_rows(const struct finereg_params *p)
{
    return (uint32_t)(p->acrf / MECH_ROW_BYTES);
}
static inline uint32_t finereg_pcrf_entries(const struct finereg_params *p)
{
    return (uint32_t)(p->pcrf / MECH_ROW_BYTES);
}
/* V-F. */
void finereg_cost(const void *params, const struct mech_machine *machine, struct mech_cost *c);

#endif
