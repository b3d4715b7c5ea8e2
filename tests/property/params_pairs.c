/* params_pairs.c: long rows cover many pairs each (cover.h). Where a row is refused, the one, two or more
 * values that are the reason are found by bisection and leave it, and the rest is tried again: no pair passes
 * for tested because something else in its row was refused. A long row may also be too slow to wait for: then
 * its first half is tried. Only a row of two values hangs.
 *
 * The work is done in a child process, with all of its state in shared memory: when it crashes or hangs, the
 * parent finds the smallest part of the row that does so, and a new child goes on. */
#include "property/params_pairs.h"

#include "base/base.h"
#include "property/cover.h"
#include "property/params_child.h"
#include "property/params_row.h"

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Processor time, in seconds: after so much of it a long row is cut, and one of two values hangs. */
enum { LONG_SECONDS = 2, LARGE_SECONDS = 20, PAIR_SECONDS = 60 };

enum { PROGRESS_SECONDS = 60 };

/* A value that takes more than this many times the cycles of the plain machine is slow. */
enum { SLOW = 4 };

struct pairs {
    const struct values *values;
    const char *const *machines;
    uint64_t rows_max;
    /* rows that were tried as a whole, and those of them with two values */
    uint64_t rows, alone;
    uint64_t verdicts[WRONG + 1];
    /* what is running */
    struct cover_row now;
    /* of a row that was too slow; of no values otherwise */
    struct cover_row half;
    /* rows that were too slow */
    uint64_t slow;
    /* when the last line of progress was */
    time_t shown;
    struct cover cover;
};

static struct row settings_of(const struct pairs *p, const struct cover_row *r)
{
    struct row out;
    row_begin(&out, p->machines[r->machine]);
    for (uint32_t i = 0; i < r->count; i++) row_add(&out, p->values->list.data[r->values[i]].text);
    return out;
}

static uint32_t seconds_for(const struct pairs *p, const struct cover_row *r)
{
    if (r->count <= 2) return PAIR_SECONDS;
    for (uint32_t i = 0; i < r->count; i++)
        if (p->values->list.data[r->values[i]].is_large) return LARGE_SECONDS;
    return LONG_SECONDS;
}

static enum verdict try_row(struct pairs *p, const struct cover_row *r)
{
    p->now = *r;
    const struct row settings = settings_of(p, r);
    child_begin_row(seconds_for(p, r));
    const enum verdict v = row_run(&settings, false);
    if (v == WRONG) _exit(1);
    return v;
}

/* ---- why a row is refused ---- */

/* at_load: the row's machine was refused when it was loaded, which can be asked without running it. */
static bool is_refused(struct pairs *p, const struct cover_row *r, bool at_load)
{
    if (!at_load) return try_row(p, r) != RUNS;
    p->now = *r;
    const struct row settings = settings_of(p, r);
    child_begin_row(PAIR_SECONDS);
    return row_is_refused_at_load(&settings);
}

static struct cover_row joined(const struct cover_row *a, const struct cover_row *b, uint32_t of_b)
{
    struct cover_row out = *a;
    for (uint32_t i = 0; i < of_b; i++) out.values[out.count++] = b->values[i];
    return out;
}

/* The fewest of the first values of `row` that are refused together with `known`: their number. */
static uint32_t shortest_refused(struct pairs *p, const struct cover_row *known, const struct cover_row *row,
                                 bool at_load)
{
    uint32_t taken = 0, refused = row->count;
    while (refused - taken > 1) {
        const uint32_t middle = (taken + refused) / 2;
        const struct cover_row r = joined(known, row, middle);
        *(is_refused(p, &r, at_load) ? &refused : &taken) = middle;
    }
    return refused;
}

/* Finds a set of values of a refused row that is refused by itself; each search ends at one of it. */
static struct cover_row find_culprits(struct pairs *p, const struct cover_row *row)
{
    const bool at_load = is_refused(p, row, true);
    struct cover_row known = {.machine = row->machine}, rest = *row;
    do {
        rest.count = shortest_refused(p, &known, &rest, at_load) - 1;
        known.values[known.count++] = rest.values[rest.count];
    } while (rest.count && !is_refused(p, &known, at_load));
    return known;
}

/* Of three culprits and more one goes that is not of the pair for which the row was made, so that rows get to
 * that pair in the end. */
static void drop_culprit(struct cover_row *row, const struct cover_row *culprits)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < row->count; i++)
        for (uint32_t k = 0; k < culprits->count; k++)
            if (row->values[i] == culprits->values[k]) at = i;
    memmove(row->values + at, row->values + at + 1, (row->count - at - 1) * sizeof *row->values);
    row->count--;
}

/* ---- the child ---- */

static void cover_row(struct pairs *p, struct cover_row row)
{
    while (row.count > 1) {
        const enum verdict v = try_row(p, &row);
        p->rows++;
        p->alone += row.count == 2;
        p->verdicts[v]++;
        if (v == RUNS || row.count == 2) {
            cover_took(&p->cover, &row);
            return;
        }
        const struct cover_row culprits = find_culprits(p, &row);
        cover_refused(&p->cover, &culprits);
        drop_culprit(&row, &culprits);
    }
}

