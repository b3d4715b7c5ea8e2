/* gpu_copy.c: copies and fills. Device memory has host addresses (emu/space.h), so a copy is a memmove.
 * This file checks the device side against the allocation map and decides when the copy happens. An address
 * outside of the reserved range is the host's own.
 *
 * Functional: at the call. Timed: on its stream; the call waits for it where CUDA's does (see gpu.h). */
#include "cuda/gpu_timed.h"

enum side { SIDE_PAGEABLE, SIDE_PINNED, SIDE_MANAGED, SIDE_DEVICE };

/* [depth][height] rows of width bytes. */
struct rows {
    size_t width, height, depth;
    uint8_t *dst;
    /* NULL: a fill */
    const uint8_t *src;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    uint8_t pattern[16];
    size_t pattern_bytes;
};

/* A copy that is queued. */
struct job {
    struct gpu *gpu;
    struct rows rows;
    /* what pageable memory held at the call; NULL: read when it is performed */
    void *staged;
};

/* ---- moving ---- */

static void fill_row(uint8_t *to, const struct rows *r)
{
    if (r->pattern_bytes == 1)
        memset(to, r->pattern[0], r->width);
    else
        for (size_t i = 0; i < r->width; i += r->pattern_bytes) memcpy(to + i, r->pattern, r->pattern_bytes);
}

static void move(const struct rows *r)
{
    for (size_t z = 0; z < r->depth; z++)
        for (size_t y = 0; y < r->height; y++) {
            uint8_t *to = r->dst + z * r->dst_slice + y * r->dst_pitch;
            if (r->src)
                memmove(to, r->src + z * r->src_slice + y * r->src_pitch, r->width);
            else
                fill_row(to, r);
        }
}

static void perform(void *ctx)
{
    const struct job *j = ctx;
    const struct rows *r = &j->rows;
    move(r);
    if (!space_reserved((uint64_t)(uintptr_t)r->dst)) return;
    for (size_t z = 0; z < r->depth; z++)
        for (size_t y = 0; y < r->height; y++)
            (r->src ? timed_host_copy : timed_host_fill)(
                j->gpu->timed, (uint64_t)(uintptr_t)(r->dst + z * r->dst_slice + y * r->dst_pitch), r->width);
}

static void release(void *ctx)
{
    struct job *j = ctx;
    free(j->staged);
    free(j);
}

/* The source as it is now. */
static void stage(struct job *j)
{
    struct rows *r = &j->rows, packed = *r;
    j->staged = mem_alloc(r->width * r->height * r->depth);
    packed.dst = j->staged;
    packed.dst_pitch = r->width;
    packed.dst_slice = r->width * r->height;
    move(&packed);
    r->src = j->staged;
    r->src_pitch = packed.dst_pitch;
    r->src_slice = packed.dst_slice;
}

/* ---- when ---- */

static enum side side_of(struct gpu *g, const void *p)
{
    const struct space_alloc *a = space_find(emu_device_space(g->device), (uint64_t)(uintptr_t)p);
    if (!a) return SIDE_PAGEABLE;
    if (a->kind == SPACE_HOST || a->kind == SPACE_REGISTERED) return SIDE_PINNED;
    return a->kind == SPACE_MANAGED ? SIDE_MANAGED : SIDE_DEVICE;
}

static bool is_host(enum side s) { return s <= SIDE_PINNED; }

static enum timed_copy_kind kind_of(enum side dst, enum side src)
{
    if (is_host(dst)) return is_host(src) ? COPY_ON_HOST : COPY_TO_HOST;
    return is_host(src) ? COPY_TO_DEVICE : COPY_ON_DEVICE;
}

/* Whether the call waits for the end of the copy. The program may read managed memory right after a
 * synchronous one. */
static bool must_wait(enum side dst, enum side src, bool async)
{
    if (is_host(dst) && is_host(src)) return true;
    return async ? dst == SIDE_PAGEABLE : dst != SIDE_DEVICE || src != SIDE_DEVICE;
}

static enum gpu_status queue(struct gpu *g, const struct rows *r, struct gpu_order o)
{
    enum side dst = side_of(g, r->dst), src = r->src ? side_of(g, r->src) : SIDE_DEVICE;
    struct job *j = mem_zalloc(sizeof *j);
    j->gpu = g;
    j->rows = *r;
    bool wait = must_wait(dst, src, o.async);
    if (src == SIDE_PAGEABLE && !wait) stage(j);
    struct timed_copy c = {.kind = kind_of(dst, src),
                           .bytes = r->width * r->height * r->depth,
                           .perform = perform,
                           .release = release,
                           .ctx = j};
    timed_copy(g->timed, &c, o.stream);
    gpu_keep_pending(g);
    return wait ? gpu_timed_run(g, GPU_STREAM, o.stream) : g->sticky;
}

