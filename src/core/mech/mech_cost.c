/* mech_cost.c: see mech_cost.h. Rows of a plug-in are checked like everything else that it provides. */
#include "core/mech/mech_cost.h"

#include "core/machine.h"
#include "core/mech/mech_check.h"
#include "core/mech/mech_gpu.h"

struct mech_machine mech_machine_of(const struct machine *m)
{
    enum { LANES = 32 };
    const uint32_t lines = (uint32_t)MAX(m->l1.size / m->l1.line, 1), ways = MIN(m->l1.ways, lines);
    return (struct mech_machine){.name = m->name,
                                 .sm_count = m->sm_count,
                                 .warps = m->sm_warps,
                                 .schedulers = m->sm.schedulers,
                                 .line_bytes = m->l1.line,
                                 .prefetch_queue = m->sm.prefetch_queue,
                                 .l1_caches_global = m->l1.cache_global,
                                 .l1_sets = lines / ways,
                                 .l1_ways = ways,
                                 .register_rows = m->sm_registers / LANES,
                                 .ctas = m->sm_ctas,
                                 .l2_slices = m->addrmap.channels * m->addrmap.slices,
                                 .ring_queue = m->ring.queue,
                                 .ring_request_buffer = m->ring.request_buffer,
                                 .ring_response_buffer = m->ring.response_buffer};
}

/* ---- asking ---- */

struct cost_question {
    const struct mechanism *mech;
    /* outlives the hook: the message of a failure reads it */
    struct mech_caller caller;
    const void *params;
    const struct mech_machine *machine;
    enum mech_fit fit;
    char reason[MECH_REASON_BYTES];
    struct mech_cost *cost;
};

static void ask_cost(void *question)
{
    struct cost_question *q = question;
    const struct mech_mark outer = mech_mark_begin(&q->caller, "check");
    if (q->mech->check) q->fit = q->mech->check(q->params, q->machine, q->reason);
    mech_mark_end(outer);
    if (q->fit != MECH_FITS && q->fit != MECH_FITS_POORLY) return;
    mech_mark_begin(&q->caller, "cost");
    if (q->mech->cost) q->mech->cost(q->params, q->machine, q->cost);
    mech_mark_end(outer);
}

/* False: the mechanism failed, which is an error in itself. */
static bool ask_guarded(struct cost_question *q, bool is_plugin, struct diag_list *diags)
{
    struct mech_failure failure;
    if (is_plugin) mech_guard_arm();
    const bool ok = mech_guard_call(ask_cost, q, &failure);
    if (is_plugin) mech_guard_disarm();
    if (!ok) mech_error(diags, NULL, "%s", failure.text);
    return ok;
}

/* ---- checking ---- */

static const char *row_fault(const struct mech_cost *c, uint32_t i)
{
    const struct mech_storage *r = &c->rows[i];
    if (!r->name || !mech_is_word(r->name)) return "its name must be of letters, digits, '-' and '_'";
    if (!r->help || (unsigned)r->scope > MECH_WHOLE_GPU) return "it is not complete: use mech_cost_add";
    uint64_t product;
    if (__builtin_mul_overflow(r->entries, r->bits, &product)) return "it has too many bits";
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(c->rows[k].name, r->name)) return "there are two rows of this name";
    return NULL;
}

static bool check_rows(const struct mechanism *m, const struct mech_cost *c, struct diag_list *diags)
{
    if (c->count > MECH_STORAGE_MAX) {
        mech_error(diags, NULL, "mechanism '%s' has %u rows of storage; at most %d can be had", m->name,
                   c->count, (int)MECH_STORAGE_MAX);
        return false;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const char *fault = row_fault(c, i);
        if (!fault) continue;
        mech_error(diags, NULL, "mechanism '%s', row %u of its storage ('%s'): %s", m->name, i + 1,
                   c->rows[i].name ? c->rows[i].name : "", fault);
        return false;
    }
    return true;
}

bool mech_cost_of(const struct mech_set *set, uint32_t i, const struct mech_machine *machine,
                  struct mech_cost *out, struct diag_list *diags)
{
    const struct mechanism *m = mech_set_at(set, i);
    struct cost_question q = {.mech = m,
                              .caller = {.mechanism = m->name},
                              .params = mech_set_params(set, i),
                              .machine = machine,
                              .cost = out};
    *out = (struct mech_cost){.count = 0};
    if (!ask_guarded(&q, mech_set_is_plugin(set, i), diags)) return false;
    if (q.fit != MECH_FITS && q.fit != MECH_FITS_POORLY) {
        q.reason[MECH_REASON_BYTES - 1] = 0;
        mech_error(diags, NULL, "mechanism '%s': %s", m->name, q.reason);
        return false;
    }
    return check_rows(m, out, diags);
}

/* ---- sums ---- */

const char *mech_scope_text(enum mech_scope scope)
{
    static const char *const texts[] = {[MECH_EACH_SM] = "of an SM",
                                        [MECH_EACH_SLICE] = "of a slice of the L2",
                                        [MECH_WHOLE_GPU] = "of the GPU"};
    return texts[scope];
}

uint32_t mech_scope_count(enum mech_scope scope, const struct mech_machine *machine)
{
    switch (scope) {
    case MECH_EACH_SM: return machine->sm_count;
    case MECH_EACH_SLICE: return machine->l2_slices;
    case MECH_WHOLE_GPU: return 1;
    }
    UNREACHABLE("a scope that was not checked");
}

double mech_cost_bytes(const struct mech_cost *c, const struct mech_machine *machine)
{
    double bytes = 0;
    for (uint32_t i = 0; i < c->count; i++)
        bytes += mech_scope_count(c->rows[i].scope, machine) * mech_storage_bytes(&c->rows[i]);
    return bytes;
}
