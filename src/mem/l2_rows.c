/* l2_rows.c: the tables of an L2 slice: its parameters, its statistics and how they follow from its counts.
 * Values of the thesis's Fermi (Tables 3.1 and 3.3) and, where it gives none, of GPGPU-Sim 3.2.2. */
#include "mem/l2_slice.h"

static const char *const write_miss_names[] = {"fetch", "lazy", "fetch_partial", NULL};

const struct param_row l2_rows[] = {
    PARAM_SIZE(l2_params, slice_size, "l2.slice_size", "64K", 32, 1ull << 32,
               "capacity of one slice; sets = slice_size / (line * ways)"),
    PARAM_NUMBER(l2_params, ways, "l2.ways", "ways", "8", 1, 1024, "associativity"),
    PARAM_NUMBER(l2_params, line, "l2.line", "bytes", "128", 32, 512,
                 "line size, a power of two; addr.map must put a whole line into one slice and DRAM row"),
    PARAM_CHOICE(l2_params, index, "l2.index", "linear", cache_index_names,
                 "set index: low bits, Fermi's hash, xor with the next bits, polynomial"),
    PARAM_CHOICE(l2_params, replacement, "l2.replacement", "lru", cache_replace_names,
                 "which line of a set is replaced"),
    PARAM_FLAG(l2_params, sectored, "l2.sectored", "false",
               "lines are filled and written back in sectors of 32 bytes"),
    PARAM_NUMBER(l2_params, mshrs, "l2.mshrs", "entries", "32", 1, 65536,
                 "miss-status holding registers: lines under way at once"),
    PARAM_NUMBER(l2_params, merges, "l2.merges", "requests", "4", 1, 65536,
                 "requests that wait for one line, the first one included"),
    PARAM_NUMBER(l2_params, access_queue, "l2.access_queue", "requests", "8", 1, 65536,
                 "requests from the crossbar that wait for the slice"),
    PARAM_NUMBER(l2_params, response_queue, "l2.response_queue", "requests", "8", 1, 65536,
                 "replies that wait for the crossbar"),
    PARAM_NUMBER(l2_params, miss_queue, "l2.miss_queue", "requests", "8", 1, 65536,
                 "requests that wait for DRAM"),
    PARAM_NUMBER(l2_params, fill_queue, "l2.fill_queue", "requests", "8", 1, 65536,
                 "fills from DRAM that wait for the slice"),
    PARAM_NUMBER(l2_params, tag_latency, "l2.tag_latency", "core cycles", "80", 0, 100000,
                 "from the end of the access queue to the tags, which hits and misses take alike; the rest "
                 "of an L2 hit is crossbar and data port"),
    PARAM_NUMBER(l2_params, pipeline, "l2.pipeline", "requests", "0", 0, 65536,
                 "requests that may be under way in that time; 0 = one an L2 cycle"),
    PARAM_FLAG(l2_params, late_queue, "l2.late_queue", "false",
               "no request enters the pipeline while as many requests wait at the tags as the access queue "
               "has slots: GPGPU-Sim's access queue lies behind the fixed latency"),
    PARAM_NUMBER(l2_params, port_bytes, "l2.port_bytes", "bytes", "32", 1, 4096,
                 "what the data port moves in an L2 cycle: reads, writes and write-backs share it"),
    PARAM_FLAG(l2_params, fill_port, "l2.fill_port", "false",
               "fills have a port of their own, of the same width; false: they share the data port"),
    PARAM_FLAG(l2_params, wait_for_all, "l2.wait_for_all", "false",
               "an access goes to the tags only with room in the miss queue and in the response queue and "
               "the data port free, as in GPGPU-Sim; false: it waits for what it turns out to need"),
    PARAM_CHOICE(l2_params, write_miss, "l2.write_miss", "fetch", write_miss_names,
                 "fetch what a write misses; leave it until it is read; fetch only sectors written in part"),
    PARAM_NUMBER(l2_params, atomic_cycles, "l2.atomic_cycles", "L2 cycles", "1", 1, 10000,
                 "time of the atomic unit for one request"),
    PARAM_FLAG(l2_params, infinite, "l2.infinite", "false",
               "P_inf: no queues, ports or MSHRs; DRAM is infinite_miss cycles"),
    PARAM_NUMBER(
        l2_params, infinite_miss, "l2.infinite_miss", "core cycles", "0", 0, 100000,
        "what a miss takes longer than a hit in an infinite L2; 0: what the machine's DRAM takes when idle"),
    PARAM_FLAG(l2_params, perfect, "l2.perfect", "false", "every access hits"),
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
        STAT_RATIO(l2_stats, field.misses, field.accesses, "l2." nm "miss_rate", "%",                        \
                   "misses of accesses" what, NULL)

const struct stat_row l2_stat_rows[] = {
    CLASS_ROWS(all, "", "", "lts__t_requests.sum"),
    CLASS_ROWS(all_writes, "write_", " that write", NULL),
    CLASS_ROWS(cls[REQ_GLOBAL], "global_", " to global memory", NULL),
    CLASS_ROWS(global_writes, "global_write_", " that write global memory", NULL),
    CLASS_ROWS(cls[REQ_LOCAL], "local_", " to local memory", NULL),
    CLASS_ROWS(cls[REQ_CONST], "const_", " of constants", NULL),
    CLASS_ROWS(cls[REQ_TEX], "tex_", " of textures", NULL),
    CLASS_ROWS(cls[REQ_INST], "inst_", " of instructions", NULL),
    CLASS_ROWS(cls[REQ_CONTEXT], "context_", " of registers that SMs keep in memory", NULL),
    STAT_COUNT(l2_stats, reads, "l2.reads", "requests", "reads", "lts__t_requests_op_read.sum"),
    STAT_COUNT(l2_stats, writes, "l2.writes", "requests", "writes", "lts__t_requests_op_write.sum"),
    STAT_COUNT(l2_stats, atomics, "l2.atomics", "requests", "atomics", "lts__t_requests_op_atom.sum"),
    STAT_COUNT(l2_stats, read_sectors, "l2.read_sectors", "sectors", "32-byte sectors asked for by reads",
               "lts__t_sectors_op_read.sum"),
    STAT_COUNT(l2_stats, sector_misses, "l2.sector_misses", "requests",
               "misses in a line that was there, without the sectors", NULL),
    STAT_COUNT(l2_stats, write_allocs, "l2.write_allocs", "lines", "lines allocated by writes", NULL),
    STAT_COUNT(l2_stats, fetches, "l2.fetches", "requests", "reads sent to DRAM", NULL),
    STAT_COUNT(l2_stats, fetched_sectors, "l2.fetched_sectors", "sectors", "32-byte sectors read from DRAM",
               NULL),
    STAT_COUNT(l2_stats, writebacks, "l2.writebacks", "lines", "dirty lines replaced", NULL),
    STAT_COUNT(l2_stats, written_sectors, "l2.written_sectors", "sectors",
               "32-byte sectors written back to DRAM", NULL),
    STAT_COUNT(l2_stats, flushed_lines, "l2.flushed_lines", "lines",
               "dirty lines dropped by a flush between kernels", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_ICNT], "l2.stall_icnt", "L2 cycles",
               "cycles that the head of the access queue waited for the response queue (bp-ICNT)", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_DRAM], "l2.stall_dram", "L2 cycles",
               "cycles that it waited for the miss queue to DRAM (bp-DRAM)", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_PORT], "l2.stall_port", "L2 cycles",
               "cycles that it waited for the data port", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_LINE], "l2.stall_line", "L2 cycles",
               "cycles that it waited because all lines of its set are on their way", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_MSHR], "l2.stall_mshr", "L2 cycles",
               "cycles that it waited for an MSHR or a merge", NULL),
    STAT_COUNT(l2_stats, stall[L2_STALL_CLAIM], "l2.stall_claim", "L2 cycles",
               "cycles that it waited for room at a mechanism which takes it at the tags", NULL),
    STAT_COUNT(l2_stats, port_busy_cycles, "l2.port_busy", "L2 cycles", "cycles that the data port was busy",
               NULL),
    STAT_COUNT(l2_stats, port_read_cycles, "l2.port_read", "L2 cycles", "of these, reads", NULL),
    STAT_COUNT(l2_stats, port_write_cycles, "l2.port_write", "L2 cycles", "of these, writes", NULL),
    STAT_COUNT(l2_stats, port_fill_cycles, "l2.port_fill", "L2 cycles",
               "of these, or with l2.fill_port beside them, fills", NULL),
    STAT_COUNT(l2_stats, port_evict_cycles, "l2.port_evict", "L2 cycles", "of these, write-backs", NULL),
    STAT_COUNT(l2_stats, replies, "l2.replies", "requests", "replies that entered the response queue", NULL),
    STAT_COUNT(l2_stats, hit_latency, "l2.hit_latency_sum", "core cycles",
               "time of read hits in the slice, summed", NULL),
    STAT_COUNT(l2_stats, hits_timed, "l2.hits_timed", "requests", "read hits that were answered", NULL),
    STAT_RATIO(l2_stats, hit_latency, hits_timed, "l2.hit_latency", "core cycles",
               "average time of a read hit in the slice, from the access queue's end to the response queue",
               NULL),
    STAT_LARGEST(l2_stats, mshr_max, "l2.mshr_max", "entries", "most MSHRs in use at once"),
    {0}};

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

