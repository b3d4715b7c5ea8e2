/* launch.c: running a grid functionally.
 *
 * CTAs run in the order of their numbers, one after another. A CTA that only waits lets the next one become
 * resident beside it; resident CTAs then take turns. A cooperative launch has all of its CTAs resident from
 * the start. The order depends on nothing but the program: the same launch gives the same result every
 * time. */
#include "emu/grid.h"
#include "emu/step.h"

struct residents {
    struct cta **slots;
    uint32_t count;
    uint64_t max;
    uint64_t next; /* number of the CTA that starts next */
};

static bool admit(struct run *r, struct residents *s)
{
    if (s->next >= r->ctas || s->count >= s->max) return true;
    struct cta *c = mem_zalloc(sizeof *c);
    if (!cta_create(c, r)) {
        free(c);
        return false;
    }
    s->slots[s->count++] = c;
    cta_start(c, s->next++);
    return true;
}

/* One turn of a resident CTA; false: the run has failed. */
static bool turn(struct run *r, struct residents *s, struct cta *c)
{
    switch (cta_run(c)) {
    case CTA_FAULT: return false;
    case CTA_YIELD:
        (void)admit(r, s);
        return true; /* without memory for another CTA the resident ones continue */
    case CTA_DONE:
        if (s->next < r->ctas) cta_start(c, s->next++);
        return true;
    }
    UNREACHABLE("end of a CTA's turn");
}

static bool run_ctas(struct run *r, struct residents *s)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (uint32_t k = 0; k < s->count; k++) {
            if (s->slots[k]->busy && !turn(r, s, s->slots[k])) return false;
            busy |= s->slots[k]->busy;
        }
    }
    return true;
}

static void run_grid(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                     struct emu_fault *fault)
{
    struct run r;
    if (!run_open(&r, d, l, fault)) return;
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
