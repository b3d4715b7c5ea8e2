/* mummergpu: where do short reads of DNA match a reference? A suffix tree of the reference answers, one
 * thread a read, as in MUMmerGPU 2. A node is two pixels of 16 bytes in two textures: its edge, parent and
 * suffix link, and its children; five numbers of three bytes in each. The reads and the reference are
 * plain memory and go through the L1: the bytes that a walk down an edge compares. */
#include "kit/device.h"

#define ROOT 1u

struct match {
    unsigned at_result; /* first slot for its alignments */
    unsigned query, node;
    unsigned short on_edge, start; /* characters of the node's edge that match; where in the query */
};
struct alignment {
    int left; /* 1 is the first base of the reference; 0 an empty slot */
    unsigned short length;
};

/* The five numbers of a pixel, and its last byte. */
KIT_INLINE unsigned number0(uint4 p) { return p.x & 0xffffffu; }
KIT_INLINE unsigned number1(uint4 p) { return p.x >> 24 | (p.y & 0xffffu) << 8; }
KIT_INLINE unsigned number2(uint4 p) { return p.y >> 16 | (p.z & 0xffu) << 16; }
KIT_INLINE unsigned number3(uint4 p) { return p.z >> 8; }
KIT_INLINE unsigned number4(uint4 p) { return p.w & 0xffffffu; }
KIT_INLINE unsigned last_byte(uint4 p) { return p.w >> 24; }

KIT_INLINE unsigned child_for(uint4 children, char c)
{
    switch (c) {
    case 'A': return number0(children);
    case 'C': return number1(children);
    case 'G': return number2(children);
    case 'T': return number3(children);
    default: return 0;
    }
}

KIT_INLINE void set_result(int2 *result, unsigned node, int on_edge, int matched, int min_match)
{
    if (matched > min_match) *result = make_int2((int)node, on_edge);
}

/* For each start in the read, the deepest place in the tree that it matches to. After a mismatch the
 * suffix link of the last node leads to the place of the next start less `mustmatch` characters, which are
 * known to match and only skipped. */
KERNEL mummergpuKernel(int2 *match_coords, const char *queries, unsigned long long nodes,
                       unsigned long long childrens, const char *ref, const int *query_addresses,
                       const int *query_lengths, int number_of_queries, int min_match)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= number_of_queries) return;
    int length = query_lengths[query], address = query_addresses[query];
    int2 *result = match_coords + address - query * (min_match + 1);
    queries += address;

    unsigned cur = 0;
    int mustmatch = 0, matched = 0; /* matched counts the mark before the read's first base */
    for (int start = 0; start <= length - min_match; start++, result++) {
        unsigned previous = 0, edge_start = 0;
        bool fell_off = false;
        if (cur == 0 || matched < 1) {
            cur = ROOT;
            matched = 1;
            mustmatch = 0;
        }
        char c = queries[start + matched];
        int at = 0;
        while (c != '\0') {
            uint4 pixel = kit_tex1d_uint4(childrens, (int)cur);
            previous = cur;
            cur = child_for(pixel, c);
            if (cur == 0) {
                set_result(result, previous, 0, matched, min_match);
                matched -= 1;
                mustmatch = 0;
                fell_off = true;
                break;
            }
            uint4 node = kit_tex1d_uint4(nodes, (int)cur);
            edge_start = number2(node);
            int edge_end = (int)number3(node), edge_length = edge_end - (int)edge_start + 1;
            if (mustmatch) {
                at = min((int)edge_start + mustmatch, edge_end + 1);
                matched += min(edge_length, mustmatch);
                mustmatch = max(mustmatch - edge_length, 0);
            } else { /* the first character of an edge is the one that chose it */
                matched++;
                at = (int)edge_start + 1;
            }
            c = queries[start + matched];
            bool mismatch = false;
            while (at <= edge_end && c != '\0') {
                if (ref[at] != c) {
                    mismatch = true;
                    break;
                }
                matched++;
                at++;
                c = queries[start + matched];
            }
            if (mismatch) break;
        }
        if (!fell_off) {
            set_result(result, cur, at - (int)edge_start, matched, min_match);
            mustmatch = at - (int)edge_start;
            matched -= mustmatch + 1;
        }
        cur = number1(kit_tex1d_uint4(nodes, (int)previous));
    }
}

