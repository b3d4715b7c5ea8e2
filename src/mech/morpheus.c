/* morpheus.c: Morpheus (Darabi et al., MICRO'22): SMs in cache mode extend the last level cache. Here is the
 * Morpheus controller of an L2 slice (4.1); the extended LLC kernel that it talks to is in morpheus_kernel.c.
 *
 * A request at the tags is the slice's own or, by a static share of the addresses, the extended LLC's
 * (4.1.1). Of the latter, one that the predictor calls a miss goes to DRAM (4.1.2); others wait in the
 * request queue of their set until its warp is free, and go to its row of the warp status table (4.1.3). What
 * came from DRAM is answered first and then inserted, by a request of the controller's own.
 *
 * Invariants. (1) A warp serves one request at a time, and those of a set in the order of the queue. (2) The
 * predictor knows what will be in the set when the newest request of the queue is served. (3) A line that is
 * on its way from DRAM is asked for once: later requests for it wait with the first. (4) A block's bytes are
 * those of memory when the request that wrote them was served, or newer ones. (5) What the helper sends is
 * always taken: a request of the program may wait for it, and it never waits for one.
 *
 * Open in the paper (all of it: docs/mechanisms.md). While the request queue is full a request that needs a
 * slot waits at the tags of the slice, and those of the program behind it; the helper's results pass them
 * (mem/l2_claim.h). A slot is taken until the warp gets the request, that of an atomic until it is done: it
 * may come back to the queue, behind the insertion of its line. A read, write or atomic whose line an earlier
 * one of its kind waits for is answered with that one (morpheus.join), a read also with the one that its warp
 * is at. It keeps its slot until then. A line that all SMs want would otherwise be served once a turn. The
 * helper adds for every atomic: it is given
 * the difference that the operations make to each word. An atomic takes effect once, when its warp first gets
 * it: one that misses then is there in the bytes that are inserted. */
#include "mech/morpheus_state.h"

#include <string.h>

/* ---- 4.1.3: the request queue and the warp status table ---- */

static uint32_t window_of(const struct morpheus *m, const struct set *s, uint32_t line)
{
    return (uint32_t)(s - m->sets) * MORPHEUS_WINDOW_LINES + line;
}

static struct morpheus_row *row_of(const struct morpheus *m, const struct set *s)
{
    return (struct morpheus_row *)m->ports->window(m->ports->host, window_of(m, s, MORPHEUS_ROW_LINE));
}

static void answer_load(const struct morpheus *m, uint32_t token)
{
    m->ports->apply(m->ports->host, token);
    m->ports->reply(m->ports->host, token);
}

static void fill_row(const struct morpheus *m, const struct set *s, const struct request *r)
{
    struct morpheus_row *row = row_of(m, s);
    row->op = r->op | (s->must_clear ? MORPHEUS_FLAG_CLEAR : 0) | (r->forgets ? MORPHEUS_FLAG_FORGET : 0) |
              (uint32_t)r->is_dirty << MORPHEUS_FLAG_DIRTY_SHIFT | r->sectors << MORPHEUS_SECTORS_SHIFT;
    row->tag = sets_tag(m, r->line);
}

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
    s->is_parked = false;
    m->inserts_waiting -= r->op == MORPHEUS_INSERT;
    if (r->op != MORPHEUS_ATOMIC) request_give_slot(m, r);
    if (r->op == MORPHEUS_ATOMIC) {
        memcpy(s->before, m->ports->line(m->ports->host, r->line), sizeof s->before);
        perform(m, r);
        for (struct request *j = r->joined; j; j = j->next) perform(m, j);
    }
    fill_row(m, s, r);
    s->must_clear = false;
    s->handed = m->now;
    s->is_away = true;
    m->queue_cycles += m->now - r->queued;
    answer_load(m, s->parked);
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

/* Does a write leave nothing of the line to be fetched? */
static bool writes_all(const struct morpheus *m, const struct request *r)
{
    const uint32_t all = (1u << m->ports->line_bytes / 32) - 1;
    return r->op == MORPHEUS_WRITE && r->sectors == all && !r->is_partial;
}

/* A block that is written as a whole is inserted as it is. */
static void insert_written(struct morpheus *m, struct set *s, struct request *r)
{
    r->op = MORPHEUS_INSERT;
    if (has_room(m)) {
        enqueue(m, s, r);
        return;
    }
    m->bypasses++;
    m->ports->dram_write(m->ports->host, r->line);
    request_end(m, r);
}

static void miss(struct morpheus *m, struct set *s, struct request *r, bool is_predicted)
{
    struct fetch *f = fetch_find(s, r->line);
    if (!f && writes_all(m, r)) {
        insert_written(m, s, r);
        return;
    }
    if (!f) {
        f = fetch_add(m, s, r->line);
        f->is_predicted = is_predicted;
        f->mark = r->mark;
        m->ports->dram_read(m->ports->host, r->line, f->tag);
    }
    request_append(&f->first, &f->last, r);
}

