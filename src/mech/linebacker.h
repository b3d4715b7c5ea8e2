/* linebacker.h: the parameters and the state of Linebacker (linebacker.c). */
#ifndef HEDDLE_MECH_LINEBACKER_H
#define HEDDLE_MECH_LINEBACKER_H

#include "mech/cta_manager.h"
#include "mech/load_monitor.h"
#include "mech/vtt.h"

struct linebacker_params {
    bool select, throttle;
    uint32_t window, threshold, agree, first_row, ways, partitions, vp_latency, upper, lower, buffer,
        restore_rows, rows;
};
enum linebacker_rows { ROWS_IDLE, ROWS_DYNAMIC };
enum linebacker_phase { LB_OFF, LB_MONITORS, LB_CACHES };

struct linebacker {
    const struct linebacker_params *params;
    const struct mech_ports *ports;
    struct load_monitor monitor;
    struct vtt vtt;
    struct cta_manager ctas;
    enum linebacker_phase phase;
    /* the kernel has begun, and no CTA was seen yet; it may be throttled */
    bool is_fresh, may_throttle;
    /* rows that CTAs of the kernel have had: those above were always idle */
    uint32_t rows_seen;
    /* instructions until the newest window began, and of the window before it */
    uint64_t issued, window_insts;
    /* when the newest search began; up to when idle rows are counted */
    uint64_t searched, counted_to;
    uint64_t windows, chosen_loads, choices, choice_windows, kernels_off, kernels_short, kernels_cooperative;
    uint64_t lookups, hits, inserts, invalidations, conflicts, search_cycles;
    uint64_t throttles, releases, refusals;
    uint64_t active_cycles, idle_static, idle_dynamic, used_rows;
    uint64_t manager_accesses, lm_accesses, vtt_accesses, rows_out, rows_in;
};

/* linebacker_rows.c */
extern const struct param_row linebacker_params[];
extern const struct stat_row linebacker_stats[];
extern const struct energy_row linebacker_energy[];
/* Partitions of the tag table that a register file of these rows has room for. */
uint32_t linebacker_partitions(const struct linebacker_params *p, uint32_t sets, uint32_t rows);
enum mech_fit linebacker_check(const void *params, const struct mech_machine *m, char *reason);
/* Section 4.2. */
void linebacker_cost(const void *params, const struct mech_machine *m, struct mech_cost *c);

#endif
