/* space.c: the allocation map of device memory.
 *
 * The range is reserved once, at a fixed address, without memory behind it; pages become usable in big steps
 * as the highest address grows. Blocks come from the end of what was handed out (bump), or from blocks of the
 * same size class that were freed, last freed first. Only when the range is used up does it search the gaps
 * between live allocations. All three are functions of the calls alone, which gives invariant (2) of space.h.
 *
 * Live and freed entries share one array sorted by base. (1) No two entries of it overlap, freed ones
 * included: a new allocation removes the freed ones that it covers. (2) At most DEAD_MAX freed entries beyond
 * the number of live ones are kept. (3) A block is its allocation, rounded up to a class, with at least
 * GAP_BYTES that belong to no allocation. Left out: reads of memory that was never written are not
 * reported. */
#include "emu/space.h"

#include "base/vec.h"

#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define SPACE_BASE                                                                                           \
    0x7e9000000000ull                  /* below the kernel's mmap area, above everything that a loader picks \
                                        */
#define SPACE_BYTES  0x004000000000ull /* 256 GB of addresses */
#define COMMIT_BYTES (64ull << 20)     /* pages become readable in steps of this */
#define GAP_BYTES    256u
#define ALIGN_SMALL  256u
#define ALIGN_BIG    512u
#define BIG_BYTES    (1ull << 20)
#define RELEASE_MIN  (64ull << 10) /* smaller freed blocks keep their pages: a system call would cost more */
enum { CLASS_COUNT = 4 * 48, DEAD_MAX = 1024 };

struct block {
    uint64_t base;
    /* index + 1 in the list of its class */
    uint64_t next;
};

struct space {
    uint64_t bytes_max, bytes_used;
    /* next free address; end of the usable pages */
    uint64_t bump, committed;
    uint64_t serial;
    /* the range was used up once: from now on blocks come from the gaps */
    bool scattered;
    /* entry of the last hit */
    uint32_t last;
    uint32_t dead;
    VEC(struct space_alloc) map;
    VEC(struct block) blocks;
    /* list of entries of `blocks` that hold nothing; index + 1 */
    uint32_t blocks_unused;
    /* freed blocks by class; index + 1 */
    uint64_t class_head[CLASS_COUNT];
};