/* For each match, all places of the reference: the leaves under the highest node that is still deep
 * enough. The walk needs no stack; from a leaf it goes back to the parent and asks which of its children
 * it came from. Leaves that hang off the path to the matched node ("off" counts the steps away from it)
 * match only as far as the node that they branch off at. */
KERNEL printKernel(const struct match *matches, int number_of_matches, struct alignment *alignments,
                   const char *queries, unsigned long long nodes, unsigned long long childrens,
                   const int *query_addresses, int min_match)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= number_of_matches) return;
    queries += query_addresses[matches[i].query];
    unsigned flank = (unsigned char)queries[matches[i].start];
    unsigned matched_node = matches[i].node, cur = matched_node, top = cur;
    uint4 node = kit_tex1d_uint4(nodes, (int)cur);
    while ((int)number4(node) >= min_match) {
        top = cur;
        cur = number0(node);
        node = kit_tex1d_uint4(nodes, (int)cur);
    }
    unsigned above = cur;
    cur = top;
    int length = (int)number4(kit_tex1d_uint4(nodes, (int)top)), off = 0;
    if (top == matched_node) {
        if (matches[i].on_edge > 0)
            length = (int)number4(kit_tex1d_uint4(nodes, (int)above)) + matches[i].on_edge;
        off = 1;
    }
    unsigned slot = matches[i].at_result;
    int next_child = 0;
    while (cur != above) {
        uint4 children = kit_tex1d_uint4(childrens, (int)cur);
        unsigned left_flank = last_byte(children), down = 0;
        if (!left_flank) { /* an inner node: down to its next child, if there is one */
            if (next_child <= 0 && number0(children))
                down = number0(children), next_child = 0;
            else if (next_child <= 1 && number1(children))
                down = number1(children), next_child = 1;
            else if (next_child <= 2 && number2(children))
                down = number2(children), next_child = 2;
            else if (next_child <= 3 && number3(children))
                down = number3(children), next_child = 3;
            else if (next_child <= 4 && number4(children))
                down = number4(children), next_child = 4;
        }
        if (down) {
            cur = down;
            if (off == 0) {
                char golden = queries[matches[i].start + length + 1];
                if ("ACGT$"[next_child] != golden) {
                    off = 1;
                } else {
                    uint4 below = kit_tex1d_uint4(nodes, (int)cur);
                    length = (int)number4(below);
                    if (cur == matched_node) {
                        off = 1;
                        if (matches[i].on_edge > 0)
                            length = (int)number4(kit_tex1d_uint4(nodes, (int)number0(below))) +
                                     matches[i].on_edge;
                    }
                }
            } else {
                off++;
            }
            next_child = 0;
            continue;
        }
        if (left_flank && left_flank != flank) {
            alignments[slot].left = (int)number0(children) + 1;
            alignments[slot].length = (unsigned short)length;
            slot++;
        }
        unsigned parent = number0(kit_tex1d_uint4(nodes, (int)cur));
        uint4 siblings = kit_tex1d_uint4(childrens, (int)parent);
        if (number0(siblings) == cur)
            next_child = 1;
        else if (number1(siblings) == cur)
            next_child = 2;
        else if (number2(siblings) == cur)
            next_child = 3;
        else if (number3(siblings) == cur)
            next_child = 4;
        else
            next_child = 5;
        cur = parent;
        if (off) off--;
        if (off == 0) length = (int)number4(kit_tex1d_uint4(nodes, (int)cur));
    }
}
