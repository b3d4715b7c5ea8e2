/* records.c: see records.h. */
#include "core/records.h"

#include "core/snapshot.h"

void records_init(struct records *r, bool has_timeline)
{
    *r = (struct records){.has_timeline = has_timeline};
}

void records_add_kernel(struct records *r, const struct timed_kernel *k, const struct emu_stats *emu)
{
    vec_push(&r->kernels, *k);
    vec_push(&r->kernel_emu, *emu);
}

void records_add_sample(struct records *r, const struct timed_sample *s) { vec_push(&r->samples, *s); }

void records_add_cta(struct records *r, const struct timed_cta *c)
{
    assert(r->has_timeline && c->end_cycle >= c->start_cycle);
    vec_push(&r->ctas, *c);
}

void records_add_transfer(struct records *r, const struct timed_transfer *t)
{
    assert(r->has_timeline && t->end_cycle >= t->start_cycle);
    vec_push(&r->transfers, *t);
}

void records_free(struct records *r, uint32_t group_count)
{
    for (uint32_t i = 0; i < r->kernels.len; i++) {
        free((char *)(uintptr_t)r->kernels.data[i].name);
        free(r->kernels.data[i].loads);
        snapshot_free(r->kernels.data[i].stats, group_count);
    }
    for (uint32_t i = 0; i < r->samples.len; i++) snapshot_free(r->samples.data[i].stats, group_count);
    vec_free(&r->kernels);
    vec_free(&r->kernel_emu);
    vec_free(&r->samples);
    vec_free(&r->ctas);
    vec_free(&r->transfers);
}
