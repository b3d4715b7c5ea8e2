/* view.h: what the printers print: the kernels, totals, samples and CTAs of a run, gathered once. Made from a
 * timed GPU (core/timed_view.c) or by hand (tests); the printers know nothing else. */
#ifndef HEDDLE_STATS_VIEW_H
#define HEDDLE_STATS_VIEW_H

#include "energy/energy.h"
#include "stats/run.h"

enum stats_name {
#define STATS_NAME(id, name) STATS_##id,
#include "stats/names.def"
#undef STATS_NAME
    STATS_NAME_COUNT
};
extern const char *const stats_names[STATS_NAME_COUNT];

/* The parts of the machine's description that printers show. */
struct stats_machine {
    const char *name;
    uint32_t sms, warps_per_sm;
    uint32_t core_khz, xbar_khz, l2_khz, dram_khz;
    /* bytes of a flit, from SMs to L2 and back, and of a burst of DRAM */
    uint32_t request_flit, reply_flit, burst_bytes;
};

struct stats_view {
    struct stats_machine machine;
    const struct timed_group *groups;
    uint32_t group_count;
    bool (*is_own)(const struct timed_group *,
                   /* see timed_kernel.overlapped; may be NULL */
                   const struct stat_row *);
    const struct timed_kernel **kernels;
    uint32_t kernel_count;
    /* kernels that overlap count once */
    struct timed_kernel total;
    const struct timed_sample **samples;
    uint32_t sample_count;
    /* the last interval, where the run ended inside one: see view_add_rest */
    struct timed_sample rest;
    const struct timed_cta **ctas;
    uint32_t cta_count;
    const struct timed_transfer **transfers;
    uint32_t transfer_count;
    /* in order of cycle, SM and writing; how many more were written than are kept */
    struct timed_note *notes;
    uint32_t note_count;
    uint64_t notes_dropped;
    /* of each SM and of each slice, over the whole run */
    void **l1s, **l2s;
    uint32_t l1_count, l2_count;
    /* NULL: not asked for */
    const struct energy_table *energy;
    /* rows of the run's mechanisms */
    const struct energy_row *const *energy_rows;
    uint32_t energy_row_count;
    uint64_t hash;
    /* the run was stopped early */
    bool partial;
    /* processor time of the whole process */
    double host_seconds;
    struct {
        /* NULL: no group has it */
        const struct stat_row *row;
        uint32_t group;
    } known[STATS_NAME_COUNT];
};

/* Appends what the run did after the last full sample (total less all samples), if anything; samples has room
 * for it. */
void view_add_rest(struct stats_view *v);
/* Fills known[] from groups: for views made by hand. */
void view_resolve(struct stats_view *v);

/* stats: one struct for each group, as in timed_kernel and timed_sample. A statistic in no group is 0. */
uint64_t view_count(const struct stats_view *v, void *const *stats, enum stats_name id);
/* The value in one struct of the statistic's own group. */
uint64_t view_count_in(const struct stats_view *v, const void *group_stats, enum stats_name id);
double view_ratio(const struct stats_view *v, void *const *stats, enum stats_name num, enum stats_name den);
/* The share of the last bucket of a histogram: how much of the time a queue was full. */
double view_last_share(const struct stats_view *v, void *const *stats, enum stats_name id);
/* Any statistic by its name, and what the run or a kernel cost: v->energy is there. */
double view_value(const struct stats_view *v, void *const *stats, const char *name);
struct energy_sum view_energy(const struct stats_view *v, void *const *stats);
/* Joules of one of v->energy_rows. */
double view_row_joules(const struct stats_view *v, void *const *stats, const struct energy_row *row);
bool view_has(const struct stats_view *v, enum stats_name id);
double view_per_cycle(const struct stats_view *v, const struct timed_kernel *k, enum stats_name id);
static inline uint64_t kernel_cycles(const struct timed_kernel *k) { return k->end_cycle - k->start_cycle; }

/* An empty set of structs, and dst += src over all groups: for sums of kernels. */
void **view_zeros(const struct stats_view *v);
void view_add(const struct stats_view *v, void **dst, void *const *src);
void view_free_stats(const struct stats_view *v, void **stats);

#endif
