/* morpheus_sets.c: which lines are a set's, and what the set will hold when its request queue is empty. */
#include "mech/morpheus_state.h"

#include <string.h>

/* ---- 4.1.1: address separation, in proportion to capacity ---- */

static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }

void sets_share(struct morpheus *m)
{
    m->own = m->ports->lines;
    m->shares = m->own + (uint64_t)m->set_count * m->params->blocks;
    m->step = m->shares * 618 / 1000 + 1;
    while (divisor(m->shares, m->step) != 1) m->step++;
}

struct set *sets_find(const struct morpheus *m, uint64_t number)
{
    const uint64_t share = number % m->shares * m->step % m->shares;
    return share < m->own ? NULL : &m->sets[(share - m->own) % m->set_count];
}

/* ---- 4.1.2: prediction ---- */

static uint32_t tag_find(const struct set *s, uint32_t tag)
{
    uint32_t i = 0;
    while (i < s->tag_count && s->tags[i] != tag) i++;
    return i;
}

void sets_use(const struct morpheus *m, struct set *s, uint32_t tag)
{
    uint32_t i = tag_find(s, tag);
    if (i == s->tag_count && s->tag_count < m->params->blocks) s->tag_count++;
    if (i == m->params->blocks) i--;
    memmove(&s->tags[1], &s->tags[0], i * sizeof s->tags[0]);
    s->tags[0] = tag;
}

bool sets_predict(const struct morpheus *m, const struct set *s, uint32_t tag)
{
    return m->params->predictor == PREDICTOR_NONE || tag_find(s, tag) < s->tag_count;
}
