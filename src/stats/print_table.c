/* print_table.c: the table for a terminal. A block for each kernel and one for the run; when there are many
 * launches, a line for each kernel name instead, the one with the most cycles first. No line is longer than
 * 80 columns. */
#include "base/vec.h"
#include "stats/loads.h"
#include "stats/print.h"
#include "stats/print_energy.h"

#include <stdlib.h>
#include <string.h>

enum {
    TABLE_BLOCKS_MAX = 8,
    TABLE_NAME_MAX = 40,
    LIST_NAME_MAX = 26,
    TABLE_LOADS_MAX = 5,
    NUMBER_BYTES = 32
};

/* 1234567 -> "1,234,567". */
static const char *number(uint64_t n, char buffer[NUMBER_BYTES])
{
    char *at = buffer + NUMBER_BYTES - 1;
    *at = 0;
    for (int digits = 0; n || !digits; digits++, n /= 10) {
        if (digits && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + n % 10);
    }
    return at;
}

static void short_name(const char *name, int max, char out[TABLE_NAME_MAX + 1])
{
    bool fits = strlen(name) <= (size_t)max;
    snprintf(out, TABLE_NAME_MAX + 1, "%.*s%s", fits ? max : max - 3, name, fits ? "" : "...");
}

static void print_time(const struct stats_view *v, uint64_t cycles, struct strbuf *out)
{
    double us = v->machine.core_khz ? (double)cycles * 1000.0 / v->machine.core_khz : 0.0;
    if (us < 1000)
        strbuf_printf(out, "%.2f us", us);
    else if (us < 1e6)
        strbuf_printf(out, "%.2f ms", us / 1000);
    else
        strbuf_printf(out, "%.2f s", us / 1e6);
}

static void print_work(const struct stats_view *v, const struct timed_kernel *k, struct strbuf *out)
{
    char a[NUMBER_BYTES], b[NUMBER_BYTES];
    strbuf_printf(out, "  cycles     %13s  ", number(kernel_cycles(k), a));
    print_time(v, kernel_cycles(k), out);
    strbuf_printf(out, "  CTAs %s\n", number(view_count(v, k->stats, STATS_GPU_CTAS), b));
    strbuf_printf(out, "  warp insts %13s  IPC %.3f  active lanes %.1f\n",
                  number(view_count(v, k->stats, STATS_SM_WARP_INSTS), a),
                  view_per_cycle(v, k, STATS_SM_WARP_INSTS),
                  view_ratio(v, k->stats, STATS_SM_THREAD_INSTS, STATS_SM_WARP_INSTS));
    strbuf_printf(out, "  of threads %13s  IPC %.2f\n",
                  number(view_count(v, k->stats, STATS_SM_THREAD_INSTS), a),
                  view_per_cycle(v, k, STATS_SM_THREAD_INSTS));
    strbuf_printf(out, "  occupancy  %12.1f%%  registers %.1f%%  lines a load %.2f\n",
                  100 * view_ratio(v, k->stats, STATS_SM_WARP_CYCLES, STATS_SM_WARP_SLOT_CYCLES),
                  100 * view_ratio(v, k->stats, STATS_SM_REGISTER_CYCLES, STATS_SM_REGISTER_FILE_CYCLES),
                  view_ratio(v, k->stats, STATS_SM_LOAD_TRANSACTIONS, STATS_SM_LOADS));
}

struct named_stat {
    const char *label;
    enum stats_name id;
};

static const struct named_stat slot_causes[] = {
    {"issued", STATS_SM_ISSUED},   {"data-MEM", STATS_SM_DATA_MEM}, {"data-ALU", STATS_SM_DATA_ALU},
    {"str-MEM", STATS_SM_STR_MEM}, {"str-ALU", STATS_SM_STR_ALU},   {"fetch", STATS_SM_FETCH},
    {"barrier", STATS_SM_BARRIER}, {"held", STATS_SM_HELD},         {"idle", STATS_SM_IDLE},
};
static const struct named_stat l1_stalls[] = {{"line", STATS_L1_STALL_LINE},
                                              {"MSHR", STATS_L1_STALL_MSHR},
                                              {"bp-L2", STATS_L1_STALL_QUEUE},
                                              {"port", STATS_L1_STALL_PORT}};
static const struct named_stat l2_stalls[] = {{"bp-ICNT", STATS_L2_STALL_ICNT},
                                              {"bp-DRAM", STATS_L2_STALL_DRAM},
                                              {"port", STATS_L2_STALL_PORT},
                                              {"line", STATS_L2_STALL_LINE},
                                              {"MSHR", STATS_L2_STALL_MSHR}};

static void print_slots(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    /* Only mechanisms hold warps back: without them the column is left out and the others are wider. */
    const bool has_held = view_count(v, stats, STATS_SM_HELD) != 0;
    const int width = has_held ? 5 : 6;
    struct strbuf shares = {0};
    strbuf_puts(out, "  issue slots");
    for (uint32_t i = 0; i < ARRAY_LEN(slot_causes); i++) {
        const struct named_stat *c = &slot_causes[i];
        if (c->id == STATS_SM_HELD && !has_held) continue;
        strbuf_printf(out, " %*s", width, c->label);
        strbuf_printf(&shares, " %*.1f", MAX((int)strlen(c->label), width),
                      100 * view_ratio(v, stats, c->id, STATS_SM_SLOTS));
    }
    strbuf_printf(out, "\n            %%%s\n", strbuf_text(&shares));
    strbuf_free(&shares);
}

