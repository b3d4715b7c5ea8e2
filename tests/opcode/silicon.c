/* silicon.c: reading the record. After a line of text, for each form: its name, a zero byte, the hash of its
 * operand cells (8 bytes), the number of bytes that follow (4 bytes), and the destination columns.
 * Little-endian. */
#include "silicon.h"

#include <zstd.h>

static uint8_t *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = size > 0 ? mem_alloc((size_t)size) : NULL;
    if (data && fread(data, 1, (size_t)size, f) != (size_t)size) {
        free(data);
        data = NULL;
    }
    fclose(f);
    *len = (size_t)size;
    return data;
}

static bool index_records(struct silicon *s, size_t len)
{
    const uint8_t *end = s->data + len, *p = memchr(s->data, '\n', len);
    if (!p) return false;
    snprintf(s->origin, sizeof s->origin, "%.*s", (int)(p - s->data), (const char *)s->data);
    for (p++; p < end;) {
        const uint8_t *zero = memchr(p, 0, (size_t)(end - p));
        uint32_t bytes;
        if (!zero || end - zero < 13) return false;
        memcpy(&bytes, zero + 9, 4);
        if ((uint64_t)(end - zero - 13) < bytes) return false;
        map_put(&s->by_name, (const char *)p, (void *)(uintptr_t)(zero + 1));
        p = zero + 13 + bytes;
    }
    return true;
}

bool silicon_open(struct silicon *s, const char *path, struct strbuf *error)
{
    *s = (struct silicon){0};
    size_t packed_len = 0;
    uint8_t *packed = read_file(path, &packed_len);
    if (!packed) {
        strbuf_printf(error, "cannot read %s\n", path);
        return false;
    }
    unsigned long long len = ZSTD_getFrameContentSize(packed, packed_len);
    bool ok = len != ZSTD_CONTENTSIZE_ERROR && len != ZSTD_CONTENTSIZE_UNKNOWN && len < 1u << 30;
    if (ok) {
        s->data = mem_alloc((size_t)len);
        ok =
            ZSTD_decompress(s->data, (size_t)len, packed, packed_len) == len && index_records(s, (size_t)len);
    }
    free(packed);
    if (!ok) {
        strbuf_printf(error, "%s is not a record of silicon values\n", path);
        silicon_close(s);
    }
    return ok;
}

void silicon_close(struct silicon *s)
{
    map_free(&s->by_name);
    free(s->data);
    *s = (struct silicon){0};
}

enum silicon_answer silicon_find(const struct silicon *s, const struct form *f, uint64_t in_hash,
                                 uint64_t *out)
{
    const uint8_t *p = map_get(&s->by_name, f->name);
    if (!p) return SILICON_NONE;
    uint64_t hash;
    uint32_t bytes, expected = 0;
    memcpy(&hash, p, 8);
    memcpy(&bytes, p + 8, 4);
    for (uint32_t k = 0; k < f->out_count; k++) expected += f->n * form_type_bytes(f->outs[k].type);
    if (hash != in_hash || bytes != expected) return SILICON_STALE;
    p += 12;
    for (uint32_t k = 0; k < f->out_count; k++)
        for (uint32_t i = 0; i < f->n; i++) {
            uint32_t size = form_type_bytes(f->outs[k].type);
            uint64_t v = 0;
            memcpy(&v, p, size);
            out[(size_t)k * f->n + i] = v;
            p += size;
        }
    return SILICON_FOUND;
}
