/* l2.c: a slice of the L2 cache: its parameters and statistics, the order of its stages in a cycle, and when
 * it next has something to do. Values of the thesis's Fermi (Tables 3.1 and 3.3) and, where that is silent,
 * of GPGPU-Sim 3.2.2.
 *
 * The stages run from the last to the first, so that room made by one is used by the one before in the same
 * cycle: fill done, reply, write-back, fill start, tags, entry. An access queue (the link `in`) would limit
 * the slice to its depth in each `latency` if requests stayed in it for that time; so they pass on into a
 * pipeline of one request a cycle, which stands still when its last stage does. Then the access queue fills,
 * and its occupancy is what the thesis plots.
 *
 * Laws. stalled cycles = sum over the causes; accesses = hits + pending hits + misses. Stalls are charged as
 * intervals between ticks: whatever can change the cause also wakes the slice, so that skipping changes no
 * count. */
#include "mem/l2_slice.h"

#define ROW(type, field, nm, unit, def, lo, hi, help)                                                        \
    PARAM_ROW(type, l2_params, field, "l2." nm, unit, def, lo, hi, help)
#define ENUM_ROW(field, nm, def, names, text)                                                                \
    {                                                                                                        \
        .name = "l2." nm, .type = PARAM_ENUM, .offset = offsetof(struct l2_params, field), .unit = "",       \
        .default_text = def, .choices = names, .help = text                                                  \
    }

static const char *const index_names[] = {"linear", "fermi", "xor", "ipoly", NULL};
static const char *const replace_names[] = {"lru", "fifo", "random", NULL};
static const char *const write_miss_names[] = {"fetch", "lazy", "fetch_partial", NULL};

const struct param_row l2_rows[] = {
    ROW(PARAM_BYTES, slice_size, "slice_size", "bytes", "64K", 32, 1ull << 32, "bytes of one slice"),
    ROW(PARAM_U32, ways, "ways", "", "8", 1, 1024, "ways of a set"),
    ROW(PARAM_U32, line, "line", "bytes", "128", 32, 1024, "line, a power of two"),
    ENUM_ROW(index, "index", "linear", index_names, "from address to set"),
    ENUM_ROW(replace, "replace", "lru", replace_names, "which line of a set a miss replaces"),
    ROW(PARAM_BOOL, sectored, "sectored", "", "false", 0, 1,
        "fetch and write back sectors of 32 bytes instead of lines"),
    ROW(PARAM_U32, mshrs, "mshrs", "entries", "32", 1, 65536, "lines that may be on their way at once"),
    ROW(PARAM_U32, merges, "merges", "requests", "4", 1, 65536, "requests that may wait for one line"),
    ROW(PARAM_U32, access_queue, "access_queue", "requests", "8", 1, 65536, "queue from the crossbar"),
    ROW(PARAM_U32, response_queue, "response_queue", "requests", "8", 1, 65536, "queue to the crossbar"),
    ROW(PARAM_U32, miss_queue, "miss_queue", "requests", "8", 1, 65536, "queue to DRAM"),
    ROW(PARAM_U32, fill_queue, "fill_queue", "requests", "8", 1, 65536, "queue from DRAM"),
    ROW(PARAM_U32, latency, "latency", "core cycles", "80", 0, 100000,
        "from the end of the access queue to the tags; the rest of an L2 hit is crossbar and data port"),
    ROW(PARAM_U32, pipeline, "pipeline", "requests", "0", 0, 65536,
        "requests that may be under way in that time; 0 = one an L2 cycle"),
    ROW(PARAM_BOOL, late_queue, "late_queue", "", "false", 0, 1,
        "no request enters the pipeline while as many as the access queue has places wait at the tags, as in "
        "GPGPU-Sim, whose access queue lies behind the fixed latency"),
    ROW(PARAM_U32, port_bytes, "port_bytes", "bytes", "32", 1, 4096,
        "what the data port moves in an L2 cycle: reads, writes and write-backs share it"),
    ROW(PARAM_BOOL, fill_port, "fill_port", "", "false", 0, 1,
        "fills have a port of their own, of the same width; false: they share the data port"),
    ROW(PARAM_BOOL, wait_for_all, "wait_for_all", "", "false", 0, 1,
        "an access goes to the tags only with room in the miss queue and in the response queue and the data "
        "port "
        "free, as in GPGPU-Sim; false: it waits for what it turns out to need"),
    ENUM_ROW(write_miss, "write_miss", "fetch", write_miss_names,
             "fetch what a write misses; leave it until it is read; fetch only sectors written in part"),
    ROW(PARAM_U32, atomic_cycles, "atomic_cycles", "L2 cycles", "1", 1, 10000,
        "time of the atomic unit for one request"),
    ROW(PARAM_BOOL, infinite, "infinite", "", "false", 0, 1,
        "P_inf: no queues, ports or MSHRs; DRAM is infinite_miss cycles"),
    ROW(PARAM_U32, infinite_miss, "infinite_miss", "core cycles", "0", 0, 100000,
        "what a miss takes longer than a hit in an infinite L2; 0: what the machine's DRAM takes when idle"),
    ROW(PARAM_BOOL, perfect, "perfect", "", "false", 0, 1, "every access hits"),
    {0}};

