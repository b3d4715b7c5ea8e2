/* gpu_clock.c: periods from frequencies, and what gpu_clock.h does rarely. */
#include "core/gpu_clock.h"

static uint64_t gcd_u64(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The least common multiple, or 0 when it does not fit 64 bits. */
static uint64_t lcm_u64(uint64_t a, uint64_t b)
{
    uint64_t out;
    return __builtin_mul_overflow(a / gcd_u64(a, b), b, &out) ? 0 : out;
}

bool gpu_clock_init(struct gpu_clock *c, const uint32_t khz[DOMAIN_COUNT], struct diag_list *diags)
{
    uint64_t lcm = 1;
    for (int d = 0; d < DOMAIN_COUNT && lcm; d++) lcm = lcm_u64(lcm, khz[d]);
    for (int d = 0; d < DOMAIN_COUNT && lcm; d++)
        if (lcm / khz[d] > UINT32_MAX) lcm = 0;
    if (!lcm) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "round the clocks to MHz: 924000 rather than 923997",
                 "the clocks %u, %u, %u and %u kHz have no common tick of 32 bits", khz[0], khz[1], khz[2],
                 khz[3]);
        return false;
    }
    for (int d = 0; d < DOMAIN_COUNT; d++) c->domains[d] = clock_domain_of((uint32_t)(lcm / khz[d]));
    c->ticks_per_ms = lcm;
    return true;
}

/* Ticks of an hour times a million pass 64 bits. */
__extension__ typedef unsigned __int128 wide;

uint64_t gpu_clock_ns(const struct gpu_clock *c, tick t)
{
    return t / c->ticks_per_ms * 1000000u +
           (uint64_t)((wide)(t % c->ticks_per_ms) * 1000000u / c->ticks_per_ms);
}

tick gpu_clock_ticks(const struct gpu_clock *c, uint64_t ns)
{
    wide scaled = (wide)ns * c->ticks_per_ms;
    return (tick)((scaled + 999999u) / 1000000u);
}

void core_clock_init(struct core_clock *c, uint32_t period, uint32_t khz)
{
    *c = (struct core_clock){
        .period = period, .khz = khz, .ns_step = 1000000u / khz, .rest_step = 1000000u % khz};
}

void core_clock_jump(struct core_clock *c)
{
    c->cycle = c->time / c->period;
    c->ns = c->cycle * 1000000u / c->khz;
    c->rest = (uint32_t)(c->cycle * 1000000u % c->khz);
}

void gpu_time_init(struct gpu_time *t, const struct gpu_clock *clock)
{
    *t = (struct gpu_time){.clock = *clock};
    for (int d = 0; d < DOMAIN_COUNT; d++) {
        t->next[d] = clock->domains[d].period;
        t->is_edge[d] = true;
    }
    const uint32_t period = clock->domains[DOMAIN_CORE].period;
    core_clock_init(&t->core, period, (uint32_t)(clock->ticks_per_ms / period));
}

COLD void gpu_time_leap(struct gpu_time *t, enum gpu_domain d)
{
    t->is_edge[d] = t->now % t->clock.domains[d].period == 0;
    t->next[d] = clock_edge(&t->clock.domains[d], t->now + 1);
}