/* Each stalled cycle has exactly one cause: the shares add up to 100. */
static void print_stalls(const struct stats_view *v, void *const *stats, const char *what,
                         const struct named_stat *causes, uint32_t count, struct strbuf *out)
{
    uint64_t all = 0;
    char a[NUMBER_BYTES];
    for (uint32_t i = 0; i < count; i++) all += view_count(v, stats, causes[i].id);
    strbuf_printf(out, "  %s stalls%15s ", what, number(all, a));
    for (uint32_t i = 0; all && i < count; i++)
        strbuf_printf(out, " %s %.0f%%", causes[i].label,
                      100.0 * (double)view_count(v, stats, causes[i].id) / (double)all);
    strbuf_putc(out, '\n');
}

static void print_cache(const struct stats_view *v, void *const *stats, const char *what,
                        const enum stats_name ids[4], struct strbuf *out)
{
    char a[NUMBER_BYTES];
    strbuf_printf(out, "  %s access  %13s  hit %.1f%%  pending %.1f%%  miss %.1f%%", what,
                  number(view_count(v, stats, ids[0]), a), 100 * view_ratio(v, stats, ids[1], ids[0]),
                  100 * view_ratio(v, stats, ids[2], ids[0]), 100 * view_ratio(v, stats, ids[3], ids[0]));
}

static void print_memory(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    static const enum stats_name l1[] = {STATS_L1_ACCESSES, STATS_L1_HITS, STATS_L1_PENDING, STATS_L1_MISSES};
    static const enum stats_name l2[] = {STATS_L2_ACCESSES, STATS_L2_HITS, STATS_L2_PENDING, STATS_L2_MISSES};
    char a[NUMBER_BYTES], b[NUMBER_BYTES];
    print_cache(v, stats, "L1", l1, out);
    strbuf_printf(out, "  AML %.0f\n", view_ratio(v, stats, STATS_L1_LATENCY_SUM, STATS_L1_LATENCY_COUNT));
    print_stalls(v, stats, "L1", l1_stalls, ARRAY_LEN(l1_stalls), out);
    strbuf_printf(out, "  crossbar   %13s  request flits  %s reply flits\n",
                  number(view_count(v, stats, STATS_XBAR_REQUEST_FLITS), a),
                  number(view_count(v, stats, STATS_XBAR_REPLY_FLITS), b));
    print_cache(v, stats, "L2", l2, out);
    strbuf_printf(out, "  AHL %.0f\n", view_ratio(v, stats, STATS_L1_L2_HIT_SUM, STATS_L1_L2_HIT_COUNT));
    print_stalls(v, stats, "L2", l2_stalls, ARRAY_LEN(l2_stalls), out);
    strbuf_printf(out, "  DRAM       %13s  reads  %s writes  row hit %.1f%%\n",
                  number(view_count(v, stats, STATS_DRAM_READS), a),
                  number(view_count(v, stats, STATS_DRAM_WRITES), b),
                  100 * view_ratio(v, stats, STATS_DRAM_ROW_HITS, STATS_DRAM_REQUESTS));
    strbuf_printf(out, "  DRAM bus   %12.1f%%  busy  efficiency %.1f%%\n",
                  100 * view_ratio(v, stats, STATS_DRAM_BUSY, STATS_DRAM_CYCLES),
                  100 * view_ratio(v, stats, STATS_DRAM_BUSY, STATS_DRAM_PENDING));
    strbuf_printf(out, "  queues full  of their time in use  L2 access %.1f%%  DRAM %.1f%%\n",
                  100 * view_ratio(v, stats, STATS_QUEUE_L2_ACCESS_FULL, STATS_QUEUE_L2_ACCESS_USED),
                  100 * view_last_share(v, stats, STATS_DRAM_QUEUE_LEVEL));
}

/* What the attached mechanisms counted: each has a group of its own. SMs in cache mode count all events that
 * cost energy; only those that happened are shown. */
static void print_mechanisms(const struct stats_view *v, void *const *stats, struct strbuf *out)
{
    static const char *const components[] = {"gpu", "sm", "l1", "xbar", "l2", "dram", "queue"};
    for (uint32_t g = 0; g < v->group_count; g++) {
        const bool is_helper = !strcmp(v->groups[g].name, "helper");
        bool is_component = false;
        for (uint32_t i = 0; i < ARRAY_LEN(components); i++)
            is_component = is_component || !strcmp(v->groups[g].name, components[i]);
        for (const struct stat_row *r = is_component ? NULL : v->groups[g].rows; r && r->name; r++) {
            char a[NUMBER_BYTES];
            double value = stat_value(r, stats[g]);
            if (r->type == STAT_HISTOGRAM || (is_helper && value == 0)) continue;
            if (r->type == STAT_RATIO) snprintf(a, sizeof a, "%.2f", value);
            strbuf_printf(out, "  %-28.28s %15s  %.32s\n", r->name,
                          r->type == STAT_RATIO ? a : number((uint64_t)value, a), r->unit);
        }
    }
}

