/* addrmap.c: the address map in GPGPU-Sim's text form (addrdec.cc), with any number of channels.
 *
 * Terms: a block is the unit that is dealt to the channels in turn (256 bytes for "dramid@8"); rest is what
 * is left of the address when the channel has been taken out. Invariants. (1) (channel, chip_addr) and
 * (slice, slice_addr) each give the address back: no two addresses share a location, whatever the hash.
 * (2) An address below the base maps as if the base were 0, so that fixed windows (constants, local memory)
 * map too. Left out: masks that name channel bits by the letter D; their power-of-two maps are dramid@ at
 * that bit. */
#include "mem/addrmap.h"

#include "base/hash.h"
#include "base/hugepage.h"

#include <ctype.h>

/* enum addrmap_hash */
static const char *const addrmap_hash_names[] = {"none", "xor", "ipoly", "rotate", NULL};

const struct param_row addrmap_rows[] = {
    PARAM_NUMBER64(addrmap_params, base, "addr.base", "", "0x7e9000000000", 0, UINT64_MAX,
                   "device address that is address 0 of the memory"),
    PARAM_NUMBER(addrmap_params, channels, "addr.channels", "channels", "6", 1, 1024,
                 "DRAM channels (memory partitions)"),
    PARAM_NUMBER(addrmap_params, slices, "addr.slices", "slices", "2", 1, 64, "L2 slices of one channel"),
    PARAM_STRING(addrmap_params, mask, "addr.map", "", "dramid@8;0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS",
                 "channel interleave (dramid@BIT) and the bits of Row, Bank, Column and burSt, most "
                 "significant first"),
    PARAM_CHOICE(
        addrmap_params, hash, "addr.hash", "none", addrmap_hash_names,
        "spreads blocks over slices by higher address bits: none, xor and ipoly (2^n slices), rotate (any)"),
    {0},
};

enum { ADDR_BITS = 64, PIECES_MAX = 16, IPOLY_BITS_MAX = 10 };

/* Neighbouring bits of the address that stay together; mask: where they are. */
struct bit_piece {
    uint64_t mask;
    uint8_t from, to, length;
};
struct bit_field {
    uint32_t count, bits;
    struct bit_piece pieces[PIECES_MAX];
};

/* The fields that every request needs come first, in one cache line of the host. */
struct addrmap {
    /* base, channels, slices, hash: as in params */
    _Alignas(HOST_LINE) uint64_t base;
    /* (2^64 - 1) / channels */
    uint64_t per_channel;
    /* mask of the bits of rest below those of sub; only with is_one_piece */
    uint64_t below_sub;
    /* the bits of sub are neighbours, or there are none */
    bool is_one_piece;
    /* channels are a power of two, 2^channel_bits */
    bool is_whole;
    uint8_t channel_bits;
    /* the lowest bit of sub */
    uint8_t sub_at;
    /* bit at which the channel number is taken out */
    uint8_t interleave;
    /* log2 of slices and of channels * slices, where these are powers of two */
    uint8_t slice_bits, total_bits;
    /* hash: enum addrmap_hash */
    uint32_t channels, slices, hash;

    /* rest without the slice bits */
    _Alignas(HOST_LINE) struct bit_field local;
    /* the lowest slice_bits bits of bank */
    struct bit_field sub;
    /* the fields that only a DRAM request needs */
    struct bit_field bank, row;
    struct bit_field column;
    struct addrmap_params params;
};

/* Appends bit `from` of the address to a field. Called from the lowest bit up. */
static bool field_add(struct bit_field *f, uint32_t from)
{
    if (f->count) {
        struct bit_piece *last = &f->pieces[f->count - 1];
        if (last->from + last->length == from) {
            last->length++;
            last->mask |= 1ull << from;
            f->bits++;
            return true;
        }
    }
    if (f->count == PIECES_MAX) return false;
    f->pieces[f->count++] = (struct bit_piece){1ull << from, (uint8_t)from, (uint8_t)f->bits, 1};
    f->bits++;
    return true;
}

static inline uint64_t field_pack(const struct bit_field *f, uint64_t addr)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct bit_piece *p = &f->pieces[i];
        out |= (addr & p->mask) >> (p->from - p->to); /* bits only move down */
    }
    return out;
}

struct map_reader {
    struct addrmap *map;
    struct diag_source src;
    struct diag_list *diags;
};

