/* morpheus.c: Morpheus (Darabi et al., MICRO'22): SMs in cache mode extend the last level cache. Here is the
 * Morpheus controller of an L2 slice (4.1); the extended LLC kernel that it talks to is in
 * morpheus_kernel.c.
 *
 * A request at the tags is the slice's own or, by a static share of the addresses, the extended LLC's
 * (4.1.1). Of the latter, one that the predictor calls a miss goes to DRAM (4.1.2); others wait in the
 * request queue of their set until its warp is free, and go to its row of the warp status table (4.1.3).
 * What came from DRAM is answered first and then inserted, by a request of the controller's own.
 *
 * Invariants. (1) A warp serves one request at a time, and those of a set in the order of the queue. (2) The
 * predictor knows what will be in the set when the newest request of the queue is served. (3) A line that is
 * on its way from DRAM is asked for once, sector by sector: later requests wait with the first. (4) A block
 * is as memory was when the request that wrote it went to the warp, or newer. (5) What the helper sends is
 * always taken: a request of the program may wait for it, and it never waits for one. (6) A line that
 * was predicted to miss is not in its set when it is inserted: a run in which it is ends with an error.
 *
 * Open in the paper (all of it: docs/papers.md). While the request queue is full a request that needs a slot
 * waits at the tags of the slice, and those of the program behind it; the helper's results pass them
 * (mem/l2_claim.h). A slot is taken until the warp gets the request, that of an atomic until it is done: it
 * may come back to the queue, behind the insertion of its line. A read, write or atomic whose line an earlier
 * one of its kind waits for is answered with that one (morpheus.join), a read also with the one that its warp
 * is at. It keeps its slot until then. A line that all SMs want would otherwise be served once a turn. The
 * helper adds for every atomic: it is given the difference that the operations make to each word. An atomic
 * takes effect once, when its warp first gets it: one that misses then is contained in the bytes that are
 * inserted. */
#include "mech/morpheus_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- 4.1.3: the request queue ---- */

static void perform(const struct morpheus *m, struct request *atomic)
{
    if (!atomic->is_applied) m->ports->apply(m->ports->host, atomic->token);
    atomic->is_applied = true;
}

/* The next request of the queue goes to the warp that waits for one. Atomics take effect now: those of a line
 * in the order in which its warp serves them. */
static void hand_over(struct morpheus *m, struct set *s)
{
    struct request *r = s->first;
    if (!s->is_parked || !r || s->current) return;
    s->first = r->next;
    s->current = r;
    m->inserts_waiting -= r->op == MORPHEUS_INSERT;
    if (r->op != MORPHEUS_ATOMIC) request_give_slot(m, r);
    if (r->op == MORPHEUS_ATOMIC) {
        memcpy(s->before, m->ports->line(m->ports->host, r->line), sizeof s->before);
        perform(m, r);
        for (struct request *j = r->joined; j; j = j->next) perform(m, j);
    }
    s->handed = m->now;
    s->is_away = true;
    m->queue_cycles += m->now - r->queued;
    table_give_request(m, s);
}

static void enqueue(struct morpheus *m, struct set *s, struct request *r)
{
    sets_use(m, s, r);
    m->inserts_waiting += r->op == MORPHEUS_INSERT;
    request_append(&s->first, &s->last, r);
    hand_over(m, s);
}

/* ---- misses ---- */

static bool has_room(const struct morpheus *m) { return m->inserts_waiting < m->params->inserts; }

static uint32_t all_sectors(const struct morpheus *m) { return (1u << m->ports->line_bytes / 32) - 1; }

/* A line is not inserted: its written sectors go to DRAM. */
static void bypass(struct morpheus *m, uint64_t line, uint32_t written)
{
    m->bypasses++;
    if (written) m->ports->dram_write(m->ports->host, line, written);
}

