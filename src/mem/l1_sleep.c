/* l1_sleep.c: the account of refusals, and the predictions that let the SM sleep: see l1_sleep.h.
 *
 * Invariants. (1) Every cycle in which the access at the head of the load-store unit is refused is charged
 * to exactly one cause and one type, whether the SM ran in that cycle or slept: the L1 does not change
 * without a tick. (2) An answer given here without l1_plan and l1_admit is the same as theirs: assertions
 * check this. */
#include "mem/l1_admit.h"
#include "mem/sm_port_sleep.h"

/* ---- the account of refusals ---- */

static void l1_charge(struct l1 *c, uint64_t cycles)
{
    struct l1_stats *s = &c->stats;
    switch (c->stall.cause) {
    case L1_STALL_LINE: s->stall_line += cycles; break;
    case L1_STALL_MSHR: s->stall_mshr += cycles; break;
    case L1_STALL_QUEUE: s->stall_queue += cycles; break;
    case L1_STALL_PORT: s->stall_port += cycles; break;
    case L1_STALL_HELD: s->stall_held += cycles; break;
    case L1_STALL_STOLEN: s->stall_stolen += cycles; break;
    default: UNREACHABLE("a stall without a cause");
    }
    s->stall_cycles += cycles;
    s->fails[c->stall.type] += cycles;
}

void l1_settle(struct l1 *c, tick now)
{
    tick until = MAX(now, c->stall.offered_until);
    if (!c->stall.open || c->stall.charged_until >= until) return;
    tick passed = until - c->stall.charged_until;
    uint64_t cycles = passed == c->clock.period ? 1 : clock_cycles(&c->clock, passed);
    l1_charge(c, cycles);
    c->stall.charged_until += cycles * c->clock.period;
}

/* What an access refused for this cause waits for. Checks come in the order line, queue, MSHR: what a later
 * check waits for cannot change the answer of an earlier one. A load that is popped frees its node, and its
 * MSHR if that was held until then. */
static uint8_t l1_waits_for(const struct l1 *c, enum l1_answer cause)
{
    const uint8_t always = L1_CHANGE_REPLY | L1_CHANGE_OTHER;
    switch (cause) {
    case L1_STALL_LINE: return always;
    case L1_STALL_QUEUE: return always;
    case L1_STALL_MSHR: return c->holds_mshrs || !c->nodes_left ? L1_CHANGE_ANY : always;
    default: return L1_CHANGE_ANY;
    }
}

/* The vote of a mechanism may change while the L1 does not: the access is offered in every cycle. */
static bool l1_cannot_tell(enum l1_answer cause)
{
    return cause == L1_STALL_HELD || cause == L1_STALL_STOLEN;
}

static void l1_open_stall(struct l1 *c, enum l1_answer cause, const struct l1_txn *t, const struct l1_plan *p)
{
    struct l1_stall *s = &c->stall;
    s->open = true;
    s->cause = (uint8_t)cause;
    s->type = (uint8_t)l1_type_of(t);
    s->waits_for = p->asks_taker ? L1_CHANGE_ANY : l1_waits_for(c, cause); /* a free MSHR may be enough */
    s->sent = c->port->sent;
    s->plan = *p;
#ifndef NDEBUG
    s->txn = *t;
#endif
    c->changes = 0;
    c->offers_next = l1_cannot_tell(cause);
    s->asks_always = c->offers_next || cause == L1_STALL_PORT;
}

void l1_refused(struct l1 *c, tick now, enum l1_answer cause, const struct l1_txn *t, const struct l1_plan *p)
{
    if (c->stall.open) l1_settle(c, now);
    bool is_charged = c->stall.open && c->stall.charged_until > now; /* asked twice in one cycle */
    l1_open_stall(c, cause, t, p);
    if (is_charged) return;
    c->stall.charged_until = now + c->clock.period;
    l1_charge(c, 1);
}

