/* profile_table.c: see profile_table.h. */
#include "lab/profile_table.h"

#include "lab/profile_score.h"

#include <inttypes.h>

static void put_tuple(const struct profile_kernel *k, const struct profile_point *at, struct strbuf *out)
{
    char tuple[24];
    snprintf(tuple, sizeof tuple, "(%u, %u)", at->n, at->p);
    strbuf_printf(out, " %8s %6.3f", tuple, profile_speedup(k, at));
}

void profile_print(const struct profile *p, struct strbuf *out)
{
    strbuf_printf(out, "%-12s %6s %-22s %5s %10s %8s %6s %8s %6s\n", "workload", "launch", "kernel", "warps",
                  "cycles", "fastest", "", "target", "");
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        const struct profile_kernel *k = &p->kernels.data[i];
        strbuf_printf(out, "%-12.12s %6" PRIu64 " %-22.22s %5u %10" PRIu64, k->workload, k->launch, k->name,
                      k->warps, k->cycles);
        put_tuple(k, profile_fastest(k), out);
        put_tuple(k, profile_target(k), out);
        strbuf_putc(out, '\n');
    }
}
