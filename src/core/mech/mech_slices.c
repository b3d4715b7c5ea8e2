/* mech_slices.c: see mech_slices.h.
 *
 * (1) Hooks of a slice run in the slice's own tick, on any thread, and touch only its state and its window.
 * (2) Data that they give a warp of the helper takes effect when the step ends, as atomics do. (3) The
 * answers of hooks and the arguments of ports are checked before the slice gets them. */
#include "core/mech/mech_slices.h"

#include "base/hugepage.h"
#include "emu/space.h"

/* Bits: what the mechanism may still do with a request. */
enum { CLAIM_LIVE = 1, CLAIM_APPLIES = 2, CLAIM_PARKS = 4 };

struct slice_seat {
    struct mech_slices *all;
    struct l2_slice *slice;
    void *state;
    uint32_t index;
    /* time of the hook that runs */
    tick now;
    uint64_t cycle;
    /* the slice and the cycle, for messages */
    struct mech_caller caller;
    struct mech_slice_ports ports;
    VEC(void *) memory;
    size_t memory_bytes;
    /* lines of the window that the helper's warps have */
    uint32_t window_lines;
    /* [token]: CLAIM_ bits of requests that the mechanism is asked for or has claimed, 0 for all others */
    VEC(uint8_t) claims;
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

NORETURN COLD PRINTF_LIKE(3, 4) static void fail(const struct slice_seat *seat, const char *where,
                                                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mech_guard_fail(&seat->caller, where, fmt, ap);
}

/* ---- ports ---- */

static void *port_memory(void *host, size_t bytes)
{
    struct slice_seat *seat = host;
    if (UNLIKELY(bytes > MECH_STATE_BYTES_MAX - seat->memory_bytes))
        fail(seat, "memory", "%zu bytes; it has %zu, and %zu are the most", bytes, seat->memory_bytes,
             (size_t)MECH_STATE_BYTES_MAX);
    seat->memory_bytes += bytes;
    void *block = mem_zalloc(MAX(bytes, 1));
    vec_push(&seat->memory, block);
    return block;
}

/* Returns the bits of a request that the mechanism is asked for, or has claimed. */
static uint8_t *claim_of(struct slice_seat *seat, const char *port, uint32_t token)
{
    if (UNLIKELY(token >= seat->claims.len || !seat->claims.data[token]))
        fail(seat, port, "request %u, which it has not claimed", token);
    return &seat->claims.data[token];
}

static void port_apply(void *host, uint32_t token)
{
    struct slice_seat *seat = host;
    uint8_t *claim = claim_of(seat, "apply", token);
    if (UNLIKELY(!(*claim & CLAIM_APPLIES)))
        fail(seat, "apply", "request %u has taken effect, or is neither an atomic nor a load of the window",
             token);
    *claim &= (uint8_t)~CLAIM_APPLIES;
    l2_apply_claim(seat->slice, token);
}
static void port_reply(void *host, uint32_t token)
{
    struct slice_seat *seat = host;
    uint8_t *claim = claim_of(seat, "reply", token);
    if (UNLIKELY(*claim & CLAIM_APPLIES))
        fail(seat, "reply", "request %u has to take effect before (apply)", token);
    *claim = 0;
    l2_answer_claim(seat->slice, token);
}
static void port_park(void *host, uint32_t token)
{
    struct slice_seat *seat = host;
    uint8_t *claim = claim_of(seat, "park", token);
    if (UNLIKELY(!(*claim & CLAIM_PARKS)))
        fail(seat, "park", "request %u is parked, or is not a load of the window", token);
    *claim &= (uint8_t)~CLAIM_PARKS;
    l2_park_claim(seat->slice, token);
}

/* DRAM has the lines of all slices: this slice may touch only its own. */
static void check_line(const struct slice_seat *seat, const char *port, uint64_t line, uint32_t sectors)
{
    const struct mech_slices_setup *s = &seat->all->setup;
    uint16_t slice, channel;
    addrmap_route(s->map, line, &slice, &channel);
    if (UNLIKELY(line % s->line_bytes || slice != seat->index))
        fail(seat, port, "address %#llx, which is not that of a line of slice %u", (unsigned long long)line,
             seat->index);
    const uint64_t all = (1ull << s->line_bytes / CACHE_SECTOR_BYTES) - 1;
    if (UNLIKELY(!sectors || sectors & ~all)) fail(seat, port, "sectors %#x of a line", sectors);
}

static void port_dram_read(void *host, uint64_t line, uint32_t sectors, uint32_t tag)
{
    const struct slice_seat *seat = host;
    check_line(seat, "dram_read", line, sectors);
    l2_access_dram(seat->slice, seat->now,
                   &(struct l2_dram_access){.addr = line, .sectors = sectors, .kind = REQ_READ, .tag = tag});
}

static void port_dram_write(void *host, uint64_t line, uint32_t sectors)
{
    const struct slice_seat *seat = host;
    check_line(seat, "dram_write", line, sectors);
    l2_access_dram(seat->slice, seat->now,
                   &(struct l2_dram_access){.addr = line, .sectors = sectors, .kind = REQ_WRITE});
}

static unsigned char *port_window(void *host, uint32_t window)
{
    const struct slice_seat *seat = host;
    if (UNLIKELY(window >= seat->window_lines))
        fail(seat, "window", "line %u of %u", window, seat->window_lines);
    return (unsigned char *)(uintptr_t)seat->all->window.addresses[seat->index][window];
}

static const unsigned char *port_line(void *host, uint64_t line)
{
    const struct slice_seat *seat = host;
    if (UNLIKELY(line % seat->all->setup.line_bytes || !space_reserved(line)))
        fail(seat, "line", "address %#llx, which is not that of a line in device memory",
             (unsigned long long)line);
    return (const unsigned char *)(uintptr_t)line;
}

static void port_refuse(void *host, const char *why) { fail(host, "refuse", "%s", why); }

/* ---- creation and end ---- */

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
    seat->memory_bytes = 0;
}

