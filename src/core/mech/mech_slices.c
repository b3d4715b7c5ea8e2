/* mech_slices.c: see mech_slices.h.
 *
 * (1) Hooks of a slice run in the slice's own tick, on any thread, and touch its state and its window alone.
 * (2) What they give a warp of the helper takes effect when the step ends, as atomics do. */
#include "core/mech/mech_slices.h"

#include "base/hugepage.h"
#include "emu/space.h"

struct slice_seat {
    struct mech_slices *all;
    struct l2_slice *slice;
    void *state;
    uint32_t index;
    /* of the hook that runs */
    tick now;
    uint64_t cycle;
    /* the slice and the cycle, for messages */
    struct mech_caller caller;
    struct mech_slice_ports ports;
    VEC(void *) memory;
};

struct mech_slices {
    struct mech_slices_setup setup;
    const struct mechanism *mech;
    const void *params;
    uint32_t owner;
    bool has_started;
    uint32_t first_cache_sm;
    struct mech_window window;
    struct slice_seat *seats;
};

/* ---- ports ---- */

static void *port_memory(void *host, size_t bytes)
{
    struct slice_seat *seat = host;
    void *block = mem_zalloc(MAX(bytes, 1));
    vec_push(&seat->memory, block);
    return block;
}

static void port_apply(void *host, uint32_t token)
{
    l2_apply_claim(((struct slice_seat *)host)->slice, token);
}
static void port_reply(void *host, uint32_t token)
{
    l2_answer_claim(((struct slice_seat *)host)->slice, token);
}
static void port_park(void *host, uint32_t token)
{
    l2_park_claim(((struct slice_seat *)host)->slice, token);
}

static void port_dram_read(void *host, uint64_t line, uint32_t sectors, uint32_t tag)
{
    const struct slice_seat *seat = host;
    l2_access_dram(seat->slice, seat->now,
                   &(struct l2_dram_access){.addr = line, .sectors = sectors, .kind = REQ_READ, .tag = tag});
}

static void port_dram_write(void *host, uint64_t line, uint32_t sectors)
{
    const struct slice_seat *seat = host;
    l2_access_dram(seat->slice, seat->now,
                   &(struct l2_dram_access){.addr = line, .sectors = sectors, .kind = REQ_WRITE});
}

static unsigned char *port_window(void *host, uint32_t window)
{
    const struct slice_seat *seat = host;
    return (unsigned char *)(uintptr_t)seat->all->window.addresses[seat->index][window];
}

static const unsigned char *port_line(void *host, uint64_t line)
{
    return (const unsigned char *)(uintptr_t)line;
}

NORETURN COLD static void fail(const struct slice_seat *seat, const char *port, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mech_guard_fail(&seat->caller, port, fmt, ap);
}

static void port_refuse(void *host, const char *why) { fail(host, "refuse", "%s", why); }

/* ---- life ---- */

static void seat_init(struct mech_slices *m, uint32_t i)
{
    struct slice_seat *seat = &m->seats[i];
    *seat = (struct slice_seat){.all = m, .slice = m->setup.slices[i], .index = i};
    seat->state = mem_zalloc_lines(m->mech->slice_state_bytes);
    seat->caller = (struct mech_caller){.mechanism = m->mech->name, .cycle = &seat->cycle};
    seat->ports = (struct mech_slice_ports){.host = seat,
                                            .index = i,
                                            .slice_count = m->setup.slice_count,
                                            .lines = m->setup.lines,
                                            .line_bytes = m->setup.line_bytes,
                                            .memory = port_memory,
                                            .apply = port_apply,
                                            .reply = port_reply,
                                            .park = port_park,
                                            .dram_read = port_dram_read,
                                            .dram_write = port_dram_write,
                                            .window = port_window,
                                            .line = port_line,
                                            .refuse = port_refuse};
}

struct mech_slices *mech_slices_create(const struct mech_slices_setup *setup)
{
    for (uint32_t i = 0; i < mech_set_count(setup->set); i++) {
        const struct mechanism *mech = mech_set_at(setup->set, i);
        if (!mech->slice_state_bytes) continue;
        struct mech_slices *m = mem_zalloc(sizeof *m);
        m->setup = *setup;
        m->mech = mech;
        m->owner = i;
        m->params = mech_set_params(setup->set, i);
        m->seats = mem_zalloc_lines(sizeof *m->seats * setup->slice_count);
        for (uint32_t k = 0; k < setup->slice_count; k++) seat_init(m, k);
        return m;
    }
    return NULL;
}

static void free_memory(struct slice_seat *seat)
{
    for (uint32_t i = 0; i < seat->memory.len; i++) free(seat->memory.data[i]);
    vec_free(&seat->memory);
}

void mech_slices_destroy(struct mech_slices *m)
{
    if (!m) return;
    for (uint32_t i = 0; i < m->setup.slice_count; i++) {
        free_memory(&m->seats[i]);
        free(m->seats[i].state);
    }
    free(m->seats);
    free(m);
}

uint32_t mech_slices_owner(const struct mech_slices *m) { return m->owner; }
void *mech_slices_state(const struct mech_slices *m, uint32_t slice) { return m->seats[slice].state; }

/* ---- hooks ---- */

static uint64_t number_of(const struct mech_slices *m, uint64_t local) { return local / m->setup.line_bytes; }

