/* test_params.c: values of machine parameters at their bounds. Whatever a machine's parameters are within
 * their bounds, the machine is refused with a reason, or a kernel that uses every part runs to its end with
 * the right results and no law broken: no crash, no assert, no hang.
 *
 *   test_params               every parameter at each of its bounds by itself, and random rows: several
 *                             parameters at random bounds
 *   test_params SEED ROWS     as many random rows of another seed
 *   test_params pairs [SEED [ROWS]]        every pair of parameters at every pair of bounds, many in a row;
 *                             with another seed in other rows; ROWS rows of them
 *   test_params try MACHINE KEY=VALUE...   one machine, and what becomes of it */
#include "base/base.h"
#include "base/rng.h"
#include "property/params_child.h"
#include "property/params_pairs.h"
#include "property/params_row.h"
#include "sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    /* of the ordinary test, with several parameters each */
    ROWS = IS_SANITIZED ? 40 : 120,
    /* of a random row */
    ROW_PARAMS = 3,
    /* of processor time: a row that takes longer hangs */
    ROW_SECONDS = 60
};

/* Rows take turns on these. */
static const char *const machines[] = {"fermi", "rtx3080", "gtx480-peer", "maxwell"};

static struct values values;

/* ---- plans: the row of a number ---- */

struct plan {
    void (*make)(const struct plan *p, uint64_t i, struct row *out);
    uint64_t end;
    uint64_t seed;
};

static void make_single(const struct plan *p, uint64_t i, struct row *out)
{
    row_begin(out, machines[i % ARRAY_LEN(machines)]);
    row_add(out, values.list.data[i].text);
}

static void make_random(const struct plan *p, uint64_t i, struct row *out)
{
    struct rng r = {p->seed * 1000003 + i};
    row_begin(out, machines[i % ARRAY_LEN(machines)]);
    for (uint32_t k = 0; k < ROW_PARAMS; k++)
        row_add(out, values.list.data[rng_below(&r, values.list.len)].text);
}

/* Shared between the parent and its child. */
struct progress {
    const struct plan *plan;
    /* the row that is running */
    uint64_t next;
    uint64_t verdicts[WRONG + 1];
};

static void run_rows(void *ctx)
{
    struct progress *at = ctx;
    for (; at->next < at->plan->end; at->next++) {
        struct row r;
        at->plan->make(at->plan, at->next, &r);
        child_begin_row(ROW_SECONDS);
        const enum verdict v = row_run(&r, false);
        at->verdicts[v]++;
        if (v == WRONG) _exit(1);
    }
}

/* Runs rows until the plan ends; a new child goes on behind a row that failed. Returns how many did. */
static uint64_t run_plan(const struct plan *p, const char *name)
{
    struct progress *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(at != MAP_FAILED);
    at->plan = p;
    uint64_t failures = 0;
    for (enum child_end how; failures < CHILD_FAILURES_MAX && (how = child_run(run_rows, at)) != CHILD_DONE;
         failures++) {
        struct row r;
        p->make(p, at->next++, &r);
        fprintf(stderr, "^ %s: ", child_end_name(how));
        row_show(&r);
    }
    printf("%s: %llu machines run, %llu are refused, %llu refuse the launch, %llu fail\n", name,
           (unsigned long long)at->verdicts[RUNS], (unsigned long long)at->verdicts[REFUSED],
           (unsigned long long)at->verdicts[LAUNCH_REFUSED], (unsigned long long)failures);
    munmap(at, sizeof *at);
    return failures;
}

static int try_row(const char *machine, int count, char **sets)
{
    static const char *const names[] = {"runs", "refused", "launch refused", "wrong"};
    struct row r;
    row_begin(&r, machine);
    for (int i = 0; i < count; i++) row_add(&r, sets[i]);
    const enum verdict v = row_run(&r, true);
    printf("%s\n", names[v]);
    return v == WRONG;
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    if (argc > 2 && !strcmp(argv[1], "try")) return try_row(argv[2], argc - 3, argv + 3);
    values_find(&values);
    uint64_t failures = 0;
    if (argc > 1 && !strcmp(argv[1], "pairs")) {
        failures = pairs_run(&values, machines, ARRAY_LEN(machines), number(argc, argv, 2, 1),
                             number(argc, argv, 3, UINT64_MAX));
    } else {
        if (argc <= 1) failures += run_plan(&(struct plan){make_single, values.list.len, 0}, "one parameter");
        failures += run_plan(
            &(struct plan){make_random, number(argc, argv, 2, ROWS), number(argc, argv, 1, 1)}, "several");
    }
    vec_free(&values.list);
    return failures != 0;
}
