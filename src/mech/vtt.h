/* vtt.h: the Victim Tag Table of Linebacker (Oh et al., ISCA'19, section 4): tags of lines that left the L1,
 * in partitions (VP) that have the L1's sets and a few ways each. Each entry stands for one row of the
 * register file.
 *
 * (1) A line has one entry at most. (2) Partitions that are off hold nothing. (3) They are searched one after
 * another, the lowest first. (4) A line that comes in takes an empty entry, of the lowest partition that has
 * one, else that of the line used least recently in its set. */
#ifndef HEDDLE_MECH_VTT_H
#define HEDDLE_MECH_VTT_H

#include "heddle/mechanism.h"

enum { VTT_PARTITIONS_MAX = 32 };
#define VTT_NONE UINT32_MAX

/* The neighbours of an entry in the order of use, within its set. */
struct vtt_link {
    uint16_t older, newer;
};

struct vtt {
    uint32_t sets, ways, partitions;
    /* partitions that are on, a mask */
    uint32_t on;
    /* [set][partition][way]: the line; [set], words of a byte for each entry: see vtt.c */
    uint64_t *lines, *marks;
    /* [set][entry], then the ends of the list: its newer one is the oldest entry, its older one the newest */
    struct vtt_link *links;
};

void vtt_init(struct vtt *v, const struct mech_ports *ports, uint32_t ways, uint32_t partitions);
/* Turns partitions on or off: a mask. One that changes is empty. */
void vtt_turn(struct vtt *v, uint32_t on);
void vtt_clear(struct vtt *v);

/* The entry of a line, or VTT_NONE: way + ways * partition within its set. */
uint32_t vtt_find(const struct vtt *v, uint32_t set, uint64_t line);
/* Partitions that a search looks at: up to that of the entry, or all that are on. */
uint32_t vtt_searched(const struct vtt *v, uint32_t entry);
void vtt_touch(struct vtt *v, uint32_t set, uint32_t entry);
/* Puts a line into its entry, or a new one; which. VTT_NONE: all partitions are off. */
uint32_t vtt_insert(struct vtt *v, uint32_t set, uint64_t line);
void vtt_drop(struct vtt *v, uint32_t set, uint32_t entry);

static inline uint32_t vtt_partition_rows(const struct vtt *v) { return v->sets * v->ways; }
/* Equation 2 without its offset: the row of an entry. */
static inline uint32_t vtt_row(const struct vtt *v, uint32_t set, uint32_t entry)
{
    return entry / v->ways * vtt_partition_rows(v) + set * v->ways + entry % v->ways;
}

#endif
