/* bench_latency.c: latency against load for each level of the memory, with the ceilings that follow from the
 * configuration, as Markdown on stdout.
 *
 *   bench_latency [MACHINE [KEY=VALUE ...]]      fermi
 *
 * bench/latency.sh puts the table into docs/validation.md. */
#include "latency.h"

#include <inttypes.h>

static const char *const level_names[] = {"L1 hits", "L2 hits", "DRAM"};
/* A row of the table: one warp on one SM (an idle machine), then on all of them. */
static const uint32_t warp_steps[] = {1, 2, 4, 8, 12, 16, 24, 32, 48};

static double ceiling_of(const struct latency_ceilings *c, enum latency_level level)
{
    double below = c->l2_port < c->xbar_reply ? c->l2_port : c->xbar_reply;
    if (c->xbar_request < below) below = c->xbar_request;
    if (level == LATENCY_L1) return c->l1;
    if (level == LATENCY_L2) return below;
    return c->dram < below ? c->dram : below;
}

static bool print_row(struct latency_rig *r, enum latency_level level, uint32_t sms, uint32_t warps,
                      double ceiling)
{
    printf("| %" PRIu32 " x %" PRIu32 " |", sms, warps);
    for (int stream = 0; stream < 2; stream++) {
        struct latency_point p;
        struct latency_load load = {level, stream, sms, warps};
        uint32_t rounds = level == LATENCY_L1 ? 3200 / (sms * warps) + 200 : 600 / (sms * warps) + 24;
        if (!latency_measure(r, &load, rounds, &p)) return false;
        printf(" %.1f | %.0f%% |", p.gbs, 100 * p.gbs / ceiling);
        if (level != LATENCY_L1) printf(" %.1f |", p.aml);
        printf(" %.1f |", p.step);
    }
    printf("\n");
    return true;
}

static bool print_level(struct latency_rig *r, enum latency_level level, const struct latency_ceilings *c)
{
    double ceiling = ceiling_of(c, level);
    printf("\n%s, %" PRIu32 " KB; ceiling %.1f GB/s\n\n", level_names[level],
           latency_lines(&r->machine, level) * LATENCY_LINE / 1024, ceiling);
    if (level == LATENCY_L1)
        printf("| SMs x warps | random GB/s | of ceiling | step | streaming GB/s | of ceiling | step "
               "|\n|---|---|---|---|---|---|---|\n");
    else
        printf("| SMs x warps | random GB/s | of ceiling | AML | step | streaming GB/s | of ceiling | AML | "
               "step |\n"
               "|---|---|---|---|---|---|---|---|---|\n");
    if (!print_row(r, level, 1, 1, ceiling)) return false;
    for (size_t i = 0; i < ARRAY_LEN(warp_steps) && warp_steps[i] <= r->machine.sm_warps; i++)
        if (!print_row(r, level, r->machine.sm_count, warp_steps[i], ceiling)) return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct latency_rig r;
    struct diag_list diags = {0};
    const char *const *sets = argc > 2 ? (const char *const *)argv + 2 : NULL;
    if (!latency_open(&r, argc > 1 ? argv[1] : "fermi", sets, argc > 2 ? (uint32_t)argc - 2 : 0, &diags)) {
        struct strbuf text = {0};
        diag_render(&diags, &text);
        fprintf(stderr, "%s", strbuf_text(&text));
        return 1;
    }
    struct latency_ceilings c = latency_ceilings(&r.machine);
    printf("Ceilings of `%s`, GB/s of 128-byte lines: L1 %.1f (all SMs), crossbar requests %.1f,\n"
           "crossbar replies %.1f, L2 data ports %.1f, DRAM pins %.1f.\n",
           r.machine.name, c.l1, c.xbar_request, c.xbar_reply, c.l2_port, c.dram);
    bool ok = true;
    for (enum latency_level level = LATENCY_L1; ok && level < LATENCY_LEVELS; level++)
        ok = print_level(&r, level, &c);
    latency_close(&r);
    diag_free(&diags);
    return ok ? 0 : 1;
}
