/* kept.c: see kept.h. Records are the structs of records.h with what their pointers point to behind them;
 * the state is the time, the totals of all groups and, where asked for, the caches one by one. */
#include "core/kept.h"

#include "core/timed_impl.h"

void kept_run_free(struct kept_run *k) { arena_free(&k->memory); }

enum kept_kind { KEPT_KERNEL, KEPT_SAMPLE, KEPT_CTA, KEPT_TRANSFER, KEPT_NOTE };

struct kept {
    struct timed_gpu *gpu;
    struct journal *journal;
    bool with_parts;
    /* How many of each are in the journal; notes: by SM. */
    uint32_t kernels, samples, ctas, transfers, *notes;
    struct strbuf text;
};

struct kept_state {
    tick now;
    double host_seconds;
    uint64_t notes_dropped;
    bool with_parts, has_ended;
};

struct kept_kernel {
    struct timed_kernel kernel;
    struct emu_stats emu;
    /* Load instructions that were executed: a number and a struct each. */
    uint32_t loads;
    size_t name_bytes, limit_bytes;
};

struct kept_load {
    uint32_t pc;
    struct pc_load_stats stats;
};

struct kept_note {
    uint32_t sm;
    struct mech_note note;
};

static void put(struct strbuf *out, const void *data, size_t bytes) { strbuf_add(out, data, bytes); }

/* ---- writing: the state ---- */

static void put_groups(const struct timed_gpu *g, void *const *stats, struct strbuf *out)
{
    for (uint32_t i = 0; i < g->snapshots.group_count; i++) put(out, stats[i], g->snapshots.groups[i].bytes);
}

static void put_parts(const struct timed_gpu *g, struct strbuf *out)
{
    const struct timed_group *groups = g->snapshots.groups;
    for (uint32_t i = 0; i < timed_sm_count(g); i++) put(out, timed_l1_stats(g, i), groups[GROUP_L1].bytes);
    for (uint32_t i = 0; i < timed_slice_count(g); i++)
        put(out, timed_slice_stats(g, i), groups[GROUP_L2].bytes);
}

static void put_state(struct kept *k, struct strbuf *out)
{
    const struct timed_gpu *g = k->gpu;
    struct kept_state state;
    memset(&state, 0, sizeof state);
    state.now = g->time.now;
    state.host_seconds = timed_host_seconds(g);
    for (uint32_t sm = 0; sm < timed_sm_count(g); sm++)
        state.notes_dropped += mech_gpu_notes(g->wiring.mech_gpu, sm)->dropped;
    state.with_parts = k->with_parts;
    state.has_ended = run_has_ended(&g->end);
    put(out, &state, sizeof state);
    void **totals = snapshot_take(&g->snapshots);
    put_groups(g, totals, out);
    snapshot_free(totals, g->snapshots.group_count);
    if (k->with_parts) put_parts(g, out);
}

/* ---- writing: records ---- */

static uint32_t put_loads(const struct timed_kernel *t, struct strbuf *out)
{
    uint32_t count = 0;
    for (uint32_t pc = 0; t->loads && pc < t->load_count; pc++) {
        if (!t->loads[pc].executions) continue;
        struct kept_load load;
        memset(&load, 0, sizeof load);
        load.pc = pc;
        load.stats = t->loads[pc];
        put(out, &load, sizeof load);
        count++;
    }
    return count;
}

static void add_kernel(struct kept *k, uint32_t i)
{
    const struct timed_gpu *g = k->gpu;
    const struct timed_kernel *t = timed_kernel_at(g, i);
    struct kept_kernel head = {.kernel = *t, .emu = *timed_kernel_emu(g, i), .name_bytes = strlen(t->name)};
    head.limit_bytes = t->limit ? strlen(t->limit) : 0;
    k->text.len = 0;
    put(&k->text, &head, sizeof head);
    put_groups(g, t->stats, &k->text);
    head.loads = put_loads(t, &k->text);
    memcpy(k->text.data, &head, sizeof head);
    put(&k->text, t->name, head.name_bytes);
    if (t->limit) put(&k->text, t->limit, head.limit_bytes);
    journal_add(k->journal, KEPT_KERNEL, k->text.data, k->text.len);
}

static void add_sample(struct kept *k, uint32_t i)
{
    const struct timed_sample *s = timed_sample_at(k->gpu, i);
    k->text.len = 0;
    put(&k->text, s, sizeof *s);
    put_groups(k->gpu, s->stats, &k->text);
    journal_add(k->journal, KEPT_SAMPLE, k->text.data, k->text.len);
}

static void add_notes(struct kept *k, uint32_t sm)
{
    const struct mech_notes *notes = mech_gpu_notes(k->gpu->wiring.mech_gpu, sm);
    for (uint32_t *done = &k->notes[sm]; *done < notes->items.len; ++*done) {
        struct kept_note n;
        memset(&n, 0, sizeof n);
        n.sm = sm;
        n.note = notes->items.data[*done];
        journal_add(k->journal, KEPT_NOTE, &n, sizeof n);
    }
}