static bool map_error(struct map_reader *r, const char *at, int len, const char *hint, const char *what)
{
    diag_add(r->diags, DIAG_ERROR, &r->src, 1, (int)(at - r->src.text) + 1, len, hint, "addr.map: %s", what);
    return false;
}

/* "dramid@8;": where the channel number is. Returns what follows, or NULL. */
static const char *map_read_dramid(struct map_reader *r)
{
    static const char word[] = "dramid@";
    const char *t = r->src.text;
    const char *hint = "write it as in dramid@8;RRRRRRRR.BBBCCCCB.CCSSSSSS";
    if (strncmp(t, word, strlen(word)) != 0) {
        map_error(r, t, 1, hint, "must begin with dramid@BIT;");
        return NULL;
    }
    const char *number = t + strlen(word);
    char *end;
    unsigned long bit = isdigit((unsigned char)*number) ? strtoul(number, &end, 10) : ADDR_BITS;
    if (bit < 5 || bit > 32 || *end != ';') {
        map_error(r, number, 1, hint, "the channel's bit must be a number from 5 to 32, followed by ';'");
        return NULL;
    }
    r->map->interleave = (uint8_t)bit;
    return end + 1;
}

static struct bit_field *map_field_of(struct addrmap *m, char letter)
{
    switch (toupper((unsigned char)letter)) {
    case 'R': return &m->row;
    case 'B': return &m->bank;
    case 'C': return &m->column;
    default: return NULL;
    }
}

/* Reads the letters from the last one, which is bit 0, to the first; dots are ignored. */
static bool map_read_letters(struct map_reader *r, const char *letters)
{
    uint32_t bit = 0, burst = 0;
    for (const char *p = letters + strlen(letters); p-- > letters;) {
        char c = *p;
        if (c == '.') continue;
        if (bit == ADDR_BITS) return map_error(r, p, 1, NULL, "more than 64 bits");
        if (c == 'S' || c == 's') {
            if (burst != bit) return map_error(r, p, 1, NULL, "the S bits must be the lowest ones");
            burst++;
        } else if (c != '0') {
            struct bit_field *f = map_field_of(r->map, c);
            if (!f)
                return map_error(r, p, 1, "the channel is named by dramid@BIT",
                                 "letters are R (row), B (bank), C (column), S (burst) and 0 (unused)");
            if (f->bits == 32 || !field_add(f, bit))
                return map_error(r, p, 1, NULL, "too many bits of this letter");
        }
        bit++;
    }
    if (!r->map->row.bits || !r->map->column.bits)
        return map_error(r, letters, (int)strlen(letters), NULL, "needs at least one R and one C");
    return true;
}

static bool map_read_text(struct map_reader *r)
{
    const char *letters = map_read_dramid(r);
    return letters && map_read_letters(r, letters);
}

static uint32_t map_log2(uint64_t v)
{
    uint32_t n = 0;
    while (1ull << n < v) n++;
    return n;
}

static bool map_check(struct map_reader *r)
{
    struct addrmap *m = r->map;
    const struct addrmap_params *p = &m->params;
    uint32_t total = p->channels * p->slices;
    bool whole = is_pow2_u64(total);
    if ((p->hash == ADDRMAP_XOR || p->hash == ADDRMAP_IPOLY) && !whole) {
        diag_add(r->diags, DIAG_ERROR, NULL, 0, 0, 0, "addr.hash: rotate works with any number",
                 "addr.hash: %s needs a power of two of slices, and there are %u",
                 addrmap_hash_names[p->hash], total);
        return false;
    }
    if (p->hash == ADDRMAP_IPOLY && map_log2(total) > IPOLY_BITS_MAX) {
        diag_add(r->diags, DIAG_ERROR, NULL, 0, 0, 0, NULL,
                 "addr.hash: ipoly is known up to %u slices, not %u", 1u << IPOLY_BITS_MAX, total);
        return false;
    }
    if (!is_pow2_u64(p->slices) || 1ull << m->bank.bits < p->slices) {
        diag_add(r->diags, DIAG_ERROR, NULL, 0, 0, 0,
                 "bank bits choose the slice: take 1, 2, 4 or more B letters",
                 "addr.slices must be a power of two that the %u bank bits of addr.map can name, got %u",
                 m->bank.bits, p->slices);
        return false;
    }
    m->slice_bits = (uint8_t)map_log2(p->slices);
    m->total_bits = (uint8_t)(whole ? map_log2(total) : 0);
    return true;
}

