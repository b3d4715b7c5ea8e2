/* reach.c: from the addresses of 32 lanes to bytes of the host: spaces, windows, bounds, alignment.
 *
 * Most accesses of a full warp are regular: lane l at base + l * stride. Those are checked as one range.
 * Other accesses are checked as the range from their lowest to their highest address when all lanes lie in
 * one space. Only when that fails are lanes checked one by one, in order, so that the first faulting lane is
 * named. (1) Nothing is resolved unless every lane of the mask is valid. (2) A range that was valid for an
 * instruction stays valid for it until memory is freed (run_forget_ranges), so most checks are two
 * comparisons. Loops over lanes are vector code and are not unrolled, which would push other code out of the
 * host's cache. */
#include "emu/memory.h"

#include "emu/fault.h"
#include "emu/late.h"

enum place { PLACE_GLOBAL, PLACE_SHARED, PLACE_LOCAL, PLACE_PARAM };

static const char *const place_names[] = {"global", "shared", "local", "parameter"};

static bool in_window(uint64_t address, uint64_t window) { return address - window < ISA_WINDOW_BYTES; }

/* Where an address of a space lies; a generic one becomes an offset. */
static enum place place_of(uint8_t space, uint64_t *address)
{
    switch (space) {
    case ISA_SHARED: return PLACE_SHARED;
    case ISA_LOCAL: return PLACE_LOCAL;
    case ISA_PARAM: return PLACE_PARAM;
    case ISA_GENERIC:
        if (in_window(*address, ISA_SHARED_WINDOW)) {
            *address -= ISA_SHARED_WINDOW;
            return PLACE_SHARED;
        }
        if (in_window(*address, ISA_LOCAL_WINDOW)) {
            *address -= ISA_LOCAL_WINDOW;
            return PLACE_LOCAL;
        }
        return PLACE_GLOBAL;
    default: return PLACE_GLOBAL;
    }
}

/* [lo, hi) in device memory for the current instruction. */
static bool global_good(struct warp *w, uint64_t lo, uint64_t hi, bool writes)
{
    struct pc_info *info = &w->share->pcs[w->leaf->pc];
    if (LIKELY(lo >= info->lo && hi <= info->hi)) return true;
    const struct space_alloc *a = space_find(w->run->device->space, lo);
    if (!a || hi > a->base + a->bytes || hi <= lo || (writes && a->kind == SPACE_CONST)) return false;
    if (a->kind == SPACE_WINDOW && !w->run->launch->privileged) return false;
    info->lo = a->base;
    info->hi = a->base + a->bytes;
    return true;
}

bool memory_readable(struct warp *w, uint64_t lo, uint64_t hi) { return global_good(w, lo, hi, false); }

/* The parameter block is reached by offset or by address. */
static uint64_t param_offset(const struct run *r, uint64_t address)
{
    return address >= r->block->param_address ? address - r->block->param_address : address;
}

enum isa_space memory_resolve(const struct run *r, uint8_t space, uint64_t *address)
{
    switch (place_of(space, address)) {
    case PLACE_SHARED: return ISA_SHARED;
    case PLACE_LOCAL: return ISA_LOCAL;
    case PLACE_PARAM: *address = r->block->param_address + param_offset(r, *address); return ISA_PARAM;
    case PLACE_GLOBAL: break;
    }
    return space == ISA_CONST ? ISA_CONST : ISA_GLOBAL;
}

/* Where byte lo of a space lies for lane 0, or NULL when [lo, hi) is out of bounds. */
HOT static uint8_t *range_at(struct warp *w, enum place place, uint64_t lo, uint64_t hi, enum access access)
{
    const struct run *r = w->run;
    switch (place) {
    case PLACE_GLOBAL: return global_good(w, lo, hi, access != ACCESS_LOAD) ? (uint8_t *)(uintptr_t)lo : NULL;
    case PLACE_SHARED: return hi <= r->shared_bytes && lo < hi ? w->cta->shared + lo : NULL;
    case PLACE_LOCAL:
        return hi <= r->local_bytes && lo < hi && access != ACCESS_ATOMIC ? w->local + lo : NULL;
    case PLACE_PARAM: {
        uint64_t from = param_offset(r, lo), to = param_offset(r, hi);
        if (access != ACCESS_LOAD || to > r->kernel->param_bytes || from >= to) return NULL;
        return (uint8_t *)(uintptr_t)(r->block->param_address + from);
    }
    }
    UNREACHABLE("place of an access");
}

