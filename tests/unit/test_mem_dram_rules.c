/* test_mem_dram_rules.c: every command that a channel gives keeps every timing rule, judged by a referee
 * that has the rules as a table of its own (dram_referee.h), under random traffic, for both schedulers and
 * with ranks. And each rule matters: a channel that lacks it is found out. */
#include "dram_kit.h"

#include "../sanitized.h"
#include "dram_referee.h"

enum { LOG_MAX = 60000, REQUESTS = IS_SANITIZED ? 1000 : 3000 };

struct log {
    struct command at[LOG_MAX];
    uint32_t count;
};

static void log_command(void *ctx, uint64_t clock, uint32_t bank, enum dram_command command, uint32_t row)
{
    struct log *l = ctx;
    assert_true(l->count < LOG_MAX);
    l->at[l->count++] = (struct command){clock, bank, row, command};
}

/* Values at which no rule is hidden behind another: RC beyond RAS + RP, CCD beyond a burst, RTPL beyond
 * it, FAW beyond four RRD. */
static void stretch(struct dram_params *p)
{
    p->ranks = 2;
    p->tccd = 3, p->tccdl = 5;
    p->trcdwr = 9;
    p->trc = 56;
    p->trtpl = 6;
    p->tfaw = 44;
    p->trtrs = 3;
    p->trefi = 900, p->trfc = 110;
}

/* Mostly reads of a few rows, then mostly writes, and so on; bursts of requests, and pauses in which rows
 * are closed and ranks refreshed. */
static void fill_mixed(struct bench *b, uint64_t seed, uint32_t count)
{
    struct rng rng = {seed};
    uint32_t clock = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rng_below(&rng, 5) == 0) clock += (uint32_t)rng_below(&rng, 40);
        bool writes = i / 50 % 2 ? rng_below(&rng, 4) != 0 : rng_below(&rng, 4) == 0;
        uint64_t addr = address((uint32_t)rng_below(&rng, i / 200 % 3 + 1), (uint32_t)rng_below(&rng, 16),
                                (uint32_t)rng_below(&rng, 32));
        add(b, clock, writes ? REQ_WRITE : REQ_READ, addr, 1 + (uint32_t)rng_below(&rng, 15));
    }
}

/* The channel runs with b->params; the referee judges by `law`. */
static struct referee judge(struct bench *b, const struct dram_params *law)
{
    static struct log log;
    struct referee r;
    log.count = 0;
    b->observer = (struct dram_observer){log_command, &log};
    bench_run(b);
    referee_init(&r, law);
    referee_judge(&r, log.at, log.count);
    assert_true(log.count > b->event_count);
    return r;
}

static void every_rule_is_kept_under_random_traffic(void **state)
{
    for (uint64_t seed = 0; seed < 48; seed++) {
        struct bench b;
        bench_init(&b);
        if (seed % 3) stretch(&b.params);
        b.params.sched = seed & 1 ? DRAM_FCFS : DRAM_FRFCFS;
        b.params.ranks = 1u << seed % 3;
        b.params.group_by = seed >> 1 & 1;
        b.params.dual_bus = seed >> 2 & 1;
        b.params.write_drain = b.params.sched == DRAM_FRFCFS && seed >> 3 & 1;
        fill_mixed(&b, seed, REQUESTS);
        struct referee r = judge(&b, &b.params);
        for (uint32_t rule = 0; rule < RULE_COUNT; rule++) assert_int_equal(r.broken[rule], 0);
        assert_int_equal(b.stats.reads + b.stats.writes, REQUESTS);
        bench_free(&b);
    }
}

/* The parameter as a channel without the rule would have it, and the rule that it then breaks. */
static const struct {
    size_t field;
    uint32_t without;
    enum rule rule;
} faults[] = {
    {offsetof(struct dram_params, tccd), 1, RULE_CCD},
    {offsetof(struct dram_params, tccdl), 1, RULE_CCDL},
    {offsetof(struct dram_params, trrd), 1, RULE_RRD},
    {offsetof(struct dram_params, tfaw), 0, RULE_FAW},
    {offsetof(struct dram_params, trcd), 1, RULE_RCD},
    {offsetof(struct dram_params, trcdwr), 1, RULE_RCDWR},
    {offsetof(struct dram_params, tras), 1, RULE_RAS},
    {offsetof(struct dram_params, trp), 1, RULE_RP},
    {offsetof(struct dram_params, trp), 1, RULE_RP_REFRESH},
    {offsetof(struct dram_params, trc), 1, RULE_RC},
    {offsetof(struct dram_params, tcl), 6, RULE_READ_TO_WRITE},
    {offsetof(struct dram_params, twl), 1, RULE_WRITE_TO_READ},
    {offsetof(struct dram_params, twl), 1, RULE_WRITE_TO_PRECHARGE},
    {offsetof(struct dram_params, tcdlr), 0, RULE_WRITE_TO_READ},
    {offsetof(struct dram_params, twr), 0, RULE_WRITE_TO_PRECHARGE},
    {offsetof(struct dram_params, trtpl), 0, RULE_RTPL},
    {offsetof(struct dram_params, trtrs), 0, RULE_RTRS},
    {offsetof(struct dram_params, trfc), 0, RULE_RFC},
    {offsetof(struct dram_params, burst), 4, RULE_DATA_OVERLAP},
    {offsetof(struct dram_params, burst), 4, RULE_READ_TO_PRECHARGE},
    {offsetof(struct dram_params, ranks), 1, RULE_RTRS},
};

