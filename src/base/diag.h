/* diag.h: errors that show their place.
 *
 *   saxpy.ptx:41:15: error: unknown type '.f33'
 *      41 |     add.f33 %f1, %f2, %f3;
 *         |         ^~~ did you mean '.f32'?
 *
 * Readers gather diagnostics in a list and go on where they can; only the command line prints them. */
#ifndef HEDDLE_DIAG_H
#define HEDDLE_DIAG_H

#include "base/strbuf.h"
#include "base/vec.h"

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_level level;
    char *file;    /* as the user named it; NULL where there is none */
    int line, col; /* from 1; 0 = unknown */
    int len;       /* characters to underline from col on; at least 1 */
    char *message;
    char *hint;   /* what to do; NULL where there is none */
    char *source; /* the line of text that the place is in; NULL where there is none */
};

struct diag_list {
    VEC(struct diag) items;
    uint32_t errors;
};

/* A text under reading: what diagnostics cut their source line out of. */
struct diag_source {
    const char *file;
    const char *text;
    size_t len;
};

enum { DIAG_ERRORS_MAX = 20 }; /* past this a reader may give up; further errors are counted, not kept */

/* hint may be NULL. src may be NULL (no place). */
void diag_add(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
              int len, const char *hint, const char *fmt, ...) PRINTF_LIKE(8, 9);
void diag_vadd(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
               int len, const char *hint, const char *fmt, va_list ap);
void diag_render(const struct diag_list *d, struct strbuf *out);
void diag_free(struct diag_list *d);

/* The name nearest to text by edit distance, or NULL when none is near enough to be worth a hint. */
const char *diag_nearest(const char *text, const char *const *names, size_t count);

#endif
