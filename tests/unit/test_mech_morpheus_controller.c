/* test_mech_morpheus_controller.c: the Morpheus controller of a slice (src/mech/morpheus.c) with a program,
 * warps and DRAM that are made up here: requests, messages and lines come in any order and at any time. Warps
 * keep tags alone: plain sets replace by LRU, compressed ones by level, as src/mech/morpheus_levels.c does.
 *
 * The law is that no block is predicted to miss that is there. The controller sees a breach when the line is
 * inserted; here it is also looked for when a request comes while its warp has nothing to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../sanitized.h"

#include "base/base.h"
#include "base/rng.h"
#include "base/vec.h"
#include "mech/morpheus_state.h"

enum { LINE_BYTES = 128, SETS_MAX = 16, ROWS = 12, SLOTS_MAX = 64, OWN_LINES = 16, UNIVERSE = 1200 };
enum { TOKENS = 256 };
#define NO_TAG UINT32_MAX

extern const struct mechanism mechanism_morpheus;

/* ---- sets ---- */

struct slot {
    uint32_t tag, level;
    uint64_t used;
};

/* What a warp of the kernel has. */
struct warp {
    struct slot slots[SLOTS_MAX];
    uint32_t slot_count;
    bool is_compressed, is_busy;
    uint64_t clock, forgot;
    /* the request, when its load of the row was answered, and when the result is sent */
    struct morpheus_row row;
    uint64_t due;
};

static struct slot *slot_of(struct warp *w, uint32_t tag)
{
    for (uint32_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].tag == tag) return &w->slots[i];
    return NULL;
}

static void clear_set(struct warp *w)
{
    for (uint32_t i = 0; i < w->slot_count; i++) w->slots[i] = (struct slot){NO_TAG, w->slots[i].level, 0};
}

/* Rows of other levels: all blocks leave. At least one row is not compressed. */
static void allot(struct warp *w, struct rng *r)
{
    const uint32_t high = (uint32_t)rng_below(r, ROWS), low = (uint32_t)rng_below(r, ROWS - high);
    w->slot_count = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t level = row < high ? 2 : row < high + low ? 1 : 0;
        for (uint32_t k = 0; k < 1u << level; k++)
            w->slots[w->slot_count++] = (struct slot){NO_TAG, level, 0};
    }
}

/* The slot that was used longest ago of those that can hold the block. */
static struct slot *victim_of(struct warp *w, uint32_t tag)
{
    const uint32_t level = w->is_compressed ? tag % 3 : 0;
    struct slot *oldest = NULL;
    for (uint32_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].level <= level && (!oldest || w->slots[i].used < oldest->used)) oldest = &w->slots[i];
    return oldest;
}

static void forget(struct warp *w)
{
    for (uint32_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].used < w->forgot) w->slots[i] = (struct slot){NO_TAG, w->slots[i].level, 0};
    w->forgot = w->clock;
}

/* Does the request as the kernel does: was the block there? */
static bool serve(struct warp *w, struct rng *r)
{
    const uint32_t op = w->row.op, kind = op & MORPHEUS_OP_MASK;
    w->clock++;
    if (op & MORPHEUS_FLAG_CLEAR) clear_set(w);
    if (op & MORPHEUS_FLAG_FORGET) forget(w);
    struct slot *s = slot_of(w, w->row.tag);
    const bool is_hit = s != NULL;
    if (!s && kind == MORPHEUS_INSERT) {
        if (w->is_compressed && rng_below(r, 200) == 0) allot(w, r);
        s = victim_of(w, w->row.tag);
        s->tag = w->row.tag;
    }
    if (s) s->used = w->clock;
    return is_hit;
}

/* ---- the slice ---- */

struct fetched {
    uint32_t tag;
    uint64_t due;
};

