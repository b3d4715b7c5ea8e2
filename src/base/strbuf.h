/* strbuf.h: text that grows; always ends in a zero byte once anything was added. */
#ifndef HEDDLE_STRBUF_H
#define HEDDLE_STRBUF_H

#include "base/base.h"

#include <stdarg.h>

struct strbuf {
    char *data;
    size_t len, cap;
};

void strbuf_add(struct strbuf *s, const char *text, size_t len);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_putc(struct strbuf *s, char c);
void strbuf_printf(struct strbuf *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap);
/* A text of unknown origin, for a terminal: control characters but tab and line end as ^[ and its like. */
void strbuf_visible(struct strbuf *s, const char *text, size_t len);
/* "" when empty. */
const char *strbuf_text(const struct strbuf *s);
void strbuf_free(struct strbuf *s);

#endif