static bool find_window(const struct mech_slices *m, uint64_t line, uint32_t *number)
{
    const struct mech_window *w = &m->window;
    if (line < w->base || line >= w->end) return false;
    *number = w->numbers[(line - w->base) / w->line_bytes];
    assert(*number != MECH_NO_WINDOW);
    return true;
}

static struct mech_mark begin_hook(struct slice_seat *seat, tick now, const char *hook)
{
    seat->now = now;
    seat->cycle = now / seat->all->setup.core_period;
    return mech_mark_begin(&seat->caller, hook);
}

/* A load of the window travels as an atomic without operands. */
static enum l2_take take(void *ctx, tick now, uint32_t id, const struct req *r, uint64_t local)
{
    static const enum l2_take answers[] = {
        [MECH_PASS] = L2_TAKE_PASSES, [MECH_CLAIM] = L2_TAKE_CLAIMS, [MECH_WAIT] = L2_TAKE_WAITS};
    struct slice_seat *seat = ctx;
    const struct mech_slices *m = seat->all;
    struct mech_request q = {.token = id,
                             .kind = (uint8_t)(r->kind == REQ_READ    ? MECH_READ
                                               : r->kind == REQ_WRITE ? MECH_WRITE
                                                                      : MECH_ATOMIC),
                             .is_partial = r->is_fill_partial,
                             .sectors = r->sectors,
                             .sm = r->sm,
                             .line = r->addr,
                             .number = number_of(m, local),
                             .has_bytes = space_reserved(r->addr)};
    q.is_window = find_window(m, r->addr, &q.window);
    if (!q.is_window && r->sm >= m->first_cache_sm) return L2_TAKE_PASSES;
    if (q.is_window && q.kind == MECH_ATOMIC) q.kind = MECH_READ;
    const struct mech_mark outer = begin_hook(seat, now, "take_request");
    q.cycle = seat->cycle;
    const enum mech_take answer = m->mech->take_request(seat->state, &q);
    mech_mark_end(outer);
    return q.is_window ? L2_TAKE_CLAIMS : answers[answer];
}

static void on_dram(void *ctx, tick now, uint32_t tag)
{
    struct slice_seat *seat = ctx;
    const struct mech_mark outer = begin_hook(seat, now, "on_dram");
    seat->all->mech->on_dram(seat->state, seat->cycle, tag);
    mech_mark_end(outer);
}

static void call_inits(void *slices)
{
    struct mech_slices *m = slices;
    for (uint32_t i = 0; i < m->setup.slice_count; i++) {
        struct slice_seat *seat = &m->seats[i];
        const struct mech_mark outer = mech_mark_begin(&seat->caller, "slice_init");
        m->mech->slice_init(seat->state, m->params, &seat->ports);
        mech_mark_end(outer);
    }
}

/* Warp w of the helper belongs to slice w modulo slices: the sets of a slice lie on many SMs. */
bool mech_slices_start(struct mech_slices *m, const struct mech_slices_helper *helper)
{
    const uint32_t count = m->setup.slice_count, warps = helper->warps;
    m->window = *helper->window;
    m->first_cache_sm = m->setup.sm_count - helper->cache_sms;
    for (uint32_t i = 0; i < count; i++) {
        free_memory(&m->seats[i]);
        m->seats[i].ports.warps = warps > i ? (warps - i + count - 1) / count : 0;
        m->seats[i].ports.cache_sms = helper->cache_sms;
        l2_use_taker(m->setup.slices[i], &(struct l2_taker){.ctx = &m->seats[i],
                                                            .first_cache_sm = m->first_cache_sm,
                                                            .behind_gate = m->setup.behind_gate,
                                                            .gate = &m->setup.gates[i],
                                                            .take = take,
                                                            .on_dram = on_dram});
    }
    m->has_started = true;
    mech_gpu_try(m->setup.gpu, call_inits, m);
    return !mech_gpu_failure(m->setup.gpu);
}

static bool keeps_line(void *ctx, uint64_t local)
{
    struct slice_seat *seat = ctx;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "keeps_line");
    const bool keeps = seat->all->mech->keeps_line(seat->state, number_of(seat->all, local));
    mech_mark_end(outer);
    return keeps;
}

void mech_slices_drop_lines(struct mech_slices *m)
{
    for (uint32_t i = 0; m->mech->keeps_line && i < m->setup.slice_count; i++)
        l2_drop_lines(m->seats[i].slice, keeps_line);
}

void mech_slices_host_write(struct mech_slices *m, uint32_t slice, uint64_t line)
{
    struct slice_seat *seat = &m->seats[slice];
    if (!m->has_started || !m->mech->on_host_write) return;
    const struct mech_mark outer = mech_mark_begin(&seat->caller, "on_host_write");
    m->mech->on_host_write(seat->state, line, number_of(m, addrmap_slice_addr(m->setup.map, line)));
    mech_mark_end(outer);
}

void mech_slices_retire(struct mech_slices *m)
{
    for (uint32_t i = 0; i < m->setup.slice_count; i++) {
        const struct mech_mark outer = mech_mark_begin(&m->seats[i].caller, "on_retire");
        m->mech->on_retire(m->seats[i].state);
        mech_mark_end(outer);
    }
}
