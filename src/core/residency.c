/* residency.c: which CTAs are on the SM: what one needs (threads, warps, a CTA slot, registers and shared
 * memory by allocation unit: the rules of the CUDA Occupancy Calculator, core/occupancy.h), its start, its
 * end. Where shared memory and L1 are one array, CTAs that want different splits of it are not resident together. A CTA gives everything back when its last warp has left, that is, has executed its last instruction
 * and has nothing under way. */
#include "core/occupancy.h"
#include "core/sm_impl.h"

#include "base/hash.h"

/* ---- programs ---- */

static struct sm_program *program_new(struct sm *m, const struct emu_grid *g)
{
    const struct isa_kernel *k = emu_grid_launch(g)->kernel;
    struct sm_program *p = mem_zalloc(sizeof *p);
    p->grid = emu_grid_id(g);
    p->kernel = k;
    p->inst_count = k->inst_count;
    if (m->setup.place_of) p->place = (uint16_t)m->setup.place_of(m->setup.ctx, g);
    p->uops = mem_alloc(k->inst_count * sizeof *p->uops);
    p->loads = mem_zalloc_lines(k->inst_count * sizeof *p->loads);
    for (uint32_t pc = 0; pc < k->inst_count; pc++) uop_decode(m->p, &k->insts[pc], &p->uops[pc]);
    enum {
        KERNELS = 1 << 12
    }; /* places for code; two kernels that share one share instruction lines, no more */
    p->code = SM_CODE_BASE + ((hash_text(k->name) % KERNELS) << SM_CODE_BITS);
    return p;
}

static void program_free(struct sm_program *p)
{
    for (uint32_t pc = 0; pc < p->inst_count; pc++) lineset_free(&p->loads[pc].seen);
    free(p->uops);
    free(p->loads);
    free(p);
}

static void drop_ended(struct sm *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->program_count; i++) {
        if (m->programs[i]->has_ended && !l1_has_waiting(m->l1)) /* those count for their programs */
            program_free(m->programs[i]);
        else
            m->programs[n++] = m->programs[i];
    }
    m->program_count = n;
}

void sm_programs_end(struct sm *m)
{
    for (uint32_t i = 0; i < m->program_count; i++) m->programs[i]->has_ended |= !m->programs[i]->ctas;
}

void sm_programs_free(struct sm *m)
{
    for (uint32_t i = 0; i < m->program_count; i++) program_free(m->programs[i]);
    free(m->programs);
}

static struct sm_program *program_of(const struct sm *m, uint64_t grid)
{
    for (uint32_t i = 0; i < m->program_count; i++)
        if (!m->programs[i]->has_ended && m->programs[i]->grid == grid) return m->programs[i];
    return NULL;
}

static struct sm_program *program_find(const struct sm *m, const struct emu_grid *g)
{
    return program_of(m, emu_grid_id(g));
}

struct sm_program *sm_program_for(struct sm *m, const struct emu_grid *g)
{
    struct sm_program *p = program_find(m, g);
    if (p) return p;
    drop_ended(m);
    m->programs = mem_realloc(m->programs, (m->program_count + 1) * sizeof *m->programs);
    return m->programs[m->program_count++] = program_new(m, g);
}

const struct pc_load_stats *sm_pc_load(const struct sm *m, const struct emu_grid *g, uint32_t pc)
{
    const struct sm_program *p = program_find(m, g);
    return p ? &p->loads[pc].stats : NULL;
}

const struct sm_own *sm_own(struct sm *m, const struct emu_grid *g)
{
    const struct sm_program *p = program_find(m, g);
    lsu_count(m);
    return p ? &p->own : NULL;
}

void sm_grid_end(struct sm *m, uint64_t grid_id)
{
    for (uint32_t i = 0; i < m->program_count; i++)
        m->programs[i]->has_ended |= m->programs[i]->grid == grid_id;
}

/* ---- what a CTA needs ---- */

struct needs {
    uint32_t warps, registers;
    uint64_t register_limit; /* that warps like these can use of the file */
    uint64_t shared;
    uint64_t shared_size; /* that the SM must have for it */
};

static struct needs needs_of(const struct sm *m, const struct emu_grid *g)
{
    const struct machine *machine = m->setup.machine;
    const struct emu_launch *l = emu_grid_launch(g);
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    uint64_t per_warp =
        round_up_u64((uint64_t)MAX(l->kernel->reg_count, 1u) * ISA_LANES, machine->sm_register_unit);
    struct needs n = {.warps = (threads + ISA_LANES - 1) / ISA_LANES};
    n.registers = (uint32_t)(per_warp * n.warps);
    n.register_limit = occupancy_warps_by_registers(machine, l->kernel) * per_warp;
    n.shared = occupancy_shared(machine, emu_grid_shared_bytes(g));
    const struct split_launch s = split_of_grid(g);
    n.shared_size = split_shared_bytes(machine, &m->sizes, &s);
    return n;
}

static uint32_t slots_taken(const struct sm *m) { return (uint32_t)__builtin_popcountll(m->taken); }

bool sm_fits(const struct sm *m, const struct emu_grid *g)
{
    const struct machine *machine = m->setup.machine;
    struct needs n = needs_of(m, g);
    if (m->cta_count && n.shared_size != m->shared_size) return false;
    return m->cta_count < m->cta_slots && slots_taken(m) + n.warps <= m->warp_slots &&
           m->thread_count + n.warps * ISA_LANES <= machine->sm_threads &&
           m->registers + n.registers <= n.register_limit && m->shared + n.shared <= n.shared_size;
}

