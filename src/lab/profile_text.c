/* profile_text.c: a profile as a text, a line an entry; # begins a comment.
 *
 *     heddle-profile 1
 *     machine kepler
 *     simulator 0.1.0 2c53...
 *     warps 24
 *     kernel bfs small 7 24 51234 Kernel              workload, size, launch, warps, cycles, name
 *     all 88000 20100 41000 30100 5210 9800000 30000  issued, loads, accesses, misses, intra-warp hits,
 *     one 88000 20100 41000 12000 21000 4100000 12000 sum and number of miss latencies
 *     n 1 1:99000                                     N, and p:cycles for each p
 *     n 4 1:61000 4:58000 */
#include "lab/profile.h"

#include <errno.h>
#include <inttypes.h>

#define PROFILE_HEAD "heddle-profile 1"

/* ---- writing ---- */

static void put_window(const char *name, const struct poise_window *w, struct strbuf *out)
{
    strbuf_printf(
        out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name,
        w->issued, w->loads, w->accesses, w->misses, w->intra_warp_hits, w->latency_sum, w->latency_count);
}

static void put_points(const struct profile_kernel *k, struct strbuf *out)
{
    for (uint32_t i = 0; i < k->points.len; i++) {
        const struct profile_point *at = &k->points.data[i];
        const bool is_first = !i || k->points.data[i - 1].n != at->n;
        if (is_first) strbuf_printf(out, "%sn %u", i ? "\n" : "", at->n);
        strbuf_printf(out, " %u:%" PRIu64, at->p, at->cycles);
    }
    strbuf_putc(out, '\n');
}

void profile_write(const struct profile *p, struct strbuf *out)
{
    strbuf_printf(out, PROFILE_HEAD "\nmachine %s\nsimulator %s\nwarps %u\n", p->machine, p->simulator,
                  p->warps);
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        const struct profile_kernel *k = &p->kernels.data[i];
        strbuf_printf(out, "kernel %s %s %" PRIu64 " %u %" PRIu64 " %s\n", k->workload, k->size, k->launch,
                      k->warps, k->cycles, k->name);
        put_window("all", &k->all, out);
        put_window("one", &k->one, out);
        put_points(k, out);
    }
}

/* ---- reading ---- */

struct profile_reading {
    struct profile *profile;
    struct diag_source src;
    struct diag_list *diags;
    int line;
    /* The line, cut into words as it is read; `at` is what is left of it. */
    char *text, *at;
    bool has_head;
    /* The kernel to which the lines belong, and which of its lines were read. NULL: no kernel yet. */
    struct profile_kernel *kernel;
    bool has_all, has_one;
};

/* Reports an error at a word of the line, or at the end of the line. */
static bool refuse(struct profile_reading *r, const char *word, const char *hint, const char *what)
{
    const int col = word ? (int)(word - r->text) + 1 : 1;
    diag_add(r->diags, DIAG_ERROR, &r->src, r->line, col, word ? (int)MAX(strlen(word), 1u) : 1, hint, "%s",
             what);
    return false;
}

/* The next word; "" at the end of the line. */
static char *next_word(struct profile_reading *r)
{
    char *word = r->at + strspn(r->at, " \t");
    r->at = word + strcspn(word, " \t");
    if (*r->at) *r->at++ = 0;
    return word;
}

static const char *rest_of_line(struct profile_reading *r)
{
    char *rest = r->at + strspn(r->at, " \t");
    for (size_t n = strlen(rest); n && (rest[n - 1] == ' ' || rest[n - 1] == '\t');) rest[--n] = 0;
    r->at = rest + strlen(rest);
    return arena_strdup(&r->profile->arena, rest);
}

static bool is_number(const char *word, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno && *out <= most;
}

static bool read_number(struct profile_reading *r, uint64_t least, uint64_t most, uint64_t *out)
{
    char *word = next_word(r);
    if (is_number(word, most, out) && *out >= least) return true;
    char what[96];
    snprintf(what, sizeof what, "a number from %" PRIu64 " to %" PRIu64 " must be here", least, most);
    return refuse(r, word, NULL, what);
}

static bool read_end(struct profile_reading *r)
{
    char *word = next_word(r);
    return !*word || refuse(r, word, NULL, "the line is too long");
}

static bool read_window(struct profile_reading *r, struct poise_window *w)
{
    uint64_t *const fields[] = {&w->issued,          &w->loads,       &w->accesses,     &w->misses,
                                &w->intra_warp_hits, &w->latency_sum, &w->latency_count};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!read_number(r, 0, INT64_MAX, fields[i])) return false;
    return read_end(r);
}

/* Has the kernel that ends here all of its lines? */
static bool check_kernel(struct profile_reading *r)
{
    const struct profile_kernel *k = r->kernel;
    if (!k) return true;
    if (!r->has_all || !r->has_one)
        return refuse(r, NULL, NULL, "the kernel above has no line 'all' or 'one'");
    if (!profile_find(k, k->warps, k->warps))
        return refuse(r, NULL, NULL, "the kernel above has no cycles at its largest tuple");
    return true;
}

