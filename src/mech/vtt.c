/* vtt.c: see vtt.h. The table is asked for every miss and told of every line that leaves the L1: a search
 * compares marks, of a byte for each entry and eight at a time, and full lines only where a mark is right;
 * the order of use is a list.
 *
 * (1) The mark of an entry is MARK_EMPTY, MARK_OFF (its partition is off, or there is no such entry) or a
 * hash of its line. (2) Entries with a line are in the list of their set, and no others. */
#include "mech/vtt.h"

enum { MARK_EMPTY, MARK_OFF, MARKS, WORD_MARKS = 8 };
#define EACH_BYTE 0x0101010101010101ull

static uint32_t vtt_entries(const struct vtt *v) { return v->partitions * v->ways; }
static uint32_t vtt_words(const struct vtt *v) { return (vtt_entries(v) + WORD_MARKS - 1) / WORD_MARKS; }
static uint64_t *vtt_line(const struct vtt *v, uint32_t set, uint32_t entry)
{
    return &v->lines[(size_t)set * vtt_entries(v) + entry];
}

/* ---- marks ---- */

static uint8_t vtt_mark(uint64_t line)
{
    const uint8_t hash = (uint8_t)(line * 0x9e3779b97f4a7c15ull >> 56);
    return hash < MARKS ? (uint8_t)(hash + MARKS) : hash;
}

static uint8_t vtt_mark_of(const struct vtt *v, uint32_t set, uint32_t entry)
{
    return (uint8_t)(v->marks[(size_t)set * vtt_words(v) + entry / WORD_MARKS] >> 8 * (entry % WORD_MARKS));
}

static void vtt_set_mark(struct vtt *v, uint32_t set, uint32_t entry, uint8_t mark)
{
    uint64_t *word = &v->marks[(size_t)set * vtt_words(v) + entry / WORD_MARKS];
    const uint32_t shift = 8 * (entry % WORD_MARKS);
    *word = (*word & ~(0xffull << shift)) | (uint64_t)mark << shift;
}

/* Bytes of a word that are equal to a mark, by their highest bits. The lowest of them is right; one above it
 * can be wrong. */
static uint64_t vtt_equal(uint64_t word, uint8_t mark)
{
    const uint64_t different = word ^ EACH_BYTE * mark;
    return (different - EACH_BYTE) & ~different & EACH_BYTE << 7;
}

/* ---- the order of use ---- */

static struct vtt_link *vtt_links(const struct vtt *v, uint32_t set)
{
    return &v->links[(size_t)set * (vtt_entries(v) + 1)];
}

static void vtt_unlink(struct vtt *v, uint32_t set, uint32_t entry)
{
    struct vtt_link *links = vtt_links(v, set);
    links[links[entry].older].newer = links[entry].newer;
    links[links[entry].newer].older = links[entry].older;
}

static void vtt_link_newest(struct vtt *v, uint32_t set, uint32_t entry)
{
    struct vtt_link *links = vtt_links(v, set);
    const uint16_t end = (uint16_t)vtt_entries(v), newest = links[end].older;
    links[entry] = (struct vtt_link){.older = newest, .newer = end};
    links[newest].newer = links[end].older = (uint16_t)entry;
}

void vtt_touch(struct vtt *v, uint32_t set, uint32_t entry)
{
    vtt_unlink(v, set, entry);
    vtt_link_newest(v, set, entry);
}

/* ---- partitions ---- */

void vtt_init(struct vtt *v, const struct mech_ports *ports, uint32_t ways, uint32_t partitions)
{
    *v = (struct vtt){.sets = ports->l1_sets, .ways = ways, .partitions = partitions};
    const size_t sets = v->sets, end = vtt_entries(v), words = sets * vtt_words(v);
    v->lines = ports->memory(ports->host, sets * end * sizeof *v->lines);
    v->marks = ports->memory(ports->host, words * sizeof *v->marks);
    v->links = ports->memory(ports->host, sets * (end + 1) * sizeof *v->links);
    for (size_t i = 0; i < words; i++) v->marks[i] = EACH_BYTE * MARK_OFF;
    for (uint32_t set = 0; set < v->sets; set++)
        vtt_links(v, set)[end] = (struct vtt_link){.older = (uint16_t)end, .newer = (uint16_t)end};
}

/* All entries of a partition get this mark. */
static void vtt_empty(struct vtt *v, uint32_t partition, uint8_t mark)
{
    for (uint32_t set = 0; set < v->sets; set++)
        for (uint32_t i = partition * v->ways; i < (partition + 1) * v->ways; i++) {
            if (vtt_mark_of(v, set, i) >= MARKS) vtt_unlink(v, set, i);
            vtt_set_mark(v, set, i, mark);
        }
}

void vtt_turn(struct vtt *v, uint32_t on)
{
    const uint32_t changed = v->on ^ on;
    v->on = on;
    for (uint32_t p = 0; p < v->partitions; p++)
        if (changed >> p & 1) vtt_empty(v, p, on >> p & 1 ? MARK_EMPTY : MARK_OFF);
}

void vtt_clear(struct vtt *v)
{
    for (uint32_t p = 0; p < v->partitions; p++)
        if (v->on >> p & 1) vtt_empty(v, p, MARK_EMPTY);
}

/* ---- lines ---- */

uint32_t vtt_find(const struct vtt *v, uint32_t set, uint64_t line)
{
    const uint64_t *marks = &v->marks[(size_t)set * vtt_words(v)];
    const uint8_t mark = vtt_mark(line);
    for (uint32_t i = 0; i < vtt_words(v); i++)
        for (uint64_t rest = vtt_equal(marks[i], mark); rest; rest &= rest - 1) {
            const uint32_t entry = i * WORD_MARKS + (uint32_t)__builtin_ctzll(rest) / 8;
            if (*vtt_line(v, set, entry) == line && vtt_mark_of(v, set, entry) == mark) return entry;
        }
    return VTT_NONE;
}

uint32_t vtt_searched(const struct vtt *v, uint32_t entry)
{
    const uint32_t last = entry == VTT_NONE ? v->partitions - 1 : entry / v->ways;
    return (uint32_t)__builtin_popcount(v->on & (uint32_t)(((uint64_t)2 << last) - 1));
}

/* The first empty entry, else the oldest. */
static uint32_t vtt_room(const struct vtt *v, uint32_t set)
{
    const uint64_t *marks = &v->marks[(size_t)set * vtt_words(v)];
    for (uint32_t i = 0; i < vtt_words(v); i++) {
        const uint64_t empty = vtt_equal(marks[i], MARK_EMPTY);
        if (empty) return i * WORD_MARKS + (uint32_t)__builtin_ctzll(empty) / 8;
    }
    const uint32_t end = vtt_entries(v), oldest = vtt_links(v, set)[end].newer;
    return oldest == end ? VTT_NONE : oldest;
}

uint32_t vtt_insert(struct vtt *v, uint32_t set, uint64_t line)
{
    uint32_t entry = vtt_find(v, set, line);
    if (entry == VTT_NONE) entry = vtt_room(v, set);
    if (entry == VTT_NONE) return VTT_NONE;
    if (vtt_mark_of(v, set, entry) >= MARKS) vtt_unlink(v, set, entry);
    *vtt_line(v, set, entry) = line;
    vtt_set_mark(v, set, entry, vtt_mark(line));
    vtt_link_newest(v, set, entry);
    return entry;
}

void vtt_drop(struct vtt *v, uint32_t set, uint32_t entry)
{
    vtt_unlink(v, set, entry);
    vtt_set_mark(v, set, entry, MARK_EMPTY);
}
