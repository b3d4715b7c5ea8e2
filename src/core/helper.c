/* helper.c: see helper.h. */
#include "core/helper.h"

#include "core/occupancy.h"

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

static void write_ptx(struct helper *h, const void *params)
{
    const size_t bytes = h->mech->helper(params, &h->wants, NULL, 0) + 1;
    h->ptx = mem_alloc(bytes);
    h->mech->helper(params, &h->wants, h->ptx, bytes);
}

/* The registers that a thread can have while all of the warps fit. */
static uint32_t registers_of(const struct helper *h)
{
    const struct machine *m = h->wiring->machine;
    uint32_t registers = m->sm_thread_registers_max;
    while (registers > 1 && occupancy_warps(occupancy_registers_of(m), registers) < h->wants.warps)
        registers--;
    return registers;
}

static struct isa_module *compile(const struct helper *h, struct diag_list *diags)
{
    return h->compile(h->wiring->machine, h->mech->name, h->ptx, registers_of(h), diags);
}

static const struct isa_kernel *entry_of(const struct isa_module *isa, const char *name)
{
    for (uint32_t i = 0; i < isa->kernel_count; i++)
        if (!strcmp(isa->kernels[i]->name, name)) return isa->kernels[i];
    return NULL;
}

/* The largest CTAs that the warps of an SM can be divided into. */
static void divide_warps(struct helper *h)
{
    const uint32_t warps_max = h->wiring->machine->cta_threads / ISA_LANES;
    h->ctas_each = 1;
    while (h->wants.warps / h->ctas_each > warps_max || h->wants.warps % h->ctas_each) h->ctas_each++;
    h->warps_each = h->wants.warps / h->ctas_each;
}

static bool check_kernel(const struct helper *h, const struct isa_kernel *k, struct diag_list *diags)
{
    const struct machine *m = h->wiring->machine;
    const uint32_t fit = occupancy_ctas(m, k, h->warps_each * ISA_LANES, k->shared_bytes);
    if (k->refused) return refuse(diags, h, NULL, "its helper kernel needs %s", k->refused->need);
    if (k->frame_bytes)
        return refuse(diags, h, "fewer warps, or fewer blocks of a warp",
                      "its helper kernel needs more than the %u registers that a thread of %u warps can have",
                      registers_of(h), h->wants.warps);
    if (fit >= h->ctas_each) return true;
    return refuse(diags, h, "fewer warps, or fewer blocks of a warp",
                  "%u warps of its helper kernel at %u registers a thread do not fit an SM", h->wants.warps,
                  k->reg_count);
}

static bool check_machine(const struct helper *h, struct diag_list *diags)
{
    const struct machine *m = h->wiring->machine;
    if (!h->compile) return refuse(diags, h, NULL, "this program cannot lower its helper kernel");
    if (!h->wiring->mech_slices || !h->wants.warps)
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
    struct isa_module *isa = compile(h, diags);
    if (!isa) return refuse(diags, h, NULL, "its helper kernel cannot be lowered");
    divide_warps(h);
    const struct isa_kernel *k = entry_of(isa, h->wants.entry);
    const bool fits = k ? check_kernel(h, k, diags)
                        : refuse(diags, h, NULL, "its helper kernel has no entry '%s'", h->wants.entry);
    isa_module_free(isa);
    return fits;
}

bool helper_init(struct helper *h, struct wiring *w, const struct gpu_time *time, helper_compiler *compiler,
                 struct diag_list *diags)
{
    *h = (struct helper){.wiring = w, .time = time, .compile = compiler};
    if (w->compute_count == w->sm_count) return true;
    for (uint32_t i = 0; i < mech_set_count(w->mechs); i++) {
        const struct mechanism *mech = mech_set_at(w->mechs, i);
        if (!mech->helper) continue;
        h->mech = mech;
        write_ptx(h, mech_set_params(w->mechs, i));
        return check(h, diags);
    }
    return true;
}

/* ---- the window ---- */

