/* warp_tuple.c: see warp_tuple.h. */
#include "mech/warp_tuple.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- monitor and pollute bits ---- */

/* The oldest `count` of these warps. */
static uint64_t oldest_of(const struct warp_tuple *t, uint32_t bank, uint64_t warps, uint32_t count)
{
    const uint64_t *order = &t->order[bank * MECH_BANK_WARPS];
    uint64_t out = 0;
    if (warps_count(warps) <= (int)count) return warps;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t warp = warp_bit(warps_least(warps, order));
        out |= warp;
        warps &= ~warp;
    }
    return out;
}

static void set_bits(struct warp_tuple *t, uint32_t bank)
{
    uint64_t monitor = 0, pollute = 0;
    for (uint32_t i = 0; i < t->ports->schedulers; i++) {
        const uint64_t chosen = oldest_of(t, bank, t->mine[bank][i] & ~t->at_barrier[bank], t->n);
        monitor |= chosen;
        pollute |= oldest_of(t, bank, chosen, t->p);
    }
    t->pollute[bank] = pollute;
    if (monitor == t->monitor[bank]) return;
    t->monitor[bank] = monitor;
    t->changes++;
    t->ports->allow_issue(t->ports->host, bank, monitor);
}

void warp_tuple_init(struct warp_tuple *t, const struct mech_ports *ports)
{
    t->ports = ports;
    t->n = t->p = TUPLE_ALL;
    /* there is no warp yet */
    for (uint32_t bank = 0; bank < ports->banks; bank++) ports->allow_issue(ports->host, bank, 0);
}

void warp_tuple_cost(const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "bits", m->warps, 2, "monitor and pollute bit of each warp");
}

void warp_tuple_set(struct warp_tuple *t, uint32_t n, uint32_t p)
{
    t->n = n;
    t->p = p < n ? p : n;
    for (uint32_t bank = 0; bank < t->ports->banks; bank++) set_bits(t, bank);
}

uint32_t warp_tuple_resident(const struct warp_tuple *t)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->ports->schedulers; i++) {
        uint32_t count = 0;
        for (uint32_t bank = 0; bank < t->ports->banks; bank++)
            count += (uint32_t)warps_count(t->mine[bank][i]);
        if (count > most) most = count;
    }
    return most;
}

/* ---- hooks ---- */

void warp_tuple_on_warp(void *state, const struct mech_warp_event *e)
{
    struct warp_tuple *t = state;
    const uint32_t bank = mech_bank(e->warp);
    uint64_t *mine = &t->mine[bank][e->scheduler];
    t->at_barrier[bank] &= ~mech_bit(e->warp);
    if (e->is_start) {
        *mine |= mech_bit(e->warp);
        t->order[e->warp] = t->launches++;
    } else {
        *mine &= ~mech_bit(e->warp);
    }
    set_bits(t, bank);
}

void warp_tuple_on_barrier(void *state, const struct mech_barrier *e)
{
    struct warp_tuple *t = state;
    uint64_t *waiting = &t->at_barrier[e->bank];
    *waiting = e->is_wait ? *waiting | e->warps : *waiting & ~e->warps;
    set_bits(t, e->bank);
}

static bool is_polluter(const struct warp_tuple *t, int warp)
{
    return t->pollute[mech_bank(warp)] & mech_bit(warp);
}

void warp_tuple_on_issue(void *state, const struct mech_issue *e)
{
    struct warp_tuple *t = state;
    if (e->l1_lines) t->loads[e->id % TUPLE_LOADS] = e->id << 1 | is_polluter(t, e->warp);
}

/* An access that mechanisms made (a prefetch), or one that TUPLE_LOADS younger ones have passed, goes by the
 * warp's present bit. */
bool warp_tuple_pollutes(const struct warp_tuple *t, const struct mech_l1_access *a)
{
    const uint64_t load = t->loads[a->id % TUPLE_LOADS];
    return load >> 1 == a->id && a->id ? load & 1 : is_polluter(t, a->warp);
}