static void a_channel_without_a_rule_is_found_out(void **state)
{
    for (uint32_t i = 0; i < ARRAY_LEN(faults); i++)
        for (uint32_t sched = DRAM_FRFCFS; sched <= DRAM_FCFS; sched++) {
            struct bench b;
            bench_init(&b);
            stretch(&b.params);
            b.params.sched = sched;
            if (faults[i].rule == RULE_DATA_OVERLAP || faults[i].rule == RULE_READ_TO_PRECHARGE)
                b.params.tccd = b.params.tccdl = 1, b.params.trtpl = 0;
            struct dram_params law = b.params;
            *(uint32_t *)((char *)&b.params + faults[i].field) = faults[i].without;
            fill_mixed(&b, 7, REQUESTS);
            struct referee r = judge(&b, &law);
            if (!r.broken[faults[i].rule])
                fail_msg("fault %u, scheduler %u: rule %d was not broken", i, sched, (int)faults[i].rule);
            bench_free(&b);
        }
}

/* Ranks are refreshed one after the other, each once an interval, also under load. */
static void each_rank_is_refreshed_in_every_interval(void **state)
{
    enum { RANKS = 4 };
    static struct log log;
    struct bench b;
    bench_init(&b);
    stretch(&b.params);
    b.params.ranks = RANKS;
    fill_mixed(&b, 3, REQUESTS);
    log.count = 0;
    b.observer = (struct dram_observer){log_command, &log};
    bench_run(&b);
    uint64_t rounds[RANKS] = {0}, refreshes = 0;
    for (uint32_t i = 0; i < log.count; i++) {
        const struct command *c = &log.at[i];
        if (c->kind != DRAM_REFRESH) continue;
        uint32_t rank = c->bank / (b.params.banks / RANKS);
        uint64_t due = b.params.trefi * (rank + 1) / RANKS + rounds[rank]++ * b.params.trefi;
        assert_true(c->clock >= due && c->clock < due + 100);
        refreshes++;
    }
    assert_int_equal(b.stats.refreshes, refreshes);
    for (uint32_t r = 0; r < RANKS; r++) assert_true(rounds[r] + 1 >= b.end / b.params.trefi);
    bench_free(&b);
}

/* A refresh of one rank leaves the other at work: its reads come back meanwhile. */
static void a_refresh_holds_its_own_rank_alone(void **state)
{
    for (uint32_t ranks = 1; ranks <= 2; ranks++) {
        struct bench b;
        bench_init(&b);
        b.params.ranks = ranks;
        b.params.trefi = 1000;
        b.params.trfc = 300;
        uint32_t due = 1000 / ranks;                       /* of rank 0: banks 0 to 7 of 16 */
        add(&b, due - 200, REQ_READ, address(0, 8, 0), 1); /* opens the row */
        add(&b, due + 10, REQ_READ, address(0, 8, 1), 1);
        add(&b, due + 10, REQ_READ, address(0, 0, 0), 1);
        bench_run(&b);
        if (ranks == 2)
            assert_int_equal(b.back[1], due + 11 + 14);
        else
            assert_int_equal(b.back[1], due + 12 + 300 + 12 + 14);
        assert_true(b.back[2] >= due + 300 + 12 + 14);
        bench_free(&b);
    }
}

/* ---- exact clocks of what concerns ranks (defaults as in test_mem_dram.c; burst 2) ---- */

/* Two open rows; the second read goes CCD after the first in one rank, burst + RTRS in another. */
static void data_of_another_rank_wait_for_the_bus_to_change_hands(void **state)
{
    for (uint32_t ranks = 1; ranks <= 2; ranks++) {
        struct bench b;
        bench_init(&b);
        b.params.ranks = ranks;
        b.params.trtrs = 3;
        for (uint32_t at = 0; at <= 200; at += 200) {
            add(&b, at, REQ_READ, address(0, 0, at / 200), 1);
            add(&b, at, REQ_READ, address(0, 9, at / 200), 1);
        }
        bench_run(&b);
        assert_int_equal(b.back[2], 201 + 14);
        assert_int_equal(b.back[3], 201 + (ranks == 2 ? 2 + 3 : 2) + 14);
        bench_free(&b);
    }
}

/* Write to rank 0 at 201, read of rank 1 next: its data follow at WL + burst + RTRS, which is before the
 * command bus lets it go. In one rank it waits for WL + burst + CDLR. */