/* Reads and writes that waited for the line are answered; atomics go to the helper, behind the insertion. */
static void insert_fetched(struct morpheus *m, struct set *s, const struct fetch *f)
{
    struct request *atomics = NULL, *last = NULL;
    bool is_dirty = false;
    for (struct request *r = f->first, *next; r; r = next) {
        next = r->next;
        is_dirty |= r->op == MORPHEUS_WRITE;
        if (r->op == MORPHEUS_ATOMIC)
            request_append(&atomics, &last, r);
        else
            request_end(m, r);
    }
    if (atomics || has_room(m)) {
        enqueue(m, s,
                request_new(m, &(struct request){.op = MORPHEUS_INSERT,
                                                 .sectors = (1u << m->ports->line_bytes / 32) - 1,
                                                 .is_dirty = is_dirty,
                                                 .was_predicted_miss = f->is_predicted,
                                                 .mark = f->mark,
                                                 .line = f->line,
                                                 .queued = m->now}));
    } else {
        m->bypasses++;
        if (is_dirty) m->ports->dram_write(m->ports->host, f->line);
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
    fetch_remove(m, f);
    insert_fetched(m, f->set, f);
}

/* ---- results ---- */

/* Are the bytes in the set's read data buffer those of the line? */
static bool is_what_memory_is(const struct morpheus *m, const struct set *s, uint64_t line)
{
    return !memcmp(m->ports->window(m->ports->host, window_of(m, s, MORPHEUS_DATA_LINE)),
                   m->ports->line(m->ports->host, line), m->ports->line_bytes);
}

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

static void count_result(struct morpheus *m, const struct set *s, bool is_hit)
{
    const struct request *r = s->current;
    m->served++;
    m->service_cycles += m->now - s->handed;
    if (r->op == MORPHEUS_INSERT) {
        m->inserts += !is_hit;
        m->false_negatives += is_hit && r->was_predicted_miss;
        return;
    }
    const bool is_stale = is_hit && r->op == MORPHEUS_READ && !is_what_memory_is(m, s, r->line);
    count_answer(m, r, is_hit, is_stale);
    for (const struct request *j = r->joined; j; j = j->next) count_answer(m, j, is_hit, is_stale);
}

static void take_result(struct morpheus *m, struct set *s)
{
    struct request *r = s->current;
    const bool is_hit = row_of(m, s)->result != MORPHEUS_MISS;
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
    const uint64_t line = (m->high | row_of(m, s)->victim) * m->ports->line_bytes;
    m->flushed += m->is_retired;
    m->dirty_evictions += !m->is_retired;
    m->stale_victims += !is_what_memory_is(m, s, line);
    m->ports->dram_write(m->ports->host, line);
}

/* ---- loads of the window ---- */

/* A warp that sends its dirty blocks first forgets what a host copy has overwritten. */
static void give_exit(struct morpheus *m, struct set *s)
{
    const bool forgets = m->params->choose == CHOOSE_ONLINE && s->must_clear;
    row_of(m, s)->op = MORPHEUS_EXIT | (forgets ? MORPHEUS_FLAG_CLEAR : 0);
    s->is_parked = false;
    answer_load(m, s->parked);
}

static void count_turn(struct morpheus *m, struct set *s)
{
    m->turns += s->is_away;
    m->turn_cycles += s->is_away ? m->now - s->handed : 0;
    s->is_away = false;
}

static void load_row(struct morpheus *m, struct set *s, uint32_t token)
{
    count_turn(m, s);
    s->is_parked = true;
    s->parked = token;
    if (m->is_retired)
        give_exit(m, s);
    else
        hand_over(m, s);
    if (s->is_parked) m->ports->park(m->ports->host, token);
}

/* The write data buffer: the line's bytes, or what an atomic adds to each of its words. A warp that sends its
 * blocks before it exits only waits for the answer. */
static void load_data(struct morpheus *m, struct set *s, uint32_t token)
{
    if (m->is_retired) {
        answer_load(m, token);
        return;
    }
    uint32_t words[MORPHEUS_LINE_WORDS];
    memcpy(words, m->ports->line(m->ports->host, s->current->line), sizeof words);
    for (uint32_t i = 0; s->current->op == MORPHEUS_ATOMIC && i < MORPHEUS_LINE_WORDS; i++)
        words[i] -= s->before[i];
    memcpy(m->ports->window(m->ports->host, window_of(m, s, MORPHEUS_DATA_LINE)), words, sizeof words);
    answer_load(m, token);
}

static void take_message(struct morpheus *m, const struct mech_request *q)
{
    struct set *s = &m->sets[q->window / MORPHEUS_WINDOW_LINES];
    const bool is_row = q->window % MORPHEUS_WINDOW_LINES == MORPHEUS_ROW_LINE;
    m->messages++;
    if (!is_row) m->data_sectors += (uint32_t)__builtin_popcount(q->sectors);
    if (q->kind == MECH_READ) {
        if (is_row)
            load_row(m, s, q->token);
        else
            load_data(m, s, q->token);
        return;
    }
    m->ports->reply(m->ports->host, q->token);
    if (!is_row) return;
    if (q->sectors & MORPHEUS_VICTIM_SECTOR) take_victim(m, s);
    if (q->sectors & MORPHEUS_REPORT_SECTOR) sets_report(m, s, &row_of(m, s)->levels);
    if (q->sectors & MORPHEUS_RESULT_SECTOR) take_result(m, s);
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
                        .line = q->line,
                        .queued = q->cycle};
    if (q->kind == MECH_ATOMIC) r.sectors = (1u << m->ports->line_bytes / 32) - 1;
    return r;
}

/* What the predictor says of a request; waits: its line is on its way. */
struct outlook {
    bool waits, is_hit;
};

/* Is there room for all that the request needs? Changes nothing. */
static bool fits(const struct morpheus *m, const struct request *r, struct outlook o)
{
    if (r->has_slot && m->queued == m->params->queue) return false;
    return o.is_hit || o.waits || writes_all(m, r) || m->fetching < m->params->mshrs;
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
        if (m->sets[i].is_parked) give_exit(m, &m->sets[i]);
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
