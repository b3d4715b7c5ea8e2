/* gate.c: a mechanism for test_gpu_timer.c, with a state for the whole GPU and a timer that works on it.
 *
 * Each SM counts its L1 accesses in its own entry. The timer of the GPU sums the entries and decides which
 * warps may issue memory instructions until its next call; each SM reads the decision in its own timer,
 * which has the same period. So a timer of the GPU that came early or late, or an SM that ran past it,
 * would change the run. */
#include "gate.h"

#include "heddle/mechanism.h"

struct gate {
    struct gate_gpu *gpu;
    const struct mech_ports *ports;
    uint64_t decision, changes, missed;
};

static const struct stat_row gate_stats[] = {
    STAT_COUNT(gate, changes, GATE_NAME ".changes", "times", "decisions that differ from the last", NULL),
    STAT_COUNT(gate, missed, GATE_NAME ".missed", "times", "an SM came to a cycle before the GPU's timer",
               NULL),
    {0},
};

static void gate_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct gate *g = state;
    g->gpu = gpu_state;
    g->ports = ports;
}

/* Reads the GPU's decision. A timer of an SM without warps is called later. */
static void gate_on_timer(void *state, uint64_t cycle)
{
    struct gate *g = state;
    if (g->gpu->last_cycle < cycle) g->missed++;
    if (g->decision == g->gpu->decision) return;
    g->decision = g->gpu->decision;
    g->changes++;
    g->ports->allow_memory(g->ports->host, 0, ~(g->decision << 1));
}

static void gate_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct gate *g = state;
    g->gpu->accesses[g->ports->sm % GATE_SMS_MAX]++;
}

#if GATE_PERIOD > 0
/* A different decision each time, so that no warp is held up for long. */
static void gate_on_gpu_timer(void *gpu_state, uint64_t cycle)
{
    struct gate_gpu *g = gpu_state;
    uint64_t total = ++g->calls;
    for (int i = 0; i < GATE_SMS_MAX; i++) total += g->accesses[i];
    g->decision = total * 2654435761u >> 13 & 7;
    g->last_cycle = cycle;
}
#endif

HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = GATE_NAME,
    .summary = "gates memory instructions by what all SMs did",
    .paper = "",
    .stats = gate_stats,
    .state_bytes = sizeof(struct gate),
    .gpu_state_bytes = sizeof(struct gate_gpu),
    .timer_cycles = GATE_PERIOD,
    .init = gate_init,
    .on_l1_access = gate_on_l1_access,
    .on_timer = gate_on_timer,
#if GATE_PERIOD > 0
    .gpu_timer_cycles = GATE_PERIOD,
    .on_gpu_timer = gate_on_gpu_timer,
#endif
};
