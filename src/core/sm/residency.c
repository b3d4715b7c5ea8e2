/* residency.c: which CTAs are on the SM: whether one fits (threads, warps, CTA slots, registers and shared
 * memory by allocation unit, by the rules of the CUDA Occupancy Calculator: core/occupancy.h), its start, its
 * end. Where shared memory and L1 are one array, CTAs that want different splits of it are not resident
 * together. A CTA gives everything back when its last warp has left, that is, has executed its last
 * instruction and has nothing under way. */
#include "core/sm/sm_ahead.h"
#include "core/sm/sm_impl.h"

#include "base/bitset.h"
#include "base/hugepage.h"
#include "core/occupancy.h"

/* ---- life ---- */

bool residency_check(const struct machine *machine, struct diag_list *diags)
{
    const uint32_t schedulers = machine->sm.schedulers, most = SM_BANK_SLOTS * schedulers;
    if (machine->sm_warps <= most) return true;
    struct strbuf hint = {0};
    strbuf_printf(&hint, "set sm.warps to at most %u", most);
    if (schedulers < SM_SCHEDULERS_MAX)
        strbuf_printf(&hint, ", or sm.schedulers to at least %u",
                      (machine->sm_warps + SM_BANK_SLOTS - 1) / SM_BANK_SLOTS);
    diag_add(diags, DIAG_ERROR, &(struct diag_source){.file = machine->name}, 0, 0, 0, strbuf_text(&hint),
             "sm.warps is %u, but %u scheduler%s of %u warps hold%s %u", machine->sm_warps, schedulers,
             schedulers == 1 ? "" : "s", (uint32_t)SM_BANK_SLOTS, schedulers == 1 ? "s" : "", most);
    strbuf_free(&hint);
    return false;
}

/* Does a mechanism let CTAs in that have no slots? */
static bool has_inactive(const struct sm *m)
{
    for (uint32_t i = 0; i < mech_set_count(m->setup.mechs); i++)
        if (mech_set_at(m->setup.mechs, i)->admit) return true;
    return false;
}

void residency_init(struct sm *m)
{
    struct residency *r = &m->residency;
    const struct machine *machine = m->setup.machine;
    assert(machine->sm_warps <= SM_SLOTS_MAX); /* residency_check */
    r->slot_count = machine->sm_warps;
    m->state.bank_count = 1;
    if (r->slot_count > SM_BANK_SLOTS || m->setup.bank_by_scheduler)
        m->state.bank_count = (uint8_t)machine->sm.schedulers;
    memset(m->state.context_of, 0xff, sizeof m->state.context_of); /* SM_NO_CONTEXT */
    const bool has_more = has_inactive(m);
    r->context_count = has_more ? SM_CONTEXTS_MAX : r->slot_count;
    r->cta_slots = has_more ? MAX(machine->sm_ctas, (uint32_t)SM_CTAS_INACTIVE_MAX) : machine->sm_ctas;
    m->state.contexts = mem_zalloc_huge(r->context_count * sizeof *m->state.contexts);
    r->ctas = mem_zalloc_huge(r->cta_slots * sizeof *r->ctas);
    r->finished = mem_zalloc_huge((r->cta_slots + 63) / 64 * sizeof *r->finished);
    registers_init(&r->file, machine->sm_registers);
    for (uint32_t i = 0; i < r->cta_slots; i++)
        r->ctas[i].rows = mem_zalloc(r->file.words * sizeof *r->ctas[i].rows);
    bool readable = split_read(m->p, &r->sizes);
    assert(readable); /* split_check */
    (void)readable;
    r->shared_size = r->sizes.count ? 0 : machine->sm_shared_bytes; /* 0: until a kernel comes */
}

void residency_see_l1(struct sm *m) { m->residency.l1_size = l1_capacity(m->l1); }

void residency_free(struct sm *m)
{
    struct residency *r = &m->residency;
    programs_free(m);
    for (uint32_t i = 0; i < r->cta_slots; i++) free(r->ctas[i].rows);
    registers_free(&r->file);
    mem_free_huge(m->state.contexts);
    mem_free_huge(r->ctas);
    mem_free_huge(r->finished);
}

/* ---- what a CTA needs ---- */

