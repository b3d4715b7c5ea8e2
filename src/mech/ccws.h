/* ccws.h: the lost locality detector and the gate of CCWS (ccws.c), also for mechanisms that begin with its
 * result. */
#ifndef HEDDLE_MECH_CCWS_H
#define HEDDLE_MECH_CCWS_H

#include "mech/warps.h"

struct ccws_params {
    uint32_t tags, ways, base, k;
};

/* A warp of the SM, by slot. */
struct ccws_warp {
    uint64_t launch;
    bool is_here;
    /* the cycle at which its score is back at the base */
    uint64_t back_at;
    uint64_t hits, issued;
};

struct ccws {
    const struct ccws_params *params;
    const struct mech_ports *ports;
    /* the cycle at which falling scores change the gate; 0: none */
    uint64_t next;
    /* the victim tag arrays: by slot, set and way; of a set the oldest tag first, 0 = empty */
    uint64_t *tags;
    uint32_t sets;
    struct ccws_warp warps[MECH_WARPS_MAX];
    uint64_t here[MECH_BANKS_MAX], here_count;
    /* sums over the resident warps */
    uint64_t hits, issued;
    /* slots of the warps whose score is above the base, highest first */
    uint16_t ranked[MECH_WARPS_MAX];
    uint32_t ranked_count;
    /* warps whose loads are held back, how many, and since when */
    uint64_t gated[MECH_BANKS_MAX], gated_count, gated_since;
    uint64_t inserts, probes, vta_hits, invalidations, changes, gated_cycles, score_max;
};

/* `params` stay where they are. */
/* params: struct ccws_params. */
void ccws_cost(const void *params, const struct mech_machine *m, struct mech_cost *c);
void ccws_init(struct ccws *c, const struct ccws_params *params, const struct mech_ports *ports);
/* Events. Afterwards c->next says when ccws_gate() is due. */
void ccws_on_warp(struct ccws *c, const struct mech_warp_event *e);
void ccws_on_issue(struct ccws *c, const struct mech_issue *e);
void ccws_on_l1_evict(struct ccws *c, const struct mech_l1_evict *e);
void ccws_on_l1_access(struct ccws *c, const struct mech_l1_access *a);
void ccws_gate(struct ccws *c, uint64_t now);
/* No warp has lost locality: the gate opens. */
void ccws_forget(struct ccws *c, uint64_t now);
/* Cycles, for each warp, in which its loads were held back, until now. */
uint64_t ccws_gated_cycles(const struct ccws *c, uint64_t now);

#endif
