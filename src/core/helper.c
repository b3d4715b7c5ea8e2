/* helper.c: see helper.h. */
#include "core/helper.h"

static bool refuse(struct diag_list *diags, const struct helper *h, const char *hint, const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint, "mechanism '%s': %s", h->mech->name, strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

/* ---- making ---- */

static bool write_ptx(struct helper *h, uint32_t mechanism, struct diag_list *diags)
{
    struct mech_gpu *g = h->wiring->mech_gpu;
    h->ptx = mech_gpu_helper(g, mechanism, &h->wants);
    if (!h->ptx) diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "%s", mech_gpu_failure(g)->text);
    return h->ptx;
}

static struct helper_source source_of(const struct helper *h)
{
    return (struct helper_source){.machine = h->wiring->machine,
                                  .name = h->mech->name,
                                  .ptx = h->ptx,
                                  .wants = &h->wants,
                                  .compile = h->compile};
}

static bool has_warps(const struct mech_helper *wants)
{
    for (uint32_t i = 0; i < wants->part_count; i++)
        if (!wants->parts[i].warps) return false;
    return wants->part_count;
}

static bool check_machine(const struct helper *h, struct diag_list *diags)
{
    const struct machine *m = h->wiring->machine;
    if (!h->compile) return refuse(diags, h, NULL, "this program cannot lower its helper kernel");
    if (!h->wiring->mech_slices || !has_warps(&h->wants))
        return refuse(diags, h, NULL, "its helper kernel has no warp, or nothing at the L2 to serve");
    if (m->l2.infinite || m->l2.perfect || m->l1.perfect || m->l1.fixed_miss_latency)
        return refuse(diags, h, "leave the ideal machine out", "its helper kernel needs a real L1 and L2");
    if (m->l1.line == m->l2.line && m->l2.line == ISA_LANES * sizeof(uint32_t)) return true;
    return refuse(diags, h, "--set l1.line=128 --set l2.line=128",
                  "a line of the L1 and of the L2 must be a register of a warp, 128 bytes");
}

static bool check(struct helper *h, struct diag_list *diags)
{
    if (!check_machine(h, diags)) return false;
    const struct helper_source source = source_of(h);
    struct isa_module *isa = helper_fit_compile(&source, diags);
    if (isa) isa_module_free(isa);
    return isa;
}

bool helper_init(struct helper *h, const struct wiring *w, const struct gpu_time *time,
                 helper_compiler *compiler, struct diag_list *diags)
{
    *h = (struct helper){.wiring = w, .time = time, .compile = compiler};
    if (!w->cache_most) return true;
    for (uint32_t i = 0; i < mech_set_count(w->mechs); i++) {
        const struct mechanism *mech = mech_set_at(w->mechs, i);
        if (!mech->helper) continue;
        h->mech = mech;
        return write_ptx(h, i, diags) && check(h, diags);
    }
    return true;
}

/* ---- the window ---- */

static uint32_t cache_sms(const struct helper *h) { return h->wiring->sm_count - h->wiring->compute_count; }

/* Warps on one SM of all parts before this one. */
static uint32_t warps_each(const struct helper *h, uint32_t part)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < part; i++) sum += h->wants.parts[i].warps;
    return sum;
}

/* Warps of all parts before this one: warps are numbered part by part. */
static uint32_t warps_before(const struct helper *h, uint32_t part)
{
    return cache_sms(h) * warps_each(h, part);
}

static uint32_t warps_all(const struct helper *h) { return warps_before(h, h->wants.part_count); }

/* The most warps that the helper can have. Window and table have room for all of them; a helper with fewer
 * warps uses the first entries. */
static uint32_t warps_most(const struct helper *h)
{
    return h->wiring->cache_most * warps_each(h, h->wants.part_count);
}

static uint32_t lines_of_slice(const struct helper *h, uint32_t slice)
{
    const uint32_t warps = warps_most(h), slices = h->wiring->slice_count;
    return (warps > slice ? (warps - slice + slices - 1) / slices : 0) * h->wants.window_lines;
}

/* Gives lines of a range to the slices that the map sends them to. False: a slice has too few. */
static bool share_lines(struct helper *h, uint64_t base, uint32_t lines)
{
    const struct wiring *w = h->wiring;
    const uint32_t line_bytes = w->machine->l2.line;
    uint32_t *given = mem_zalloc(sizeof *given * w->slice_count), left = 0;
    for (uint32_t i = 0; i < w->slice_count; i++) left += lines_of_slice(h, i);
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t address = base + (uint64_t)i * line_bytes;
        const uint32_t slice = addrmap_place(w->map, address).slice;
        h->window_numbers[i] = MECH_NO_WINDOW;
        if (given[slice] == lines_of_slice(h, slice)) continue;
        h->window_numbers[i] = given[slice];
        h->window_addresses[slice][given[slice]++] = address;
        left--;
    }
    free(given);
    h->window = (struct mech_window){.base = base,
                                     .end = base + (uint64_t)lines * line_bytes,
                                     .line_bytes = line_bytes,
                                     .numbers = h->window_numbers,
                                     .addresses = h->window_addresses};
    return !left;
}

