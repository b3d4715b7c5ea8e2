/* mr-ii: host side; the HTML is pages.c's. */
#include "kit/mars.h"
#include "pages.h"

#define FILES 3

struct ii_key {
    CUdeviceptr file;
    int link_at, link_hash;
};
struct ii_value {
    int block_at, block_bytes, file;
};

/* A link and the file it stands in. */
struct entry {
    link_text link;
    int file;
};

/* Tasks of `block` bytes and on to the end of the line; the byte there becomes '\0'. */
static void add_file(struct mars *m, int file, const struct page *page, int copies, int block,
                     CUdeviceptr *device)
{
    int bytes = page->bytes * copies;
    char *text = kit_host(bytes);
    for (int i = 0; i < copies; i++) memcpy(text + i * page->bytes, page->text, page->bytes);
    *device = kit_alloc(bytes);
    struct ii_key key = {.file = *device};
    struct ii_value value = {.file = file};
    for (int at = 0; at < bytes; at += value.block_bytes) {
        int end = at + block < bytes ? at + block : bytes - 1;
        while (text[end] != '\n') end++;
        text[end] = '\0';
        value.block_at = at;
        value.block_bytes = end + 1 - at;
        mars_add(m, &key, sizeof key, &value, sizeof value);
    }
    kit_put(*device, text, bytes);
}

static int by_link_and_file(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->link, y->link);
    return order ? order : x->file - y->file;
}

/* What the generator put in. */
static struct entry *wanted(const struct page *pages, int copies, int *n)
{
    *n = 0;
    for (int f = 0; f < FILES; f++) *n += pages[f].n_links * copies;
    struct entry *entries = kit_host(*n * sizeof *entries), *e = entries;
    for (int f = 0; f < FILES; f++)
        for (int i = 0; i < pages[f].n_links * copies; i++, e++) {
            strcpy(e->link, pages[f].links[i % pages[f].n_links]);
            e->file = f;
        }
    qsort(entries, *n, sizeof *entries, by_link_and_file);
    return entries;
}

/* What came out, with the links read from the files as the device left them. */
static struct entry *found(const struct mars_result *r, const struct page *pages, int copies,
                           const CUdeviceptr *device)
{
    char *files[FILES];
    for (int f = 0; f < FILES; f++) {
        size_t bytes = (size_t)pages[f].bytes * copies;
        kit_download(files[f] = kit_host(bytes + 1), device[f], bytes);
    }
    struct entry *entries = kit_host(r->n * sizeof *entries);
    for (int i = 0; i < r->n; i++) {
        struct ii_key key;
        memcpy(&key, r->keys + r->index[i].key_at, sizeof key);
        memcpy(&entries[i].file, r->values + r->index[i].value_at, sizeof(int));
        int f = entries[i].file;
        bool valid = f >= 0 && f < FILES && key.link_at >= 0 && key.link_at < pages[f].bytes * copies;
        kit_check(valid, "record %d points to byte %d of file %d", i, key.link_at, f);
        if (!valid) return entries;
        snprintf(entries[i].link, sizeof(link_text), "%s", files[f] + key.link_at);
    }
    return entries;
}

static void check(const struct mars_result *r, const struct page *pages, int copies,
                  const CUdeviceptr *device)
{
    int n, different = 0;
    struct entry *want = wanted(pages, copies, &n), *got = found(r, pages, copies, device);
    kit_check(r->n == n, "%d links, the generator wrote %d", r->n, n);
    for (int i = 0; i < n; i++) different += i == 0 || strcmp(want[i].link, want[i - 1].link);
    kit_check(r->n_groups == different, "%d groups of %d different links", r->n_groups, different);
    for (int g = 0; g < r->n_groups; g++)
        for (int i = r->ranges[g].first + 1; i < r->ranges[g].end; i++)
            if (strcmp(got[i].link, got[i - 1].link)) {
                kit_check(false, "group %d holds %s and %s", g, got[i - 1].link, got[i].link);
                return;
            }
    qsort(got, r->n, sizeof *got, by_link_and_file); /* the groups are in the order of the hashes */
    for (int i = 0; i < n && r->n == n; i++)
        if (by_link_and_file(&got[i], &want[i])) {
            kit_check(false, "found %s in %d, not %s in %d", got[i].link, got[i].file, want[i].link,
                      want[i].file);
            return;
        }
}

/* The files are copies of a page each; tasks have `block` bytes and more, up to the end of the line. */
static const struct size {
    const char *name;
    int copies, block;
} sizes[] = {{"tiny", 1, 64}, {"small", 48, 96}, {"paper", 1024, 1024}};

static const struct {
    int bytes, links;
} page_sizes[FILES] = {{20 << 10, 39}, {4 << 10, 16}, {4 << 10, 0}};

int main(int argc, char **argv)
{
    kit_open("mr-ii", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int copies = size->copies;
    struct page pages[FILES];
    CUdeviceptr device[FILES];
    struct mars m = {0};
    for (int f = 0; f < FILES; f++) {
        pages[f] = page_new(page_sizes[f].bytes, page_sizes[f].links);
        add_file(&m, f, &pages[f], copies, size->block, &device[f]);
    }
    kit_note("%zu tasks", m.in.n);
    mars_map(&m);
    mars_group(&m);
    kit_note("%d links, %d different", m.n, m.n_groups);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, pages, copies, device);
    }
    mars_close(&m);
    return kit_close();
}
