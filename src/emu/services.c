/* services.c: what the device runtime does for kernels: printf, assert, malloc and free.
 *
 * CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation". Output
 * appears in the order of execution: by warp, and within a warp by lane. vprintf gets the format and a buffer
 * in which the arguments lie one after another, each aligned to its own size: 4 bytes, or 8 for doubles,
 * pointers and long integers. */
#include "base/bits.h"
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"

enum { TEXT_MAX = 1 << 16, PRINTF_NO_FORMAT = -1, PRINTF_BAD = -2 };

/* A string of device memory as one lane sees it; false: memory ends before the string. */
static bool read_text(struct warp *w, uint32_t lane, uint64_t address, struct strbuf *out)
{
    for (uint32_t n = 0; n < TEXT_MAX; n++) {
        const uint8_t *p = memory_peek(w, lane, address + n, 1);
        if (!p) return false;
        if (!*p) return true;
        strbuf_putc(out, (char)*p);
    }
    return true;
}

/* ---- printf ---- */
struct args {
    struct warp *w;
    uint32_t lane;
    uint64_t at;
    bool bad;
    uint32_t count;
};

static uint64_t next_arg(struct args *a, uint32_t bytes)
{
    uint64_t value = 0;
    a->at = round_up_u64(a->at, bytes);
    const uint8_t *p = memory_peek(a->w, a->lane, a->at, bytes);
    a->at += bytes;
    a->count++;
    if (!p)
        a->bad = true;
    else
        memcpy(&value, p, bytes);
    return value;
}

struct spec {
    char text[64];
    /* shorts: h, hh */
    uint32_t len, shorts;
    /* the device does not know it and prints it unchanged */
    bool is_long, is_odd;
}; /* one conversion, rewritten for the host's printf */

static void spec_add(struct spec *s, const char *text)
{
    for (; *text && s->len + 1 < sizeof s->text; text++) s->text[s->len++] = *text;
    s->text[s->len] = 0;
}

static void spec_add_number(struct spec *s, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    spec_add(s, digits);
}

/* Flags, width, precision and length of the conversion at *p (behind the %); *p moves on to the conversion
 * letter. */
static void read_spec(const char **p, struct args *a, struct spec *s)
{
    /* bounds the output of a wrong * */
    enum { WIDTH_MAX = 4096 };
    *s = (struct spec){.text = "%", .len = 1};
    for (; **p && strchr("-+ #0", **p); ++*p)
        if (!strchr(s->text, **p)) spec_add(s, (char[]){**p, 0}); /* once each: the text stays short */
    for (int part = 0; part < 2; part++) {
        if (part == 1) {
            if (**p != '.') break;
            spec_add(s, ".");
            ++*p;
        }
        if (**p == '*' && part == 1) {
            s->is_odd = true;
            ++*p;
        } else if (**p == '*') {
            int32_t n = (int32_t)next_arg(a, 4);
            spec_add_number(s, n > WIDTH_MAX ? WIDTH_MAX : n < -WIDTH_MAX ? -WIDTH_MAX : n);
            ++*p;
        } else {
            int64_t n = 0;
            bool any = false;
            for (; **p >= '0' && **p <= '9'; ++*p, any = true)
                n = MIN(n * 10 + (**p - '0'), (int64_t)WIDTH_MAX);
            if (any) spec_add_number(s, n);
        }
    }
    for (; **p && strchr("hlLqjzt", **p); ++*p) {
        if (strchr("lqjzt", **p)) s->is_long = true;
        if (**p == 'h') s->shorts++;
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_int(struct strbuf *out, struct spec *s, struct args *a, char letter)
{
    uint64_t v = next_arg(a, s->is_long ? 8 : 4);
    spec_add(s, "ll");
    spec_add(s, (char[]){letter, 0});
    bool is_signed = letter == 'd' || letter == 'i';
    uint32_t unused = s->is_long ? 0 : s->shorts == 0 ? 32 : s->shorts == 1 ? 48 : 56;
    v = is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused;
    strbuf_printf(out, s->text, (unsigned long long)v);
}

static void print_one(struct strbuf *out, struct spec *s, struct args *a, char letter)
{
    char end[2] = {letter, 0};
    if (strchr("diuxXo", letter)) {
        print_int(out, s, a, letter);
    } else if (strchr("eEfFgGaA", letter)) {
        uint64_t bits = next_arg(a, 8);
        spec_add(s, end);
        strbuf_printf(out, s->text, f64_of(bits));
    } else if (letter == 'c') {
        spec_add(s, end);
        strbuf_printf(out, s->text, (int)next_arg(a, 4));
    } else if (letter == 'p') {
        spec_add(s, end);
        strbuf_printf(out, s->text, (void *)(uintptr_t)next_arg(a, 8));
    } else { /* s */
        struct strbuf text = {0};
        uint64_t address = next_arg(a, 8);
        if (!address)
            strbuf_puts(&text, "(null)");
        else if (!read_text(a->w, a->lane, address, &text))
            a->bad = true;
        spec_add(s, end);
        strbuf_printf(out, s->text, strbuf_text(&text));
        strbuf_free(&text);
    }
}
#pragma GCC diagnostic pop

/* The printf of one lane. Returns the number of arguments, or a negative number, as CUDA's printf does. */
static int32_t print_lane(struct args *a, const char *format, struct strbuf *out)
{
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            strbuf_putc(out, *p);
            continue;
        }
        const char *start = p++;
        if (*p == '%') {
            strbuf_putc(out, '%');
            continue;
        }
        struct spec s;
        read_spec(&p, a, &s);
        if (!*p || s.is_odd || !strchr("diuxXoeEfFgGaAcps", *p)) { /* printed unchanged, as CUDA does */
            strbuf_add(out, start, (size_t)(p - start) + (*p ? 1 : 0));
            if (!*p) break;
            continue;
        }
        print_one(out, &s, a, *p);
    }
    return a->bad ? PRINTF_BAD : (int32_t)a->count;
}

