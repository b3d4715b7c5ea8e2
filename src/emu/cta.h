/* cta.h: inside the emulator: a resident CTA: its warps, its shared memory, its sixteen barriers. */
#ifndef HEDDLE_EMU_CTA_H
#define HEDDLE_EMU_CTA_H

#include "emu/warp.h"

enum { BARRIERS = 16, WARPS_MAX = 64 };

struct barrier {
    /* threads, as the program gave it; 0 = all threads of the CTA */
    uint32_t expected;
    /* threads that arrived and have not ended since */
    uint32_t arrivals;
    /* for bar.red */
    uint32_t votes, votes_true;
    /* mask of warps that arrived, even in part */
    uint64_t warps;
    /* lanes */
    uint32_t arrived[WARPS_MAX];
};

struct cta {
    struct run *run;
    uint32_t id[3];
    /* number in the grid */
    uint64_t linear;
    /* what %smid says */
    uint32_t sm;
    /* holds a CTA that has not ended */
    bool busy;
    uint32_t warp_count, live_threads;
    /* mask of warps with a leaf that can run */
    uint64_t warps_ready;
    uint64_t warps_done;
    /* mask of barriers at which threads have arrived */
    uint32_t barriers_used;
    /* Instructions since lanes that wait for reconvergence were last released. */
    uint64_t insts_since_yield;
    /* when stepped: yields of its warps since lanes were last released */
    uint32_t yields;
    /* when stepped: list of the grid's spare CTAs */
    struct cta *next;
    /* for the search for races, or NULL */
    struct race_cta *races;
    uint8_t *shared;
    uint8_t *local;
    struct warp *warps;
    struct barrier barriers[BARRIERS];
};

enum cta_end {
    CTA_DONE,
    CTA_TURN_OVER,
    /* it may be waiting for another CTA */
    CTA_YIELD,
    CTA_FAULT
};

/* The bytes of host memory that a resident CTA takes: in all, and in the block in which cta_place puts
 * registers, shared memory and the warps. */
uint64_t cta_bytes(const struct run *run);
size_t cta_block_bytes(const struct run *run);
/* Makes room for any CTA of the run, in a block of cta_block_bytes that starts at a line of the host's cache.
 * False: the host has no memory for its local memory. */
bool cta_place(struct cta *c, struct run *run, void *block);
/* Frees the memory of a CTA outside of its block. */
void cta_free(struct cta *c);
void cta_start(struct cta *c, uint64_t linear);
/* one turn */
enum cta_end cta_run(struct cta *c);
/* Lets lanes that wait for others of their warp continue alone, in warps that cannot run; false: there are
 * none. */
bool cta_release_waiting(struct cta *c);
/* Faults a warp that has executed more instructions than the limit; true: it did. */
bool cta_past_limit(struct cta *c, struct warp *w);

/* ---- barrier.c ---- */

/* threads ended: barriers stop waiting for them */
void barrier_exit(struct warp *w, uint32_t mask);
/* How many threads have arrived at a barrier and how many it expects, for reports. */
void barrier_count(const struct cta *c, uint32_t number, uint32_t *arrived, uint32_t *expected);

#endif
