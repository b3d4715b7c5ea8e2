/* count.h: a whole number as a user writes it. */
#ifndef HEDDLE_COUNT_H
#define HEDDLE_COUNT_H

#include "base/base.h"

/* "64", "0x40", "1M" -> 1048576; K, M, G are powers of 1024. False: the first `len` characters are not a
 * number, or it does not fit 64 bits. */
bool count_read(const char *text, size_t len, uint64_t *out);

#endif
