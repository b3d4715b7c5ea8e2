/* gpu_copy.c: copies and fills. Device memory has host addresses (emu/space.h), so a copy is a memmove; what
 * remains is to check the device side against the allocation map. An address outside of the reserved range is
 * the host's own. */
#include "cuda/gpu_impl.h"

/* A range that begins in device memory must lie in one allocation. */
static bool side_ok(struct gpu *g, const void *p, size_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    return !space_reserved(at) || space_valid(emu_device_space(g->device), at, bytes);
}

static enum gpu_status begin(struct gpu *g, const void *dst, const void *src, size_t bytes)
{
    if (gpu_settle(g) != GPU_OK) return g->sticky;
    if (!bytes) return GPU_OK;
    return dst && src && side_ok(g, dst, bytes) && side_ok(g, src, bytes) ? GPU_OK : GPU_INVALID_VALUE;
}

enum gpu_status gpu_copy(struct gpu *g, void *dst, const void *src, size_t bytes)
{
    gpu_lock();
    enum gpu_status status = begin(g, dst, src, bytes);
    if (status == GPU_OK && bytes) {
        memmove(dst, src, bytes);
        g->stats.copied_bytes += bytes;
        if (g->timed && space_reserved((uint64_t)(uintptr_t)dst))
            timed_host_copy(g->timed, (uint64_t)(uintptr_t)dst, bytes);
    }
    gpu_unlock();
    return status;
}

enum gpu_status gpu_copy_2d(struct gpu *g, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                            size_t width_bytes, size_t height)
{
    struct gpu_copy3d c = {.dst = dst,
                           .dst_pitch = dst_pitch,
                           .src = src,
                           .src_pitch = src_pitch,
                           .width_bytes = width_bytes,
                           .height = height,
                           .depth = 1};
    return gpu_copy_3d(g, &c);
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

static enum gpu_status copy_box(struct gpu *g, const struct gpu_copy3d *c)
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
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(dst + (z * dst_rows + y) * c->dst_pitch, src + (z * src_rows + y) * c->src_pitch,
                    c->width_bytes);
    g->stats.copied_bytes += c->width_bytes * c->height * c->depth;
    return GPU_OK;
}

enum gpu_status gpu_copy_3d(struct gpu *g, const struct gpu_copy3d *c)
{
    gpu_lock();
    enum gpu_status status = gpu_settle(g);
    if (status == GPU_OK && c->width_bytes && c->height && c->depth) status = copy_box(g, c);
    gpu_unlock();
    return status;
}

enum gpu_status gpu_fill(struct gpu *g, void *dst, const void *pattern, size_t pattern_bytes, size_t count)
{
    if (!pattern_bytes || count > SIZE_MAX / pattern_bytes) return GPU_INVALID_VALUE;
    gpu_lock();
    enum gpu_status status = begin(g, dst, pattern, 0);
    size_t bytes = pattern_bytes * count;
    struct space *s = emu_device_space(g->device);
    if (status == GPU_OK && bytes && !space_valid(s, (uint64_t)(uintptr_t)dst, bytes))
        status = GPU_INVALID_VALUE;
    if (status == GPU_OK && pattern_bytes == 1)
        memset(dst, *(const uint8_t *)pattern, bytes);
    else if (status == GPU_OK)
        for (size_t i = 0; i < count; i++) memcpy((uint8_t *)dst + i * pattern_bytes, pattern, pattern_bytes);
    gpu_unlock();
    return status;
}
