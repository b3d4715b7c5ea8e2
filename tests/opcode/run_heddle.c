/* run_heddle.c: see run_heddle.h. Each form is a module of its own, so that one that is refused hurts no
 * other. */
#include "run_heddle.h"

#include "opcode_texture.h"

#include "lower/lower.h"
#include "ptx/ptx.h"

enum { CELLS_MAX = 4096 * FORM_OPERANDS_MAX, SCRATCH_BYTES = 4096 + 4096 * FORM_CELL_BYTES };

bool heddle_open(struct heddle *h)
{
    const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                      .grid_max = {0x7fffffff, 65535, 65535},
                                      .block_max = {1024, 1024, 64},
                                      .shared_per_cta_max = 227 * 1024,
                                      .regs_per_cta_max = 65536,
                                      .sm_count = 132,
                                      .stack_bytes = 1024,
                                      .heap_bytes = 1 << 20,
                                      .warp_insts_max = 1 << 20,
                                      .clock_khz = 1980000};
    *h = (struct heddle){.device = emu_device_create(&limits, 64ull << 20)};
    if (!h->device) return false;
    struct space *s = emu_device_space(h->device);
    h->in = space_alloc(s, CELLS_MAX * 8, 256, SPACE_DEVICE, "in");
    h->out = space_alloc(s, CELLS_MAX * 8, 256, SPACE_DEVICE, "out");
    h->scratch = space_alloc(s, SCRATCH_BYTES, 256, SPACE_DEVICE, "scratch");
    return h->in && h->out && h->scratch;
}

void heddle_close(struct heddle *h)
{
    if (h->device) emu_device_destroy(h->device);
}

static void *host(uint64_t address)
{
    return (void *)(uintptr_t)address;
} /* device addresses are host addresses */

static uint64_t make_texture(struct heddle *h, const char *text, uint64_t *texels)
{
    struct tex_desc t;
    if (!tex_parse(text, &t)) return 0;
    *texels = space_alloc(emu_device_space(h->device), tex_bytes(&t), 256, SPACE_DEVICE, "texels");
    if (!*texels) return 0;
    tex_fill(&t, host(*texels));
    uint64_t pitch = (uint64_t)t.width * tex_texel_bytes(&t);
    struct emu_texture e = {.address = *texels,
                            .width = t.width,
                            .height = t.height,
                            .depth = t.depth,
                            .pitch_bytes = pitch,
                            .slice_bytes = pitch * MAX(t.height, 1u),
                            .channels = (uint8_t)t.channels,
                            .channel_bits = (uint8_t)t.bits,
                            .is_linear_memory = t.linear_memory,
                            .linear_filter = t.filter == TEX_LINEAR,
                            .normalized_coords = t.normalized_coords,
                            .read_normalized = t.read_normalized,
                            .layers = t.layers,
                            .is_cube = t.is_cube,
                            .is_surface = t.is_surface};
    e.channel_kind = t.kind == 'f' ? EMU_CHAN_FLOAT : t.kind == 'u' ? EMU_CHAN_UNSIGNED : EMU_CHAN_SIGNED;
    for (int i = 0; i < 3; i++) e.addr_mode[i] = t.address;
    memcpy(e.border, t.border, sizeof e.border);
    return emu_texture_create(h->device, &e);
}

static struct emu_module *load(struct heddle *h, const struct heddle_job *job, struct strbuf *error)
{
    struct diag_list diags = {0};
    struct emu_module *module = NULL;
    struct ptx_module *ast = ptx_parse("form.ptx", job->ptx, job->ptx_len, &diags);
    if (ast) {
        struct isa_module *isa =
            lower_module(ast, &(struct lower_options){.opt_level = job->opt_level}, &diags);
        ptx_module_free(ast);
        if (isa) module = emu_module_load(h->device, isa, NULL, NULL, &diags);
    }
    if (!module) diag_render(&diags, error);
    diag_free(&diags);
    return module;
}

static bool launch(struct heddle *h, const struct heddle_job *job, struct emu_module *module,
                   uint64_t texture, struct strbuf *error)
{
    const struct isa_kernel *kernel = emu_find_kernel(module, "form");
    if (!kernel || kernel->param_bytes < 32) {
        strbuf_puts(error, "the module has no kernel of four parameters\n");
        return false;
    }
    uint64_t params[4] = {h->in, h->out, h->scratch, texture};
    struct emu_launch l = {.module = module, .kernel = kernel, .params = params};
    memcpy(l.grid, job->grid, sizeof l.grid);
    memcpy(l.block, job->block, sizeof l.block);
    struct emu_stats stats = {0};
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    bool ok = emu_run(h->device, &l, &stats, fault) == EMU_OK;
    if (!ok) strbuf_printf(error, "%s\n", fault->message);
    free(fault);
    return ok;
}

bool heddle_run(struct heddle *h, const struct heddle_job *job, const uint64_t *in, uint64_t *out,
                struct strbuf *error)
{
    struct emu_module *module = load(h, job, error);
    if (!module) return false;
    memcpy(host(h->in), in, job->in_cells * 8);
    memset(host(h->out), 0, job->out_cells * 8);
    memset(host(h->scratch), 0, SCRATCH_BYTES);
    uint64_t texels = 0, texture = job->tex ? make_texture(h, job->tex, &texels) : 0;
    bool ok = !job->tex || texture;
    if (!ok) strbuf_puts(error, "the texture cannot be made\n");
    ok = ok && launch(h, job, module, texture, error);
    if (texture) emu_texture_destroy(h->device, texture);
    if (texels) space_free(emu_device_space(h->device), texels);
    emu_module_unload(h->device, module);
    memcpy(out, host(h->out), job->out_cells * 8);
    return ok;
}
