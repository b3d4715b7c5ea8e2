/* sharers.c: see sharers.h. A hash table with open addressing and linear probing: a slot has a line and masks
 * of its holders. A line without holders is removed, and entries behind it move up to close the gap. Most
 * lookups are of lines that no SM holds: short tags beside the table answer them from few host lines. */
#include "core/sharers.h"

#include "base/hash.h"
#include "base/vec.h"
#include "core/newest_store.h"

enum { START_BITS = 10 };

/* Masks of a slot: SMs that have the whole line, some of it, and an old copy. */
enum sharers_mask { MASK_ALL, MASK_SOME, MASK_OLD, MASKS };

struct sharers_event {
    uint64_t line;
    tick as_of;
    enum sharers_part holds;
};

/* Logs of different SMs share no host line. */
struct sharers_log {
    _Alignas(HOST_LINE) VEC(struct sharers_event) events;
    uint64_t lines;
};

struct sharers {
    uint32_t sms, words;
    /* 2^bits; those that have a line, at most half of them */
    uint32_t slots, bits, used;
    /* [slot]: 0 where it is empty */
    uint16_t *tags;
    /* [slot * slot_words]: a line and its masks, side by side; masks of an empty slot are 0 */
    uint64_t *table;
    uint32_t slot_words;
    uint64_t *none;
    struct sharers_log *logs;
    /* [SM]: its log has entries; a byte for each SM, so that several threads can set them at once */
    uint8_t *has_notes;
    /* copies are dated */
    bool has_dates, updates;
    uint32_t line_bytes;
    struct newest_store newest;
};

/* ---- the table ---- */

static uint32_t first_slot(const struct sharers *s, uint64_t line) { return hash_index(line, 64 - s->bits); }

/* Uses other bits of the hash than the slot does. */
static uint16_t tag_of(uint64_t line) { return (uint16_t)(hash_index(line, 32) | 1); }

static uint32_t next_slot(const struct sharers *s, uint32_t slot) { return (slot + 1) & (s->slots - 1); }

static uint64_t *line_at(const struct sharers *s, uint32_t slot)
{
    return &s->table[(size_t)slot * s->slot_words];
}

/* The slot of the line, or the empty one where it would be. */
static uint32_t find(const struct sharers *s, uint64_t line)
{
    const uint16_t tag = tag_of(line);
    uint32_t at = first_slot(s, line);
    while (s->tags[at] && (s->tags[at] != tag || *line_at(s, at) != line)) at = next_slot(s, at);
    return at;
}

static void put_line(struct sharers *s, uint32_t slot, uint64_t line)
{
    s->tags[slot] = tag_of(line);
    *line_at(s, slot) = line;
}

static uint64_t *mask_at(const struct sharers *s, uint32_t slot, enum sharers_mask mask)
{
    return line_at(s, slot) + 1 + mask * s->words;
}

static size_t slot_bytes(const struct sharers *s) { return sizeof *s->table * s->slot_words; }

static bool has_bit(const uint64_t *mask, uint32_t sm) { return mask[sm / 64] >> sm % 64 & 1; }

static void put_bit(uint64_t *mask, uint32_t sm, bool bit)
{
    mask[sm / 64] = (mask[sm / 64] & ~((uint64_t)1 << sm % 64)) | (uint64_t)bit << sm % 64;
}

static void make_table(struct sharers *s, uint32_t bits)
{
    s->bits = bits;
    s->slots = 1u << bits;
    s->slot_words = 1 + MASKS * s->words;
    s->tags = mem_zalloc_lines(sizeof *s->tags * s->slots);
    s->table = mem_zalloc_lines(slot_bytes(s) * s->slots);
}

static void grow(struct sharers *s)
{
    const struct sharers old = *s;
    make_table(s, old.bits + 1);
    for (uint32_t i = 0; i < old.slots; i++) {
        if (!old.tags[i]) continue;
        const uint64_t *from = line_at(&old, i);
        const uint32_t at = find(s, *from);
        s->tags[at] = old.tags[i];
        memcpy(line_at(s, at), from, slot_bytes(s));
    }
    free(old.tags);
    free(old.table);
}

/* Does the line at `from` probe over the empty slot `gap`? */
static bool closes(const struct sharers *s, uint32_t gap, uint32_t from)
{
    const uint32_t turn = s->slots - 1, first = first_slot(s, *line_at(s, from));
    return ((from - first) & turn) >= ((from - gap) & turn);
}

static void empty_slot(struct sharers *s, uint32_t gap)
{
    s->used--;
    for (uint32_t at = next_slot(s, gap); s->tags[at]; at = next_slot(s, at)) {
        if (!closes(s, gap, at)) continue;
        s->tags[gap] = s->tags[at];
        memcpy(line_at(s, gap), line_at(s, at), slot_bytes(s));
        gap = at;
    }
    s->tags[gap] = 0;
    memset(line_at(s, gap), 0, slot_bytes(s));
}

/* ---- what a note does ---- */

static bool is_older(const struct sharers *s, const struct sharers_event *e)
{
    return s->has_dates && newest_store_is_after(&s->newest, e->line, e->as_of);
}

