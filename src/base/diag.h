/* diag.h: errors that show where they are.
 *
 *   saxpy.ptx:41:15: error: unknown type '.f33'
 *      41 |     add.f33 %f1, %f2, %f3;
 *         |         ^~~ did you mean '.f32'?
 *
 * Readers gather diagnostics in a list and continue where they can; only the command line prints them. */
#ifndef HEDDLE_DIAG_H
#define HEDDLE_DIAG_H

#include "base/strbuf.h"
#include "base/vec.h"

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_level level;
    /* as the user named it; NULL where there is none */
    char *file;
    /* from 1; 0 = unknown */
    int line, col;
    /* characters to underline from col on; at least 1 */
    int len;
    char *message;
    /* what to do; NULL where there is none */
    char *hint;
    /* the line of text; NULL where there is none */
    char *source;
};

struct diag_list {
    VEC(struct diag) items;
    uint32_t errors;
};

/* The text that a reader is reading; diagnostics copy their source line from it. */
struct diag_source {
    const char *file;
    const char *text;
    size_t len;
};

/* Past this many errors a reader may give up; further ones are counted, not kept. */
enum { DIAG_ERRORS_MAX = 20 };

/* hint and src may be NULL. */
void diag_add(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
              int len, const char *hint, const char *fmt, ...) PRINTF_LIKE(8, 9);
void diag_vadd(struct diag_list *d, enum diag_level level, const struct diag_source *src, int line, int col,
               int len, const char *hint, const char *fmt, va_list ap);
void diag_render(const struct diag_list *d, struct strbuf *out);
void diag_free(struct diag_list *d);

/* Returns the name nearest to text by edit distance, or NULL when none is near enough to be worth a hint. */
const char *diag_nearest(const char *text, const char *const *names, size_t count);

#endif
