/* gpu_stats.c: what a process launched, by kernel name; written once at the end, as a table or as JSON. */
#include "base/output.h"
#include "cuda/gpu_timed.h"

#include <errno.h>

static void add(struct emu_stats *to, const struct emu_stats *from)
{
    to->warp_insts += from->warp_insts;
    to->thread_insts += from->thread_insts;
    to->ctas += from->ctas;
    to->warps += from->warps;
    to->loads += from->loads;
    to->stores += from->stores;
    to->atomics += from->atomics;
    to->divergent_branches += from->divergent_branches;
    for (int i = 0; i < ISA_UNIT_COUNT; i++) to->insts_by_unit[i] += from->insts_by_unit[i];
}

void gpu_stats_add(struct gpu *g, const char *kernel, const struct emu_stats *run, uint64_t wall_ns,
                   uint64_t sim_ns)
{
    struct gpu_stats *s = &g->stats;
    struct kernel_stats *k = map_get(&s->by_name, kernel);
    if (!k) {
        k = mem_zalloc(sizeof *k);
        map_put(&s->by_name, kernel, k);
        k->name = s->by_name.entries.data[s->by_name.entries.len - 1].key;
    }
    k->launches++;
    s->launches++;
    s->wall_ns += wall_ns;
    s->sim_ns += sim_ns;
    add(&k->emu, run);
    add(&s->total, run);
}

void gpu_stats_free(struct gpu *g)
{
    struct map *names = &g->stats.by_name;
    for (uint32_t i = 0; i < names->entries.len; i++) free(names->entries.data[i].value);
    map_free(names);
}

static double rate_per_second(const struct gpu_stats *s)
{
    return s->wall_ns ? (double)s->total.warp_insts * 1e9 / (double)s->wall_ns : 0;
}

static void row(struct strbuf *out, const char *name, uint64_t launches, const struct emu_stats *e)
{
    /* Long mangled names lose their middle in the table, never in JSON: templates differ at the end. */
    enum { NAME_CHARS = 29, HEAD = 12, TAIL = NAME_CHARS - HEAD - 2 };
    char shown[NAME_CHARS + 1];
    size_t len = strlen(name);
    if (len > NAME_CHARS)
        snprintf(shown, sizeof shown, "%.*s..%s", HEAD, name, name + len - TAIL);
    else
        snprintf(shown, sizeof shown, "%s", name);
    strbuf_printf(out, "%-29s %8llu %10llu %14llu %15llu\n", shown, (unsigned long long)launches,
                  (unsigned long long)e->ctas, (unsigned long long)e->warp_insts,
                  (unsigned long long)e->thread_insts);
}

static void write_table(const struct gpu *g, struct strbuf *out)
{
    const struct gpu_stats *s = &g->stats;
    strbuf_printf(out, "heddle: functional run on %s%s\n", g->machine.name,
                  g->is_cut ? "; PARTIAL: the run was ended before its end" : "");
    strbuf_printf(out, "%-29s %8s %10s %14s %15s\n", "kernel", "launches", "CTAs", "warp insts",
                  "thread insts");
    for (uint32_t i = 0; i < s->by_name.entries.len; i++) {
        const struct kernel_stats *k = s->by_name.entries.data[i].value;
        row(out, k->name, k->launches, &k->emu);
    }
    row(out, "total", s->launches, &s->total);
    strbuf_printf(out, "%.3f s in kernels, %.1f million warp instructions a second, %llu bytes copied\n",
                  (double)s->wall_ns * 1e-9, rate_per_second(s) * 1e-6, (unsigned long long)s->copied_bytes);
}

static void json_text(struct strbuf *out, const char *text)
{
    strbuf_putc(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            strbuf_printf(out, "\\%c", *p);
        else if (*p < 32)
            strbuf_printf(out, "\\u%04x", *p);
        else
            strbuf_putc(out, (char)*p);
    }
    strbuf_putc(out, '"');
}

static void json_counts(struct strbuf *out, uint64_t launches, const struct emu_stats *e)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"launches", launches},
        {"ctas", e->ctas},
        {"warps", e->warps},
        {"warp_insts", e->warp_insts},
        {"loads", e->loads},
        {"stores", e->stores},
        {"atomics", e->atomics},
        {"divergent_branches", e->divergent_branches},
        {"thread_insts", e->thread_insts},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        strbuf_printf(out, "%s\"%s\": %llu", i ? ", " : "", rows[i].name, (unsigned long long)rows[i].value);
}

static void write_json(const struct gpu *g, struct strbuf *out)
{
    const struct gpu_stats *s = &g->stats;
    strbuf_puts(out, "{\n  \"machine\": ");
    json_text(out, g->machine.name);
    strbuf_printf(out, ",\n  \"mode\": \"functional\",\n  \"partial\": %s,\n  \"kernels\": [",
                  g->is_cut ? "true" : "false");
    for (uint32_t i = 0; i < s->by_name.entries.len; i++) {
        const struct kernel_stats *k = s->by_name.entries.data[i].value;
        strbuf_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
        json_text(out, k->name);
        strbuf_puts(out, ", ");
        json_counts(out, k->launches, &k->emu);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "\n  ],\n  \"total\": {");
    json_counts(out, s->launches, &s->total);
    strbuf_printf(
        out, "},\n  \"copied_bytes\": %llu,\n  \"simulated_ns\": %llu,\n  \"kernel_wall_seconds\": %.6f,\n",
        (unsigned long long)s->copied_bytes, (unsigned long long)gpu_now_ns(g), (double)s->wall_ns * 1e-9);
    strbuf_printf(out, "  \"warp_insts_per_second\": %.0f\n}\n", rate_per_second(s));
}

static void write_races(const struct gpu *g)
{
    struct strbuf text = {0};
    emu_race_summary(g->races + emu_device_races(g->device), &text);
    fflush(stdout); /* the program's own output comes first */
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
}

static void put_summary(const struct gpu *g, struct strbuf *out)
{
    const char *path = g->options.stats;
    size_t len = path ? strlen(path) : 0;
    if (g->timed)
        gpu_timed_write(g, out);
    else if (g->options.format == RUN_FORMAT_JSON || (len > 5 && !strcmp(path + len - 5, ".json")))
        write_json(g, out);
    else
        write_table(g, out);
}

bool gpu_write_file(const char *path, const struct strbuf *text)
{
    if (output_text(path, text)) return true;
    gpu_complain("error: cannot write %s: %s", path, strerror(errno));
    return false;
}

bool gpu_stats_write(const struct gpu *g)
{
    const char *path = g->options.stats;
    if (g->options.races && g->device) write_races(g);
    bool ok = !g->timed || gpu_timed_write_files(g);
    if (!path && g->options.quiet) return ok;
    struct strbuf out = {0};
    put_summary(g, &out);
    fflush(stdout); /* the program's own output comes first */
    if (path)
        ok = gpu_write_file(path, &out) && ok;
    else
        ok = output_print(stderr, &out) && ok;
    strbuf_free(&out);
    return ok;
}