bool warp_tuple_may_allocate(void *state, const struct mech_l1_access *a)
{
    struct warp_tuple *t = state;
    const bool may = warp_tuple_pollutes(t, a);
    t->bypasses += !may;
    return may;
}

/* ---- tables ---- */

enum { LINE_BYTES = 512 };

static bool refuse(char *reason, const char *path, uint32_t line, const char *what)
{
    snprintf(reason, MECH_REASON_BYTES, "%s:%" PRIu32 ": %s", path, line, what);
    return false;
}

/* A number from 1 to most, or `*` for 0 where that may stand. */
static bool read_number(const char *text, uint64_t most, bool may_be_any, uint64_t *out)
{
    char *end;
    if (may_be_any && !strcmp(text, "*")) {
        *out = 0;
        return true;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out && *out <= most;
}

static bool read_row(struct tuple_row *row, const char *text, const char *path, uint32_t line, char *reason)
{
    char kernel[128], launch[24], n[8], p[8], more[2];
    uint64_t numbers[2];
    if (sscanf(text, "%127s %23s %7s %7s %1s", kernel, launch, n, p, more) != 4)
        return refuse(reason, path, line, "a line is KERNEL LAUNCH N p, such as: bfs_kernel * 5 2");
    if (!read_number(launch, UINT32_MAX, true, &row->launch))
        return refuse(reason, path, line, "the launch is a number from 1 on, or * for any");
    if (!read_number(n, TUPLE_ALL, false, &numbers[0]) || !read_number(p, TUPLE_ALL, false, &numbers[1]))
        return refuse(reason, path, line, "N and p are numbers from 1 to 64");
    if (numbers[1] > numbers[0]) return refuse(reason, path, line, "p is larger than N");
    memcpy(row->kernel, kernel, sizeof kernel);
    row->n = (uint32_t)numbers[0];
    row->p = (uint32_t)numbers[1];
    return true;
}

/* Reads a line: a row (1), an empty line or comment (0), or an error (-1). */
static int read_line(struct tuple_row *row, char *text, const char *path, uint32_t line, char *reason)
{
    text[strcspn(text, "#\r\n")] = 0;
    if (!text[strspn(text, " \t")]) return 0;
    return read_row(row, text, path, line, reason) ? 1 : -1;
}

static int read_rows(struct tuple_row *rows, uint32_t max, FILE *f, const char *path, char *reason)
{
    char text[LINE_BYTES];
    int count = 0;
    for (uint32_t line = 1; fgets(text, sizeof text, f); line++) {
        struct tuple_row row;
        if (!strchr(text, '\n') && !feof(f)) {
            refuse(reason, path, line, "the line is too long");
            return -1;
        }
        const int got = read_line(&row, text, path, line, reason);
        if (got < 0) return -1;
        if (got && (uint32_t)count < max) rows[count] = row;
        count += got;
    }
    if (!count) refuse(reason, path, 1, "there is no line with a tuple");
    return count ? count : -1;
}

int tuple_rows_read(struct tuple_row *rows, uint32_t max, const char *path, char *reason)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(reason, MECH_REASON_BYTES, "%s: %s", path, strerror(errno));
        return -1;
    }
    const int count = read_rows(rows, max, f, path, reason);
    fclose(f);
    return count;
}

struct tuple_row *tuple_rows_keep(const struct mech_ports *ports, const char *path, uint32_t *count)
{
    char reason[MECH_REASON_BYTES];
    const int found = tuple_rows_read(NULL, 0, path, reason);
    if (found <= 0) return NULL; /* the file has changed since it was checked */
    struct tuple_row *rows = ports->memory(ports->host, (size_t)found * sizeof *rows);
    const int again = tuple_rows_read(rows, (uint32_t)found, path, reason);
    *count = again == found ? (uint32_t)found : 0;
    return rows;
}

const struct tuple_row *tuple_rows_find(const struct tuple_row *rows, uint32_t count, const char *kernel,
                                        uint64_t launch)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tuple_row *r = &rows[i];
        if ((!strcmp(r->kernel, "*") || !strcmp(r->kernel, kernel)) && (!r->launch || r->launch == launch))
            return r;
    }
    return NULL;
}
