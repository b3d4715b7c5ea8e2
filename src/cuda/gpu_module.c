/* gpu_module.c: from images to a loaded module.
 *
 * The PTX texts of the images (gpu_image.h) are read, several are linked (linker.h), the result is lowered
 * and placed in device memory. A kernel that needs what is not modelled does not stop its module: one line
 * says which kernels cannot run, and a launch of one is refused (gpu_launch.c). The texts are kept, so that
 * a kernel can be lowered again with fewer registers (gpu_variant.c). */
#include "base/arena.h"
#include "cuda/gpu_image.h"
#include "cuda/gpu_impl.h"
#include "cuda/linker.h"
#include "lower/lower.h"

enum { KERNELS_NAMED_MAX = 4 };

struct load {
    struct gpu *gpu;
    const char *name;
    const struct gpu_text *texts;
    uint32_t text_count;
    uint32_t regs_max;
    /* one kernel; NULL = all */
    const char *only;
    struct diag_list diags;
    VEC(struct ptx_module *) modules;
};

static bool parse_all(struct load *l)
{
    for (uint32_t i = 0; i < l->text_count; i++) {
        char name[256];
        snprintf(name, sizeof name, l->text_count > 1 ? "%s#%u" : "%s", l->name, i + 1);
        struct ptx_module *m = ptx_parse(name, l->texts[i].data, l->texts[i].len, &l->diags);
        if (!m) return false;
        vec_push(&l->modules, m);
    }
    return true;
}

static struct isa_module *lower_all(struct load *l)
{
    const struct machine *machine = &l->gpu->machine;
    image_note_regs_max(&l->regs_max, machine->sm_thread_registers_max);
    struct lower_options options = {.regs_max = l->regs_max,
                                    .opt_level = 1,
                                    .sm_regs = machine->sm_registers,
                                    .one_to_one = machine->lower_one_to_one,
                                    .indirect_move = machine->sm_indirect_move,
                                    .only = l->only};
    if (l->modules.len == 1) return lower_module(l->modules.data[0], &options, &l->diags);
    struct ptx_module joined;
    if (!linked_modules(l->name, l->modules.data, l->modules.len, &joined, &l->diags)) return NULL;
    struct isa_module *isa = lower_module(&joined, &options, &l->diags);
    linked_free(&joined);
    return isa;
}

static void load_end(struct load *l)
{
    for (uint32_t i = 0; i < l->modules.len; i++) ptx_module_free(l->modules.data[i]);
    vec_free(&l->modules);
    diag_free(&l->diags);
}

/* One line for all kernels of the module that a launch would be refused for. */
static void note_refused(const struct isa_module *isa, const char *name)
{
    struct strbuf text = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < isa->kernel_count; i++) {
        const struct isa_kernel *k = isa->kernels[i];
        if (!k->refused || count++ >= KERNELS_NAMED_MAX) continue;
        strbuf_printf(&text, "%s'%.80s' (%s)", text.len ? ", " : "", k->name, k->refused->need);
    }
    if (count > KERNELS_NAMED_MAX) strbuf_printf(&text, " and %u more", count - KERNELS_NAMED_MAX);
    if (count)
        gpu_complain("note: %s: %u of %u kernels cannot run and will be refused when launched: %s", name,
                     count, isa->kernel_count, strbuf_text(&text));
    strbuf_free(&text);
}

static enum gpu_status load_texts(struct load *l, struct strbuf *log, struct emu_module **out)
{
    struct isa_module *isa = parse_all(l) ? lower_all(l) : NULL;
    if (isa) note_refused(isa, l->name);
    *out = isa ? emu_module_load(l->gpu->device, isa, NULL, NULL, &l->diags) : NULL;
    gpu_report(&l->diags, log);
    return *out ? GPU_OK : GPU_INVALID_PTX;
}

struct isa_module *gpu_module_lower_again(struct gpu *g, const struct gpu_module *m, const char *kernel,
                                          uint32_t regs_max)
{
    struct load l = {.gpu = g,
                     .name = m->name,
                     .texts = m->texts.data,
                     .text_count = m->texts.len,
                     .regs_max = regs_max,
                     .only = kernel};
    struct isa_module *isa = parse_all(&l) ? lower_all(&l) : NULL;
    load_end(&l);
    return isa;
}

/* ---- loading and unloading ---- */

static void module_free(struct gpu_module *m)
{
    for (uint32_t i = 0; i < m->texts.len; i++) free(m->texts.data[i].data);
    vec_free(&m->texts);
    vec_free(&m->variants);
    free(m->name);
    free(m);
}

/* The PTX of the images goes to m. */
static enum gpu_status read_images(struct gpu *g, struct gpu_module *m, const void *const *images,
                                   const size_t *lens, uint32_t count, const struct gpu_load_options *options)
{
    struct diag_list diags = {0};
    const void *origin = options && options->origin ? options->origin : images[0];
    struct image_texts t = {
        .name = m->name, .cc = g->machine.cc_major * 10 + g->machine.cc_minor, .diags = &diags};
    enum gpu_status status = GPU_OK;
    for (uint32_t i = 0; i < count && status == GPU_OK; i++)
        if (!image_open(&t, images[i], lens ? lens[i] : 0)) status = GPU_INVALID_PTX;
    if (status == GPU_OK && !t.items.len) {
        status = GPU_NO_BINARY;
        gpu_explain_no_ptx(g, m->name, t.has_machine_code, origin, &diags);
    }
    for (uint32_t i = 0; i < t.items.len; i++) {
        char *copy = mem_alloc(t.items.data[i].len + 1);
        memcpy(copy, t.items.data[i].data, t.items.data[i].len);
        copy[t.items.data[i].len] = 0;
        vec_push(&m->texts, (struct gpu_text){copy, t.items.data[i].len});
    }
    image_note_regs_max(&m->regs_max, t.regs_max);
    gpu_note_libraries(g);
    gpu_report(&diags, options ? options->log : NULL);
    image_close(&t);
    diag_free(&diags);
    return status;
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
    struct strbuf *log = options ? options->log : NULL;
    struct gpu_module *m = mem_zalloc(sizeof *m);
    m->name = mem_strdup(name ? name : "module");
    image_note_regs_max(&m->regs_max, g->options.registers_max);
    image_note_regs_max(&m->regs_max, options ? options->regs_max : 0);
    enum gpu_status status = read_images(g, m, images, lens, count, options);
    if (status == GPU_OK) {
        struct load l = {.gpu = g,
                         .name = m->name,
                         .texts = m->texts.data,
                         .text_count = m->texts.len,
                         .regs_max = m->regs_max};
        status = load_texts(&l, log, &m->emu);
        load_end(&l);
    }
    if (status == GPU_OK) {
        vec_push(&g->modules, m);
        *out = m;
    } else {
        module_free(m);
    }
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
    module_free(m);
    gpu_unlock();
}

struct emu_module *gpu_module_emu(struct gpu_module *m) { return m->emu; }