#define CLASS_ROWS(field, nm, what, ncu)                                                                     \
    STAT_COUNT(l2_stats, field.accesses, "l2." nm "accesses", "requests",                                    \
               "requests" what " that passed the tags", ncu),                                                \
        STAT_COUNT(l2_stats, field.hits, "l2." nm "hits", "requests", "hits" what, NULL),                    \
        STAT_COUNT(l2_stats, field.pending_hits, "l2." nm "pending_hits", "requests",                        \
                   "requests" what " for data that was on its way", NULL),                                   \
        STAT_COUNT(l2_stats, field.misses, "l2." nm "misses", "requests", "misses" what, NULL),              \
        STAT_COUNT(l2_stats, field.fails, "l2." nm "fails", "requests",                                      \
                   "requests" what " that had to wait for a line, an MSHR or the miss queue", NULL),         \
        STAT_RATIO_OF(l2_stats, field.misses, field.accesses, "l2." nm "miss_rate", "%",                     \
                      "misses of accesses" what, NULL)
#define COUNT(field, nm, unit, help) STAT_COUNT(l2_stats, field, "l2." nm, unit, help, NULL)

const struct stat_row l2_stat_rows[] = {
    CLASS_ROWS(all, "", "", "lts__t_requests.sum"),
    CLASS_ROWS(cls[REQ_GLOBAL], "global_", " to global memory", NULL),
    CLASS_ROWS(global_writes, "global_write_", " that write global memory", NULL),
    CLASS_ROWS(cls[REQ_LOCAL], "local_", " to local memory", NULL),
    CLASS_ROWS(cls[REQ_CONST], "const_", " of constants", NULL),
    CLASS_ROWS(cls[REQ_TEX], "tex_", " of textures", NULL),
    CLASS_ROWS(cls[REQ_INST], "inst_", " of instructions", NULL),
    STAT_COUNT(l2_stats, reads, "l2.reads", "requests", "reads", "lts__t_requests_op_read.sum"),
    STAT_COUNT(l2_stats, writes, "l2.writes", "requests", "writes", "lts__t_requests_op_write.sum"),
    STAT_COUNT(l2_stats, atomics, "l2.atomics", "requests", "atomics", "lts__t_requests_op_atom.sum"),
    STAT_COUNT(l2_stats, read_sectors, "l2.read_sectors", "sectors", "32-byte sectors asked for by reads",
               "lts__t_sectors_op_read.sum"),
    COUNT(sector_misses, "sector_misses", "requests", "misses in a line that was there, without the sectors"),
    COUNT(write_allocs, "write_allocs", "lines", "lines allocated by writes"),
    COUNT(fetches, "fetches", "requests", "reads sent to DRAM"),
    COUNT(fetched_sectors, "fetched_sectors", "sectors", "32-byte sectors read from DRAM"),
    COUNT(writebacks, "writebacks", "lines", "dirty lines replaced"),
    COUNT(written_sectors, "written_sectors", "sectors", "32-byte sectors written back to DRAM"),
    COUNT(flushed_lines, "flushed_lines", "lines", "dirty lines dropped by a flush between kernels"),
    COUNT(stall[L2_STALL_ICNT], "stall_icnt", "L2 cycles",
          "cycles that the head of the access queue waited for the response queue (bp-ICNT)"),
    COUNT(stall[L2_STALL_DRAM], "stall_dram", "L2 cycles",
          "cycles that it waited for the miss queue to DRAM (bp-DRAM)"),
    COUNT(stall[L2_STALL_PORT], "stall_port", "L2 cycles", "cycles that it waited for the data port"),
    COUNT(stall[L2_STALL_LINE], "stall_line", "L2 cycles",
          "cycles that it waited because all lines of its set are on their way"),
    COUNT(stall[L2_STALL_MSHR], "stall_mshr", "L2 cycles", "cycles that it waited for an MSHR or a merge"),
    COUNT(port_busy_cycles, "port_busy", "L2 cycles", "cycles that the data port was busy"),
    COUNT(port_read_cycles, "port_read", "L2 cycles", "of these, reads"),
    COUNT(port_write_cycles, "port_write", "L2 cycles", "of these, writes"),
    COUNT(port_fill_cycles, "port_fill", "L2 cycles", "of these, or with l2.fill_port beside them, fills"),
    COUNT(port_evict_cycles, "port_evict", "L2 cycles", "of these, write-backs"),
    COUNT(replies, "replies", "requests", "replies that entered the response queue"),
    COUNT(hit_latency, "hit_latency_sum", "core cycles", "time of read hits in the slice, summed"),
    COUNT(hits_timed, "hits_timed", "requests", "read hits that were answered"),
    STAT_RATIO_OF(
        l2_stats, hit_latency, hits_timed, "l2.hit_latency", "core cycles",
        "average time of a read hit in the slice, from the access queue's end to the response queue", NULL),
    {"l2.mshr_max", STAT_MAX, offsetof(struct l2_stats, mshr_max), 0, 1, "entries",
     "most MSHRs in use at once", NULL},
    {0}};