static void free_window(struct helper *h)
{
    for (uint32_t i = 0; h->window_addresses && i < h->wiring->slice_count; i++) free(h->window_addresses[i]);
    free(h->window_addresses);
    free(h->window_numbers);
    h->window_addresses = NULL;
    h->window_numbers = NULL;
}

/* A range of twice the needed lines usually has enough for each slice. If the address map is too uneven for
 * that, larger ranges are tried. */
static bool make_window(struct helper *h)
{
    const struct wiring *w = h->wiring;
    struct space *space = emu_device_space(h->device);
    h->window_addresses = mem_zalloc(sizeof *h->window_addresses * w->slice_count);
    for (uint32_t i = 0; i < w->slice_count; i++)
        h->window_addresses[i] = mem_zalloc(sizeof(uint64_t) * MAX(lines_of_slice(h, i), 1u));
    uint32_t lines = 2 * warps_most(h) * h->wants.window_lines + 64 * w->slice_count;
    for (;; lines *= 2) {
        const uint64_t bytes = (uint64_t)lines * w->machine->l2.line;
        const uint64_t base = space_alloc(space, bytes, 4096, SPACE_WINDOW, "the window of L2 controllers");
        if (!base) return false;
        memset((void *)(uintptr_t)base, 0, bytes);
        h->window_numbers = mem_realloc(h->window_numbers, sizeof *h->window_numbers * lines);
        if (share_lines(h, base, lines)) return true;
        space_free(space, base);
    }
}

/* The window lines of each warp, by its number. */
static bool make_table(struct helper *h)
{
    const uint32_t warps = warps_most(h), slices = h->wiring->slice_count, lines = h->wants.window_lines;
    const size_t each = lines * sizeof(uint64_t);
    h->table =
        space_alloc(emu_device_space(h->device), warps * each, 256, SPACE_INTERNAL, "the table of windows");
    for (uint32_t i = 0; h->table && i < warps; i++)
        memcpy((void *)(uintptr_t)(h->table + i * each), &h->window_addresses[i % slices][i / slices * lines],
               each);
    return h->table;
}

/* ---- starting ---- */

static bool out_of_memory(struct emu_fault *fault)
{
    *fault = (struct emu_fault){.kind = EMU_BAD_LAUNCH};
    snprintf(fault->message, sizeof fault->message,
             "heddle: there is no device memory left for the helper kernel of SMs in cache mode\n");
    return false;
}

/* The module that helper_init has checked. */
static bool load(struct helper *h)
{
    struct diag_list diags = {0};
    const struct helper_source source = source_of(h);
    struct isa_module *isa = helper_fit_compile(&source, &diags);
    if (isa) h->module = emu_module_load(h->device, isa, NULL, NULL, &diags);
    diag_free(&diags);
    return h->module;
}

static bool open_grid(struct helper *h, uint32_t part, struct emu_fault *fault)
{
    const struct wiring *w = h->wiring;
    const struct mech_helper_part *wants = &h->wants.parts[part];
    const struct helper_shape shape = helper_fit_shape(w->machine, wants);
    struct helper_grid *g = &h->grids[part];
    const uint64_t table = h->table + warps_before(h, part) * h->wants.window_lines * sizeof(uint64_t);
    const struct emu_launch l = {.module = h->module,
                                 .kernel = emu_find_kernel(h->module, wants->entry),
                                 .grid = {cache_sms(h) * shape.ctas_each, 1, 1},
                                 .block = {shape.warps_each * ISA_LANES, 1, 1},
                                 .shared_dynamic_bytes = helper_fit_shared(w->machine, wants),
                                 .shared_wish = helper_fit_wish(w->machine, &h->wants),
                                 .params = &table,
                                 .privileged = true};
    g->ctas_each = shape.ctas_each;
    g->grid = emu_grid_open(h->device, &l, &g->fault);
    if (!g->grid) *fault = g->fault;
    if (!g->grid) return false;
    emu_grid_share(g->grid, units_logs(w->units), w->sm_count);
    emu_grid_clock(g->grid, &h->time->core.cycle, &h->time->core.ns);
    return true;
}

