/* live_vectors.c: see live_vectors.h. The index is an exclusive or of the bits of the instruction's number,
 * five at a time with 32 entries: the paper hashes five bits and does not say how. */
#include "mech/live_vectors.h"

/* bytes of an instruction, in what code_address counts */
enum { CODE_BYTES = 8 };

void vectors_init(struct live_vectors *v, const struct mech_ports *ports, uint32_t entries, uint32_t bytes)
{
    v->ports = ports;
    v->entries = entries;
    v->bytes = bytes;
    v->held = ports->memory(ports->host, entries * sizeof *v->held);
    for (uint32_t i = 0; i < entries; i++) v->held[i] = UINT64_MAX;
}

uint32_t vectors_index(const struct live_vectors *v, uint64_t address)
{
    uint64_t folded = 0;
    for (uint64_t number = address / CODE_BYTES; number; number /= v->entries) folded ^= number % v->entries;
    return (uint32_t)folded;
}

enum vector_answer vectors_lookup(struct live_vectors *v, uint32_t cta, uint32_t pc)
{
    const uint64_t address = v->ports->code_address(v->ports->host, cta, pc);
    if (v->held[vectors_index(v, address)] == address) {
        v->lookups++;
        return VECTOR_HERE;
    }
    const uint64_t offset = address / CODE_BYTES * v->bytes;
    if (!v->ports->memory_read(v->ports->host, offset, v->token + 1)) return VECTOR_RETRY;
    v->lookups++;
    v->misses++;
    v->token++;
    v->asked = address;
    v->is_waiting = true;
    return VECTOR_COMES;
}

bool vectors_arrived(struct live_vectors *v, uint32_t token)
{
    if (token != v->token) return false;
    v->held[vectors_index(v, v->asked)] = v->asked;
    const bool was_waiting = v->is_waiting;
    v->is_waiting = false;
    return was_waiting;
}

void vectors_forget(struct live_vectors *v) { v->is_waiting = false; }