/* New sectors do not make old ones younger. */
static void add(struct sharers *s, uint32_t sm, const struct sharers_event *e)
{
    if (2 * (s->used + 1) > s->slots) grow(s);
    const uint32_t at = find(s, e->line);
    uint64_t *all = mask_at(s, at, MASK_ALL), *old = mask_at(s, at, MASK_OLD);
    s->used += !s->tags[at];
    put_line(s, at, e->line);
    if (e->holds == SHARERS_ALL) {
        s->logs[sm].lines += !has_bit(all, sm);
        put_bit(all, sm, true);
    }
    put_bit(mask_at(s, at, MASK_SOME), sm, true);
    put_bit(old, sm, has_bit(old, sm) || is_older(s, e));
}

static void drop(struct sharers *s, uint32_t sm, const struct sharers_event *e)
{
    const uint32_t at = find(s, e->line);
    const uint64_t *some = mask_at(s, at, MASK_SOME);
    uint64_t left = 0;
    if (!s->tags[at]) return;
    s->logs[sm].lines -= has_bit(mask_at(s, at, MASK_ALL), sm);
    for (uint32_t m = 0; m < MASKS; m++) put_bit(mask_at(s, at, m), sm, false);
    for (uint32_t w = 0; w < s->words; w++) left |= some[w];
    if (!left) empty_slot(s, at);
}

/* ---- life ---- */

struct sharers *sharers_create(uint32_t sms)
{
    struct sharers *s = mem_zalloc(sizeof *s);
    s->sms = sms;
    s->words = (sms + 63) / 64;
    s->none = mem_zalloc(sizeof *s->none * s->words);
    s->logs = mem_zalloc_lines(sizeof *s->logs * sms);
    s->has_notes = mem_zalloc_lines(sms);
    make_table(s, START_BITS);
    return s;
}

void sharers_date_copies(struct sharers *s, uint32_t line_bytes, bool updates)
{
    s->has_dates = true;
    s->line_bytes = line_bytes;
    s->updates = updates;
    newest_store_init(&s->newest);
}

void sharers_destroy(struct sharers *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->sms; i++) vec_free(&s->logs[i].events);
    free(s->logs);
    free(s->has_notes);
    free(s->tags);
    free(s->table);
    free(s->none);
    newest_store_free(&s->newest);
    free(s);
}

/* ---- use ---- */

void sharers_note(struct sharers *s, uint32_t sm, uint64_t line, enum sharers_part holds, tick as_of)
{
    const struct sharers_event e = {line, as_of, holds};
    vec_push(&s->logs[sm].events, e);
    s->has_notes[sm] = true;
}

void sharers_commit(struct sharers *s)
{
    const uint8_t *end = s->has_notes + s->sms;
    for (uint8_t *at = s->has_notes; (at = memchr(at, true, (size_t)(end - at))); at++) {
        const uint32_t sm = (uint32_t)(at - s->has_notes);
        struct sharers_log *log = &s->logs[sm];
        for (uint32_t i = 0; i < log->events.len; i++)
            (log->events.data[i].holds ? add : drop)(s, sm, &log->events.data[i]);
        log->events.len = 0;
        *at = false;
    }
}

bool sharers_is_settled(const struct sharers *s) { return !memchr(s->has_notes, true, s->sms); }

/* A copy that is in the table when the L2 performs a store was read before that store. */
void sharers_store(struct sharers *s, int sm, uint64_t address, tick date)
{
    if (!s->has_dates) return;
    const uint64_t line = address - address % s->line_bytes;
    newest_store_note(&s->newest, sm == SHARERS_HOST, line, date);
    const uint32_t at = find(s, line);
    uint64_t *old = mask_at(s, at, MASK_OLD);
    const uint64_t *some = mask_at(s, at, MASK_SOME);
    if (!s->tags[at]) return;
    const bool keeps_own = s->updates && sm != SHARERS_HOST && !has_bit(old, (uint32_t)sm);
    for (uint32_t w = 0; w < s->words; w++) old[w] |= some[w];
    if (keeps_own) put_bit(old, (uint32_t)sm, false);
}

const uint64_t *sharers_of(const struct sharers *s, uint64_t line)
{
    const uint32_t at = find(s, line);
    return s->tags[at] ? mask_at(s, at, MASK_ALL) : s->none;
}

tick sharers_as_of(const struct sharers *s, uint32_t sm, uint64_t line, bool sees_notes)
{
    const uint32_t at = find(s, line);
    const struct sharers_log *log = &s->logs[sm];
    bool is_old = has_bit(mask_at(s, at, MASK_OLD), sm);
    for (uint32_t i = 0; sees_notes && i < log->events.len; i++) {
        const struct sharers_event *e = &log->events.data[i];
        if (e->line == line) is_old = e->holds && (is_old || is_older(s, e));
    }
    return is_old ? 0 : newest_store_of(&s->newest, line);
}

uint64_t sharers_lines(const struct sharers *s, uint32_t sm) { return s->logs[sm].lines; }
