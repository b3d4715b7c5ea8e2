/* fidelity.c: one row of `measures` for each thing that a paper says of its workloads. */
#include "lab/fidelity.h"

#include <math.h>

enum judging { BY_RATIO /* the paper gives a number */, BY_CLASS /* the paper gives a letter */ };

/* Speed-up of `machine` with `change` over the machine as it is. */
struct measure {
    const char *paper, *figure, *machine, *change, *title, *text;
    enum judging judging;
    char fast, slow;  /* BY_CLASS: the letter for a speed-up of at least `threshold`, and below it */
    double threshold; /* BY_RATIO: from here on the change matters */
};

static const struct measure measures[] = {
    {"thesis-ch3", "p_inf", "fermi", "ideal.memory=infinite", "P_inf (thesis, Table 3.2)",
     "Speed-up by a memory system below the L1 of unlimited bandwidth.", BY_RATIO, 0, 0, 1.25},
    {"thesis-ch3", "p_dram", "fermi", "ideal.memory=dram", "P_DRAM (thesis, Table 3.2)",
     "Speed-up by DRAM of unlimited bandwidth.", BY_RATIO, 0, 0, 1.25},
    {"thesis-ch4", "perfx", "fermi", "ideal.memory=perfect", "PerfX (thesis, Table 4.2)",
     "Speed-up by a memory system in which every access hits the L1 without latency.", BY_RATIO, 0, 0, 1.25},
    {"thesis-ch5", "p_best", "kepler", "l1.size=1M", "P_best (thesis, Table 5.4)",
     "Speed-up by an L1 64 times as large.", BY_RATIO, 0, 0, 1.25},
    {"linebacker", "class", "maxwell", "l1.size=192K", "Cache sensitivity (Linebacker, Table 2)",
     "S: at least 30% faster with an L1 of 192 KB than with 48 KB.", BY_CLASS, 'S', 'I', 1.30},
    {"apres", "class", "fermi-apres", "l1.size=32M", "Cache sensitivity (APRES, Table IV)",
     "Speed-up by an L1 of 32 MB (APRES's Figure 2). APRES gives no threshold; here S is a tenth or more, I "
     "and C are less.",
     BY_CLASS, 'S', 'I', 1.10},
    {"morpheus", "class", "rtx3080", "ideal.memory=infinite",
     "Bound by memory or computation (Morpheus, Table 2)",
     "Morpheus looks at how performance scales with the number of SMs, which needs larger inputs; here M is "
     "a speed-up of a quarter or more by a "
     "memory system of unlimited bandwidth.",
     BY_CLASS, 'M', 'C', 1.25},
};

enum { MEASURES = ARRAY_LEN(measures) };

/* The runs that a workload's figures need: two for each measure (equal ones are made once), and one for FineReg's classes. */
struct plan {
    const struct workload *workload;
    uint32_t base[MEASURES], changed[MEASURES]; /* indices of runs; valid where wanted */
    bool wanted[MEASURES];
    bool limits; /* FineReg has it */
    uint32_t limit_run;
};

struct results {
    struct plan *plans;
    uint32_t count;
    VEC(struct lab_run) runs;
};

static bool is_asked(const struct fidelity_options *o, const char *paper)
{
    return !o->paper || !strcmp(o->paper, paper);
}

static bool is_wanted(const struct workload *w, const struct measure *m, const struct fidelity_options *o)
{
    const struct workload_paper *p = is_asked(o, m->paper) ? workload_paper(w, m->paper) : NULL;
    return p &&
           (m->judging == BY_CLASS ? *p->class_of != 0 : !isnan(workload_figure(w, m->paper, m->figure)));
}

static uint32_t add_run(struct results *r, const struct workload *w, const char *size, const char *machine,
                        const char *change)
{
    vec_push(&r->runs,
             (struct lab_run){.workload = w->name, .size = size, .machine = machine, .sets = {change}});
    return r->runs.len - 1;
}

static void plan(struct results *r, const struct workload *const *workloads, uint32_t count,
                 const struct fidelity_options *o)
{
    r->plans = mem_alloc(MAX(count, 1u) * sizeof *r->plans);
    r->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct plan *p = &r->plans[i];
        *p = (struct plan){.workload = workloads[i]};
        for (uint32_t k = 0; k < MEASURES; k++) {
            if (!(p->wanted[k] = is_wanted(workloads[i], &measures[k], o))) continue;
            p->base[k] = add_run(r, workloads[i], o->size, measures[k].machine, NULL);
            p->changed[k] = add_run(r, workloads[i], o->size, measures[k].machine, measures[k].change);
        }
        if ((p->limits = is_asked(o, "finereg") && workload_paper(workloads[i], "finereg")))
            p->limit_run = add_run(r, workloads[i], o->size, "maxwell", NULL);
    }
}

/* ---- what a run counted ---- */

static double number(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *n = map ? yaml_get(map, key) : NULL;
    return n && n->kind == YAML_TEXT ? strtod(n->text, NULL) : NAN;
}

