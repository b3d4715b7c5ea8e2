/* vtt.c: see vtt.h. */
#include "mech/vtt.h"

#define VTT_EMPTY UINT64_MAX

static size_t vtt_at(const struct vtt *v, uint32_t set, uint32_t entry)
{
    return (size_t)set * v->partitions * v->ways + entry;
}

static bool vtt_is_on(const struct vtt *v, uint32_t partition) { return v->on >> partition & 1; }

void vtt_init(struct vtt *v, const struct mech_ports *ports, uint32_t ways, uint32_t partitions)
{
    const size_t entries = (size_t)ports->l1_sets * ways * partitions;
    *v = (struct vtt){.sets = ports->l1_sets, .ways = ways, .partitions = partitions};
    v->lines = ports->memory(ports->host, entries * sizeof *v->lines);
    v->used = ports->memory(ports->host, entries * sizeof *v->used);
    vtt_clear(v);
}

static void vtt_empty(struct vtt *v, uint32_t partition)
{
    for (uint32_t set = 0; set < v->sets; set++)
        for (uint32_t way = 0; way < v->ways; way++) vtt_drop(v, set, partition * v->ways + way);
}

void vtt_turn(struct vtt *v, uint32_t on)
{
    const uint32_t changed = v->on ^ on;
    v->on = on;
    for (uint32_t p = 0; p < v->partitions; p++)
        if (changed >> p & 1) vtt_empty(v, p);
}

void vtt_clear(struct vtt *v)
{
    for (uint32_t p = 0; p < v->partitions; p++) vtt_empty(v, p);
}

/* What is off holds no line: all entries of a set can be compared. */
uint32_t vtt_find(const struct vtt *v, uint32_t set, uint64_t line)
{
    const uint64_t *lines = &v->lines[vtt_at(v, set, 0)];
    for (uint32_t i = 0; i < v->partitions * v->ways; i++)
        if (lines[i] == line) return i;
    return VTT_NONE;
}

uint32_t vtt_searched(const struct vtt *v, uint32_t entry)
{
    const uint32_t last = entry == VTT_NONE ? v->partitions - 1 : entry / v->ways;
    return (uint32_t)__builtin_popcount(v->on & (uint32_t)(((uint64_t)2 << last) - 1));
}

void vtt_touch(struct vtt *v, uint32_t set, uint32_t entry) { v->used[vtt_at(v, set, entry)] = ++v->uses; }

/* An empty entry counts as used before all others. */
static uint32_t vtt_room(const struct vtt *v, uint32_t set)
{
    const uint64_t *used = &v->used[vtt_at(v, set, 0)];
    uint32_t best = VTT_NONE;
    for (uint32_t i = 0; i < v->partitions * v->ways; i++)
        if (vtt_is_on(v, i / v->ways) && (best == VTT_NONE || used[i] < used[best])) best = i;
    return best;
}

uint32_t vtt_insert(struct vtt *v, uint32_t set, uint64_t line)
{
    uint32_t entry = vtt_find(v, set, line);
    if (entry == VTT_NONE) entry = vtt_room(v, set);
    if (entry == VTT_NONE) return VTT_NONE;
    v->lines[vtt_at(v, set, entry)] = line;
    vtt_touch(v, set, entry);
    return entry;
}

void vtt_drop(struct vtt *v, uint32_t set, uint32_t entry)
{
    v->lines[vtt_at(v, set, entry)] = VTT_EMPTY;
    v->used[vtt_at(v, set, entry)] = 0;
}
