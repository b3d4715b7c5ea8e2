/* sap.h: SAP, the scheduling-aware prefetcher of APRES (Oh et al., ISCA'16, section IV-B): for a load that
 * misses it prefetches the lines that the other warps of the load's group are expected to want.
 *
 * The Prefetch Table keeps of each static load the warp that executed it last, that warp's address and the
 * stride from one warp to the next. The Warp Queue holds the group of the load that SAP works on, the Demand
 * Request Queue the addresses that it missed. */
#ifndef HEDDLE_MECH_SAP_H
#define HEDDLE_MECH_SAP_H

#include "mech/warp_set.h"

enum { SAP_TABLE_MAX = 128 };

/* What the paper leaves open, as choices; the first of each is the default. */
enum sap_warp_id { SAP_WARP_SLOT, SAP_WARP_GRID };
enum sap_requests { SAP_REQUESTS_LOWEST, SAP_REQUESTS_ALL };
enum sap_training { SAP_TRAIN_EXECUTIONS, SAP_TRAIN_MISSES };

struct sap_params {
    /* entries of the Demand Request Queue, the Warp Queue and the Prefetch Table */
    uint32_t drq, wq, pt;
    /* enum sap_warp_id, sap_requests, sap_training */
    uint32_t warp_id, requests, training;
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

/* The load that SAP works on. */
struct sap_load {
    uint64_t id;
    uint32_t pc;
    int64_t warp, stride;
    /* it showed the stride of its entry */
    bool is_strided;
    /* Warp Queue: the warps to prefetch for; it is empty until LAWS has sent a group */
    struct warp_set wq;
    /* entries of the Demand Request Queue that it has used */
    uint32_t requests;
};

struct sap_stats {
    uint64_t trained, matches, strides_stored, bursts, asked, shared, refused;
    uint64_t sent, redundant, dropped, used;
};

struct sap {
    const struct sap_params *params;
    const struct mech_ports *ports;
    struct sap_entry pt[SAP_TABLE_MAX];
    uint64_t uses;
    struct sap_load load;
    /* by slot: the warp's number */
    int64_t number[MECH_WARPS_MAX];
    struct sap_stats stats;
};

void sap_init(struct sap *s, const struct sap_params *params, const struct mech_ports *ports);
/* PCs count from the start of a kernel: another one has other loads. */
void sap_clear(struct sap *s);
void sap_on_warp(struct sap *s, const struct mech_warp_event *e);

/* The first access of a load: SAP works on it from now on. is_trained: its stride is taken into the table. */
void sap_begin(struct sap *s, const struct mech_l1_access *a, bool is_trained);
/* LAWS sends the group of a load that missed: the Warp Queue takes it. */
void sap_take_group(struct sap *s, const struct mech_l1_access *a, const struct warp_set *group);
/* A request of a load missed. Prefetches for the warps of the Warp Queue; returns those that were prefetched
 * for. */
struct warp_set sap_take_miss(struct sap *s, const struct mech_l1_access *a);
/* What became of a prefetch. */
void sap_on_prefetch(struct sap *s, const struct mech_prefetch *e);

#endif