/* Accesses in front of a pipeline have no account; its head has one (l1_pipe.c). */
void l1_refused_port(struct l1 *c, tick now, const struct l1_txn *t)
{
    static const struct l1_plan no_plan = {.way = L1_WAY_CLOSED};
    if (!c->has_pipe) {
        l1_refused(c, now, L1_STALL_STOLEN, t, &no_plan);
        return;
    }
    if (c->stall.open) return;
    c->stats.stall_stolen++;
    c->stats.stall_cycles++;
    c->stats.fails[l1_type_of(t)]++;
}

void l1_stall_ends(struct l1 *c, tick now)
{
    l1_settle(c, now);
    c->stall.open = false;
}

/* ---- the retry of a refused access ---- */

#ifndef NDEBUG
/* The answer of the plain rules on the refused access. */
static enum l1_answer l1_ask_plainly(struct l1 *c)
{
    struct l1_plan p;
    l1_plan(c, &c->stall.txn, &p);
    enum l1_answer a = l1_admit(c, &p);
    if (l1_is_stall(a) || !p.takes_line) return a;
    uint32_t victim = cache_victim(&c->cache, c->stall.txn.addr);
    return l1_admit_victim(c, (enum l1_way)p.way, victim) ? a : L1_STALL_QUEUE;
}
#endif

/* A plan without an MSHR entry stays as it is while no other access is taken: the tags hold the same
 * addresses, and no reply is for its line. So only l1_admit has to be asked again. */
static bool l1_plan_stays(const struct l1 *c)
{
    return !(c->changes & L1_CHANGE_OTHER) && c->stall.plan.entry == MSHR_NONE &&
           c->stall.plan.way != L1_WAY_CLOSED;
}

static bool l1_has_sent(const struct l1 *c)
{
    return c->stall.cause == L1_STALL_QUEUE && c->stall.sent != c->port->sent;
}

/* The answer of l1_admit on the refused plan, which is nearly always a miss. */
static enum l1_answer l1_admit_again(const struct l1 *c)
{
    const struct l1_plan *p = &c->stall.plan;
    return LIKELY(p->way == L1_WAY_MISS) ? l1_admit_miss(c, p) : l1_admit(c, p);
}

/* Something that the refused access waits for has changed: may its answer differ? False: the answer is the
 * same as before. */
HOT NOINLINE static bool l1_may_differ(struct l1 *c)
{
    if (!l1_plan_stays(c) || l1_admit_again(c) != (enum l1_answer)c->stall.cause) return true;
    c->changes = 0;
    c->stall.sent = c->port->sent;
    return false;
}

bool l1_stays_refused(struct l1 *c, tick now)
{
    if (!c->stall.open || c->stall.asks_always) return false;
    if (((c->changes & c->stall.waits_for) | l1_has_sent(c)) && l1_may_differ(c)) return false;
#ifndef NDEBUG
    assert(l1_ask_plainly(c) == (enum l1_answer)c->stall.cause); /* invariant 2 */
#endif
    c->stall.offered_until = clock_after(&c->clock, now, 1);
    c->offers_next = false;
    return true;
}

bool l1_still_refuses(struct l1 *c, tick now)
{
    return (!c->has_pipe || l1_pipe_is_full(c)) && l1_stays_refused(c, now);
}

/* ---- prediction ---- */

bool l1_is_full(const struct l1 *c)
{
    return (c->port->is_blocked && !l1_queue_has(c, c->read_places)) || !l1_has_mshr(c);
}

/* A full queue has room in the next cycle, unless the crossbar is full too; the crossbar then says when there
 * is room. */
static bool l1_drains(const struct l1 *c, enum l1_answer cause)
{
    return cause == L1_STALL_QUEUE && !c->port->is_blocked;
}

/* Why a load of this plan is refused, now or in the next cycles, if nothing changes. L1_HIT: it is taken, or
 * the answer is not known. */
static inline __attribute__((always_inline)) enum l1_answer l1_foresee_plan(const struct l1 *c,
                                                                            const struct l1_plan *p)
{
    const enum l1_answer cause = l1_admit(c, p);
    return l1_is_stall(cause) && !l1_drains(c, cause) ? cause : L1_HIT;
}

