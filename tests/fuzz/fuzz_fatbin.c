/* fuzz_fatbin.c: any bytes into the readers of fatbins and ELF files. */
#include "cuda/elf.h"
#include "cuda/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_one(const void *data, size_t size)
{
    struct diag_list diags = {0};
    struct fatbin f;
    if (fatbin_read("input", data, size, &f, &diags)) {
        size_t bytes = 0;
        for (uint32_t i = 0; i < f.count; i++) {
            const struct fatbin_entry *e = &f.entries[i];
            bytes += strlen(e->options) + strlen(e->source_name);
            if (e->is_ptx && strlen(e->text) != e->len) abort();
        }
        (void)bytes;
        (void)fatbin_best_ptx(&f, 90);
        fatbin_free(&f);
    } else if (!diags.errors) {
        abort(); /* a refusal without a reason */
    }
    diag_free(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_one(data, size);
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section s;
    for (int i = 0; i < 64 && elf_next_fatbin(data, size, &cursor, &s); i++) read_one(s.data, s.len);
    (void)elf_has_static_cudart(data, size);
    return 0;
}
