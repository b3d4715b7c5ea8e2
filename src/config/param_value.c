/* param_value.c: values of parameters as text. */
#include "config/param_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

/* ---- reading ---- */

/* A whole number with an optional K, M or G (powers of 1024, bytes only). */
static bool param_read_u64(const char *text, bool suffixes, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 0);
    if (errno) return false;
    static const char units[] = "KMG";
    const char *unit = *end && suffixes ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        int shift = 10 * (int)(unit - units + 1);
        if (v > UINT64_MAX >> shift) return false;
        v <<= shift;
        end++;
    }
    *out = v;
    return *end == 0;
}

/* Decimal digits, and after a point one to three more. */
static bool param_read_milli(const char *text, uint64_t *out)
{
    enum { DECIMALS = 3, DIGITS_MAX = 7 };
    uint64_t v = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) v = v * 10 + (uint64_t)(*at - '0');
    if (at == text || at - text > DIGITS_MAX) return false;
    const bool has_point = *at == '.';
    const char *first = at += has_point;
    for (int i = 0; i < DECIMALS; i++) {
        const bool is_digit = has_point && isdigit((unsigned char)*at);
        v = v * 10 + (is_digit ? (uint64_t)(*at - '0') : 0);
        at += is_digit;
    }
    *out = v;
    return *at == 0 && (!has_point || at > first);
}

static void param_store_u64(const struct param_row *row, void *object, uint64_t v)
{
    char *at = (char *)object + row->offset;
    switch (row->type) {
    case PARAM_FLAG: *(bool *)at = v != 0; break;
    case PARAM_NUMBER:
    case PARAM_FRACTION:
    case PARAM_CHOICE: *(uint32_t *)(void *)at = (uint32_t)v; break;
    case PARAM_NUMBER64:
    case PARAM_SIZE: *(uint64_t *)(void *)at = v; break;
    case PARAM_STRING:
    case PARAM_PATH: UNREACHABLE("a text parameter has no number");
    }
}

static bool param_store_flag(const struct param_row *row, void *object, const char *text,
                             struct strbuf *wanted)
{
    const bool is_true = !strcmp(text, "true");
    if (!is_true && strcmp(text, "false")) {
        strbuf_puts(wanted, "true or false");
        return false;
    }
    param_store_u64(row, object, is_true);
    return true;
}

static bool param_store_text(const struct param_row *row, void *object, const char *text,
                             struct strbuf *wanted)
{
    const size_t bytes = param_value_bytes(row->type);
    if (strlen(text) >= bytes) {
        strbuf_printf(wanted, "at most %zu characters", bytes - 1);
        return false;
    }
    strcpy((char *)object + row->offset, text);
    return true;
}

static bool param_store_choice(const struct param_row *row, void *object, const char *text,
                               struct strbuf *wanted)
{
    for (uint32_t i = 0; row->choices[i]; i++) {
        if (!strcmp(row->choices[i], text)) {
            param_store_u64(row, object, i);
            return true;
        }
        strbuf_printf(wanted, "%s%s", i ? ", " : "one of ", row->choices[i]);
    }
    return false;
}

static bool param_store_number(const struct param_row *row, void *object, const char *text,
                               struct strbuf *wanted)
{
    const bool is_bytes = row->type == PARAM_SIZE;
    uint64_t v;
    if (param_read_u64(text, is_bytes, &v) && v >= row->min && v <= row->max) {
        param_store_u64(row, object, v);
        return true;
    }
    strbuf_printf(wanted, "a whole number from %" PRIu64 " to %" PRIu64 "%s", row->min, row->max,
                  is_bytes ? " (K, M and G may follow)" : "");
    return false;
}

static bool param_store_fraction(const struct param_row *row, void *object, const char *text,
                                 struct strbuf *wanted)
{
    uint64_t v;
    if (param_read_milli(text, &v) && v >= row->min && v <= row->max) {
        param_store_u64(row, object, v);
        return true;
    }
    strbuf_puts(wanted, "a number from ");
    param_format_milli(row->min, wanted);
    strbuf_puts(wanted, " to ");
    param_format_milli(row->max, wanted);
    strbuf_puts(wanted, " with at most three decimals");
    return false;
}

/* ---- files ---- */

