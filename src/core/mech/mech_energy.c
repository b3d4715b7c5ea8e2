/* mech_energy.c: see mech_energy.h. */
#include "core/mech/mech_energy.h"

#include "core/machine.h"

void mech_energy_gather(struct mech_energy *e, const struct mech_set *set)
{
    VEC(const struct energy_row *) rows = {0};
    for (uint32_t i = 0; i < mech_set_count(set); i++)
        for (const struct energy_row *r = mech_set_at(set, i)->energy; r && r->name; r++) vec_push(&rows, r);
    *e = (struct mech_energy){.rows = rows.data, .count = rows.len};
}

void mech_energy_free(struct mech_energy *e)
{
    free(e->rows);
    *e = (struct mech_energy){0};
}

struct energy_source mech_energy_source(const struct machine *m, const struct mech_energy *rows)
{
    struct machine real = *m;
    machine_apply_ideal(&real);
    return (struct energy_source){.core_khz = real.core_clock_khz,
                                  .sms = real.sm_count,
                                  .request_flit = real.xbar.request_flit,
                                  .reply_flit = real.xbar.reply_flit,
                                  .burst_bytes = real.dram.bus_bytes * real.dram.burst,
                                  .rows = rows->rows,
                                  .row_count = rows->count};
}

bool mech_energy_load(struct energy_table *t, const char *name, const struct mech_set *set,
                      struct diag_list *diags)
{
    VEC(const char *) names = {0};
    for (const struct mechanism *const *b = mech_builtin; *b; b++)
        for (const struct energy_row *r = (*b)->energy; r && r->name; r++) vec_push(&names, r->name);
    for (uint32_t i = 0; i < mech_set_count(set); i++)
        for (const struct energy_row *r = mech_set_at(set, i)->energy; r && r->name; r++)
            if (mech_set_is_plugin(set, i)) vec_push(&names, r->name);
    const struct energy_place place = {.dir = machine_data_dir(), .rows = names.data, .row_count = names.len};
    const bool ok = energy_load(t, name, &place, diags);
    vec_free(&names);
    return ok;
}
