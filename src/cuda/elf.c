/* elf.c: reads section tables of ELF files. Known from: the System V ABI, "Object Files".
 * Invariant: every offset and size of the file is checked against its length before use. Only 64-bit
 * little-endian files (all that CUDA makes today) are taken; others simply have no sections. */
#include "cuda/elf.h"

#include "cuda/fatbin.h"

#include <elf.h>

bool elf_is(const void *image, size_t len)
{
    const unsigned char *id = image;
    return image && len >= sizeof(Elf64_Ehdr) && !memcmp(id, ELFMAG, SELFMAG) && id[EI_CLASS] == ELFCLASS64 &&
           id[EI_DATA] == ELFDATA2LSB;
}

static bool section_header(const void *image, size_t len, uint32_t index, Elf64_Shdr *out)
{
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (index >= head.e_shnum || head.e_shentsize != sizeof *out || head.e_shoff > len) return false;
    if ((len - head.e_shoff) / sizeof *out <= index) return false;
    memcpy(out, (const uint8_t *)image + head.e_shoff + (size_t)index * sizeof *out, sizeof *out);
    return true;
}

static bool section_bytes(const void *image, size_t len, const Elf64_Shdr *s, struct elf_section *out)
{
    if (s->sh_type == SHT_NOBITS || s->sh_offset > len || s->sh_size > len - s->sh_offset) return false;
    *out = (struct elf_section){.data = (const uint8_t *)image + s->sh_offset, .len = s->sh_size};
    return true;
}

static bool text_is(const struct elf_section *strings, uint64_t at, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return at < strings->len && strings->len - at >= bytes && !memcmp(strings->data + at, text, bytes);
}

static bool find_header(const void *image, size_t len, const char *name, Elf64_Shdr *out)
{
    if (!elf_is(image, len)) return false;
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    Elf64_Shdr s;
    struct elf_section strings;
    if (!section_header(image, len, head.e_shstrndx, &s) || !section_bytes(image, len, &s, &strings))
        return false;
    for (uint32_t i = 0; section_header(image, len, i, &s); i++) {
        if (!text_is(&strings, s.sh_name, name)) continue;
        *out = s;
        return true;
    }
    return false;
}

bool elf_find_section(const void *image, size_t len, const char *name, struct elf_section *out)
{
    Elf64_Shdr s;
    return find_header(image, len, name, &s) && section_bytes(image, len, &s, out) && out->len;
}

static const char *const fatbin_sections[] = {".nv_fatbin", "__nv_relfatbin"};

bool elf_next_fatbin(const void *image, size_t len, struct elf_fatbin_cursor *cursor, struct elf_section *out)
{
    for (; cursor->section < ARRAY_LEN(fatbin_sections); cursor->section++, cursor->offset = 0) {
        struct elf_section s;
        if (!elf_find_section(image, len, fatbin_sections[cursor->section], &s)) continue;
        for (; cursor->offset < s.len && s.len - cursor->offset >= 16; cursor->offset += 8) {
            const uint8_t *at = s.data + cursor->offset;
            if (!fatbin_is(at)) continue; /* padding between two fatbins */
            uint64_t body;
            memcpy(&body, at + 8, sizeof body);
            size_t rest = s.len - cursor->offset;
            *out = (struct elf_section){.data = at, .len = body <= rest - 16 ? 16 + (size_t)body : rest};
            cursor->offset += (out->len + 7) & ~(size_t)7;
            return true;
        }
    }
    return false;
}

bool elf_needs_library(const void *image, size_t len, const char *prefix)
{
    struct elf_section dynamic, strings;
    if (!elf_find_section(image, len, ".dynamic", &dynamic) ||
        !elf_find_section(image, len, ".dynstr", &strings))
        return false;
    size_t prefix_len = strlen(prefix);
    for (size_t at = 0; dynamic.len - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        memcpy(&d, dynamic.data + at, sizeof d);
        if (d.d_tag == DT_NULL) break;
        if (d.d_tag != DT_NEEDED || d.d_un.d_val >= strings.len) continue;
        const uint8_t *text = strings.data + d.d_un.d_val;
        if (strings.len - d.d_un.d_val > prefix_len && !memcmp(text, prefix, prefix_len)) return true;
    }
    return false;
}

bool elf_has_static_cudart(const void *image, size_t len)
{
    /* The segment of wrappers is there in every program that registers kernels with the runtime. */
    Elf64_Shdr s;
    return find_header(image, len, ".nvFatBinSegment", &s) && !elf_needs_library(image, len, "libcudart.so");
}
