/* mummergpu: host side. */
#include "tree.h"

#define BLOCK     256
#define MIN_MATCH 20

struct match {
    unsigned at_result, query, node;
    unsigned short on_edge, start;
};
struct alignment {
    int left;
    unsigned short length;
};

struct reads {
    /* bases of each */
    int number, bases;
    /* 'q', the bases, '\0', one read after the other */
    char *text;
    int *address, *length;
    size_t bytes;
};

static const char *const bases = "ACGT";

static char *make_reference(int length)
{
    char *text = kit_host(length + 1);
    for (int i = 0; i < length; i++) text[i] = bases[kit_below(4)];
    text[length] = '$';
    return text;
}

/* All but one read in sixteen come from the reference, with an error in one base of a hundred. */
static struct reads make_reads(int number, int length, const char *ref, int ref_length)
{
    struct reads r = {.number = number, .bases = length, .bytes = (size_t)number * (length + 2)};
    r.text = kit_host(r.bytes);
    r.address = kit_host(number * sizeof *r.address);
    r.length = kit_host(number * sizeof *r.length);
    for (int q = 0; q < number; q++) {
        r.address[q] = q * (length + 2);
        r.length[q] = length;
        char *to = r.text + r.address[q];
        const char *from = kit_below(16) ? ref + kit_below(ref_length - length) : NULL;
        *to++ = 'q';
        for (int i = 0; i < length; i++) to[i] = from && kit_below(100) ? from[i] : bases[kit_below(4)];
    }
    return r;
}

/* ---- the CPU's answer: every word of MIN_MATCH bases of the reference in a table, then compare base by base
 * ---- */
struct words {
    int *first, *next, mask;
};

static uint32_t word_at(const char *s)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < MIN_MATCH; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static struct words index_words(const char *ref, int length)
{
    struct words w = {.mask = (1 << 18) - 1};
    w.first = kit_host((w.mask + 1) * sizeof *w.first); /* places are counted from 1 */
    w.next = kit_host((length + 1) * sizeof *w.next);
    for (int i = length - MIN_MATCH; i >= 0; i--) {
        int *slot = &w.first[word_at(ref + i) & w.mask];
        w.next[i + 1] = *slot;
        *slot = i + 1;
    }
    return w;
}

/* Order of `found`: query, start, place. */
static int find_matches(const struct words *w, const char *ref, const char *read, int start, int length,
                        struct alignment *found)
{
    int n = 0;
    for (int at = w->first[word_at(read + 1 + start) & w->mask]; at; at = w->next[at]) {
        const char *r = ref + at - 1, *q = read + 1 + start;
        int same = 0;
        while (start + same < length && r[same] == q[same]) same++;
        if (same >= MIN_MATCH && (at == 1 || r[-1] != q[-1]))
            found[n++] = (struct alignment){at, (unsigned short)same};
    }
    return n;
}

static int by_place(const void *a, const void *b)
{
    return ((const struct alignment *)a)->left - ((const struct alignment *)b)->left;
}

/* The alignments that the device wrote from `got` on, `room` slots at most, against the CPU's. */
static void check_match(int query, int start, struct alignment *got, int room, const struct alignment *want,
                        int wanted)
{
    int n = 0;
    while (n < room && got[n].left) n++;
    qsort(got, n, sizeof *got, by_place);
    kit_check(n == wanted, "read %d from %d on: %d alignments, the CPU finds %d", query, start, n, wanted);
    for (int i = 0; i < n && i < wanted; i++)
        kit_check(got[i].left == want[i].left && got[i].length == want[i].length,
                  "read %d from %d on: %d bases at %d, the CPU says %d at %d", query, start, got[i].length,
                  got[i].left, want[i].length, want[i].left);
}

/* ---- the device ---- */
struct device {
    CUdeviceptr text, address, length, ref;
    CUtexObject nodes, children;
};