static void add_fresh(struct kept *k)
{
    const struct timed_gpu *g = k->gpu;
    while (k->kernels < timed_kernel_count(g)) add_kernel(k, k->kernels++);
    while (k->samples < timed_sample_count(g)) add_sample(k, k->samples++);
    for (; k->ctas < timed_cta_count(g); k->ctas++)
        journal_add(k->journal, KEPT_CTA, timed_cta_at(g, k->ctas), sizeof(struct timed_cta));
    for (; k->transfers < timed_transfer_count(g); k->transfers++)
        journal_add(k->journal, KEPT_TRANSFER, timed_transfer_at(g, k->transfers),
                    sizeof(struct timed_transfer));
    for (uint32_t sm = 0; sm < timed_sm_count(g); sm++) add_notes(k, sm);
}

bool kept_update(struct kept *k)
{
    add_fresh(k);
    k->text.len = 0;
    put_state(k, &k->text);
    return journal_commit(k->journal, k->text.data);
}

struct kept *kept_create(struct timed_gpu *g, struct journal *j, bool with_parts)
{
    struct kept *k = mem_zalloc(sizeof *k);
    *k = (struct kept){.gpu = g, .journal = j, .with_parts = with_parts};
    k->notes = mem_zalloc(sizeof *k->notes * timed_sm_count(g));
    put_state(k, &k->text); /* all states have the size of this one */
    journal_begin(j, k->text.len);
    return k;
}

void kept_destroy(struct kept *k)
{
    if (!k) return;
    free(k->notes);
    strbuf_free(&k->text);
    free(k);
}

/* ---- reading ---- */

static void take(const char **from, void *to, size_t bytes)
{
    memcpy(to, *from, bytes);
    *from += bytes;
}

static void **take_groups(const struct timed_gpu *g, const char **from)
{
    const struct snapshots *s = &g->snapshots;
    void **stats = mem_zalloc(sizeof *stats * s->group_count);
    for (uint32_t i = 0; i < s->group_count; i++) {
        stats[i] = mem_zalloc(s->groups[i].bytes);
        take(from, stats[i], s->groups[i].bytes);
    }
    return stats;
}

/* Copies the pieces into separate memory, which the records free. */
static char *take_text(const char **from, size_t bytes)
{
    char *text = mem_zalloc(bytes + 1);
    take(from, text, bytes);
    return text;
}

static void restore_kernel(struct timed_gpu *g, const char *from)
{
    struct kept_kernel head;
    take(&from, &head, sizeof head);
    struct timed_kernel t = head.kernel;
    t.stats = take_groups(g, &from);
    t.loads = t.loads ? mem_zalloc(sizeof *t.loads * (t.load_count + 1)) : NULL;
    for (uint32_t i = 0; i < head.loads; i++) {
        struct kept_load load;
        take(&from, &load, sizeof load);
        assert(load.pc < t.load_count);
        t.loads[load.pc] = load.stats;
    }
    t.name = take_text(&from, head.name_bytes);
    if (t.limit) t.limit = arena_strndup(&g->kept.memory, from, head.limit_bytes);
    records_add_kernel(&g->records, &t, &head.emu);
}

static void restore_sample(struct timed_gpu *g, const char *from)
{
    struct timed_sample s;
    take(&from, &s, sizeof s);
    s.stats = take_groups(g, &from);
    records_add_sample(&g->records, &s);
}

static void restore_record(struct timed_gpu *g, uint32_t kind, const char *from)
{
    struct timed_cta cta;
    struct timed_transfer transfer;
    struct kept_note note;
    switch ((enum kept_kind)kind) {
    case KEPT_KERNEL: restore_kernel(g, from); return;
    case KEPT_SAMPLE: restore_sample(g, from); return;
    case KEPT_CTA: take(&from, &cta, sizeof cta), records_add_cta(&g->records, &cta); return;
    case KEPT_TRANSFER:
        take(&from, &transfer, sizeof transfer), records_add_transfer(&g->records, &transfer);
        return;
    case KEPT_NOTE:
        take(&from, &note, sizeof note);
        mech_notes_add(mech_gpu_notes(g->wiring.mech_gpu, note.sm), &note.note);
        return;
    }
    UNREACHABLE("kind of kept record");
}

static void **take_parts(struct timed_gpu *g, const char **from, uint32_t count, size_t bytes)
{
    void **parts = ARENA_ARRAY(&g->kept.memory, void *, count);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = arena_alloc(&g->kept.memory, bytes);
        take(from, parts[i], bytes);
    }
    return parts;
}

static void restore_parts(struct timed_gpu *g, const char *from)
{
    const struct timed_group *groups = g->snapshots.groups;
    g->kept.l1s = take_parts(g, &from, timed_sm_count(g), groups[GROUP_L1].bytes);
    g->kept.l2s = take_parts(g, &from, timed_slice_count(g), groups[GROUP_L2].bytes);
}

void kept_restore(struct timed_gpu *g, struct journal_view *v, bool partial)
{
    assert(!timed_kernel_count(g) && !timed_pending(g));
    struct kept_state state;
    const char *from = v->state;
    take(&from, &state, sizeof state);
    gpu_time_move(&g->time, state.now);
    g->kept.host_seconds = state.host_seconds;
    snapshot_fix(&g->snapshots, take_groups(g, &from));
    if (state.with_parts) restore_parts(g, from);
    uint32_t kind;
    const void *data;
    for (size_t bytes; journal_view_next(v, &kind, &data, &bytes);) restore_record(g, kind, data);
    mech_gpu_notes(g->wiring.mech_gpu, 0)->dropped += state.notes_dropped;
    if (partial || state.has_ended)
        run_end_set(&g->end, END_INTERRUPTED, EMU_INTERRUPTED, "heddle: the program ended\n");
}