/* ---- faults ---- */
COLD static void misaligned(struct warp *w, uint32_t lane, enum place place, uint64_t address,
                            const struct access_desc *d)
{
    static const char *const kinds[] = {"load from", "store to", "atomic on"};
    fault_address(w, lane, EMU_MISALIGNED, address, NULL, "misaligned %u-byte %s %s memory at 0x%llx",
                  d->bytes, kinds[d->access], place_names[place], (unsigned long long)address);
}

COLD static void out_of_bounds(struct warp *w, uint32_t lane, enum place place, uint64_t address,
                               const struct access_desc *d)
{
    static const char *const kinds[] = {"load from", "store to", "atomic on"};
    struct space *space = w->run->device->space;
    struct strbuf more = {0};
    enum emu_fault_kind kind = EMU_OUT_OF_BOUNDS;
    const char *what = "out-of-bounds";
    unsigned long long at = address;
    if (place == PLACE_GLOBAL) {
        const struct space_alloc *a = space_find(space, address);
        space_explain(space, address, &more);
        if (a && a->kind == SPACE_CONST && d->access != ACCESS_LOAD) {
            kind = EMU_READ_ONLY;
            what = "forbidden";
            strbuf_puts(&more, ", which is read-only");
        } else if (strncmp(strbuf_text(&more), "in freed", 8) == 0) {
            kind = EMU_FREED;
            what = "use-after-free";
        }
    } else if (place == PLACE_PARAM) {
        strbuf_printf(&more, "the kernel has %u bytes of parameters, read-only", w->run->kernel->param_bytes);
        if (d->access != ACCESS_LOAD) kind = EMU_READ_ONLY;
    } else if (place == PLACE_LOCAL && d->access == ACCESS_ATOMIC) {
        strbuf_puts(&more, "atomics work on global and shared memory only");
    } else {
        uint32_t size = place == PLACE_SHARED ? w->run->shared_bytes : w->run->local_bytes;
        strbuf_printf(&more, "the %s has %u bytes of %s memory", place == PLACE_SHARED ? "CTA" : "thread",
                      size, place_names[place]);
    }
    fault_address(w, lane, kind, address, strbuf_text(&more), "%s %u-byte %s %s memory at 0x%llx", what,
                  d->bytes, kinds[d->access], place_names[place], at);
    strbuf_free(&more);
}

/* ---- resolving ---- */

struct addresses {
    const uint32_t *lo;
    /* NULL: 32-bit addresses */
    const uint32_t *hi;
};

static uint64_t address_of(const struct addresses *a, uint32_t lane, int64_t offset)
{
    if (!a->hi) return (uint32_t)(a->lo[lane] + (uint64_t)offset); /* wraps: s[i + 1] with i = -1 is s[0] */
    return ((uint64_t)a->hi[lane] << 32 | a->lo[lane]) + (uint64_t)offset;
}

/* Lane by lane: mixed spaces, several allocations, or a fault to be named. */
COLD static bool reach_slowly(struct warp *w, const struct access_desc *d, uint32_t mask,
                              const struct addresses *a, struct reach *out)
{
    out->regular = false;
    out->shared = out->global = 0;
    FOR_LANES (l, mask) {
        uint64_t address = address_of(a, l, d->offset), offset = address;
        enum place place = place_of(d->space, &offset);
        if (address & (d->bytes - 1)) {
            misaligned(w, l, place, address, d);
            return false;
        }
        uint8_t *p = range_at(w, place, offset, offset + d->bytes, (enum access)d->access);
        if (!p) {
            out_of_bounds(w, l, place, address, d);
            return false;
        }
        if (place == PLACE_SHARED) out->shared |= 1u << l;
        if (place == PLACE_GLOBAL) out->global |= 1u << l;
        out->at[l] = place == PLACE_LOCAL ? p + (size_t)l * w->run->local_bytes : p;
    }
    return true;
}

