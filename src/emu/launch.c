/* launch.c: a grid from its launch to its end.
 *
 * CTAs run in the order of their numbers, one after another. A CTA that only waits lets the next one become
 * resident beside it; those that are resident then take turns. A cooperative launch has all of its CTAs
 * resident from the start. The order depends on nothing but the program: the same launch gives the same
 * result every time. */
#include "emu/fault.h"
#include "emu/grid.h"
#include "emu/step.h"

enum {
    SM_THREADS = 2048,
    SM_CTAS = 32,           /* residency of one SM, for cooperative launches and waiting CTAs */
    REG_UNIT = 8,           /* registers of a thread are handed out in eights */
    WORKSPACE_SIZE_WORD = 8 /* cooperative_groups: size of {size, barrier} */
};

/* ---- refusal ---- */
enum emu_fault_kind run_refuse(struct emu_fault *fault, const struct isa_kernel *k, const char *fmt, ...)
{
    struct strbuf text = {0};
    *fault = (struct emu_fault){.kind = EMU_BAD_LAUNCH, .kernel = k->name};
    strbuf_printf(&text, "heddle: kernel '%s' cannot be launched: ", k->name);
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    strbuf_putc(&text, '\n');
    fault_set_text(fault, strbuf_text(&text));
    strbuf_free(&text);
    return EMU_BAD_LAUNCH;
}

static uint64_t shared_of(const struct emu_launch *l)
{
    const struct isa_kernel *k = l->kernel;
    uint64_t fixed =
        l->shared_dynamic_bytes ? MAX(k->shared_bytes, k->shared_dynamic_offset) : k->shared_bytes;
    return fixed + l->shared_dynamic_bytes;
}

static uint64_t regs_of(const struct isa_kernel *k, uint64_t threads)
{
    return round_up_u64(MAX(k->reg_count, 1u), REG_UNIT) * round_up_u64(threads, ISA_LANES);
}

static uint64_t ctas_of(const struct emu_launch *l) { return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]; }

/* CTAs that the whole device holds at a time. */
static uint64_t resident_max(const struct emu_limits *lim, const struct emu_launch *l, uint64_t threads)
{
    uint64_t shared = shared_of(l);
    uint64_t n = MIN((uint64_t)SM_CTAS, SM_THREADS / round_up_u64(threads, ISA_LANES));
    n = MIN(n, lim->regs_per_cta_max / regs_of(l->kernel, threads));
    if (shared) n = MIN(n, lim->shared_per_cta_max / shared);
    return MAX(n, 1u) * MAX(lim->sm_count, 1u);
}

static enum emu_fault_kind check_shape(const struct emu_limits *lim, const struct emu_launch *l,
                                       struct emu_fault *fault)
{
    static const char axis[] = "xyz";
    for (uint32_t d = 0; d < 3; d++) {
        if (!l->grid[d] || l->grid[d] > lim->grid_max[d])
            return run_refuse(fault, l->kernel, "grid.%c = %u, must be from 1 to %u", axis[d], l->grid[d],
                              lim->grid_max[d]);
        if (!l->block[d] || l->block[d] > lim->block_max[d])
            return run_refuse(fault, l->kernel, "block.%c = %u, must be from 1 to %u", axis[d], l->block[d],
                              lim->block_max[d]);
    }
    return EMU_OK;
}

static enum emu_fault_kind check_bounds(const struct emu_launch *l, uint64_t threads, struct emu_fault *fault)
{
    const struct isa_kernel *k = l->kernel;
    uint64_t max = 1;
    bool has_max = k->maxntid[0] != 0, has_req = k->reqntid[0] != 0;
    for (uint32_t d = 0; d < 3; d++) {
        max *= MAX(k->maxntid[d], 1u);
        if (has_req && MAX(k->reqntid[d], 1u) != l->block[d])
            return run_refuse(fault, k,
                              "block (%u,%u,%u), but the kernel was compiled for (%u,%u,%u) only (.reqntid)",
                              l->block[0], l->block[1], l->block[2], k->reqntid[0], MAX(k->reqntid[1], 1u),
                              MAX(k->reqntid[2], 1u));
    }
    if (has_max && threads > max)
        return run_refuse(fault, k,
                          "%llu threads per block, but the kernel was compiled for at most %llu (.maxntid)",
                          (unsigned long long)threads, (unsigned long long)max);
    return EMU_OK;
}

