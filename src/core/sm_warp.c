/* sm_warp.c: a warp slot: scoreboard, next instruction, when it leaves.
 *
 * The scoreboard holds a bit for each register and predicate that an issued instruction is still to write; an
 * instruction that reads or writes one of them waits (Fermi's scheme, as GPGPU-Sim has it). A fence is not
 * acknowledged before all memory operations of its warp are. */
#include "core/sm_impl.h"

static void set(uint64_t *mask, uint32_t w, bool value) { *mask = value ? *mask | bit(w) : *mask & ~bit(w); }

static bool copies_pending(const struct sm_warp *s, int32_t allowed)
{
    uint32_t newest = allowed < 0
                          ? s->group
                          : s->group - 1 - (uint32_t)allowed; /* the newest group that must be complete */
    if (allowed >= 0 && s->group < 1 + (uint32_t)allowed) return false;
    for (uint32_t i = 0; i < ASYNC_GROUPS && i <= newest; i++)
        if (s->groups[(newest - i) % ASYNC_GROUPS]) return true;
    return false;
}

bool sm_warp_writes(const struct sm *m, uint32_t w)
{
    return m->warps[w].memory || l1_writes_pending(m->l1, w);
}

void sm_warps_acknowledged(struct sm *m)
{
    FOR_WARPS(w, m->fenced)
    {
        sm_warp_refresh(m, (uint32_t)w);
        m->changed |= !(m->fenced & bit((uint32_t)w));
    }
    FOR_WARPS(v, m->done) sm_warp_leave(m, (uint32_t)v);
    m->awaits_writes = m->fenced | m->done;
}

void sm_warp_refresh(struct sm *m, uint32_t w)
{
    struct sm_warp *s = &m->warps[w];
    if (m->fenced & bit(w) && !sm_warp_writes(m, w)) m->fenced &= ~bit(w);
    const struct uop *u = s->next;
    if (!u) {
        m->hazard &= ~bit(w);
        m->hazard_mem &= ~bit(w);
        return;
    }
    uint64_t any = s->pending_preds & u->hazard_preds, mem = 0;
    for (uint32_t i = 0; i < u->words; i++) {
        any |= s->pending[i].any & u->hazard[i];
        mem |= s->pending[i].memory & u->hazard[i];
    }
    if (m->fenced & bit(w) || (u->flags & UOP_WAIT && copies_pending(s, u->groups))) any = mem = 1;
    set(&m->hazard, w, any);
    set(&m->hazard_mem, w, mem);
}

static void flush_buffer(struct sm *m, uint32_t w)
{
    m->warps[w].buffered = 0;
    m->buffered &= ~bit(w);
    m->empty |= bit(w);
    m->wants_fetch = true;
    if (m->fetched_count && m->fetched_warp == w) m->fetched_count = 0;
}

static void check_buffer(struct sm *m, uint32_t w)
{
    struct sm_warp *s = &m->warps[w];
    if (!s->buffered && m->fetched_count && m->fetched_warp == w && m->fetched_pc == s->next_pc) return;
    if (s->buffered && s->buffer_pc == s->next_pc)
        m->buffered |= bit(w);
    else if (!m->fetches_past_branch)
        flush_buffer(m, w);
    else {
        m->buffered &= ~bit(w);
        if (s->buffered) m->astray |= bit(w);
    }
}

void sm_warps_set_right(struct sm *m)
{
    FOR_WARPS(w, m->astray)
    {
        flush_buffer(m, (uint32_t)w);
        m->warps[w].fetch_pc = m->warps[w].next_pc;
        m->changed = true;
    }
    m->astray = 0;
}

/* A warp has executed its last instruction. Mechanisms learn it here, not when its last stores are done and its
 * slot is free: it has nothing left to schedule. */
static void tell_end(struct sm *m, uint32_t w)
{
    const struct sm_warp *s = &m->warps[w];
    const struct sm_cta *c = &m->ctas[s->cta];
    mech_on_warp(m->mech, &(struct mech_warp_event){.cycle = m->cycle,
                                                    .warp = (int)w,
                                                    .cta_slot = s->cta,
                                                    .cta = c->linear,
                                                    .is_start = false,
                                                    .scheduler = w % m->schedulers,
                                                    .index = s->index,
                                                    .cta_warps = emu_cta_warps(c->emu)});
}