static void print_overlap(struct strbuf *out)
{
    strbuf_puts(
        out,
        "  ran together with other kernels: its own are instructions, loads, L1 accesses and CTAs;\n"
        "  of the whole machine in that time: cycles, issue slots, occupancy, stalls, crossbar, L2, DRAM\n");
}

static void print_block(const struct stats_view *v, const struct timed_kernel *k, struct strbuf *out)
{
    if (k->overlapped) print_overlap(out);
    print_work(v, k, out);
    print_slots(v, k->stats, out);
    print_memory(v, k->stats, out);
    print_mechanisms(v, k->stats, out);
    if (v->energy) energy_print_table(v, k->stats, out);
    if (k->loads) loads_print(k->loads, k->load_count, TABLE_LOADS_MAX, out);
}

static void print_kernel_title(const struct timed_kernel *k, struct strbuf *out)
{
    char name[TABLE_NAME_MAX + 1];
    short_name(k->name, TABLE_NAME_MAX, name);
    strbuf_printf(out, "\nkernel %llu  %s%s\n", (unsigned long long)k->id, name,
                  k->partial ? "  (partial)" : "");
    strbuf_printf(out, "  grid %ux%ux%u  block %ux%ux%u  registers %u  shared %llu B  stream %llu\n",
                  k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->registers,
                  (unsigned long long)k->shared_bytes, (unsigned long long)k->stream);
    if (k->limit) strbuf_printf(out, "  CTAs an SM   %10u   bounded by %s\n", k->ctas_per_sm, k->limit);
}

struct name_line {
    const char *name;
    uint64_t launches, cycles;
    void **stats;
};

static int name_line_compare(const void *a, const void *b)
{
    const struct name_line *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_name_line(const struct stats_view *v, const struct name_line *l, struct strbuf *out)
{
    char name[TABLE_NAME_MAX + 1], a[NUMBER_BYTES], b[NUMBER_BYTES];
    const struct timed_kernel as = {.end_cycle = l->cycles, .stats = l->stats};
    short_name(l->name, LIST_NAME_MAX, name);
    strbuf_printf(out, "%-*s %8s %15s %8.3f %5.1f %5.1f %5.1f\n", LIST_NAME_MAX, name, number(l->launches, a),
                  number(l->cycles, b), view_per_cycle(v, &as, STATS_SM_WARP_INSTS),
                  100 * view_ratio(v, l->stats, STATS_SM_WARP_CYCLES, STATS_SM_WARP_SLOT_CYCLES),
                  100 * view_ratio(v, l->stats, STATS_L1_MISSES, STATS_L1_ACCESSES),
                  100 * view_ratio(v, l->stats, STATS_DRAM_BUSY, STATS_DRAM_CYCLES));
}

static void print_by_name(const struct stats_view *v, struct strbuf *out)
{
    VEC(struct name_line) lines = {0};
    bool overlapped = false;
    for (uint32_t i = 0; i < v->kernel_count; i++) {
        const struct timed_kernel *k = v->kernels[i];
        uint32_t at = 0;
        while (at < lines.len && strcmp(lines.data[at].name, k->name)) at++;
        if (at == lines.len) vec_push(&lines, (struct name_line){.name = k->name, .stats = view_zeros(v)});
        overlapped |= k->overlapped;
        lines.data[at].launches++;
        lines.data[at].cycles += kernel_cycles(k);
        view_add(v, lines.data[at].stats, k->stats);
    }
    qsort(lines.data, lines.len, sizeof *lines.data, name_line_compare);
    strbuf_printf(out, "\n%-*s %8s %15s %8s %5s %5s %5s\n", LIST_NAME_MAX, "kernel", "launches", "cycles",
                  "IPC", "occ %", "miss%", "DRAM%");
    for (uint32_t i = 0; i < lines.len; i++) {
        print_name_line(v, &lines.data[i], out);
        view_free_stats(v, lines.data[i].stats);
    }
    vec_free(&lines);
    if (overlapped)
        strbuf_puts(
            out, "some ran together: their cycles overlap, and occ % and DRAM % are the whole machine's\n");
}

void view_print_table(const struct stats_view *v, struct strbuf *out)
{
    const struct stats_machine *m = &v->machine;
    strbuf_printf(out, "%s: %u SMs at %u MHz%s\n", m->name, m->sms, m->core_khz / 1000,
                  v->partial ? "; PARTIAL: the run was ended before its end" : "");
    if (v->kernel_count <= TABLE_BLOCKS_MAX)
        for (uint32_t i = 0; i < v->kernel_count; i++) {
            print_kernel_title(v->kernels[i], out);
            print_block(v, v->kernels[i], out);
        }
    else
        print_by_name(v, out);
    if (v->kernel_count == 1) return; /* the total would repeat it */
    strbuf_printf(out, "\ntotal of %u kernels\n", v->kernel_count);
    print_block(v, &v->total, out);
}
