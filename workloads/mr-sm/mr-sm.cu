/* mr-sm: string match on Mars: each map task searches about a kilobyte of a file for lines that are the
 * keyword. A thread reads its own lines byte by byte, so a warp's load touches 32 lines a kilobyte apart,
 * each of which its thread uses 128 times; lanes wait for each other at every line of text, whose lengths
 * differ. */
#include "kit/mars.cuh"

struct sm_key {
    const char *file, *keyword;
};
struct sm_value {
    int keyword_bytes, block_at, block_bytes,
        unused; /* keyword_bytes counts the end, as a line's bytes count the '\n' */
};

template <bool counting>
KIT_INLINE void match(const char *key, const char *value, struct mars_counts counts, struct mars_output out)
{
    const struct sm_value *block = (const struct sm_value *)value;
    const char *keyword = ((const struct sm_key *)key)->keyword;
    int at = block->block_at, keyword_bytes = block->keyword_bytes;
    const char *line = ((const struct sm_key *)key)->file + at, *end = line + block->block_bytes, *p = line;
    while (p < end) {
        for (; *p != '\n'; p++) {}
        p++;
        int bytes = (int)(p - line);
        if (bytes == keyword_bytes) {
            const char *k = keyword, *s = line;
            for (; *s == *k && *k != '\0'; s++, k++) {}
            if (*s == '\n' && counting) mars_emit_count(counts, sizeof(int), sizeof(int));
            if (*s == '\n' && !counting) {
                int *scratch = mars_own_scratch();
                scratch[0] = at;
                scratch[1] = bytes;
                mars_emit(out, scratch, scratch + 1, sizeof(int), sizeof(int));
            }
        }
        line = p;
        at += bytes;
    }
}

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    struct mars_output none = {};
    match<true>(key, value, counts, none);
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    struct mars_counts none = {};
    match<false>(key, value, none, out);
}
