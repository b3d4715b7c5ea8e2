/* pcrf.h: the pending-CTA register file of FineReg (Oh et al., MICRO'18, V-C and V-D): rows of live
 * registers, chained CTA by CTA. See pcrf.c. */
#ifndef HEDDLE_MECH_PCRF_H
#define HEDDLE_MECH_PCRF_H

#include "heddle/mechanism.h"

/* The tag of an entry (Figure 11). The row itself is not kept: the emulator has the value. */
struct pcrf_tag {
    bool is_valid, is_end;
    uint8_t warp, reg;
    uint16_t next;
};

/* The pointer table: where the chain of a CTA begins and ends, and how long it is. */
struct pcrf_chain {
    uint16_t first, last;
    uint32_t count;
};

struct pcrf {
    struct pcrf_tag *tags;
    /* the free-space monitor: entries in use, a bit set */
    uint64_t *taken;
    /* by CTA slot */
    struct pcrf_chain *chains;
    uint32_t entries, free;
};

enum { PCRF_ENTRIES_MAX = 1 << 16 };

/* In init. */
void pcrf_init(struct pcrf *p, const struct mech_ports *ports, uint32_t entries);
/* The entry that a register is appended to: the lowest that is free, which there is. That of the first
 * register of a chain that is not empty. */
uint32_t pcrf_next(const struct pcrf *p);
static inline uint32_t pcrf_head(const struct pcrf *p, uint32_t cta) { return p->chains[cta].first; }
/* Appends a register to the chain of a CTA: into pcrf_next. */
void pcrf_append(struct pcrf *p, uint32_t cta, uint32_t warp, uint32_t reg);
/* Takes the first register of a chain that is not empty; its entry is free. */
struct pcrf_tag pcrf_take(struct pcrf *p, uint32_t cta);
/* The first register of a chain that is not empty. */
struct pcrf_tag pcrf_first(const struct pcrf *p, uint32_t cta);

#endif
