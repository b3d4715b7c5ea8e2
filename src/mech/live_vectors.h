/* live_vectors.h: the live-register vectors of FineReg (Oh et al., MICRO'18, V-A and V-C): one for each
 * instruction, in memory, and a small direct-mapped cache of them. See live_vectors.c. */
#ifndef HEDDLE_MECH_LIVE_VECTORS_H
#define HEDDLE_MECH_LIVE_VECTORS_H

#include "heddle/mechanism.h"

enum { VECTORS_MAX = 4096, VECTOR_PC_BYTES = 4 };

struct live_vectors {
    const struct mech_ports *ports;
    uint32_t entries, bytes;
    /* the address of the instruction whose vector an entry holds; UINT64_MAX: none */
    uint64_t *held;
    /* the newest that was asked for, and its token */
    uint64_t asked;
    uint32_t token;
    bool is_waiting;
    uint64_t lookups, misses;
};

enum vector_answer { VECTOR_HERE, VECTOR_COMES, VECTOR_RETRY };

/* In init. entries: a power of two; bytes: of a vector. */
void vectors_init(struct live_vectors *v, const struct mech_ports *ports, uint32_t entries, uint32_t bytes);
/* Looks up the vector of an instruction of a CTA. COMES: it was asked for; vectors_arrived tells when it has
 * come, and a lookup then finds it. RETRY: memory takes no more reads in this cycle. */
enum vector_answer vectors_lookup(struct live_vectors *v, uint32_t cta, uint32_t pc);
/* In on_memory_read. True: this was the newest that was asked for. */
bool vectors_arrived(struct live_vectors *v, uint32_t token);
/* Nothing waits for the newest vector any more; it is stored when it comes, unless another one was asked for
 * meanwhile. */
void vectors_forget(struct live_vectors *v);
/* Entry of an address. */
uint32_t vectors_index(const struct live_vectors *v, uint64_t address);

#endif