static bool read_stats(const struct lab_run *run, struct yaml_tree *tree)
{
    struct diag_list diags = {0};
    *tree = (struct yaml_tree){0};
    bool ok = run->status == 0 && yaml_tree_load(tree, run->stats, NULL, &diags); /* JSON is YAML */
    diag_free(&diags);
    return ok;
}

static double cycles_of(const struct lab_run *run)
{
    struct yaml_tree t;
    double cycles = read_stats(run, &t) ? number(yaml_get(t.root, "total"), "cycles") : NAN;
    yaml_tree_free(&t);
    return cycles;
}

static double speedup(const struct results *r, const struct plan *p, uint32_t measure)
{
    return cycles_of(&r->runs.data[p->base[measure]]) / cycles_of(&r->runs.data[p->changed[measure]]);
}

/* ---- tables ---- */

static const char *judge_ratio(const struct measure *m, double theirs, double ours)
{
    if (fabs(ours / theirs - 1) <= 0.25) return "within a quarter";
    return (theirs >= m->threshold) == (ours >= m->threshold) ? "same side" : "**differs**";
}

static void ratio_row(const struct measure *m, const struct workload *w, double ours, struct strbuf *out)
{
    double theirs = workload_figure(w, m->paper, m->figure);
    strbuf_printf(out, "| %s | %.2f | ", w->name, theirs);
    if (isnan(ours))
        strbuf_puts(out, "failed | |\n");
    else
        strbuf_printf(out, "%.2f | %s |\n", ours, judge_ratio(m, theirs, ours));
}

static void class_row(const struct measure *m, const struct workload *w, double ours, struct strbuf *out)
{
    const char *theirs = workload_paper(w, m->paper)->class_of;
    strbuf_printf(out, "| %s | %s | ", w->name, theirs);
    if (isnan(ours)) {
        strbuf_puts(out, "failed | |\n");
        return;
    }
    bool fast = ours >= m->threshold, theirs_fast = *theirs == m->fast;
    strbuf_printf(out, "%.2f: %c | %s |\n", ours, fast ? m->fast : m->slow,
                  fast == theirs_fast ? "same" : "**differs**");
}

static bool measure_table(const struct results *r, uint32_t k, struct strbuf *out)
{
    const struct measure *m = &measures[k];
    bool any = false, ok = true;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct plan *p = &r->plans[i];
        if (!p->wanted[k]) continue;
        if (!any)
            strbuf_printf(
                out,
                "\n## %s\n\n%s Machine `%s`, `%s`.\n\n| workload | paper | Heddle | |\n|---|--:|--:|---|\n",
                m->title, m->text, m->machine, m->change);
        any = true;
        double ours = speedup(r, p, k);
        ok = ok && !isnan(ours);
        if (m->judging == BY_RATIO)
            ratio_row(m, p->workload, ours, out);
        else
            class_row(m, p->workload, ours, out);
    }
    return ok;
}

/* FineReg's classes: which resource bounds the CTAs of the kernel that runs longest. */
static bool limit_table(const struct results *r, struct strbuf *out)
{
    bool any = false, ok = true;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!r->plans[i].limits) continue;
        if (!any)
            strbuf_puts(
                out, "\n## Limited by scheduling or by registers (FineReg, Table II)\n\nS: warp or CTA slots "
                     "bound the CTAs of an SM; "
                     "R: registers or shared memory do. Of the kernel with the most cycles, on `maxwell`.\n\n"
                     "| workload | paper | kernel | registers | Heddle | |\n|---|--:|---|--:|--:|---|\n");
        any = true;
        const struct workload *w = r->plans[i].workload;
        const char *theirs = workload_paper(w, "finereg")->class_of;
        struct yaml_tree t;
        const struct yaml_node *longest = NULL, *kernels;
        if (read_stats(&r->runs.data[r->plans[i].limit_run], &t) && (kernels = yaml_get(t.root, "kernels")))
            for (uint32_t k = 0; k < kernels->count; k++)
                if (!longest || number(&kernels->items[k], "cycles") > number(longest, "cycles"))
                    longest = &kernels->items[k];
        const struct yaml_node *limit = longest ? yaml_get(longest, "limit") : NULL;
        if (limit) {
            bool scheduling = !strcmp(limit->text, "warps") || !strcmp(limit->text, "threads") ||
                              !strcmp(limit->text, "ctas");
            strbuf_printf(out, "| %s | %s | %s | %.0f | %s: %c | %s |\n", w->name, theirs,
                          yaml_get(longest, "name")->text, number(longest, "registers"), limit->text,
                          scheduling ? 'S' : 'R', scheduling == (*theirs == 'S') ? "same" : "**differs**");
        } else {
            strbuf_printf(out, "| %s | %s | | | failed | |\n", w->name, theirs);
            ok = false;
        }
        yaml_tree_free(&t);
    }
    return ok;
}

/* ---- loads ---- */

struct our_load {
    const char *kernel;
    double pc, lines, unique, miss_rate, stride, stride_share, heaviest;
};

enum { OUR_LOADS_MAX = 512 };

