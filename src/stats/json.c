/* json.c: text, numbers and tables of statistics as JSON (RFC 8259). */
#include "stats/json.h"

#include <math.h>
#include <string.h>

/* Bytes of the well-formed UTF-8 sequence at s, 0 when there is none (RFC 3629: no overlong forms, no
 * surrogates). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int n = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
            : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
            : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))) return 0;
    if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))) return 0;
    return n;
}

void json_string(struct strbuf *out, const char *text)
{
    strbuf_putc(out, '"');
    for (const unsigned char *s = (const unsigned char *)(text ? text : ""); *s;) {
        int n = utf8_length(s);
        if (!n) {
            strbuf_puts(out, "\\ufffd");
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            strbuf_printf(out, "\\%c", *s);
        else if (*s < 0x20)
            strbuf_printf(out, "\\u%04x", *s);
        else
            strbuf_add(out, (const char *)s, (size_t)n);
        s += n;
    }
    strbuf_putc(out, '"');
}

void json_number(struct strbuf *out, double v)
{
    if (isfinite(v))
        strbuf_printf(out, "%.10g", v);
    else
        strbuf_puts(out, "null");
}

static uint64_t json_word(const void *stats, size_t offset)
{
    uint64_t v;
    memcpy(&v, (const char *)stats + offset, sizeof v);
    return v;
}

void json_stat(struct strbuf *out, const struct stat_row *row, const void *stats)
{
    switch (row->type) {
    case STAT_COUNT:
    case STAT_LARGEST: strbuf_printf(out, "%llu", (unsigned long long)json_word(stats, row->offset)); break;
    case STAT_RATIO: json_number(out, stat_value(row, stats)); break;
    case STAT_HISTOGRAM:
        strbuf_putc(out, '[');
        for (uint32_t i = 0; i < row->length; i++)
            strbuf_printf(out, "%s%llu", i ? "," : "",
                          (unsigned long long)json_word(stats, row->offset + i * sizeof(uint64_t)));
        strbuf_putc(out, ']');
        break;
    }
}

void json_stats(struct strbuf *out, const struct stat_row *rows, const void *stats)
{
    strbuf_putc(out, '{');
    for (const struct stat_row *r = rows; r && r->name; r++) {
        if (r != rows) strbuf_putc(out, ',');
        json_string(out, r->name);
        strbuf_putc(out, ':');
        json_stat(out, r, stats);
    }
    strbuf_putc(out, '}');
}
