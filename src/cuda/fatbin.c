/* fatbin.c: reads the fatbin container.
 *
 * Layout, little-endian, known from measurement of what nvcc 13.0 writes (all its compression modes):
 *   header   +0 u32 magic, +4 u16 version 1, +6 u16 header bytes 16, +8 u64 bytes of all entries after it
 *   entry    +0 u16 kind (1 PTX, 2 cubin), +4 u32 header bytes, +8 u64 payload bytes (padded to 8),
 *            +16 u32 compressed bytes or 0, +20 u32 offset of the options block or 0, +24 u16 minor,
 *            +26 u16 major, +28 u32 architecture, +32 u32 offset and +36 u32 length of the source name,
 *            +40 u64 flags, +56 u64 uncompressed bytes or 0
 *   options  +0 u32 offset of the text, +4 u32 its length
 * Offsets count from the start of the entry. Invariants: (1) no byte outside of data[0 .. len-1] is read,
 * whatever the fields say; with len unknown the header's own size is the bound. (2) Every error names the
 * byte offset of the field that is wrong. Left out: entries of other kinds (LTO code) are skipped; nothing
 * here can run them. */
#include "cuda/fatbin.h"

#include <lz4.h>
#include <zstd.h>

enum { FATBIN_MAGIC = (int)0xba55ed50, HEADER_BYTES = 16, ENTRY_BYTES = 64, KIND_PTX = 1, KIND_CUBIN = 2 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
/* Decompressed PTX; far above what any compiler writes. */
enum { TEXT_BYTES_MAX = 256 << 20 };

struct reader {
    const char *name;
    const uint8_t *data;
    uint64_t len;
    struct fatbin *out;
    struct diag_list *diags;
    /* leave options, names and texts out */
    bool headers_only;
};

static uint16_t get_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get_u32(const uint8_t *p) { return get_u16(p) | (uint32_t)get_u16(p + 2) << 16; }
static uint64_t get_u64(const uint8_t *p) { return get_u32(p) | (uint64_t)get_u32(p + 4) << 32; }

static bool fail(struct reader *r, uint64_t offset, const char *what)
{
    struct diag_source src = {.file = r->name};
    diag_add(r->diags, DIAG_ERROR, &src, 0, 0, 0, NULL, "bad fatbin at byte %llu: %s",
             (unsigned long long)offset, what);
    return false;
}

bool fatbin_is(const void *data)
{
    const uint8_t *p = data;
    return p && get_u32(p) == (uint32_t)FATBIN_MAGIC;
}

bool fatbin_is_wrapper(const void *data)
{
    const uint8_t *p = data;
    return p && get_u32(p) == FATBIN_WRAPPER_MAGIC;
}

/* A text inside the header of the entry at `base`; "" where there is none. */
static const char *header_text(struct reader *r, uint64_t base, uint64_t header, uint64_t field,
                               uint64_t place, uint64_t len)
{
    if (!len) return "";
    if (place > header || len > header - place) {
        fail(r, field, "text lies outside of the entry's header");
        return NULL;
    }
    const char *text = (const char *)r->data + base + place;
    return arena_strndup(&r->out->arena, text, strnlen(text, len));
}

static bool read_options(struct reader *r, uint64_t base, uint64_t header, struct fatbin_entry *e)
{
    const uint8_t *p = r->data + base;
    uint64_t block = get_u32(p + 20);
    e->options = "";
    if (block) {
        if (block < ENTRY_BYTES || block > header || header - block < 8)
            return fail(r, base + 20, "the options block lies outside of the entry's header");
        e->options = header_text(r, base, header, base + block, get_u32(p + block), get_u32(p + block + 4));
    }
    e->source_name = header_text(r, base, header, base + 32, get_u32(p + 32), get_u32(p + 36));
    return e->options && e->source_name;
}

static bool read_compressed(struct reader *r, uint64_t base, const uint8_t *payload, uint64_t payload_bytes,
                            struct fatbin_entry *e)
{
    const uint8_t *p = r->data + base;
    uint64_t packed = get_u32(p + 16), flags = get_u64(p + 40), plain = get_u64(p + 56);
    if (!packed || packed > payload_bytes)
        return fail(r, base + 16, "the compressed size does not fit the payload");
    if (!plain || plain > TEXT_BYTES_MAX) return fail(r, base + 56, "the uncompressed size is out of range");
    /* A byte of LZ4 stands for at most 255; a zstd frame says its own size. So a small input cannot claim
     * much. */
    if (flags & FLAG_LZ4 && plain / 255 > packed)
        return fail(r, base + 56, "the uncompressed size is out of range");
    if (flags & FLAG_ZSTD) {
        unsigned long long content = ZSTD_getFrameContentSize(payload, packed);
        if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != plain)
            return fail(r, base + 56, "the uncompressed size is not the one of the zstd frame");
    }
    char *text = arena_alloc(&r->out->arena, plain + 1);
    if (flags & FLAG_ZSTD) {
        size_t got = ZSTD_decompress(text, plain, payload, packed);
        if (ZSTD_isError(got)) return fail(r, (uint64_t)(payload - r->data), ZSTD_getErrorName(got));
        if (got != plain) return fail(r, base + 56, "the zstd data is shorter than the entry says");
    } else {
        int got = LZ4_decompress_safe((const char *)payload, text, (int)packed, (int)plain);
        if (got < 0) return fail(r, (uint64_t)(payload - r->data), "the LZ4 data is damaged");
        if ((uint64_t)got != plain) return fail(r, base + 56, "the LZ4 data is shorter than the entry says");
    }
    e->text = text;
    e->len = strnlen(text, plain);
    return true;
}

