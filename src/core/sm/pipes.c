/* pipes.c: see pipes.h. Known from GPGPU-Sim's pipelined_simd_unit; a result that finds all buses taken waits
 * for the next cycle here, where GPGPU-Sim holds the operation back before the unit. */
#include "core/sm/pipes.h"

#include "base/hugepage.h"

/* The most cycles that a result may wait for a free bus. */
enum { PIPES_SLACK = 64 };

static uint32_t longest(const struct sm_params *p)
{
    const struct sm_op_cycles *t[] = {&p->int_latency, &p->fp_latency, &p->dp_latency};
    uint32_t max = MAX(MAX(p->sfu_latency, MAX(p->warp_latency, p->other_latency)),
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
    assert(pendings < PIPES_NO_DELAY);
    *p = (struct pipes){
        .next = UINT64_MAX,
        .mask = size - 1,
        .passes = (uint16_t)((ISA_LANES + params->simd_width - 1) / params->simd_width),
        .buses = (uint8_t)params->result_buses,
        .units = {(uint8_t)params->sp_units, (uint8_t)params->int_units, (uint8_t)params->dp_units,
                  (uint8_t)params->sfu_units, 0},
        .days = mem_zalloc_huge(size * sizeof *p->days),
        .busy = mem_zalloc_huge(bitset_words(size) * sizeof *p->busy),
        .result_next = mem_zalloc_huge(flights * sizeof *p->result_next),
        .delay_next = mem_zalloc_huge(pendings * sizeof *p->delay_next),
    };
    for (uint32_t i = 0; i < size; i++) p->days[i] = (struct pipes_day){PIPES_NONE, PIPES_NO_DELAY, 0};
}

void pipes_free(struct pipes *p)
{
    mem_free_huge(p->days);
    mem_free_huge(p->busy);
    mem_free_huge(p->result_next);
    mem_free_huge(p->delay_next);
}

bool pipes_accepts(const struct pipes *p, enum sm_class cls, uint64_t cycle)
{
    for (uint32_t i = 0; i < p->units[cls]; i++)
        if (p->free_at[cls][i] <= cycle) return true;
    return false;
}

/* Notes in the calendar that something is due then. */
static struct pipes_day *note(struct pipes *p, uint64_t due)
{
    p->live++;
    p->next = MIN(p->next, due);
    bitset_add(p->busy, (uint32_t)due & p->mask);
    return &p->days[due & p->mask];
}

HOT bool pipes_start(struct pipes *p, const struct uop *u, uint32_t id, uint64_t cycle, int32_t extra)
{
    int64_t delay = (int64_t)u->latency + (p->passes - 1) + extra;
    uint64_t due = cycle + (uint64_t)MAX(delay, 0);
    while (p->days[due & p->mask].used >= p->buses)
        if (++due - cycle > p->mask) return false;
    uint32_t unit = 0;
    while (p->free_at[u->cls][unit] > cycle) unit++;
    debug_assert(unit < p->units[u->cls] && due - cycle <= p->mask);
    p->free_at[u->cls][unit] = cycle + (uint64_t)u->interval * p->passes;
    struct pipes_day *day = note(p, due);
    p->result_next[id] = day->results;
    day->results = id;
    day->used++;
    return true;
}

void pipes_delay(struct pipes *p, uint32_t pending, uint64_t cycle, uint64_t due)
{
    assert(due > cycle && due - cycle <= p->mask);
    struct pipes_day *day = note(p, due);
    p->delay_next[pending] = day->delays;
    day->delays = (uint16_t)pending;
    p->delays++;
}

/* The first cycle after `cycle` at which something is due; UINT64_MAX = none. */
static uint64_t next_after(const struct pipes *p, uint64_t cycle)
{
    uint32_t words = (p->mask + 1) / 64, first = (uint32_t)(cycle + 1) & p->mask;
    if (!p->live) return UINT64_MAX;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t word = (first / 64 + i) & (words - 1); /* a power of two, as the calendar is */
        uint64_t bits = p->busy[word];
        if (i == 0) bits &= ~0ull << (first % 64);
        if (i == words) bits &= first % 64 ? ~(~0ull << (first % 64)) : 0;
        if (bits) return cycle + 1 + ((word * 64 + (uint32_t)__builtin_ctzll(bits) - first) & p->mask);
    }
    return UINT64_MAX;
}

/* One entry that was due was taken out. */
static void taken(struct pipes *p, struct pipes_day *day, uint64_t cycle)
{
    p->live--;
    if (day->results != PIPES_NONE) return;
    day->used = 0;
    if (day->delays != PIPES_NO_DELAY) return;
    bitset_del(p->busy, (uint32_t)cycle & p->mask);
    p->next = next_after(p, cycle);
}

uint32_t pipes_result(struct pipes *p, uint64_t cycle)
{
    struct pipes_day *day = &p->days[cycle & p->mask];
    uint32_t id = day->results;
    if (id == PIPES_NONE) return id;
    day->results = p->result_next[id];
    taken(p, day, cycle);
    return id;
}

uint32_t pipes_delayed(struct pipes *p, uint64_t cycle)
{
    struct pipes_day *day = &p->days[cycle & p->mask];
    const uint16_t id = day->delays;
    if (id == PIPES_NO_DELAY) return PIPES_NONE;
    day->delays = p->delay_next[id];
    p->delays--;
    taken(p, day, cycle);
    return id;
}

uint64_t pipes_next_free(const struct pipes *p, uint64_t cycle)
{
    uint64_t least = UINT64_MAX;
    for (int c = 0; c < CLASS_COUNT; c++)
        for (uint32_t i = 0; i < p->units[c]; i++)
            if (p->free_at[c][i] > cycle) least = MIN(least, p->free_at[c][i]);
    return least;
}