struct bench {
    struct morpheus_params params;
    struct morpheus *m;
    struct mech_slice_ports ports;
    struct rng rng;
    uint64_t cycle;
    struct warp warps[SETS_MAX];
    uint32_t set_count;
    struct morpheus_row window[SETS_MAX * MORPHEUS_WINDOW_LINES];
    VEC(struct fetched) fetched;
    VEC(void *) memory;
    /* tokens of the program that are not answered */
    bool is_open[TOKENS];
    uint32_t open_count;
    uint32_t broken, looked_at;
};

/* Loads of the window have tokens behind those of the program. */
static uint32_t window_token(uint32_t line) { return TOKENS + line; }

static void *port_memory(void *host, size_t bytes)
{
    struct bench *b = host;
    vec_push(&b->memory, calloc(1, bytes));
    return b->memory.data[b->memory.len - 1];
}
static void port_apply(void *host, uint32_t token) {}
static void port_park(void *host, uint32_t token) {}
static void port_dram_write(void *host, uint64_t line, uint32_t sectors) {}

static unsigned char *port_window(void *host, uint32_t window)
{
    return (unsigned char *)&((struct bench *)host)->window[window];
}

static const unsigned char *port_line(void *host, uint64_t line)
{
    static const unsigned char zeros[LINE_BYTES];
    return zeros;
}

static void port_dram_read(void *host, uint64_t line, uint32_t sectors, uint32_t tag)
{
    struct bench *b = host;
    vec_push(&b->fetched, ((struct fetched){tag, b->cycle + 1 + rng_below(&b->rng, 60)}));
}

/* A row that is answered is a request; the program's requests end. */
static void port_reply(void *host, uint32_t token)
{
    struct bench *b = host;
    if (token < TOKENS) {
        assert_true(b->is_open[token]);
        b->is_open[token] = false;
        b->open_count--;
    } else if ((token - TOKENS) % MORPHEUS_WINDOW_LINES == MORPHEUS_ROW_LINE) {
        struct warp *w = &b->warps[(token - TOKENS) / MORPHEUS_WINDOW_LINES];
        assert_false(w->is_busy);
        w->is_busy = true;
        w->row = b->window[token - TOKENS];
        w->due = b->cycle + 1 + rng_below(&b->rng, 20);
    }
}

static void port_refuse(void *host, const char *why)
{
    assert_non_null(strstr(why, "a law is broken"));
    ((struct bench *)host)->broken++;
}

/* ---- messages ---- */

static void send(struct bench *b, uint32_t line, enum mech_request_kind kind, uint32_t sectors)
{
    const struct mech_request q = {.cycle = b->cycle,
                                   .token = kind == MECH_READ ? window_token(line) : TOKENS * 2,
                                   .kind = (uint8_t)kind,
                                   .is_window = true,
                                   .window = line,
                                   .sectors = sectors};
    assert_int_equal(mechanism_morpheus.take_request(b->m, &q), MECH_CLAIM);
}

/* The result, then the loads of the next data and the next row. */
static void answer(struct bench *b, uint32_t set)
{
    struct warp *w = &b->warps[set];
    const uint32_t line = set * MORPHEUS_WINDOW_LINES;
    const uint32_t kind = w->row.op & MORPHEUS_OP_MASK;
    if (kind == MORPHEUS_ATOMIC) send(b, line + MORPHEUS_SUMS_LINE, MECH_READ, 15);
    b->window[line].result = serve(w, &b->rng) ? 1 : MORPHEUS_MISS;
    w->is_busy = false;
    send(b, line, MECH_WRITE, MORPHEUS_RESULT_SECTOR);
    if (kind != MORPHEUS_READ) send(b, line + MORPHEUS_DATA_LINE, MECH_READ, 15);
    send(b, line, MECH_READ, 1);
}

/* ---- the program ---- */

static uint64_t pick_number(struct rng *r) { return rng_below(r, rng_below(r, 4) ? UNIVERSE / 5 : UNIVERSE); }

