/* map_file.h: a file's bytes, mapped for reading. */
#ifndef HEDDLE_MAP_FILE_H
#define HEDDLE_MAP_FILE_H

#include "base/base.h"

struct mapped_file {
    const void *data;
    size_t len;
};
/* False: it cannot be read, or is empty. */
bool map_file(const char *path, struct mapped_file *out);
void unmap_file(struct mapped_file *file);

#endif
