/* helper_fit.c: see helper_fit.h. */
#include "core/helper_fit.h"

#include "base/diag.h"
#include "core/occupancy.h"
#include "core/sm/split.h"

#define HINT "fewer warps, or fewer blocks of a warp"

static bool refuse(const struct helper_source *s, struct diag_list *diags, const char *hint, const char *fmt,
                   ...)
{
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint, "mechanism '%s': %s", s->name, strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

static uint32_t warps_of(const struct mech_helper *wants)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < wants->part_count; i++) sum += wants->parts[i].warps;
    return sum;
}

static const struct isa_kernel *entry_of(const struct isa_module *isa, const char *name)
{
    for (uint32_t i = 0; i < isa->kernel_count; i++)
        if (!strcmp(isa->kernels[i]->name, name)) return isa->kernels[i];
    return NULL;
}

/* ---- CTAs and shared memory ---- */

struct helper_shape helper_fit_shape(const struct machine *m, const struct mech_helper_part *part)
{
    const uint32_t warps_max = m->cta_threads / ISA_LANES;
    struct helper_shape shape = {.ctas_each = 1};
    while (part->warps / shape.ctas_each > warps_max || part->warps % shape.ctas_each) shape.ctas_each++;
    shape.warps_each = part->warps / shape.ctas_each;
    return shape;
}

uint32_t helper_fit_shared(const struct machine *m, const struct mech_helper_part *part)
{
    return helper_fit_shape(m, part).warps_each * part->shared_bytes;
}

/* Shared memory that the helper takes of one SM. */
static uint64_t shared_of(const struct machine *m, const struct mech_helper *wants)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < wants->part_count; i++)
        sum += helper_fit_shape(m, &wants->parts[i]).ctas_each *
               occupancy_shared(m, helper_fit_shared(m, &wants->parts[i]));
    return sum;
}

uint32_t helper_fit_wish(const struct machine *m, const struct mech_helper *wants)
{
    const uint64_t all = MAX(m->sm_shared_bytes, 1u);
    return 1 + (uint32_t)MIN((shared_of(m, wants) * 100 + all - 1) / all, 100u);
}

static bool check_shared(const struct helper_source *s, struct diag_list *diags)
{
    const struct machine *m = s->machine;
    for (uint32_t i = 0; i < s->wants->part_count; i++) {
        const struct mech_helper_part *part = &s->wants->parts[i];
        const uint32_t bytes = helper_fit_shared(m, part);
        if (bytes > m->cta_shared_optin_bytes)
            return refuse(s, diags, HINT,
                          "'%s' needs %u bytes of shared memory in a CTA of %u warps, and there are %llu",
                          part->entry, bytes, helper_fit_shape(m, part).warps_each,
                          (unsigned long long)m->cta_shared_optin_bytes);
    }
    if (shared_of(m, s->wants) <= m->sm_shared_bytes) return true;
    return refuse(s, diags, HINT, "its helper kernel needs %llu bytes of shared memory, and an SM has %llu",
                  (unsigned long long)shared_of(m, s->wants), (unsigned long long)m->sm_shared_bytes);
}

/* ---- local memory ---- */

/* The parameters of the L1 while the helper runs. */
static uint64_t l1_bytes(const struct helper_source *s, const struct isa_kernel *k)
{
    struct split_sizes sizes;
    split_read(&s->machine->sm, &sizes);
    const struct split_launch launch = {.kernel = k,
                                        .threads = helper_fit_shape(s->machine, s->wants->parts).warps_each *
                                                   ISA_LANES,
                                        .shared_bytes = helper_fit_shared(s->machine, s->wants->parts),
                                        .wish = helper_fit_wish(s->machine, s->wants)};
    return split_l1_bytes(s->machine, &sizes, split_shared_bytes(s->machine, &sizes, &launch));
}

/* Local memory of a helper stays in the L1: each set has a way for each of its lines. The lines of a warp
 * begin at a multiple of all sets. */
static bool check_local(const struct helper_source *s, const struct isa_kernel *first,
                        struct diag_list *diags)
{
    const struct l1_params *l1 = &s->machine->l1;
    const uint32_t sets = MAX((uint32_t)(l1->size / ((uint64_t)l1->line * l1->ways)), 1u);
    const uint32_t ways = (uint32_t)(l1_bytes(s, first) / l1->line / sets);
    uint32_t need = 0;
    for (uint32_t i = 0; i < s->wants->part_count; i++) {
        const struct mech_helper_part *part = &s->wants->parts[i];
        const uint32_t lines = part->local_bytes / (uint32_t)sizeof(uint32_t);
        need += part->warps * ((lines + sets - 1) / sets);
    }
    if (need <= ways) return true;
    return refuse(
        s, diags, HINT,
        "its helper kernel keeps %u lines in each set of the L1, and a set has %u ways beside shared "
        "memory",
        need, ways);
}

/* ---- loads that wait ---- */

/* A warp waits for work by loads of the window, without a limit. The machine counts as idle when all of these
 * loads are parked, so each warp needs at least one; and the L1 must have room for all of them, or the load
 * of one warp would block the results of all others. */
static bool check_loads(const struct helper_source *s, struct diag_list *diags)
{
    const struct machine *m = s->machine;
    const uint32_t warps = warps_of(s->wants), each = s->wants->window_loads;
    const uint32_t loads = MIN(l1_loads_max(&m->l1), m->sm.lsu_pending);
    if (!each)
        return refuse(s, diags, "window_loads is how many loads of the window a warp that waits has parked",
                      "a warp of its helper kernel waits for work without a load that is parked "
                      "(window_loads is 0)");
    if (warps * each <= loads) return true;
    return refuse(s, diags, "fewer warps; or more l1.mshrs, l1.merges, l1.miss_queue or sm.lsu_pending",
                  "each of the %u warps of its helper kernel has %u loads that wait, and an SM lets %u wait",
                  warps, each, loads);
}

