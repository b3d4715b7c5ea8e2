/* coalesce.c: the coalescer and shared memory's bank conflicts.
 *
 * Known from the CUDA programming guide (compute capabilities 2.x to 9.x, "Global Memory" and "Shared
 * Memory": 32 banks of 4 bytes; 3.x has banks of 8 bytes; 1.x 16 banks, so that a request was half a warp). A
 * pass returns as much as the banks hold side by side, 128 bytes with 32 of 4: an access of 16 bytes a lane
 * takes four (NVIDIA's answer in its developer forum, "Unexpected shared memory bank conflict", for 7.x).
 *
 * Invariants. (1) A lane's access lies in one line: addresses are multiples of their width. (2) Each line has
 * one transaction, but for split atomics. Left out: the packing of wide reads where lanes n and n^1, or n and
 * n^2, all want the same words, which halves their passes on 7.x (same source). */
#include "mem/coalesce.h"

#include "base/bitset.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { COVER_WORDS = COALESCE_LINE_MAX / 64 };

static uint16_t count_bytes(const uint64_t covered[COVER_WORDS])
{
    uint32_t bytes = 0;
    for (uint32_t w = 0; w < COVER_WORDS; w++) bytes += bits_count(covered[w]);
    return (uint16_t)bytes;
}

/* Transactions under construction, one lane after the other: split atomics and local memory. */
struct builder {
    const struct coalesce_access *access;
    struct coalesce_txn *out;
    /* last: transaction of the lane before */
    uint32_t count, last;
    /* sectors that a transaction has from the start */
    uint32_t sectors;
    /* bytes of the line that are touched; valid below count */
    uint64_t covered[COALESCE_TXN_MAX][COVER_WORDS];
};

static bool is_load(const struct coalesce_access *a) { return !a->is_store && !a->is_atomic; }

/* What a load fetches of each line, whatever its lanes want; 0 = what they want. */
static uint32_t whole_sectors(const struct coalesce_access *a)
{
    return is_load(a) && !a->sectored ? coalesce_line_sectors(a->line_bytes) : 0;
}

static void builder_init(struct builder *b, const struct coalesce_access *a, struct coalesce_txn *out)
{
    assert(a->line_bytes >= COALESCE_SECTOR_BYTES && a->line_bytes <= COALESCE_LINE_MAX);
    assert(is_pow2_u64(a->line_bytes) && a->bytes >= 1 && a->bytes <= 16);
    b->access = a;
    b->out = out;
    b->count = b->last = 0;
    b->sectors = whole_sectors(a);
}

static uint32_t builder_new(struct builder *b, uint64_t line, uint32_t sectors)
{
    assert(b->count < COALESCE_TXN_MAX);
    b->out[b->count] = (struct coalesce_txn){.line = line, .sectors = (uint8_t)sectors};
    memset(b->covered[b->count], 0, sizeof b->covered[0]);
    return b->count++;
}

static uint32_t builder_find(struct builder *b, uint64_t line)
{
    if (b->count && b->out[b->last].line == line) return b->last;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->out[i].line == line) return i;
    return builder_new(b, line, b->sectors);
}

static void builder_add(struct builder *b, uint64_t addr, uint32_t bytes, uint32_t lane)
{
    uint32_t at = (uint32_t)(addr & (b->access->line_bytes - 1));
    assert(at + bytes <= b->access->line_bytes); /* invariant 1 */
    uint32_t i = b->last = builder_find(b, addr - at);
    b->out[i].lanes |= 1u << lane;
    b->out[i].sectors |= (uint8_t)(1u << at / COALESCE_SECTOR_BYTES);
    b->covered[i][at / 64] |= ((1ull << bytes) - 1) << at % 64;
}

/* Makes an atomic for each sector, and another one for each further lane at the same word. */
static void builder_add_split(struct builder *b, uint64_t addr, uint32_t bytes, uint32_t lane)
{
    uint32_t at = (uint32_t)(addr & (b->access->line_bytes - 1)), i = 0;
    uint32_t sector = 1u << at / COALESCE_SECTOR_BYTES;
    uint64_t wanted = ((1ull << bytes) - 1) << at % 64;
    while (i < b->count &&
           (b->out[i].line != addr - at || b->out[i].sectors != sector || b->covered[i][at / 64] & wanted))
        i++;
    if (i == b->count) builder_new(b, addr - at, sector);
    b->out[i].lanes |= 1u << lane;
    b->covered[i][at / 64] |= wanted;
}

/* ---- lanes of one line, side by side ---- */

/* Lanes whose number is wanted. */
static uint32_t lanes_equal(const uint32_t number[COALESCE_LANES], uint32_t wanted)
{
    uint32_t lanes = 0;
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi32((int)wanted), *n = (const __m128i *)number;
    for (uint32_t half = 0; half < 2; half++, n += 4) {
        __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(n[0], all), _mm_cmpeq_epi32(n[1], all));
        __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(n[2], all), _mm_cmpeq_epi32(n[3], all));
        lanes |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << half * 16;
    }