static void op_printf(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    const uint32_t *format = exec_src(x, i->src[0]), *args = exec_src(x, i->src[1]);
    uint32_t result[ISA_LANES];
    struct strbuf out = {0}, text = {0};
    FOR_LANES (l, mask) {
        uint64_t at = row_u64(format, l);
        text.len = 0;
        strbuf_add(&text, "", 0);
        result[l] = (uint32_t)PRINTF_NO_FORMAT;
        if (!at) continue;
        if (!read_text(w, l, at, &text)) {
            fault_address(w, l, EMU_OUT_OF_BOUNDS, at, NULL,
                          "printf with a format string that is not in memory, at 0x%llx",
                          (unsigned long long)at);
            break;
        }
        struct args a = {.w = w, .lane = l, .at = row_u64(args, l)};
        result[l] = (uint32_t)print_lane(&a, strbuf_text(&text), &out);
        if (a.bad) {
            fault_address(w, l, EMU_OUT_OF_BOUNDS, a.at, NULL,
                          "printf(\"%.60s\") reads an argument that is not in memory", strbuf_text(&text));
            break;
        }
    }
    if (out.len) device_write(w->run->device, false, out.data, out.len);
    strbuf_free(&out);
    strbuf_free(&text);
    if (i->dst[0] == ISA_NONE || w->event == EVENT_FAULT) return;
    uint32_t *dst = exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) dst[l] = result[l];
}

/* ---- assert ---- */
static void op_assertfail(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    const uint32_t *id = w->cta->id;
    FOR_LANES (l, mask) {
        struct strbuf part[3] = {{0}}, out = {0};
        static const uint8_t operand[3] = {0, 1, 3}; /* message, file, function */
        for (uint32_t k = 0; k < 3; k++)
            if (!read_text(w, l, row_u64(exec_src(x, i->src[operand[k]]), l), &part[k]))
                strbuf_puts(&part[k], "?");
        uint32_t line = exec_src(x, i->src[2])[l], t[3];
        fault_thread(w, l, t);
        strbuf_printf(&out, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                      strbuf_text(&part[1]), line, strbuf_text(&part[2]), id[0], id[1], id[2], t[0], t[1],
                      t[2], strbuf_text(&part[0]));
        device_write(w->run->device, true, out.data, out.len);
        fault_raise(w, l, EMU_ASSERT, "assertion `%s` failed (%s:%u)", strbuf_text(&part[0]),
                    strbuf_text(&part[1]), line);
        for (uint32_t k = 0; k < 3; k++) strbuf_free(&part[k]);
        strbuf_free(&out);
    }
}

/* ---- malloc and free ---- */
static uint64_t heap_take(struct emu_device *d, uint64_t bytes)
{
    if (!bytes || bytes > d->limits.heap_bytes || d->heap_used > d->limits.heap_bytes - bytes) return 0;
    char label[48];
    snprintf(label, sizeof label, "device malloc #%llu", (unsigned long long)++d->heap_serial);
    uint64_t at = space_alloc(d->space, bytes, 16, SPACE_HEAP, label);
    if (at) d->heap_used += bytes;
    return at;
}

static void op_malloc(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *bytes = exec_src(x, i->src[0]);
    if (i->dst[0] == ISA_NONE) return;
    uint32_t *dst = exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) set_row_u64(dst, l, heap_take(x->warp->run->device, row_u64(bytes, l)));
}

static void op_free(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct emu_device *d = w->run->device;
    const uint32_t *pointer = exec_src(x, i->src[0]);
    FOR_LANES (l, mask) {
        uint64_t at = row_u64(pointer, l);
        if (!at) continue;
        const struct space_alloc *a = space_find(d->space, at);
        if (!a || a->base != at || a->kind != SPACE_HEAP) {
            struct strbuf more = {0};
            space_explain(d->space, at, &more);
            bool freed = strncmp(strbuf_text(&more), "in freed", 8) == 0;
            fault_address(w, l, freed ? EMU_FREED : EMU_OUT_OF_BOUNDS, at, strbuf_text(&more),
                          "free(0x%llx), which is %s", (unsigned long long)at,
                          freed ? "freed already" : "no pointer that malloc on the device gave");
            strbuf_free(&more);
            return;
        }
        d->heap_used -= a->bytes;
        space_free(d->space, at);
    }
    run_forget_ranges(d);
}

void ops_services(exec_fn **table)
{
    table[ISA_OP_PRINTF] = op_printf;
    table[ISA_OP_MALLOC] = op_malloc;
    table[ISA_OP_FREE] = op_free;
    table[ISA_OP_ASSERTFAIL] = op_assertfail;
}
