/* stage.c: see stage.h. */
#include "emu/stage.h"

enum {
    CHUNK_BYTES = 2 << 20,
    /* bytes of chunks that are kept when a grid has ended */
    KEPT_BYTES = 64 << 20
};

static bool add_chunk(struct stage *s, size_t bytes)
{
    struct stage_chunk c = {.bytes = (size_t)round_up_u64(MAX(bytes, (size_t)CHUNK_BYTES), HOST_LINE)};
    c.data = aligned_alloc(HOST_LINE, c.bytes);
    if (!c.data) return false;
    vec_push(&s->chunks, c);
    return true;
}

void *stage_take(struct stage *s, size_t bytes)
{
    bytes = (size_t)round_up_u64(bytes, HOST_LINE);
    while (s->current < s->chunks.len && s->chunks.data[s->current].bytes - s->used < bytes) {
        s->current++;
        s->used = 0;
    }
    if (s->current == s->chunks.len && !add_chunk(s, bytes)) return NULL;
    void *block = s->chunks.data[s->current].data + s->used;
    s->used += bytes;
    return block;
}

void stage_clear(struct stage *s)
{
    size_t kept = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->chunks.len; i++) {
        struct stage_chunk c = s->chunks.data[i];
        if (kept + c.bytes > KEPT_BYTES) {
            free(c.data);
            continue;
        }
        kept += c.bytes;
        s->chunks.data[count++] = c;
    }
    s->chunks.len = count;
    s->current = 0;
    s->used = 0;
}

void stage_free(struct stage *s)
{
    for (uint32_t i = 0; i < s->chunks.len; i++) free(s->chunks.data[i].data);
    vec_free(&s->chunks);
    *s = (struct stage){0};
}