/* The plan of a load in the next cycle is known if its line is neither in the cache nor under way, and if
 * hooks cannot change the plan. hooks.may_allocate may be asked one cycle early, because it is asked once for
 * each access. hooks.take_miss is not asked about a load that is refused (l1_may_ask_taker). With
 * hooks.may_miss nothing is predicted here: the mechanism is asked in every cycle until it lets the load go,
 * its state may change before the next cycle, and an additional question could itself change that state. The
 * loads that it holds back are in the re-execution queue. l1_foresee predicts those, because its caller says
 * what the mechanism would answer (mech_holds), without asking may_miss. */
bool l1_refuses_ahead(struct l1 *c, tick now, const struct l1_txn *t)
{
    struct l1_plan p;
    if (c->stall.open || c->has_pipe) return false;
    if (UNLIKELY(c->asks_of_misses) && c->hooks.may_miss) return false;
    l1_plan(c, t, &p);
    if (!l1_is_new(&p)) return false;
    const enum l1_answer cause = l1_foresee_plan(c, &p);
    if (cause == L1_HIT) return false;
    l1_open_stall(c, cause, t, &p);
    c->stall.foreseen = now + c->clock.period;
    c->stall.charged_until = c->stall.foreseen;
    return true;
}

/* ---- loads that take turns ---- */

/* Arrivals are counted where there is a may_miss or a take_miss (l1_miss.h). */
static bool l1_can_foresee(const struct l1 *c, const struct l1_txn *t)
{
    if (!c->hooks.may_miss) return false;
    if (c->is_special || c->is_perfect || c->hooks.take_miss || c->hooks.may_allocate) return false;
    return t->kind == REQ_READ && !l1_goes_past(c, t);
}

/* A load that is known to be absent. The rule is inline, so the compiler knows its answer for a load that is
 * held. */
static inline __attribute__((always_inline)) enum l1_answer l1_foresee_absent(const struct l1 *c, bool waits,
                                                                              bool is_held, uint32_t set)
{
    struct l1_plan p = {.is_demand = true, .waits = waits, .line = CACHE_NO_LINE, .entry = MSHR_NONE};
    l1_plan_absent(c, &p, set);
    p.is_held = is_held;
    return l1_foresee_plan(c, &p);
}

#ifndef NDEBUG
/* Looks up tags and MSHRs: is a load at this address a new miss? */
static bool l1_is_new_address(struct l1 *c, uint64_t addr)
{
    const struct l1_txn t = {.addr = addr, .sectors = c->line_sectors, .token = L1_NO_TOKEN};
    struct l1_plan p = l1_no_way(&t);
    uint32_t line;
    if (l1_finds(c, &t, &line)) return false;
    l1_plan_sectors(c, &t, &p, line);
    return l1_is_new(&p);
}
#endif

/* Asks the rule without the transaction: for a load that is held back the address is enough. */
enum l1_answer l1_foresee_held(struct l1 *c, uint64_t addr, const struct l1_absence *a)
{
    if (!a->is_known || a->arrivals != *l1_arrivals_of(c, addr) || c->is_special) return L1_HIT;
#ifndef NDEBUG
    assert(l1_is_new_address(c, addr));
#endif
    return l1_foresee_absent(c, true, true, a->set);
}

/* Of a load that is not new, only a merge of all its sectors is known. Mechanisms are not asked about
 * merges. */
enum l1_answer l1_foresee(struct l1 *c, const struct l1_txn *t, bool is_held, struct l1_absence *a)
{
    const uint32_t arrivals = *l1_arrivals_of(c, t->addr);
    if (!l1_can_foresee(c, t)) return L1_HIT;
    if (!a->is_known || a->arrivals != arrivals) {
        struct l1_plan p = l1_no_way(t);
        l1_forget_absence(a);
        l1_plan_alone(c, t, &p);
        if (p.way == L1_WAY_MERGE && !c->is_sectored)
            return l1_admit(c, &p) == L1_STALL_MSHR ? L1_STALL_MSHR : L1_HIT;
        if (!l1_is_new(&p)) return L1_HIT;
        *a = (struct l1_absence){arrivals, p.set, true};
    }
    return l1_foresee_absent(c, t->token != L1_NO_TOKEN, is_held, a->set);
}

