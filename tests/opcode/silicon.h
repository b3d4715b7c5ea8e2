/* silicon.h: what a real GPU gave for the forms: the file that record.c wrote, compressed with zstd. */
#ifndef OPCODE_SILICON_H
#define OPCODE_SILICON_H

#include "opcode_forms.h"

#include "base/map.h"

struct silicon {
    uint8_t *data;
    /* device, driver, date */
    char origin[160];
    /* name -> its record in data */
    struct map by_name;
};

bool silicon_open(struct silicon *s, const char *path, struct strbuf *error);
void silicon_close(struct silicon *s);

enum silicon_answer {
    SILICON_FOUND,
    SILICON_NONE,
    /* recorded with other operands */
    SILICON_STALE
};
/* The recorded destinations of a form, as cells out[k * n + i]. in_hash = hash_bytes over the operand cells.
 */
enum silicon_answer silicon_find(const struct silicon *s, const struct form *f, uint64_t in_hash,
                                 uint64_t *out);

#endif
