/* strbuf.c: growable text. */
#include "base/strbuf.h"

static void strbuf_room(struct strbuf *s, size_t more)
{
    if (s->len + more + 1 <= s->cap) return;
    s->cap = MAX(s->len + more + 1, s->cap ? s->cap * 2 : 64);
    s->data = mem_realloc(s->data, s->cap);
}

void strbuf_add(struct strbuf *s, const char *text, size_t len)
{
    strbuf_room(s, len);
    memcpy(s->data + s->len, text, len);
    s->len += len;
    s->data[s->len] = 0;
}

void strbuf_puts(struct strbuf *s, const char *text) { strbuf_add(s, text, strlen(text)); }
void strbuf_putc(struct strbuf *s, char c) { strbuf_add(s, &c, 1); }

void strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    strbuf_room(s, (size_t)n);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
    s->len += (size_t)n;
}

void strbuf_printf(struct strbuf *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(s, fmt, ap);
    va_end(ap);
}

void strbuf_visible(struct strbuf *s, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i], next = i + 1 < len ? (unsigned char)text[i + 1] : 0;
        if ((c < 32 && c != '\t' && c != '\n') || c == 127)
            strbuf_printf(s, "^%c", c ^ 64);
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0) /* a control character of eight bits, in UTF-8 */
            strbuf_printf(s, "\\u%04x", text[++i] & 0xff);
        else
            strbuf_putc(s, text[i]);
    }
}

const char *strbuf_text(const struct strbuf *s) { return s->data ? s->data : ""; }

void strbuf_free(struct strbuf *s)
{
    free(s->data);
    *s = (struct strbuf){0};
}
