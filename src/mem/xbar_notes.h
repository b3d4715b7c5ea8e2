/* xbar_notes.h: which links have said something: a byte each, 0 or 1, because units write them side by side. Reading them clears
 * them, and makes a mask of ports. Inside mem/ only.
 *
 * Where there is one word of ports, its notes are read 16 at a time without asking; where there are more, most ports are idle, and 64
 * notes without any cost one question. */
#ifndef HEDDLE_XBAR_NOTES_H
#define HEDDLE_XBAR_NOTES_H

#include "mem/xbar_net.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { NOTE_BLOCK = 16 /* notes that are read together */ };

/* Room for the notes of so many ports. */
static inline uint32_t xbar_notes_bytes(const struct xbar_net *n, uint32_t ports)
{
    return n->words == 1 ? (uint32_t)round_up_u64(ports, NOTE_BLOCK) : n->words * 64u;
}

#ifdef __SSE2__
static inline uint64_t xbar_read_block(uint8_t *notes)
{
    __m128i bytes = _mm_load_si128((const __m128i *)notes);
    _mm_store_si128((__m128i *)notes, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)); /* their lowest bits, made their highest */
}
#else
/* Eight become bits by one multiplication. */
static inline uint64_t xbar_read_eight(uint8_t *notes)
{
    uint64_t word;
    memcpy(&word, notes, sizeof word);
    memset(notes, 0, sizeof word);
    return word * 0x0102040810204080ull >> 56;
}
static inline uint64_t xbar_read_block(uint8_t *notes)
{
    return xbar_read_eight(notes) | xbar_read_eight(notes + 8) << 8;
}
#endif

static inline bool xbar_any_of_64(const uint8_t *notes)
{
    uint64_t word[8], any = 0;
    memcpy(word, notes, sizeof word);
    for (uint32_t i = 0; i < ARRAY_LEN(word); i++) any |= word[i];
    return any != 0;
}

/* Of at most 64 ports, and of one at least. */
static inline uint64_t xbar_read_word(uint8_t *notes, uint32_t ports)
{
    uint64_t mask = xbar_read_block(notes);
    for (uint32_t i = NOTE_BLOCK; i < ports; i += NOTE_BLOCK) mask |= xbar_read_block(notes + i) << i;
    return mask;
}

/* The notes of the w-th 64 of so many ports. */
XBAR_INLINE uint64_t xbar_read_notes(uint8_t *notes, uint32_t w, uint32_t ports, bool plain)
{
    if (plain) return xbar_read_word(notes, ports);
    notes += w * 64;
    if (ports <= w * 64 || !xbar_any_of_64(notes)) return 0;
    return xbar_read_word(notes, MIN(ports - w * 64, 64));
}

#endif
