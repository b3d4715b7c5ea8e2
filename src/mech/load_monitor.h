/* load_monitor.h: the Load Monitor of Linebacker (Oh et al., ISCA'19, sections 3.2 and 4): which static loads
 * find their lines again, in the L1 or in the Victim Tag Table. 32 entries by a hash of the PC count hits and
 * misses over a window; a load is *hot* in a window if its share of hits is above a threshold. Loads are
 * chosen when two windows in a row agree. */
#ifndef HEDDLE_MECH_LOAD_MONITOR_H
#define HEDDLE_MECH_LOAD_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

enum { LM_ENTRIES = 32, LM_INDEX_BITS = 5, LM_INST_BYTES = 8 };

/* The paper has both: the sets of hot loads are equal (3.2), or a load is hot in both windows (4.1). */
enum lm_agree { LM_AGREE_SET, LM_AGREE_LOAD };
enum lm_verdict {
    LM_GOES_ON,
    /* no load was hot in two windows in a row */
    LM_NONE,
    LM_CHOSEN
};

struct load_monitor {
    struct {
        uint64_t hits, misses;
    } entries[LM_ENTRIES];
    /* the two valid bits of each entry: hot in the newest window, and in the one before */
    uint32_t hot, hot_before;
    uint32_t windows;
    /* entries of the loads that were chosen */
    uint32_t chosen;
};

/* A kernel begins. */
void lm_begin(struct load_monitor *m);
/* The hashed PC (HPC) of an instruction: the XOR of all groups of five bits of its address. */
uint32_t lm_hash(uint32_t pc);
void lm_count(struct load_monitor *m, uint32_t pc, bool is_hit);
/* A window has ended. threshold: percent of hits above which a load is hot. */
enum lm_verdict lm_end_window(struct load_monitor *m, uint32_t threshold, enum lm_agree agree);
static inline bool lm_is_chosen(const struct load_monitor *m, uint32_t pc)
{
    return m->chosen >> lm_hash(pc) & 1;
}

#endif