static bool open_grids(struct helper *h, struct emu_fault *fault)
{
    for (uint32_t i = 0; cache_sms(h) && i < h->wants.part_count; i++)
        if (!open_grid(h, i, fault)) return false;
    return true;
}

bool helper_open(struct helper *h, struct emu_device *device, struct emu_fault *fault)
{
    assert(helper_is_wanted(h));
    h->device = device;
    if (!h->module && (!make_window(h) || !make_table(h) || !load(h))) return out_of_memory(fault);
    if (!open_grids(h, fault)) return false;
    const struct mech_slices_helper started = {.window = &h->window,
                                               .warps = warps_all(h),
                                               .window_lines = h->wants.window_lines,
                                               .cache_sms = cache_sms(h)};
    h->is_running = true;
    if (mech_slices_start(h->wiring->mech_slices, &started)) return true;
    *fault = (struct emu_fault){.kind = EMU_BAD_MECHANISM};
    snprintf(fault->message, sizeof fault->message, "heddle: error: %s\n",
             mech_gpu_failure(h->wiring->mech_gpu)->text);
    return false;
}

bool helper_choose(const struct helper *h, struct helper_walk *w)
{
    for (; cache_sms(h) && w->part < h->wants.part_count; w->part++, w->next = 0) {
        const uint32_t each = h->grids[w->part].ctas_each;
        if (w->next == cache_sms(h) * each) continue;
        w->cta = w->next++;
        w->sm = h->wiring->compute_count + w->cta / each;
        return true;
    }
    return false;
}

bool helper_start_cta(const struct helper *h, const struct helper_walk *w, struct emu_fault *fault)
{
    struct emu_grid *grid = h->grids[w->part].grid;
    return sm_start_cta(h->wiring->sms[w->sm], h->time->now, grid, w->cta, 0) || out_of_memory(fault);
}

uint32_t helper_loads(const struct helper *h) { return warps_all(h) * h->wants.window_loads; }

/* Names the mechanism, the SM and the slice that the warp works for. */
static void tell_place(const struct helper *h, uint32_t part, struct helper_grid *g)
{
    struct emu_fault *f = &g->fault;
    const struct wiring *w = h->wiring;
    const uint32_t cta_warps = h->wants.parts[part].warps / g->ctas_each;
    const uint32_t warp = warps_before(h, part) + f->cta[0] * cta_warps + f->thread[0] / ISA_LANES;
    const size_t length = strlen(f->message);
    snprintf(f->message + length, sizeof f->message - length,
             "  it is the helper kernel of mechanism '%s', SM %u, warp %u of L2 slice %u\n", h->mech->name,
             w->compute_count + f->cta[0] / g->ctas_each, warp / w->slice_count, warp % w->slice_count);
    g->is_told = true;
}

const struct emu_fault *helper_fault(struct helper *h)
{
    for (uint32_t i = 0; i < h->wants.part_count && h->grids[i].grid; i++) {
        struct helper_grid *g = &h->grids[i];
        emu_grid_find_fault(g->grid);
        if (g->fault.kind == EMU_OK) continue;
        if (!g->is_told) tell_place(h, i, g);
        return &g->fault;
    }
    return NULL;
}

bool helper_has_ctas(const struct helper *h)
{
    for (uint32_t i = h->wiring->compute_count; i < h->wiring->sm_count; i++)
        if (sm_ctas(h->wiring->sms[i])) return true;
    return false;
}

void helper_free(struct helper *h)
{
    helper_close(h);
    free(h->ptx);
}

static void end_grid(struct helper *h, struct helper_grid *g)
{
    const uint64_t id = emu_grid_id(g->grid);
    for (uint32_t i = 0; i < h->wiring->sm_count; i++) sm_grid_end(h->wiring->sms[i], id);
}

void helper_retire(const struct helper *h) { mech_slices_retire(h->wiring->mech_slices); }

static void close_grids(struct helper *h)
{
    for (uint32_t i = 0; i < h->wants.part_count; i++) {
        if (h->grids[i].grid) emu_grid_close(h->grids[i].grid, NULL);
        h->grids[i] = (struct helper_grid){0};
    }
    h->is_running = false;
}

void helper_pause(struct helper *h)
{
    assert(h->is_running && !helper_has_ctas(h));
    for (uint32_t i = 0; i < h->wants.part_count; i++)
        if (h->grids[i].grid) end_grid(h, &h->grids[i]);
    close_grids(h);
}

void helper_close(struct helper *h)
{
    close_grids(h);
    if (h->module) emu_module_unload(h->device, h->module);
    h->module = NULL;
    free_window(h);
}