/* Does a write need nothing of the line? It covers all of it, or the line is not inserted. */
static bool writes_only(const struct morpheus *m, const struct request *r)
{
    return r->op == MORPHEUS_WRITE && ((r->sectors == all_sectors(m) && !r->is_partial) || !has_room(m));
}

/* A block that is written as a whole is inserted as it is. */
static void insert_written(struct morpheus *m, struct set *s, struct request *r)
{
    if (has_room(m)) {
        r->op = MORPHEUS_INSERT;
        enqueue(m, s, r);
        return;
    }
    bypass(m, r->line, r->sectors);
    request_end(m, r);
}

/* Reads the whole line if it is to be inserted, else the sectors that the request wants. */
static void fetch_sectors(struct morpheus *m, struct fetch *f, const struct request *r)
{
    const bool is_whole = has_room(m) || r->op == MORPHEUS_ATOMIC;
    const uint32_t sectors = (is_whole ? all_sectors(m) : r->wanted) & ~f->sectors;
    if (!sectors) return;
    f->sectors |= sectors;
    f->reads++;
    m->ports->dram_read(m->ports->host, f->line, sectors, f->tag);
}

static void miss(struct morpheus *m, struct set *s, struct request *r, bool is_predicted)
{
    struct fetch *f = fetch_find(s, r->line);
    if (!f && writes_only(m, r)) {
        insert_written(m, s, r);
        return;
    }
    if (!f) {
        f = fetch_add(m, s, r->line);
        f->is_predicted = is_predicted;
        f->mark = r->mark;
    }
    fetch_sectors(m, f, r);
    request_append(&f->first, &f->last, r);
}

/* Reads and writes that waited for the line are answered; atomics go to the helper, behind the insertion. */
static void insert_fetched(struct morpheus *m, struct set *s, const struct fetch *f)
{
    struct request *atomics = NULL, *last = NULL;
    uint32_t written = 0;
    for (struct request *r = f->first, *next; r; r = next) {
        next = r->next;
        written |= r->op == MORPHEUS_WRITE ? r->sectors : 0;
        if (r->op == MORPHEUS_ATOMIC)
            request_append(&atomics, &last, r);
        else
            request_end(m, r);
    }
    if (f->sectors == all_sectors(m) && (atomics || has_room(m))) {
        enqueue(m, s,
                request_new(m, &(struct request){.op = MORPHEUS_INSERT,
                                                 .sectors = all_sectors(m),
                                                 .is_dirty = written != 0,
                                                 .was_predicted_miss = f->is_predicted,
                                                 .mark = f->mark,
                                                 .line = f->line,
                                                 .queued = m->now}));
    } else {
        bypass(m, f->line, written);
    }
    for (struct request *r = atomics, *next; r; r = next) {
        next = r->next;
        if (!request_join(m, s, r)) enqueue(m, s, r);
    }
}

static void morpheus_on_dram(void *state, uint64_t cycle, uint32_t tag)
{
    struct morpheus *m = state;
    struct fetch *f = fetch_at(m, tag);
    m->now = cycle;
    if (--f->reads) return;
    fetch_remove(m, f);
    insert_fetched(m, f->set, f);
}

/* ---- results ---- */

static void count_answer(struct morpheus *m, const struct request *r, bool is_hit, bool is_stale)
{
    const bool is_read = is_hit && r->op == MORPHEUS_READ;
    m->hits += is_hit;
    m->false_hits += !is_hit;
    m->atomics += is_hit && r->op == MORPHEUS_ATOMIC;
    m->read_hits += is_read;
    m->read_cycles += is_read ? m->now - r->queued : 0;
    m->stale_reads += is_stale;
}

/* Invariant 6: a line that was predicted to miss has come from DRAM, and its set has it. */
static void refuse_false_negative(struct morpheus *m, uint64_t line)
{
    char why[128];
    m->false_negatives++;
    snprintf(why, sizeof why, "a law is broken: line 0x%" PRIx64 " was predicted to miss, and its set has it",
             line);
    m->ports->refuse(m->ports->host, why);
}

