/* peer.c: Heddle beside GPGPU-Sim: the launches of peer_host.c, each in a process of its own, and
 * reference.tsv.
 *
 *     peer [--machine NAME [--mech NAME]] [--set KEY=VALUE]... [--variant NAME] [CASE...]
 *     peer --all|--judged [--set KEY=VALUE]... [CASE...]
 *
 * Without a machine the launches run functionally: instructions and reads of the L1 must be equal. With one
 * they run on the timed GPU, and cycles and L1 hits are compared as well. --all runs every variant on its own
 * machine (machines/overlays/peer-*.yaml) and compares what each changes, --judged only those whose cycles
 * are judged. The exit status tells whether what must be equal is and, with these two, whether the aims are
 * met. */
#include "peer.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES_MAX = 64, SETTINGS_MAX = 64, LINE_MAX_BYTES = 4096, COLUMNS_MAX = 80, NO_MACHINE = 2 };

static const struct variant {
    const char *name, *machine, *mech;
    bool is_judged; /* cycles are expected to be near theirs; of the others only what they change */
} variants[] = {
    {"base", "gtx480-peer", NULL, true},
    {"lrr", "overlays/peer-lrr", "lrr", true},
    {"l1_48k", "overlays/peer-l1_48k", NULL, true},
    {"cold", "overlays/peer-cold", NULL, true},
    {"l2line", "overlays/peer-l2line", NULL, true},
    {"l2x4", "overlays/peer-l2x4", NULL, false},
    {"dramx4", "overlays/peer-dramx4", NULL, false},
    {"l2line_flit160", "overlays/peer-l2line_flit160", NULL, false},
    {"l2line_x4", "overlays/peer-l2line_x4", NULL, false},
};
/* A change that counts: a ratio to base beyond these is expected on the same side. */
static const double ratio_low = 0.9, ratio_high = 1.1;
/* The aims over the judged variants: cycles as parts of theirs, L1 hits in points. */
static const double cycles_median_max = 0.2, cycles_worst_max = 0.4, hits_max = 3;
/* Known to miss the aim for hits (docs/peer.md), with the bound that they keep. */
static const struct known {
    const char *name, *variant; /* NULL: all */
    double hits_max;
} known_far[] = {{"syrk", NULL, 12}, {"rowwalk16", "l1_48k", 8}};

/* A row of reference.tsv. */
struct row {
    char name[32];
    /* that an SM holds */
    uint32_t ctas;
    struct peer_counts counts;
};

struct options {
    struct peer_machine machine;
    const char *variant;
    const char *settings[SETTINGS_MAX];
    bool all, only_judged;
    char **cases;
    int case_count;
};

/* ---- the reference ---- */
static uint32_t split(char *line, char *fields[COLUMNS_MAX])
{
    uint32_t n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *p = line; p && n < COLUMNS_MAX;) {
        fields[n++] = p;
        p = strchr(p, '\t');
        if (p) *p++ = 0;
    }
    return n;
}

static uint64_t column(char *const *names, char *const *fields, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return strtoull(fields[i], NULL, 10);
    fprintf(stderr, "reference.tsv has no column %s\n", name);
    exit(2);
}

static uint32_t read_reference(const char *variant, struct row *rows)
{
    static char head[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    char *names[COLUMNS_MAX], *fields[COLUMNS_MAX];
    FILE *f = fopen(PEER_DIR "/reference.tsv", "r");
    if (!f || !fgets(head, sizeof head, f)) {
        fprintf(stderr, "%s/reference.tsv cannot be read\n", PEER_DIR);
        exit(2);
    }
    uint32_t columns = split(head, names), count = 0;
    while (count < CASES_MAX && fgets(line, sizeof line, f)) {
        if (split(line, fields) != columns || strcmp(fields[1], variant)) continue;
        struct row *r = &rows[count++];
        snprintf(r->name, sizeof r->name, "%s", fields[0]);
        r->ctas = (uint32_t)column(names, fields, columns, "max_ctas_per_sm");
        r->counts = (struct peer_counts){.cycles = column(names, fields, columns, "cycles"),
                                         .warp_insts = column(names, fields, columns, "warp_insn"),
                                         .thread_insts = column(names, fields, columns, "thread_insn"),
                                         .l1_reads = column(names, fields, columns, "l1d_rd_access"),
                                         .l1_hits = column(names, fields, columns, "l1d_rd_hit")};
    }
    fclose(f);
    return count;
}

/* ---- one case ---- */

/* Their registers per thread are ptxas's for another machine, which PTX does not tell: an SM holds as many
 * CTAs as theirs, and registers do not limit it. */
static bool use_machine(const struct peer_machine *m, const struct row *ref)
{
    char ctas[32];
    const char *settings[SETTINGS_MAX + 2] = {ctas, "sm.registers=1048576"};
    struct peer_machine with = *m;
    snprintf(ctas, sizeof ctas, "sm.ctas=%u", ref->ctas);
    memcpy(settings + 2, m->settings, m->setting_count * sizeof *settings);
    with.settings = settings;
    with.setting_count += 2;
    return peer_use_machine(&with);
}

static void run_here(const struct peer_machine *m, const struct row *ref, int to)
{
    char *argv[] = {(char[]){"host"}, (char *)(uintptr_t)ref->name, NULL};
    int quiet = open("/dev/null", O_WRONLY);
    if (quiet >= 0) dup2(quiet, STDOUT_FILENO);
    if (!use_machine(m, ref)) _exit(NO_MACHINE);
    int bad = host_main(2, argv);
    struct peer_counts counts = peer_counts();
    bool sent = write(to, &counts, sizeof counts) == (ssize_t)sizeof counts;
    _exit(bad || !sent);
}

static bool run_case(const struct peer_machine *m, const struct row *ref, struct peer_counts *counts)
{
    int ends[2], status = -1;
    if (pipe(ends)) return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) run_here(m, ref, ends[1]);
    close(ends[1]);
    bool got = child > 0 && read(ends[0], counts, sizeof *counts) == (ssize_t)sizeof *counts;
    close(ends[0]);
    if (child > 0) waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MACHINE) exit(NO_MACHINE); /* said why */
    return got && status == 0;
}