static struct mech_request pick_request(struct bench *b)
{
    const uint64_t number = pick_number(&b->rng);
    const uint32_t dice = (uint32_t)rng_below(&b->rng, 20);
    return (struct mech_request){.kind = dice < 13   ? MECH_READ
                                         : dice < 18 ? MECH_WRITE
                                                     : MECH_ATOMIC,
                                 .is_partial = dice < 15,
                                 .sectors = dice == 17 ? 15 : 1u << rng_below(&b->rng, 4),
                                 .line = number * LINE_BYTES,
                                 .number = number,
                                 .has_bytes = true};
}

static bool find_token(const struct bench *b, uint32_t *token)
{
    for (uint32_t i = 0; i < TOKENS; i++)
        if (!b->is_open[i]) {
            *token = i;
            return true;
        }
    return false;
}

/* False: there is no room for it. A block that is there must not be called a miss while its set has nothing
 * to do; but for a compressed set that has to forget blocks with its next request. */
static bool submit(struct bench *b, const struct mech_request *wanted)
{
    struct mech_request q = *wanted;
    if (!find_token(b, &q.token)) return false;
    q.cycle = b->cycle;
    struct set *s = sets_find(b->m, q.number);
    const bool is_idle = s && !s->current && !s->first && !s->must_clear && !s->has_swapped;
    const bool is_there = is_idle && slot_of(&b->warps[s - b->m->sets], sets_tag(b->m, q.line));
    const uint64_t misses = b->m->predicted_misses;
    b->is_open[q.token] = true;
    b->open_count++;
    const enum mech_take take = mechanism_morpheus.take_request(b->m, &q);
    if (take != MECH_CLAIM) {
        b->is_open[q.token] = false;
        b->open_count--;
    }
    b->looked_at += is_there && take == MECH_CLAIM;
    b->broken += is_there && b->m->predicted_misses != misses;
    return take != MECH_WAIT;
}

/* ---- time ---- */

static void step(struct bench *b)
{
    b->cycle++;
    for (uint32_t i = 0; i < b->fetched.len; i++)
        if (b->fetched.data[i].due <= b->cycle) {
            const uint32_t tag = b->fetched.data[i].tag;
            b->fetched.data[i--] = b->fetched.data[--b->fetched.len];
            mechanism_morpheus.on_dram(b->m, b->cycle, tag);
        }
    for (uint32_t i = 0; i < b->set_count; i++)
        if (b->warps[i].is_busy && b->warps[i].due <= b->cycle) answer(b, i);
}

static bool is_idle(const struct bench *b)
{
    for (uint32_t i = 0; i < b->set_count; i++)
        if (b->warps[i].is_busy) return false;
    return !b->open_count && !b->fetched.len;
}

/* Between two kernels the host writes to some lines. */
static void write_by_host(struct bench *b)
{
    while (!is_idle(b)) step(b);
    for (uint32_t i = 0; i < 5; i++) {
        const uint64_t number = pick_number(&b->rng);
        mechanism_morpheus.on_host_write(b->m, number * LINE_BYTES, number);
    }
}

/* ---- a run ---- */

static void open_bench(struct bench *b, const struct morpheus_params *params)
{
    memset(b, 0, sizeof *b);
    b->params = *params;
    b->rng.state = 11;
    b->m = calloc(1, sizeof *b->m);
    b->set_count = parts_warps(params);
    assert_true(b->set_count <= SETS_MAX);
    b->ports = (struct mech_slice_ports){.host = b,
                                         .slice_count = 1,
                                         .lines = OWN_LINES,
                                         .line_bytes = LINE_BYTES,
                                         .warps = b->set_count,
                                         .cache_sms = 1,
                                         .memory = port_memory,
                                         .apply = port_apply,
                                         .reply = port_reply,
                                         .park = port_park,
                                         .dram_read = port_dram_read,
                                         .dram_write = port_dram_write,
                                         .window = port_window,
                                         .line = port_line,
                                         .refuse = port_refuse};
    mechanism_morpheus.slice_init(b->m, &b->params, &b->ports);
}

