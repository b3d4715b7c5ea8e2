/* readonly.c: see readonly.h. Misses of the small caches travel to the L2 beside those of the L1. */
#include "core/sm/sm_impl.h"

void readonly_init(struct sm *m, const struct sm_params *p)
{
    struct rocache *c = m->readonly.cache;
    rocache_init(&c[RO_INST], p->icache_bytes, p->icache_ways, p->icache_line, p->icache_mshrs,
                 p->icache_merges);
    rocache_init(&c[RO_CONST], p->const_bytes, p->const_ways, p->const_line, p->const_mshrs, p->const_merges);
    rocache_init(&c[RO_TEX], p->tex_bytes, p->tex_ways, p->tex_line, p->tex_mshrs, p->tex_merges);
}

void readonly_free(struct sm *m)
{
    for (int i = 0; i < RO_COUNT; i++) rocache_free(&m->readonly.cache[i]);
}

bool readonly_idle(const struct sm *m)
{
    for (int i = 0; i < RO_COUNT; i++)
        if (m->readonly.cache[i].live) return false;
    return true;
}

void readonly_flush(struct sm *m)
{
    for (int i = 0; i < RO_COUNT; i++)
        if (!m->readonly.cache[i].live) rocache_clear(&m->readonly.cache[i]);
}

enum rocache_answer readonly_ask(struct sm *m, enum sm_ro which, uint64_t addr, uint32_t waiter,
                                 uint32_t context, uint32_t pc)
{
    struct rocache *c = &m->readonly.cache[which];
    const uint32_t before = c->unsent;
    const enum rocache_answer a = rocache_access(c, addr, waiter, (uint16_t)context, pc);
    m->misses.unsent += c->unsent - before;
    return a;
}

COLD void readonly_send(struct sm *m)
{
    static const uint8_t cls[RO_COUNT] = {[RO_INST] = REQ_INST, [RO_CONST] = REQ_CONST, [RO_TEX] = REQ_TEX};
    for (uint32_t i = 0; i < RO_COUNT; i++) {
        struct rocache *c = &m->readonly.cache[i];
        if (!c->unsent) continue;
        const uint32_t miss = rocache_unsent(c);
        const uint64_t line = c->misses[miss].line, base = line / m->line_bytes * m->line_bytes;
        const uint32_t sectors = MAX(c->line_bytes / COALESCE_SECTOR_BYTES, 1u);
        struct req r = {.addr = base,
                        .sectors = (uint32_t)((1ull << sectors) - 1) << (line - base) / COALESCE_SECTOR_BYTES,
                        .kind = REQ_READ,
                        .cls = cls[i],
                        .sm = (uint16_t)m->setup.index,
                        .warp = c->misses[miss].warp,
                        .pc = c->misses[miss].pc,
                        .token = miss,
                        .born = m->sleep.now};
        const uint32_t id = req_new(m->setup.pool, &r);
        if (l1_send(m->l1, m->sleep.now, id)) {
            rocache_sent(c, miss);
            m->misses.unsent--;
        } else
            req_del(m->setup.pool, id);
    }
}

void readonly_reply(struct sm *m, uint32_t req)
{
    static const uint8_t of_class[REQ_CLASS_COUNT] = {
        [REQ_CONST] = RO_CONST, [REQ_TEX] = RO_TEX, [REQ_INST] = RO_INST};
    const struct req *r = req_at(m->setup.pool, req);
    const uint32_t which = of_class[r->cls];
    const uint32_t *waiters;
    const uint32_t count = rocache_fill(&m->readonly.cache[which], r->token, &waiters);
    req_del(m->setup.pool, req);
    sleep_changed(&m->sleep);
    for (uint32_t i = 0; i < count; i++) {
        if (which == RO_INST)
            fetch_filled(m, waiters[i]);
        else
            lsu_filled(m, waiters[i]);
    }
}