static void read_of_another_rank_need_not_wait_for_a_write(void **state)
{
    for (uint32_t ranks = 1; ranks <= 2; ranks++) {
        struct bench b;
        bench_init(&b);
        b.params.ranks = ranks;
        add(&b, 0, REQ_READ, address(0, 0, 0), 1);
        add(&b, 0, REQ_READ, address(0, 9, 0), 1);
        add(&b, 200, REQ_WRITE, address(0, 0, 1), 1);
        add(&b, 201, REQ_READ, address(0, 9, 1), 1);
        bench_run(&b);
        assert_int_equal(b.back[3], (ranks == 2 ? 202 : 201 + 4 + 2 + 5) + 14);
        bench_free(&b);
    }
}

/* Row misses of five banks, RRD 6 apart; the fifth activate waits for FAW 60 in one rank, not where it is
 * the other's first. */
static void fifth_activate_of_a_rank_waits_for_the_window(void **state)
{
    for (uint32_t fifth = 4; fifth <= 8; fifth += 4) {
        struct bench b;
        bench_init(&b);
        b.params.ranks = 2;
        b.params.dual_bus = true;
        b.params.tfaw = 60;
        for (uint32_t i = 0; i < 4; i++) add(&b, 0, REQ_READ, address(0, i, 0), 1);
        add(&b, 30, REQ_READ, address(0, fifth, 0), 1);
        bench_run(&b);
        assert_int_equal(b.back[3], 1 + 3 * 6 + 12 + 14);
        assert_int_equal(b.back[4], (fifth == 4 ? 1 + 60 : 31) + 12 + 14);
        bench_free(&b);
    }
}

/* ---- the chips alone: random commands, each as early as it may go ---- */

static uint64_t referee_earliest(const struct referee *r, const struct command *log, uint32_t count,
                                 const struct command *c)
{
    uint64_t at = count ? log[count - 1].clock : 0, data_end = 0, activates = 0;
    uint32_t data_rank = 0, rank = referee_rank(r, c->bank);
    for (uint32_t k = count; k-- > 0 && count - k < 200;) {
        for (enum rule rule = 0; rule < RULE_PAIRS; rule++) {
            uint32_t span = referee_span(r, rule, &log[k], c);
            if (span) at = MAX(at, log[k].clock + span);
        }
        if (!data_end && referee_is_column(&log[k]))
            data_end = referee_data(r, &log[k]) + r->burst, data_rank = referee_rank(r, log[k].bank);
        if (c->kind == DRAM_ACTIVATE && log[k].kind == DRAM_ACTIVATE &&
            referee_rank(r, log[k].bank) == rank && ++activates == 4)
            at = MAX(at, log[k].clock + r->p->tfaw);
    }
    if (!referee_is_column(c) || !data_end) return at;
    uint32_t delay = c->kind == DRAM_READ ? r->p->tcl : r->p->twl;
    uint64_t bus = data_end + (rank != data_rank ? r->p->trtrs : 0);
    return MAX(at, bus > delay ? bus - delay : 0);
}

static void every_command_may_go_as_early_as_the_rules_allow(void **state)
{
    enum { COMMANDS = 3000 };
    static struct command log[COMMANDS];
    for (uint32_t variant = 0; variant < 12; variant++) {
        struct dram_params p;
        struct dram_chips chips;
        struct referee r;
        param_set_defaults(dram_rows, &p);
        if (variant & 1) stretch(&p);
        p.trefi = 0;
        p.ranks = 1u << variant / 2 % 3;
        p.dual_bus = variant >= 6;
        p.group_by = variant & 1;
        dram_chips_init(&chips, &p);
        referee_init(&r, &p);
        struct rng rng = {3 + variant};
        for (uint32_t i = 0; i < COMMANDS; i++) {
            struct command *c = &log[i];
            *c = (struct command){.bank = (uint32_t)rng_below(&rng, p.banks), .row = 7};
            bool open = chips.banks[c->bank].row != DRAM_ROW_NONE;
            c->kind = !open                     ? DRAM_ACTIVATE
                      : rng_below(&rng, 4) == 0 ? DRAM_PRECHARGE
                      : rng_below(&rng, 2)      ? DRAM_READ
                                                : DRAM_WRITE;
            c->clock = dram_chips_earliest(&chips, i ? log[i - 1].clock : 0, c->bank, c->kind);
            assert_int_equal(c->clock, referee_earliest(&r, log, i, c));
            dram_chips_give(&chips, c->clock, c->bank, c->kind, 7);
        }
        referee_judge(&r, log, COMMANDS);
        for (uint32_t rule = 0; rule < RULE_COUNT; rule++) assert_int_equal(r.broken[rule], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_kept_under_random_traffic),
        cmocka_unit_test(a_channel_without_a_rule_is_found_out),
        cmocka_unit_test(each_rank_is_refreshed_in_every_interval),
        cmocka_unit_test(a_refresh_holds_its_own_rank_alone),
        cmocka_unit_test(data_of_another_rank_wait_for_the_bus_to_change_hands),
        cmocka_unit_test(read_of_another_rank_need_not_wait_for_a_write),
        cmocka_unit_test(fifth_activate_of_a_rank_waits_for_the_window),
        cmocka_unit_test(every_command_may_go_as_early_as_the_rules_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