#else
    for (uint32_t l = 0; l < COALESCE_LANES; l++) lanes |= (uint32_t)(number[l] == wanted) << l;
#endif
    return lanes;
}

/* Lanes of the mask in the same line as `lane`. Comparing the low halves of line numbers is enough, unless
 * addresses lie far apart. */
static uint32_t lanes_of_line(const struct coalesce_access *a, const uint32_t *number, uint32_t lane,
                              uint32_t mask, bool is_far)
{
    uint32_t lanes = lanes_equal(number, number[lane]) & mask;
    if (LIKELY(!is_far)) return lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(rest);
        if ((a->addr[l] ^ a->addr[lane]) >= a->line_bytes) lanes &= ~(1u << l);
    }
    return lanes;
}

static uint8_t sectors_touched(const struct coalesce_access *a, uint32_t lanes)
{
    uint32_t sectors = 0, last = a->line_bytes / COALESCE_SECTOR_BYTES - 1;
    for (; lanes; lanes &= lanes - 1)
        sectors |= 1u << ((uint32_t)a->addr[__builtin_ctz(lanes)] / COALESCE_SECTOR_BYTES & last);
    return (uint8_t)sectors;
}

static uint16_t bytes_touched(const struct coalesce_access *a, uint32_t lanes)
{
    uint64_t covered[COVER_WORDS] = {0};
    for (; lanes; lanes &= lanes - 1) {
        uint32_t at = (uint32_t)a->addr[__builtin_ctz(lanes)] & (a->line_bytes - 1);
        assert(at + a->bytes <= a->line_bytes); /* invariant 1 */
        covered[at / 64] |= ((1ull << a->bytes) - 1) << at % 64;
    }
    return count_bytes(covered);
}

/* Sets what the lanes of a transaction touch of its line: sectors and, for a store, bytes, which finish_txn
 * turns into whole sectors. */
static void touch_line(const struct coalesce_access *a, struct coalesce_txn *t)
{
    t->sectors = sectors_touched(a, t->lanes);
    if (a->is_store) t->write_bytes = bytes_touched(a, t->lanes);
}

/* The bits in which addresses of lanes differ. */
static uint64_t bits_that_differ(const uint64_t addr[COALESCE_LANES], uint32_t lanes)
{
    uint64_t differs = 0, first = addr[__builtin_ctz(lanes)];
    if (lanes == UINT32_MAX)
#pragma GCC unroll 1
        for (uint32_t l = 0; l < COALESCE_LANES; l++) differs |= addr[l] ^ first;
    else
        for (; lanes; lanes &= lanes - 1) differs |= addr[__builtin_ctz(lanes)] ^ first;
    return differs;
}

/* All lanes want the same line. */
static uint32_t coalesce_one_line(const struct coalesce_access *a, uint32_t shift, struct coalesce_txn *out)
{
    const uint32_t whole = whole_sectors(a);
    *out = (struct coalesce_txn){.line = a->addr[__builtin_ctz(a->mask)] >> shift << shift,
                                 .lanes = a->mask,
                                 .sectors = (uint8_t)whole};
    if (!whole) touch_line(a, out);
    return 1;
}

/* A transaction for each line, in the order of its first lane: one iteration a line, whatever the pattern. */
static uint32_t coalesce_lines(const struct coalesce_access *a, struct coalesce_txn *out)
{
    uint32_t shift = (uint32_t)__builtin_ctz(a->line_bytes), count = 0, whole = whole_sectors(a);
    const uint64_t differs = bits_that_differ(a->addr, a->mask) >> shift;
    if (!differs) return coalesce_one_line(a, shift, out);
    const bool is_far = differs >> 32; /* line numbers differ beyond their low halves */
    _Alignas(16) uint32_t number[COALESCE_LANES];
#pragma GCC unroll 1
    for (uint32_t l = 0; l < COALESCE_LANES; l++) number[l] = (uint32_t)(a->addr[l] >> shift);
    for (uint32_t rest = a->mask; rest; rest &= ~out[count++].lanes) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        out[count] = (struct coalesce_txn){.line = a->addr[lane] >> shift << shift,
                                           .lanes = lanes_of_line(a, number, lane, rest, is_far),
                                           .sectors = (uint8_t)whole};
        if (!whole) touch_line(a, &out[count]);
    }
    return count;
}

/* ---- the end ---- */

static bool is_higher(const struct coalesce_txn *a, const struct coalesce_txn *b)
{
    return a->line != b->line ? a->line > b->line : a->sectors >= b->sectors;
}

