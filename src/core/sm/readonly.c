/* readonly.c: see readonly.h. Each of the small caches is a client of the SM's port (mem/sm_port.h). */
#include "core/sm/sm_impl.h"

/* Reads of mechanisms: a sector each. They are counted as reads of instructions. */
enum { SIDE_BYTES = COALESCE_SECTOR_BYTES, SIDE_READS = 16, SIDE_MERGES = 4 };

void readonly_init(struct sm *m, const struct sm_params *p)
{
    const struct rocache_setup caches[RO_COUNT] = {
        [RO_INST] = {p->icache_bytes, p->icache_ways, p->icache_line, p->icache_mshrs, p->icache_merges,
                     .cls = REQ_INST, .client = SM_PORT_INST, .on_fill = fetch_filled},
        [RO_CONST] = {p->const_bytes, p->const_ways, p->const_line, p->const_mshrs, p->const_merges,
                      .cls = REQ_CONST, .client = SM_PORT_CONST, .on_fill = lsu_filled},
        [RO_TEX] = {p->tex_bytes, p->tex_ways, p->tex_line, p->tex_mshrs, p->tex_merges, .cls = REQ_TEX,
                    .client = SM_PORT_TEX, .on_fill = lsu_filled},
        [RO_SIDE] = {SIDE_BYTES, 1, SIDE_BYTES, SIDE_READS, SIDE_MERGES, .keeps_none = true, .cls = REQ_INST,
                     .client = SM_PORT_SIDE, .on_fill = sm_mech_filled}};
    for (int i = 0; i < RO_COUNT; i++) {
        struct rocache_setup s = caches[i];
        s.sm = m->setup.index;
        s.pool = m->setup.pool;
        s.port = m->port;
        s.ctx = m;
        rocache_init(&m->readonly.cache[i], &s);
    }
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
    m->misses.unsent += (uint16_t)(c->unsent - before);
    return a;
}

COLD void readonly_send(struct sm *m)
{
    for (int i = 0; i < RO_COUNT; i++)
        m->misses.unsent -= (uint16_t)rocache_send(&m->readonly.cache[i], m->sleep.now);
}
