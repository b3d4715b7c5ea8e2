/* morpheus_sets.c: which lines are a set's, and what the set will hold when its request queue is empty. */
#include "mech/morpheus_state.h"

#include <string.h>

/* ---- 4.1.1: address separation, in proportion to capacity ---- */

static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }

/* Sets of the slice whose warps are among the first `warps`: warp w belongs to slice w modulo slices. */
static uint32_t sets_below(const struct morpheus *m, uint32_t warps)
{
    const uint32_t index = m->ports->index, slices = m->ports->slice_count;
    return warps > index ? (warps - index + slices - 1) / slices : 0;
}

static void divide_sets(struct morpheus *m)
{
    for (uint32_t i = 0; i < MORPHEUS_STORES; i++) {
        const uint32_t sms = m->ports->cache_sms;
        const uint32_t before = sms * parts_warps_before(m->params, (enum morpheus_store)i);
        const uint32_t first = sets_below(m, before);
        const uint32_t end = sets_below(m, before + sms * m->params->warps[i]);
        m->ranges[i] =
            (struct set_range){.first = first, .count = end - first, .blocks = m->params->blocks[i]};
        for (uint32_t k = first; k < end; k++) {
            m->sets[k].is_compressed = parts_compress(m->params, (enum morpheus_store)i);
            m->sets[k].blocks = m->sets[k].is_compressed ? MORPHEUS_COMPRESSED_SLOTS : m->params->blocks[i];
            morpheus_filter_hold(&m->filter, k, m->sets[k].blocks);
        }
    }
    mech_assert(m->ranges[MORPHEUS_STORES - 1].first + m->ranges[MORPHEUS_STORES - 1].count == m->set_count);
}

/* Gives sets their stores, and divides the lines between the slice and its sets. */
static void share_lines(struct morpheus *m)
{
    struct separator *s = &m->separator;
    divide_sets(m);
    m->before = *s;
    s->own = s->shares = m->ports->lines;
    for (uint32_t i = 0; i < MORPHEUS_STORES; i++)
        s->shares += (uint64_t)m->ranges[i].count * m->ranges[i].blocks;
    s->step = s->shares * 618 / 1000 + 1;
    while (divisor(s->shares, s->step) != 1) s->step++;
}

static uint64_t share_of(const struct separator *s, uint64_t number)
{
    return number % s->shares * s->step % s->shares;
}

static bool is_own(const struct separator *s, uint64_t number)
{
    return !s->shares || share_of(s, number) < s->own;
}

/* A line that was not the slice's own before may be older than memory: a host copy has left it there. */
bool sets_keeps_line(void *state, uint64_t number)
{
    const struct morpheus *m = state;
    return is_own(&m->before, number) && is_own(&m->separator, number);
}

struct set *sets_find(const struct morpheus *m, uint64_t number)
{
    uint64_t share = share_of(&m->separator, number);
    if (share < m->separator.own) return NULL;
    share -= m->separator.own;
    const struct set_range *r = m->ranges;
    for (; share >= (uint64_t)r->count * r->blocks; r++) share -= (uint64_t)r->count * r->blocks;
    return &m->sets[r->first + share % r->count];
}

/* ---- 4.1.2: prediction ---- */

static uint32_t tag_find(const struct set *s, uint32_t tag)
{
    uint32_t i = 0;
    while (i < s->tag_count && s->tags[i] != tag) i++;
    return i;
}

static uint32_t index_of(const struct morpheus *m, const struct set *s) { return (uint32_t)(s - m->sets); }

uint32_t sets_tag(const struct morpheus *m, uint64_t line) { return (uint32_t)(line / m->ports->line_bytes); }

struct morpheus_filter_shape sets_filter_shape(const struct morpheus_params *p, uint32_t sets)
{
    return (struct morpheus_filter_shape){.sets = sets,
                                          .filter_bytes = p->filter_bytes,
                                          .hashes = p->filter_hashes,
                                          .blocks = MORPHEUS_BLOCKS_MAX};
}

