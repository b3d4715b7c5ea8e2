/* mr-wc: host side. */
#include "kit/mars.h"

#define VOCABULARY  1200
#define LETTERS_MIN 6 /* shorter words are not counted */

struct wc_key {
    CUdeviceptr text;
};
struct wc_value {
    int at, bytes, unused[2];
};

typedef char word[16];

/* Frequent words are short, as in English: the first hundred have 1 to 5 letters, the others 3 to 13. */
static word *vocabulary(void)
{
    word *words = kit_host(VOCABULARY * sizeof *words);
    for (int i = 0; i < VOCABULARY; i++) {
        int length = i < 100 ? 1 + (int)kit_below(5) : 3 + (int)kit_below(6) + (int)kit_below(6);
        for (int j = 0; j < length; j++)
            words[i][j] = (j & 1 ? "AEIOUAEIOUYE" : "TNSRHLDCMFPGWBVK")[kit_below(j & 1 ? 12 : 16)];
    }
    return words;
}

/* A word's frequency falls as 1 / (rank + 2) (Zipf): the inverse of the sum's integral, near enough. */
static int zipf_rank(void)
{
    double end = VOCABULARY + 2.0, u = kit_uniform(0, 1), low = 2, high = end;
    while (high - low > 0.5) {
        double middle = (low + high) / 2;
        if (log(middle / 2) / log(end / 2) < u)
            low = middle;
        else
            high = middle;
    }
    int rank = (int)low - 2;
    return rank < VOCABULARY ? rank : VOCABULARY - 1;
}

/* Capital letters (the original turns its text into them), lines of about 60, some punctuation, blank
 * lines. */
static void write_text(char *to, int bytes)
{
    word *words = vocabulary();
    for (int at = 0, column = 0; at < bytes;) {
        char piece[32];
        bool line_ends = column > 50;
        const char *after = line_ends ? kit_below(8) ? "\n" : ".\n\n" : kit_below(10) ? " " : ", ";
        int length = sprintf(piece, "%s%s", words[zipf_rank()], after);
        column = line_ends ? 0 : column + length;
        for (int i = 0; i < length && at < bytes; i++) to[at++] = piece[i];
    }
}

/* Tasks of `block` bytes and on to the end of the word; the byte there becomes the '\0' that ends the
 * task. */
static void add_blocks(struct mars *m, char *text, int bytes, int block, CUdeviceptr device_text)
{
    struct wc_key key = {device_text};
    struct wc_value value = {0};
    for (int at = 0; at < bytes; at += value.bytes) {
        int end = at + block < bytes - 1 ? at + block : bytes - 1;
        while (text[end] >= 'A' && text[end] <= 'Z') end++;
        text[end] = '\0';
        value.at = at;
        value.bytes = end + 1 - at;
        mars_add(m, &key, sizeof key, &value, sizeof value);
    }
}

static int in_order(const void *a, const void *b) { return strcmp(a, b); }

/* The long words of the text, sorted. */
static word *long_words(const char *text, int *n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    word *found = kit_host((strlen(text) / LETTERS_MIN + 1) * sizeof *found);
    *n = 0;
    for (const char *at = text + strcspn(text, letters); *at; at += strcspn(at, letters)) {
        size_t length = strspn(at, letters);
        if (length >= LETTERS_MIN) memcpy(found[(*n)++], at, length);
        at += length;
    }
    qsort(found, *n, sizeof *found, in_order);
    return found;
}

static void check(const struct mars_result *r, const char *text)
{
    int n, groups = 0;
    word *want = long_words(text, &n);
    kit_check(r->n == n, "%d words, the CPU says %d", r->n, n);
    for (int first = 0, end; first < n && r->n == n; first = end, groups++) {
        for (end = first + 1; end < n && !strcmp(want[end], want[first]); end++) {}
        struct mars_range got = groups < r->n_groups ? r->ranges[groups] : (struct mars_range){0};
        const char *key = r->keys + r->index[got.first].key_at;
        int bytes;
        memcpy(&bytes, r->values + r->index[got.first].value_at, sizeof bytes);
        bool same = got.first == first && got.end == end && !strcmp(key, want[first]) &&
                    bytes == (int)strlen(key) + 1;
        kit_check(same, "group %d is %s %d times, the CPU says %s %d times", groups, key, got.end - got.first,
                  want[first], end - first);
        if (!same) return;
    }
    kit_check(groups == r->n_groups, "%d different words, the CPU says %d", r->n_groups, groups);
}

int main(int argc, char **argv)
{
    kit_open("mr-wc", argc, argv);
    int page = (const int[]){3 << 10, 24 << 10, 24 << 10}[kit_size()],
        block = (const int[]){256, 2048, 2048}[kit_size()];
    int copies = 4, bytes = copies * page;
    char *text = kit_host(bytes + 1), *plain = kit_host(bytes + 1);
    write_text(text, page);
    text[page - 1] = '\n';
    for (int i = 1; i < copies; i++) memcpy(text + i * page, text, page);
    memcpy(plain, text, bytes);

    struct mars m = {0};
    CUdeviceptr device_text = kit_alloc(bytes);
    add_blocks(&m, text, bytes, block, device_text);
    kit_put(device_text, text, bytes);
    mars_map(&m);
    mars_group(&m);
    kit_note("%d long words, %d different", m.n, m.n_groups);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, plain);
    }
    mars_close(&m);
    return kit_close();
}