/* All 32 lanes at base + l * stride, in one space, aligned and in bounds. */
static bool reach_regular(struct warp *w, const struct access_desc *d, const struct addresses *a,
                          struct reach *out)
{
    const uint32_t *lo = a->lo;
    int64_t stride = (int32_t)(lo[1] - lo[0]);
    uint32_t off = (lo[2] - lo[1] - (uint32_t)stride) | (lo[31] - lo[0] - 31 * (uint32_t)stride);
    if (off) return false; /* most irregular accesses end here */
#pragma GCC unroll 1
    for (uint32_t l = 0; l < ISA_LANES; l++) off |= lo[l] - (lo[0] + l * (uint32_t)stride);
    if (a->hi) {
#pragma GCC unroll 1
        for (uint32_t l = 0; l < ISA_LANES; l++) off |= a->hi[l] ^ a->hi[0];
    }
    int64_t last = (int64_t)lo[0] + 31 * stride;
    if (off || last < 0 || last > UINT32_MAX) return false; /* the last two: the low words wrapped */
    uint64_t first = address_of(a, 0, d->offset), offset = first;
    if ((first | (uint64_t)stride) & (d->bytes - 1)) return false;
    enum place place = place_of(d->space, &offset);
    uint64_t end = offset + (uint64_t)(31 * stride), from = MIN(offset, end),
             to = MAX(offset, end) + d->bytes;
    uint8_t *p = range_at(w, place, from, to, (enum access)d->access);
    if (!p) return false;
    out->regular = true;
    out->base = p + (offset - from);
    out->stride = place == PLACE_LOCAL ? stride + w->run->local_bytes : stride;
    out->shared = place == PLACE_SHARED ? UINT32_MAX : 0;
    out->global = place == PLACE_GLOBAL ? UINT32_MAX : 0;
    return true;
}

/* The range of an access: its lowest and highest address, and the low bits that any address has. */
struct bounds {
    uint64_t low, high;
    uint32_t bits;
};

#define SIGN_BIT  0x80000000u
#define BITS_4(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
static const uint32_t lane_bit[ISA_LANES] = {BITS_4(0),  BITS_4(4),  BITS_4(8),  BITS_4(12),
                                             BITS_4(16), BITS_4(20), BITS_4(24), BITS_4(28)};

/* Finds the lowest and highest address of the lanes of mask, plus offset, and the bits set in any of them.
 * Only low words are compared, in vector code, as signed numbers: plain x86-64 compares no others. False:
 * their high words differ. is_full and has_high are known when it is compiled. */
static inline __attribute__((always_inline)) bool find_bounds(const struct addresses *a, uint32_t mask,
                                                              int64_t offset, bool is_full, bool has_high,
                                                              struct bounds *out)
{
    const uint32_t *lo = a->lo, *hi = has_high ? a->hi : a->lo, first = is_full ? 0 : lane_first(mask);
    const uint32_t add = has_high ? 0 : (uint32_t)offset, lo_first = lo[first], hi_first = hi[first];
    int32_t least = INT32_MAX, most = INT32_MIN;
    uint32_t any = 0, differs = 0;
#pragma GCC unroll 1
    for (uint32_t l = 0; l < ISA_LANES; l++) { /* lanes outside of mask count as the first one */
        const uint32_t in = is_full || mask & lane_bit[l] ? UINT32_MAX : 0;
        const uint32_t v = (is_full ? lo[l] : lo_first ^ ((lo[l] ^ lo_first) & in)) + add;
        const int32_t order = (int32_t)(v ^ SIGN_BIT);
        least = MIN(least, order);
        most = MAX(most, order);
        any |= v;
        if (has_high) differs |= (hi[l] ^ hi_first) & in;
    }
    const uint64_t base = has_high ? ((uint64_t)hi_first << 32) + (uint64_t)offset : 0;
    *out = (struct bounds){base + ((uint32_t)least ^ SIGN_BIT), base + ((uint32_t)most ^ SIGN_BIT), any};
    return !differs;
}

HOT static bool bounds_of(const struct addresses *a, uint32_t mask, int64_t offset, struct bounds *out)
{
    if (mask != UINT32_MAX)
        return a->hi ? find_bounds(a, mask, offset, false, true, out)
                     : find_bounds(a, mask, offset, false, false, out);
    return a->hi ? find_bounds(a, mask, offset, true, true, out)
                 : find_bounds(a, mask, offset, true, false, out);
}

/* At most four: a loop over them is faster than vector code over all lanes. */
static bool are_few(uint32_t mask)
{
    for (int i = 0; i < 4; i++) mask &= mask - 1;
    return !mask;
}

/* The range of a few lanes. */
static bool bounds_of_few(const struct addresses *a, uint32_t mask, int64_t offset, struct bounds *out)
{
    *out = (struct bounds){.low = UINT64_MAX};
    FOR_LANES (l, mask) {
        uint64_t address = address_of(a, l, offset);
        out->bits |= (uint32_t)address;
        out->low = MIN(out->low, address);
        out->high = MAX(out->high, address);
    }
    return out->high - out->low <= UINT32_MAX;
}

