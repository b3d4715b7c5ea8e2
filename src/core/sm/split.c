/* split.c: see split.h. CUDA's documents say that the driver chooses by the kernel's needs, not how; the
 * smallest size that costs no CTA is the choice that leaves the most to the L1. A wish in percent is of the
 * largest size, and the next size that is not below it is taken (cudaFuncSetAttribute,
 * PreferredSharedMemoryCarveout: a hint). */
#include "core/sm/split.h"

#include "core/occupancy.h"

bool split_read(const struct sm_params *p, struct split_sizes *out)
{
    const char *at = p->shared_sizes;
    *out = (struct split_sizes){0};
    while (*at) {
        char *end;
        uint64_t kilobytes = strtoull(at, &end, 10);
        if (end == at || out->count == SPLIT_SIZES_MAX || kilobytes > 1 << 14) return false;
        if (*end == 'K') end++;
        if (*end && (*end != ',' || !end[1])) return false;
        if (out->count && kilobytes << 10 <= out->bytes[out->count - 1]) return false;
        out->bytes[out->count++] = kilobytes << 10;
        at = *end ? end + 1 : end;
    }
    return true;
}

#define REFUSE(hint, ...) diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint, __VA_ARGS__)

bool split_check(const struct machine *m, struct diag_list *diags)
{
    struct split_sizes s;
    if (!split_read(&m->sm, &s)) {
        REFUSE("as in 0,8,16,32,64,100",
               "sm.shared_sizes must be rising numbers of KB with commas between them, got '%s'",
               m->sm.shared_sizes);
        return false;
    }
    if (!s.count) return true;
    uint64_t largest = s.bytes[s.count - 1], way = m->l1.size / MAX(m->l1.ways, 1u);
    bool ok = true;
    if (m->sm_shared_bytes != largest && m->sm.shared_split == SPLIT_AUTO) {
        REFUSE(NULL, "sm.shared must be the largest of sm.shared_sizes, %llu KB, got %llu bytes",
               (unsigned long long)largest >> 10, (unsigned long long)m->sm_shared_bytes);
        ok = false;
    }
    if (MAX(largest, m->sm_shared_bytes) + way > m->l1.size) {
        REFUSE(
            NULL,
            "l1.size is %llu bytes, which shared memory of up to %llu bytes shares: no way of %llu bytes is "
            "left for the L1",
            (unsigned long long)m->l1.size, (unsigned long long)MAX(largest, m->sm_shared_bytes),
            (unsigned long long)way);
        ok = false;
    }
    return ok;
}

static uint64_t at_least(const struct split_sizes *s, uint64_t bytes)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->bytes[i] >= bytes) return s->bytes[i];
    return s->bytes[s->count - 1];
}

struct split_launch split_of_grid(const struct emu_grid *g)
{
    const struct emu_launch *l = emu_grid_launch(g);
    return (struct split_launch){.kernel = l->kernel,
                                 .threads = l->block[0] * l->block[1] * l->block[2],
                                 .shared_bytes = emu_grid_shared_bytes(g),
                                 .wish = l->cooperative ? 0 : l->shared_wish};
}

uint64_t split_shared_bytes(const struct machine *m, const struct split_sizes *s,
                            const struct split_launch *l)
{
    if (!s->count || m->sm.shared_split == SPLIT_FIXED) return m->sm_shared_bytes;
    uint64_t cta = occupancy_shared(m, l->shared_bytes);
    if (!l->wish) return at_least(s, cta * occupancy_ctas(m, l->kernel, l->threads, l->shared_bytes));
    uint64_t largest = s->bytes[s->count - 1];
    return at_least(s, MAX(cta, largest * (l->wish - 1) / 100));
}

uint64_t split_shared_bytes_of(const struct machine *m, const struct split_launch *l)
{
    struct split_sizes s;
    split_read(&m->sm, &s);
    return split_shared_bytes(m, &s, l);
}

uint64_t split_l1_bytes(const struct machine *m, const struct split_sizes *s, uint64_t shared_bytes)
{
    return s->count ? m->l1.size - shared_bytes : m->l1.size;
}