struct needs {
    uint32_t warps, registers;
    /* the most registers that warps of this kernel can use */
    uint64_t register_limit;
    uint64_t shared;
    /* shared memory that the SM must have for it */
    uint64_t shared_size;
};

static struct needs needs_of(const struct sm *m, const struct emu_grid *g)
{
    const struct machine *machine = m->setup.machine;
    const struct emu_launch *l = emu_grid_launch(g);
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    const uint32_t per_warp = occupancy_warp_registers(occupancy_registers_of(machine), l->kernel->reg_count);
    struct needs n = {.warps = (threads + ISA_LANES - 1) / ISA_LANES};
    n.registers = per_warp * n.warps;
    n.register_limit = (uint64_t)occupancy_warps_by_registers(machine, l->kernel) * per_warp;
    n.shared = occupancy_shared(machine, emu_grid_shared_bytes(g));
    const struct split_launch s = split_of_grid(g);
    n.shared_size = split_shared_bytes(machine, &m->residency.sizes, &s);
    return n;
}

static uint32_t slots_in_use(const struct sm *m)
{
    return bitset_count(m->residency.slots_taken, m->state.bank_count);
}

/* May one more CTA be active? */
static bool fits_slots(const struct sm *m, uint32_t warps)
{
    const struct residency *r = &m->residency;
    return r->active_count < m->setup.machine->sm_ctas && slots_in_use(m) + warps <= r->slot_count &&
           r->thread_count + warps * ISA_LANES <= m->setup.machine->sm_threads;
}

/* CTAs of a cooperative grid wait for each other: all of them are active. */
static bool asks_mechanism(const struct sm *m, const struct emu_grid *g)
{
    return m->mech->has_admit && !emu_grid_launch(g)->cooperative;
}

/* Rows below this one are for CTAs of a grid. */
static uint32_t rows_for(const struct sm *m, const struct emu_grid *g)
{
    const uint32_t rows = m->residency.file.rows;
    return asks_mechanism(m, g) ? MIN(m->mech->cta_rows, rows) : rows;
}

/* A CTA cannot have rows in which a mechanism keeps registers, nor rows that it sets apart for them. */
static bool fits_rows(const struct sm *m, const struct emu_grid *g, uint32_t registers)
{
    const struct residency *r = &m->residency;
    const uint32_t below = rows_for(m, g);
    if (below == r->file.rows && !r->file.kept_count) return true; /* the sum of registers says enough */
    return registers / ISA_LANES <= registers_room(&r->file, below);
}

static bool fits_memory(const struct sm *m, const struct emu_grid *g, const struct needs *n)
{
    const struct residency *r = &m->residency;
    return r->registers + n->registers <= n->register_limit && r->shared + n->shared <= n->shared_size &&
           fits_rows(m, g, n->registers);
}

/* The answer of the mechanism that admits CTAs. Sets the registers that the CTA gets. */
static bool is_admitted(const struct sm *m, const struct emu_grid *g, struct needs *n)
{
    const struct residency *r = &m->residency;
    const struct machine *machine = m->setup.machine;
    struct mech_admit a = {
        .cycle = m->sleep.cycle,
        .ctas = {r->active_count, 1, machine->sm_ctas},
        .threads = {r->thread_count, n->warps * ISA_LANES, machine->sm_threads},
        .warps = {slots_in_use(m), n->warps, r->slot_count},
        .registers = {r->registers, n->registers, n->register_limit},
        .shared = {r->shared, n->shared, n->shared_size},
        .cta_warps = n->warps,
        .thread_registers = emu_grid_launch(g)->kernel->reg_count,
        .gets_registers = n->registers,
    };
    if (!mech_admit(m->mech, &a)) return false;
    n->registers = (uint32_t)a.gets_registers;
    return true;
}

static uint32_t contexts_in_use(const struct sm *m)
{
    return bitset_count(m->residency.contexts_taken, ARRAY_LEN(m->residency.contexts_taken));
}

/* Room counts from the end of the step in which it was made (cta_swap.c), and not while the SM is ahead of
 * the step (ahead.c). */
