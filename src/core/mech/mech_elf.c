/* mech_elf.c: see mech_elf.h. */
#include "core/mech/mech_elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_within(uint64_t offset, uint64_t bytes, uint64_t all)
{
    return offset <= all && bytes <= all - offset;
}

static bool read_at(int fd, uint64_t offset, void *out, size_t bytes)
{
    return pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Does every segment lie in the file? */
static bool segments_are_whole(int fd, const Elf64_Ehdr *h, uint64_t all)
{
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        if (!read_at(fd, h->e_phoff + (uint64_t)i * h->e_phentsize, &p, sizeof p)) return false;
        if (p.p_type != PT_NULL && !ends_within(p.p_offset, p.p_filesz, all)) return false;
    }
    return true;
}

/* Do both tables lie in the file? Linkers write the table of sections last. */
static bool tables_are_whole(const Elf64_Ehdr *h, uint64_t all)
{
    return ends_within(h->e_phoff, (uint64_t)h->e_phnum * h->e_phentsize, all) &&
           ends_within(h->e_shoff, (uint64_t)h->e_shnum * h->e_shentsize, all);
}

static const char *fault_of(int fd)
{
    struct stat st;
    Elf64_Ehdr h;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return "it is not a file";
    const uint64_t all = (uint64_t)st.st_size;
    if (all < sizeof h || !read_at(fd, 0, &h, sizeof h)) return "it is too short for a shared object";
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64) return NULL;
    if (h.e_phentsize != sizeof(Elf64_Phdr)) return "its header is damaged";
    if (!tables_are_whole(&h, all) || !segments_are_whole(fd, &h, all)) return "it is cut off";
    return NULL;
}

const char *mech_elf_fault(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return "it cannot be opened";
    const char *fault = fault_of(fd);
    close(fd);
    return fault;
}