/* One launch's load joins those of other launches of the same kernel, weighted by its references. */
static void join_load(struct our_load *all, uint32_t *count, const char *kernel, const struct yaml_node *l)
{
    double pc = number(l, "pc"), lines = number(l, "lines");
    uint32_t i = 0;
    while (i < *count && (all[i].pc != pc || strcmp(all[i].kernel, kernel))) i++;
    if (i == OUR_LOADS_MAX) return;
    if (i == *count) all[(*count)++] = (struct our_load){.kernel = kernel, .pc = pc};
    all[i].lines += lines;
    all[i].unique += lines * number(l, "unique_share");
    all[i].miss_rate += lines * number(l, "miss_rate");
    if (lines > all[i].heaviest) {
        all[i].heaviest = lines;
        all[i].stride = number(l, "stride");
        all[i].stride_share = number(l, "stride_share");
    }
}

static int by_lines(const void *a, const void *b)
{
    double x = ((const struct our_load *)a)->lines, y = ((const struct our_load *)b)->lines;
    return (x < y) - (x > y);
}

static void load_rows(const struct workload *w, const struct yaml_node *kernels, struct strbuf *out)
{
    struct our_load *all = mem_alloc(OUR_LOADS_MAX * sizeof *all);
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t k = 0; k < kernels->count; k++) {
        const struct yaml_node *loads = yaml_get(&kernels->items[k], "loads"),
                               *name = yaml_get(&kernels->items[k], "name");
        for (uint32_t i = 0; loads && i < loads->count; i++)
            join_load(all, &count, name->text, &loads->items[i]);
    }
    for (uint32_t i = 0; i < count; i++) sum += all[i].lines;
    qsort(all, count, sizeof *all, by_lines);
    const struct workload_paper *p = workload_paper(w, "apres");
    for (uint32_t i = 0; i < p->load_count; i++) {
        const struct workload_load *t = &p->loads[i];
        strbuf_printf(out, "| %s | %.1f | %.2f | %.2f | %.0f | %.0f |", i ? "" : w->name, 100 * t->share,
                      t->unique, t->miss_rate, t->stride, 100 * t->stride_share);
        if (i < count)
            strbuf_printf(out, " %.1f | %.2f | %.2f | %.0f | %.0f | %s:%.0f |\n", 100 * all[i].lines / sum,
                          all[i].unique / all[i].lines, all[i].miss_rate / all[i].lines, all[i].stride,
                          100 * all[i].stride_share, all[i].kernel, all[i].pc);
        else
            strbuf_puts(out, " | | | | | |\n");
    }
    free(all);
}

static bool load_table(const struct results *r, struct strbuf *out)
{
    bool any = false, ok = true;
    uint32_t apres = 0;
    while (strcmp(measures[apres].paper, "apres")) apres++;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct plan *p = &r->plans[i];
        if (!p->wanted[apres] || !workload_paper(p->workload, "apres")->load_count) continue;
        if (!any)
            strbuf_puts(out, "\n## The loads with the most references (APRES, Table I)\n\nShare of all load "
                             "references (%), distinct lines per "
                             "reference, L1 miss rate, the most frequent distance between warps in bytes and "
                             "its share (%). The paper's left, "
                             "Heddle's right, on `fermi-apres`; both in their own order.\n\n"
                             "| workload | share | #L/#R | miss | stride | of | share | #L/#R | miss | "
                             "stride | of | kernel:pc |\n"
                             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
        any = true;
        struct yaml_tree t;
        const struct yaml_node *kernels = NULL;
        if (read_stats(&r->runs.data[p->base[apres]], &t) && (kernels = yaml_get(t.root, "kernels")))
            load_rows(p->workload, kernels, out);
        else
            ok = false;
        yaml_tree_free(&t);
    }
    return ok;
}

bool fidelity_knows(const char *paper)
{
    for (uint32_t k = 0; k < MEASURES; k++)
        if (!strcmp(measures[k].paper, paper)) return true;
    return !strcmp(paper, "finereg");
}

bool fidelity(const struct lab_runner *runner, const struct workload *const *workloads, uint32_t count,
              const struct fidelity_options *options, struct strbuf *out)
{
    struct results r = {0};
    plan(&r, workloads, count, options);
    bool ok = lab_run_all(runner, r.runs.data, r.runs.len);
    for (uint32_t k = 0; k < MEASURES; k++) ok &= measure_table(&r, k, out);
    ok &= limit_table(&r, out);
    ok &= load_table(&r, out);
    for (uint32_t i = 0; i < r.runs.len; i++)
        if (r.runs.data[i].status)
            strbuf_printf(out, "\nFailed with status %d: %s, %s, %s%s%s.\n", r.runs.data[i].status,
                          r.runs.data[i].workload, r.runs.data[i].size, r.runs.data[i].machine,
                          r.runs.data[i].sets[0] ? ", " : "",
                          r.runs.data[i].sets[0] ? r.runs.data[i].sets[0] : "");
    lab_run_free(r.runs.data, r.runs.len);
    vec_free(&r.runs);
    free(r.plans);
    return ok;
}
