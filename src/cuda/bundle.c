/* bundle.c: writes and reads bundles. */
#include "cuda/bundle.h"

static void put(struct bundle_writer *w, const void *data, size_t len)
{
    vec_reserve(&w->bytes, w->bytes.len + len);
    if (len) memcpy(w->bytes.data + w->bytes.len, data, len);
    w->bytes.len += (uint32_t)len;
    uint64_t total = w->bytes.len;
    if (total >= BUNDLE_HEADER_BYTES) memcpy(w->bytes.data + 8, &total, sizeof total);
}

void bundle_begin(struct bundle_writer *w)
{
    static const char head[BUNDLE_HEADER_BYTES] = BUNDLE_MAGIC;
    put(w, head, sizeof head);
}

void bundle_add(struct bundle_writer *w, const void *image, size_t len)
{
    static const uint8_t zeros[8];
    uint64_t bytes = len;
    put(w, &bytes, sizeof bytes);
    put(w, image, len);
    put(w, zeros, (8 - len % 8) % 8);
}

bool bundle_is(const void *data) { return !memcmp(data, BUNDLE_MAGIC, 8); }

bool bundle_next(const void *data, size_t *cursor, const void **image, size_t *len)
{
    uint64_t total, bytes;
    const uint8_t *p = data;
    memcpy(&total, p + 8, sizeof total);
    if (!*cursor) *cursor = BUNDLE_HEADER_BYTES;
    if (*cursor > total || total - *cursor < sizeof bytes) return false;
    memcpy(&bytes, p + *cursor, sizeof bytes);
    if (bytes > total - *cursor - sizeof bytes) return false;
    *image = p + *cursor + sizeof bytes;
    *len = bytes;
    *cursor += sizeof bytes + (bytes + 7) / 8 * 8;
    return true;
}
