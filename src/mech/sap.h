/* sap.h: SAP, the scheduling-aware prefetcher of APRES (Oh et al., ISCA'16, section IV-B): for a load that
 * misses it prefetches the lines that the other warps of the load's group are expected to want.
 *
 * The Prefetch Table keeps of each static load the warp that executed it last, that warp's address and the
 * stride from one warp to the next. The Warp Queue holds the group of the load that SAP prefetches for, the
 * Demand Request Queue the addresses that this load missed: a *burst*. */
#ifndef HEDDLE_MECH_SAP_H
#define HEDDLE_MECH_SAP_H

#include "mech/warp_set.h"

enum { SAP_TABLE_MAX = 128, SAP_REQUESTS_MAX = 1024 };

/* Choices that the paper leaves open; the first of each is the default. */
enum sap_warp_id { SAP_WARP_SLOT, SAP_WARP_GRID };
enum sap_requests { SAP_REQUESTS_LOWEST, SAP_REQUESTS_ALL };
enum sap_training { SAP_TRAIN_EXECUTIONS, SAP_TRAIN_MISSES };
enum sap_pace { SAP_PACE_ONE, SAP_PACE_ALL };
enum sap_targets { SAP_TARGETS_CTA, SAP_TARGETS_GROUP };

struct sap_params {
    /* entries of the Demand Request Queue, the Warp Queue and the Prefetch Table */
    uint32_t drq, wq, pt;
    /* enum sap_warp_id, sap_requests, sap_training, sap_pace, sap_targets */
    uint32_t warp_id, requests, training, pace, targets;
};

/* An entry of the Prefetch Table. */
struct sap_entry {
    uint32_t pc;
    /* number of the warp that executed the load last, and the address of that execution */
    int64_t warp;
    uint64_t address;
    /* bytes from one warp to the next */
    int64_t stride;
    bool has_stride;
    /* order of use; 0 = empty */
    uint64_t used;
};

/* The load whose accesses the L1 answers. */
struct sap_load {
    uint64_t id;
    uint32_t pc;
    int64_t warp, stride;
    /* it showed the stride of its entry */
    bool is_strided;
};

/* The load that SAP prefetches for. */
struct sap_burst {
    struct sap_load load;
    /* Warp Queue: the warps to prefetch for */
    struct warp_set wq;
    /* Demand Request Queue: addresses that missed, and the number of those that are done */
    uint64_t drq[SAP_REQUESTS_MAX];
    uint32_t requests, done;
    /* where the oldest request has got to in the Warp Queue, and the line that it asked for last */
    int next_warp;
    uint64_t last_line;
    /* warps that were prefetched for and have not issued a load since */
    struct warp_set targets;
};

struct sap_stats {
    uint64_t trained, matches, strides_stored, bursts, cut, asked, shared, refused;
    uint64_t sent, redundant, dropped, used;
};

struct sap {
    const struct sap_params *params;
    const struct mech_ports *ports;
    struct sap_entry pt[SAP_TABLE_MAX];
    uint64_t uses;
    struct sap_load load;
    struct sap_burst burst;
    /* a prefetch that was asked for has not ended; sap_work is asking: prefetches that end at once are
     * reported during the call */
    bool is_asking, is_working;
    /* by slot: the warp's number, and its CTA */
    int64_t number[MECH_WARPS_MAX];
    uint32_t cta_slot[MECH_WARPS_MAX];
    struct sap_stats stats;
};

void sap_init(struct sap *s, const struct sap_params *params, const struct mech_ports *ports);
/* PCs count from the start of a kernel: another one has other loads. */
void sap_clear(struct sap *s);
void sap_on_warp(struct sap *s, const struct mech_warp_event *e);

/* The first access of a load. is_trained: its stride is taken into the table. */
void sap_begin(struct sap *s, const struct mech_l1_access *a, bool is_trained);
/* LAWS sends the group of a load that missed: the Warp Queue takes it, and forgets the group before. */
void sap_take_group(struct sap *s, const struct mech_l1_access *a, const struct warp_set *group);
/* A request of a load missed: the Demand Request Queue takes it, if its group is in the Warp Queue. */
void sap_take_miss(struct sap *s, const struct mech_l1_access *a);
/* The outcome of a prefetch. */
void sap_on_prefetch(struct sap *s, const struct mech_prefetch *e);
/* Prefetches as far as the pace allows. True: sap_targets has more warps than before. */
bool sap_work(struct sap *s);
/* The warps of the burst that were prefetched for and have not issued a load since. */
const struct warp_set *sap_targets(const struct sap *s);
/* A warp has issued a load: it is where LAWS wanted it to be. */
void sap_on_load(struct sap *s, int warp);

#endif
