/* profile_experiment.c: the experiments whose runs are a profile: see profile_runs.h. Texts are quoted as
 * JSON, which YAML reads as well. */
#include "lab/profile_runs.h"
#include "stats/json.h"

static void put_sets(const char *const *sets, uint32_t count, struct strbuf *out)
{
    strbuf_putc(out, '{');
    for (uint32_t i = 0; i < count; i++) {
        const size_t len = strcspn(sets[i], "=");
        char *name = mem_strdup(sets[i]);
        name[len] = 0;
        if (i) strbuf_puts(out, ", ");
        json_string(out, name);
        strbuf_puts(out, ": ");
        json_string(out, sets[i][len] ? sets[i] + len + 1 : "");
        free(name);
    }
    strbuf_putc(out, '}');
}

static void put_head(const struct profile_ask *ask, const struct profile_workload *workloads, uint32_t count,
                     struct strbuf *out)
{
    strbuf_puts(out, "title: warp tuples\nmachine: ");
    json_string(out, ask->machine);
    if (ask->set_count) {
        strbuf_puts(out, "\nset: ");
        put_sets(ask->sets, ask->set_count, out);
    }
    strbuf_puts(out, "\nworkloads: [");
    for (uint32_t i = 0; i < count; i++) {
        strbuf_puts(out, i ? ", {name: " : "{name: ");
        json_string(out, workloads[i].name);
        strbuf_puts(out, ", size: ");
        json_string(out, workloads[i].size);
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "]\nmeasures: {cycles: cycles}\n"
                     "figures: [{id: cycles, draw: table, measures: [cycles]}]\n"
                     "columns:\n  " PROFILE_ALL ": {}\n");
}

void profile_write_baseline(const struct profile_ask *ask, const struct profile_workload *workloads,
                            uint32_t count, struct strbuf *out)
{
    put_head(ask, workloads, count, out);
}

void profile_write_grid(const struct profile_ask *ask, const struct profile_workload *w, uint32_t most,
                        const char *const *poise_sets, struct strbuf *out)
{
    uint32_t values[PROFILE_WARPS_MAX], poise_count = 0;
    const uint32_t step = ask->step ? ask->step : (most + PROFILE_VALUES - 3) / (PROFILE_VALUES - 1);
    const uint32_t count = profile_grid(most, MAX(step, 1u), values);
    put_head(ask, w, 1, out);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k <= i; k++) {
            if (i == count - 1 && k == i) continue; /* all warps: the baseline */
            strbuf_printf(out, "  \"%u,%u\": {mech: tuple, mech_set: {tuple.n: %u, tuple.p: %u}}\n",
                          values[i], values[k], values[i], values[k]);
        }
    if (!poise_sets) return;
    while (poise_sets[poise_count]) poise_count++;
    strbuf_puts(out, "  " PROFILE_POISE ": {mech: poise, mech_set: ");
    put_sets(poise_sets, poise_count, out);
    strbuf_puts(out, "}\n");
}
