/* replay.c: runs a fuzz target over every file of a corpus folder, without libFuzzer. Fails when the folder
 * is empty. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) return 1;
    long len = ftell(f);
    rewind(f);
    uint8_t *data =
        malloc(len > 0 ? (size_t)len : 1); /* exactly as long as the input, so that overreads are seen */
    size_t got = fread(data, 1, (size_t)len, f);
    fclose(f);
    LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
    if (!d) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    unsigned count = 0, failed = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        failed += (unsigned)replay_file(path);
        count++;
    }
    closedir(d);
    printf("%u inputs replayed\n", count);
    return count == 0 || failed;
}
