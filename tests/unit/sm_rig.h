/* sm_rig.h: for the tests of the SM: one SM with the real emulator and L1 over a mock memory, which takes one
 * request a cycle and answers each after exactly `latency` cycles. Programs are built with emu_kit.h. */
#ifndef HEDDLE_SM_RIG_H
#define HEDDLE_SM_RIG_H

#include "emu_kit.h"

#include "core/machine.h"
#include "core/sm/sm.h"
#include "core/sm/uop_table.h"

enum { RIG_PERIOD = 2, RIG_REPLIES = 4096, RIG_CYCLES_MAX = 3000000 };

struct rig {
    struct kit kit;
    struct machine machine;
    struct clock_domain clock;
    struct req_pool pool;
    struct link to, from;
    tick memory_wake;
    struct mech_set *mechs;
    struct mech_gpu *mech_gpu;
    struct uop_tables *uops;
    struct sm *sm;
    tick now;
    /* cycles */
    uint32_t latency;
    bool no_skip;
    /* ring, in order of due */
    struct {
        uint32_t req;
        tick due;
    } replies[RIG_REPLIES];
    uint32_t reply_head, reply_count;
    uint64_t requests[REQ_CLASS_COUNT], kinds[3];
    struct emu_fault fault;
    uint64_t ctas_done, ticks;
    /* of the launches */
    uint32_t shared_wish;
    /* the scheduling policy; NULL: the default */
    const char *policy;
    /* sm_setup */
    bool contexts_from_top, bank_by_scheduler;
};

/* As the loop of the GPU does it: a CTA comes after the cycle of its SM. */
static inline bool rig_start_cta(struct sm *m, tick now, struct emu_grid *g, uint64_t linear)
{
    sm_tick(m, now);
    return sm_start_cta(m, now, g, linear, 0);
}

static inline void rig_cta_done(void *ctx, uint32_t sm, struct cta *cta, struct emu_grid *grid)
{
    (void)sm, (void)cta, (void)grid;
    ((struct rig *)ctx)->ctas_done++;
}

static inline void rig_open(struct rig *r)
{
    memset(r, 0, sizeof *r);
    kit_open(&r->kit);
    params_set_defaults(machine_groups, &r->machine);
    r->machine.sm.perfect_icache = true;
    r->machine.core_clock_khz = 1000000;
    r->clock = clock_domain_of(RIG_PERIOD);
    r->latency = 100;
}

/* After the parameters are set. */
static inline void rig_make(struct rig *r)
{
    struct diag_list diags = {0};
    req_pool_init(&r->pool, 8192);
    r->mechs = mech_set_create_for(r->policy, NULL, 0, NULL, 0, &diags);
    assert_non_null(r->mechs);
    r->mech_gpu = mech_gpu_create(r->mechs, 1);
    r->uops = uop_tables_create(&r->machine.sm);
    struct sm_setup s = {.machine = &r->machine,
                         .params = &r->machine.sm,
                         .l1 = &r->machine.l1,
                         .sm_count = 1,
                         .clock = &r->clock,
                         .pool = &r->pool,
                         .uops = r->uops,
                         .to_xbar = &r->to,
                         .from_xbar = &r->from,
                         .mechs = r->mechs,
                         .mech_gpu = r->mech_gpu,
                         .on_cta_done = rig_cta_done,
                         .ctx = r,
                         .contexts_from_top = r->contexts_from_top,
                         .bank_by_scheduler = r->bank_by_scheduler};
    r->sm = sm_create(&s);
    link_init(&r->to, "to", 2, RIG_PERIOD, sm_wake(r->sm), &r->memory_wake);
    link_init(&r->from, "from", 8, RIG_PERIOD, &r->memory_wake, sm_wake(r->sm));
}

static inline void rig_ready(struct rig *r) /* an SM as it comes */
{
    rig_open(r);
    rig_make(r);
}

