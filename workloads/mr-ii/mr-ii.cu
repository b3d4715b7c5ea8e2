/* mr-ii: inverted index on Mars: finds the links of HTML files and groups the files by link. Each map task
 * runs a state machine over about a kilobyte, byte by byte: a warp's load touches 32 lines a kilobyte
 * apart, each of which its thread uses 128 times, and the lanes stand in different states. The sort
 * compares links by hash, then byte by byte where they stand in the files. */
#include "kit/mars_group.cuh"

struct ii_key {
    char *file;
    int link_at, link_hash;
};
struct ii_value {
    int block_at, block_bytes, file;
};

enum state { IN_TEXT, IN_TAG, IN_ANCHOR, AFTER_HREF, IN_LINK };

KIT_INLINE int link_hash(const char *link, int bytes)
{
    int hash = bytes;
#pragma unroll 1
    for (int i = 0; i < bytes; i++) hash = (hash << 4) ^ (hash >> 28) ^ link[i];
    return hash;
}

KIT_INLINE bool is_href(const char *p)
{
    const char href[4] = {'h', 'r', 'e', 'f'};
    int same = 0;
    while (same < 4 && p[same] == href[same]) same++;
    return same == 4;
}

/* The quote that ends a link becomes its '\0', in the second pass only: the first needs it to find the
 * end. */
template <bool counting>
KIT_INLINE void links(char *key, const char *value, struct mars_counts counts, struct mars_output out)
{
    struct ii_key *own = (struct ii_key *)key;
    const struct ii_value *block = (const struct ii_value *)value;
    int block_at = block->block_at, bytes = block->block_bytes;
    char *text = own->file + block_at;
    enum state state = IN_TEXT;
#pragma unroll 1
    for (int i = 0; i < bytes; i++) {
        switch (state) {
        case IN_TEXT:
            if (text[i] == '<') state = IN_TAG;
            break;
        case IN_TAG:
            if (text[i] == 'a')
                state = IN_ANCHOR;
            else if (text[i] != ' ')
                state = IN_TEXT;
            break;
        case IN_ANCHOR:
            if (text[i] == 'h' && is_href(text + i)) {
                state = AFTER_HREF;
                i += 3;
            } else if (text[i] != ' ') {
                state = IN_TEXT;
            }
            break;
        case AFTER_HREF:
            if (text[i] == '"')
                state = IN_LINK;
            else if (text[i] != ' ' && text[i] != '=')
                state = IN_TEXT;
            break;
        case IN_LINK: {
            char *end = text + i;
            for (; *end != '"'; end++) {}
            int link_bytes = (int)(end - (text + i));
            if (counting) {
                mars_emit_count(counts, sizeof(struct ii_key), sizeof(int));
            } else {
                *end = '\0';
                own->link_at = i + block_at;
                own->link_hash = link_hash(text + i, link_bytes);
                mars_emit(out, own, &block->file, sizeof(struct ii_key), sizeof(int));
            }
            i += link_bytes;
            state = IN_TEXT;
            break;
        }
        }
    }
}

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    struct mars_output none = {};
    links<true>(key, value, counts, none);
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    struct mars_counts none = {};
    links<false>(key, value, none, out);
}

KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes)
{
    const struct ii_key *x = (const struct ii_key *)a, *y = (const struct ii_key *)b;
    if (x->link_hash != y->link_hash) return x->link_hash > y->link_hash ? 1 : -1;
    const char *p = x->file + x->link_at, *q = y->file + y->link_at;
    for (; *p == *q && *p != '\0' && *q != '\0'; p++, q++) {}
    return *p > *q ? 1 : *p < *q ? -1 : 0;
}