static enum gpu_status submit(struct gpu *g, const struct rows *r, struct gpu_order o)
{
    g->stats.copied_bytes += r->src ? r->width * r->height * r->depth : 0;
    if (g->timed) return queue(g, r, o);
    move(r);
    gpu_keep_update(g);
    return GPU_OK;
}

/* ---- checks ---- */

/* A range that begins in device memory must lie in one allocation. */
static bool side_ok(struct gpu *g, const void *p, size_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    return !space_reserved(at) || space_valid(emu_device_space(g->device), at, bytes);
}

/* Bytes from the first to behind the last of a box; false when it does not fit size_t. */
static bool span(const struct gpu_copy3d *c, size_t pitch, size_t slice_rows, size_t *out)
{
    size_t rows, bytes;
    if (__builtin_mul_overflow(c->depth - 1, slice_rows, &rows)) return false;
    if (__builtin_add_overflow(rows, c->height - 1, &rows)) return false;
    if (__builtin_mul_overflow(rows, pitch, &bytes)) return false;
    return !__builtin_add_overflow(bytes, c->width_bytes, out);
}

static enum gpu_status copy_box(struct gpu *g, const struct gpu_copy3d *c, struct gpu_order o)
{
    size_t dst_rows = MAX(c->dst_height, c->height), src_rows = MAX(c->src_height, c->height);
    if (!c->dst || !c->src) return GPU_INVALID_VALUE;
    if (c->height > 1 || c->depth > 1)
        if (c->dst_pitch < c->width_bytes || c->src_pitch < c->width_bytes) return GPU_INVALID_VALUE;
    uint8_t *dst = (uint8_t *)c->dst + (c->dst_z * dst_rows + c->dst_y) * c->dst_pitch + c->dst_x;
    const uint8_t *src = (const uint8_t *)c->src + (c->src_z * src_rows + c->src_y) * c->src_pitch + c->src_x;
    size_t dst_bytes, src_bytes;
    if (!span(c, c->dst_pitch, dst_rows, &dst_bytes) || !span(c, c->src_pitch, src_rows, &src_bytes))
        return GPU_INVALID_VALUE;
    if (!side_ok(g, dst, dst_bytes) || !side_ok(g, src, src_bytes)) return GPU_INVALID_VALUE;
    const struct rows r = {.width = c->width_bytes,
                           .height = c->height,
                           .depth = c->depth,
                           .dst = dst,
                           .src = src,
                           .dst_pitch = c->dst_pitch,
                           .dst_slice = dst_rows * c->dst_pitch,
                           .src_pitch = c->src_pitch,
                           .src_slice = src_rows * c->src_pitch};
    return submit(g, &r, o);
}

enum gpu_status gpu_copy_3d(struct gpu *g, const struct gpu_copy3d *c, struct gpu_order o)
{
    gpu_lock();
    enum gpu_status status = g->sticky;
    if (status == GPU_OK && c->width_bytes && c->height && c->depth) status = copy_box(g, c, o);
    gpu_unlock();
    return status;
}

enum gpu_status gpu_copy(struct gpu *g, void *dst, const void *src, size_t bytes, struct gpu_order o)
{
    struct gpu_copy3d c = {.dst = dst, .src = src, .width_bytes = bytes, .height = 1, .depth = 1};
    return gpu_copy_3d(g, &c, o);
}

enum gpu_status gpu_copy_2d(struct gpu *g, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                            size_t width_bytes, size_t height, struct gpu_order o)
{
    struct gpu_copy3d c = {.dst = dst,
                           .dst_pitch = dst_pitch,
                           .src = src,
                           .src_pitch = src_pitch,
                           .width_bytes = width_bytes,
                           .height = height,
                           .depth = 1};
    return gpu_copy_3d(g, &c, o);
}

static enum gpu_status fill_rows(struct gpu *g, struct rows *r, struct gpu_order o)
{
    size_t bytes;
    if (__builtin_mul_overflow(r->dst_pitch, r->height - 1, &bytes) ||
        __builtin_add_overflow(bytes, r->width, &bytes) ||
        !space_valid(emu_device_space(g->device), (uint64_t)(uintptr_t)r->dst, bytes))
        return GPU_INVALID_VALUE;
    return submit(g, r, o);
}

enum gpu_status gpu_fill(struct gpu *g, void *dst, size_t pitch, const void *pattern, size_t pattern_bytes,
                         size_t width, size_t height, struct gpu_order o)
{
    struct rows r = {
        .height = height, .depth = 1, .dst = dst, .dst_pitch = pitch, .pattern_bytes = pattern_bytes};
    if (!pattern_bytes || pattern_bytes > sizeof r.pattern) return GPU_INVALID_VALUE;
    if (__builtin_mul_overflow(pattern_bytes, width, &r.width)) return GPU_INVALID_VALUE;
    memcpy(r.pattern, pattern, pattern_bytes);
    gpu_lock();
    enum gpu_status status = g->sticky;
    if (status == GPU_OK && r.width && height) status = fill_rows(g, &r, o);
    gpu_unlock();
    return status;
}
