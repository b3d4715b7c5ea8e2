/* mech_host.h: the mechanisms of one SM: a function for each hook that calls it, and the combined votes.
 *
 *   mech_set.c    which mechanisms a run has, and their parameters
 *   mech_check.c  whether the host can rely on a mechanism's struct
 *   mech_elf.c    whether a plug-in's file is complete
 *   mech_guard.c  failures of mechanisms
 *   mech_gpu.c    state that mechanisms share beyond an SM; GPU timers
 *   mech_notes.c  notes of mechanisms
 *   mech_cost.c   the storage that they declare
 *   mech_host.c   hooks and timers on one SM
 *   mech_votes.c  votes, and how they are combined
 *   mech_ports.c  ports of a mechanism */
#ifndef HEDDLE_MECH_HOST_H
#define HEDDLE_MECH_HOST_H

#include "core/mech/mech_gpu.h"
#include "core/mech/vote_masks.h"

/* What ports do on the SM's side. Each function gets mech_sm_setup.sm first. A port whose function is NULL
 * refuses, or answers zeros (units under test leave functions out). None of them is called before
 * mech_sm_create has returned. */
struct mech_host_ops {
    bool (*prefetch)(void *sm, uint64_t address, uint32_t pc, int target_warp);
    const struct mech_counters *(*counters)(void *sm);
    uint64_t (*warp_issued)(void *sm, int warp);
    uint64_t (*memory_wait)(void *sm, uint32_t bank);
    const uint64_t *(*live_registers)(void *sm, int warp, uint32_t pc);
    void (*miss_answer)(void *sm, uint32_t token);
    void (*miss_as_of)(void *sm, uint32_t token, uint64_t as_of);
    bool (*miss_forward)(void *sm, uint32_t token);
    uint32_t (*l1_set)(void *sm, uint64_t line);
    bool (*l1_probe)(void *sm, uint64_t line);
    bool (*l1_read)(void *sm, uint64_t line);
    bool (*registers_take)(void *sm, uint32_t from, uint32_t rows, uint32_t *first);
    /* false: not all of these rows were taken */
    bool (*registers_give)(void *sm, uint32_t first, uint32_t rows);
    /* has a mechanism taken the row? */
    bool (*registers_taken)(void *sm, uint32_t row);
    bool (*registers_keep)(void *sm, uint32_t row);
    /* false: the row was not kept */
    bool (*registers_release)(void *sm, uint32_t row);
    bool (*bank_access)(void *sm, uint32_t row, bool is_write);
    bool (*ring_push)(void *sm, enum mech_ring_channel channel, const struct mech_ring_message *m);
    bool (*ring_peek)(void *sm, enum mech_ring_channel channel, struct mech_ring_message *m);
    void (*ring_pop)(void *sm, enum mech_ring_channel channel);
    void (*ring_pass)(void *sm, enum mech_ring_channel channel);
    const uint64_t *(*sharers)(void *sm, uint64_t line);
    uint64_t (*copy_as_of)(void *sm, uint32_t of_sm, uint64_t line);
    uint64_t (*thread_insts)(void *sm);
    bool (*cta_registers)(void *sm, const struct mech_transfer *t);
    bool (*cta_swap)(void *sm, uint32_t out, uint32_t in, uint32_t cycles);
    uint32_t (*warp_pcs)(void *sm, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max);
    const uint64_t *(*cta_live)(void *sm, uint32_t cta_slot, uint32_t pc);
    /* false: the CTA is active, or has no rows */
    bool (*cta_park)(void *sm, uint32_t cta_slot, const uint64_t *kept);
    bool (*cta_unpark)(void *sm, uint32_t cta_slot);
    bool (*ctas_left)(void *sm);
    uint64_t (*code_address)(void *sm, uint32_t cta_slot, uint32_t pc);
    bool (*memory_read)(void *sm, uint64_t offset, uint32_t token);
    /* a combined vote or the next timer has changed, possibly by a mechanism of another SM */
    void (*votes_changed)(void *sm);
};

struct mech_sm_setup {
    const struct mech_set *set;
    struct mech_gpu *gpu;
    void *sm;
    const struct mech_host_ops *ops;
    /* the SM's cycle, for messages; may be NULL */
    const uint64_t *cycle;
    /* as in mech_ports; banks 0 means 1 */
    uint32_t index, sm_count, warps, banks, schedulers, line_bytes;
    uint32_t ctas, l1_sets, l1_ways, l1_latency, register_rows, register_banks;
    uint32_t ring_queue, ring_request_buffer, ring_response_buffer;
};

/* One mechanism on one SM. */
struct mech_seat;

/* The mechanisms of one SM. The SM reads the combined votes, next_timer and which hooks are filled; only
 * mech_* functions write them. */
struct mech_sm {
    /* the hook that every issue calls, and the state of the mechanism that fills it */
    int (*pick)(void *state, const struct mech_sched_view *view);
    void *pick_state;
    /* Does a mechanism fill the hook? If not, the SM need not build the event or view. */
    bool has_issue, has_next;
    /* by bank; `issue` has the SM's own vote too (mech_hold) */
    struct vote_masks masks[MECH_BANKS_MAX];
    /* core cycle of the next timer, UINT64_MAX = none */
    uint64_t next_timer;
    /* no CTA starts while this many are resident; lines of the L1. UINT32_MAX: no mechanism has set it */
    uint32_t cta_limit, l1_lines;
    /* fixed once mech_sm_create has returned: lines that the tags are made for, 0 = the machine's own;
     * entries of the re-execution queue, 0 = there is no queue */
    uint32_t l1_lines_max, reexec_entries;
    /* cycles after which mechanisms are told of a stalled CTA; CTAs that a mechanism admits own rows below
     * this one, UINT32_MAX: any */
    uint32_t stall_cycles, cta_rows;
    /* misses that a mechanism has claimed and not yet answered or forwarded: how many, and a set of tokens */
    uint32_t claimed;
    VEC(uint64_t) claims;
    /* take_miss is being asked about this token */
    bool asks_miss;
    uint32_t asked_token;

