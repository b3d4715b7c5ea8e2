/* mr-wc: word count on Mars: each map task walks about two kilobytes of text and emits every word of six
 * letters or more with its '\0' (keys of varying size); the group stage sorts the words, comparing them
 * byte by byte where they lie, and the size of a group is the word's count. */
#include "kit/mars_group.cuh"

struct wc_key {
    char *text;
};
struct wc_value {
    int at, bytes, unused[2];
};

KIT_INLINE bool is_letter(char c) { return c >= 'A' && c <= 'Z'; }

/* The byte after each word becomes its '\0'; a task's last byte is one from the start, so no word runs
 * over. */
template <bool counting>
KIT_INLINE void words(const char *key, const char *value, struct mars_counts counts, struct mars_output out)
{
    const struct wc_value *block = (const struct wc_value *)value;
    char *word = ((const struct wc_key *)key)->text + block->at, *p = word;
    int left = block->bytes;
    while (true) {
        for (; is_letter(*p); p++, left--) {}
        *p = '\0';
        p++;
        left--;
        int bytes = (int)(p - word);
        int *scratch = mars_own_scratch();
        if (!counting) *scratch = bytes;
        if (bytes > 6) {
            if (counting)
                mars_emit_count(counts, bytes, sizeof(int));
            else
                mars_emit(out, word, scratch, bytes, sizeof(int));
        }
        for (; left > 0 && !is_letter(*p); p++, left--) {}
        if (left <= 0) break;
        word = p;
    }
}

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    struct mars_output none = {};
    words<true>(key, value, counts, none);
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    struct mars_counts none = {};
    words<false>(key, value, none, out);
}

KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes)
{
    for (; *a != '\0' && *b != '\0' && *a == *b; a++, b++) {}
    return *a > *b ? 1 : *a < *b ? -1 : 0;
}
