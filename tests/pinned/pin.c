/* pin.c: what pinned.tsv keeps of a run. `pin` alone prints the names of its columns, `pin RUN.json` their
 * values, separated by tabs: some statistics of the whole run as they are, then a hash of each part of the
 * summary. A hash covers names and values; zeros are left out, so that a new statistic that counts nothing
 * here changes no hash. */
#include "base/hash.h"
#include "base/json_tree.h"

#include <inttypes.h>

static const struct {
    const char *group, *name;
} counts[] = {
    {"gpu", "gpu.cycles"},    {"sm", "sm.warp_insts"},     {"sm", "sm.thread_insts"},
    {"sm", "sm.warp_cycles"}, {"sm", "sm.slots_data_mem"}, {"sm", "sm.slots_fetch"},
    {"l1", "l1.accesses"},    {"l1", "l1.misses"},         {"l2", "l2.accesses"},
    {"l2", "l2.misses"},      {"dram", "dram.reads"},      {"dram", "dram.writes"},
};

/* The parts of the summary that every machine has; all others are those of mechanisms. */
static const char *const groups[] = {"gpu", "sm", "l1", "xbar", "l2", "dram", "queue"};

/* ---- hashes ---- */

static bool is_zero(const struct json_node *n)
{
    return n->kind == JSON_NULL || ((n->kind == JSON_NUMBER || n->kind == JSON_BOOL) && n->number == 0);
}

static uint64_t hash_node(uint64_t h, const struct json_tree *t, const struct json_node *n)
{
    if (is_zero(n)) return h;
    if (n->key) h = hash_bytes(h, n->key, strlen(n->key) + 1);
    if (n->kind != JSON_LIST && n->kind != JSON_MAP)
        return hash_bytes(h, t->src.text + n->start, n->end - n->start);
    for (uint32_t i = 0; i < n->count; i++) h = hash_node(h, t, &n->items[i]);
    return h;
}

static bool is_group(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (!strcmp(groups[i], name)) return true;
    return false;
}

static uint64_t hash_mechanisms(const struct json_tree *t, const struct json_node *stats)
{
    uint64_t h = HASH_SEED;
    for (uint32_t i = 0; i < stats->count; i++)
        if (!is_group(stats->items[i].key)) h = hash_node(h, t, &stats->items[i]);
    return h;
}

static uint32_t fold(uint64_t h) { return (uint32_t)(h ^ h >> 32); }

/* ---- columns ---- */

static void print_names(void)
{
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) printf("%s\t", counts[i].name);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) printf("%s\t", groups[i]);
    printf("mechanisms\tkernels\n");
}

static bool print_values(const struct json_tree *t)
{
    const struct json_node *kernels = json_get(t->root, "kernels");
    const struct json_node *stats = json_get(json_get(t->root, "total"), "stats");
    if (!stats || !kernels || !kernels->count) return false;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        const struct json_node *n = json_get(json_get(stats, counts[i].group), counts[i].name);
        if (!n || !n->is_integer) return false;
        printf("%" PRId64 "\t", n->integer);
    }
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        const struct json_node *n = json_get(stats, groups[i]);
        if (!n) return false;
        printf("%08x\t", fold(hash_node(HASH_SEED, t, n)));
    }
    printf("%08x\t%08x\n", fold(hash_mechanisms(t, stats)), fold(hash_node(HASH_SEED, t, kernels)));
    return true;
}

static bool read_file(const char *path, struct strbuf *out)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    char block[1 << 14];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(out, block, n);
    const bool ok = !ferror(f);
    fclose(f);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_names();
        return 0;
    }
    struct strbuf text = {0}, message = {0};
    struct diag_list diags = {0};
    struct json_tree tree = {0};
    bool ok = read_file(argv[1], &text) &&
              json_tree_parse(&tree, argv[1], strbuf_text(&text), text.len, &diags) && print_values(&tree);
    diag_render(&diags, &message);
    if (!ok) fprintf(stderr, "%s%s does not hold the statistics of a run\n", strbuf_text(&message), argv[1]);
    json_tree_free(&tree);
    diag_free(&diags);
    strbuf_free(&text);
    strbuf_free(&message);
    return ok ? 0 : 1;
}
