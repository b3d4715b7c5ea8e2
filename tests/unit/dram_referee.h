/* dram_referee.h: the rules of DRAM timing as a table of its own, written from the data sheets' point of
 * view and not from the model's: pairs of commands and the clocks that must lie between them. It judges a
 * log of commands and knows nothing of how they were chosen. */
#ifndef HEDDLE_DRAM_REFEREE_H
#define HEDDLE_DRAM_REFEREE_H

#include "mem/dram_bank.h"

#include <stdlib.h>

enum rule {
    RULE_BUS_ROW,
    RULE_BUS_COLUMN,
    RULE_BUS_BOTH,
    RULE_CCD,
    RULE_CCDL,
    RULE_RRD,
    RULE_RCD,
    RULE_RCDWR,
    RULE_RAS,
    RULE_RP,
    RULE_RC,
    RULE_READ_TO_WRITE,
    RULE_WRITE_TO_READ,
    RULE_WRITE_TO_PRECHARGE,
    RULE_READ_TO_PRECHARGE,
    RULE_RTPL,
    RULE_RP_REFRESH,
    RULE_RC_REFRESH,
    RULE_RFC,
    /* up to here: rows of the table */
    RULE_PAIRS,
    RULE_FAW = RULE_PAIRS,
    RULE_DATA_OVERLAP,
    RULE_RTRS,
    /* a command that the bank's row does not allow */
    RULE_STATE,
    RULE_COUNT
};

enum scope { OF_BANK, OF_GROUP, OF_RANK, OF_CHANNEL };

struct command {
    uint64_t clock;
    uint32_t bank, row;
    enum dram_command kind;
};

struct pair_rule {
    /* masks of commands */
    uint32_t first, second;
    enum scope scope;
    uint32_t span;
};

struct referee {
    const struct dram_params *p;
    uint32_t burst;
    struct pair_rule pairs[RULE_PAIRS];
    uint64_t broken[RULE_COUNT];
};

#define KIND(c) (1u << DRAM_##c)

static inline void referee_init(struct referee *r, const struct dram_params *p)
{
    enum {
        ACT = KIND(ACTIVATE),
        PRE = KIND(PRECHARGE) | KIND(PRECHARGE_ALL),
        RD = KIND(READ),
        WR = KIND(WRITE),
        REF = KIND(REFRESH),
        ROW = ACT | PRE | REF,
        COLUMN = RD | WR
    };
    uint32_t burst = p->burst / p->ratio, both = p->dual_bus ? 0 : 1;
    *r = (struct referee){.p = p, .burst = burst};
    const struct pair_rule rows[RULE_PAIRS] = {
        [RULE_BUS_ROW] = {ROW, ROW, OF_CHANNEL, 1},
        [RULE_BUS_COLUMN] = {COLUMN, COLUMN, OF_CHANNEL, 1},
        [RULE_BUS_BOTH] = {ROW | COLUMN, ROW | COLUMN, OF_CHANNEL, both},
        [RULE_CCD] = {COLUMN, COLUMN, OF_RANK, p->tccd},
        [RULE_CCDL] = {COLUMN, COLUMN, OF_GROUP, p->tccdl},
        [RULE_RRD] = {ACT, ACT, OF_RANK, p->trrd},
        [RULE_RCD] = {ACT, RD, OF_BANK, p->trcd},
        [RULE_RCDWR] = {ACT, WR, OF_BANK, p->trcdwr ? p->trcdwr : p->trcd - p->twl - 1},
        [RULE_RAS] = {ACT, PRE, OF_BANK, p->tras},
        [RULE_RP] = {PRE, ACT, OF_BANK, p->trp},
        [RULE_RC] = {ACT, ACT, OF_BANK, p->trc},
        [RULE_READ_TO_WRITE] = {RD, WR, OF_RANK, p->tcl + burst + 2 - p->twl},
        [RULE_WRITE_TO_READ] = {WR, RD, OF_RANK, p->twl + burst + p->tcdlr},
        [RULE_WRITE_TO_PRECHARGE] = {WR, PRE, OF_BANK, p->twl + burst + p->twr},
        [RULE_READ_TO_PRECHARGE] = {RD, PRE, OF_BANK, burst},
        [RULE_RTPL] = {RD, PRE, OF_GROUP, p->trtpl},
        [RULE_RP_REFRESH] = {PRE, REF, OF_RANK, p->trp},
        [RULE_RC_REFRESH] = {ACT, REF, OF_RANK, p->trc},
        [RULE_RFC] = {REF, ACT, OF_RANK, p->trfc},
    };
    memcpy(r->pairs, rows, sizeof rows);
}

static inline uint32_t referee_rank(const struct referee *r, uint32_t bank)
{
    return bank / (r->p->banks / r->p->ranks);
}

static inline uint32_t referee_group(const struct referee *r, uint32_t bank)
{
    uint32_t per_rank = r->p->banks / r->p->ranks, in_rank = bank % per_rank;
    return r->p->group_by == DRAM_GROUPS_HIGH ? in_rank / (per_rank / r->p->groups) : in_rank % r->p->groups;
}

