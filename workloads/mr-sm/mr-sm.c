/* mr-sm: host side. */
#include "kit/mars.h"

#define KEYWORD "org"

struct sm_key {
    CUdeviceptr file, keyword;
};
struct sm_value {
    int keyword_bytes, block_at, block_bytes, unused;
};

/* A page of 1024 bytes, one word a line, of which about every fifteenth is the keyword; the file is copies of
 * it. */
static char *file_of_words(size_t bytes)
{
    enum { PAGE = 1024, WORDS = 28 };
    char words[WORDS][12] = {KEYWORD, "ort"}, page[PAGE + 16]; /* one that begins as the keyword does */
    for (int i = 2; i < WORDS; i++) {
        int length = 3 + (int)kit_below(5) + (int)(kit_below(3) == 0) * 3;
        for (int j = 0; j < length; j++) words[i][j] = (char)('a' + kit_below(26));
    }
    int at = 0;
    while (at < PAGE) at += sprintf(page + at, "%s\n", words[kit_below(16) ? 1 + kit_below(WORDS - 1) : 0]);
    page[PAGE - 1] = '\n';
    char *file = kit_host(bytes);
    for (size_t i = 0; i < bytes; i++) file[i] = page[i % PAGE];
    return file;
}

/* Tasks of `block` bytes and on to the end of the line. */
static void add_blocks(struct mars *m, const char *file, int bytes, int block, const struct sm_key *key)
{
    struct sm_value value = {.keyword_bytes = sizeof KEYWORD};
    for (int at = 0; at < bytes; at += value.block_bytes) {
        int end = at + block < bytes ? at + block : bytes - 1;
        while (file[end] != '\n') end++;
        value.block_at = at;
        value.block_bytes = end + 1 - at;
        mars_add(m, key, sizeof *key, &value, sizeof value);
    }
}

/* Tasks and lines are in the file's order, and so is what they emit. */
static void check(const struct mars_result *r, const char *file, int bytes)
{
    int found = 0;
    for (const char *line = file, *next; line < file + bytes; line = next) {
        next = (const char *)memchr(line, '\n', file + bytes - line) + 1;
        if (next - line != sizeof KEYWORD || memcmp(line, KEYWORD, sizeof KEYWORD - 1)) continue;
        int want[2] = {(int)(line - file), (int)(next - line)}, got[2] = {-1, -1};
        if (found < r->n) {
            memcpy(&got[0], r->keys + r->index[found].key_at, sizeof(int));
            memcpy(&got[1], r->values + r->index[found].value_at, sizeof(int));
        }
        bool same = got[0] == want[0] && got[1] == want[1];
        kit_check(same, "match %d is %d bytes at %d, the CPU says %d at %d", found, got[1], got[0], want[1],
                  want[0]);
        if (!same) return;
        found++;
    }
    kit_check(found == r->n, "%d matches, the CPU says %d", r->n, found);
}

int main(int argc, char **argv)
{
    kit_open("mr-sm", argc, argv);
    int bytes = (const int[]){32 << 10, 2 << 20, 4 << 20}[kit_size()],
        block = (const int[]){128, 512, 1024}[kit_size()];
    char *file = file_of_words(bytes);

    struct mars m = {0};
    struct sm_key key = {kit_upload(file, bytes), kit_upload(KEYWORD, sizeof KEYWORD)};
    add_blocks(&m, file, bytes, block, &key);
    mars_map(&m);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, file, bytes);
    }
    mars_close(&m);
    return kit_close();
}
