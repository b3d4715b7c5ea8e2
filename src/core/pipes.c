/* pipes.c: see pipes.h. Known from GPGPU-Sim's pipelined_simd_unit; a result that finds all buses taken waits
 * for the next cycle here, where GPGPU-Sim holds the operation back before the unit. */
#include "core/pipes.h"

enum { PIPES_SLACK = 64 }; /* cycles that results may be put off by taken buses */

static uint32_t longest(const struct sm_params *p)
{
    const struct sm_op_cycles *t[] = {&p->int_latency, &p->fp_latency, &p->dp_latency};
    uint32_t max = MAX(MAX(p->sfu_latency, p->warp_latency),
                       MAX(p->shared_latency, MAX(p->const_latency, p->tex_latency)));
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        max = MAX(max, MAX(MAX(t[i]->add, t[i]->max), MAX(MAX(t[i]->mul, t[i]->mad), t[i]->div)));
    return max + ISA_LANES;
}

static uint32_t calendar_size(const struct sm_params *p)
{
    uint32_t size = 64;
    while (size < longest(p) + PIPES_SLACK) size *= 2;
    return size;
}

uint32_t pipes_capacity(const struct sm_params *params)
{
    return calendar_size(params) * params->result_buses;
}

void pipes_init(struct pipes *p, const struct sm_params *params, uint32_t flights, uint32_t pendings)
{
    uint32_t size = calendar_size(params);
    *p =
        (struct pipes){.units = {params->sp_units, params->int_units, params->dp_units, params->sfu_units, 0},
                       .passes = (ISA_LANES + params->simd_width - 1) / params->simd_width,
                       .buses = params->result_buses,
                       .mask = size - 1};
    p->results = mem_alloc(size * sizeof *p->results);
    p->delays = mem_alloc(size * sizeof *p->delays);
    memset(p->results, 0xff, size * sizeof *p->results);
    memset(p->delays, 0xff, size * sizeof *p->delays);
    p->used = mem_zalloc(size);
    p->busy = mem_zalloc(bitset_words(size) * sizeof *p->busy);
    p->result_next = mem_zalloc(flights * sizeof *p->result_next);
    p->delay_next = mem_zalloc(pendings * sizeof *p->delay_next);
}

void pipes_free(struct pipes *p)
{
    free(p->results);
    free(p->delays);
    free(p->used);
    free(p->busy);
    free(p->result_next);
    free(p->delay_next);
}

bool pipes_accepts(const struct pipes *p, enum sm_class cls, uint64_t cycle)
{
    for (uint32_t i = 0; i < p->units[cls]; i++)
        if (p->free_at[cls][i] <= cycle) return true;
    return false;
}

bool pipes_start(struct pipes *p, const struct uop *u, uint32_t id, uint64_t cycle, int32_t extra)
{
    int64_t delay = (int64_t)u->latency + (p->passes - 1) + extra;
    uint64_t due = cycle + (uint64_t)MAX(delay, 0);
    while (p->used[due & p->mask] >= p->buses)
        if (++due - cycle > p->mask) return false;
    uint32_t unit = 0;
    while (p->free_at[u->cls][unit] > cycle) unit++;
    assert(unit < p->units[u->cls] && due - cycle <= p->mask);
    p->free_at[u->cls][unit] = cycle + (uint64_t)u->interval * p->passes;
    uint32_t at = (uint32_t)due & p->mask;
    p->result_next[id] = p->results[at];
    p->results[at] = id;
    p->used[at]++;
    p->live++;
    bitset_add(p->busy, at);
    return true;
}

void pipes_delay(struct pipes *p, uint32_t pending, uint64_t cycle, uint64_t due)
{
    assert(due > cycle && due - cycle <= p->mask);
    uint32_t at = (uint32_t)due & p->mask;
    p->delay_next[pending] = p->delays[at];
    p->delays[at] = pending;
    p->live++;
    bitset_add(p->busy, at);
}

static uint32_t take(struct pipes *p, uint32_t *heads, const uint32_t *next, uint64_t cycle)
{
    uint32_t at = (uint32_t)cycle & p->mask, id = heads[at];
    if (id != PIPES_NONE) {
        heads[at] = next[id];
        p->live--;
    }
    if (p->results[at] == PIPES_NONE) p->used[at] = 0;
    if (p->results[at] == PIPES_NONE && p->delays[at] == PIPES_NONE) bitset_del(p->busy, at);
    return id;
}

uint32_t pipes_result(struct pipes *p, uint64_t cycle) { return take(p, p->results, p->result_next, cycle); }
uint32_t pipes_delayed(struct pipes *p, uint64_t cycle) { return take(p, p->delays, p->delay_next, cycle); }

uint64_t pipes_next(const struct pipes *p, uint64_t cycle)
{
    uint32_t words = (p->mask + 1) / 64, first = (uint32_t)(cycle + 1) & p->mask;
    if (!p->live) return UINT64_MAX;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (first / 64 + i) % words;
        uint64_t bits = p->busy[word];
        if (i == 0) bits &= ~0ull << (first % 64);
        if (i == words) bits &= first % 64 ? ~(~0ull << (first % 64)) : 0;
        if (bits) return cycle + 1 + ((word * 64 + (uint32_t)__builtin_ctzll(bits) - first) & p->mask);
    }
    return UINT64_MAX;
}

uint64_t pipes_next_free(const struct pipes *p, uint64_t cycle)
{
    uint64_t least = UINT64_MAX;
    for (int c = 0; c < CLASS_COUNT; c++)
        for (uint32_t i = 0; i < p->units[c]; i++)
            if (p->free_at[c][i] > cycle) least = MIN(least, p->free_at[c][i]);
    return least;
}