static void close_bench(struct bench *b)
{
    for (uint32_t i = 0; i < b->memory.len; i++) free(b->memory.data[i]);
    vec_free(&b->memory);
    vec_free(&b->fetched);
    free(b->m);
}

/* Sets of `more` blocks than the controller knows of, if they are plain. */
static void start_warps(struct bench *b, uint32_t more)
{
    for (uint32_t i = 0; i < b->set_count; i++) {
        struct warp *w = &b->warps[i];
        w->is_compressed = b->m->sets[i].is_compressed;
        w->slot_count = b->m->sets[i].blocks + more;
        if (w->is_compressed) allot(w, &b->rng);
        clear_set(w);
        send(b, i * MORPHEUS_WINDOW_LINES + MORPHEUS_DATA_LINE, MECH_READ, 15);
        send(b, i * MORPHEUS_WINDOW_LINES, MECH_READ, 1);
    }
}

static void run_program(struct bench *b, uint32_t accesses)
{
    for (uint32_t i = 0; i < accesses; i++) {
        const struct mech_request q = pick_request(b);
        while (!submit(b, &q)) step(b);
        for (uint64_t n = rng_below(&b->rng, 6); n; n--) step(b);
        if (rng_below(&b->rng, 20000) == 0) write_by_host(b);
    }
    while (!is_idle(b)) step(b);
}

static struct bench bench;

/* ---- tests ---- */

static const struct morpheus_params shapes[] = {
    {.cache_sms = 1,
     .filter_bytes = 32,
     .filter_hashes = 4,
     .warps = {6, 4, 2},
     .blocks = {16, 30, 12},
     .inserts = 4,
     .queue = 32,
     .mshrs = 16,
     .joins = true},
    {.cache_sms = 1,
     .filter_bytes = 32,
     .filter_hashes = 4,
     .warps = {4, 4, 4},
     .blocks = {12, 20, 12},
     .inserts = 64,
     .queue = 128,
     .mshrs = 64,
     .joins = true,
     .compression = true},
    {.cache_sms = 1,
     .filter_bytes = 128,
     .filter_hashes = 3,
     .warps = {6, 0, 2},
     .blocks = {12, 20, 12},
     .inserts = 4,
     .queue = 16,
     .mshrs = 8,
     .compression = true},
    {.cache_sms = 1,
     .filter_bytes = 8,
     .filter_hashes = 1,
     .warps = {10, 0, 0},
     .blocks = {8, 0, 0},
     .inserts = 8,
     .queue = 16,
     .mshrs = 8},
};

static void a_million_requests_have_no_false_negative(void **unused)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        open_bench(&bench, &shapes[i]);
        start_warps(&bench, 0);
        run_program(&bench, IS_SANITIZED ? 100000 : 1000000);
        print_message("%u requests, %u hits, %u false hits, %u swaps, %u blocks looked at\n",
                      (unsigned)bench.m->requests, (unsigned)bench.m->hits, (unsigned)bench.m->false_hits,
                      (unsigned)bench.m->swaps, (unsigned)bench.looked_at);
        assert_true(bench.m->hits > bench.m->requests / 10 && bench.looked_at > 1000 && bench.m->swaps > 100);
        assert_true(bench.m->clears > 0 && bench.m->bypasses + bench.m->inserts > 1000);
        assert_int_equal(bench.broken, 0);
        assert_int_equal(bench.m->false_negatives, 0);
        close_bench(&bench);
    }
}

/* What the others rely on: sets that keep more than the controller knows of break the law. */
static void sets_that_are_too_large_are_found_out(void **unused)
{
    open_bench(&bench, &shapes[0]);
    start_warps(&bench, 8);
    run_program(&bench, 100000);
    assert_true(bench.m->false_negatives > 10);
    assert_true(bench.broken > bench.m->false_negatives);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_requests_have_no_false_negative),
        cmocka_unit_test(sets_that_are_too_large_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
