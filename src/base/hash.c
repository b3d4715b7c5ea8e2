/* hash.c: eight bytes at a time through the mixer; the length is part of the hash. Bytes are read as
 * little-endian words, so the value does not depend on the host. */
#include "base/hash.h"

static uint64_t hash_word(const unsigned char *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++) w |= (uint64_t)p[i] << (8 * i);
    return w;
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (len * 0x9e3779b97f4a7c15ull);
    for (; len >= 8; p += 8, len -= 8) h = hash_mix(h ^ hash_word(p, 8)) + 0x9e3779b97f4a7c15ull;
    if (len) h = hash_mix(h ^ hash_word(p, len)) + 0x9e3779b97f4a7c15ull;
    return hash_mix(h);
}

uint64_t hash_text(const char *text) { return hash_bytes(HASH_SEED, text, strlen(text)); }

struct hash128 hash128_bytes(const void *data, size_t len)
{
    uint64_t low = hash_bytes(HASH_SEED, data, len);
    return (struct hash128){hash_bytes(hash_mix(~HASH_SEED), data, len), low};
}

void hash128_hex(struct hash128 h, char out[HASH128_CHARS + 1])
{
    snprintf(out, HASH128_CHARS + 1, "%016llx%016llx", (unsigned long long)h.high, (unsigned long long)h.low);
}