/* ---- start ---- */

static void start_warp(struct sm *m, uint32_t w, uint32_t cta, uint32_t index, uint32_t count)
{
    struct sm_cta *c = &m->ctas[cta];
    struct sm_warp *s = &m->warps[w];
    *s = (struct sm_warp){.emu = emu_cta_warp(c->emu, index),
                          .program = c->program,
                          .cta = cta,
                          .index = index,
                          .number = c->linear * count + index,
                          .since = m->cycle};
    m->age[w] = m->next_age++;
    m->cta_of[w] = cta;
    m->taken |= bit(w);
    m->resident |= bit(w);
    m->empty |= bit(w);
    m->wants_fetch = true;
    m->buffered &= ~bit(w);
    m->missed &= ~bit(w);
    m->warp_count++;
    c->warps |= bit(w);
    sm_warp_next(m, w);
    s->fetch_pc = s->next_pc;
    mech_on_warp(m->mech, &(struct mech_warp_event){.cycle = m->cycle,
                                                    .warp = (int)w,
                                                    .cta_slot = cta,
                                                    .cta = c->linear,
                                                    .is_start = true,
                                                    .scheduler = w % m->schedulers,
                                                    .index = index,
                                                    .cta_warps = count});
}

static void begin_kernel(struct sm *m)
{
    if (m->in_kernel) return;
    m->in_kernel = true;
    sm_mech_begin_kernel(m);
    mech_on_kernel(m->mech, true);
}

/* The first CTA of a kernel that wants another split of the array finds the SM empty (sm_fits). The L1 is emptied, whether it
 * grows or shrinks: where its lines lie changes. */
static void set_split(struct sm *m, uint64_t shared_size)
{
    if (shared_size == m->shared_size) return;
    m->shared_size = shared_size;
    l1_flush(m->l1, m->now);
    m->l1_size = l1_resize(m->l1, m->now, split_l1_bytes(m->setup.machine, &m->sizes, shared_size));
}

bool sm_start_cta(struct sm *m, tick now, struct emu_grid *g, uint64_t linear)
{
    assert(sm_fits(m, g));
    sm_tick(m, now); /* this cycle passed without the CTA, whoever runs first in it */
    struct cta *emu = emu_cta_open(g, linear, m->setup.index);
    if (!emu) {
        sm_fault(m);
        return false;
    }
    account_occupancy(m, m->cycle + 1);
    m->must_look = true;
    m->is_quiet = false;
    begin_kernel(m);
    struct needs n = needs_of(m, g);
    set_split(m, n.shared_size);
    uint32_t cta = 0;
    while (m->ctas[cta].emu) cta++;
    struct sm_cta *c = &m->ctas[cta];
    *c = (struct sm_cta){.emu = emu,
                         .grid = g,
                         .program = sm_program_for(m, g),
                         .linear = linear,
                         .left = n.warps,
                         .registers = n.registers,
                         .threads = n.warps * ISA_LANES,
                         .shared = n.shared};
    c->program->ctas++;
    m->cta_count++;
    m->thread_count += c->threads;
    m->registers += n.registers;
    m->shared += n.shared;
    for (uint32_t i = 0; i < n.warps; i++)
        start_warp(m, (uint32_t)__builtin_ctzll(~m->taken), cta, i, n.warps);
    wake_at(m->wake, clock_after(&m->clock, now, 1));
    return true;
}

/* ---- end ---- */

static void end_cta(struct sm *m, uint32_t cta)
{
    struct sm_cta c = m->ctas[cta];
    m->ctas[cta].emu = NULL;
    m->taken &= ~c.warps;
    account_occupancy(m, m->cycle + 1);
    m->cta_count--;
    m->thread_count -= c.threads;
    m->registers -= c.registers;
    m->shared -= c.shared;
    m->stats.ctas++;
    c.program->own.sm.ctas++;
    c.program->ctas--;
    if (m->setup.on_cta_done) m->setup.on_cta_done(m->setup.ctx, m->setup.index, c.emu, c.grid);
    emu_cta_close(c.emu);
}

void sm_end_ctas(struct sm *m)
{
    if (!m->has_finished) return;
    m->has_finished = false;
    for (uint32_t i = 0; i * 64 < m->cta_slots; i++) {
        while (m->finished[i]) {
            uint32_t cta = i * 64 + (uint32_t)__builtin_ctzll(m->finished[i]);
            m->finished[i] &= m->finished[i] - 1;
            end_cta(m, cta);
        }
    }
}

const char *sm_not_home(const struct sm *m, const struct emu_grid *g)
{
    uint64_t registers = 0, shared = 0, taken = 0, threads = 0, count = 0;
    for (uint32_t i = 0; i < m->cta_slots; i++) {
        const struct sm_cta *c = &m->ctas[i];
        if (!c->emu) continue;
        if (c->grid == g) return "a CTA of the kernel is left";
        registers += c->registers;
        shared += c->shared;
        threads += c->threads;
        taken |= c->warps;
        count++;
    }
    if (registers != m->registers) return "registers are not home";
    if (shared != m->shared) return "shared memory is not home";
    if (taken != m->taken || threads != m->thread_count) return "warp slots are not home";
    return count == m->cta_count ? NULL : "CTA slots are not home";
}

void sm_abandon(struct sm *m)
{
    for (uint32_t i = 0; i < m->cta_slots; i++) {
        if (m->ctas[i].emu) emu_cta_close(m->ctas[i].emu);
        m->ctas[i].emu = NULL;
    }
}
