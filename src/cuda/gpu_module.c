/* gpu_module.c: from an image (PTX text, fatbin, ELF) to a loaded module.
 *
 * An image is taken apart until PTX texts remain; every text is read, several are linked (linker.h), the
 * result is lowered and placed in device memory. From a fatbin with PTX for several architectures the highest
 * is taken that is not above the machine's compute capability, else the lowest: the emulator runs any that it
 * can read. */
#include "base/arena.h"
#include "cuda/bundle.h"
#include "cuda/elf.h"
#include "cuda/fatbin.h"
#include "cuda/gpu_impl.h"
#include "cuda/linker.h"
#include "lower/lower.h"

#include <elf.h>

struct text {
    const char *data;
    size_t len;
};

struct load {
    struct gpu *gpu;
    const char *name;
    struct diag_list diags;
    VEC(struct fatbin) fatbins; /* own the texts below */
    VEC(struct text) texts;
    VEC(struct ptx_module *) modules;
    uint32_t regs_max;
    bool saw_cubin;
};

static void note_regs_max(struct load *l, uint32_t n)
{
    if (n && (!l->regs_max || n < l->regs_max)) l->regs_max = n;
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

static const struct fatbin_entry *choose_entry(const struct fatbin *f, const struct machine *m)
{
    const struct fatbin_entry *best = fatbin_best_ptx(f, m->cc_major * 10 + m->cc_minor);
    for (uint32_t i = 0; !best && i < f->count; i++) {
        const struct fatbin_entry *e = &f->entries[i], *lowest = e;
        if (!e->is_ptx) continue;
        for (uint32_t k = i + 1; k < f->count; k++)
            if (f->entries[k].is_ptx && f->entries[k].arch < lowest->arch) lowest = &f->entries[k];
        best = lowest;
    }
    return best;
}

static bool open_fatbin(struct load *l, const void *data, size_t len)
{
    struct fatbin f;
    if (!fatbin_read(l->name, data, len, &f, &l->diags)) return false;
    const struct fatbin_entry *e = choose_entry(&f, &l->gpu->machine);
    if (e) {
        vec_push(&l->texts, (struct text){e->text, e->len});
        note_regs_max(l, regs_max_of(e->options));
    }
    for (uint32_t i = 0; i < f.count; i++) l->saw_cubin |= !f.entries[i].is_ptx;
    vec_push(&l->fatbins, f);
    return true;
}

static bool open_elf(struct load *l, const void *image, size_t len)
{
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section s;
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (head.e_machine == EM_CUDA) {
        l->saw_cubin = true;
        return true;
    }
    while (len && elf_next_fatbin(image, len, &cursor, &s))
        if (!open_fatbin(l, s.data, s.len)) return false;
    return true;
}

static bool open_wrapper(struct load *l, const struct fatbin_wrapper *w)
{
    if (w->version == 2 && w->linked && w->linked[0]) {
        for (const void *const *f = w->linked; *f; f++)
            if (!open_fatbin(l, *f, SIZE_MAX)) return false;
        if (l->texts.len) return true;
    }
    return open_fatbin(l, w->data, SIZE_MAX);
}

static bool fail_short(struct load *l)
{
    struct diag_source src = {.file = l->name};
    diag_add(&l->diags, DIAG_ERROR, &src, 0, 0, 0, NULL,
             "cut off: too short for PTX, a fatbin or an ELF file");
    return false;
}

static bool open_image(struct load *l, const void *image, size_t len);

static bool open_bundle(struct load *l, const void *image, size_t known)
{
    const void *part;
    size_t cursor = 0, bytes;
    uint64_t total;
    memcpy(&total, (const char *)image + 8, sizeof total);
    if (total > known) return fail_short(l);
    while (bundle_next(image, &cursor, &part, &bytes))
        if (!bytes || bundle_is(part) || !open_image(l, part, bytes)) return false;
    return true;
}

static bool open_image(struct load *l, const void *image, size_t len)
{
    size_t known = len ? len : SIZE_MAX;
    if (known < 8) return fail_short(l);
    if (known >= BUNDLE_HEADER_BYTES && bundle_is(image)) return open_bundle(l, image, known);
    /* A wrapper holds addresses: it means something in this process's own memory only, never in a file. */
    if (!len && fatbin_is_wrapper(image)) return open_wrapper(l, image);
    if (known >= 16 && fatbin_is(image)) return open_fatbin(l, image, known);
    if (known >= sizeof(Elf64_Ehdr) && !memcmp(image, ELFMAG, SELFMAG)) return open_elf(l, image, len);
    vec_push(&l->texts, (struct text){image, len ? strnlen(image, len) : strlen(image)});
    return true;
}

static bool parse_all(struct load *l)
{
    for (uint32_t i = 0; i < l->texts.len; i++) {
        char name[256];
        snprintf(name, sizeof name, l->texts.len > 1 ? "%s#%u" : "%s", l->name, i + 1);
        struct ptx_module *m = ptx_parse(name, l->texts.data[i].data, l->texts.data[i].len, &l->diags);
        if (!m) return false;
        vec_push(&l->modules, m);
    }
    return true;
}

static struct isa_module *lower_all(struct load *l)
{
    const struct machine *machine = &l->gpu->machine;
    note_regs_max(l, machine->sm_thread_registers_max);
    struct lower_options options = {.regs_max = l->regs_max,
                                    .opt_level = 1,
                                    .sm_regs = machine->sm_registers,
                                    .one_to_one = machine->lower_one_to_one};
    if (l->modules.len == 1) return lower_module(l->modules.data[0], &options, &l->diags);
    struct ptx_module joined;
    if (!linked_modules(l->name, l->modules.data, l->modules.len, &joined, &l->diags)) return NULL;
    struct isa_module *isa = lower_module(&joined, &options, &l->diags);
    linked_free(&joined);
    return isa;
}

static enum gpu_status load_run(struct load *l, const void *const *images, const size_t *lens, uint32_t count,
                                struct emu_module **out)
{
    for (uint32_t i = 0; i < count; i++)
        if (!open_image(l, images[i], lens ? lens[i] : 0)) return GPU_INVALID_PTX;
    if (!l->texts.len) {
        struct diag_source src = {.file = l->name};
        diag_add(&l->diags, DIAG_ERROR, &src, 0, 0, 0,
                 "rebuild with PTX embedded, e.g. nvcc -gencode arch=compute_75,code=compute_75",
                 l->saw_cubin ? "holds machine code of a real GPU but no PTX" : "holds no PTX");
        return GPU_NO_BINARY;
    }
    if (!parse_all(l)) return GPU_INVALID_PTX;
    struct isa_module *isa = lower_all(l);
    if (!isa) return GPU_INVALID_PTX;
    *out = emu_module_load(l->gpu->device, isa, NULL, NULL, &l->diags);
    return *out ? GPU_OK : GPU_INVALID_PTX;
}

static void report(const struct load *l, struct strbuf *log)
{
    if (!l->diags.items.len) return;
    struct strbuf text = {0};
    diag_render(&l->diags, &text);
    fputs(strbuf_text(&text), stderr);
    if (log) strbuf_puts(log, strbuf_text(&text));
    strbuf_free(&text);
}

static void load_free(struct load *l)
{
    for (uint32_t i = 0; i < l->modules.len; i++) ptx_module_free(l->modules.data[i]);
    for (uint32_t i = 0; i < l->fatbins.len; i++) fatbin_free(&l->fatbins.data[i]);
    vec_free(&l->modules);
    vec_free(&l->fatbins);
    vec_free(&l->texts);
    diag_free(&l->diags);
}

enum gpu_status gpu_module_link_with(struct gpu *g, const char *name, const void *const *images,
                                     const size_t *lens, uint32_t count,
                                     const struct gpu_load_options *options, struct gpu_module **out)
{
    *out = NULL;
    if (!count) return GPU_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++)
        if (!images[i]) return GPU_INVALID_VALUE;
    gpu_lock();
    struct load l = {.gpu = g, .name = name ? name : "module"};
    note_regs_max(&l, g->options.registers_max);
    note_regs_max(&l, options ? options->regs_max : 0);
    struct emu_module *emu = NULL;
    enum gpu_status status = load_run(&l, images, lens, count, &emu);
    report(&l, options ? options->log : NULL);
    if (status == GPU_OK) {
        *out = mem_zalloc(sizeof **out);
        **out = (struct gpu_module){.emu = emu, .name = mem_strdup(l.name)};
        vec_push(&g->modules, *out);
    }
    load_free(&l);
    gpu_unlock();
    return status;
}

enum gpu_status gpu_module_link(struct gpu *g, const char *name, const void *const *images,
                                const size_t *lens, uint32_t count, struct gpu_module **out)
{
    return gpu_module_link_with(g, name, images, lens, count, NULL, out);
}

enum gpu_status gpu_module_load(struct gpu *g, const char *name, const void *image, size_t len,
                                struct gpu_module **out)
{
    return gpu_module_link_with(g, name, &image, &len, 1, NULL, out);
}

void gpu_module_unload(struct gpu *g, struct gpu_module *m)
{
    if (!m) return;
    gpu_lock();
    gpu_settle(g); /* kernels that are queued run first: they need their module */
    for (uint32_t i = 0; i < g->modules.len; i++) {
        if (g->modules.data[i] != m) continue;
        memmove(&g->modules.data[i], &g->modules.data[i + 1], sizeof(m) * (g->modules.len - i - 1));
        g->modules.len--;
        break;
    }
    if (m->emu) emu_module_unload(g->device, m->emu);
    free(m->name);
    free(m);
    gpu_unlock();
}

struct emu_module *gpu_module_emu(struct gpu_module *m) { return m->emu; }
