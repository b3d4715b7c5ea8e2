/* memory_first.c: a warp scheduler of one's own, built outside of Heddle: among the ready warps, those whose
 * next instruction goes to memory come first (MASCAR's equal-priority mode, Sethia et al., HPCA'15: feed the
 * memory system early); among equals, the oldest.
 *
 *     make && heddle kernel ../saxpy.ptx saxpy --grid 64 --block 256 --arg f32=2 --arg buf:f32[16K]=rand \
 *         --arg buf:f32[16K] --arg s32=16384 --mech ./memory-first.so --mech-set memory-first.run=4
 *
 * (1) The pick is always a bit of view->ready. (2) After `run` memory instructions in a row, one of another
 * kind gets its turn, so that address arithmetic, too, moves on. */
#include <heddle/mechanism.h>

struct memory_first_params {
    uint32_t run;
};

struct memory_first {
    const struct memory_first_params *params;
    uint32_t in_a_row[MECH_SCHEDULERS_MAX];
    uint64_t memory_picks, other_picks;
};

static const struct param_row memory_first_params[] = {
    PARAM_NUMBER(memory_first_params, run, "memory-first.run", "picks", "8", 1, 1000000,
                 "memory instructions in a row before another kind gets a turn"),
    {0},
};

static const struct stat_row memory_first_stats[] = {
    STAT_COUNT(memory_first, memory_picks, "memory-first.memory_picks", "picks",
               "picks of a memory instruction", NULL),
    STAT_COUNT(memory_first, other_picks, "memory-first.other_picks", "picks",
               "picks of any other instruction", NULL),
    {0},
};

static void memory_first_init(void *state, void *gpu_state, const void *params,
                              const struct mech_ports *ports)
{
    struct memory_first *s = state;
    s->params = params;
}

/* The bit of the warp that was launched first; warps is not empty. */
static int oldest(uint64_t warps, const uint64_t *age)
{
    int best = __builtin_ctzll(warps);
    for (uint64_t rest = warps & (warps - 1); rest; rest &= rest - 1)
        if (age[__builtin_ctzll(rest)] < age[best]) best = __builtin_ctzll(rest);
    return best;
}

static int memory_first_pick(void *state, const struct mech_sched_view *view)
{
    struct memory_first *s = state;
    uint32_t *in_a_row = &s->in_a_row[view->scheduler];
    uint64_t memory = view->ready & view->memory_next, other = view->ready & ~view->memory_next;
    if (memory && (!other || *in_a_row < s->params->run)) {
        ++*in_a_row;
        s->memory_picks++;
        return oldest(memory, view->age);
    }
    *in_a_row = 0;
    s->other_picks++;
    return oldest(other, view->age);
}

HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "memory-first",
    .summary = "warps with a memory instruction next come first, then the oldest",
    .paper = "after MASCAR's equal-priority mode, HPCA'15",
    .params = memory_first_params,
    .param_bytes = sizeof(struct memory_first_params),
    .stats = memory_first_stats,
    .state_bytes = sizeof(struct memory_first),
    .init = memory_first_init,
    .pick = memory_first_pick,
};
