/* pcrf.c: see pcrf.h.
 *
 * (1) The chain of a CTA goes from its pointer over `next` to the entry whose end bit is set; it has as many
 * entries as the pointer table says. (2) An entry is valid, in the free-space monitor and in exactly one
 * chain, or none of these. */
#include "mech/pcrf.h"

void pcrf_init(struct pcrf *p, const struct mech_ports *ports, uint32_t entries)
{
    p->entries = p->free = entries;
    p->tags = ports->memory(ports->host, entries * sizeof *p->tags);
    p->taken = ports->memory(ports->host, (entries + 63) / 64 * sizeof *p->taken);
    p->chains = ports->memory(ports->host, ports->ctas * sizeof *p->chains);
}

uint32_t pcrf_next(const struct pcrf *p)
{
    uint32_t word = 0;
    while (!~p->taken[word]) word++;
    return word * 64 + (uint32_t)__builtin_ctzll(~p->taken[word]);
}

void pcrf_append(struct pcrf *p, uint32_t cta, uint32_t warp, uint32_t reg)
{
    struct pcrf_chain *c = &p->chains[cta];
    const uint16_t at = (uint16_t)pcrf_next(p);
    p->tags[at] =
        (struct pcrf_tag){.is_valid = true, .is_end = true, .warp = (uint8_t)warp, .reg = (uint8_t)reg};
    p->taken[at / 64] |= 1ull << at % 64;
    p->free--;
    if (c->count++) {
        p->tags[c->last].is_end = false;
        p->tags[c->last].next = at;
    } else {
        c->first = at;
    }
    c->last = at;
}

struct pcrf_tag pcrf_first(const struct pcrf *p, uint32_t cta) { return p->tags[p->chains[cta].first]; }

struct pcrf_tag pcrf_take(struct pcrf *p, uint32_t cta)
{
    struct pcrf_chain *c = &p->chains[cta];
    const uint16_t at = c->first;
    const struct pcrf_tag tag = p->tags[at];
    p->tags[at].is_valid = false;
    p->taken[at / 64] &= ~(1ull << at % 64);
    p->free++;
    c->count--;
    c->first = tag.next;
    return tag;
}