/* ---- the table of one variant ---- */
static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void show_head(bool timed)
{
    printf("%-12s %10s %10s %9s", "case", "warp insts", "thread", "L1 reads");
    if (timed) printf(" %7s %7s %10s %10s %6s", "hits %", "theirs", "cycles", "theirs", "ratio");
    printf("\n");
}

static bool show_difference(const char *what, uint64_t got, uint64_t want)
{
    if (got != want) printf("  %s: theirs %llu", what, (unsigned long long)want);
    return got == want;
}

/* True when what must be equal is. */
static bool show_case(const struct row *ref, const struct peer_counts *got, bool timed)
{
    const struct peer_counts *want = &ref->counts;
    printf("%-12s %10llu %10llu %9llu", ref->name, (unsigned long long)got->warp_insts,
           (unsigned long long)got->thread_insts, (unsigned long long)got->l1_reads);
    if (timed)
        printf(" %7.1f %7.1f %10llu %10llu %6.2f", percent(got->l1_hits, got->l1_reads),
               percent(want->l1_hits, want->l1_reads), (unsigned long long)got->cycles,
               (unsigned long long)want->cycles, ratio(got->cycles, want->cycles));
    bool same = show_difference("warp instructions", got->warp_insts, want->warp_insts);
    same &= show_difference("thread instructions", got->thread_insts, want->thread_insts);
    same &= show_difference("L1 reads", got->l1_reads, want->l1_reads);
    printf("\n");
    return same;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How far cycles (parts of theirs) and hits (points) are off. */
struct errors {
    double cycles[ARRAY_LEN(variants) * CASES_MAX], hits_worst;
    /* hits_far: launches whose hits are further off than they may be */
    uint32_t count, hits_far;
};

static double hits_bound(const char *variant, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(known_far); i++) {
        const struct known *k = &known_far[i];
        if (!strcmp(k->name, name) && (!k->variant || !strcmp(k->variant, variant))) return k->hits_max;
    }
    return hits_max;
}

static void add_errors(struct errors *e, const char *variant, const struct row *rows,
                       const struct peer_counts *got, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!got[i].cycles) continue;
        double r = ratio(got[i].cycles, rows[i].counts.cycles);
        double hits = percent(got[i].l1_hits, got[i].l1_reads) -
                      percent(rows[i].counts.l1_hits, rows[i].counts.l1_reads);
        e->cycles[e->count++] = r > 1 ? r - 1 : 1 - r;
        if (hits < 0) hits = -hits;
        e->hits_worst = MAX(e->hits_worst, hits);
        e->hits_far += hits > hits_bound(variant, rows[i].name);
    }
}

static void show_errors(struct errors *e)
{
    if (!e->count) return;
    qsort(e->cycles, e->count, sizeof *e->cycles, by_value);
    printf("cycles off by %.0f%% in the median, %.0f%% at worst; L1 hits by %.1f points at worst\n",
           100 * e->cycles[e->count / 2], 100 * e->cycles[e->count - 1], e->hits_worst);
}

static bool wanted(const struct options *o, const char *name)
{
    for (int i = 0; i < o->case_count; i++)
        if (!strcmp(o->cases[i], name)) return true;
    return !o->case_count;
}

