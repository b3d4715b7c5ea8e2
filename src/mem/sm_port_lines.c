/* sm_port_lines.c: converts between the lines of an SM's caches and those of the L2.
 *
 * A client asks for sectors of its own line. A request on the link names sectors of one line of the L2,
 * because tags, MSHRs and slices of the L2 know no other lines. If the wanted sectors lie in one line of the
 * L2, the request is renamed on its way out and gets its own name back with the reply. If they lie in
 * several, each of these lines gets a request of its own, a part; the parts leave one a cycle, and the client
 * gets its reply when the last part is answered.
 *
 * Invariants. (1) Each sector of a request travels in exactly one part, and so does each byte of its data.
 * (2) A client sees its requests as it made them. (3) An atomic is never divided: it takes effect at one
 * slice (coalesce.h). */
#include "mem/sm_port.h"

enum { SECTOR_BYTES = 32 };

static uint32_t mask_of(uint32_t line_bytes) { return (uint32_t)((1ull << line_bytes / SECTOR_BYTES) - 1); }

static uint64_t line_of(uint64_t addr, uint32_t line_bytes) { return addr & ~(uint64_t)(line_bytes - 1); }

/* Converts a mask of sectors of the line `from` into one of the line `to`. */
static uint32_t move_mask(uint32_t sectors, uint64_t from, uint64_t to)
{
    return from >= to ? sectors << (from - to) / SECTOR_BYTES : sectors >> (to - from) / SECTOR_BYTES;
}

/* The line of the L2 that holds the lowest of these sectors, and the sectors that lie in it. */
struct share {
    uint64_t line;
    /* the sectors with the client's numbers; with the L2's numbers */
    uint32_t sectors, named;
};

static struct share first_share(const struct sm_port *p, const struct req *r, uint32_t sectors)
{
    uint64_t first = r->addr + SECTOR_BYTES * (uint32_t)__builtin_ctz(sectors);
    uint64_t line = line_of(first, p->line_bytes);
    uint32_t whole = mask_of(p->line_bytes);
    struct share s = {.line = line};
    s.sectors = line >= r->addr ? sectors & move_mask(whole, line, r->addr) : sectors;
    s.named = move_mask(s.sectors, r->addr, line);
    assert(s.named && !(s.named & ~whole));
    return s;
}

/* ---- out ---- */

static void begin_parts(struct sm_port *p, uint32_t id)
{
    struct req *r = req_at(p->pool, id);
    assert(r->kind != REQ_ATOMIC && r->write_bytes % req_sector_count(r->sectors) == 0);
    r->l2_hit = true; /* TICK_NEVER if all parts hit */
    r->at_l2 = TICK_NEVER;
    for (uint32_t rest = r->sectors; rest; rest &= ~first_share(p, r, rest).sectors) r->parts++;
    p->out += r->parts - 1u;
    p->whole = id;
    p->whole_left = r->sectors;
    p->to_send++; /* it stays until the last part has left */
}

uint32_t sm_port_next_part(struct sm_port *p)
{
    const struct req *whole = req_at(p->pool, p->whole);
    const struct share s = first_share(p, whole, p->whole_left);
    struct req part = *whole;
    part.addr = s.line;
    part.sectors = s.named;
    part.write_bytes = whole->write_bytes / req_sector_count(whole->sectors) * req_sector_count(s.named);
    part.token = p->whole;
    part.is_part = true;
    part.parts = 0;
    part.l2_hit = false;
    p->whole_left &= ~s.sectors;
    p->to_send -= !p->whole_left;
    return req_new(p->pool, &part);
}

uint32_t sm_port_name(struct sm_port *p, uint32_t id)
{
    struct req *r = req_at(p->pool, id);
    struct share s = first_share(p, r, r->sectors);
    if (s.sectors != r->sectors) {
        begin_parts(p, id);
        return sm_port_next_part(p);
    }
    req_rename(p->pool, r, s.line, s.named);
    return id;
}

/* ---- back ---- */

/* Restores the line and sectors of a request that was renamed. */
static void give_name_back(const struct sm_port *p, struct req *r)
{
    uint64_t first = r->addr + SECTOR_BYTES * (uint32_t)__builtin_ctz(r->sectors);
    uint64_t line = line_of(first, p->clients[r->client].line_bytes);
    const tick at_l2 = r->at_l2; /* the map overwrites it */
    req_rename(p->pool, r, line, move_mask(r->sectors, r->addr, line));
    r->at_l2 = at_l2;
}

/* A part is answered. True: it was the last one. */
static bool end_part(struct sm_port *p, uint32_t id)
{
    const struct req *part = req_at(p->pool, id);
    struct req *whole = req_at(p->pool, part->token);
    whole->l2_hit &= part->l2_hit;
    whole->at_l2 = MIN(whole->at_l2, part->at_l2);
    assert(whole->parts);
    req_del(p->pool, id);
    return --whole->parts == 0;
}

void sm_port_reply_named(void *port, tick now, uint32_t id)
{
    struct sm_port *p = port;
    struct req *r = req_at(p->pool, id);
    const struct sm_port_handler *h = &p->clients[r->client];
    if (!r->is_part)
        give_name_back(p, r);
    else {
        uint32_t whole = r->token;
        if (!end_part(p, id)) return;
        id = whole;
    }
    h->reply(h->ctx, now, id);
}
