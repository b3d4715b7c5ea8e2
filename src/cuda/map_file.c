/* map_file.c: maps a file for reading. */
#include "cuda/map_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool map_file(const char *path, struct mapped_file *out)
{
    struct stat st;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    void *data = MAP_FAILED;
    if (!fstat(file, &st) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) return false;
    *out = (struct mapped_file){data, (size_t)st.st_size};
    return true;
}

void unmap_file(struct mapped_file *file)
{
    munmap((void *)(uintptr_t)file->data, file->len);
    *file = (struct mapped_file){0};
}