/* A command to a rank concerns each of its banks. */
static inline bool referee_in_scope(const struct referee *r, enum scope scope, const struct command *a,
                                    const struct command *b)
{
    bool rank = referee_rank(r, a->bank) == referee_rank(r, b->bank);
    bool wide = a->kind >= DRAM_PRECHARGE_ALL || b->kind >= DRAM_PRECHARGE_ALL;
    switch (scope) {
    case OF_CHANNEL: return true;
    case OF_RANK: return rank;
    case OF_GROUP: return rank && (wide || referee_group(r, a->bank) == referee_group(r, b->bank));
    case OF_BANK: return rank && (wide || a->bank == b->bank);
    }
    UNREACHABLE("scope");
}

/* The clocks that the rule wants between the two; 0: it does not concern them. */
static inline uint32_t referee_span(const struct referee *r, enum rule rule, const struct command *a,
                                    const struct command *b)
{
    const struct pair_rule *p = &r->pairs[rule];
    bool kinds = (p->first >> a->kind & 1) && (p->second >> b->kind & 1);
    return kinds && referee_in_scope(r, p->scope, a, b) ? p->span : 0;
}

static inline bool referee_is_column(const struct command *c)
{
    return c->kind == DRAM_READ || c->kind == DRAM_WRITE;
}

/* The clock at which the command's data begins. */
static inline uint64_t referee_data(const struct referee *r, const struct command *c)
{
    return c->clock + (c->kind == DRAM_READ ? r->p->tcl : r->p->twl);
}

static inline void referee_check_rows(struct referee *r, const struct command *log, uint32_t count)
{
    int64_t open[DRAM_BANKS_MAX];
    for (uint32_t i = 0; i < DRAM_BANKS_MAX; i++) open[i] = DRAM_ROW_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const struct command *c = &log[i];
        bool ok = true;
        switch (c->kind) {
        case DRAM_ACTIVATE: ok = open[c->bank] == DRAM_ROW_NONE, open[c->bank] = c->row; break;
        case DRAM_PRECHARGE: ok = open[c->bank] != DRAM_ROW_NONE, open[c->bank] = DRAM_ROW_NONE; break;
        case DRAM_READ:
        case DRAM_WRITE: ok = open[c->bank] == (int64_t)c->row; break;
        default:
            for (uint32_t b = 0; b < r->p->banks; b++) {
                if (referee_rank(r, b) != referee_rank(r, c->bank)) continue;
                if (c->kind == DRAM_REFRESH) ok &= open[b] == DRAM_ROW_NONE;
                open[b] = DRAM_ROW_NONE;
            }
        }
        r->broken[RULE_STATE] += !ok;
    }
}

static inline void referee_check_windows(struct referee *r, const struct command *log, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = 0;
        if (log[i].kind != DRAM_ACTIVATE) continue;
        for (uint32_t k = i; k-- > 0 && log[i].clock - log[k].clock < r->p->tfaw;)
            before +=
                log[k].kind == DRAM_ACTIVATE && referee_rank(r, log[k].bank) == referee_rank(r, log[i].bank);
        r->broken[RULE_FAW] += before >= 4;
    }
}

/* Every pair of bursts: they may be on the bus in another order than their commands. */
static inline void referee_check_data(struct referee *r, const struct command *a, const struct command *b)
{
    if (!referee_is_column(a) || !referee_is_column(b)) return;
    uint64_t first = referee_data(r, a), second = referee_data(r, b);
    if (first > second) {
        uint64_t t = first;
        first = second, second = t;
    }
    bool switches = referee_rank(r, a->bank) != referee_rank(r, b->bank);
    r->broken[RULE_DATA_OVERLAP] += second < first + r->burst;
    r->broken[RULE_RTRS] += switches && second < first + r->burst + r->p->trtrs;
}

static inline int referee_compare(const void *a, const void *b)
{
    const struct command *x = a, *y = b;
    return x->clock < y->clock ? -1 : x->clock > y->clock;
}

/* Counts what is broken, rule by rule. Sorts the log by time. */
static inline void referee_judge(struct referee *r, struct command *log, uint32_t count)
{
    uint64_t reach = 0; /* no rule looks further back */
    for (uint32_t i = 0; i < RULE_PAIRS; i++) reach = MAX(reach, r->pairs[i].span);
    reach = MAX(reach, r->p->tcl + r->burst + r->p->trtrs);
    qsort(log, count, sizeof *log, referee_compare);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i; k-- > 0 && log[i].clock - log[k].clock <= reach;) {
            for (enum rule rule = 0; rule < RULE_PAIRS; rule++)
                r->broken[rule] += log[i].clock - log[k].clock < referee_span(r, rule, &log[k], &log[i]);
            referee_check_data(r, &log[k], &log[i]);
        }
    referee_check_windows(r, log, count);
    referee_check_rows(r, log, count);
}

#endif
