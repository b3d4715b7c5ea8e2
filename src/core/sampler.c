/* sampler.c: see sampler.h. */
#include "core/sampler.h"

void sampler_init(struct sampler *s, const struct snapshots *snapshots, uint64_t cycles)
{
    *s = (struct sampler){.next = TICK_NEVER};
    if (!cycles) return;
    s->next = s->interval = cycles * gpu_time_period(snapshots->time, DOMAIN_CORE);
    s->before = snapshot_take(snapshots);
}

void sampler_close(struct sampler *s, uint32_t group_count) { snapshot_free(s->before, group_count); }

void sampler_take(struct sampler *s, const struct snapshots *snapshots, struct records *records)
{
    const struct gpu_time *time = snapshots->time;
    assert(time->now == s->next);
    const struct timed_sample sample = {.start_cycle =
                                            (s->next - s->interval) / gpu_time_period(time, DOMAIN_CORE),
                                        .end_cycle = gpu_time_cycle(time),
                                        .stats = snapshot_since(snapshots, s->before)};
    snapshot_free(s->before, snapshots->group_count);
    s->before = snapshot_take(snapshots);
    s->next += s->interval;
    records_add_sample(records, &sample);
}
