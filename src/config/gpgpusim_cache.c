/* gpgpusim_cache.c: GPGPU-Sim's cache strings.
 *
 *   4.x:  N:32:128:4,L:L:m:N:H,S:64:8,8[:0[,32]]     N = lines, S = sectors of 32 bytes
 *   3.x:    32:128:4,L:L:m:N:H,A:64:8,8[:0[,32]]
 *         sets:line:ways , replacement:write:allocate:write-allocate:index , MSHR type:entries:merges ,
 *         miss queue:fifo , data port
 * 3.0 has neither write-allocate nor index; they are then none and linear. "none": there is no cache. */
#include "config/gpgpusim_map.h"

#include <ctype.h>

struct cache_text {
    bool sectored;
    uint64_t sets, line, ways;
    char replacement, write, allocate, write_allocate, index, mshr_type;
    uint64_t mshrs, merges, miss_queue, fifo, port;
};

struct cursor {
    struct gmap *g;
    const struct gpgpusim_option *o;
    const char *p;
    bool ok;
};

static void cursor_error(struct cursor *c, const char *what)
{
    if (c->ok)
        gmap_error(c->g, c->o, (size_t)(c->p - c->o->value), "as in N:32:128:4,L:L:m:N:H,S:64:8,8",
                   "%s: %s here", c->o->name, what);
    c->ok = false;
}

static void expect(struct cursor *c, char want)
{
    char what[] = "':' is missing";
    what[1] = want;
    if (*c->p == want)
        c->p++;
    else
        cursor_error(c, what);
}

static uint64_t number(struct cursor *c)
{
    if (!isdigit((unsigned char)*c->p)) {
        cursor_error(c, "a number is missing");
        return 0;
    }
    char *end;
    uint64_t v = strtoull(c->p, &end, 10);
    c->p = end;
    return v;
}

static char letter(struct cursor *c, const char *of)
{
    if (*c->p && strchr(of, *c->p)) return *c->p++;
    struct strbuf what = {0};
    strbuf_printf(&what, "one of the letters %s is wanted", of);
    cursor_error(c, strbuf_text(&what));
    strbuf_free(&what);
    return 0;
}

static bool read_cache(struct gmap *g, const struct gpgpusim_option *o, struct cache_text *t)
{
    struct cursor c = {g, o, o->value, true};
    *t = (struct cache_text){.write_allocate = 'N', .index = 'L'};
    if (isalpha((unsigned char)*c.p)) {
        t->sectored = letter(&c, "NS") == 'S';
        expect(&c, ':');
    }
    t->sets = number(&c), expect(&c, ':');
    t->line = number(&c), expect(&c, ':');
    t->ways = number(&c), expect(&c, ',');
    t->replacement = letter(&c, "LF"), expect(&c, ':');
    t->write = letter(&c, "RBTEL"), expect(&c, ':');
    t->allocate = letter(&c, "mfs");
    if (c.ok && *c.p == ':') {
        c.p++, t->write_allocate = letter(&c, "NWFL"), expect(&c, ':');
        t->index = letter(&c, "LHPCX");
    }
    expect(&c, ','), t->mshr_type = letter(&c, "AFST"), expect(&c, ':');
    t->mshrs = number(&c), expect(&c, ':');
    t->merges = number(&c), expect(&c, ',');
    t->miss_queue = number(&c);
    if (c.ok && *c.p == ':') c.p++, t->fifo = number(&c);
    if (c.ok && *c.p == ',') c.p++, t->port = number(&c);
    if (c.ok && *c.p) cursor_error(&c, "the end is wanted");
    if (c.ok && (!t->sets || !t->line || !t->ways)) {
        gmap_error(g, o, 0, NULL, "%s: a cache of 0 bytes", o->name);
        c.ok = false;
    }
    return c.ok;
}

static void put(struct gmap *g, struct gpgpusim_option *o, const char *section, const char *name, uint64_t v)
{
    struct strbuf key = {0};
    strbuf_printf(&key, "%s%s", section, name);
    gmap_set(g, o, strbuf_text(&key), NULL, "%llu", (unsigned long long)v);
    strbuf_free(&key);
}

static const char *index_name(struct gmap *g, const struct gpgpusim_option *o, char c)
{
    if (c == 'C') gmap_leave(g, o, "a set index of its own (C); linear instead");
    return c == 'H' ? "fermi" : c == 'P' ? "ipoly" : c == 'X' ? "xor" : "linear";
}

static void put_l1_writes(struct gmap *g, struct gpgpusim_option *o, const struct cache_text *t)
{
    if (t->write == 'B')
        gmap_leave(g, o, "global stores are never written back from the L1; written through instead");
    gmap_set(g, o, "l1.write_global", NULL, "%s", t->write == 'T' || t->write == 'B' ? "update" : "evict");
    gmap_set(g, o, "l1.write_local", NULL, "%s", t->write == 'T' || t->write == 'E' ? "through" : "back");
    gmap_set(g, o, "l1.local_write_allocate", NULL, "%s", t->write_allocate == 'N' ? "false" : "true");
}