bool sm_fits(const struct sm *m, const struct emu_grid *g)
{
    const struct residency *r = &m->residency;
    if (r->cta_count >= MIN(r->cta_slots, m->mech->cta_limit)) return false;
    if (m->state.has_room || sm_awaits_step(m)) return false;
    struct needs n = needs_of(m, g);
    if (r->cta_count && n.shared_size != r->shared_size) return false;
    if (!asks_mechanism(m, g)) return fits_slots(m, n.warps) && fits_memory(m, g, &n);
    if (contexts_in_use(m) + n.warps > r->context_count) return false;
    return is_admitted(m, g, &n) && fits_memory(m, g, &n);
}

/* ---- contexts and slots ---- */

static struct context *context_take(struct sm *m)
{
    struct residency *r = &m->residency;
    uint32_t word = 0;
    while (!~r->contexts_taken[word]) word++;
    const uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(~r->contexts_taken[word]);
    assert(id < r->context_count);
    r->contexts_taken[word] |= 1ull << id % 64;
    return &m->state.contexts[m->setup.contexts_from_top ? r->context_count - 1 - id : id];
}

static void context_give(struct sm *m, const struct context *x)
{
    struct residency *r = &m->residency;
    uint32_t id = x->id;
    if (m->setup.contexts_from_top) id = r->context_count - 1 - id;
    r->contexts_taken[id / 64] &= ~(1ull << id % 64);
}

/* The lowest slot of a bank that is free; SM_BANK_SLOTS: none is. */
static uint32_t lowest_free(uint64_t taken)
{
    return ~taken ? (uint32_t)__builtin_ctzll(~taken) : SM_BANK_SLOTS;
}

/* The lowest free slot of the banks; of equal ones, that of the first bank: warps spread over the
 * schedulers. */
static uint32_t slot_take(struct sm *m)
{
    struct residency *r = &m->residency;
    uint32_t bank = 0;
    for (uint32_t i = 1; i < m->state.bank_count; i++)
        if (lowest_free(r->slots_taken[i]) < lowest_free(r->slots_taken[bank])) bank = i;
    assert(~r->slots_taken[bank]); /* fits_slots */
    const uint32_t slot = bank * SM_BANK_SLOTS + lowest_free(r->slots_taken[bank]);
    r->slots_taken[bank] |= slot_bit(slot);
    return slot;
}

bool residency_has_slots(const struct sm *m, uint32_t in, uint32_t out)
{
    const struct residency *r = &m->residency;
    const struct machine *machine = m->setup.machine;
    const struct sm_cta *c = &r->ctas[in], *left = out == MECH_NO_CTA ? NULL : &r->ctas[out];
    return c->has_rows && r->active_count - (left != NULL) < machine->sm_ctas &&
           slots_in_use(m) - (left ? left->warps : 0) + c->warps <= r->slot_count &&
           r->thread_count - (left ? left->threads : 0) + c->threads <= machine->sm_threads;
}

void residency_reserve_slots(struct sm *m, uint32_t cta)
{
    struct residency *r = &m->residency;
    struct sm_cta *c = &r->ctas[cta];
    account_occupancy(m, m->sleep.cycle);
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling) {
        const uint32_t slot = slot_take(m);
        context_at(&m->state, id)->last_slot = (uint16_t)slot;
        c->slots[slot_bank(slot)] |= slot_bit(slot);
    }
    c->has_slots = true;
    r->active_count++;
    r->thread_count += c->threads;
}

static void seat(struct sm *m, struct context *x)
{
    struct residency *r = &m->residency;
    x->slot = x->last_slot;
    m->state.context_of[x->slot] = x->id;
    r->age[x->slot] = x->launch;
    r->cta_of[x->slot] = x->cta;
}

void residency_seat(struct sm *m, uint32_t cta)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    account_occupancy(m, m->sleep.cycle);
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        seat(m, context_at(&m->state, id));
    m->residency.slotless -= c->left;
}

void residency_unseat(struct sm *m, uint32_t cta)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    account_occupancy(m, m->sleep.cycle);
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling) {
        struct context *x = context_at(&m->state, id);
        m->state.context_of[x->slot] = SM_NO_CONTEXT;
        x->slot = SM_NO_SLOT;
    }
    m->residency.slotless += c->left;
}

