/* test_fatbin.c: the fatbin reader on containers made here (every kind of compression, several entries,
 * options), on each of them cut and damaged at every byte, and the ELF reader beside it. */
#include "cuda/bundle.h"
#include "cuda/elf.h"
#include "cuda/fatbin.h"

#include <elf.h>
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <zstd.h>

#include <cmocka.h>

enum packing { PLAIN, ZSTD, LZ4 };
static const char ptx[] =
    "\n\n\n\n\n\n\n\n.version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n\n";

struct image {
    uint8_t bytes[8192];
    size_t len;
};

static void put16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static void put64(uint8_t *p, uint64_t v) { memcpy(p, &v, sizeof v); }

static void image_begin(struct image *im)
{
    memset(im, 0, sizeof *im);
    put32(im->bytes, 0xba55ed50);
    put16(im->bytes + 4, 1);
    put16(im->bytes + 6, 16);
    im->len = 16;
}

static size_t pack(enum packing how, const char *text, size_t len, char *out, size_t room)
{
    if (how == ZSTD) return ZSTD_compress(out, room, text, len, 3);
    if (how == LZ4) return (size_t)LZ4_compress_default(text, out, (int)len, (int)room);
    memcpy(out, text, len);
    return len;
}

static void image_add(struct image *im, uint16_t kind, uint32_t arch, enum packing how, const char *text,
                      size_t len, const char *options)
{
    char payload[4096];
    size_t packed = pack(how, text, len, payload, sizeof payload), padded = (packed + 7) & ~(size_t)7;
    size_t option_len = options ? strlen(options) : 0, header = 0x48 + ((option_len + 7) & ~(size_t)7);
    uint8_t *p = im->bytes + im->len;
    put16(p, kind);
    put16(p + 2, 0x0101);
    put32(p + 4, (uint32_t)header);
    put64(p + 8, padded);
    put32(p + 16, how == PLAIN ? 0 : (uint32_t)packed);
    put32(p + 20, kind == 1 ? 0x40 : 0);
    put16(p + 24, 0);
    put16(p + 26, 9);
    put32(p + 28, arch);
    put64(p + 40, 0x11 | (how == ZSTD ? 0x8000u : how == LZ4 ? 0x2000u : 0));
    put64(p + 56, how == PLAIN ? 0 : len);
    put32(p + 0x40, 0x48);
    put32(p + 0x44, (uint32_t)option_len);
    if (option_len) memcpy(p + 0x48, options, option_len);
    memcpy(p + header, payload, packed);
    im->len += header + padded;
    put64(im->bytes + 8, im->len - 16);
}

static bool read(const struct image *im, size_t len, struct fatbin *f)
{
    struct diag_list diags = {0};
    bool ok = fatbin_read("test.fatbin", im->bytes, len, f, &diags);
    assert_int_equal(ok, diags.errors == 0);
    if (!ok) assert_non_null(strstr(diags.items.data[0].message, "at byte"));
    diag_free(&diags);
    return ok;
}

static void reads_every_compression(void **state)
{
    for (int how = PLAIN; how <= LZ4; how++) {
        struct image im;
        struct fatbin f;
        image_begin(&im);
        image_add(&im, 1, 75, (enum packing)how, ptx, sizeof ptx, NULL);
        assert_true(read(&im, im.len, &f));
        assert_int_equal(f.count, 1);
        assert_true(f.entries[0].is_ptx);
        assert_int_equal(f.entries[0].arch, 75);
        assert_int_equal(f.entries[0].version_major, 9);
        assert_int_equal(f.entries[0].len, sizeof ptx - 1);
        assert_string_equal(f.entries[0].text, ptx);
        assert_string_equal(f.entries[0].options, "");
        fatbin_free(&f);
        assert_true(read(&im, SIZE_MAX, &f)); /* the header says how long it is */
        fatbin_free(&f);
    }
}

static void picks_the_best_architecture(void **state)
{
    struct image im;
    struct fatbin f;
    image_begin(&im);
    image_add(&im, 2, 90, PLAIN, "\177ELF cubin", 11, NULL);
    image_add(&im, 1, 75, ZSTD, ptx, sizeof ptx, " -maxrregcount=32 ");
    image_add(&im, 1, 90, LZ4, ptx, sizeof ptx, NULL);
    assert_true(read(&im, im.len, &f));
    assert_int_equal(f.count, 3);
    assert_false(f.entries[0].is_ptx);
    assert_null(f.entries[0].text);
    assert_string_equal(f.entries[1].options, " -maxrregcount=32 ");
    assert_ptr_equal(fatbin_best_ptx(&f, 90), &f.entries[2]);
    assert_ptr_equal(fatbin_best_ptx(&f, 89), &f.entries[1]);
    assert_null(fatbin_best_ptx(&f, 52));
    fatbin_free(&f);
}

static void passes_over_unknown_kinds(void **state)
{
    struct image im;
    struct fatbin f;
    image_begin(&im);
    image_add(&im, 8, 75, PLAIN, "lto", 3, NULL);
    image_add(&im, 1, 75, PLAIN, ptx, sizeof ptx, NULL);
    assert_true(read(&im, im.len, &f));
    assert_int_equal(f.count, 1);
    fatbin_free(&f);
}

/* Copies to a heap block of exactly that size, so that the address sanitizer sees any read behind it. */
static bool read_exact(const struct image *im, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, im->bytes, len);
    struct diag_list diags = {0};
    struct fatbin f;
    bool ok = fatbin_read("test.fatbin", copy, len, &f, &diags);
    fatbin_free(&f);
    diag_free(&diags);
    free(copy);
    return ok;
}

