/* sharers.c: see sharers.h. A table by open addressing with linear probing: a slot has a line and the mask of
 * its holders. A line without holders leaves, and those behind it that it had pushed away close the gap. */
#include "core/sharers.h"

#include "base/hash.h"
#include "base/vec.h"

enum { START_SLOTS = 1024 };
/* Lines are multiples of their size. */
#define NO_LINE UINT64_MAX

struct sharers_event {
    uint64_t line;
    bool holds;
};

/* Each on host lines of its own. */
struct sharers_log {
    _Alignas(HOST_LINE) VEC(struct sharers_event) events;
    uint64_t lines;
};

struct sharers {
    uint32_t sms, words;
    /* a power of two; slots that have a line */
    uint32_t slots, used;
    uint64_t *lines;
    /* [slot * words] */
    uint64_t *masks;
    uint64_t *none;
    struct sharers_log *logs;
};

/* ---- the table ---- */

static uint32_t first_slot(const struct sharers *s, uint64_t line)
{
    return (uint32_t)hash_mix(line) & (s->slots - 1);
}

/* The slot of the line, or the empty one where it would be. */
static uint32_t find(const struct sharers *s, uint64_t line)
{
    uint32_t at = first_slot(s, line);
    while (s->lines[at] != line && s->lines[at] != NO_LINE) at = (at + 1) & (s->slots - 1);
    return at;
}

static uint64_t *mask_at(const struct sharers *s, uint32_t slot)
{
    return &s->masks[(size_t)slot * s->words];
}

static void make_table(struct sharers *s, uint32_t slots)
{
    s->slots = slots;
    s->lines = mem_alloc(sizeof *s->lines * slots);
    s->masks = mem_zalloc(sizeof *s->masks * slots * s->words);
    for (uint32_t i = 0; i < slots; i++) s->lines[i] = NO_LINE;
}

static void grow(struct sharers *s)
{
    const struct sharers old = *s;
    make_table(s, 2 * old.slots);
    for (uint32_t i = 0; i < old.slots; i++) {
        if (old.lines[i] == NO_LINE) continue;
        const uint32_t at = find(s, old.lines[i]);
        s->lines[at] = old.lines[i];
        memcpy(mask_at(s, at), mask_at(&old, i), sizeof *s->masks * s->words);
    }
    free(old.lines);
    free(old.masks);
}

/* Does the line at `from` probe over the empty slot `gap`? */
static bool closes(const struct sharers *s, uint32_t gap, uint32_t from)
{
    const uint32_t turn = s->slots - 1, first = first_slot(s, s->lines[from]);
    return ((from - first) & turn) >= ((from - gap) & turn);
}

static void empty_slot(struct sharers *s, uint32_t gap)
{
    s->used--;
    for (uint32_t at = (gap + 1) & (s->slots - 1); s->lines[at] != NO_LINE; at = (at + 1) & (s->slots - 1)) {
        if (!closes(s, gap, at)) continue;
        s->lines[gap] = s->lines[at];
        memcpy(mask_at(s, gap), mask_at(s, at), sizeof *s->masks * s->words);
        gap = at;
    }
    s->lines[gap] = NO_LINE;
    memset(mask_at(s, gap), 0, sizeof *s->masks * s->words);
}

static void add(struct sharers *s, uint32_t sm, uint64_t line)
{
    if (4 * (s->used + 1) > 3 * s->slots) grow(s);
    const uint32_t at = find(s, line);
    s->used += s->lines[at] == NO_LINE;
    s->lines[at] = line;
    s->logs[sm].lines += !(mask_at(s, at)[sm / 64] >> sm % 64 & 1);
    mask_at(s, at)[sm / 64] |= (uint64_t)1 << sm % 64;
}

static void drop(struct sharers *s, uint32_t sm, uint64_t line)
{
    const uint32_t at = find(s, line);
    uint64_t *mask = mask_at(s, at), left = 0;
    s->logs[sm].lines -= mask[sm / 64] >> sm % 64 & 1;
    mask[sm / 64] &= ~((uint64_t)1 << sm % 64);
    for (uint32_t w = 0; w < s->words; w++) left |= mask[w];
    if (!left && s->lines[at] != NO_LINE) empty_slot(s, at);
}

/* ---- life ---- */

struct sharers *sharers_create(uint32_t sms)
{
    struct sharers *s = mem_zalloc(sizeof *s);
    s->sms = sms;
    s->words = (sms + 63) / 64;
    s->none = mem_zalloc(sizeof *s->none * s->words);
    s->logs = mem_zalloc_lines(sizeof *s->logs * sms);
    make_table(s, START_SLOTS);
    return s;
}

void sharers_destroy(struct sharers *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->sms; i++) vec_free(&s->logs[i].events);
    free(s->logs);
    free(s->lines);
    free(s->masks);
    free(s->none);
    free(s);
}

/* ---- use ---- */

void sharers_note(struct sharers *s, uint32_t sm, uint64_t line, bool holds)
{
    const struct sharers_event e = {line, holds};
    vec_push(&s->logs[sm].events, e);
}

void sharers_commit(struct sharers *s)
{
    for (uint32_t sm = 0; sm < s->sms; sm++) {
        struct sharers_log *log = &s->logs[sm];
        for (uint32_t i = 0; i < log->events.len; i++)
            (log->events.data[i].holds ? add : drop)(s, sm, log->events.data[i].line);
        log->events.len = 0;
    }
}

const uint64_t *sharers_of(const struct sharers *s, uint64_t line)
{
    const uint32_t at = find(s, line);
    return s->lines[at] == line ? mask_at(s, at) : s->none;
}

uint64_t sharers_lines(const struct sharers *s, uint32_t sm) { return s->logs[sm].lines; }