struct space *space_create(uint64_t bytes_max)
{
    void *at = mmap((void *)SPACE_BASE, SPACE_BYTES, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    if (at != (void *)SPACE_BASE) { /* a kernel older than 4.17 takes the address as a hint */
        munmap(at, SPACE_BYTES);
        return NULL;
    }
    struct space *s = mem_zalloc(sizeof *s);
    s->bytes_max = bytes_max;
    s->bump = s->committed = SPACE_BASE;
    return s;
}

void space_destroy(struct space *s)
{
    if (!s) return;
    munmap((void *)SPACE_BASE, SPACE_BYTES);
    for (uint32_t i = 0; i < s->map.len; i++) free((char *)s->map.data[i].label);
    vec_free(&s->map);
    vec_free(&s->blocks);
    free(s);
}

/* ---- size classes: four steps to each power of two, so that at most a quarter of a block's addresses is
 * unused ---- */
static uint32_t class_of(uint64_t bytes, uint64_t *class_bytes)
{
    uint32_t log = 63 - (uint32_t)__builtin_clzll(bytes);
    uint64_t step = 1ull << (log - 2);
    uint64_t rounded = round_up_u64(bytes, step);
    log = 63 - (uint32_t)__builtin_clzll(rounded);
    *class_bytes = rounded;
    return log * 4 + (uint32_t)(rounded >> (log - 2) & 3);
}

static uint64_t block_bytes(uint64_t bytes)
{
    uint64_t unit = bytes >= BIG_BYTES ? ALIGN_BIG : ALIGN_SMALL;
    uint64_t rounded;
    (void)class_of(round_up_u64(bytes + GAP_BYTES, unit), &rounded);
    return round_up_u64(rounded, unit);
}

static void class_put(struct space *s, uint32_t cls, uint64_t base)
{
    uint32_t at = s->blocks_unused;
    if (at) {
        s->blocks_unused = (uint32_t)s->blocks.data[at - 1].next;
    } else {
        vec_push(&s->blocks, (struct block){0});
        at = s->blocks.len;
    }
    s->blocks.data[at - 1] = (struct block){.base = base, .next = s->class_head[cls]};
    s->class_head[cls] = at;
}

static uint64_t class_take(struct space *s, uint32_t cls, uint64_t align)
{
    for (uint64_t *link = &s->class_head[cls]; *link; link = &s->blocks.data[*link - 1].next) {
        struct block *b = &s->blocks.data[*link - 1];
        if (b->base % align) continue;
        uint64_t base = b->base, at = *link;
        *link = b->next;
        b->next = s->blocks_unused;
        s->blocks_unused = (uint32_t)at;
        return base;
    }
    return 0;
}

/* ---- the sorted array ---- */

/* Index of the last entry whose base is not above address; -1 = none. */
static int64_t map_at(const struct space *s, uint64_t address)
{
    uint32_t lo = 0, hi = s->map.len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->map.data[mid].base <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (int64_t)lo - 1;
}

static void map_remove(struct space *s, uint32_t i)
{
    if (!s->map.data[i].live) s->dead--;
    free((char *)s->map.data[i].label);
    memmove(&s->map.data[i], &s->map.data[i + 1], (s->map.len - i - 1) * sizeof *s->map.data);
    s->map.len--;
    s->last = 0;
}

static void map_insert(struct space *s, struct space_alloc a)
{
    int64_t i = map_at(s, a.base + a.bytes - 1);
    while (i >= 0 && s->map.data[i].base + s->map.data[i].bytes > a.base) { /* freed entries in the way */
        assert(!s->map.data[i].live);
        if (s->map.data[i].base == a.base) { /* a block used again: no need to move the array */
            int64_t before = i - 1;
            if (before < 0 || s->map.data[before].base + s->map.data[before].bytes <= a.base) {
                free((char *)s->map.data[i].label);
                s->map.data[i] = a;
                s->dead--;
                return;
            }
        }
        map_remove(s, (uint32_t)i--);
    }
    uint32_t at = (uint32_t)(i + 1);
    vec_push(&s->map, a);
    memmove(&s->map.data[at + 1], &s->map.data[at], (s->map.len - 1 - at) * sizeof *s->map.data);
    s->map.data[at] = a;
    s->last = at;
}

static int by_serial_down(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Forgets the freed entries that were allocated longest ago, when they have become many. */
static void map_trim(struct space *s)
{
    uint32_t live = s->map.len - s->dead;
    if (s->dead <= DEAD_MAX + live) return;
    uint64_t *serials = mem_alloc(sizeof *serials * s->dead);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->map.len; i++)
        if (!s->map.data[i].live) serials[n++] = s->map.data[i].serial;
    qsort(serials, n, sizeof *serials, by_serial_down);
    uint64_t oldest_kept = serials[DEAD_MAX / 2];
    free(serials);
    uint32_t out = 0;
    for (uint32_t i = 0; i < s->map.len; i++) {
        struct space_alloc *a = &s->map.data[i];
        if (a->live || a->serial > oldest_kept) {
            s->map.data[out++] = *a;
        } else {
            free((char *)a->label);
            s->dead--;
        }
    }
    s->map.len = out;
    s->last = 0;
}

/* ---- allocation ---- */

static bool commit_to(struct space *s, uint64_t end)
{
    if (end <= s->committed) return true;
    uint64_t upto = MIN(SPACE_BASE + round_up_u64(end - SPACE_BASE, COMMIT_BYTES), SPACE_BASE + SPACE_BYTES);
    if (mprotect((void *)s->committed, upto - s->committed, PROT_READ | PROT_WRITE)) return false;
    s->committed = upto;
    return true;
}

/* First fit between the live allocations of the range: the last resort. */
static uint64_t find_gap(struct space *s, uint64_t block, uint64_t align)
{
    if (!s->scattered) { /* the freed blocks of the classes are gaps like others now */
        s->scattered = true;
        memset(s->class_head, 0, sizeof s->class_head);
        vec_free(&s->blocks);
        s->blocks_unused = 0;
    }
    uint64_t from = SPACE_BASE;
    for (uint32_t i = 0; i <= s->map.len; i++) {
        const struct space_alloc *a = i < s->map.len ? &s->map.data[i] : NULL;
        if (a && (!a->live || a->base < SPACE_BASE || a->base >= SPACE_BASE + SPACE_BYTES)) continue;
        uint64_t at = round_up_u64(from, align), end = a ? a->base : SPACE_BASE + SPACE_BYTES;
        if (at + block <= end) return at;
        if (a) from = a->base + a->bytes + GAP_BYTES;
    }
    return 0;
}

uint64_t space_alloc(struct space *s, uint64_t bytes, uint64_t align, enum space_kind kind, const char *label)
{
    if (!bytes || bytes > s->bytes_max - s->bytes_used || bytes > SPACE_BYTES) return 0;
    uint64_t unit = bytes >= BIG_BYTES ? ALIGN_BIG : ALIGN_SMALL;
    if (align < unit) align = unit;
    if (!is_pow2_u64(align)) return 0;
    uint64_t rounded, block = block_bytes(bytes), base = 0;
    uint32_t cls = class_of(block, &rounded);
    if (!s->scattered) {
        base = class_take(s, cls, align);
        if (!base) {
            uint64_t at = round_up_u64(s->bump, align);
            if (at - SPACE_BASE <= SPACE_BYTES && block <= SPACE_BASE + SPACE_BYTES - at) {
                base = at;
                s->bump = at + block;
            }
        }
    }
    if (!base) base = find_gap(s, block, align);
    if (!base || !commit_to(s, base + block)) return 0;
    map_insert(s, (struct space_alloc){.base = base,
                                       .bytes = bytes,
                                       .kind = (uint8_t)kind,
                                       .live = true,
                                       .label = mem_strdup(label ? label : "allocation"),
                                       .serial = s->serial++});
    s->bytes_used += bytes;
    return base;
}

/* The live entry that begins at base, or NULL. */
static struct space_alloc *entry_at(struct space *s, uint64_t base)
{
    int64_t i = map_at(s, base);
    if (i < 0 || s->map.data[i].base != base || !s->map.data[i].live) return NULL;
    return &s->map.data[i];
}

bool space_free(struct space *s, uint64_t base)
{
    struct space_alloc *a = entry_at(s, base);
    if (!a || a->kind == SPACE_REGISTERED) return false;
    a->live = false;
    s->dead++;
    s->bytes_used -= a->bytes;
    if (a->bytes >= RELEASE_MIN) {
        uint64_t first = round_up_u64(a->base, 4096), end = (a->base + a->bytes) & ~4095ull;
        if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    if (!s->scattered) {
        uint64_t rounded;
        class_put(s, class_of(block_bytes(a->bytes), &rounded), a->base);
    }
    map_trim(s);
    return true;
}

bool space_register(struct space *s, void *host, uint64_t bytes, const char *label)
{
    uint64_t base = (uint64_t)(uintptr_t)host, end = base + bytes;
    if (!host || !bytes || end < base) return false;
    if (base < SPACE_BASE + SPACE_BYTES && end > SPACE_BASE) return false;
    int64_t i = map_at(s, end - 1);
    for (; i >= 0 && s->map.data[i].base + s->map.data[i].bytes > base; i--)
        if (s->map.data[i].live) return false; /* overlaps a range that is known already */
    map_insert(s, (struct space_alloc){.base = base,
                                       .bytes = bytes,
                                       .kind = SPACE_REGISTERED,
                                       .live = true,
                                       .label = mem_strdup(label ? label : "registered memory"),
                                       .serial = s->serial++});
    return true;
}

bool space_unregister(struct space *s, void *host)
{
    struct space_alloc *a = entry_at(s, (uint64_t)(uintptr_t)host);
    if (!a || a->kind != SPACE_REGISTERED) return false;
    a->live = false;
    s->dead++;
    map_trim(s);
    return true;
}

/* ---- queries ---- */

/* Threads that step SMs look here together; which of them leaves its hit behind makes no difference. */
const struct space_alloc *space_find(struct space *s, uint64_t address)
{
    uint32_t last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    if (last < s->map.len) {
        const struct space_alloc *a = &s->map.data[last];
        if (address - a->base < a->bytes && a->live) return a;
    }
    int64_t i = map_at(s, address);
    if (i < 0) return NULL;
    const struct space_alloc *a = &s->map.data[i];
    if (address - a->base >= a->bytes || !a->live) return NULL;
    __atomic_store_n(&s->last, (uint32_t)i, __ATOMIC_RELAXED);
    return a;
}

bool space_valid(struct space *s, uint64_t address, uint64_t bytes)
{
    const struct space_alloc *a = space_find(s, address);
    return a && bytes <= a->bytes - (address - a->base);
}

static void explain_entry(const struct space_alloc *a, struct strbuf *out)
{
    strbuf_printf(out, "%s (0x%llx, %llu bytes)", a->label, (unsigned long long)a->base,
                  (unsigned long long)a->bytes);
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

void space_explain(struct space *s, uint64_t address, struct strbuf *out)
{
    int64_t i = map_at(s, address);
    if (address < 0x10000) {
        strbuf_puts(out, "a null pointer, or an offset from one");
        return;
    }
    if (i >= 0 && address - s->map.data[i].base < s->map.data[i].bytes) {
        const struct space_alloc *a = &s->map.data[i];
        strbuf_puts(out, a->live ? "in " : "in freed allocation ");
        explain_entry(a, out);
        return;
    }
    const struct space_alloc *below = NULL, *above = NULL;
    for (int64_t k = i; k >= 0 && !below; k--)
        if (s->map.data[k].live) below = &s->map.data[k];
    for (int64_t k = i + 1; k < (int64_t)s->map.len && !above; k++)
        if (s->map.data[k].live) above = &s->map.data[k];
    if (!below && !above) {
        strbuf_puts(out, "no memory is allocated");
        return;
    }
    uint64_t past = below ? address - (below->base + below->bytes) : UINT64_MAX;
    uint64_t before = above ? above->base - address : UINT64_MAX;
    if (past <= before) {
        strbuf_printf(out, "%llu byte%s past the end of ", (unsigned long long)past, plural(past));
        explain_entry(below, out);
    } else {
        strbuf_printf(out, "%llu byte%s before the start of ", (unsigned long long)before, plural(before));
        explain_entry(above, out);
    }
}

uint64_t space_bytes_used(const struct space *s) { return s->bytes_used; }
uint64_t space_bytes_max(const struct space *s) { return s->bytes_max; }