static void count_result(struct morpheus *m, const struct set *s, bool is_hit)
{
    const struct request *r = s->current;
    m->served++;
    m->service_cycles += m->now - s->handed;
    if (r->op == MORPHEUS_INSERT) {
        m->inserts += !is_hit;
        if (is_hit && r->was_predicted_miss) refuse_false_negative(m, r->line);
        return;
    }
    const bool is_stale = is_hit && r->op == MORPHEUS_READ && !table_is_memory(m, s, r->line);
    count_answer(m, r, is_hit, is_stale);
    for (const struct request *j = r->joined; j; j = j->next) count_answer(m, j, is_hit, is_stale);
}

static void count_turn(struct morpheus *m, struct set *s)
{
    m->turns += s->is_away;
    m->turn_cycles += s->is_away ? m->now - s->handed : 0;
    s->is_away = false;
}

static void take_result(struct morpheus *m, struct set *s)
{
    struct request *r = s->current;
    if (s->is_parked) count_turn(m, s);
    const bool is_hit = table_row(m, s)->result != MORPHEUS_MISS;
    count_result(m, s, is_hit);
    if (is_hit) sets_found(m, s, r);
    s->current = NULL;
    if (is_hit || r->op == MORPHEUS_INSERT)
        request_end(m, r);
    else
        miss(m, s, r, false);
    hand_over(m, s);
}

static void take_victim(struct morpheus *m, const struct set *s)
{
    const uint64_t line = (m->high | table_row(m, s)->victim) * m->ports->line_bytes;
    m->flushed += m->is_retired;
    m->dirty_evictions += !m->is_retired;
    m->stale_victims += !table_is_memory(m, s, line);
    m->ports->dram_write(m->ports->host, line, all_sectors(m));
}

/* ---- loads of the window ---- */

static void load_row(struct morpheus *m, struct set *s, uint32_t token)
{
    if (s->is_sending) {
        s->is_sending = false;
        table_answer(m, token);
        return;
    }
    if (!s->current) count_turn(m, s);
    s->is_parked = true;
    s->parked = token;
    if (m->is_retired)
        table_give_exit(m, s);
    else
        hand_over(m, s);
    if (s->is_parked) m->ports->park(m->ports->host, token);
}

static void take_load(struct morpheus *m, struct set *s, uint32_t line, uint32_t token)
{
    if (line == MORPHEUS_ROW_LINE)
        load_row(m, s, token);
    else if (line == MORPHEUS_DATA_LINE)
        table_load_data(m, s, token);
    else
        table_load_sums(m, s, token);
}

static void take_message(struct morpheus *m, const struct mech_request *q)
{
    struct set *s = &m->sets[q->window / MORPHEUS_WINDOW_LINES];
    const uint32_t line = q->window % MORPHEUS_WINDOW_LINES;
    m->messages++;
    if (line != MORPHEUS_ROW_LINE) m->data_sectors += (uint32_t)__builtin_popcount(q->sectors);
    if (q->kind == MECH_READ) {
        take_load(m, s, line, q->token);
        return;
    }
    m->ports->reply(m->ports->host, q->token);
    if (line != MORPHEUS_ROW_LINE) return;
    if (q->sectors & MORPHEUS_VICTIM_SECTOR) take_victim(m, s);
    if (q->sectors & MORPHEUS_REPORT_SECTOR) sets_report(m, s, &table_row(m, s)->levels);
    if (!(q->sectors & MORPHEUS_RESULT_SECTOR)) return;
    if (table_row(m, s)->result == (uint32_t)MORPHEUS_MORE)
        table_go_on(m, s);
    else
        take_result(m, s);
}

/* ---- requests of the program ---- */