void residency_give_slots(struct sm *m, uint32_t cta)
{
    struct residency *r = &m->residency;
    struct sm_cta *c = &r->ctas[cta];
    account_occupancy(m, m->sleep.cycle);
    for (uint32_t i = 0; i < m->state.bank_count; i++) r->slots_taken[i] &= ~c->slots[i];
    memset(c->slots, 0, sizeof c->slots);
    c->has_slots = false;
    r->active_count--;
    r->thread_count -= c->threads;
}

/* ---- rows ---- */

static void own_rows(struct sm *m, struct sm_cta *c)
{
    c->has_rows = true;
    m->residency.registers += c->registers;
    registers_own(&m->residency.file, rows_for(m, c->grid), c->registers / ISA_LANES, c->rows,
                  sm_mech_rows_lost, m);
}

static void disown_rows(struct sm *m, struct sm_cta *c)
{
    assert(c->has_rows);
    c->has_rows = false;
    m->residency.registers -= c->registers;
    registers_disown(&m->residency.file, c->rows);
}

COLD void residency_give_rows(struct sm *m, uint32_t cta)
{
    account_occupancy(m, m->sleep.cycle);
    m->residency.saved_count++;
    disown_rows(m, &m->residency.ctas[cta]);
    residency_has_room(m);
}

COLD bool residency_take_rows(struct sm *m, uint32_t cta)
{
    struct residency *r = &m->residency;
    struct sm_cta *c = &r->ctas[cta];
    if (r->registers + c->registers > needs_of(m, c->grid).register_limit) return false;
    if (!fits_rows(m, c->grid, c->registers)) return false;
    account_occupancy(m, m->sleep.cycle);
    r->saved_count--;
    own_rows(m, c);
    return true;
}

/* ---- start ---- */

static void start_warp(struct sm *m, uint32_t cta, uint32_t index, uint16_t *link)
{
    struct residency *r = &m->residency;
    const struct sm_cta *c = &r->ctas[cta];
    struct context *x = context_take(m);
    *x = (struct context){.emu = emu_cta_warp(c->emu, index),
                          .program = c->program,
                          .slot = SM_NO_SLOT,
                          .cta = (uint16_t)cta,
                          .id = (uint16_t)(x - m->state.contexts),
                          .sibling = SM_NO_CONTEXT,
                          .index = index,
                          .number = c->linear * c->warps + index,
                          .launch = r->next_launch++,
                          .issue_cycle = m->sleep.cycle};
    *link = x->id;
    m->state.warp_count++;
    r->slotless++;
    sleep_warps(&m->sleep, true);
}

static void start_warps(struct sm *m, uint32_t cta, bool is_active)
{
    struct sm_cta *c = &m->residency.ctas[cta];
    uint16_t *link = &c->first;
    for (uint32_t i = 0; i < c->warps; i++) {
        start_warp(m, cta, i, link);
        link = &context_at(&m->state, *link)->sibling;
    }
    if (!is_active) return;
    residency_reserve_slots(m, cta);
    residency_seat(m, cta);
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        warps_start(m, context_at(&m->state, id));
}

static void begin_kernel(struct sm *m)
{
    if (m->residency.in_kernel) return;
    m->residency.in_kernel = true;
    sm_mech_begin_kernel(m);
}

COLD void residency_size_l1(struct sm *m)
{
    struct residency *r = &m->residency;
    uint64_t bytes = m->setup.l1->size;
    if (r->sizes.count) bytes = split_l1_bytes(m->setup.machine, &r->sizes, r->shared_size);
    if (m->mech->l1_lines != UINT32_MAX) bytes = (uint64_t)m->mech->l1_lines * m->line_bytes;
    account_occupancy(m, m->sleep.cycle);
    r->l1_size = l1_resize(m->l1, m->sleep.now, bytes);
    sleep_wake_at(&m->sleep, l1_wake(m->l1)); /* dirty lines may have to leave */
}

/* The first CTA of a kernel that wants another split of the array finds the SM empty (sm_fits). The L1 is
 * emptied, whether it grows or shrinks: where its lines lie changes. */
static void set_split(struct sm *m, uint64_t shared_size)
{
    struct residency *r = &m->residency;
    if (shared_size == r->shared_size) return;
    r->shared_size = shared_size;
    l1_flush(m->l1, m->sleep.now);
    residency_size_l1(m);
}

