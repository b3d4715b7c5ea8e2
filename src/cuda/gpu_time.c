/* gpu_time.c: simulated time, as events see it.
 *
 * In a functional run it is computed from what was executed, never from the host's clock, so that two runs
 * agree: a kernel takes one core cycle for each warp instruction of the busiest SM if CTAs were dealt out
 * evenly (warp instructions / SMs), and a copy one nanosecond for 16 bytes. It orders events and gives
 * elapsed times a plausible size. In a timed run kernels take the time that the machine took. */
#include "cuda/gpu_impl.h"

enum { COPY_BYTES_PER_NS = 16 };

uint64_t gpu_functional_ns(const struct machine *m, const struct emu_stats *s)
{
    uint64_t cycles = (s->warp_insts + m->sm_count - 1) / m->sm_count;
    return cycles / m->core_clock_khz * 1000000u + cycles % m->core_clock_khz * 1000000u / m->core_clock_khz;
}

uint64_t gpu_copies_ns(const struct gpu *g)
{
    return g->timed && g->machine.copy.timed ? 0 : g->stats.copied_bytes / COPY_BYTES_PER_NS;
}

uint64_t gpu_now_ns(const struct gpu *g)
{
    return (g->timed ? timed_now_ns(g->timed) : g->stats.sim_ns) + gpu_copies_ns(g);
}