static struct request request_of(const struct morpheus *m, const struct mech_request *q)
{
    static const uint8_t ops[] = {
        [MECH_READ] = MORPHEUS_READ, [MECH_WRITE] = MORPHEUS_WRITE, [MECH_ATOMIC] = MORPHEUS_ATOMIC};
    struct request r = {.op = ops[q->kind],
                        .token = q->token,
                        .has_token = true,
                        .is_dirty = q->kind != MECH_READ,
                        .is_partial = q->is_partial,
                        .sectors = q->kind == MECH_READ ? 0 : q->sectors,
                        .wanted = q->kind == MECH_READ ? q->sectors : 0,
                        .line = q->line,
                        .queued = q->cycle};
    if (q->kind == MECH_ATOMIC) r.sectors = all_sectors(m);
    return r;
}

/* The prediction for a request; waits: its line is on its way. */
struct outlook {
    bool waits, is_hit;
};

/* Is there room for all that the request needs? Changes nothing. */
static bool fits(const struct morpheus *m, const struct request *r, struct outlook o)
{
    if (r->has_slot && m->queued == m->params->queue) return false;
    return o.is_hit || o.waits || writes_only(m, r) || m->fetching < m->params->mshrs;
}

static void count_request(struct morpheus *m, struct outlook o)
{
    m->queue_found += m->queued;
    m->requests++;
    m->merged += o.waits;
    m->predicted_hits += o.is_hit;
    m->predicted_misses += !o.waits && !o.is_hit;
}

static enum mech_take morpheus_take_request(void *state, const struct mech_request *q)
{
    struct morpheus *m = state;
    m->now = q->cycle;
    if (q->is_window) {
        take_message(m, q);
        return MECH_CLAIM;
    }
    struct set *s = q->has_bytes && m->set_count ? sets_find(m, q->number) : NULL;
    if (!s) return MECH_PASS;
    struct request wanted = request_of(m, q);
    struct outlook o = {.waits = fetch_find(s, q->line) != NULL};
    o.is_hit = !o.waits && sets_predict(m, s, sets_tag(m, q->line));
    wanted.has_slot = o.is_hit || wanted.op == MORPHEUS_ATOMIC;
    if (!fits(m, &wanted, o)) return MECH_WAIT;
    count_request(m, o);
    m->high = q->line / m->ports->line_bytes & ~(uint64_t)UINT32_MAX;
    m->queued += wanted.has_slot;
    if (m->queue_max < m->queued) m->queue_max = m->queued;
    struct request *r = request_new(m, &wanted);
    if (!o.is_hit)
        miss(m, s, r, m->params->predictor != PREDICTOR_NONE);
    else if (!request_join(m, s, r))
        enqueue(m, s, r);
    return MECH_CLAIM;
}

/* ---- life ---- */

static void morpheus_on_retire(void *state)
{
    struct morpheus *m = state;
    m->is_retired = true;
    for (uint32_t i = 0; i < m->set_count; i++)
        if (m->sets[i].is_parked) table_give_exit(m, &m->sets[i]);
}

const struct mechanism mechanism_morpheus = {
    .api = HEDDLE_MECHANISM_API,
    .name = "morpheus",
    .summary = "SMs in cache mode extend the L2: a kernel keeps blocks in their registers and their L1",
    .paper = "Morpheus, MICRO'22",
    .params = morpheus_params,
    .param_bytes = sizeof(struct morpheus_params),
    .stats = morpheus_stats,
    .energy = morpheus_energy,
    .slice_state_bytes = sizeof(struct morpheus),
    .choice_bytes = sizeof(struct choose),
    .cost = parts_cost,
    .check = parts_check,
    .cache_sms = parts_cache_sms,
    .choose_sms = choose_sms,
    .helper = parts_helper,
    .slice_init = sets_init,
    .keeps_line = sets_keeps_line,
    .take_request = morpheus_take_request,
    .on_dram = morpheus_on_dram,
    .on_host_write = sets_on_host_write,
    .on_retire = morpheus_on_retire,
};
