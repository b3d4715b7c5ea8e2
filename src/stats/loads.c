/* loads.c: the per-PC load table. */
#include "stats/loads.h"

#include "stats/json.h"

#include <stdlib.h>
#include <string.h>

void loads_add(struct pc_load_stats *dst, const struct pc_load_stats *src, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!src[i].executions && !src[i].accesses) continue;
        dst[i].executions += src[i].executions;
        dst[i].lines += src[i].lines;
        dst[i].accesses += src[i].accesses;
        dst[i].misses += src[i].misses;
        dst[i].merges += src[i].merges;
        dst[i].unique_lines += src[i].unique_lines;
        dst[i].strides += src[i].strides;
        top_add(&dst[i].stride, &src[i].stride);
        dst[i].evicted += src[i].evicted;
        top_add(&dst[i].evictor, &src[i].evictor);
        dst[i].prefetches += src[i].prefetches;
        dst[i].prefetch_useful += src[i].prefetch_useful;
        dst[i].prefetch_late += src[i].prefetch_late;
        dst[i].ptx_line = src[i].ptx_line;
        dst[i].cuda_line = src[i].cuda_line;
    }
}

static double share(uint64_t part, uint64_t all) { return all ? (double)part / (double)all : 0.0; }

static struct load_line load_line_of(const struct pc_load_stats *l, uint32_t pc, uint64_t references)
{
    const struct top_value *stride = &l->stride.at[top_first(&l->stride)],
                           *evictor = &l->evictor.at[top_first(&l->evictor)];
    return (struct load_line){.pc = pc,
                              .executions = l->executions,
                              .lines = l->lines,
                              .share = share(l->lines, references),
                              .lines_per_load = share(l->lines, l->executions),
                              .miss_rate = share(l->misses, l->accesses),
                              .merge_rate = share(l->merges, l->accesses),
                              .unique = share(l->unique_lines, l->accesses),
                              .stride = stride->value,
                              .stride_share = share(stride->count, l->strides),
                              .evicted = l->evicted,
                              .evictor_pc = (uint32_t)evictor->value,
                              .evictor_share = share(evictor->count, l->evicted),
                              .prefetches = l->prefetches,
                              .prefetch_useful = l->prefetch_useful,
                              .prefetch_late = l->prefetch_late,
                              .ptx_line = l->ptx_line,
                              .cuda_line = l->cuda_line};
}

const char *const load_class_names[] = {"reused", "thrashed", "strided", "irregular"};

enum load_class loads_class(const struct load_line *l)
{
    if (l->unique <= 0.5) return l->miss_rate > 0.5 ? LOAD_THRASHED : LOAD_REUSED;
    return l->stride_share >= 0.5 ? LOAD_STRIDED : LOAD_IRREGULAR;
}

static int load_line_compare(const void *a, const void *b)
{
    const struct load_line *x = a, *y = b;
    if (x->lines != y->lines) return x->lines > y->lines ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

uint32_t loads_sorted(const struct pc_load_stats *loads, uint32_t count, struct load_line *out, uint32_t max)
{
    uint64_t references = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) references += loads[i].lines;
    struct load_line *all = mem_alloc(sizeof(*all) * ((size_t)count + 1));
    for (uint32_t i = 0; i < count; i++)
        if (loads[i].executions) all[n++] = load_line_of(&loads[i], i, references);
    qsort(all, n, sizeof *all, load_line_compare);
    memcpy(out, all, sizeof(*all) * MIN(n, max));
    free(all);
    return n;
}

void loads_print(const struct pc_load_stats *loads, uint32_t count, uint32_t max, struct strbuf *out)
{
    struct load_line *lines = mem_alloc(sizeof(*lines) * ((size_t)max + 1));
    uint32_t n = loads_sorted(loads, count, lines, max);
    if (n)
        strbuf_puts(out, "  loads   pc  share%  executions   lines  #L/#R  miss%          stride  pairs%\n");
    for (uint32_t i = 0; i < MIN(n, max); i++) {
        const struct load_line *l = &lines[i];
        strbuf_printf(out, "     %7u %7.1f %11llu %7.2f %6.2f %6.1f %15lld %7.1f\n", l->pc, 100 * l->share,
                      (unsigned long long)l->executions, l->lines_per_load, l->unique, 100 * l->miss_rate,
                      (long long)l->stride, 100 * l->stride_share);
    }
    if (n > max) strbuf_printf(out, "        and %u more\n", n - max);
    free(lines);
}

void loads_json(const struct pc_load_stats *loads, uint32_t count, struct strbuf *out)
{
    struct load_line *lines = mem_alloc(sizeof(*lines) * ((size_t)count + 1));
    uint32_t n = loads_sorted(loads, count, lines, count);
    strbuf_putc(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        const struct load_line *l = &lines[i];
        strbuf_printf(out, "%s{\"pc\":%u,\"executions\":%llu,\"lines\":%llu,\"share\":", i ? "," : "", l->pc,
                      (unsigned long long)l->executions, (unsigned long long)l->lines);
        json_number(out, l->share);
        strbuf_puts(out, ",\"lines_per_load\":");
        json_number(out, l->lines_per_load);
        strbuf_puts(out, ",\"miss_rate\":");
        json_number(out, l->miss_rate);
        strbuf_puts(out, ",\"merge_rate\":");
        json_number(out, l->merge_rate);
        strbuf_puts(out, ",\"unique_share\":");
        json_number(out, l->unique);
        strbuf_printf(out, ",\"stride\":%lld,\"stride_share\":", (long long)l->stride);
        json_number(out, l->stride_share);
        strbuf_printf(out, ",\"class\":\"%s\",\"evicted\":%llu,\"evictor_pc\":%u,\"evictor_share\":",
                      load_class_names[loads_class(l)], (unsigned long long)l->evicted, l->evictor_pc);
        json_number(out, l->evictor_share);
        strbuf_printf(out, ",\"prefetches\":%llu,\"prefetch_useful\":%llu,\"prefetch_late\":%llu",
                      (unsigned long long)l->prefetches, (unsigned long long)l->prefetch_useful,
                      (unsigned long long)l->prefetch_late);
        strbuf_printf(out, ",\"ptx_line\":%u,\"cuda_line\":%u}", l->ptx_line, l->cuda_line);
    }
    strbuf_putc(out, ']');
    free(lines);
}