void mech_slices_destroy(struct mech_slices *m)
{
    if (!m) return;
    for (uint32_t i = 0; i < m->setup.slice_count; i++) {
        free_memory(&m->seats[i]);
        vec_free(&m->seats[i].claims);
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

static const char *name_of(enum mech_take answer) { return answer == MECH_PASS ? "PASS" : "WAIT"; }

/* may: what the mechanism could do with the request when it was asked. */
static void check_take(struct slice_seat *seat, const struct mech_request *q, uint8_t may,
                       enum mech_take answer)
{
    uint8_t *claim = &seat->claims.data[q->token];
    if (UNLIKELY((unsigned)answer > MECH_WAIT))
        fail(seat, "take_request", "answered %u, which is not in enum mech_take", (unsigned)answer);
    if (answer == MECH_CLAIM) return;
    if (UNLIKELY(q->is_window))
        fail(seat, "take_request", "answered %s to a request for the window, which it has to claim",
             name_of(answer));
    if (UNLIKELY(*claim != may))
        fail(seat, "take_request", "answered %s after it had used a port on the request", name_of(answer));
    *claim = 0;
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
    const uint8_t may = (uint8_t)(CLAIM_LIVE | (r->kind == REQ_ATOMIC ? CLAIM_APPLIES : 0) |
                                  (q.is_window && q.kind == MECH_READ ? CLAIM_PARKS : 0));
    while (seat->claims.len <= id) vec_push(&seat->claims, 0);
    seat->claims.data[id] = may;
    const struct mech_mark outer = begin_hook(seat, now, "take_request");
    q.cycle = seat->cycle;
    const enum mech_take answer = m->mech->take_request(seat->state, &q);
    mech_mark_end(outer);
    check_take(seat, &q, may, answer);
    return answers[answer];
}

static void set_gate(void *ctx, tick closed_from)
{
    const struct slice_seat *seat = ctx;
    xbar_set_gate(seat->all->setup.xbar, seat->index, closed_from);
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

/* Warp w of the helper belongs to slice w modulo slices, so the helper's storage for a slice is spread over
 * many SMs. */
bool mech_slices_start(struct mech_slices *m, const struct mech_slices_helper *helper)
{
    const uint32_t count = m->setup.slice_count, warps = helper->warps;
    m->window = *helper->window;
    m->first_cache_sm = m->setup.sm_count - helper->cache_sms;
    for (uint32_t i = 0; i < count; i++) {
        free_memory(&m->seats[i]);
        m->seats[i].ports.warps = warps > i ? (warps - i + count - 1) / count : 0;
        m->seats[i].ports.cache_sms = helper->cache_sms;
        m->seats[i].window_lines = m->seats[i].ports.warps * helper->window_lines;
        l2_use_taker(m->setup.slices[i], &(struct l2_taker){.ctx = &m->seats[i],
                                                            .first_cache_sm = m->first_cache_sm,
                                                            .behind_gate = m->setup.behind_gate,
                                                            .set_gate = set_gate,
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
