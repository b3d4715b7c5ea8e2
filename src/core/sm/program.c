/* program.c: kernels as an SM runs them: made at their first CTA, kept until their statistics were taken. */
#include "core/sm/sm_impl.h"

#include "base/hash.h"
#include "core/sm/uop_table.h"

/* Ranges of addresses for code; two kernels in one range share instruction lines, no more. */
enum { CODE_RANGES = 1 << 12 };

static struct sm_program *program_new(struct sm *m, const struct emu_grid *g, uint32_t owner)
{
    const struct isa_kernel *k = emu_grid_launch(g)->kernel;
    struct sm_program *p = mem_zalloc(sizeof *p);
    p->grid = emu_grid_id(g);
    p->kernel = k;
    p->inst_count = k->inst_count;
    p->line_shift = (uint32_t)__builtin_ctz(m->line_bytes);
    p->owner = (uint16_t)owner;
    p->uops = uop_table_take(m->setup.uops, p->grid, k);
    p->issued = mem_zalloc_lines(k->inst_count * sizeof *p->issued);
    p->loads = mem_zalloc_lines(k->inst_count * sizeof *p->loads);
    p->code = SM_CODE_BASE + ((hash_text(k->name) % CODE_RANGES) << SM_CODE_BITS);
    return p;
}

static void program_free(struct sm *m, struct sm_program *p)
{
    for (uint32_t pc = 0; pc < p->inst_count; pc++) lineset_free(&p->loads[pc].seen);
    uop_table_drop(m->setup.uops, p->uops);
    free(p->issued);
    free(p->loads);
    free(p);
}

/* Adds a struct that consists of counters. */
static void counters_add(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] += from[i];
}

static void add_sm(struct sm_stats *sum, const struct sm_stats *more)
{
    counters_add((uint64_t *)sum, (const uint64_t *)more, sizeof *sum);
}

static void add_l1(struct l1_stats *sum, const struct l1_stats *more)
{
    counters_add((uint64_t *)sum, (const uint64_t *)more, sizeof *sum);
}

static void add_issues(struct sm_stats *s, const struct uop *u, const struct issue_count *c)
{
    s->warp_insts += c->issues;
    s->insts_by_unit[u->unit] += c->issues;
    if (u->flags & UOP_BARRIER) s->barriers += c->issues;
    if (u->flags & UOP_BRANCH) s->branches += c->issues;
    s->lanes_by_work[u->work] += c->lanes;
    const uint32_t reads = u->read_count + (u->flags & UOP_INDIRECT ? 1 : 0);
    s->register_reads += reads * c->issues;
    s->register_read_lanes += reads * c->lanes;
    s->register_writes += u->write_count * c->issues;
    s->register_write_lanes += u->write_count * c->lanes;
    s->other_operands += u->other_count * c->issues;
    s->other_operand_lanes += u->other_count * c->lanes;
}

static void program_add_sm(const struct sm_program *p, struct sm_stats *sum)
{
    add_sm(sum, &p->own.sm);
    for (uint32_t pc = 0; pc < p->inst_count; pc++)
        if (p->issued[pc].issues) add_issues(sum, &p->uops[pc], &p->issued[pc]);
}

/* Adds what a program has counted so far. */
static void program_add(const struct sm_program *p, struct sm_own *sum)
{
    program_add_sm(p, &sum->sm);
    add_l1(&sum->l1, &p->own.l1);
}

void programs_add_sm(const struct sm *m, struct sm_stats *sum)
{
    const struct programs *all = &m->residency.programs;
    add_sm(sum, &all->ended.sm);
    for (uint32_t i = 0; i < all->count; i++) program_add_sm(all->list[i], sum);
}

void programs_add_l1(const struct sm *m, struct l1_stats *sum)
{
    const struct programs *all = &m->residency.programs;
    add_l1(sum, &all->ended.l1);
    for (uint32_t i = 0; i < all->count; i++) add_l1(sum, &all->list[i]->own.l1);
}

uint64_t programs_thread_insts(const struct sm *m)
{
    const struct programs *all = &m->residency.programs;
    uint64_t sum = all->ended.sm.thread_insts;
    for (uint32_t i = 0; i < all->count; i++) sum += all->list[i]->own.sm.thread_insts;
    return sum;
}

/* Frees programs that have ended. While accesses are on their way to the tags of the L1, their programs are
 * kept, which count them. */
static void drop_ended(struct sm *m)
{
    struct programs *all = &m->residency.programs;
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct sm_program *p = all->list[i];
        if (!p->has_ended || l1_has_waiting(m->l1)) {
            all->list[n++] = p;
            continue;
        }
        program_add(p, &all->ended);
        program_free(m, p);
    }
    all->count = n;
}

void programs_end(struct sm *m)
{
    struct programs *all = &m->residency.programs;
    for (uint32_t i = 0; i < all->count; i++) all->list[i]->has_ended |= !all->list[i]->ctas;
}

void programs_free(struct sm *m)
{
    struct programs *all = &m->residency.programs;
    for (uint32_t i = 0; i < all->count; i++) program_free(m, all->list[i]);
    free(all->list);
}

static struct sm_program *program_find(const struct sm *m, const struct emu_grid *g)
{
    const struct programs *all = &m->residency.programs;
    for (uint32_t i = 0; i < all->count; i++)
        if (!all->list[i]->has_ended && all->list[i]->grid == emu_grid_id(g)) return all->list[i];
    return NULL;
}

struct sm_program *program_for(struct sm *m, const struct emu_grid *g, uint32_t owner)
{
    struct programs *all = &m->residency.programs;
    struct sm_program *p = program_find(m, g);
    if (p) return p;
    drop_ended(m);
    all->list = mem_realloc(all->list, (all->count + 1) * sizeof *all->list);
    return all->list[all->count++] = program_new(m, g, owner);
}

void program_cta(struct sm_program *p, bool is_start)
{
    if (is_start) {
        p->ctas++;
        return;
    }
    assert(p->ctas);
    p->ctas--;
    p->own.sm.ctas++;
}

const struct pc_load_stats *sm_pc_load(const struct sm *m, const struct emu_grid *g, uint32_t pc)
{
    const struct sm_program *p = program_find(m, g);
    return p ? &p->loads[pc].stats : NULL;
}

void sm_own_add(struct sm *m, const struct emu_grid *g, struct sm_own *sum)
{
    const struct sm_program *p = program_find(m, g);
    lsu_count(m);
    if (p) program_add(p, sum);
}

void sm_grid_end(struct sm *m, uint64_t grid_id)
{
    const struct programs *all = &m->residency.programs;
    for (uint32_t i = 0; i < all->count; i++) all->list[i]->has_ended |= all->list[i]->grid == grid_id;
}
