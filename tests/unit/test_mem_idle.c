/* test_mem_idle.c: an L2 slice and its DRAM channel on an otherwise idle machine, on their own clocks: what a
 * miss takes longer than a hit. The thesis (2.2.2) gives 100 core cycles, APRES (Table III) 240. The time
 * must be the same for an open row, a closed row and a conflict, and at every phase between the clocks: a
 * pointer chase must show exactly this number. */
#include "core/machine.h"
#include "mem/dram.h"
#include "mem/l2.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SLICES_MAX = 64 };

/* slice 0, channel 0 */
struct pair {
    struct machine machine;
    struct clock_domain core, l2_clock, dram_clock;
    struct addrmap *map;
    struct req_pool pool;
    struct link in, out, to_dram, from_dram, unused;
    struct l2_slice *slice;
    struct dram_channel *channel;
    tick now;
};

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

static void pair_clocks(struct pair *p)
{
    const uint32_t khz[] = {p->machine.core_clock_khz, p->machine.l2_clock_khz, p->machine.dram_clock_khz};
    struct clock_domain *const clocks[] = {&p->core, &p->l2_clock, &p->dram_clock};
    uint64_t all = 1;
    for (int i = 0; i < 3; i++) all = all / gcd(all, khz[i]) * khz[i];
    for (int i = 0; i < 3; i++) *clocks[i] = clock_domain_of((uint32_t)(all / khz[i]));
}

static void pair_init(struct pair *p, const char *machine)
{
    struct diag_list diags = {0};
    memset(p, 0, sizeof *p);
    assert_true(machine_load(machine, NULL, 0, &p->machine, &diags));
    pair_clocks(p);
    p->map = addrmap_create(&p->machine.addrmap, &diags);
    assert_non_null(p->map);
    req_pool_init(&p->pool, 64);
    link_init(&p->in, "in", 8, p->l2_clock.period, NULL, NULL);
    link_init(&p->out, "out", 8, p->l2_clock.period, NULL, NULL);
    link_init(&p->to_dram, "to DRAM", 8, p->l2_clock.period, NULL, NULL);
    link_init(&p->from_dram, "from DRAM", 8, p->dram_clock.period, NULL, NULL);
    link_init(&p->unused, "unused", 1, 1, NULL, NULL);
    struct link *to[SLICES_MAX], *from[SLICES_MAX];
    for (uint32_t i = 0; i < SLICES_MAX; i++) to[i] = from[i] = &p->unused;
    to[0] = &p->to_dram;
    from[0] = &p->from_dram;
    p->slice = l2_create(&p->machine.l2, 0, &p->l2_clock, &p->core, &p->pool, &p->in, &p->out, &p->to_dram,
                         &p->from_dram);
    l2_use_map(p->slice, addrmap_slice_addr, p->map);
    p->channel = dram_create(&p->machine.dram, 0, p->map, &p->dram_clock, &p->core, &p->pool, to, from,
                             p->machine.addrmap.slices);
    diag_free(&diags);
}

static void pair_free(struct pair *p)
{
    l2_destroy(p->slice);
    dram_destroy(p->channel);
    addrmap_destroy(p->map);
    link_free(&p->in);
    link_free(&p->out);
    link_free(&p->to_dram);
    link_free(&p->from_dram);
    link_free(&p->unused);
    req_pool_free(&p->pool);
}

/* One read of a line, alone; ticks from its push to its reply. */
static tick pair_read(struct pair *p, uint64_t addr)
{
    const struct req r = {.addr = addr, .sectors = 0xf, .kind = REQ_READ};
    tick start = p->now;
    uint32_t id;
    link_push(&p->in, start, req_new(&p->pool, &r));
    for (;; p->now++) {
        if (p->now % p->l2_clock.period == 0) l2_tick(p->slice, p->now);
        if (p->now % p->dram_clock.period == 0) dram_tick(p->channel, p->now);
        if (p->now % p->l2_clock.period == 0 && link_peek(&p->out, p->now, &id)) break;
    }
    link_pop(&p->out, p->now);
    req_del(&p->pool, id);
    return p->now - start;
}

static void check_miss(const char *machine, uint32_t more)
{
    enum { READS = 600, LINES = 1 << 18 };
    struct pair p;
    pair_init(&p, machine);
    struct rng rng = {1};
    tick hit = 0;
    for (uint32_t i = 0; i < READS; i++) {
        uint64_t line =
            rng_below(&rng, 4) ? i * 7919 % LINES : i % LINES; /* any row, or near the one before */
        uint64_t addr = p.machine.addrmap.base + line * 128;
        if (addrmap_place(p.map, addr).slice != 0) continue;
        uint64_t before = ((struct l2_stats *)l2_stats(p.slice))->all.misses;
        tick first = pair_read(&p, addr);
        bool missed = ((struct l2_stats *)l2_stats(p.slice))->all.misses > before;
        p.now += p.l2_clock.period * (1 + rng_below(&rng, 40)); /* another phase */
        tick again = pair_read(&p, addr);
        p.now += p.l2_clock.period * (1 + rng_below(&rng, 40));
        if (!hit) hit = again;
        assert_int_equal(again, hit);
        assert_int_equal(first, missed ? hit + more * p.core.period : hit);
    }
    assert_true(((struct dram_stats *)dram_stats(p.channel))->row_hits > 0);
    assert_true(((struct dram_stats *)dram_stats(p.channel))->precharges > 0);
    pair_free(&p);
}

static void miss_on_fermi_takes_100_core_cycles_more_than_a_hit(void **state) { check_miss("fermi", 100); }
static void miss_on_fermi_apres_takes_240_core_cycles_more_than_a_hit(void **state)
{
    check_miss("fermi-apres", 240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miss_on_fermi_takes_100_core_cycles_more_than_a_hit),
        cmocka_unit_test(miss_on_fermi_apres_takes_240_core_cycles_more_than_a_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
