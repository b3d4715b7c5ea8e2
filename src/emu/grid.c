/* grid.c: the state of one launch: its constant pool, the thread numbers of its warps, its counts. */
#include "emu/grid.h"

/* cooperative_groups: size of {size, barrier}. */
enum { WORKSPACE_SIZE_WORD = 8 };

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
    r->ctas = launch_ctas(l);
    r->shared_bytes = (uint32_t)launch_shared_bytes(l);
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
