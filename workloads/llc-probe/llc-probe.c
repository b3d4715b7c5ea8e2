/* llc-probe: host side. */
#include "kit/kit.h"

enum { LINE_WORDS = 32, BLOCK = 256, LOADS_A_ROUND = 4 };

/* A cycle through all lines in random order: word 0 of a line is the next one's number; the others are
 * random. */
static unsigned *lines_generate(int count)
{
    unsigned *lines = kit_host(count * LINE_WORDS * sizeof *lines), *order = kit_host(count * sizeof *order);
    for (int i = 0; i < count * LINE_WORDS; i++) lines[i] = kit_random();
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count - 1; i > 1; i--) { /* line 0 stays first */
        int k = 1 + kit_below(i);
        unsigned swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (int i = 0; i < count; i++) lines[order[i] * LINE_WORDS] = order[(i + 1) % count];
    return lines;
}

/* What the threads of a warp add up, as the kernel does. */
static void gather_on_host(const unsigned *lines, int count, int warp, int rounds, unsigned *sums)
{
    unsigned random = warp * 2654435761u + 1;
    for (int i = 0; i < rounds * LOADS_A_ROUND; i++) {
        random = random * 1664525u + 1013904223u;
        const unsigned *line = lines + (random >> 12) % count * LINE_WORDS;
        for (int k = 0; k < LINE_WORDS; k++) sums[k] += line[k];
    }
}

static const struct size {
    const char *name;
    int lines, blocks, rounds;
} sizes[] = {{"tiny", 64, 2, 2}, {"small", 2048, 64, 8}, {"sm", 1024, 64, 48}};

int main(int argc, char **argv)
{
    kit_open("llc-probe", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int count = size->lines, rounds = size->rounds, threads = size->blocks * BLOCK;
    unsigned *lines = lines_generate(count), last[2], *sums = kit_host(threads * sizeof *sums),
             *want = kit_host(threads * sizeof *want);
    CUdeviceptr dlines = kit_upload(lines, count * LINE_WORDS * sizeof *lines),
                dlast = kit_alloc(sizeof last), dsums = kit_alloc(threads * sizeof *sums);

    for (int i = 0; i < 2; i++) { /* nothing is in a cache; everything is */
        CUdeviceptr at = dlast + i * sizeof *last;
        KIT_LAUNCH("chase", KIT_DIM(1), KIT_DIM(1), 0, dlines, at, count);
    }
    KIT_LAUNCH("gather", KIT_DIM(size->blocks), KIT_DIM(BLOCK), 0, dlines, dsums, count, rounds);
    kit_download(last, dlast, sizeof last);
    kit_download(sums, dsums, threads * sizeof *sums);

    if (kit_checking()) {
        const unsigned ends[2] = {0, 0};
        kit_check_bytes("last line", last, ends, sizeof ends);
        for (int w = 0; w < threads / LINE_WORDS; w++)
            gather_on_host(lines, count, w, rounds, want + w * LINE_WORDS);
        kit_check_bytes("sums", sums, want, threads * sizeof *sums);
    }
    kit_note("%d lines, %d loads of a line", count, threads / LINE_WORDS * rounds * LOADS_A_ROUND);
    return kit_close();
}