enum { INFINITE_REQUESTS = 16384 }; /* of an infinite slice: more than the machine's links ever hold */

static void l2_ring_init(struct l2_ring *r, uint32_t capacity)
{
    *r = (struct l2_ring){.at = mem_zalloc(sizeof(struct l2_timed) * capacity), .capacity = capacity};
}

/* Stages of one L2 cycle that the fixed latency makes. */
static uint32_t l2_pipe_depth(const struct l2_slice *s)
{
    uint64_t ticks = (uint64_t)s->params.latency * s->core.period;
    uint32_t stages = (uint32_t)((ticks + s->clock.period - 1) / s->clock.period);
    return MAX(1u, s->params.pipeline ? s->params.pipeline : stages);
}

struct l2_slice *l2_create(const struct l2_params *p, uint32_t index, const struct clock_domain *clock,
                           const struct clock_domain *core, struct req_pool *pool, struct link *in,
                           struct link *out, struct link *to_dram, struct link *from_dram)
{
    struct l2_slice *s = mem_zalloc(sizeof *s);
    *s = (struct l2_slice){.params = *p,
                           .index = index,
                           .clock = *clock,
                           .core = *core,
                           .pool = pool,
                           .in = in,
                           .out = out,
                           .to_dram = to_dram,
                           .from_dram = from_dram,
                           .latch.id = REQ_NONE,
                           .fill.id = REQ_NONE,
                           .victim = REQ_NONE};
    const struct cache_geometry g = {.sets = l2_sets(p),
                                     .ways = p->ways,
                                     .line_bytes = p->line,
                                     .sectored = p->sectored,
                                     .index = (uint8_t)p->index,
                                     .replace = (uint8_t)p->replace};
    assert(g.sets && p->line <= 32 * CACHE_SECTOR_BYTES);
    s->line_sectors = (uint32_t)((1ull << (p->line / CACHE_SECTOR_BYTES)) - 1);
    s->tags_after = MAX(clock_edge(clock, (tick)p->latency * core->period), (tick)clock->period);
    for (uint32_t i = 0; i < ARRAY_LEN(s->sector_cycles); i++)
        s->sector_cycles[i] = (uint16_t)l2_port_cycles(s, CACHE_SECTOR_BYTES * i);
    cache_init(&s->cache, &g);
    s->line_addr = mem_zalloc(sizeof(uint64_t) * g.sets * g.ways);
    mshr_init(&s->mshr, p->mshrs, p->merges);
    s->drain = mem_zalloc(sizeof(uint32_t) * p->mshrs);
    l2_ring_init(&s->pipe, l2_pipe_depth(s));
    if (!p->infinite) return s;
    l2_ring_init(&s->delayed, INFINITE_REQUESTS);
    s->line_ready = mem_zalloc(sizeof(tick) * g.sets * g.ways);
    return s;
}