/* Divides the bits of rest into the lowest slice_bits bits of the bank, which name the slice, and all
 * others. */
static void map_find_local(struct addrmap *m)
{
    uint64_t taken = 0;
    for (uint32_t i = 0, n = 0; i < m->bank.count; i++)
        for (uint32_t b = 0; b < m->bank.pieces[i].length && n < m->slice_bits; b++, n++) {
            taken |= 1ull << (m->bank.pieces[i].from + b);
            field_add(&m->sub, m->bank.pieces[i].from + b); /* no more pieces than bank has */
        }
    for (uint32_t bit = 0; bit < ADDR_BITS; bit++)
        if (!(taken >> bit & 1) && !field_add(&m->local, bit))
            UNREACHABLE("slice bits are in too many pieces");
    m->is_one_piece = m->sub.count <= 1;
    m->is_whole = is_pow2_u64(m->channels);
    m->channel_bits = (uint8_t)map_log2(m->channels);
    m->sub_at = m->sub.count ? m->sub.pieces[0].from : 0; /* no bits to move: any position will do */
    m->below_sub = (1ull << m->sub_at) - 1;
}

COLD struct addrmap *addrmap_create(const struct addrmap_params *p, struct diag_list *diags)
{
    struct addrmap *m = mem_zalloc_huge(sizeof *m);
    m->params = *p;
    m->base = p->base;
    m->channels = p->channels;
    m->slices = p->slices;
    m->hash = p->hash;
    m->per_channel = UINT64_MAX / p->channels;
    struct map_reader r = {m, {"addr.map", m->params.mask, strlen(m->params.mask)}, diags};
    if (map_read_text(&r) && map_check(&r)) {
        map_find_local(m);
        return m;
    }
    mem_free_huge(m);
    return NULL;
}

void addrmap_destroy(struct addrmap *m) { mem_free_huge(m); }

/* Remainder of the bits of v modulo an irreducible polynomial of the degree over GF(2): neighbours and all
 * power-of-two strides spread evenly (Rau, ISCA'91). */
static uint32_t map_ipoly(uint64_t v, uint32_t degree)
{
    static const uint16_t poly[IPOLY_BITS_MAX + 1] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033};
    uint32_t r = 0;
    for (int bit = ADDR_BITS - 1; bit >= 0; bit--) {
        r = r << 1 | (uint32_t)(v >> bit & 1);
        if (r >> degree & 1) r ^= poly[degree];
    }
    return degree ? r : 0;
}

__extension__ typedef unsigned __int128 map_wide;

/* v / channels: by a shift, or by a multiplication, which is at most one short. */
static inline uint64_t map_divide(const struct addrmap *m, uint64_t v, uint32_t *remainder)
{
    if (m->is_whole) {
        *remainder = (uint32_t)v & (m->channels - 1);
        return v >> m->channel_bits;
    }
    uint64_t channels = m->channels, q = (uint64_t)((map_wide)v * m->per_channel >> 64);
    uint64_t rest = v - q * channels;
    if (rest >= channels) {
        rest -= channels;
        q++;
    }
    *remainder = (uint32_t)rest;
    return q;
}

/* Moves (channel, sub) by a function of the bits above both. For a given `above` it is a bijection. */
static void map_hash(const struct addrmap *m, uint64_t above, uint32_t *channel, uint32_t *sub)
{
    if (m->hash == ADDRMAP_ROTATE) {
        uint64_t h = hash_mix(above);
        map_divide(m, *channel + (h >> 8), channel);
        *sub = (*sub ^ (uint32_t)h) & (m->slices - 1);
        return;
    }
    uint32_t move = m->hash == ADDRMAP_XOR ? (uint32_t)above & ((1u << m->total_bits) - 1)
                                           : map_ipoly(above << m->total_bits, m->total_bits);
    uint32_t index = (*channel << m->slice_bits | *sub) ^ move;
    *channel = index >> m->slice_bits;
    *sub = index & (m->slices - 1);
}