void l1_keep_vote(struct l1 *c, const struct l1_txn *t, bool may_go)
{
    if (may_go)
        l1_kept_of(c, t)->may_go = true;
    else
        c->has_kept = false;
}

#ifndef NDEBUG
/* The answer of the plain rules on a load that hooks.may_miss holds back: the hook is not asked. */
static enum l1_answer l1_ask_held(struct l1 *c, const struct l1_txn *t)
{
    struct l1_plan p = l1_no_way(t);
    l1_plan_alone(c, t, &p);
    p.is_held = p.way == L1_WAY_MISS;
    return l1_admit(c, &p);
}
#endif

bool l1_refuse_held(struct l1 *c, tick now, const struct l1_txn *t)
{
    static const struct l1_plan no_plan = {.way = L1_WAY_CLOSED};
    if (l1_is_stall(l1_admit_port(c, now))) return false;
#ifndef NDEBUG
    assert(l1_ask_held(c, t) == L1_STALL_HELD); /* invariant 2 */
#endif
    c->last = now;
    l1_keep_vote(c, t, false);
    l1_refused(c, now, L1_STALL_HELD, t, &no_plan);
    return true;
}

bool l1_has_refused(const struct l1 *c, tick now)
{
    return c->stall.open && c->stall.charged_until == now + c->clock.period;
}

void l1_rest(struct l1 *c) { c->offers_next = false; }

void l1_charge_foreseen(struct l1 *c, enum l1_answer cause, const struct l1_txn *t, uint64_t cycles)
{
    c->stall.cause = (uint8_t)cause;
    c->stall.type = (uint8_t)l1_type_of(t);
    l1_charge(c, cycles);
    c->stall.charged_until += cycles * c->clock.period;
}

/* ---- prefetches ---- */

bool l1_has_port(const struct l1 *c, tick now) { return l1_port_is_free(c, now); }

/* ---- loads that are done ---- */

bool l1_has_acknowledged(const struct l1 *c) { return c->has_acknowledged; }

tick l1_next_done_at(const struct l1 *c) { return MIN(c->hit_ready, c->fill_ready); }

bool l1_next_is_hit(const struct l1 *c) { return c->hit_ready < c->fill_ready; }

bool l1_missed_hit(struct l1 *c, tick now, uint32_t *token)
{
    if (c->hit_ready >= now) return false;
    *token = l1_pop_hit(c);
    return true;
}

/* ---- waking ---- */

static inline tick l1_next_cycle(const struct l1 *c) { return c->last + c->clock.period; }

/* Work that only some machines have, or that is seldom there. */
static tick l1_wake_special(const struct l1 *c, tick next)
{
    tick wake = c->is_flushing ? next : TICK_NEVER;
    if (c->answers.ring.count) wake_at(&wake, l1_ring_front(&c->answers)->ready);
    if (c->has_pipe) wake_at(&wake, l1_pipe_next(c, next));
    if (c->has_due) wake_at(&wake, l1_due_next(c, next));
    return wake;
}

tick l1_wake(const struct l1 *c) { return MIN(l1_wake_past_hits(c), MAX(c->hit_ready, l1_next_cycle(c))); }

HOT tick l1_wake_past_hits(const struct l1 *c)
{
    tick next = l1_next_cycle(c), wake = c->fill_ready;
    if (c->hit_ready <= c->last) return next; /* overdue */
    if (sm_port_has_work(c->port) || c->offers_next) return next;
    wake_at(&wake, sm_port_reply_at(c->port));
    if (UNLIKELY(c->is_special)) wake_at(&wake, l1_wake_special(c, next));
    return MAX(wake, next); /* overdue work is done in the next cycle */
}