static bool read_payload(struct reader *r, uint64_t base, uint64_t header, uint64_t payload_bytes,
                         struct fatbin_entry *e)
{
    const uint8_t *payload = r->data + base + header;
    if (!e->is_ptx) {
        e->len = payload_bytes;
        return true;
    }
    uint64_t flags = get_u64(r->data + base + 40);
    if (flags & (FLAG_LZ4 | FLAG_ZSTD)) return read_compressed(r, base, payload, payload_bytes, e);
    if (get_u32(r->data + base + 16)) return fail(r, base + 40, "compressed by a method that is not known");
    e->len = strnlen((const char *)payload, payload_bytes);
    e->text = arena_strndup(&r->out->arena, (const char *)payload, e->len);
    return true;
}

/* Reads the entry at base; *next is where the following one begins. */
static bool read_entry(struct reader *r, uint64_t base, uint64_t *next, struct fatbin_entry *e, bool *known)
{
    const uint8_t *p = r->data + base;
    if (r->len - base < ENTRY_BYTES) return fail(r, base, "the entry's header is cut off");
    uint64_t header = get_u32(p + 4), payload_bytes = get_u64(p + 8);
    if (header < ENTRY_BYTES || header > r->len - base)
        return fail(r, base + 4, "the header size is out of range");
    if (payload_bytes > r->len - base - header) return fail(r, base + 8, "the payload goes past the end");
    *next = base + header + payload_bytes;
    uint32_t kind = get_u16(p);
    *known = kind == KIND_PTX || kind == KIND_CUBIN;
    if (!*known) return true;
    *e = (struct fatbin_entry){.is_ptx = kind == KIND_PTX,
                               .arch = get_u32(p + 28),
                               .version_major = get_u16(p + 26),
                               .version_minor = get_u16(p + 24)};
    return r->headers_only ||
           (read_options(r, base, header, e) && read_payload(r, base, header, payload_bytes, e));
}

static bool read_header(struct reader *r, size_t len)
{
    if (len < HEADER_BYTES) return fail(r, 0, "the header is cut off");
    if (!fatbin_is(r->data)) return fail(r, 0, "the magic number is missing");
    if (get_u16(r->data + 4) != 1) return fail(r, 4, "the version is not 1");
    if (get_u16(r->data + 6) != HEADER_BYTES) return fail(r, 6, "the header size is not 16");
    uint64_t body = get_u64(r->data + 8);
    if (body > len - HEADER_BYTES || body > UINT64_MAX / 2) return fail(r, 8, "the entries go past the end");
    r->len = HEADER_BYTES + body;
    return true;
}

bool fatbin_read(const char *name, const void *data, size_t len, struct fatbin *out, struct diag_list *diags)
{
    *out = (struct fatbin){0};
    struct reader r = {.name = name, .data = data, .out = out, .diags = diags};
    if (!read_header(&r, len)) return false;
    VEC(struct fatbin_entry) entries = {0};
    bool ok = true;
    for (uint64_t at = HEADER_BYTES; ok && at < r.len;) {
        struct fatbin_entry e;
        bool known = false;
        ok = read_entry(&r, at, &at, &e, &known);
        if (ok && known) vec_push(&entries, e);
    }
    if (ok && entries.len) {
        out->entries = ARENA_ARRAY(&out->arena, struct fatbin_entry, entries.len);
        memcpy(out->entries, entries.data, sizeof(*entries.data) * entries.len);
        out->count = entries.len;
    }
    vec_free(&entries);
    if (!ok) fatbin_free(out);
    return ok;
}

uint32_t fatbin_lowest_ptx(const void *data, size_t len)
{
    struct diag_list diags = {0};
    struct reader r = {.name = "", .data = data, .diags = &diags, .headers_only = true};
    uint32_t lowest = 0;
    bool ok = read_header(&r, len);
    for (uint64_t at = HEADER_BYTES; ok && at < r.len;) {
        struct fatbin_entry e;
        bool known = false;
        ok = read_entry(&r, at, &at, &e, &known);
        if (ok && known && e.is_ptx && (!lowest || e.arch < lowest)) lowest = e.arch;
    }
    diag_free(&diags);
    return ok ? lowest : 0;
}

void fatbin_free(struct fatbin *f)
{
    arena_free(&f->arena);
    *f = (struct fatbin){0};
}

const struct fatbin_entry *fatbin_best_ptx(const struct fatbin *f, uint32_t max_arch)
{
    const struct fatbin_entry *best = NULL;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct fatbin_entry *e = &f->entries[i];
        if (e->is_ptx && e->arch <= max_arch && (!best || e->arch > best->arch)) best = e;
    }
    return best;
}