static void use_exactly(struct set *s, uint32_t tag)
{
    uint32_t i = tag_find(s, tag);
    if (i == s->tag_count && s->tag_count < s->blocks) s->tag_count++;
    if (i == s->blocks) i--;
    memmove(&s->tags[1], &s->tags[0], i * sizeof s->tags[0]);
    s->tags[0] = tag;
}

/* The filters have forgotten what was not entered since the swap before. A compressed set can hold it all the
 * same: the next request makes it give such blocks up. */
static void count_swap(struct morpheus *m, struct set *s)
{
    m->swaps++;
    s->has_swapped = s->is_compressed;
}

/* A block that was looked up counts when it is found, or inserted because it was not. */
static bool counts_late(struct morpheus *m, const struct set *s, const struct request *r)
{
    return morpheus_filter_found(&m->filter, index_of(m, s), r->mark);
}

void sets_use(struct morpheus *m, struct set *s, struct request *r)
{
    const uint32_t tag = sets_tag(m, r->line);
    s->is_used = true;
    r->forgets = s->has_swapped;
    s->has_swapped = false;
    if (m->params->predictor == PREDICTOR_PERFECT) use_exactly(s, tag);
    if (m->params->predictor != PREDICTOR_BLOOM) return;
    if (r->op != MORPHEUS_INSERT)
        r->mark = morpheus_filter_look_up(&m->filter, index_of(m, s), tag);
    else if (morpheus_filter_enter(&m->filter, index_of(m, s), tag) || counts_late(m, s, r))
        count_swap(m, s);
}

void sets_found(struct morpheus *m, struct set *s, const struct request *r)
{
    if (m->params->predictor != PREDICTOR_BLOOM || r->op == MORPHEUS_INSERT) return;
    if (counts_late(m, s, r)) count_swap(m, s);
}

void sets_clear(struct morpheus *m, struct set *s)
{
    s->is_used = s->has_swapped = false;
    s->tag_count = 0;
    if (m->params->predictor == PREDICTOR_BLOOM) morpheus_filter_clear(&m->filter, index_of(m, s));
}

bool sets_predict(const struct morpheus *m, const struct set *s, uint32_t tag)
{
    switch (m->params->predictor) {
    case PREDICTOR_BLOOM: return morpheus_filter_query(&m->filter, index_of(m, s), tag);
    case PREDICTOR_PERFECT: return tag_find(s, tag) < s->tag_count;
    default: return true;
    }
}

/* ---- life ---- */

void sets_init(void *state, const void *params, const struct mech_slice_ports *ports)
{
    struct morpheus *m = state;
    m->params = params;
    m->ports = ports;
    m->set_count = ports->warps;
    m->sets = ports->memory(ports->host, ports->warps * sizeof *m->sets);
    m->free_requests = NULL;
    m->free_fetches = NULL;
    m->fetch_chunk_count = m->inserts_waiting = m->queued = m->fetching = 0;
    m->is_retired = false;
    const struct morpheus_filter_shape shape = sets_filter_shape(params, ports->warps ? ports->warps : 1);
    morpheus_filter_init(&m->filter, &shape, ports->memory(ports->host, morpheus_filter_memory(&shape)));
    share_lines(m);
}

void sets_on_host_write(void *state, uint64_t line, uint64_t number)
{
    struct morpheus *m = state;
    struct set *s = m->set_count ? sets_find(m, number) : NULL;
    if (!s || s->must_clear || !s->is_used) return;
    s->must_clear = true;
    sets_clear(m, s);
    m->clears++;
}

/* ---- 4.3.1: compression ---- */

static uint32_t rows_of(const struct morpheus *m, const struct set *s)
{
    const uint32_t number = index_of(m, s);
    const struct set_range *r = m->ranges;
    while (number >= r->first + r->count) r++;
    return r->blocks;
}

void sets_report(struct morpheus *m, const struct set *s, const struct morpheus_report *r)
{
    const uint32_t none = r->rows & UINT16_MAX, high = r->rows >> 16, low = rows_of(m, s) - none - high;
    m->allotments++;
    m->rows_none += none;
    m->rows_low += low;
    m->rows_high += high;
    m->slots += none + 2 * low + 4 * high;
    m->stored_none += r->none / 4;
    m->stored_low += r->low / 2;
    m->stored_high += r->high;
}