enum emu_fault_kind emu_check_launch(struct emu_device *d, const struct emu_launch *l,
                                     struct emu_fault *fault)
{
    const struct emu_limits *lim = &d->limits;
    const struct isa_kernel *k = l->kernel;
    if (!l->module || !module_image(l->module, k)) return run_refuse(fault, k, "it is not of the module");
    if (k->param_bytes && !l->params) return run_refuse(fault, k, "its parameters are missing");
    enum emu_fault_kind bad = check_shape(lim, l, fault);
    if (bad) return bad;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t threads_max = MIN(lim->threads_per_cta_max, (uint32_t)(WARPS_MAX * ISA_LANES));
    if (threads > threads_max)
        return run_refuse(fault, k, "%llu threads per block, the device allows %llu",
                          (unsigned long long)threads, (unsigned long long)threads_max);
    bad = check_bounds(l, threads, fault);
    if (bad) return bad;
    uint64_t shared = shared_of(l);
    if (shared > lim->shared_per_cta_max)
        return run_refuse(
            fault, k, "%llu bytes of shared memory per block (%u static, %u dynamic), the device allows %u",
            (unsigned long long)shared, k->shared_bytes, l->shared_dynamic_bytes, lim->shared_per_cta_max);
    uint64_t regs = regs_of(k, threads);
    if (regs > lim->regs_per_cta_max)
        return run_refuse(
            fault, k, "%llu registers per block (%u per thread, %llu threads), the device allows %u",
            (unsigned long long)regs, k->reg_count, (unsigned long long)threads, lim->regs_per_cta_max);
    if (l->cooperative && ctas_of(l) > resident_max(lim, l, threads))
        return run_refuse(fault, k,
                          "cooperative launch of %llu blocks, but only %llu can be resident together",
                          (unsigned long long)ctas_of(l), (unsigned long long)resident_max(lim, l, threads));
    if (k->frame_bytes + (uint64_t)lim->stack_bytes > ISA_WINDOW_BYTES)
        return run_refuse(
            fault, k,
            "%u bytes of local memory and %u of stack per thread, more than the window of local memory",
            k->frame_bytes, lim->stack_bytes);
    return EMU_OK;
}

/* ---- setting up ---- */
static uint32_t env_value(const struct run *r, uint32_t env)
{
    const struct emu_launch *l = r->launch;
    uint64_t workspace = l->cooperative ? r->block->workspace_address : 0;
    switch ((enum isa_env)env) {
    case ISA_ENV_NTID_X: return l->block[0];
    case ISA_ENV_NTID_Y: return l->block[1];
    case ISA_ENV_NTID_Z: return l->block[2];
    case ISA_ENV_NCTAID_X: return l->grid[0];
    case ISA_ENV_NCTAID_Y: return l->grid[1];
    case ISA_ENV_NCTAID_Z: return l->grid[2];
    case ISA_ENV_NWARPID: return SM_THREADS / ISA_LANES;
    case ISA_ENV_NSMID: return MAX(r->device->limits.sm_count, 1u);
    case ISA_ENV_GRIDID_LO: return (uint32_t)r->id;
    case ISA_ENV_GRIDID_HI: return (uint32_t)(r->id >> 32);
    case ISA_ENV_DYNAMIC_SMEM: return l->shared_dynamic_bytes;
    case ISA_ENV_TOTAL_SMEM: return r->shared_bytes;
    case ISA_ENV_ENVREG1: return (uint32_t)(workspace >> 32);
    case ISA_ENV_ENVREG2: return (uint32_t)workspace;
    case ISA_ENV_PARAM_BASE_LO: return (uint32_t)r->block->param_address;
    case ISA_ENV_PARAM_BASE_HI: return (uint32_t)(r->block->param_address >> 32);
    case ISA_ENV_COUNT: break;
    }
    UNREACHABLE("launch constant");
}