/* Lanes of any pattern in one space, checked as one range. */
static bool reach_range(struct warp *w, const struct access_desc *d, uint32_t mask, const struct addresses *a,
                        struct reach *out)
{
    struct bounds b;
    const bool is_few = are_few(mask);
    if (!(is_few ? bounds_of_few : bounds_of)(a, mask, d->offset, &b)) return false;
    if (a->hi && d->offset & (d->bytes - 1)) return false;       /* rare: then lanes are checked one by one */
    if (b.bits & (d->bytes - 1) || b.high < b.low) return false; /* the low words wrapped */
    uint64_t from = b.low, to = b.high;
    enum place place = place_of(d->space, &from);
    if (place_of(d->space, &to) != place) return false;
    uint8_t *p = range_at(w, place, from, to + d->bytes, (enum access)d->access);
    if (!p) return false;
    size_t apart = place == PLACE_LOCAL ? w->run->local_bytes : 0;
    out->regular = false;
    uint64_t base = (uint64_t)(uintptr_t)p;
    uint32_t least = (uint32_t)b.low - (uint32_t)d->offset;
    if (is_few) {
        FOR_LANES (l, mask)
            out->at[l] = (uint8_t *)(uintptr_t)(base + (uint32_t)(a->lo[l] - least) + l * apart);
    } else if (apart) {
#pragma GCC unroll 1
        for (uint32_t l = 0; l < ISA_LANES; l++) /* all lanes: without a test this is vector code */
            out->at[l] = (uint8_t *)(uintptr_t)(base + (uint32_t)(a->lo[l] - least) + l * apart);
    } else {
#pragma GCC unroll 1
        for (uint32_t l = 0; l < ISA_LANES; l++)
            out->at[l] = (uint8_t *)(uintptr_t)(base + (uint32_t)(a->lo[l] - least));
    }
    out->shared = place == PLACE_SHARED ? mask : 0;
    out->global = place == PLACE_GLOBAL ? mask : 0;
    return true;
}

static bool reach_lanes(struct warp *w, const struct access_desc *d, const struct addresses *a, uint32_t mask,
                        struct reach *out)
{
    if (mask == UINT32_MAX && reach_regular(w, d, a, out)) return true;
    if (reach_range(w, d, mask, a, out)) return true;
    return reach_slowly(w, d, mask, a, out);
}

/* Device memory as the log of the SM has it. */
static void reach_log(struct warp *w, const struct access_desc *d, struct reach *out)
{
    struct emu_log *log = w->share->log;
    if (!log || !out->global) return;
    if (d->access == ACCESS_STORE) late_store(log, out, out->global, d->bytes);
    if (d->access == ACCESS_LOAD && !emu_log_is_empty(log)) late_load(log, out, out->global, d->bytes);
}

HOT bool memory_reach(struct warp *w, const struct access_desc *d, uint32_t mask, struct reach *out)
{
    const uint32_t *row = exec_src(&w->x, d->addr);
    const struct addresses a = {.lo = row, .hi = d->is_32 ? NULL : row + ISA_LANES};
    if (!reach_lanes(w, d, &a, mask, out)) return false;
    reach_log(w, d, out);
    return true;
}

bool memory_reach_rows(struct warp *w, const struct access_desc *d, const uint32_t lo[ISA_LANES],
                       const uint32_t hi[ISA_LANES], uint32_t mask, struct reach *out)
{
    const struct addresses a = {.lo = lo, .hi = hi};
    if (!reach_lanes(w, d, &a, mask, out)) return false;
    reach_log(w, d, out);
    return true;
}

bool memory_reach_run(struct warp *w, const struct access_desc *d, uint64_t address, uint32_t count,
                      struct reach *out)
{
    uint32_t lo[ISA_LANES], hi[ISA_LANES];
    for (uint32_t l = 0; l < ISA_LANES; l++) {
        lo[l] = (uint32_t)(address + (uint64_t)l * d->bytes);
        hi[l] = (uint32_t)((address + (uint64_t)l * d->bytes) >> 32);
    }
    return memory_reach_rows(w, d, lo, hi, count == ISA_LANES ? UINT32_MAX : (1u << count) - 1, out);
}

uint8_t *memory_peek(struct warp *w, uint32_t lane, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address;
    enum place place = place_of(ISA_GENERIC, &offset);
    if (place == PLACE_GLOBAL)
        return space_valid(w->run->device->space, address, bytes) ? (uint8_t *)(uintptr_t)address : NULL;
    uint8_t *p = range_at(w, place, offset, offset + bytes, ACCESS_LOAD);
    return p && place == PLACE_LOCAL ? p + (size_t)lane * w->run->local_bytes : p;
}