void l2_destroy(struct l2_slice *s)
{
    if (!s) return;
    cache_free(&s->cache);
    free(s->line_addr);
    mshr_free(&s->mshr);
    free(s->drain);
    free(s->pipe.at);
    free(s->delayed.at);
    free(s->line_ready);
    free(s);
}

void l2_use_map(struct l2_slice *s, uint64_t (*to_local)(const void *ctx, uint64_t addr), const void *ctx)
{
    s->to_local = to_local;
    s->local_ctx = ctx;
}

void l2_on_atomic(struct l2_slice *s, void (*apply)(void *ctx, const struct req *r), void *ctx)
{
    s->apply = apply;
    s->apply_ctx = ctx;
}

bool l2_check(const struct l2_params *p, struct diag_list *diags)
{
    bool is_line_ok = is_pow2_u64(p->line);
    bool is_size_ok = is_line_ok && p->slice_size && p->slice_size % ((uint64_t)p->ways * p->line) == 0;
    if (!is_line_ok)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "try 64 or 128", "l2.line must be a power of two, got %u",
                 p->line);
    else if (!is_size_ok)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL,
                 "l2.slice_size must be a multiple of l2.ways * l2.line = %llu bytes, got %llu",
                 (unsigned long long)p->ways * p->line, (unsigned long long)p->slice_size);
    return is_line_ok && is_size_ok;
}

uint32_t l2_requests_max(const struct l2_params *p)
{
    uint32_t fetches = p->sectored ? p->line / CACHE_SECTOR_BYTES : 1;
    return p->mshrs * fetches + p->miss_queue + 1;
}

void l2_settle(struct l2_slice *s, tick now)
{
    if (!s->is_stalled || now <= s->stall_since) return;
    tick cycles = l2_cycles_in(now - s->stall_since + s->clock.period - 1, s->clock.period);
    s->stats.stall[s->stall_cause] += cycles;
    s->stall_since = clock_after(&s->clock, s->stall_since, (uint32_t)cycles);
}

/* Until a request leaves the tags. */
static bool l2_is_closed(const struct l2_slice *s, tick now)
{
    uint32_t waiting = s->params.access_queue;
    if (s->pipe.count == s->pipe.capacity) return true;
    return s->params.late_queue && s->pipe.count >= waiting &&
           l2_ring_at(&s->pipe, waiting - 1)->ready <= now;
}

/* From the access queue into the pipeline: one request a cycle. */
static void l2_enter(struct l2_slice *s, tick now)
{
    uint32_t id;
    if (l2_is_closed(s, now) || !link_peek(s->in, now, &id)) return;
    link_pop(s->in, now);
    struct req *r = req_at(s->pool, id);
    r->at_l2 = now;
    l2_ring_push(&s->pipe,
                 (struct l2_timed){.id = id, .ready = l2_at_tags(s, now), .local = l2_local(s, r->addr)});
}

static void l2_wake_to_enter(struct l2_slice *s, tick now)
{
    if (s->in->count && !l2_is_closed(s, now))
        wake_at(&s->wake, MAX(l2_next_cycle(s, now), link_next(s->in)));
}

/* When there is something to do that no link tells: what waits for room in a link is woken by it, and what
 * waits for a line or an MSHR by the fill. */
static void l2_set_wake(struct l2_slice *s, tick now)
{
    tick next = l2_next_cycle(s, now), wake = s->wake;
    if (s->fill.id != REQ_NONE)
        wake_at(&wake, s->fill.ready);
    else if (s->from_dram->count)
        wake_at(&wake, MAX(link_next(s->from_dram), s->params.fill_port ? next : MAX(next, s->port_free)));
    if (s->latch.id != REQ_NONE && (s->latch.ready > now || s->replied))
        wake_at(&wake, MAX(next, s->latch.ready));
    if (s->drain_count && (s->replied || s->atomic_free > now)) wake_at(&wake, next);
    if (s->is_stalled) {
        if (s->stall_cause == L2_STALL_PORT) wake_at(&wake, MAX(next, s->port_free));
    } else if (s->pipe.count)
        wake_at(&wake, MAX(next, l2_ring_head(&s->pipe)->ready));
    s->act_at = wake;
    s->wake = wake;
    l2_wake_to_enter(s, now);
}

/* Nothing but requests that enter: no time has come, no fill has, and no link may have made room. Then a stall goes on as it is. */
static bool l2_only_enters(const struct l2_slice *s, tick now)
{
    return now < s->act_at && !s->out->producer_waits && !s->to_dram->producer_waits &&
           (!s->from_dram->count || s->fill.id != REQ_NONE);
}