/* False: something that must be equal is not. got[i] of cases that were not run are zeros. */
static bool run_variant(const struct options *o, const char *variant, const struct peer_machine *m,
                        struct row *rows, struct peer_counts *got, uint32_t *count)
{
    uint32_t ran = 0, good = 0;
    *count = read_reference(variant, rows);
    show_head(m->name != NULL);
    for (uint32_t i = 0; i < *count; i++) {
        got[i] = (struct peer_counts){0};
        if (!wanted(o, rows[i].name)) continue;
        ran++;
        if (run_case(m, &rows[i], &got[i]))
            good += show_case(&rows[i], &got[i], m->name != NULL);
        else
            printf("%-12s its result is wrong, or it did not end\n", rows[i].name);
    }
    struct errors e = {.count = 0};
    add_errors(&e, variant, rows, got, *count);
    show_errors(&e);
    printf("%u of %u launches agree in what must be equal\n", good, ran);
    return ran && good == ran;
}

/* ---- all variants ---- */

/* What a variant changes: the ratios to base, where theirs or ours counts. The cases on another side than
 * theirs. */
static uint32_t show_changes(const struct row *base, const struct peer_counts *base_got,
                             const struct row *rows, const struct peer_counts *got, uint32_t count)
{
    uint32_t other_side = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!got[i].cycles || !base_got[i].cycles) continue;
        double theirs = ratio(rows[i].counts.cycles, base[i].counts.cycles),
               ours = ratio(got[i].cycles, base_got[i].cycles);
        if (theirs >= ratio_low && theirs <= ratio_high) continue;
        bool same = theirs < 1 ? ours < 1 : ours > 1;
        other_side += !same;
        printf("%-12s to base %5.2f, theirs %5.2f%s\n", rows[i].name, ours, theirs,
               same ? "" : "  other side");
    }
    return other_side;
}

static bool aims_met(const struct errors *e, uint32_t other_side)
{
    return e->count && e->cycles[e->count / 2] <= cycles_median_max &&
           e->cycles[e->count - 1] <= cycles_worst_max && !e->hits_far && !other_side;
}

static int run_all(const struct options *o)
{
    static struct row rows[ARRAY_LEN(variants)][CASES_MAX];
    static struct peer_counts got[ARRAY_LEN(variants)][CASES_MAX];
    static struct errors judged;
    uint32_t count, other_side = 0;
    bool good = true;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        struct peer_machine m = o->machine;
        if (o->only_judged && !variants[v].is_judged) continue;
        m.name = variants[v].machine;
        m.mech = variants[v].mech;
        printf("%s%s, on %s%s%s\n", v ? "\n" : "", variants[v].name, m.name, m.mech ? " with " : "",
               m.mech ? m.mech : "");
        good &= run_variant(o, variants[v].name, &m, rows[v], got[v], &count);
        if (variants[v].is_judged) add_errors(&judged, variants[v].name, rows[v], got[v], count);
        if (v) other_side += show_changes(rows[0], got[0], rows[v], got[v], count);
    }
    printf("\nbase, lrr, l1_48k, cold and l2line together: ");
    show_errors(&judged);
    printf("launches whose hits are further off than they may be: %u\n", judged.hits_far);
    printf("changes against base on the other side than theirs: %u\n", other_side);
    bool met = aims_met(&judged, other_side);
    printf("the aims are %s\n",
           met ? "met, but for the launches with a bound of their own (docs/peer.md)" : "not met");
    return !good || !met;
}

/* ---- the command ---- */
static bool parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.variant = "base"};
    o->machine.settings = o->settings;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--all") || !strcmp(name, "--judged")) {
            o->all = true;
            o->only_judged = name[2] == 'j';
            continue;
        }
        if (++i >= argc) return false;
        if (!strcmp(name, "--machine"))
            o->machine.name = argv[i];
        else if (!strcmp(name, "--mech"))
            o->machine.mech = argv[i];
        else if (!strcmp(name, "--variant"))
            o->variant = argv[i];
        else if (!strcmp(name, "--set") && o->machine.setting_count < SETTINGS_MAX)
            o->settings[o->machine.setting_count++] = argv[i];
        else
            return false;
    }
    o->cases = argv + i;
    o->case_count = argc - i;
    return true;
}

int main(int argc, char **argv)
{
    static struct row rows[CASES_MAX];
    static struct peer_counts got[CASES_MAX];
    struct options o;
    uint32_t count;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: peer [--machine NAME [--mech NAME]] [--set KEY=VALUE]... [--variant NAME] [CASE...]\n"
                "       peer --all|--judged [--set KEY=VALUE]... [CASE...]\n");
        return 2;
    }
    if (o.all) return run_all(&o);
    return !run_variant(&o, o.variant, &o.machine, rows, got, &count);
}
