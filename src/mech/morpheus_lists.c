/* morpheus_lists.c: the lists of a Morpheus controller: see morpheus_state.h. */
#include "mech/morpheus_state.h"

struct request *request_new(struct morpheus *m, const struct request *from)
{
    if (!m->free_requests) {
        struct request *chunk = m->ports->memory(m->ports->host, MORPHEUS_CHUNK * sizeof *chunk);
        for (uint32_t i = 0; i < MORPHEUS_CHUNK; i++)
            chunk[i].next = i + 1 < MORPHEUS_CHUNK ? &chunk[i + 1] : NULL;
        m->free_requests = chunk;
    }
    struct request *r = m->free_requests;
    m->free_requests = r->next;
    *r = *from;
    r->next = NULL;
    return r;
}

void request_free(struct morpheus *m, struct request *r)
{
    r->next = m->free_requests;
    m->free_requests = r;
}

static struct request *newest_for(const struct set *s, uint64_t line)
{
    struct request *found = s->current && s->current->line == line ? s->current : NULL;
    for (struct request *r = s->first; r; r = r->next)
        if (r->line == line) found = r;
    return found;
}

/* The warp gives a read the whole block. It takes a write's sectors, and what atomics add, when it gets the
 * request. */
bool request_join(struct morpheus *m, const struct set *s, struct request *r)
{
    struct request *to = m->params->joins ? newest_for(s, r->line) : NULL;
    if (!to || to->op != r->op) return false;
    if (to == s->current && r->op != MORPHEUS_READ) return false;
    to->sectors |= r->sectors;
    to->wanted |= r->wanted;
    to->is_partial |= r->is_partial;
    request_append(&to->joined, &to->joined_last, r);
    if (r->joined) { /* an atomic that missed: those that wait with it come too */
        r->next = r->joined;
        to->joined_last = r->joined_last;
        r->joined = NULL;
    }
    m->joined++;
    return true;
}

void request_give_slot(struct morpheus *m, struct request *r)
{
    m->queued -= r->has_slot;
    r->has_slot = false;
}

static void answer(struct morpheus *m, struct request *r)
{
    if (r->has_token) m->ports->reply(m->ports->host, r->token);
    request_give_slot(m, r);
    request_free(m, r);
}

void request_end(struct morpheus *m, struct request *r)
{
    for (struct request *j = r->joined, *next; j; j = next) {
        next = j->next;
        answer(m, j);
    }
    answer(m, r);
}

static struct fetch *take_fetch(struct morpheus *m)
{
    if (!m->free_fetches) {
        struct fetch *chunk = m->ports->memory(m->ports->host, MORPHEUS_CHUNK * sizeof *chunk);
        for (uint32_t i = 0; i < MORPHEUS_CHUNK; i++) {
            chunk[i].tag = m->fetch_chunk_count * MORPHEUS_CHUNK + i;
            chunk[i].next = i + 1 < MORPHEUS_CHUNK ? &chunk[i + 1] : NULL;
        }
        m->fetch_chunks[m->fetch_chunk_count++] = chunk;
        m->free_fetches = chunk;
    }
    struct fetch *f = m->free_fetches;
    m->free_fetches = f->next;
    return f;
}

void request_append(struct request **first, struct request **last, struct request *r)
{
    r->next = NULL;
    if (*first)
        (*last)->next = r;
    else
        *first = r;
    *last = r;
}

struct fetch *fetch_find(const struct set *s, uint64_t line)
{
    struct fetch *f = s->fetches;
    while (f && f->line != line) f = f->next;
    return f;
}

struct fetch *fetch_add(struct morpheus *m, struct set *s, uint64_t line)
{
    struct fetch *f = take_fetch(m);
    *f = (struct fetch){.next = s->fetches, .set = s, .line = line, .tag = f->tag};
    s->fetches = f;
    m->fetching++;
    return f;
}

struct fetch *fetch_at(const struct morpheus *m, uint32_t tag)
{
    return &m->fetch_chunks[tag / MORPHEUS_CHUNK][tag % MORPHEUS_CHUNK];
}

void fetch_remove(struct morpheus *m, struct fetch *f)
{
    struct fetch **at = &f->set->fetches;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    m->fetching--;
    f->next = m->free_fetches;
    m->free_fetches = f;
}
