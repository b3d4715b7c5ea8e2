/* launch.c: running a grid functionally.
 *
 * CTAs become resident in the order of their numbers, as many as the device holds, and take turns. A CTA that
 * has not ended when its first turn is over lets the next one become resident beside it; one that ends makes
 * room for the next. So CTAs that end within a turn run one after another in the same memory, which stays in
 * the host's cache, and all others run side by side. A cooperative launch has all of its CTAs resident from
 * the start. The order depends on nothing but the program and the machine: the same launch gives the same
 * result every time. */
#include "emu/idle.h"
#include "emu/races.h"
#include "emu/step.h"

/* The host's memory for CTAs that run side by side. Only CTAs that wait for others take more. */
static const uint64_t RESIDENT_BYTES = 1ull << 30;

struct residents {
    struct cta **slots;
    uint32_t count;
    uint64_t max;
    /* number of the CTA that starts next */
    uint64_t next;
    /* some had not ended in the last round */
    bool busy;
};

/* One more CTA becomes resident, if there is one and the device has room. False: the host has no memory. */
static bool admit(struct run *r, struct residents *s)
{
    if (s->next >= r->ctas || s->count >= s->max) return true;
    void *block = stage_take(&r->device->stage, cta_block_bytes(r));
    struct cta *c = mem_zalloc(sizeof *c);
    if (!block || !cta_place(c, r, block)) {
        free(c);
        return false;
    }
    s->slots[s->count++] = c;
    if (r->idle) idle_note_change(r->idle);
    cta_start(c, s->next++);
    return true;
}

/* One turn of a resident CTA; false: the run has failed. Without memory for another CTA the resident ones
 * continue. */
static bool turn(struct run *r, struct residents *s, struct cta *c)
{
    switch (cta_run(c)) {
    case CTA_FAULT: return false;
    case CTA_YIELD: (void)admit(r, s); return true;
    case CTA_TURN_OVER:
        if (cta_bytes(r) * (s->count + 1) <= RESIDENT_BYTES) (void)admit(r, s);
        return true;
    case CTA_DONE:
        if (s->next < r->ctas) cta_start(c, s->next++);
        return true;
    }
    UNREACHABLE("end of a CTA's turn");
}

/* One turn of each resident CTA. False: the run has failed. */
static bool take_round(struct run *r, struct residents *s)
{
    s->busy = false;
    for (uint32_t k = 0; k < s->count; k++) {
        struct cta *c = s->slots[k];
        if (c->busy && !turn(r, s, c)) return false;
        if (r->idle && !idle_is_over(r->idle)) idle_look(r->idle, c);
        s->busy |= c->busy;
    }
    return true;
}

/* Watches the grid for a few rounds. False: the run has failed, or the grid is stuck. */
static bool check_idle(struct run *r, struct residents *s)
{
    /* each leaf of a warp gets its turn */
    enum { ROUNDS = ISA_LANES };
    const struct idle_grid g = {s->slots, s->count, r->ctas - s->next};
    struct idle *watch = idle_begin(r, &g);
    bool ok = true;
    for (uint32_t n = 0; ok && n < ROUNDS && !idle_is_over(watch); n++) ok = take_round(r, s);
    if (ok && idle_is_stuck(watch, &g)) {
        (void)admit(r, s); /* they may wait for a CTA that had to wait for the host's memory */
        ok = s->count > g.count;
        if (!ok) idle_report(watch, &g);
    }
    idle_end(watch);
    return ok;
}

static bool run_ctas(struct run *r, struct residents *s)
{
    /* Instructions before the first check: a fraction of a second. Later ones are farther apart, so that a
     * long run spends hardly any time on them. */
    const uint64_t first = 1 << 21, begin = r->device->insts;
    uint64_t next = begin + first;
    for (s->busy = true; s->busy;) {
        if (!take_round(r, s)) return false;
        if (!s->busy || r->device->insts < next) continue;
        if (!check_idle(r, s)) return false;
        next = r->device->insts + MAX(first, (r->device->insts - begin) / 8);
    }
    return true;
}

static void run_grid(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                     struct emu_fault *fault)
{
    struct run r;
    if (!run_open(&r, d, l, fault)) return;
    if (d->finds_races) r.races = races_open(&r);
    struct residents s = {.max = MIN(launch_resident_max(&d->limits, l, r.threads), r.ctas)};
    s.slots = mem_zalloc(sizeof *s.slots * s.max);
    uint64_t first = l->cooperative ? r.ctas : 1;
    bool fits = true;
    while (fits && s.count < first) fits = admit(&r, &s);
    if (!fits)
        run_refuse(fault, l->kernel, "the host has no memory for %llu resident blocks",
                   (unsigned long long)first);
    else
        run_ctas(&r, &s);
    if (stats) run_add_stats(&r, r.ctas, stats);
    for (uint32_t k = 0; k < s.count; k++) {
        cta_free(s.slots[k]);
        free(s.slots[k]);
    }
    free(s.slots);
    stage_clear(&d->stage);
    if (r.races) races_close(r.races);
    run_close(&r);
}

void emu_env_enter(fenv_t *host)
{
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

void emu_env_leave(const fenv_t *host) { fesetenv(host); }

enum emu_fault_kind emu_run(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                            struct emu_fault *fault)
{
    *fault = (struct emu_fault){.kind = EMU_OK};
    enum emu_fault_kind bad = emu_check_launch(d, l, fault);
    if (bad) return bad;
    fenv_t host;
    emu_env_enter(&host);
    run_grid(d, l, stats, fault);
    emu_env_leave(&host);
    return fault->kind;
}
