/* fetch.c: instruction fetch and decode.
 *
 * As in GPGPU-Sim: one warp a cycle, in turn, among those whose instruction buffer is empty; fetch_width
 * instructions of one line of the instruction cache; decoded in the next cycle, so that they can issue in the
 * one after. With fetch_past_branch a warp fetches on behind a branch; the scheduler, when it finds other
 * instructions than the next one in the buffer, empties it and sets the fetch right. A miss goes to L2 as a read of the code's address; the warp fetches again when the line has
 * come. A branch that is taken empties the buffer (sm_warp.c). */
#include "core/sm_impl.h"

void sm_decode(struct sm *m)
{
    uint32_t w = m->fetched_warp;
    struct sm_warp *s = &m->warps[w];
    assert(m->resident & bit(w) && !s->buffered);
    s->buffer_pc = m->fetched_pc;
    s->buffered = m->fetched_count;
    m->fetched_count = 0;
    m->changed = true;
    if (s->buffer_pc == s->next_pc && s->next) {
        m->buffered |= bit(w);
        return;
    }
    if (m->fetches_past_branch && s->next) {
        m->astray |= bit(w);
        return;
    }
    s->buffered = 0; /* control went elsewhere meanwhile */
    m->empty |= bit(w);
    m->wants_fetch = true;
}

static uint64_t wanting(const struct sm *m)
{
    return m->resident & m->empty & ~m->done & ~m->held & ~m->missed;
}

void sm_fetch_filled(void *sm, const uint32_t *warps, uint32_t count)
{
    struct sm *m = sm;
    for (uint32_t i = 0; i < count; i++) m->missed &= ~bit(warps[i]);
    m->wants_fetch = m->changed = true;
}

/* Instructions from pc on that one access brings: to the end of the line, of the buffer, of the code. */
static uint32_t fetch_length(const struct sm *m, const struct sm_warp *s)
{
    uint32_t per_line = m->p->icache_line / SM_INST_BYTES;
    uint32_t count = MIN(m->p->fetch_width, m->p->ibuffer);
    count = MIN(count, per_line - s->fetch_pc % per_line);
    return MIN(count, s->program->kernel->inst_count - s->fetch_pc);
}

void sm_fetch(struct sm *m)
{
    if (m->fetched_count) return;
    uint64_t want = wanting(m);
    m->wants_fetch = want;
    if (!want) return;
    uint64_t after = want & ~((2ull << m->fetch_last) - 1);
    uint32_t w = (uint32_t)__builtin_ctzll(after ? after : want);
    struct sm_warp *s = &m->warps[w];
    m->changed = true;
    if (!m->fetches_past_branch || s->fetch_pc >= s->program->kernel->inst_count) s->fetch_pc = s->next_pc;
    if (!m->p->perfect_icache) {
        uint64_t address = s->program->code + (uint64_t)s->fetch_pc * SM_INST_BYTES;
        enum rocache_answer a = lsu_ask_read_only(m, RO_INST, address, w, w, s->fetch_pc);
        m->fetch_last = w;
        if (a == ROCACHE_STALL) return;
        m->stats.fetches++;
        if (a == ROCACHE_MISS) {
            m->stats.icache_misses++;
            m->missed |= bit(w);
            return;
        }
    } else
        m->stats.fetches++;
    m->fetch_last = w;
    m->fetched_warp = w;
    m->fetched_pc = s->fetch_pc;
    m->fetched_count = (uint8_t)fetch_length(m, s);
    m->empty &= ~bit(w);
}