/* All pairs take minutes: a line now and then says how far they are. */
static void show_progress(struct pairs *p)
{
    const time_t now = time(NULL);
    if (now - p->shown < PROGRESS_SECONDS) return;
    p->shown = now;
    fprintf(stderr, "pairs: %llu left after %llu rows, %llu of them of two values, %llu too slow\n",
            (unsigned long long)cover_left(&p->cover), (unsigned long long)p->rows,
            (unsigned long long)p->alone, (unsigned long long)p->slow);
}

static void work(void *ctx)
{
    struct pairs *p = ctx;
    struct cover_row row = p->half;
    p->half.count = 0;
    if (row.count) cover_row(p, row);
    while (p->rows < p->rows_max && cover_next(&p->cover, &row)) {
        cover_row(p, row);
        show_progress(p);
    }
}

/* ---- the parent ---- */

static void work_now(void *ctx)
{
    struct pairs *p = ctx;
    const struct cover_row row = p->now;
    try_row(p, &row);
}

/* Leaves values out of p->now while what is left still fails. */
static void shrink_failure(struct pairs *p)
{
    struct cover_row small = p->now;
    for (uint32_t i = small.count; i-- > 0;) {
        const struct cover_row before = small;
        memmove(small.values + i, small.values + i + 1, (small.count - i - 1) * sizeof *small.values);
        small.count--;
        p->now = small;
        if (child_run(work_now, p) == CHILD_DONE) small = before;
    }
    p->now = small;
}

/* The failing values are not tried together again. */
static void blame(struct pairs *p, enum child_end how)
{
    shrink_failure(p);
    const struct row settings = settings_of(p, &p->now);
    fprintf(stderr, "^ %s: ", child_end_name(how));
    row_show(&settings);
    cover_refused(&p->cover, &p->now);
    if (p->now.count > 1) cover_took(&p->cover, &p->now);
}

/* The pair for which the row was made comes first, and stays. */
static void halve_slow_row(struct pairs *p)
{
    p->slow++;
    cover_too_slow(&p->cover, &p->now);
    p->half = p->now;
    p->half.count = (p->half.count + 1) / 2;
}

/* Runs the children until no pair is left. Returns how many rows failed. */
static uint64_t run_children(struct pairs *p)
{
    uint64_t failures = 0;
    while (failures < CHILD_FAILURES_MAX) {
        const enum child_end how = child_run(work, p);
        if (how == CHILD_DONE) break;
        if (how == CHILD_HANGS && p->now.count > 2) {
            halve_slow_row(p);
            continue;
        }
        blame(p, how);
        failures++;
    }
    return failures;
}

/* Tried by itself, on the first of the machines. */
static bool is_slow(const struct pairs *p, uint32_t value, uint64_t plain_cycles)
{
    if (p->values->list.data[value].is_large) return true;
    const struct row settings = settings_of(p, &(struct cover_row){.count = 1, .values = {(uint16_t)value}});
    return row_cycles(&settings) > SLOW * plain_cycles;
}

static void find_slow(void *ctx)
{
    struct pairs *p = ctx;
    const struct row plain = settings_of(p, &(struct cover_row){0});
    const uint64_t cycles = row_cycles(&plain);
    for (uint32_t i = 0; i < p->values->list.len; i++)
        if (is_slow(p, i, cycles)) cover_set_slow(&p->cover, i);
}

uint64_t pairs_run(const struct values *v, const char *const *machines, uint32_t machine_count, uint64_t seed,
                   uint64_t rows_max)
{
    struct pairs *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(p != MAP_FAILED);
    p->values = v;
    p->machines = machines;
    p->rows_max = rows_max;
    p->shown = time(NULL);
    cover_init(&p->cover, machine_count, seed);
    for (size_t i = 0; i < v->list.len; i++)
        cover_add_value(&p->cover, (uint16_t)v->list.data[i].param, v->list.data[i].hides);
    const uint64_t pairs = cover_left(&p->cover);
    uint64_t failures = 0;
    if (child_run(find_slow, p) == CHILD_DONE)
        failures = run_children(p);
    else
        failures = 1;
    printf(
        "pairs: %llu of %llu left; %llu rows, %llu of them of two values, %llu too slow: %llu machines run, "
        "%llu are refused, %llu refuse the launch, %llu fail\n",
        (unsigned long long)cover_left(&p->cover), (unsigned long long)pairs, (unsigned long long)p->rows,
        (unsigned long long)p->alone, (unsigned long long)p->slow, (unsigned long long)p->verdicts[RUNS],
        (unsigned long long)p->verdicts[REFUSED], (unsigned long long)p->verdicts[LAUNCH_REFUSED],
        (unsigned long long)failures);
    munmap(p, sizeof *p);
    return failures;
}