/* A word of the parameter block; bytes behind its end read as zero. */
static uint32_t param_word(const struct run *r, uint32_t offset)
{
    uint32_t word = 0, size = r->kernel->param_bytes;
    if (offset < size) memcpy(&word, (const uint8_t *)r->launch->params + offset, MIN(4u, size - offset));
    return word;
}

static uint32_t const_value(const struct run *r, const struct isa_const *c)
{
    uint64_t sym;
    switch ((enum isa_const_kind)c->kind) {
    case ISA_CONST_IMM: return c->value;
    case ISA_CONST_PARAM: return param_word(r, c->value);
    case ISA_CONST_ENV: return env_value(r, c->value);
    case ISA_CONST_SYM_LO:
    case ISA_CONST_SYM_HI:
        sym = r->image->sym_values[c->value] + (uint64_t)c->addend;
        return c->kind == ISA_CONST_SYM_LO ? (uint32_t)sym : (uint32_t)(sym >> 32);
    }
    UNREACHABLE("kind of constant");
}

static void fill_pool(struct run *r)
{
    const struct isa_kernel *k = r->kernel;
    r->pool = aligned_alloc(128, MAX(k->const_count, 1u) * ISA_LANES * sizeof(uint32_t));
    if (!r->pool) UNREACHABLE("memory for the constant pool");
    for (uint32_t c = 0; c < k->const_count; c++) {
        uint32_t value = const_value(r, &k->consts[c]);
        for (uint32_t l = 0; l < ISA_LANES; l++) r->pool[c * ISA_LANES + l] = value;
    }
}

static void fill_tids(struct run *r)
{
    const uint32_t *block = r->launch->block;
    r->tids = mem_zalloc(sizeof *r->tids * r->warps_per_cta);
    for (uint32_t t = 0; t < r->warps_per_cta * ISA_LANES; t++) {
        r->tids[t / ISA_LANES][0][t % ISA_LANES] = t % block[0];
        r->tids[t / ISA_LANES][1][t % ISA_LANES] = t / block[0] % block[1];
        r->tids[t / ISA_LANES][2][t % ISA_LANES] = t / block[0] / block[1];
    }
}

void run_share_init(const struct run *r, struct run_share *s, struct emu_fault *fault)
{
    *s = (struct run_share){.pcs = mem_zalloc(sizeof *s->pcs * r->kernel->inst_count), .fault = fault};
}

bool run_open(struct run *r, struct emu_device *d, const struct emu_launch *l, struct emu_fault *fault)
{
    const struct isa_kernel *k = l->kernel;
    *r = (struct run){.device = d,
                      .launch = l,
                      .kernel = k,
                      .image = module_image(l->module, k),
                      .insts = k->insts,
                      .table = d->table,
                      .fault = fault};
    r->block = device_take_block(d);
    if (!r->block) {
        run_refuse(fault, k, "there is no device memory left for its parameters");
        return false;
    }
    r->threads = l->block[0] * l->block[1] * l->block[2];
    r->warps_per_cta = (r->threads + ISA_LANES - 1) / ISA_LANES;
    r->ctas = ctas_of(l);
    r->shared_bytes = (uint32_t)shared_of(l);
    r->local_bytes = (uint32_t)round_up_u64(k->frame_bytes + (k->uses_stack ? d->limits.stack_bytes : 0), 16);
    run_share_init(r, &r->first, fault);
    r->id = ++d->launches;
    if (k->param_bytes) memcpy((void *)(uintptr_t)r->block->param_address, l->params, k->param_bytes);
    if (l->cooperative) {
        memset((void *)(uintptr_t)r->block->workspace_address, 0, WORKSPACE_BYTES);
        *(uint32_t *)(uintptr_t)r->block->workspace_address = WORKSPACE_SIZE_WORD;
    }
    fill_pool(r);
    fill_tids(r);
    r->next = d->runs;
    d->runs = r;
    return true;
}

void run_close(struct run *r)
{
    struct run **at = &r->device->runs;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    r->block->busy = false;
    free(r->first.pcs);
    free(r->pool);
    free(r->tids);
}

static void forget_ranges(struct run_share *s, uint32_t count)
{
    for (uint32_t pc = 0; pc < count; pc++) s->pcs[pc].lo = s->pcs[pc].hi = 0;
}

