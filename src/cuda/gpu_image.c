/* gpu_image.c: from an image (PTX text, fatbin, ELF, bundle) to the PTX texts in it.
 *
 * From a fatbin with PTX for several architectures the highest is taken that is not above the capability
 * asked for, else the lowest: the emulator runs any that it can read. */
#include "cuda/gpu_image.h"

#include "cuda/bundle.h"
#include "cuda/elf.h"

#include <elf.h>

void image_note_regs_max(uint32_t *limit, uint32_t n)
{
    if (n && (!*limit || n < *limit)) *limit = n;
}

/* "-O3 -maxrregcount=32 ": the number, or 0. */
static uint32_t regs_max_of(const char *options)
{
    static const char key[] = "maxrregcount";
    const char *at = strstr(options, key);
    if (!at) return 0;
    at += sizeof key - 1;
    while (*at == '=' || *at == ' ') at++;
    unsigned long n = strtoul(at, NULL, 10);
    return n >= 16 && n <= 255 ? (uint32_t)n : 0;
}

static const struct fatbin_entry *choose_entry(const struct fatbin *f, uint32_t cc)
{
    const struct fatbin_entry *best = fatbin_best_ptx(f, cc);
    for (uint32_t i = 0; !best && i < f->count; i++) {
        const struct fatbin_entry *e = &f->entries[i], *lowest = e;
        if (!e->is_ptx) continue;
        for (uint32_t k = i + 1; k < f->count; k++)
            if (f->entries[k].is_ptx && f->entries[k].arch < lowest->arch) lowest = &f->entries[k];
        best = lowest;
    }
    return best;
}

static bool open_fatbin(struct image_texts *t, const void *data, size_t len)
{
    struct fatbin f;
    if (!fatbin_read(t->name, data, len, &f, t->diags)) return false;
    const struct fatbin_entry *e = choose_entry(&f, t->cc);
    if (e) {
        vec_push(&t->items, (struct image_text){e->text, e->len});
        image_note_regs_max(&t->regs_max, regs_max_of(e->options));
    }
    for (uint32_t i = 0; i < f.count; i++) t->has_machine_code |= !f.entries[i].is_ptx;
    vec_push(&t->fatbins, f);
    return true;
}

static bool open_elf(struct image_texts *t, const void *image, size_t len)
{
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section s;
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (head.e_machine == EM_CUDA) {
        t->has_machine_code = true;
        return true;
    }
    while (len && elf_next_fatbin(image, len, &cursor, &s))
        if (!open_fatbin(t, s.data, s.len)) return false;
    return true;
}

static bool open_wrapper(struct image_texts *t, const struct fatbin_wrapper *w)
{
    if (w->version == 2 && w->linked && w->linked[0]) {
        for (const void *const *f = w->linked; *f; f++)
            if (!open_fatbin(t, *f, SIZE_MAX)) return false;
        if (t->items.len) return true;
    }
    return open_fatbin(t, w->data, SIZE_MAX);
}

static bool fail_short(struct image_texts *t)
{
    struct diag_source src = {.file = t->name};
    diag_add(t->diags, DIAG_ERROR, &src, 0, 0, 0, NULL,
             "cut off: too short for PTX, a fatbin or an ELF file");
    return false;
}

static bool open_bundle(struct image_texts *t, const void *image, size_t known)
{
    const void *part;
    size_t cursor = 0, bytes;
    uint64_t total;
    memcpy(&total, (const char *)image + 8, sizeof total);
    if (total > known) return fail_short(t);
    while (bundle_next(image, &cursor, &part, &bytes))
        if (!bytes || bundle_is(part) || !image_open(t, part, bytes)) return false;
    return true;
}

bool image_open(struct image_texts *t, const void *image, size_t len)
{
    size_t known = len ? len : SIZE_MAX;
    if (known < 8) return fail_short(t);
    if (known >= BUNDLE_HEADER_BYTES && bundle_is(image)) return open_bundle(t, image, known);
    /* A wrapper holds addresses, so it is valid only in the memory of this process, never in a file. */
    if (!len && fatbin_is_wrapper(image)) return open_wrapper(t, image);
    if (known >= 16 && fatbin_is(image)) return open_fatbin(t, image, known);
    if (known >= sizeof(Elf64_Ehdr) && !memcmp(image, ELFMAG, SELFMAG)) return open_elf(t, image, len);
    vec_push(&t->items, (struct image_text){image, len ? strnlen(image, len) : strlen(image)});
    return true;
}

void image_close(struct image_texts *t)
{
    for (uint32_t i = 0; i < t->fatbins.len; i++) fatbin_free(&t->fatbins.data[i]);
    vec_free(&t->fatbins);
    vec_free(&t->items);
}