/* ---- registers ---- */

/* Registers of a thread if all warps had the same number. */
static uint32_t registers_alike(const struct helper_source *s)
{
    const struct machine *m = s->machine;
    uint32_t registers = m->sm_thread_registers_max;
    while (registers > 1 && occupancy_warps(occupancy_registers_of(m), registers) < warps_of(s->wants))
        registers--;
    return registers;
}

/* Do the warps of all parts fit, with `registers` a thread in the first one? CTAs come part by part, as
 * residency.c counts them. */
static bool registers_fit(const struct helper_source *s, const struct isa_module *isa, uint32_t registers)
{
    const struct occupancy_registers file = occupancy_registers_of(s->machine);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->wants->part_count; i++) {
        const struct mech_helper_part *part = &s->wants->parts[i];
        const uint32_t each = i ? entry_of(isa, part->entry)->reg_count : registers;
        const uint32_t of_warp = occupancy_warp_registers(file, each);
        sum += (uint64_t)part->warps * of_warp;
        if (sum > (uint64_t)occupancy_warps(file, each) * of_warp) return false;
    }
    return true;
}

static uint32_t registers_left(const struct helper_source *s, const struct isa_module *isa, uint32_t least)
{
    uint32_t registers = s->machine->sm_thread_registers_max;
    while (registers > least && !registers_fit(s, isa, registers)) registers--;
    return registers;
}

/* ---- kernels ---- */

static bool check_entries(const struct helper_source *s, const struct isa_module *isa,
                          struct diag_list *diags)
{
    for (uint32_t i = 0; i < s->wants->part_count; i++) {
        const char *entry = s->wants->parts[i].entry;
        const struct isa_kernel *k = entry_of(isa, entry);
        if (!k) return refuse(s, diags, NULL, "its helper kernel has no entry '%s'", entry);
        if (k->refused)
            return refuse(s, diags, NULL, "its helper kernel uses what is not supported\n%s",
                          k->refused->text);
    }
    return true;
}

static bool is_spilled(const struct isa_kernel *k, const struct mech_helper_part *part)
{
    return k->frame_bytes > part->local_bytes;
}

static bool check_registers(const struct helper_source *s, const struct isa_module *isa, uint32_t registers,
                            struct diag_list *diags)
{
    for (uint32_t i = 0; i < s->wants->part_count; i++)
        if (is_spilled(entry_of(isa, s->wants->parts[i].entry), &s->wants->parts[i]))
            return refuse(s, diags, HINT,
                          "its helper kernel needs more than the %u registers that a thread of %u warps can "
                          "have",
                          registers, s->wants->parts[i].warps);
    if (registers_fit(s, isa, entry_of(isa, s->wants->parts[0].entry)->reg_count)) return true;
    return refuse(s, diags, HINT, "%u warps of its helper kernel do not fit the registers of an SM",
                  warps_of(s->wants));
}

static bool check_slots(const struct helper_source *s, struct diag_list *diags)
{
    const struct machine *m = s->machine;
    const uint32_t warps = warps_of(s->wants);
    uint32_t ctas = 0;
    for (uint32_t i = 0; i < s->wants->part_count; i++)
        ctas += helper_fit_shape(m, &s->wants->parts[i]).ctas_each;
    if (warps <= m->sm_warps && warps * ISA_LANES <= m->sm_threads && ctas <= m->sm_ctas) return true;
    return refuse(
        s, diags, HINT,
        "its helper kernel has %u warps in %u CTAs, and an SM holds %u warps, %u threads and %u CTAs", warps,
        ctas, m->sm_warps, m->sm_threads, m->sm_ctas);
}

static struct isa_module *compile(const struct helper_source *s, uint32_t registers, struct diag_list *diags)
{
    struct isa_module *isa = s->compile(s->machine, s->name, s->ptx, registers, diags);
    if (!isa) {
        refuse(s, diags, NULL, "its helper kernel cannot be lowered");
        return NULL;
    }
    if (check_entries(s, isa, diags)) return isa;
    isa_module_free(isa);
    return NULL;
}

/* Lowers the module a second time if the first part needs more registers and the others leave some. */
static struct isa_module *compile_larger(const struct helper_source *s, struct isa_module *isa,
                                         uint32_t *registers, struct diag_list *diags)
{
    const uint32_t left = registers_left(s, isa, *registers);
    if (left == *registers || !is_spilled(entry_of(isa, s->wants->parts[0].entry), s->wants->parts))
        return isa;
    isa_module_free(isa);
    *registers = left;
    return compile(s, left, diags);
}

struct isa_module *helper_fit_compile(const struct helper_source *s, struct diag_list *diags)
{
    if (!check_slots(s, diags) || !check_shared(s, diags) || !check_loads(s, diags)) return NULL;
    uint32_t registers = registers_alike(s);
    struct isa_module *isa = compile(s, registers, diags);
    if (isa) isa = compile_larger(s, isa, &registers, diags);
    if (!isa) return NULL;
    if (check_registers(s, isa, registers, diags) &&
        check_local(s, entry_of(isa, s->wants->parts[0].entry), diags))
        return isa;
    isa_module_free(isa);
    return NULL;
}
