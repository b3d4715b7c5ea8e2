/* pool.h: the constant pool of an image while it grows. Row 0 is the immediate 0. Equal rows are shared; a
 * 64-bit constant is two rows in a row, low word first. */
#ifndef HEDDLE_POOL_H
#define HEDDLE_POOL_H

#include "base/vec.h"
#include "isa/isa.h"

struct pool {
    VEC(struct isa_const) rows;
    /* hash of a row -> row + 1 */
    uint32_t *slots;
    /* hash of a pair -> its first row + 1 */
    uint32_t *pair_slots;
    uint32_t slot_count;
};

void pool_open(struct pool *p);
void pool_close(struct pool *p);
uint32_t pool_word(struct pool *p, struct isa_const c);
uint32_t pool_pair(struct pool *p, struct isa_const low, struct isa_const high);

#endif
