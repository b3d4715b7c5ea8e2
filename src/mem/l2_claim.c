/* l2_claim.c: see l2_claim.h. */
#include "mem/l2_claim_impl.h"

/* ---- chains of requests ---- */

static void chain_push(struct l2_slice *s, struct l2_chain *c, uint32_t id)
{
    req_at(s->pool, id)->next = REQ_NONE;
    if (c->count++)
        req_at(s->pool, c->tail)->next = id;
    else
        c->head = id;
    c->tail = id;
}

static uint32_t chain_pop(struct l2_slice *s, struct l2_chain *c)
{
    const uint32_t id = c->head;
    c->head = req_at(s->pool, id)->next;
    c->count--;
    return id;
}

/* ---- DRAM ---- */

static void send_to_dram(struct l2_slice *s, tick now, const struct l2_dram_access *a)
{
    const struct req made = {.addr = a->addr,
                             .sectors = a->sectors,
                             .write_bytes = a->kind == REQ_WRITE ? l2_sector_bytes(a->sectors) : 0,
                             .kind = (uint8_t)a->kind,
                             .cls = REQ_GLOBAL,
                             .token = a->tag,
                             .client = L2_TAKER_CLIENT,
                             .slice = (uint16_t)s->index,
                             .born = now};
    const uint32_t id = req_new(s->pool, &made);
    assert(req_at(s->pool, id)->slice == s->index);
    chain_push(s, &s->claims->sends, id);
    if (a->kind == REQ_READ) {
        s->claims->reads++;
        s->stats.fetches++;
        s->stats.fetched_sectors += req_sector_count(a->sectors);
    } else {
        s->stats.writebacks++;
        s->stats.written_sectors += req_sector_count(a->sectors);
    }
}

/* ---- creation and end ---- */

void l2_use_taker(struct l2_slice *s, const struct l2_taker *taker)
{
    const bool is_first = !s->claims;
    if (is_first) s->claims = mem_zalloc(sizeof *s->claims);
    s->variant |= L2_CLAIMED;
    s->claims->taker = *taker;
    if (is_first) l2_make_pipes(s);
}

bool l2_claims_idle(const struct l2_claims *c)
{
    return c->live == c->parked && !c->replies.count && !c->sends.count && !c->reads && !c->keeps &&
           !c->other.pipe.ring.count;
}

uint32_t l2_parked(const struct l2_slice *s) { return s->claims ? s->claims->parked : 0; }

/* ---- calls of the slice ---- */

enum l2_take l2_offer_head(struct l2_slice *s, uint32_t id, tick now)
{
    struct l2_claims *c = s->claims;
    struct req *r = req_at(s->pool, id);
    if (c->head_passed) return L2_TAKE_PASSES;
    c->live++; /* the taker may answer it at once */
    const enum l2_take answer = c->taker.take(c->taker.ctx, now, id, r, s->head_local);
    assert(answer != L2_TAKE_WAITS || !c->has_messages); /* invariant 1 */
    c->live -= answer != L2_TAKE_CLAIMS;
    c->head_passed = answer == L2_TAKE_PASSES;
    if (answer != L2_TAKE_CLAIMS) return answer;
    r->at_l2 = s->head_ready - s->tags_after;
    l2_count_data(s, r);
    if (r->kind == REQ_WRITE) l2_tell_write(s, r);
    return answer;
}

bool l2_claim_fill(struct l2_slice *s, uint32_t id, tick now)
{
    const struct req *r = req_at(s->pool, id);
    if (r->client != L2_TAKER_CLIENT) return false;
    const uint32_t tag = r->token;
    link_pop(s->from_dram, now);
    s->has_fills = s->from_dram->count != 0;
    req_del(s->pool, id);
    s->claims->reads--;
    s->claims->taker.on_dram(s->claims->taker.ctx, now, tag);
    return true;
}

static void send_reply(struct l2_slice *s, tick now)
{
    struct l2_claims *c = s->claims;
    if (!c->replies.count || s->replied || !l2_out_has_room(s, now) || !link_can_push(s->out, now)) return;
    link_push(s->out, now, chain_pop(s, &c->replies));
    s->counts.replies++;
    s->replied = c->has_sent = true;
}

static void send_dram(struct l2_slice *s, tick now)
{
    struct l2_claims *c = s->claims;
    if (!c->sends.count || !l2_dram_has_room(s, now)) return;
    l2_see_room(s, now);
    l2_send(s, chain_pop(s, &c->sends), now);
    c->has_sent = true;
}

/* ---- lines that leave ---- */

static bool leaves(const struct l2_slice *s, uint32_t line)
{
    const struct cache_line *l = &s->cache.lines[line];
    return l->used && !s->claims->keeps(s->claims->taker.ctx, l->addr);
}

/* Drops one line a cycle, while nothing else waits for DRAM. Lines that stay take no time. A line that waits
 * for data, such as the helper's code, leaves when the data has come. */
static void drop_line(struct l2_slice *s, tick now)
{
    struct l2_claims *c = s->claims;
    const uint32_t lines = cache_lines(&s->cache);
    while (c->drop_cursor < lines && !leaves(s, c->drop_cursor)) c->drop_cursor++;
    if (c->drop_cursor == lines) {
        c->keeps = NULL;
        return;
    }
    if (s->cache.lines[c->drop_cursor].reserved) return;
    const uint32_t line = c->drop_cursor++;
    const uint32_t dirty = s->cache.lines[line].dirty;
    const uint32_t sectors = s->is_sectored ? dirty : s->line_sectors;
    if (dirty)
        send_to_dram(
            s, now,
            &(struct l2_dram_access){.addr = s->line_addr[line], .sectors = sectors, .kind = REQ_WRITE});
    cache_invalidate(&s->cache, line);
    s->is_probed = false;
}

void l2_drop_lines(struct l2_slice *s, bool (*keeps)(void *ctx, uint64_t local))
{
    assert(s->claims && l2_idle(s));
    s->claims->keeps = keeps;
    s->claims->drop_cursor = 0;
    s->act_at = 0;
}

void l2_claims_cycle(struct l2_slice *s, tick now)
{
    s->claims->has_sent = false;
    if (UNLIKELY(s->claims->keeps != NULL) && !s->claims->sends.count) drop_line(s, now);
    send_reply(s, now);
    send_dram(s, now);
}

/* ---- calls of the taker ---- */

void l2_apply_claim(struct l2_slice *s, uint32_t id) { l2_apply_atomic(s, req_at(s->pool, id)); }

void l2_answer_claim(struct l2_slice *s, uint32_t id)
{
    struct l2_claims *c = s->claims;
    struct req *r = req_at(s->pool, id);
    assert(c->live);
    c->parked -= r->is_parked;
    r->is_parked = false;
    c->live--;
    chain_push(s, &c->replies, id);
    s->act_at = 0; /* if it is not answered in a tick, the next tick acts */
}

void l2_park_claim(struct l2_slice *s, uint32_t id)
{
    struct req *r = req_at(s->pool, id);
    assert(!r->is_parked);
    r->is_parked = true;
    s->claims->parked++;
}

void l2_access_dram(struct l2_slice *s, tick now, const struct l2_dram_access *a)
{
    struct l2_dram_access moved = *a;
    moved.sectors = l2_moved(s, a->sectors);
    send_to_dram(s, now, &moved);
}
