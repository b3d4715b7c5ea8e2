/* morpheus_table.c: the warp status table and the data buffers of a Morpheus controller (4.1.3), by which it
 * talks to the warps of the extended LLC kernel: see morpheus.h.
 *
 * Of a warp's messages the controller relies on no order: the collectors of an SM may change it. */
#include "mech/morpheus_state.h"

#include <string.h>

static void *line_of(const struct morpheus *m, const struct set *s, uint32_t line)
{
    const uint32_t number = (uint32_t)(s - m->sets) * MORPHEUS_WINDOW_LINES + line;
    return m->ports->window(m->ports->host, number);
}

struct morpheus_row *table_row(const struct morpheus *m, const struct set *s)
{
    return line_of(m, s, MORPHEUS_ROW_LINE);
}

void table_answer(const struct morpheus *m, uint32_t token)
{
    m->ports->apply(m->ports->host, token);
    m->ports->reply(m->ports->host, token);
}

static void fill_row(const struct morpheus *m, const struct set *s, uint32_t op)
{
    struct morpheus_row *row = table_row(m, s);
    row->op = op;
    row->tag = s->current ? sets_tag(m, s->current->line) : 0;
    row->base = morpheus_base(op, s->blocks);
    row->sums = (uint32_t)((unsigned char *)line_of(m, s, MORPHEUS_SUMS_LINE) -
                           (unsigned char *)line_of(m, s, MORPHEUS_DATA_LINE));
}

static uint32_t op_of(const struct set *s, const struct request *r)
{
    uint32_t op = r->op | (r->is_dirty ? MORPHEUS_FLAG_DIRTY : 0) |
                  (s->must_clear ? MORPHEUS_FLAG_CLEAR : 0) | (r->forgets ? MORPHEUS_FLAG_FORGET : 0);
    for (uint32_t i = 0; i < 4; i++) op |= (r->sectors >> i & 1) << (MORPHEUS_SECTOR_SHIFT - i);
    return op;
}

/* The write data buffer goes with every request but a read. That of an atomic is empty: what it adds is known
 * when the step has ended. */
static void answer_data(const struct morpheus *m, struct set *s, uint32_t token)
{
    memcpy(line_of(m, s, MORPHEUS_DATA_LINE), m->ports->line(m->ports->host, s->current->line),
           m->ports->line_bytes);
    table_answer(m, token);
    s->is_data_parked = s->wants_data = false;
}

void table_give_request(struct morpheus *m, struct set *s)
{
    fill_row(m, s, op_of(s, s->current));
    s->must_clear = false;
    s->wants_data = s->current->op != MORPHEUS_READ;
    if (s->wants_data && s->is_data_parked) answer_data(m, s, s->data_parked);
    s->is_parked = false;
    table_answer(m, s->parked);
}

/* A warp that sends its dirty blocks first forgets what a host copy has overwritten. */
void table_give_exit(struct morpheus *m, struct set *s)
{
    const bool forgets = m->params->choose == CHOOSE_ONLINE && s->must_clear;
    fill_row(m, s, MORPHEUS_EXIT | (forgets ? MORPHEUS_FLAG_CLEAR : 0));
    s->is_parked = false;
    table_answer(m, s->parked);
    if (s->is_data_parked) table_answer(m, s->data_parked);
    s->is_data_parked = false;
}

void table_go_on(struct morpheus *m, struct set *s)
{
    s->is_sending = !s->is_parked;
    if (s->is_parked) table_answer(m, s->parked);
    s->is_parked = false;
}

/* A load that the current request does not need belongs to a later request: it may come before the result
 * does. */
void table_load_data(struct morpheus *m, struct set *s, uint32_t token)
{
    if (s->wants_data) {
        answer_data(m, s, token);
        return;
    }
    if (m->is_retired) {
        table_answer(m, token);
        return;
    }
    mech_assert(!s->is_data_parked);
    s->is_data_parked = true;
    s->data_parked = token;
    m->ports->park(m->ports->host, token);
}

void table_load_sums(struct morpheus *m, const struct set *s, uint32_t token)
{
    uint32_t *sums = line_of(m, s, MORPHEUS_SUMS_LINE), words[MORPHEUS_LINE_WORDS];
    memcpy(words, m->ports->line(m->ports->host, s->current->line), sizeof words);
    for (uint32_t i = 0; i < MORPHEUS_LINE_WORDS; i++) sums[i] = words[i] - s->before[i];
    table_answer(m, token);
}

bool table_is_memory(const struct morpheus *m, const struct set *s, uint64_t line)
{
    return !memcmp(line_of(m, s, MORPHEUS_DATA_LINE), m->ports->line(m->ports->host, line),
                   m->ports->line_bytes);
}
