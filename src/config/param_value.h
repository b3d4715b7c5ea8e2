/* param_value.h: the value of one parameter, from text and back to text. */
#ifndef HEDDLE_PARAM_VALUE_H
#define HEDDLE_PARAM_VALUE_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "heddle/rows.h"

/* Stores the value that text means. False: the text is not a value; nothing is stored, and *wanted describes
 * a value. */
bool param_store(const struct param_row *row, void *object, const char *text, struct strbuf *wanted);
/* Writes the value as param_store reads it. */
void param_format(const struct param_row *row, const void *object, struct strbuf *out);
/* Bytes of a value of this type; 0: there is no such type. */
size_t param_value_bytes(enum param_type type);
/* Writes thousandths as a number with up to three decimals. */
void param_format_milli(uint64_t milli, struct strbuf *out);

/* The hash of the content of the file that a PARAM_PATH names, for the key of a run; "" where it names
 * none. False: the file cannot be read any more. */
bool param_file_hash(const struct param_row *row, const void *object, char hex[HASH128_CHARS + 1]);

#endif