static uint32_t warps_all(const struct helper *h)
{
    return (h->wiring->sm_count - h->wiring->compute_count) * h->wants.warps;
}

static uint32_t lines_of_slice(const struct helper *h, uint32_t slice)
{
    const uint32_t warps = warps_all(h), slices = h->wiring->slice_count;
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

/* A range of twice the lines that are needed has enough for each slice, unless the map is far from even: then
 * a larger one is tried. */
static bool make_window(struct helper *h)
{
    const struct wiring *w = h->wiring;
    struct space *space = emu_device_space(h->device);
    h->window_addresses = mem_zalloc(sizeof *h->window_addresses * w->slice_count);
    for (uint32_t i = 0; i < w->slice_count; i++)
        h->window_addresses[i] = mem_zalloc(sizeof(uint64_t) * MAX(lines_of_slice(h, i), 1u));
    uint32_t lines = 2 * warps_all(h) * h->wants.window_lines + 64 * w->slice_count;
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

/* The window lines of each warp, by its number in the grid. */
static bool make_table(struct helper *h)
{
    const uint32_t warps = warps_all(h), slices = h->wiring->slice_count, lines = h->wants.window_lines;
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
    struct isa_module *isa = compile(h, &diags);
    if (isa) h->module = emu_module_load(h->device, isa, NULL, NULL, &diags);
    diag_free(&diags);
    return h->module;
}

static bool open_grid(struct helper *h, struct emu_fault *fault)
{
    const struct wiring *w = h->wiring;
    const uint32_t ctas = (w->sm_count - w->compute_count) * h->ctas_each;
    const struct emu_launch l = {.module = h->module,
                                 .kernel = emu_find_kernel(h->module, h->wants.entry),
                                 .grid = {ctas, 1, 1},
                                 .block = {h->warps_each * ISA_LANES, 1, 1},
                                 .params = &h->table,
                                 .privileged = true};
    h->grid = emu_grid_open(h->device, &l, &h->fault);
    if (!h->grid) *fault = h->fault;
    if (!h->grid) return false;
    emu_grid_share(h->grid, units_logs(w->units), w->sm_count);
    emu_grid_clock(h->grid, &h->time->core.cycle, &h->time->core.ns);
    return true;
}

static bool start_ctas(struct helper *h, struct emu_fault *fault)
{
    struct wiring *w = h->wiring;
    for (uint32_t i = 0; i < (w->sm_count - w->compute_count) * h->ctas_each; i++) {
        const uint32_t sm = w->compute_count + i / h->ctas_each;
        units_run_sm(w->units, sm);
        units_wake_sm(w->units, sm);
        if (!sm_start_cta(w->sms[sm], h->time->now, h->grid, i)) return out_of_memory(fault);
    }
    wiring_set_helper(w, warps_all(h));
    return true;
}

bool helper_start(struct helper *h, struct emu_device *device, struct emu_fault *fault)
{
    if (!h->mech || helper_is_running(h)) return true;
    h->device = device;
    if (!make_window(h) || !make_table(h) || !load(h)) return out_of_memory(fault);
    if (!open_grid(h, fault)) return false;
    if (mech_slices_start(h->wiring->mech_slices, &h->window, warps_all(h))) return start_ctas(h, fault);
    *fault = (struct emu_fault){.kind = EMU_BAD_MECHANISM};
    snprintf(fault->message, sizeof fault->message, "heddle: error: %s\n",
             mech_gpu_failure(h->wiring->mech_gpu)->text);
    return false;
}

const struct emu_fault *helper_fault(struct helper *h)
{
    if (!h->grid) return NULL;
    emu_grid_find_fault(h->grid);
    return h->fault.kind != EMU_OK ? &h->fault : NULL;
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

void helper_close(struct helper *h)
{
    if (h->wiring) wiring_set_helper(h->wiring, 0);
    if (h->grid) emu_grid_close(h->grid, NULL);
    h->grid = NULL;
    if (h->module) emu_module_unload(h->device, h->module);
    h->module = NULL;
    free_window(h);
}