static uint32_t place_cta(struct sm *m, struct emu_grid *g, uint64_t linear, struct cta *emu,
                          const struct needs *n, uint32_t owner)
{
    struct residency *r = &m->residency;
    uint32_t cta = 0;
    while (r->ctas[cta].emu) cta++;
    struct sm_cta *c = &r->ctas[cta];
    *c = (struct sm_cta){.emu = emu,
                         .grid = g,
                         .program = program_for(m, g, owner),
                         .linear = linear,
                         .warps = n->warps,
                         .left = n->warps,
                         .registers = n->registers,
                         .threads = n->warps * ISA_LANES,
                         .shared = n->shared,
                         .first = SM_NO_CONTEXT,
                         .rows = c->rows};
    program_cta(c->program, true);
    r->cta_count++;
    r->shared += n->shared;
    own_rows(m, c);
    return cta;
}

bool sm_start_cta(struct sm *m, tick now, struct emu_grid *g, uint64_t linear, uint32_t owner)
{
    assert(sm_fits(m, g));
    assert(m->sleep.has_ticked && m->sleep.now == now); /* this cycle passes without the CTA */
    struct cta *emu = emu_cta_open(g, linear, m->setup.index);
    if (!emu) {
        residency_fault(m);
        return false;
    }
    account_occupancy(m, m->sleep.cycle + 1);
    sleep_disturb(m);
    begin_kernel(m);
    struct needs n = needs_of(m, g);
    if (asks_mechanism(m, g)) is_admitted(m, g, &n);
    set_split(m, n.shared_size);
    const uint32_t cta = place_cta(m, g, linear, emu, &n, owner);
    const bool is_active = fits_slots(m, n.warps);
    swap_started(m, cta, is_active);
    sm_mech_cta(m, cta, MECH_CTA_START);
    start_warps(m, cta, is_active);
    sleep_wake_at(&m->sleep, clock_after(&m->clock, now, 1));
    return true;
}

/* ---- end ---- */

/* Tells the loop to look at the SM: a CTA has ended, a warp has faulted, or there is room. */
static void tell_runner(struct sm *m)
{
    if (m->setup.pending) event_flag_set(m->setup.pending);
}

COLD void residency_fault(struct sm *m)
{
    m->state.faulted = true;
    tell_runner(m);
}

void residency_warp_left(struct sm *m, struct context *x)
{
    struct residency *r = &m->residency;
    struct sm_cta *c = &r->ctas[x->cta];
    account_occupancy(m, m->sleep.cycle);
    m->state.warp_count--;
    r->slotless -= x->slot == SM_NO_SLOT;
    sleep_warps(&m->sleep, m->state.warp_count != 0);
    grid_stats(x)->warps++;
    if (--c->left) return;
    r->finished[x->cta / 64] |= 1ull << x->cta % 64;
    m->state.has_finished = true;
    tell_runner(m);
}

static void free_warps(struct sm *m, uint32_t cta)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    if (c->has_slots) {
        residency_unseat(m, cta);
        residency_give_slots(m, cta);
    }
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        context_give(m, context_at(&m->state, id));
}

static void end_cta(struct sm *m, uint32_t cta)
{
    struct residency *r = &m->residency;
    const struct sm_cta c = r->ctas[cta];
    account_occupancy(m, m->sleep.cycle + 1);
    free_warps(m, cta);
    r->cta_count--;
    r->shared -= c.shared;
    disown_rows(m, &r->ctas[cta]);
    r->ctas[cta].emu = NULL;
    program_cta(c.program, false);
    swap_ended(m, cta);
    sm_mech_cta(m, cta, MECH_CTA_END);
    if (m->setup.on_cta_done) m->setup.on_cta_done(m->setup.ctx, m->setup.index, c.emu, c.grid);
    emu_cta_close(c.emu);
}

COLD void residency_has_room(struct sm *m)
{
    m->state.has_room = true;
    tell_runner(m);
}