/* Highest first; of two with the same address, the later. */
static void sort(struct coalesce_txn *out, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct coalesce_txn t = out[i];
        uint32_t k = i;
        for (; k && is_higher(&t, &out[k - 1]); k--) out[k] = out[k - 1];
        out[k] = t;
    }
}

static void finish_txn(const struct coalesce_access *a, struct coalesce_txn *t)
{
    if (a->is_atomic) {
        t->write_bytes = (uint16_t)(a->bytes * bits_count(t->lanes));
    } else if (a->is_store) {
        uint16_t touched = t->write_bytes;
        t->write_bytes = (uint16_t)(COALESCE_SECTOR_BYTES * bits_count(t->sectors));
        t->partial = touched < t->write_bytes;
    }
}

static uint32_t finish(const struct coalesce_access *a, struct coalesce_txn *out, uint32_t count)
{
    if (!is_load(a))
        for (uint32_t i = 0; i < count; i++) finish_txn(a, &out[i]);
    if (a->descending) sort(out, count);
    return count;
}

/* Lane l at addr[0] + l * bytes, and all take part. */
static bool is_contiguous(const struct coalesce_access *a)
{
    uint64_t differs = a->mask ^ UINT32_MAX, bytes = a->bytes;
    if (differs || !is_pow2_u64(bytes) || a->addr[1] - a->addr[0] != bytes) return false;
#pragma GCC unroll 1
    for (uint32_t l = 0; l < COALESCE_LANES; l++) differs |= a->addr[l] ^ (a->addr[0] + l * bytes);
    return !differs;
}

static uint32_t bits_between(uint32_t from, uint32_t to) /* [from, to) */
{
    return (uint32_t)((1ull << to) - (1ull << from));
}

/* The same transactions as the builder makes of contiguous lanes, but a line at a time instead of a lane. */
static uint32_t coalesce_contiguous(const struct coalesce_access *a, struct coalesce_txn *out)
{
    uint64_t from = a->addr[0], to = from + a->bytes * COALESCE_LANES;
    uint32_t shift = (uint32_t)__builtin_ctz(a->bytes), count = 0, whole = whole_sectors(a);
    for (uint64_t line = from & ~(uint64_t)(a->line_bytes - 1); line < to; line += a->line_bytes) {
        uint64_t lo = MAX(from, line), hi = MIN(to, line + a->line_bytes);
        uint32_t first = (uint32_t)(lo - line), last = (uint32_t)(hi - 1 - line);
        out[count++] = (struct coalesce_txn){
            .line = line,
            .sectors = (uint8_t)(whole | bits_between(first / COALESCE_SECTOR_BYTES,
                                                      last / COALESCE_SECTOR_BYTES + 1)),
            .lanes = bits_between((uint32_t)(lo - from) >> shift, (uint32_t)(hi - from) >> shift),
            .write_bytes = (uint16_t)(a->is_store ? hi - lo : 0)};
    }
    return count;
}

static uint32_t coalesce_split(const struct coalesce_access *a, struct coalesce_txn *out)
{
    struct builder b;
    builder_init(&b, a, out);
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        builder_add_split(&b, a->addr[lane], a->bytes, lane);
    }
    return b.count;
}

static uint32_t coalesce_whole(const struct coalesce_access *a, struct coalesce_txn *out)
{
    return is_contiguous(a) ? coalesce_contiguous(a, out) : coalesce_lines(a, out);
}

/* Coalesces with lines of part_bytes, and names the transactions as sectors of the access's longer lines. */
static uint32_t coalesce_parts(const struct coalesce_access *a, uint32_t part_bytes, struct coalesce_txn *out)
{
    struct coalesce_access part = *a;
    part.line_bytes = part_bytes;
    uint32_t count = coalesce_whole(&part, out);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t within = (uint32_t)out[i].line & (a->line_bytes - 1);
        out[i].line -= within;
        out[i].sectors = (uint8_t)(out[i].sectors << within / COALESCE_SECTOR_BYTES);
    }
    return count;
}

static uint32_t coalesce_atomics(const struct coalesce_access *a, struct coalesce_txn *out)
{
    assert(a->atomic_bytes >= COALESCE_SECTOR_BYTES);
    if (a->split_atomic) return coalesce_split(a, out);
    return a->atomic_bytes < a->line_bytes ? coalesce_parts(a, a->atomic_bytes, out) : coalesce_whole(a, out);
}

uint32_t coalesce_global(const struct coalesce_access *a, struct coalesce_txn out[COALESCE_TXN_MAX])
{
    assert(a->line_bytes >= COALESCE_SECTOR_BYTES && a->line_bytes <= COALESCE_LINE_MAX);
    if (!a->mask) return 0;
    return finish(a, out, a->is_atomic ? coalesce_atomics(a, out) : coalesce_whole(a, out));
}