static inline void rig_close(struct rig *r)
{
    sm_destroy(r->sm);
    uop_tables_destroy(r->uops);
    mech_gpu_destroy(r->mech_gpu);
    mech_set_destroy(r->mechs);
    link_free(&r->to);
    link_free(&r->from);
    req_pool_free(&r->pool);
    kit_close(&r->kit);
}

static inline struct sm_stats *rig_stats(struct rig *r) { return sm_stats(r->sm); }

/* The memory is a mock that looks every cycle; it is the SM's sleep that is tested. */
static inline void rig_memory(struct rig *r)
{
    uint32_t id;
    if (link_peek(&r->to, r->now, &id)) {
        link_pop(&r->to, r->now);
        const struct req *q = req_at(&r->pool, id);
        r->requests[q->cls]++;
        r->kinds[q->kind]++;
        assert_true(r->reply_count < RIG_REPLIES);
        uint32_t at = (r->reply_head + r->reply_count++) % RIG_REPLIES;
        r->replies[at].req = id;
        r->replies[at].due = r->now + (tick)r->latency * RIG_PERIOD;
    }
    if (!r->reply_count || r->replies[r->reply_head].due > r->now || !link_can_push(&r->from, r->now)) return;
    id = r->replies[r->reply_head].req;
    if (req_at(&r->pool, id)->kind == REQ_ATOMIC) sm_apply_atomic(r->sm, req_at(&r->pool, id));
    link_push(&r->from, r->now, id);
    r->reply_head = (r->reply_head + 1) % RIG_REPLIES;
    r->reply_count--;
}

static inline void rig_cycle(struct rig *r)
{
    if (r->no_skip || *sm_wake(r->sm) <= r->now) {
        sm_tick(r->sm, r->now);
        r->ticks++;
    }
    rig_memory(r);
    r->now += RIG_PERIOD;
}

/* An open grid of the program that was built. */
static inline struct emu_grid *rig_grid(struct rig *r, uint32_t grid, uint32_t block)
{
    if (!r->kit.module) kit_load(&r->kit);
    struct emu_launch l = {.module = r->kit.module,
                           .kernel = emu_find_kernel(r->kit.module, "k"),
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .params = r->kit.params,
                           .shared_wish = r->shared_wish};
    struct emu_grid *g = emu_grid_open(r->kit.device, &l, &r->fault);
    if (!g) fail_msg("%s", r->fault.message);
    return g;
}

/* Runs a grid to its end; the answer is the number of cycles from the start of the first CTA. */
static inline uint64_t rig_run(struct rig *r, uint32_t grid, uint32_t block)
{
    struct emu_grid *g = rig_grid(r, grid, block);
    uint64_t next = 0, done = r->ctas_done;
    tick start = r->now, end = 0;
    while (r->ctas_done - done < grid || !sm_idle(r->sm)) {
        if (next < grid && sm_fits(r->sm, g)) assert_true(rig_start_cta(r->sm, r->now, g, next++));
        rig_cycle(r);
        if (sm_faulted(r->sm)) fail_msg("%s", r->fault.message);
        if (!end && r->ctas_done - done == grid) end = r->now;
        if (r->now - start > (tick)RIG_CYCLES_MAX * RIG_PERIOD) {
            struct strbuf text = {0};
            sm_explain(r->sm, r->now, &text);
            fail_msg("stuck:\n%s", strbuf_text(&text));
        }
    }
    sm_settle(r->sm, r->now);
    struct sm_stats *s = rig_stats(r);
    uint64_t sum = 0;
    for (int i = 0; i < SLOT_COUNT; i++) sum += s->slots[i];
    assert_int_equal(sum, (uint64_t)r->machine.sm.schedulers * s->cycles);
    assert_int_equal(s->slots_all, sum);
    assert_int_equal(s->cycles, r->now / RIG_PERIOD + 1); /* settled in the cycle that is now */
    assert_int_equal(r->pool.live, 0);
    emu_grid_close(g, NULL);
    return (end - start) / RIG_PERIOD;
}

#endif