void l2_tick(struct l2_slice *s, tick now)
{
    s->wake = TICK_NEVER;
    if (s->params.infinite) {
        l2_infinite_tick(s, now);
        return;
    }
    if (l2_only_enters(s, now)) {
        l2_enter(s, now);
        if (s->pipe.count && !s->is_stalled) wake_at(&s->act_at, l2_ring_head(&s->pipe)->ready);
        wake_at(&s->wake, s->act_at);
        l2_wake_to_enter(s, now);
        return;
    }
    l2_settle(s, now);
    s->is_stalled = false;
    s->replied = false;
    l2_finish_fill(s, now);
    l2_send_reply(s, now);
    l2_send_victim(s, now);
    l2_start_fill(s, now);
    l2_access(s, now);
    l2_send_victim(s, now); /* what this cycle made: an answer that is complete at once, a write-back */
    l2_send_reply(s, now);
    l2_enter(s, now);
    l2_set_wake(s, now);
}

tick *l2_wake(struct l2_slice *s) { return &s->wake; }
void *l2_stats(struct l2_slice *s) { return &s->stats; }

bool l2_idle(const struct l2_slice *s)
{
    return !s->pipe.count && !s->delayed.count && !s->mshr.used && s->latch.id == REQ_NONE &&
           s->fill.id == REQ_NONE && s->victim == REQ_NONE;
}

void l2_fill_from_host(struct l2_slice *s, uint64_t line_addr)
{
    uint64_t local = l2_local(s, line_addr);
    uint32_t line;
    enum cache_outcome outcome = cache_probe(&s->cache, local, s->line_sectors, &line);
    if (outcome == CACHE_HIT || outcome == CACHE_HIT_RESERVED || outcome == CACHE_RESERVATION_FAIL) return;
    if (outcome == CACHE_MISS) {
        line = cache_victim(&s->cache, local);
        if (s->cache.lines[line].dirty) return; /* a copy writes nothing back */
    }
    if (s->cache.lines[line].reserved) return;
    cache_reserve(&s->cache, line, local, 0);
    s->line_addr[line] = line_addr;
    cache_fill(&s->cache, line, s->line_sectors);
    s->is_probed = false;
    s->act_at = 0;
    if (s->line_ready) s->line_ready[line] = 0;
}

void l2_flush(struct l2_slice *s)
{
    assert(l2_idle(s));
    for (uint32_t i = 0; i < s->cache.g.sets * s->cache.g.ways; i++)
        s->stats.flushed_lines += s->cache.lines[i].used && s->cache.lines[i].dirty;
    cache_clear(&s->cache);
}

static const char *const stall_names[L2_STALL_COUNT] = {"the response queue", "the miss queue to DRAM",
                                                        "the data port", "a line of its set", "an MSHR"};

static void l2_explain_request(const struct l2_slice *s, const char *where, uint32_t id, tick now,
                               struct strbuf *out)
{
    const struct req *r = req_at(s->pool, id);
    strbuf_printf(out, "  %s: request %u of SM %u for 0x%llx, here for %llu core cycles\n", where, id, r->sm,
                  (unsigned long long)r->addr, (unsigned long long)((now - r->at_l2) / s->core.period));
}

void l2_explain(const struct l2_slice *s, tick now, struct strbuf *out)
{
    if (l2_idle(s)) return;
    strbuf_printf(out, "L2 slice %u: %u requests before the tags, %u MSHRs in use\n", s->index,
                  s->pipe.count + s->delayed.count, s->mshr.used);
    if (s->latch.id != REQ_NONE) l2_explain_request(s, "reply", s->latch.id, now, out);
    if (s->pipe.count) l2_explain_request(s, "head", l2_ring_at(&s->pipe, 0)->id, now, out);
    if (s->is_stalled) strbuf_printf(out, "    waits for %s\n", stall_names[s->stall_cause]);
    if (s->victim != REQ_NONE) strbuf_printf(out, "  a write-back waits for room in %s\n", s->to_dram->name);
    for (uint32_t i = 0; i < s->mshr.count; i++)
        if (s->mshr.entries[i].used && s->mshr.entries[i].sectors)
            strbuf_printf(out, "  waits for DRAM: line 0x%llx with %u requests\n",
                          (unsigned long long)s->mshr.entries[i].addr, s->mshr.entries[i].merged);
}
