/* xbar_notes.h: links note which ports have something new: a byte each, 0 or 1, because units write them
 * side by side. Reading notes clears them and makes a mask of ports. Inside mem/ only.
 *
 * The notes of one word of ports are read 16 at a time; with more words many ports are idle, and one test
 * of all notes comes first. */
#ifndef HEDDLE_XBAR_NOTES_H
#define HEDDLE_XBAR_NOTES_H

#include "mem/xbar_net.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Notes that are read together. */
enum { NOTE_BLOCK = 16 };

/* Bytes that the notes of `ports` ports take. */
static inline uint32_t xbar_notes_bytes(const struct xbar_net *n, uint32_t ports)
{
    return n->is_plain ? (uint32_t)round_up_u64(ports, NOTE_BLOCK) : n->words * 64u;
}

#ifdef __SSE2__
static inline uint64_t xbar_read_block(uint8_t *notes)
{
    __m128i bytes = _mm_load_si128((const __m128i *)notes);
    _mm_store_si128((__m128i *)notes, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)); /* moves the lowest bit of each byte to its
                                                                   * highest */
}
#else
/* One multiplication gathers eight bytes into eight bits. */
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

/* Whether any note of `words` words of ports is set. */
static inline bool xbar_any_note(const uint8_t *notes, uint32_t words)
{
    const uint8_t *end = notes + words * 64;
#ifdef __SSE2__
    __m128i any = _mm_setzero_si128();
    for (const __m128i *at = (const __m128i *)notes; at < (const __m128i *)end; at += 4)
        any = _mm_or_si128(any, _mm_or_si128(_mm_or_si128(at[0], at[1]), _mm_or_si128(at[2], at[3])));
    return _mm_movemask_epi8(_mm_slli_epi16(any, 7)) != 0;
#else
    uint64_t any = 0, word;
    for (; notes < end; notes += sizeof word) {
        memcpy(&word, notes, sizeof word);
        any |= word;
    }
    return any != 0;
#endif
}

/* Reads and clears the notes of 1 to 64 ports; returns them as a mask. */
static inline uint64_t xbar_read_word(uint8_t *notes, uint32_t ports)
{
    uint64_t mask = xbar_read_block(notes);
    for (uint32_t i = NOTE_BLOCK; i < ports; i += NOTE_BLOCK) mask |= xbar_read_block(notes + i) << i;
    return mask;
}

#endif
