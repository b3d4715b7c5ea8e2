/* kernel_args.c: reads, places and prints the arguments of `heddle kernel`.
 * Random floats are uniform in [-1, 1), random integers uniform over their range; the seed fixes them. */
#include "cli/kernel_args.h"

#include "base/count.h"

#include "base/bits.h"
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>

static const struct {
    const char *name;
    uint8_t bytes;
    bool is_float, is_signed;
} arg_types[ARG_TYPE_COUNT] = {
    [ARG_U8] = {"u8", 1, 0, 0},   [ARG_S8] = {"s8", 1, 0, 1},   [ARG_U16] = {"u16", 2, 0, 0},
    [ARG_S16] = {"s16", 2, 0, 1}, [ARG_U32] = {"u32", 4, 0, 0}, [ARG_S32] = {"s32", 4, 0, 1},
    [ARG_U64] = {"u64", 8, 0, 0}, [ARG_S64] = {"s64", 8, 0, 1}, [ARG_F32] = {"f32", 4, 1, 1},
    [ARG_F64] = {"f64", 8, 1, 1},
};

uint32_t kernel_arg_type_bytes(enum arg_type t) { return arg_types[t].bytes; }
const char *kernel_arg_type_name(enum arg_type t) { return arg_types[t].name; }

static uint64_t arg_float_bits(enum arg_type t, double v)
{
    return t == ARG_F32 ? f32_bits((float)v) : f64_bits(v);
}

static bool arg_read_value(enum arg_type t, const char *text, uint64_t *bits)
{
    char *end;
    errno = 0;
    if (arg_types[t].is_float) {
        double v = strtod(text, &end);
        *bits = arg_float_bits(t, v);
        return end != text && !*end;
    }
    if (text[0] == '-') {
        int64_t v = strtoll(text, &end, 0);
        int shift = 64 - 8 * arg_types[t].bytes;
        *bits = (uint64_t)v;
        return arg_types[t].is_signed && !*end && !errno && (int64_t)((uint64_t)v << shift) >> shift == v;
    }
    uint64_t v;
    if (!count_read(text, strlen(text), &v)) return false;
    *bits = v;
    return arg_types[t].bytes == 8 || !(v >> (8 * arg_types[t].bytes));
}

static bool arg_read_type(const char *text, size_t len, enum arg_type *out)
{
    for (int t = 0; t < ARG_TYPE_COUNT; t++) {
        if (strlen(arg_types[t].name) == len && !strncmp(arg_types[t].name, text, len)) {
            *out = (enum arg_type)t;
            return true;
        }
    }
    return false;
}

static int arg_parse_fill(const char *text, const char *value, struct kernel_arg *out, const char **message)
{
    if (!strcmp(value, "rand")) {
        out->fill = ARG_FILL_RAND;
    } else if (!strcmp(value, "iota")) {
        out->fill = ARG_FILL_IOTA;
    } else if (value[0] == '@' && strlen(value + 1) < sizeof out->path) {
        out->fill = ARG_FILL_FILE;
        strcpy(out->path, value + 1);
    } else if (arg_read_value(out->type, value, &out->bits)) {
        out->fill = ARG_FILL_VALUE;
    } else {
        *message = "a buffer is filled by rand, iota, a value of its type, or @FILE";
        return (int)(value - text);
    }
    return -1;
}

int kernel_arg_parse(const char *text, struct kernel_arg *out, const char **message)
{
    *out = (struct kernel_arg){0};
    const char *p = text;
    if (!strncmp(p, "buf:", 4)) {
        out->is_buffer = true;
        p += 4;
    }
    size_t len = strcspn(p, "[=");
    *message = "a type is one of u8 s8 u16 s16 u32 s32 u64 s64 f32 f64";
    if (!arg_read_type(p, len, &out->type)) return (int)(p - text);
    p += len;
    if (!out->is_buffer) {
        *message = "a scalar is TYPE=VALUE, with a value that fits the type";
        if (*p != '=' || !arg_read_value(out->type, p + 1, &out->bits)) return (int)(p - text) + (*p == '=');
        return -1;
    }
    *message = "a buffer is buf:TYPE[COUNT], as in buf:f32[1M]";
    const char *close = *p == '[' ? strchr(p, ']') : NULL;
    if (!close || !count_read(p + 1, (size_t)(close - p - 1), &out->count) || !out->count || out->count >> 36)
        return (int)(p - text) + (*p == '[');
    p = close + 1;
    if (!*p) return -1;
    if (*p != '=') return (int)(p - text);
    return arg_parse_fill(text, p + 1, out, message);
}

static uint64_t arg_element(const struct kernel_arg *a, uint64_t i, struct rng *rng)
{
    switch (a->fill) {
    case ARG_FILL_RAND:
        return arg_types[a->type].is_float ? arg_float_bits(a->type, 2 * rng_unit(rng) - 1) : rng_u64(rng);
    case ARG_FILL_IOTA: return arg_types[a->type].is_float ? arg_float_bits(a->type, (double)i) : i;
    default: return a->bits;
    }
}

static bool arg_fill_file(struct kernel_arg *a, void *dst, size_t bytes, struct strbuf *message)
{
    FILE *f = fopen(a->path, "rb");
    if (!f) {
        strbuf_printf(message, "cannot read %s: %s", a->path, strerror(errno));
        return false;
    }
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    if (got == bytes) return true;
    strbuf_printf(message, "%s holds %zu bytes, the buffer %zu", a->path, got, bytes);
    return false;
}

bool kernel_arg_place(struct kernel_arg *a, struct space *space, struct rng *rng, uint32_t index,
                      struct strbuf *message)
{
    if (!a->is_buffer) return true;
    char label[32];
    snprintf(label, sizeof label, "argument %u", index);
    uint64_t bytes = a->count * arg_types[a->type].bytes;
    a->address = space_alloc(space, bytes, 256, SPACE_DEVICE, label);
    if (!a->address) {
        strbuf_printf(message, "the machine has no memory left for a buffer of %" PRIu64 " bytes", bytes);
        return false;
    }
    unsigned char *dst = (unsigned char *)(uintptr_t)a->address;
    if (a->fill == ARG_FILL_FILE) return arg_fill_file(a, dst, bytes, message);
    for (uint64_t i = 0; a->fill != ARG_FILL_ZERO && i < a->count; i++) {
        uint64_t bits = arg_element(a, i, rng);
        memcpy(dst + i * arg_types[a->type].bytes, &bits, arg_types[a->type].bytes); /* little-endian host */
    }
    return true;
}

void kernel_arg_format(const struct kernel_arg *a, uint64_t i, struct strbuf *out)
{
    const unsigned char *at = (const unsigned char *)(uintptr_t)a->address + i * arg_types[a->type].bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, arg_types[a->type].bytes);
    int shift = 64 - 8 * arg_types[a->type].bytes;
    float f;
    double d;
    switch (a->type) {
    case ARG_F32:
        memcpy(&f, at, sizeof f);
        strbuf_printf(out, "%.9g", (double)f);
        break;
    case ARG_F64:
        memcpy(&d, at, sizeof d);
        strbuf_printf(out, "%.17g", d);
        break;
    default:
        if (arg_types[a->type].is_signed)
            strbuf_printf(out, "%" PRId64, (int64_t)(bits << shift) >> shift);
        else
            strbuf_printf(out, "%" PRIu64, bits);
    }
}