/* The address without the channel: rest in the words of addrmap.h. */
static inline uint64_t map_rest(const struct addrmap *m, uint64_t addr, uint32_t *channel)
{
    uint64_t a = addr >= m->base ? addr - m->base : addr; /* invariant 2 */
    uint64_t block = a >> m->interleave, low = a & ((1ull << m->interleave) - 1);
    return map_divide(m, block, channel) << m->interleave | low;
}

/* Splits the result of map_rest into the slice within the channel and the address within the slice, which it
 * returns. */
static inline uint64_t map_split(const struct addrmap *m, uint64_t rest, uint32_t *sub)
{
    *sub = 0;
    if (!m->slice_bits) return rest;
    if (LIKELY(m->is_one_piece)) {
        *sub = (uint32_t)(rest >> m->sub_at) & (m->slices - 1);
        return (rest & m->below_sub) | (rest >> m->slice_bits & ~m->below_sub);
    }
    *sub = (uint32_t)field_pack(&m->sub, rest);
    return field_pack(&m->local, rest);
}

/* Computes slice, channel and address within the slice from the result of map_rest. */
static inline uint64_t map_route(const struct addrmap *m, uint64_t rest, uint32_t channel, uint16_t *slice,
                                 uint16_t *to_channel)
{
    uint32_t sub;
    uint64_t local = map_split(m, rest, &sub);
    if (m->hash != ADDRMAP_PLAIN) map_hash(m, local >> m->interleave, &channel, &sub);
    *to_channel = (uint16_t)channel;
    *slice = (uint16_t)((channel << m->slice_bits) + sub);
    return local;
}

struct addr_place addrmap_place(const struct addrmap *m, uint64_t addr)
{
    uint32_t channel;
    uint64_t rest = map_rest(m, addr, &channel);
    struct addr_place at = {.bank = (uint32_t)field_pack(&m->bank, rest),
                            .row = (uint32_t)field_pack(&m->row, rest),
                            .column = (uint32_t)field_pack(&m->column, rest),
                            .chip_addr = rest};
    at.slice_addr = map_route(m, rest, channel, &at.slice, &at.channel);
    return at;
}

uint64_t addrmap_route(const struct addrmap *m, uint64_t addr, uint16_t *slice, uint16_t *channel)
{
    uint32_t c;
    uint64_t rest = map_rest(m, addr, &c);
    return map_route(m, rest, c, slice, channel);
}

void addrmap_cell(const struct addrmap *m, uint64_t addr, uint32_t *bank, uint32_t *row)
{
    uint32_t channel;
    uint64_t rest = map_rest(m, addr, &channel);
    *bank = (uint32_t)field_pack(&m->bank, rest);
    *row = (uint32_t)field_pack(&m->row, rest);
}

uint64_t addrmap_slice_addr(const void *map, uint64_t addr)
{
    const struct addrmap *m = map;
    uint32_t channel, sub;
    return map_split(m, map_rest(m, addr, &channel), &sub);
}

uint32_t addrmap_slices(const struct addrmap *m) { return m->channels * m->slices; }
uint32_t addrmap_channels(const struct addrmap *m) { return m->channels; }
uint32_t addrmap_banks(const struct addrmap *m) { return 1u << m->bank.bits; }

/* Has the field a bit within a line? Then parts of one line would have different locations. */
static bool field_parts_line(const struct bit_field *f, uint32_t line_bytes)
{
    return f->count && 1ull << f->pieces[0].from < line_bytes;
}

bool addrmap_check_line(const struct addrmap *m, uint32_t line_bytes, struct diag_list *diags)
{
    const uint32_t errors = diags->errors;
    if (m->base % line_bytes)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL,
                 "addr.base must be a multiple of l2.line, which is %u bytes, got 0x%llx", line_bytes,
                 (unsigned long long)m->base);
    if (1ull << m->interleave < line_bytes)
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "a larger BIT in dramid@BIT, or a shorter line",
                 "a line of the L2 would lie in several channels: l2.line is %u bytes, addr.map deals %llu "
                 "bytes to each channel in turn",
                 line_bytes, 1ull << m->interleave);
    if (field_parts_line(&m->bank, line_bytes) || field_parts_line(&m->row, line_bytes))
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "lower C and S letters, or a shorter line",
                 "a line of the L2 would lie in several slices, banks or rows: l2.line is %u bytes, and "
                 "addr.map has a B or R among the lowest %u bits",
                 line_bytes, map_log2(line_bytes));
    return diags->errors == errors;
}