static int *match_reads(const struct device *d, const struct reads *r, int starts)
{
    size_t bytes = (size_t)r->number * starts * 2 * sizeof(int);
    int *coords = kit_host(bytes), min_match = MIN_MATCH;
    CUdeviceptr dcoords = kit_zeros(bytes);
    KIT_LAUNCH("mummergpuKernel", KIT_DIM((r->number + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, dcoords,
               d->text, d->nodes, d->children, d->ref, d->address, d->length, r->number, min_match);
    kit_download(coords, dcoords, bytes);
    return coords;
}

/* A list of what matched, with room for the alignments of each: all leaves under its highest node that is
 * deep enough. */
static int list_matches(const struct tree *t, const int *coords, int reads, int starts, struct match *matches,
                        int *slots)
{
    int n = 0;
    *slots = 0;
    for (int i = 0; i < reads * starts; i++) {
        int node = coords[2 * i];
        if (!node) continue;
        matches[n++] = (struct match){(unsigned)*slots, (unsigned)(i / starts), (unsigned)node,
                                      (unsigned short)coords[2 * i + 1], (unsigned short)(i % starts)};
        while (t->node[t->node[node].parent].depth >= MIN_MATCH) node = t->node[node].parent;
        *slots += t->node[node].leaves;
    }
    return n;
}

static struct alignment *print_matches(const struct device *d, const struct match *matches, int n, int slots)
{
    struct alignment *alignments = kit_host((slots + 1) * sizeof *alignments);
    int min_match = MIN_MATCH;
    if (n == 0) return alignments;
    CUdeviceptr dm = kit_upload(matches, n * sizeof *matches),
                da = kit_zeros((slots + 1) * sizeof *alignments);
    KIT_LAUNCH("printKernel", KIT_DIM((n + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, dm, n, da, d->text,
               d->nodes, d->children, d->address, min_match);
    kit_download(alignments, da, slots * sizeof *alignments);
    return alignments;
}

static void check_all(const struct reads *r, const char *ref, int ref_length, const struct match *matches,
                      int n, int slots, struct alignment *alignments, int starts)
{
    struct words w = index_words(ref, ref_length);
    struct alignment *want = kit_host((ref_length + 1) * sizeof *want);
    int m = 0;
    for (int q = 0; q < r->number; q++)
        for (int start = 0; start < starts; start++) {
            int wanted = find_matches(&w, ref, r->text + r->address[q], start, r->bases, want);
            bool listed = m < n && (int)matches[m].query == q && matches[m].start == start;
            int end = listed ? (m + 1 < n ? (int)matches[m + 1].at_result : slots) : 0;
            struct alignment *got = alignments + (listed ? matches[m].at_result : 0);
            check_match(q, start, got, listed ? end - (int)matches[m].at_result : 0, want, wanted);
            m += listed;
        }
    kit_check(m == n, "%d matches are of no read and start", n - m);
}

static const struct size {
    const char *name;
    int reads, reference;
} sizes[] = {
    {"tiny", 512, 2000}, {"small", 24576, 20000}, {"paper", 50000, 20000}, {"genome", 8192, 1 << 20}};

int main(int argc, char **argv)
{
    kit_open("mummergpu", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int ref_length = size->reference, number = size->reads;
    int length = 25, starts = length - MIN_MATCH + 1, slots;
    char *ref = make_reference(ref_length);
    struct reads r = make_reads(number, length, ref, ref_length);
    struct tree t = tree_build(ref, ref_length + 1);
    size_t pixels = 16 * (size_t)(t.nodes + 1);
    struct device d = {
        .text = kit_upload(r.text, r.bytes),
        .address = kit_upload(r.address, number * sizeof(int)),
        .length = kit_upload(r.length, number * sizeof(int)),
        .ref = kit_upload(ref, ref_length + 1),
        .nodes = kit_texture(kit_upload(t.node_pixels, pixels), pixels, CU_AD_FORMAT_UNSIGNED_INT32, 4),
        .children = kit_texture(kit_upload(t.child_pixels, pixels), pixels, CU_AD_FORMAT_UNSIGNED_INT32, 4),
    };

    int *coords = match_reads(&d, &r, starts);
    struct match *matches = kit_host(((size_t)number * starts + 1) * sizeof *matches);
    int n = list_matches(&t, coords, number, starts, matches, &slots);
    struct alignment *alignments = print_matches(&d, matches, n, slots);
    kit_note("%d nodes, %d matches of %d bases and more", t.nodes, n, MIN_MATCH);
    if (kit_checking()) check_all(&r, ref, ref_length, matches, n, slots, alignments, starts);
    return kit_close();
}