void run_forget_ranges(struct emu_device *d)
{
    for (struct run *r = d->runs; r; r = r->next) {
        forget_ranges(&r->first, r->kernel->inst_count);
        for (uint32_t i = 0; i < r->share_count; i++)
            if (r->shares[i]) forget_ranges(r->shares[i], r->kernel->inst_count);
    }
}

/* ---- running ---- */
struct residents {
    struct cta **slots;
    uint32_t count;
    uint64_t max, next;
}; /* next: number of the CTA to come */

static bool admit(struct run *r, struct residents *s)
{
    if (s->next >= r->ctas || s->count >= s->max) return true;
    struct cta *c = mem_zalloc(sizeof *c);
    if (!cta_create(c, r)) {
        free(c);
        return false;
    }
    s->slots[s->count++] = c;
    cta_start(c, s->next++);
    return true;
}

/* One turn of a resident CTA; false: the run has failed. */
static bool turn(struct run *r, struct residents *s, struct cta *c)
{
    switch (cta_run(c)) {
    case CTA_FAULT: return false;
    case CTA_YIELD:
        (void)admit(r, s);
        return true; /* without memory for one more it goes on with those there are */
    case CTA_DONE:
        if (s->next < r->ctas) cta_start(c, s->next++);
        return true;
    }
    UNREACHABLE("end of a CTA's turn");
}

static bool run_ctas(struct run *r, struct residents *s)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (uint32_t k = 0; k < s->count; k++) {
            if (s->slots[k]->busy && !turn(r, s, s->slots[k])) return false;
            busy |= s->slots[k]->busy;
        }
    }
    return true;
}

static void add_share(const struct run *r, const struct run_share *s, struct emu_stats *stats)
{
    stats->divergent_branches += s->divergent_branches;
    for (uint32_t pc = 0; pc < r->kernel->inst_count; pc++) {
        const struct isa_op_info *op = &isa_ops[r->insts[pc].op];
        uint64_t n = s->pcs[pc].insts;
        stats->warp_insts += n;
        stats->thread_insts += n * ISA_LANES - s->pcs[pc].idle;
        stats->insts_by_unit[op->unit] += n;
        if (op->flags & ISA_LOAD) stats->loads += n;
        if (op->flags & ISA_STORE) stats->stores += n;
        if (op->flags & ISA_ATOMIC) stats->atomics += n;
    }
}

void run_add_stats(const struct run *r, uint64_t ctas, struct emu_stats *stats)
{
    stats->ctas += ctas;
    stats->warps += ctas * r->warps_per_cta;
    add_share(r, &r->first, stats);
    for (uint32_t i = 0; i < r->share_count; i++)
        if (r->shares[i]) add_share(r, r->shares[i], stats);
}

static void run_grid(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                     struct emu_fault *fault)
{
    struct run r;
    if (!run_open(&r, d, l, fault)) return;
    struct residents s = {.max = MIN(resident_max(&d->limits, l, r.threads), r.ctas)};
    s.slots = mem_zalloc(sizeof *s.slots * s.max);
    uint64_t first = l->cooperative ? r.ctas : 1;
    bool fits = true;
    while (fits && s.count < first) fits = admit(&r, &s);
    if (!fits)
        run_refuse(fault, l->kernel, "the host has no memory for %llu resident blocks",
                   (unsigned long long)first);
    else
        run_ctas(&r, &s);
    if (stats) run_add_stats(&r, r.ctas, stats);
    for (uint32_t k = 0; k < s.count; k++) {
        cta_free(s.slots[k]);
        free(s.slots[k]);
    }
    free(s.slots);
    run_close(&r);
}

void emu_env_enter(fenv_t *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

void emu_env_leave(const fenv_t *host) { fesetenv(host); }

enum emu_fault_kind emu_run(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                            struct emu_fault *fault)
{
    *fault = (struct emu_fault){.kind = EMU_OK};
    enum emu_fault_kind bad = emu_check_launch(d, l, fault);
    if (bad) return bad;
    fenv_t host;
    emu_env_enter(&host);
    run_grid(d, l, stats, fault);
    emu_env_leave(&host);
    return fault->kind;
}