static bool read_kernel(struct profile_reading *r)
{
    struct profile_kernel k = {0};
    uint64_t warps;
    if (!check_kernel(r)) return false;
    if (!r->profile->warps || !r->profile->machine)
        return refuse(r, NULL, NULL, "'machine' and 'warps' stand before the kernels");
    k.workload = arena_strdup(&r->profile->arena, next_word(r));
    k.size = arena_strdup(&r->profile->arena, next_word(r));
    if (!read_number(r, 1, UINT64_MAX, &k.launch) || !read_number(r, 1, r->profile->warps, &warps) ||
        !read_number(r, 1, INT64_MAX, &k.cycles))
        return false;
    k.warps = (uint32_t)warps;
    k.name = rest_of_line(r);
    if (!*k.name) return refuse(r, r->at, NULL, "the kernel's name is missing");
    vec_push(&r->profile->kernels, k);
    r->kernel = &r->profile->kernels.data[r->profile->kernels.len - 1];
    r->has_all = r->has_one = false;
    return true;
}

static bool read_point(struct profile_reading *r, uint32_t n, char *word)
{
    uint64_t p, cycles;
    char *colon = strchr(word, ':');
    if (colon) *colon = 0;
    const bool is_good = colon && is_number(word, n, &p) && p && is_number(colon + 1, INT64_MAX, &cycles);
    if (colon) *colon = ':';
    if (!is_good || !cycles) return refuse(r, word, NULL, "a point is p:CYCLES, with p from 1 to N");
    return profile_add_point(r->kernel, (struct profile_point){n, (uint32_t)p, cycles}) ||
           refuse(r, word, NULL, "the tuple is there twice");
}

static bool read_points(struct profile_reading *r)
{
    uint64_t n;
    if (!read_number(r, 1, r->kernel->warps, &n)) return false;
    char *word = next_word(r);
    if (!*word) return refuse(r, word, NULL, "points p:CYCLES must be here");
    for (; *word; word = next_word(r))
        if (!read_point(r, (uint32_t)n, word)) return false;
    return true;
}

/* Reads a line that belongs to the kernel above it. */
static bool read_of_kernel(struct profile_reading *r, char *key)
{
    bool *has = !strcmp(key, "all") ? &r->has_all : !strcmp(key, "one") ? &r->has_one : NULL;
    if (!has && strcmp(key, "n") != 0)
        return refuse(r, key, "machine, simulator, warps, kernel, all, one or n",
                      "no line begins with this word");
    if (!r->kernel) return refuse(r, key, NULL, "there is no kernel above this line");
    if (!has) return read_points(r);
    if (*has) return refuse(r, key, NULL, "the kernel has this line twice");
    *has = true;
    return read_window(r, has == &r->has_all ? &r->kernel->all : &r->kernel->one);
}

static bool read_entry(struct profile_reading *r, char *key)
{
    struct profile *p = r->profile;
    uint64_t warps;
    if (!strcmp(key, "kernel")) return read_kernel(r);
    if (!strcmp(key, "machine") && !p->machine)
        return *(p->machine = rest_of_line(r)) || refuse(r, key, NULL, "its name is missing");
    if (!strcmp(key, "simulator") && !p->simulator)
        return *(p->simulator = rest_of_line(r)) || refuse(r, key, NULL, "its version is missing");
    if (strcmp(key, "warps") != 0 || p->warps) return read_of_kernel(r, key);
    if (!read_number(r, 1, PROFILE_WARPS_MAX, &warps)) return false;
    p->warps = (uint32_t)warps;
    return read_end(r);
}

static bool read_line(struct profile_reading *r)
{
    r->text[strcspn(r->text, "#\r")] = 0;
    r->at = r->text;
    if (!r->text[strspn(r->text, " \t")]) return true;
    if (r->has_head) return read_entry(r, next_word(r));
    if (strncmp(r->text, PROFILE_HEAD, strlen(PROFILE_HEAD)) != 0)
        return refuse(r, r->text, "`heddle profile` writes one", "a profile begins with: " PROFILE_HEAD);
    return r->has_head = true;
}

bool profile_read(struct profile *p, const char *path, const char *text, size_t len, struct diag_list *diags)
{
    struct profile_reading r = {.profile = p, .src = {path, text, len}, .diags = diags, .line = 1};
    struct arena lines = {0};
    bool ok = true;
    *p = (struct profile){0};
    for (size_t at = 0; ok && at < len; r.line++) {
        const char *end = memchr(text + at, '\n', len - at);
        const size_t n = end ? (size_t)(end - text) - at : len - at;
        r.text = arena_strndup(&lines, text + at, n);
        ok = read_line(&r);
        at += n + 1;
    }
    if (ok) r.line -= r.line > 1;
    ok = ok && check_kernel(&r);
    if (ok && !p->kernels.len) ok = refuse(&r, NULL, NULL, "the profile has no kernel");
    if (ok && !p->simulator) p->simulator = "";
    arena_free(&lines);
    return ok;
}

bool profile_load(struct profile *p, const char *path, struct diag_list *diags)
{
    struct strbuf text = {0};
    char block[1 << 16];
    FILE *f = fopen(path, "rb");
    *p = (struct profile){0};
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&text, block, n);
    bool ok = f && !ferror(f);
    if (!ok)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "cannot read %s: %s", path,
                 strerror(f ? EISDIR : errno));
    if (f) fclose(f);
    ok = ok && profile_read(p, path, strbuf_text(&text), text.len, diags);
    strbuf_free(&text);
    return ok;
}