void sm_warp_next(struct sm *m, uint32_t w)
{
    struct sm_warp *s = &m->warps[w];
    enum emu_warp_state state = emu_warp_state(s->emu);
    if (s->next) m->next[s->next->cls] &= ~bit(w);
    m->memory_next &= ~bit(w);
    m->sees_next &= ~bit(w);
    m->held &= ~bit(w);
    m->wants_fetch |= m->empty & bit(w);
    s->next = NULL;
    if (state == EMU_WARP_READY) {
        uint32_t mask;
        emu_warp_peek(s->emu, &s->next_pc, &mask);
        s->next = &s->program->uops[s->next_pc];
        m->next[s->next->cls] |= bit(w);
        if (s->next->flags & UOP_DEVICE) m->memory_next |= bit(w);
        if (s->next->flags & UOP_SEES) m->sees_next |= bit(w);
        check_buffer(m, w);
    } else if (state == EMU_WARP_DONE) {
        if (!(m->done & bit(w))) tell_end(m, w);
        m->done |= bit(w);
        m->awaits_writes = true;
        flush_buffer(m, w);
        m->empty &= ~bit(w);
        m->astray &= ~bit(w);
    } else
        m->held |= bit(w);
    sm_warp_refresh(m, w);
}

void sm_warp_reserve(struct sm_warp *s, const struct uop *u)
{
    bool is_memory = u->cls == CLASS_MEM;
    for (uint32_t i = 0; i < u->words; i++) {
        s->pending[i].any |= u->def[i];
        if (is_memory) s->pending[i].memory |= u->def[i];
    }
    s->pending_preds |= u->def_preds;
}

void sm_warp_release(struct sm *m, uint32_t w, const struct uop *u)
{
    struct sm_warp *s = &m->warps[w];
    for (uint32_t i = 0; i < u->words; i++) {
        s->pending[i].any &= ~u->def[i];
        s->pending[i].memory &= ~u->def[i];
    }
    s->pending_preds &= (uint8_t)~u->def_preds;
    if ((m->hazard | m->fenced) & bit(w)) { /* what was no hazard has not become one */
        uint64_t hazard = m->hazard, hazard_mem = m->hazard_mem;
        sm_warp_refresh(m, w);
        m->changed |= m->hazard != hazard || m->hazard_mem != hazard_mem;
    }
    if (m->done & bit(w)) {
        m->changed = true;
        sm_warp_leave(m, w);
    }
}

void sm_warp_leave(struct sm *m, uint32_t w)
{
    struct sm_warp *s = &m->warps[w];
    if (!(m->done & bit(w)) || s->flights || sm_warp_writes(m, w)) return;
    struct sm_cta *c = &m->ctas[s->cta];
    m->resident &= ~bit(w);
    m->done &= ~bit(w);
    m->fenced &= ~bit(w);
    account_occupancy(m, m->cycle);
    m->warp_count--;
    m->stats.warps++;
    sm_own_of(m, w)->warps++;
    m->changed = true;
    if (--c->left) return;
    m->finished[s->cta / 64] |= bit(s->cta % 64);
    m->has_finished = true;
    sm_tell_news(m);
}

/* PTX ISA, "nanosleep": a warp may sleep from nothing to twice what it asks for, which is a millisecond at most. */
enum { SLEEP_NS_MAX = 1000000 };

COLD void sm_warp_sleep(struct sm *m, uint32_t w, uint32_t ns)
{
    uint64_t cycles =
        (uint64_t)MIN(ns, (uint32_t)SLEEP_NS_MAX) * m->p->nanosleep_percent * m->clock.khz / 100000000;
    if (!cycles) return;
    uint64_t until = m->cycle + cycles;
    m->warps[w].sleep_until = until;
    m->sleep_next = m->asleep ? MIN(m->sleep_next, until) : until;
    m->asleep |= bit(w);
    m->stats.sleeps++;
    sm_set_alarm(m);
}

COLD void sm_warps_awake(struct sm *m)
{
    if (!m->asleep || m->sleep_next > m->cycle) return;
    uint64_t next = UINT64_MAX;
    FOR_WARPS(w, m->asleep)
    {
        if (m->warps[w].sleep_until <= m->cycle)
            m->asleep &= ~bit((uint32_t)w);
        else
            next = MIN(next, m->warps[w].sleep_until);
    }
    m->sleep_next = next;
    m->changed = true;
    sm_set_alarm(m);
}

void sm_cta_recheck(struct sm *m, uint32_t cta)
{
    uint64_t released = 0;
    FOR_WARPS(w, m->ctas[cta].warps & m->held)
    {
        if (emu_warp_state(m->warps[w].emu) == EMU_WARP_AT_BARRIER) continue;
        sm_warp_next(m, (uint32_t)w);
        if (!(m->held & bit((uint32_t)w))) released |= bit((uint32_t)w);
        sm_warp_leave(m, (uint32_t)w);
    }
    if (released)
        mech_on_barrier(m->mech,
                        &(struct mech_barrier){.cycle = m->cycle, .warps = released, .is_wait = false});
}