uint32_t coalesce_local(const struct coalesce_access *a, uint64_t base,
                        struct coalesce_txn out[COALESCE_TXN_MAX])
{
    struct builder b;
    builder_init(&b, a, out);
    assert(base % a->line_bytes == 0);
    for (uint32_t word = 0; word < MAX(a->bytes, 4); word += 4)
        for (uint32_t m = a->mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            uint64_t addr = coalesce_local_address(base, a->addr[lane] + word, lane);
            builder_add(&b, addr, MIN(a->bytes, 4), lane);
        }
    for (uint32_t i = 0; a->is_store && i < b.count; i++) out[i].write_bytes = count_bytes(b.covered[i]);
    return finish(a, out, b.count);
}

/* ---- shared memory ---- */

struct banks {
    /* distinct words of this part of the warp, by bank */
    uint32_t words[SHARED_BANKS_MAX][COALESCE_LANES];
    uint8_t count[SHARED_BANKS_MAX];
    uint32_t worst;
};

static void banks_add(struct banks *b, uint32_t word, uint32_t bank, bool is_atomic)
{
    uint32_t n = b->count[bank];
    for (uint32_t i = 0; i < n && !is_atomic; i++)
        if (b->words[bank][i] == word) return; /* multicast */
    b->words[bank][n] = word;
    b->count[bank] = (uint8_t)(n + 1);
    b->worst = MAX(b->worst, n + 1);
}

/* What lanes that go together want, as numbers: of words or, where a lane wants several words, of groups of
 * words, which lie in neighbouring banks. */
struct wants {
    uint32_t number[COALESCE_LANES];
    uint32_t count;
};

static void wants_of(struct wants *w, const uint64_t *addr, uint32_t lanes, uint32_t part, uint32_t shift)
{
    w->count = part;
    if (lanes == bits_between(0, part)) {
#pragma GCC unroll 1
        for (uint32_t l = 0; l < part; l++) w->number[l] = (uint32_t)(addr[l] >> shift);
        return;
    }
    for (w->count = 0; lanes; lanes &= lanes - 1)
        w->number[w->count++] = (uint32_t)(addr[__builtin_ctz(lanes)] >> shift);
}

/* Is only one word of each bank, or group of banks, wanted? This holds for most accesses. Each lane writes
 * the number of its word into its bank's entry. A lane that then reads another number there wants another
 * word of the same bank. */
static bool is_one_word(const struct wants *w, uint32_t groups)
{
    uint32_t wanted[SHARED_BANKS_MAX], differs = 0;
    for (uint32_t i = 0; i < w->count; i++) wanted[w->number[i] & (groups - 1)] = w->number[i];
    for (uint32_t i = 0; i < w->count; i++) differs |= wanted[w->number[i] & (groups - 1)] ^ w->number[i];
    return !differs;
}

/* Does at most one lane want each bank, or group of banks? */
static bool is_one_lane(const struct wants *w, uint32_t groups)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < w->count; i++) seen |= 1ull << (w->number[i] & (groups - 1));
    return bits_count(seen) == w->count;
}

/* Do all lanes want words of one row of banks, which begins at a multiple of its size? */
static bool is_one_row(const struct shared_access *a)
{
    return bits_that_differ(a->addr, a->mask) < (uint64_t)a->banks * a->bank_bytes;
}

uint32_t coalesce_shared_passes(const struct shared_access *a)
{
    uint32_t shift = (uint32_t)__builtin_ctz(a->bank_bytes);
    uint32_t words = (a->bytes + a->bank_bytes - 1) >> shift; /* of one lane */
    debug_assert(is_pow2_u64(a->banks) && is_pow2_u64(a->bank_bytes) && a->banks <= SHARED_BANKS_MAX);
    debug_assert(is_pow2_u64(words) && words <= COALESCE_LANES);
    const uint32_t groups = a->banks >> __builtin_ctz(words);
    const uint32_t part = MAX(MIN(groups, (uint32_t)COALESCE_LANES), 1u);
    uint32_t passes = 0;
    if (part == COALESCE_LANES && words == 1 && !a->is_atomic && a->mask && is_one_row(a)) return 1;
    for (uint32_t first = 0; first < COALESCE_LANES; first += part) {
        uint32_t lanes = a->mask >> first & bits_between(0, part);
        struct wants w;
        if (!lanes) continue;
        wants_of(&w, a->addr + first, lanes, part, shift + (uint32_t)__builtin_ctz(words));
        if (groups && (a->is_atomic ? is_one_lane : is_one_word)(&w, groups)) {
            passes++;
            continue;
        }
        struct banks b;
        b.worst = 0;
        memset(b.count, 0, a->banks);
        for (uint32_t i = 0; i < w.count; i++)
            for (uint32_t word = w.number[i] * words, end = word + words; word < end; word++)
                banks_add(&b, word, word & (a->banks - 1), a->is_atomic);
        passes += b.worst;
    }
    return passes;
}
