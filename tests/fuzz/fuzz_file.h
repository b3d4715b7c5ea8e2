/* fuzz_file.h: for targets whose readers take a path: the input as a file. */
#ifndef HEDDLE_FUZZ_FILE_H
#define HEDDLE_FUZZ_FILE_H

#include "base/diag.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Asserts are not compiled into every build; these hold in all of them. */
static inline void require(bool holds)
{
    if (!holds) abort();
}

struct fuzz_file {
    int fd;
    char path[64];
};

/* Readers know a path by its ending. */
static inline struct fuzz_file fuzz_file_open(const uint8_t *data, size_t size)
{
    struct fuzz_file f = {.path = "/tmp/heddle-fuzz-XXXXXX.yaml"};
    f.fd = mkstemps(f.path, 5);
    require(f.fd >= 0 && write(f.fd, data, size) == (ssize_t)size);
    return f;
}

/* Refused means that something was said, and all that was said can be shown. */
static inline void fuzz_file_close(struct fuzz_file *f, bool ok, struct diag_list *diags)
{
    require(ok == !diags->errors);
    struct strbuf text = {0};
    diag_render(diags, &text);
    require(!diags->items.len == !text.len);
    strbuf_free(&text);
    diag_free(diags);
    close(f->fd);
    unlink(f->path);
}

#endif
