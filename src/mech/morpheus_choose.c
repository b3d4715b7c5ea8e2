/* morpheus_choose.c: how many SMs are in cache mode, chosen while a program runs. The paper fixes the number
 * for each program before it runs and leaves learning it to future work (footnote 8).
 *
 * Observed, of each launch that is alone on the machine: its kernel, core cycles, warp instructions of the
 * program, and for how long DRAM had data on its bus. A GPU has counters for these.
 *
 * Decided: by hill climbing. A number of SMs is on *trial* until the kernel that has taken most time so far
 * has been measured. The first launch of a kernel in a trial finds an extended LLC that is empty, and is not
 * measured. Trial and best number are compared kernel by kernel: the time that the launches of the best one
 * would have taken with the cycles per instruction of the trial. So launches of different length, and kernels
 * that alternate, are compared with the same kernel. A trial that is faster by a margin becomes the best, and
 * the search goes on in its direction; where both sides of the best are worse the step is halved, and below
 * the smallest step the search stops, for good. Where no kernel was measured with both, the program has
 * changed its kernels: the best number is tried again with the new ones. Where DRAM is mostly idle, more
 * cache can save little: no larger number is tried.
 *
 * Costs. A table of kernels, read and written once for each launch. Each trial is a change of roles, which
 * writes all dirty blocks to DRAM and leaves the extended LLC empty (core/roles.h), and at least two launches
 * of the leading kernel, one of which is not measured. So programs that launch a kernel a few times gain
 * nothing; roles do not change within a launch.
 *
 * Limits. A kernel whose launches differ in cycles per instruction for reasons of their own misleads the
 * search, and so does a program that changes its behaviour after the search has stopped. */
#include "mech/morpheus_choose.h"

#include "mech/morpheus_state.h"

__extension__ typedef unsigned __int128 wide;

/* ---- kernels ---- */

/* Where the table is full the kernel that has taken least time makes room. */
static struct choose_kernel *find_kernel(struct choose *c, uint64_t kernel)
{
    struct choose_kernel *least = &c->kernels[0];
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        if (c->kernels[i].kernel == kernel) return &c->kernels[i];
        if (c->kernels[i].cycles < least->cycles) least = &c->kernels[i];
    }
    if (c->kernel_count < CHOOSE_KERNELS) least = &c->kernels[c->kernel_count++];
    *least = (struct choose_kernel){.kernel = kernel};
    return least;
}

static void measure(struct choose *c, const struct mech_grid_run *ran)
{
    struct choose_kernel *k = find_kernel(c, ran->kernel);
    k->cycles += ran->cycles;
    if (k->launches++ == 0 || !ran->warp_insts) return;
    k->trial.cycles += ran->cycles;
    k->trial.insts += ran->warp_insts;
    c->dram_cycles += ran->dram_cycles;
    c->dram_busy += ran->dram_busy;
}

static const struct choose_kernel *leader_of(const struct choose *c)
{
    const struct choose_kernel *leader = &c->kernels[0];
    for (uint32_t i = 1; i < c->kernel_count; i++)
        if (c->kernels[i].cycles > leader->cycles) leader = &c->kernels[i];
    return leader;
}

static bool trial_is_over(const struct choose *c)
{
    if (leader_of(c)->trial.insts) return true;
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].launches >= CHOOSE_LAUNCHES_MAX) return true;
    return false;
}

/* ---- trials ---- */

/* Was a kernel measured with both numbers? */
static bool is_comparable(const struct choose *c)
{
    bool is = false;
    for (uint32_t i = 0; i < c->kernel_count; i++)
        is |= c->kernels[i].trial.insts && c->kernels[i].best.insts;
    return is;
}

/* Compares the kernels that were measured with both numbers. */
static bool trial_is_better(const struct choose *c, const struct morpheus_params *p)
{
    wide best = 0, trial = 0;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const struct choose_kernel *k = &c->kernels[i];
        if (!k->trial.insts || !k->best.insts) continue;
        best += k->best.cycles;
        trial += (wide)k->trial.cycles * k->best.insts / k->trial.insts;
    }
    return trial * (100 + p->margin) < best * 100;
}