/* ---- statistics from counts ---- */

static void class_add(struct l2_class_stats *c, const uint64_t outcomes[L2_OUTCOMES], uint64_t fails)
{
    uint64_t misses = outcomes[CACHE_MISS] + outcomes[CACHE_SECTOR_MISS];
    c->accesses += outcomes[CACHE_HIT] + outcomes[CACHE_HIT_RESERVED] + misses;
    c->hits += outcomes[CACHE_HIT];
    c->pending_hits += outcomes[CACHE_HIT_RESERVED];
    c->misses += misses;
    c->fails += fails;
}

static struct l2_class_stats stats_of_kind(struct l2_stats *st, const struct l2_counts *n, enum req_kind kind)
{
    struct l2_class_stats sum = {0};
    for (uint32_t cls = 0; cls < REQ_CLASS_COUNT; cls++) {
        class_add(&st->cls[cls], n->passed[kind][cls], n->fails[kind][cls]);
        class_add(&st->all, n->passed[kind][cls], n->fails[kind][cls]);
        class_add(&sum, n->passed[kind][cls], n->fails[kind][cls]);
        st->sector_misses += n->passed[kind][cls][CACHE_SECTOR_MISS];
    }
    return sum;
}

void *l2_stats(struct l2_slice *s)
{
    struct l2_stats *st = &s->stats;
    const struct l2_counts *n = &s->counts;
    st->all = (struct l2_class_stats){0};
    st->global_writes = (struct l2_class_stats){0};
    memset(st->cls, 0, sizeof st->cls);
    st->sector_misses = 0;
    st->reads = stats_of_kind(st, n, REQ_READ).accesses;
    st->all_writes = stats_of_kind(st, n, REQ_WRITE);
    st->writes = st->all_writes.accesses;
    st->atomics = stats_of_kind(st, n, REQ_ATOMIC).accesses;
    class_add(&st->global_writes, n->passed[REQ_WRITE][REQ_GLOBAL], n->fails[REQ_WRITE][REQ_GLOBAL]);
    for (uint32_t i = 0; i < L2_STALL_COUNT; i++) st->stall[i] = n->stall_ticks[i] / s->period;
    st->port_read_cycles = n->port_read;
    st->port_write_cycles = n->port_write;
    st->port_fill_cycles = n->port_fill;
    st->port_evict_cycles = n->port_evict;
    st->port_busy_cycles = n->port_read + n->port_write + n->port_evict + (s->fill_port ? 0 : n->port_fill);
    st->read_sectors = n->read_sectors;
    st->replies = n->replies;
    st->hit_latency = n->hit_latency;
    st->hits_timed = n->hits_timed;
    return st;
}