/* Adds what the file holds; out may be NULL. False with errno: it cannot be read. */
static bool param_read_file(const char *path, struct strbuf *out)
{
    char block[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    errno = 0;
    while ((n = fread(block, 1, sizeof block, f)) > 0 && out) strbuf_add(out, block, n);
    const int error = ferror(f) ? errno : 0; /* a directory opens, but cannot be read */
    fclose(f);
    errno = error;
    return !error;
}

static bool param_store_file(const struct param_row *row, void *object, const char *text,
                             struct strbuf *wanted)
{
    if (*text && !param_read_file(text, NULL)) {
        strbuf_printf(wanted, "a file that can be read (%s)", strerror(errno));
        return false;
    }
    return param_store_text(row, object, text, wanted);
}

bool param_file_hash(const struct param_row *row, const void *object, char hex[HASH128_CHARS + 1])
{
    assert(row->type == PARAM_PATH);
    const char *path = (const char *)object + row->offset;
    struct strbuf content = {0};
    hex[0] = 0;
    if (!*path) return true;
    const bool ok = param_read_file(path, &content);
    if (ok) hash128_hex(hash128_bytes(strbuf_text(&content), content.len), hex);
    strbuf_free(&content);
    return ok;
}

bool param_store(const struct param_row *row, void *object, const char *text, struct strbuf *wanted)
{
    switch (row->type) {
    case PARAM_FLAG: return param_store_flag(row, object, text, wanted);
    case PARAM_NUMBER:
    case PARAM_NUMBER64:
    case PARAM_SIZE: return param_store_number(row, object, text, wanted);
    case PARAM_FRACTION: return param_store_fraction(row, object, text, wanted);
    case PARAM_STRING: return param_store_text(row, object, text, wanted);
    case PARAM_PATH: return param_store_file(row, object, text, wanted);
    case PARAM_CHOICE: return param_store_choice(row, object, text, wanted);
    }
    UNREACHABLE("a parameter of a type that does not exist");
}

size_t param_value_bytes(enum param_type type)
{
    switch (type) {
    case PARAM_FLAG: return sizeof(bool);
    case PARAM_NUMBER:
    case PARAM_FRACTION:
    case PARAM_CHOICE: return sizeof(uint32_t);
    case PARAM_NUMBER64:
    case PARAM_SIZE: return sizeof(uint64_t);
    case PARAM_STRING: return PARAM_STRING_BYTES;
    case PARAM_PATH: return PARAM_PATH_BYTES;
    }
    return 0; /* from a plug-in that was built for another version */
}

/* ---- writing ---- */

static void param_format_bytes(uint64_t v, struct strbuf *out)
{
    static const char units[] = "GMK";
    for (int i = 0; i < 3; i++) {
        int shift = 30 - 10 * i;
        if (v && !(v & ((1ull << shift) - 1))) {
            strbuf_printf(out, "%" PRIu64 "%c", v >> shift, units[i]);
            return;
        }
    }
    strbuf_printf(out, "%" PRIu64, v);
}

void param_format_milli(uint64_t milli, struct strbuf *out)
{
    uint32_t rest = (uint32_t)(milli % 1000);
    strbuf_printf(out, "%" PRIu64, milli / 1000);
    if (!rest) return;
    int digits = 3;
    for (; rest % 10 == 0; rest /= 10) digits--;
    strbuf_printf(out, ".%0*" PRIu32, digits, rest);
}

void param_format(const struct param_row *row, const void *object, struct strbuf *out)
{
    const char *at = (const char *)object + row->offset;
    switch (row->type) {
    case PARAM_FLAG: strbuf_puts(out, *(const bool *)at ? "true" : "false"); break;
    case PARAM_NUMBER: strbuf_printf(out, "%" PRIu32, *(const uint32_t *)(const void *)at); break;
    case PARAM_FRACTION: param_format_milli(*(const uint32_t *)(const void *)at, out); break;
    case PARAM_NUMBER64: strbuf_printf(out, "%" PRIu64, *(const uint64_t *)(const void *)at); break;
    case PARAM_SIZE: param_format_bytes(*(const uint64_t *)(const void *)at, out); break;
    case PARAM_STRING:
    case PARAM_PATH: strbuf_puts(out, at); break;
    case PARAM_CHOICE: strbuf_puts(out, row->choices[*(const uint32_t *)(const void *)at]); break;
    }
}