void gmap_l1(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    struct cache_text t;
    if (!strcmp(o->value, "none")) {
        gmap_set(g, o, "l1.cache_global", NULL, "false");
        return;
    }
    if (!read_cache(g, o, &t)) return;
    put(g, o, "l1.", "size", t.sets * t.line * t.ways);
    put(g, o, "l1.", "ways", t.ways);
    put(g, o, "l1.", "line", t.line);
    gmap_set(g, o, "l1.sectored", NULL, "%s", t.sectored ? "true" : "false");
    gmap_set(g, o, "l1.index", NULL, "%s", index_name(g, o, t.index));
    gmap_set(g, o, "l1.replacement", NULL, "%s", t.replacement == 'F' ? "fifo" : "lru");
    put_l1_writes(g, o, &t);
    gmap_set(g, o, "l1.allocate", NULL, "%s", t.allocate == 'm' ? "miss" : "fill");
    if (t.allocate == 's')
        gmap_leave(g, o, "a streaming cache (s); lines are taken when the data comes, MSHRs are bounded");
    put(g, o, "l1.", "mshrs", t.mshrs);
    put(g, o, "l1.", "merges", t.merges);
    put(g, o, "l1.", "miss_queue", t.miss_queue);
}

static uint64_t setting_value(const struct gmap *g, const char *key)
{
    for (uint32_t i = 0; i < g->im->settings.len; i++)
        if (!strcmp(g->im->settings.data[i].key, key))
            return strtoull(g->im->settings.data[i].value, NULL, 10);
    return 0;
}

/* One array for L1 and shared memory, with the sets of -gpgpu_cache:dl1 and as many ways as fit it; the
 * sizes of shared memory are in KB, the largest last. */
void gmap_unified(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    if (!strcmp(o->value, "0")) return;
    const char *sizes = gmap_text(g, "-gpgpu_shmem_option"), *last = strrchr(sizes, ',');
    uint64_t array = gmap_value(g, "-gpgpu_unified_l1d_size") << 10, ways = setting_value(g, "l1.ways");
    uint64_t way = ways ? setting_value(g, "l1.size") / ways : 0,
             shared = strtoull(last ? last + 1 : sizes, NULL, 10);
    if (!way || array % way || !shared || array <= shared << 10) {
        gmap_leave(g, o,
                   "no array of -gpgpu_unified_l1d_size that -gpgpu_shmem_option and the L1 could share");
        return;
    }
    struct strbuf more = {0};
    strbuf_printf(&more, "-gpgpu_unified_l1d_size %llu; -gpgpu_shmem_option %s",
                  (unsigned long long)array >> 10, sizes);
    gmap_set(g, o, "l1.size", strbuf_text(&more), "%llu", (unsigned long long)array);
    gmap_set(g, o, "l1.ways", strbuf_text(&more), "%llu", (unsigned long long)(array / way));
    gmap_set(g, o, "sm.shared", strbuf_text(&more), "%llu", (unsigned long long)shared << 10);
    gmap_set(g, o, "sm.shared_sizes", strbuf_text(&more), "%s", sizes);
    gmap_set(g, o, "sm.shared_split", strbuf_text(&more), "auto");
    strbuf_free(&more);
}

/* N, no allocation for writes, does not exist in Heddle's L2. */
static void put_l2_writes(struct gmap *g, struct gpgpusim_option *o, const struct cache_text *t)
{
    if (t->write != 'B') gmap_leave(g, o, "the L2 writes back");
    if (t->write_allocate == 'N')
        gmap_leave(g, o, "a write that misses takes a line of the L2; lazily instead");
    gmap_set(g, o, "l2.write_miss", NULL, "%s",
             t->write_allocate == 'W'   ? "fetch"
             : t->write_allocate == 'F' ? "fetch_partial"
                                        : "lazy");
}

void gmap_l2(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    struct cache_text t;
    if (!strcmp(o->value, "none")) {
        gmap_leave(g, o, "there is always an L2");
        return;
    }
    if (!read_cache(g, o, &t)) return;
    uint64_t slice = t.sets * t.line * t.ways;
    put(g, o, "l2.", "slice_size", slice);
    put(g, o, "device.", "l2",
        slice * gmap_value(g, "-gpgpu_n_mem") * gmap_value(g, "-gpgpu_n_sub_partition_per_mchannel"));
    put(g, o, "l2.", "ways", t.ways);
    put(g, o, "l2.", "line", t.line);
    gmap_set(g, o, "l2.sectored", NULL, "%s", t.sectored ? "true" : "false");
    gmap_set(g, o, "dram.sector_bursts", "a sector is fetched by a request of its own", "%s",
             t.sectored ? "true" : "false");
    gmap_set(g, o, "l2.index", NULL, "%s", index_name(g, o, t.index));
    gmap_set(g, o, "l2.replacement", NULL, "%s", t.replacement == 'F' ? "fifo" : "lru");
    put_l2_writes(g, o, &t);
    put(g, o, "l2.", "mshrs", t.mshrs);
    put(g, o, "l2.", "merges", t.merges);
    put(g, o, "l2.", "port_bytes", t.port ? t.port : t.line);
    gmap_leave(g, o, "the cache's own miss queue of %llu; l2.miss_queue is the queue to DRAM behind it",
               (unsigned long long)t.miss_queue);
}

/* Instructions, constants, textures. Ways beyond the bound become the bound at the same size. */
void gmap_rocache(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    enum { WAYS_MAX = 64 };
    struct cache_text t;
    if (!strcmp(o->value, "none")) {
        gmap_leave(g, o, "this cache is always there");
        return;
    }
    if (!read_cache(g, o, &t)) return;
    if (t.ways > WAYS_MAX) gmap_leave(g, o, "%llu ways; %d instead", (unsigned long long)t.ways, WAYS_MAX);
    put(g, o, key, "_size", t.sets * t.line * t.ways);
    put(g, o, key, "_ways", MIN(t.ways, (uint64_t)WAYS_MAX));
    put(g, o, key, "_line", t.line);
    put(g, o, key, "_mshrs", t.mshrs);
    put(g, o, key, "_merges", t.merges);
}
