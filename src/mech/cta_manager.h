/* cta_manager.h: the CTA manager of Linebacker (Oh et al., ISCA'19, section 4.1): which CTAs of an SM are
 * active, which have their registers in memory, and how many may be active.
 *
 * (1) At least one CTA stays active. (2) The CTA in the largest slot is throttled; the one that was throttled
 * last comes back first (its backup address is on top of the stack, 4.1). (3) While a CTA is out, or on its
 * way there, no new one starts: when a CTA ends, one that is out precedes it (3.2). (4) As many are active as
 * `most` says: a CTA that ended is replaced, and no other one starts. */
#ifndef HEDDLE_MECH_CTA_MANAGER_H
#define HEDDLE_MECH_CTA_MANAGER_H

#include "heddle/mechanism.h"

/* CTA_PARKED: another mechanism has taken its rows away, and gives it rows again. */
enum cta_state { CTA_NONE, CTA_ACTIVE, CTA_LEAVES, CTA_OUT, CTA_COMES, CTA_PARKED, CTA_STATES };

struct cta_manager {
    const struct mech_ports *ports;
    /* rows of the buffer between registers and memory; rows that are asked back at a time */
    uint32_t buffer, restore_rows;
    /* by CTA slot: enum cta_state; its rows, and the last of them */
    struct cta_info {
        uint32_t state, rows, last_row;
    } * ctas;
    /* slots whose registers are out, the newest last */
    uint32_t *stack, stacked;
    /* CTAs in each state */
    uint32_t count[CTA_STATES];
    /* CTAs that may be active; UINT32_MAX: as many as fit. How many there were before the first was
     * throttled */
    uint32_t most, unthrottled;
};

void cta_manager_init(struct cta_manager *c, const struct mech_ports *ports, uint32_t buffer,
                      uint32_t restore_rows);
/* The kernel has ended: nothing is throttled. */
void cta_manager_end(struct cta_manager *c);
/* An event that cta_manager_hears: one that changes which CTAs are here, or where their rows are. */
bool cta_manager_hears(enum mech_cta_kind kind);
void cta_manager_see(struct cta_manager *c, const struct mech_cta *e);
/* One CTA fewer, or one more, is active from now on, as far as that is possible. */
bool cta_manager_throttle(struct cta_manager *c);
bool cta_manager_release(struct cta_manager *c);
/* The largest row of all CTAs whose registers are here, LRN; -1: there is none. Not known while one comes
 * back. */
int64_t cta_manager_last_row(const struct cta_manager *c);
static inline bool cta_manager_restores(const struct cta_manager *c) { return c->count[CTA_COMES]; }
/* Rows of the CTAs whose registers are here, or come. */
uint32_t cta_manager_rows_here(const struct cta_manager *c);
/* Fewer CTAs are active than could be. */
static inline bool cta_manager_throttles(const struct cta_manager *c) { return c->most != UINT32_MAX; }

#endif
