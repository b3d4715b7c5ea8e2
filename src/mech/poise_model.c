/* poise_model.c: see poise_model.h. */
#include "mech/poise_model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

const struct poise_model poise_published = {
    .warps = 24,
    .alpha = {517687, -261, 7209138, -5977480, -8906397, 1976725, 4668, 1667111},
    .beta = {3786126, 483576, -6386444, 10320107, -6533500, -900944, 79856, -2189887},
};

#define ONE ((int64_t)1 << POISE_FEATURE_BITS)

/* ---- features ---- */

struct poise_window poise_window_between(const struct mech_counters *from, const struct mech_counters *to)
{
    return (struct poise_window){.issued = to->issued - from->issued,
                                 .loads = to->loads - from->loads,
                                 .accesses = to->load_accesses - from->load_accesses,
                                 .misses = to->load_misses - from->load_misses,
                                 .intra_warp_hits = to->l1_intra_warp_hits - from->l1_intra_warp_hits,
                                 .latency_sum = to->miss_latency_sum - from->miss_latency_sum,
                                 .latency_count = to->misses_done - from->misses_done};
}

bool poise_is_compute_bound(const struct poise_window *w, uint32_t limit)
{
    return w->issued > (uint64_t)limit * w->loads;
}

/* a / b in 2^-20; 0 where nothing was counted. */
static int64_t ratio(uint64_t a, uint64_t b) { return b ? (int64_t)((wide)a * ONE / b) : 0; }
static int64_t times(int64_t a, int64_t b) { return (int64_t)((wide)a * b / ONE); }

static int64_t miss_rate(const struct poise_window *w) { return ratio(w->misses, w->accesses); }
static int64_t latency(const struct poise_window *w) { return ratio(w->latency_sum, w->latency_count); }

void poise_features(const struct poise_window *all, const struct poise_window *one, int64_t x[POISE_FEATURES])
{
    const int64_t intra_all = ratio(all->intra_warp_hits, all->accesses);
    const int64_t intra_one = ratio(one->intra_warp_hits, one->accesses);
    const int64_t gained = intra_one - intra_all;
    const int64_t waits = times(latency(one), miss_rate(one)) - times(miss_rate(all), latency(all));
    x[0] = ONE - miss_rate(all);
    x[1] = ONE - miss_rate(one);
    x[2] = intra_all;
    x[3] = intra_one;
    x[4] = times(gained, gained);
    x[5] = times(ratio(all->issued, all->loads), x[4]);
    x[6] = times(waits, waits) / 100000;
    x[7] = ONE;
}

/* ---- prediction ---- */

/* Square root of a number below 2^124, rounded down. */
static uint64_t root(uwide v)
{
    uint64_t r = 0;
    for (int bit = 61; bit >= 0; bit--) {
        const uint64_t more = r | (uint64_t)1 << bit;
        if ((uwide)more * more <= v) r = more;
    }
    return r;
}

/* 2^(f / 2^20) in 2^-60, for f from 0 to 2^20: the product of 2^(1/2), 2^(1/4), ... of the bits of f. */
static uint64_t power_of_two(uint32_t f)
{
    const int bits = 60;
    uint64_t factor = (uint64_t)1 << (bits + 1), product = (uint64_t)1 << bits;
    for (int i = POISE_FEATURE_BITS - 1; i >= 0; i--) {
        factor = root((uwide)factor << bits);
        if (f >> i & 1) product = (uint64_t)((uwide)product * factor >> bits);
    }
    return product;
}

uint64_t poise_exp(int64_t x)
{
    const int64_t one_by_ln2 = 6497320848556798; /* in 2^-52 */
    const wide y = (wide)x * one_by_ln2 >> 52;
    const int64_t whole = (int64_t)(y >> POISE_FEATURE_BITS);
    const uint32_t rest = (uint32_t)(y & (ONE - 1));
    if (whole >= 20) return POISE_EXP_MAX;
    if (whole < -POISE_FEATURE_BITS) return 0;
    return power_of_two(rest) >> (60 - POISE_FEATURE_BITS - whole);
}

static uint64_t link_function(const int64_t weights[POISE_FEATURES], const int64_t x[POISE_FEATURES])
{
    wide sum = 0;
    for (int i = 0; i < POISE_FEATURES; i++) sum += (wide)weights[i] * x[i];
    sum /= POISE_WEIGHT_ONE;
    const int64_t most = (int64_t)64 * ONE; /* e^64 and e^-64 are beyond all bounds */
    return poise_exp(sum > most ? most : sum < -most ? -most : (int64_t)sum);
}

/* Rounds to the nearest number of warps from 1 to `most`. */
static uint32_t scaled(uint64_t value, uint32_t model_warps, uint32_t warps, uint32_t most)
{
    const uwide n = ((uwide)value * warps / model_warps + ONE / 2) >> POISE_FEATURE_BITS;
    return n < 1 ? 1 : n > most ? most : (uint32_t)n;
}

struct poise_tuple poise_predict(const struct poise_model *m, const int64_t x[POISE_FEATURES], uint32_t warps)
{
    const uint32_t most = warps ? warps : 1;
    const uint32_t n = scaled(link_function(m->alpha, x), m->warps, most, most);
    return (struct poise_tuple){.n = n, .p = scaled(link_function(m->beta, x), m->warps, most, n)};
}