static void begin_trial(struct choose *c, uint32_t sms)
{
    c->trial = sms;
    c->dram_cycles = c->dram_busy = 0;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        c->kernels[i].launches = 0;
        c->kernels[i].trial = (struct choose_pace){0};
    }
}

/* The side that the search came from was worse. */
static void keep_trial(struct choose *c)
{
    c->sides_worse = c->has_best;
    c->has_best = true;
    c->best = c->trial;
    c->best_dram_cycles = c->dram_cycles;
    c->best_dram_busy = c->dram_busy;
    for (uint32_t i = 0; i < c->kernel_count; i++) c->kernels[i].best = c->kernels[i].trial;
}

/* The trial becomes the best, and the number that was best before comes next. */
static void turn_back(struct choose *c)
{
    const uint32_t before = c->best;
    keep_trial(c);
    c->sides_worse = 0;
    c->is_down = before < c->best;
    begin_trial(c, before);
}

static void note_worse_side(struct choose *c)
{
    c->is_down = !c->is_down;
    if (++c->sides_worse < 2) return;
    c->sides_worse = 0;
    c->step /= 2;
}

static bool dram_is_low(const struct choose *c, const struct morpheus_params *p)
{
    return c->best_dram_busy * 100 < c->best_dram_cycles * p->dram_low;
}

/* The number on the side that comes next; the best one: that side cannot be better. */
static uint32_t next_number(const struct choose *c, const struct morpheus_params *p)
{
    if (c->is_down) return c->best > c->step ? c->best - c->step : 0;
    if (dram_is_low(c, p)) return c->best;
    return c->best + c->step < p->cache_sms ? c->best + c->step : p->cache_sms;
}

static void begin_next_trial(struct choose *c, const struct morpheus_params *p)
{
    while (c->step >= p->step_min) {
        const uint32_t next = next_number(c, p);
        if (next != c->best) {
            begin_trial(c, next);
            return;
        }
        note_worse_side(c);
    }
    c->has_stopped = true;
    c->trial = c->best;
}

static void decide(struct choose *c, const struct morpheus_params *p)
{
    if (c->has_best && !is_comparable(c)) {
        turn_back(c);
        return;
    }
    if (!c->has_best || trial_is_better(c, p))
        keep_trial(c);
    else
        note_worse_side(c);
    begin_next_trial(c, p);
}

/* ---- the hook ---- */

/* A launch that ran with other roles is not part of the trial: overlapping kernels can delay a change of
 * roles. */
uint32_t choose_sms(void *choice, const void *params, const struct mech_grid_run *ran)
{
    struct choose *c = choice;
    const struct morpheus_params *p = params;
    if (p->choose == CHOOSE_FIXED) return p->cache_sms;
    if (!ran) {
        c->step = p->step;
        begin_trial(c, p->start);
    } else if (!c->has_stopped && ran->cache_sms == c->trial) {
        measure(c, ran);
        if (trial_is_over(c)) decide(c, p);
    }
    return c->trial;
}

const char *choose_refuses(const struct morpheus_params *p)
{
    if (p->choose == CHOOSE_FIXED) return NULL;
    if (!p->cache_sms) return "morpheus.choose=online needs morpheus.cache_sms, the most SMs in cache mode";
    if (p->start > p->cache_sms)
        return "morpheus.start is more than morpheus.cache_sms, the most SMs in cache mode";
    if (p->step_min > p->step) return "morpheus.step_min is more than morpheus.step";
    return NULL;
}

void choose_cost(const struct morpheus_params *p, struct mech_cost *cost)
{
    if (p->choose != CHOOSE_ONLINE) return;
    mech_cost_add(cost, MECH_WHOLE_GPU, "kernels", CHOOSE_KERNELS, 8 * sizeof(struct choose_kernel),
                  "kernels of the program, their time and their paces");
}