    /* the same for hooks that not every issue calls */
    bool has_take_miss, has_victim, has_admit, has_line_touched, has_line_inserted;
    bool has_allocate, has_may_miss, has_extra_hit;
    /* the mechanism that takes misses claims their lines */
    bool claims_lines;
    bool has_kernel, has_launch, has_access, has_evict, has_fill, has_level, has_prefetch;
    bool has_warp, has_barrier, has_rows_lost, has_cta;
    /* a mechanism fills on_cta and wants to be told of stalled CTAs */
    bool hears_stalls;

    /* warps that the SM itself holds back, by bank */
    uint64_t held[MECH_BANKS_MAX];
    /* init is being called: there is no L1 yet */
    bool in_init;
    /* indices of the mechanisms that fill pick, take_miss, victim and admit, and of the one that uses the
     * ring; -1 = none (there is always a pick) */
    int policy, miss_policy, victim_policy, admit_policy, ring_user;
    uint32_t count;
    /* one for each mechanism */
    void **states;
    struct mech_seat *seats;
    struct mech_sm_setup setup;
};

/* Makes the states and calls init; mech_gpu_failure reports a failure. To be called before the SM's L1 is
 * made, which needs l1_lines_max. */
struct mech_sm *mech_sm_create(const struct mech_sm_setup *setup);
void mech_sm_destroy(struct mech_sm *m);

/* The SM itself lets these warps of a bank not issue, whatever mechanisms say. */
void mech_hold(struct mech_sm *m, uint32_t bank, uint64_t warps);

/* ---- policies ---- */

/* Asks for the warp to issue: returns a bit of v->bank, or MECH_NO_WARP. Removes the warps that the votes
 * forbid from v->ready and fills v->allowed; does not ask when no warp is left. */
int mech_pick(struct mech_sm *m, struct mech_sched_view *v);
/* Asks what happens to a miss: PASS after 0 cycles where no mechanism decides. */
struct mech_miss mech_take_miss(struct mech_sm *m, const struct mech_l1_access *a, uint32_t token);
/* Asks for the way that a line has to leave. Only if has_victim. */
uint32_t mech_victim(struct mech_sm *m, const struct mech_victim_view *v);
/* Asks whether a CTA becomes resident, and with how many registers. Only if has_admit. */
bool mech_admit(struct mech_sm *m, struct mech_admit *a);
void mech_line_touched(struct mech_sm *m, uint32_t set, uint32_t way);
void mech_line_inserted(struct mech_sm *m, uint32_t set, uint32_t way);

/* ---- votes: true when all mechanisms say yes; every mechanism is asked ---- */

bool mech_may_allocate(struct mech_sm *m, const struct mech_l1_access *a);
bool mech_may_miss(struct mech_sm *m, const struct mech_l1_access *a);
/* Asks what may_miss of all mechanisms would answer for loads of a warp; tells how many offers of such loads
 * were skipped. Where several mechanisms fill may_miss, or one fills it without holds, the answer is not
 * known. */
enum mech_hold mech_holds(struct mech_sm *m, int warp);
void mech_on_held(struct mech_sm *m, uint64_t offers);
/* Returns the largest answer. */
uint32_t mech_extra_hit(struct mech_sm *m, uint32_t set, uint32_t way);

/* ---- events ---- */

void mech_on_kernel(struct mech_sm *m, bool is_start);
void mech_on_launch(struct mech_sm *m, const struct mech_launch *e);
void mech_on_issue(struct mech_sm *m, const struct mech_issue *e);
void mech_on_next(struct mech_sm *m, const struct mech_next *e);
void mech_on_l1_access(struct mech_sm *m, const struct mech_l1_access *e);
void mech_on_l1_evict(struct mech_sm *m, const struct mech_l1_evict *e);
void mech_on_l1_fill(struct mech_sm *m, const struct mech_l1_fill *e);
void mech_on_l1_level(struct mech_sm *m, const struct mech_l1_level *e);
void mech_on_prefetch(struct mech_sm *m, const struct mech_prefetch *e);
void mech_on_warp(struct mech_sm *m, const struct mech_warp_event *e);
void mech_on_barrier(struct mech_sm *m, const struct mech_barrier *e);
/* Tells the mechanism that owns registers. */
void mech_on_rows_lost(struct mech_sm *m, const struct mech_rows_lost *e);
/* Tells the mechanism that uses the ring. */
void mech_on_ring(struct mech_sm *m, uint64_t cycle);
void mech_on_cta(struct mech_sm *m, const struct mech_cta *e);
/* Tells the mechanism that admits CTAs: no other mechanism reads memory. */
void mech_on_memory_read(struct mech_sm *m, uint64_t cycle, uint32_t token);
/* Calls the timers that are due at or before cycle, the earliest first, each as often as it is due. To be
 * called when next_timer <= cycle. */
void mech_on_timer(struct mech_sm *m, uint64_t cycle);

#endif