/* ---- the file ---- */

enum { LINE_BYTES = 1024 };

struct model_reading {
    struct poise_model *model;
    const char *path;
    uint32_t line;
    bool has_head, has_warps, has_alpha, has_beta;
    char *reason;
};

static bool refuse(struct model_reading *r, const char *what)
{
    snprintf(r->reason, MECH_REASON_BYTES, "%s:%u: %s", r->path, r->line, what);
    return false;
}

/* A decimal number in millionths; digits beyond the sixth are dropped. */
static bool read_weight(const char *text, int64_t *out)
{
    const bool is_negative = *text == '-';
    int64_t value = 0;
    int decimals = -1;
    text += is_negative;
    if (*text < '0' || *text > '9') return false;
    for (; *text; text++) {
        if (*text == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || value > INT64_MAX / 1000000000) return false;
        if (decimals == 6) continue;
        value = 10 * value + (*text - '0');
        if (decimals >= 0) decimals++;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 6; i++) value *= 10;
    *out = is_negative ? -value : value;
    return true;
}

static bool read_weights(struct model_reading *r, char *rest, int64_t weights[POISE_FEATURES])
{
    char *save = NULL;
    int count = 0;
    for (char *w = strtok_r(rest, " \t", &save); w; w = strtok_r(NULL, " \t", &save), count++) {
        if (count == POISE_FEATURES) return refuse(r, "there are more than 8 weights");
        if (!read_weight(w, &weights[count]) || weights[count] > (int64_t)1000 * POISE_WEIGHT_ONE ||
            weights[count] < -(int64_t)1000 * POISE_WEIGHT_ONE)
            return refuse(r, "a weight is a decimal number from -1000 to 1000");
    }
    return count == POISE_FEATURES || refuse(r, "there are fewer than 8 weights");
}

/* True: it comes for the first time. */
static bool is_first(struct model_reading *r, bool *has)
{
    if (*has) return refuse(r, "it is there twice");
    return *has = true;
}

/* The first word, without the folder and the end of a file's name; settings of the machine may follow. */
static void read_machine(struct poise_model *m, char *rest)
{
    static const char end[] = ".yaml";
    rest[strcspn(rest, " \t")] = 0;
    char *slash = strrchr(rest, '/'), *name = slash ? slash + 1 : rest;
    const size_t length = strlen(name);
    if (length > strlen(end) && !strcmp(name + length - strlen(end), end)) name[length - strlen(end)] = 0;
    snprintf(m->machine, sizeof m->machine, "%s", name);
}

static bool read_entry(struct model_reading *r, const char *key, char *rest)
{
    struct poise_model *m = r->model;
    if (!r->has_head) {
        if (strcmp(key, "poise-model") != 0 || strcmp(rest, "1") != 0)
            return refuse(r, "a model begins with: poise-model 1");
        return r->has_head = true;
    }
    if (!strcmp(key, "about")) return true;
    if (!strcmp(key, "machine")) {
        read_machine(m, rest);
        return true;
    }
    if (!strcmp(key, "alpha")) return is_first(r, &r->has_alpha) && read_weights(r, rest, m->alpha);
    if (!strcmp(key, "beta")) return is_first(r, &r->has_beta) && read_weights(r, rest, m->beta);
    if (strcmp(key, "warps") != 0)
        return refuse(r, "a line begins with warps, alpha, beta, about or machine");
    if (!is_first(r, &r->has_warps)) return false;
    int end = 0;
    if (sscanf(rest, "%u%n", &m->warps, &end) != 1 || rest[end] || !m->warps || m->warps > MECH_BANK_WARPS)
        return refuse(r, "warps is a number from 1 to 64");
    return true;
}

static bool read_line(struct model_reading *r, char *text)
{
    text[strcspn(text, "#\r\n")] = 0;
    for (size_t n = strlen(text); n && (text[n - 1] == ' ' || text[n - 1] == '\t');) text[--n] = 0;
    char *key = text + strspn(text, " \t"), *rest = key + strcspn(key, " \t");
    if (!*key) return true;
    if (*rest) *rest++ = 0;
    return read_entry(r, key, rest + strspn(rest, " \t"));
}

bool poise_model_read(struct poise_model *m, const char *path, char *reason)
{
    struct model_reading r = {.model = m, .path = path, .reason = reason};
    char text[LINE_BYTES];
    bool is_good = true;
    FILE *f = fopen(path, "r");
    m->machine[0] = 0;
    if (!f) {
        snprintf(reason, MECH_REASON_BYTES, "%s: %s", path, strerror(errno));
        return false;
    }
    while (is_good && fgets(text, sizeof text, f)) {
        r.line++;
        is_good = strchr(text, '\n') || feof(f) ? read_line(&r, text) : refuse(&r, "the line is too long");
    }
    fclose(f);
    if (is_good && !(r.has_head && r.has_warps && r.has_alpha && r.has_beta))
        is_good = refuse(&r, "the file ends without warps, alpha and beta");
    return is_good;
}
