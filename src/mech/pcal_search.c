/* pcal_search.c: see pcal_search.h. */
#include "mech/pcal_search.h"

/* ---- windows ---- */

static bool votes(const struct pcal_sm *e) { return e->is_whole && e->issued; }

/* Instructions of an SM in this window and thousandths of it that were busy, in the mean. */
static uint64_t mean_speed(const struct pcal_search *s, uint64_t *busy)
{
    uint64_t issued = 0, busy_sum = 0, count = 0;
    for (uint32_t i = 0; i < s->sm_count; i++) {
        if (!votes(&s->sms[i])) continue;
        issued += s->sms[i].issued;
        busy_sum += s->sms[i].busy;
        count++;
    }
    *busy = count ? busy_sum / count : 0;
    return count ? issued / count : 0;
}

/* ---- base ---- */

/* N = p = the warps that CCWS let through, in the mean, to the nearest. */
static void end_ccws(struct pcal_search *s)
{
    uint64_t let = 0, count = 0;
    for (uint32_t i = 0; i < s->sm_count; i++) {
        if (!votes(&s->sms[i])) continue;
        let += s->sms[i].let;
        count++;
    }
    const uint32_t n = (uint32_t)((let / count + 500) / 1000);
    s->n = s->p = n ? n : 1;
    s->phase = PCAL_BASE;
}

/* ---- vote ---- */

static void begin_vote(struct pcal_search *s)
{
    s->phase = PCAL_VOTE;
    s->counts.votes++;
    s->try_count = 0;
    for (uint32_t p = 1; p < s->n && s->try_count + 1 < PCAL_TRIES_MAX; p *= 2) s->tries[s->try_count++] = p;
    s->tries[s->try_count++] = s->n;
}

/* The mean gain of the SMs that tried tries[t], in 2^-20; 0: none did. */
static uint64_t gain_of(const struct pcal_search *s, uint32_t t)
{
    uint64_t sum = 0, count = 0;
    for (uint32_t i = t; i < s->sm_count; i += s->try_count) {
        if (!votes(&s->sms[i]) || !s->sms[i].last) continue;
        sum += (s->sms[i].issued << 20) / s->sms[i].last;
        count++;
    }
    return count ? sum / count : 0;
}

static void end_vote(struct pcal_search *s)
{
    uint64_t best = 0;
    for (uint32_t t = 0; t < s->try_count; t++) {
        const uint64_t gain = gain_of(s, t);
        if (gain < best || !gain) continue; /* of equal ones the largest p */
        best = gain;
        s->p = s->tries[t];
    }
    s->phase = PCAL_SETTLE;
}

/* ---- climb and hold ---- */

static uint32_t most_warps(const struct pcal_search *s)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < s->sm_count; i++)
        if (s->sms[i].warps > most) most = s->sms[i].warps;
    return most;
}

static void hold(struct pcal_search *s)
{
    s->phase = PCAL_HOLD;
    s->counts.holds++;
    s->counts.held_n += s->n;
    s->counts.held_p += s->p;
}

static void step_or_hold(struct pcal_search *s, uint64_t busy)
{
    if (busy >= s->bounds->busy || s->n >= most_warps(s)) {
        hold(s);
        return;
    }
    s->n++;
    s->phase = PCAL_CLIMB;
}

static void end_step(struct pcal_search *s, uint64_t speed, uint64_t busy)
{
    if (speed * 1000 > s->speed * (1000 + (uint64_t)s->bounds->gain)) {
        s->speed = speed;
        s->counts.steps++;
        step_or_hold(s, busy);
        return;
    }
    s->n--;
    s->counts.steps_back++;
    hold(s);
}

static bool has_drop(const struct pcal_search *s)
{
    for (uint32_t i = 0; i < s->sm_count; i++) {
        const struct pcal_sm *e = &s->sms[i];
        if (votes(e) && e->issued * 1000 < e->last * (1000 - (uint64_t)s->bounds->drop)) return true;
    }
    return false;
}

/* ---- between two windows ---- */

/* A kernel has started: the window that has ended was of the kernel before. */
static void start(struct pcal_search *s)
{
    const struct pcal_sm *first = &s->sms[0];
    s->launch = first->launch;
    s->phase = s->has_ccws ? PCAL_CCWS : PCAL_BASE;
    s->n = first->start_n;
    s->p = first->start_p;
}

static void end_phase(struct pcal_search *s, uint64_t speed, uint64_t busy)
{
    switch (s->phase) {
    case PCAL_CCWS: end_ccws(s); break;
    case PCAL_BASE: begin_vote(s); break;
    case PCAL_VOTE: end_vote(s); break;
    case PCAL_SETTLE:
        s->speed = speed;
        step_or_hold(s, busy);
        break;
    case PCAL_CLIMB: end_step(s, speed, busy); break;
    case PCAL_HOLD:
        if (has_drop(s)) begin_vote(s);
        break;
    }
}

void pcal_search_next(struct pcal_search *s)
{
    uint64_t busy;
    const uint64_t speed = mean_speed(s, &busy);
    if (s->sms[0].launch != s->launch) {
        start(s);
        return;
    }
    if (!speed) return; /* nobody has a vote */
    end_phase(s, speed, busy);
    for (uint32_t i = 0; i < s->sm_count; i++) s->sms[i].last = votes(&s->sms[i]) ? s->sms[i].issued : 0;
}

uint32_t pcal_search_p(const struct pcal_search *s, uint32_t sm)
{
    return s->phase == PCAL_VOTE ? s->tries[sm % s->try_count] : s->p;
}