static void refuses_every_cut(void **state)
{
    struct image im;
    image_begin(&im);
    image_add(&im, 1, 75, ZSTD, ptx, sizeof ptx, "-O3");
    image_add(&im, 1, 80, LZ4, ptx, sizeof ptx, NULL);
    assert_true(read_exact(&im, im.len));
    for (size_t len = 0; len < im.len; len++) assert_false(read_exact(&im, len));
}

static void survives_every_damaged_byte(void **state)
{
    for (int how = PLAIN; how <= LZ4; how++) {
        struct image im;
        image_begin(&im);
        image_add(&im, 1, 75, (enum packing)how, ptx, sizeof ptx, "-O3");
        for (size_t at = 0; at < im.len; at++)
            for (unsigned flip = 1; flip < 256; flip <<= 1) {
                im.bytes[at] ^= (uint8_t)flip;
                (void)read_exact(&im, im.len); /* right or wrong: no crash, no stray read */
                im.bytes[at] ^= (uint8_t)flip;
            }
    }
}

static void names_the_offset_of_the_fault(void **state)
{
    struct image im;
    struct diag_list diags = {0};
    struct fatbin f;
    image_begin(&im);
    image_add(&im, 1, 75, PLAIN, ptx, sizeof ptx, NULL);
    put64(im.bytes + 16 + 8, 1 << 20); /* payload size of the first entry */
    assert_false(fatbin_read("a.fatbin", im.bytes, im.len, &f, &diags));
    assert_string_equal(diags.items.data[0].file, "a.fatbin");
    assert_non_null(strstr(diags.items.data[0].message, "at byte 24"));
    diag_free(&diags);
}

/* ---- bundles ---- */

static void bundle_gives_back_what_it_got(void **state)
{
    struct bundle_writer w = {0};
    const void *image;
    size_t cursor = 0, len;
    bundle_begin(&w);
    bundle_add(&w, "abc", 4);
    bundle_add(&w, "12345678", 9);
    assert_true(bundle_is(w.bytes.data));
    assert_true(bundle_next(w.bytes.data, &cursor, &image, &len));
    assert_int_equal(len, 4);
    assert_string_equal(image, "abc");
    assert_true(bundle_next(w.bytes.data, &cursor, &image, &len));
    assert_string_equal(image, "12345678");
    assert_false(bundle_next(w.bytes.data, &cursor, &image, &len));
    put64(w.bytes.data + 16, UINT64_MAX); /* a size that goes past the end */
    cursor = 0;
    assert_false(bundle_next(w.bytes.data, &cursor, &image, &len));
    vec_free(&w.bytes);
}

/* ---- ELF ---- */

static const char section_names[] = "\0.nv_fatbin\0.nvFatBinSegment\0.shstrtab";

static size_t make_elf(uint8_t *out, const struct image *fatbin)
{
    Elf64_Ehdr head = {.e_shoff = 64, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 3};
    size_t data = 64 + 4 * sizeof(Elf64_Shdr), at = data + sizeof section_names;
    at = (at + 7) & ~(size_t)7;
    Elf64_Shdr s[4] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = 2 * ((fatbin->len + 7) & ~7ul)},
        {.sh_name = 12, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = 24},
        {.sh_name = 29, .sh_type = SHT_STRTAB, .sh_offset = data, .sh_size = sizeof section_names}};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(out, &head, sizeof head);
    memcpy(out + 64, s, sizeof s);
    memcpy(out + data, section_names, sizeof section_names);
    memcpy(out + at, fatbin->bytes, fatbin->len);
    memcpy(out + at + s[1].sh_size / 2, fatbin->bytes, fatbin->len);
    return at + s[1].sh_size;
}

static void finds_fatbins_in_elf(void **state)
{
    struct image im;
    static uint8_t elf[16384];
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section s;
    image_begin(&im);
    image_add(&im, 1, 75, PLAIN, ptx, sizeof ptx, NULL);
    size_t len = make_elf(elf, &im), found = 0;
    assert_true(elf_is(elf, len));
    while (elf_next_fatbin(elf, len, &cursor, &s)) {
        assert_int_equal(s.len, im.len);
        assert_memory_equal(s.data, im.bytes, im.len);
        found++;
    }
    assert_int_equal(found, 2);
    assert_true(elf_has_static_cudart(elf, len));
    assert_false(elf_needs_library(elf, len, "libcudart.so"));
}

static void survives_damaged_elf(void **state)
{
    struct image im;
    static uint8_t elf[16384];
    image_begin(&im);
    image_add(&im, 1, 75, PLAIN, ptx, sizeof ptx, NULL);
    size_t len = make_elf(elf, &im);
    for (size_t at = 0; at < 64 + 4 * sizeof(Elf64_Shdr); at++)
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            elf[at] ^= (uint8_t)flip;
            uint8_t *copy = malloc(len);
            memcpy(copy, elf, len);
            struct elf_fatbin_cursor cursor = {0};
            struct elf_section s;
            while (elf_next_fatbin(copy, len, &cursor, &s)) assert_true(s.data + s.len <= copy + len);
            (void)elf_has_static_cudart(copy, len);
            free(copy);
            elf[at] ^= (uint8_t)flip;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_compression),       cmocka_unit_test(picks_the_best_architecture),
        cmocka_unit_test(passes_over_unknown_kinds),     cmocka_unit_test(refuses_every_cut),
        cmocka_unit_test(survives_every_damaged_byte),   cmocka_unit_test(names_the_offset_of_the_fault),
        cmocka_unit_test(bundle_gives_back_what_it_got), cmocka_unit_test(finds_fatbins_in_elf),
        cmocka_unit_test(survives_damaged_elf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