void sm_end_ctas(struct sm *m)
{
    struct residency *r = &m->residency;
    if (UNLIKELY(m->state.has_room)) {
        m->state.has_room = false;
        r->has_asked = true;
        if (m->setup.on_room) m->setup.on_room(m->setup.ctx);
    }
    if (!m->state.has_finished) return;
    m->state.has_finished = false;
    for (uint32_t i = 0; i * 64 < r->cta_slots; i++) {
        while (r->finished[i]) {
            uint32_t cta = i * 64 + (uint32_t)__builtin_ctzll(r->finished[i]);
            r->finished[i] &= r->finished[i] - 1;
            end_cta(m, cta);
        }
    }
}

bool residency_has_memory(const struct sm *m, uint64_t address)
{
    const struct residency *r = &m->residency;
    for (uint32_t i = 0; i < r->cta_slots; i++)
        if (r->ctas[i].emu) return emu_grid_has_memory(r->ctas[i].grid, address); /* all of one device */
    return false;
}

void sm_tell_left(struct sm *m, bool has_started, bool ctas_left)
{
    struct residency *r = &m->residency;
    if (!has_started && !r->has_asked) return;
    r->ctas_left = ctas_left;
    r->has_asked = false;
}

void residency_launch(struct sm *m) { m->residency.ctas_left = true; }

void residency_kernel_end(struct sm *m)
{
    programs_end(m);
    if (m->residency.in_kernel) mech_on_kernel(m->mech, false);
    m->residency.in_kernel = false;
}

void sm_abandon(struct sm *m)
{
    struct residency *r = &m->residency;
    for (uint32_t i = 0; i < r->cta_slots; i++) {
        if (r->ctas[i].emu) emu_cta_close(r->ctas[i].emu);
        r->ctas[i].emu = NULL;
    }
}

/* ---- what others ask for ---- */

/* The sums of what the resident CTAs hold. */
struct holdings {
    uint64_t registers, shared, threads, ctas, active, saved, warps, rows;
    uint64_t slots[SM_BANKS_MAX];
};

static struct holdings holdings_of(const struct residency *r)
{
    struct holdings h = {0};
    for (uint32_t i = 0; i < r->cta_slots; i++) {
        const struct sm_cta *c = &r->ctas[i];
        if (!c->emu) continue;
        h.registers += c->has_rows ? c->registers : 0;
        h.rows += c->has_rows ? c->registers / ISA_LANES : 0;
        h.shared += c->shared;
        h.threads += c->has_slots ? c->threads : 0;
        h.active += c->has_slots;
        h.saved += !c->has_rows;
        h.warps += c->warps;
        for (uint32_t b = 0; b < SM_BANKS_MAX; b++) h.slots[b] |= c->slots[b];
        h.ctas++;
    }
    return h;
}

const char *sm_leaks(const struct sm *m, const struct emu_grid *g)
{
    const struct residency *r = &m->residency;
    const struct holdings h = holdings_of(r);
    for (uint32_t i = 0; i < r->cta_slots; i++)
        if (r->ctas[i].emu && r->ctas[i].grid == g) return "a CTA of the kernel is left";
    if (h.registers != r->registers) return "registers leaked";
    if (h.rows != registers_owned(&r->file) || h.saved != r->saved_count)
        return "rows of the register file leaked";
    if (!registers_have_one_owner(&r->file)) return "rows of the register file have two owners";
    if (!h.ctas && r->file.kept_count) return "rows that a mechanism keeps registers in leaked";
    if (h.shared != r->shared) return "shared memory leaked";
    if (memcmp(h.slots, r->slots_taken, sizeof h.slots) || h.threads != r->thread_count)
        return "warp slots leaked";
    if (h.warps != bitset_count(r->contexts_taken, ARRAY_LEN(r->contexts_taken))) return "contexts leaked";
    if (!h.ctas && r->slotless) return "warps without slots leaked";
    return h.ctas == r->cta_count && h.active == r->active_count ? NULL : "CTA slots leaked";
}

bool sm_faulted(const struct sm *m) { return m->state.faulted; }
uint32_t sm_ctas(const struct sm *m) { return m->residency.cta_count; }
uint64_t sm_registers_used(const struct sm *m) { return m->residency.registers; }
bool sm_sleeps(const struct sm *m) { return warps_awake_at(m) != UINT64_MAX; }
