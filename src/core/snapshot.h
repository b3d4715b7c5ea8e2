/* snapshot.h: statistics of the whole machine at one moment: one struct for each group, summed over the
 * instances of the component. What a kernel or a sample did is the difference of two snapshots. */
#ifndef HEDDLE_SNAPSHOT_H
#define HEDDLE_SNAPSHOT_H

#include "core/dispatch.h"
#include "core/stream.h"
#include "core/wiring.h"
#include "stats/run.h"

/* The statistics groups, in this order; those of mechanisms follow, and those of the SMs' ring and of the
 * SMs in cache mode where there are any. */
enum { GROUP_SM, GROUP_L1, GROUP_XBAR, GROUP_L2, GROUP_DRAM, GROUP_QUEUE, GROUP_GPU, GROUP_MECH };

/* The statistics group "gpu". */
struct gpu_counts {
    uint64_t cycles, busy_cycles, kernels, ctas;
    uint64_t copies, copied_bytes, copy_cycles;
};
extern const struct stat_row gpu_stat_rows[];

/* The groups of a machine, and the parts that their counts come from. Written by snapshot.c alone. */
struct snapshots {
    /* mech_end: behind the groups of mechanisms */
    uint32_t group_count, mech_end;
    /* index of the group; 0: there is none */
    uint32_t helper_group;
    struct timed_group *groups;
    const struct wiring *wiring;
    const struct gpu_time *time;
    const struct dispatcher *dispatch;
    const struct stream_set *streams;
    /* a run read from a journal: every snapshot is a copy of these; NULL: the machine is read */
    void **fixed;
    /* added to every snapshot once SMs have changed their roles; NULL: none has */
    void **moved;
};

void snapshot_init(struct snapshots *s, const struct wiring *wiring, const struct gpu_time *time,
                   const struct dispatcher *dispatch, const struct stream_set *streams);
void snapshot_close(struct snapshots *s);

/* Call units_settle first, or the cycles that components slept are missing. */
void **snapshot_take(const struct snapshots *s);
/* SMs have changed their roles since `before` was taken, and nothing was counted meanwhile: what they have
 * counted stays in the group of the role that they had. Frees `before`. */
void snapshot_move_roles(struct snapshots *s, void **before);
/* Every snapshot is a copy of these from now on; they belong to `s`. */
void snapshot_fix(struct snapshots *s, void **stats);
/* The difference of now and an earlier snapshot. */
void **snapshot_since(const struct snapshots *s, void *const *before);
/* NULL is allowed. */
void snapshot_free(void **stats, uint32_t group_count);
/* Hash of a snapshot, over what the rows name. */
uint64_t snapshot_hash(const struct snapshots *s, uint64_t hash, void *const *stats);

#endif
