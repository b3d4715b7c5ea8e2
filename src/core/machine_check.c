/* machine_check.c: see machine_check.h. Each component checks its own parameters; parameters of two
 * components are compared here. */
#include "core/machine_check.h"

#include "core/gpu_clock.h"
#include "core/machine_size.h"
#include "core/sm/sm.h"
#include "core/sm/split.h"

/* The address map must hold whole lines of the L2, and name no more banks than DRAM has. */
static bool check_map(const struct machine *m, struct diag_list *diags)
{
    struct addrmap *map = addrmap_create(&m->addrmap, diags);
    if (!map) return false;
    bool ok = !is_pow2_u64(m->l2.line) || addrmap_check_line(map, m->l2.line, diags);
    ok = dram_check(&m->dram, map, diags) && ok;
    addrmap_destroy(map);
    return ok;
}

static bool check_clocks(const struct machine *m, struct diag_list *diags)
{
    const uint32_t khz[DOMAIN_COUNT] = {m->core_clock_khz, m->xbar_clock_khz, m->l2_clock_khz,
                                        m->dram_clock_khz};
    struct gpu_clock clock;
    return gpu_clock_init(&clock, khz, diags);
}

bool machine_check(const struct machine *m, struct diag_list *diags)
{
    bool ok = l1_params_check(&m->l1, diags);
    ok = sm_params_check(&m->sm, diags) && ok;
    ok = split_check(m, diags) && ok;
    ok = residency_check(m, diags) && ok;
    ok = l2_check(&m->l2, diags) && ok;
    ok = machine_size_check(m, diags) && ok;
    ok = check_clocks(m, diags) && ok;
    return check_map(m, diags) && ok;
}
