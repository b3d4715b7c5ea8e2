/* records.h: what a run leaves behind: a record of each kernel, sample, CTA and copy, in the order of
 * their ends. */
#ifndef HEDDLE_RECORDS_H
#define HEDDLE_RECORDS_H

#include "base/vec.h"
#include "emu/emu.h"
#include "stats/run.h"

/* Written by records.c alone; others read. */
struct records {
    /* keep CTAs and copies too */
    bool has_timeline;
    VEC(struct timed_kernel) kernels;
    /* [kernel]: what it executed; zeros where it was not finished */
    VEC(struct emu_stats) kernel_emu;
    VEC(struct timed_sample) samples;
    VEC(struct timed_cta) ctas;
    VEC(struct timed_transfer) transfers;
};

void records_init(struct records *r, bool has_timeline);
/* Names, load tables and statistics of these belong to the records from here on. */
void records_add_kernel(struct records *r, const struct timed_kernel *k, const struct emu_stats *emu);
void records_add_sample(struct records *r, const struct timed_sample *s);
/* Only with has_timeline. */
void records_add_cta(struct records *r, const struct timed_cta *c);
void records_add_transfer(struct records *r, const struct timed_transfer *t);
/* group_count: structs of a snapshot (snapshot.h). */
void records_free(struct records *r, uint32_t group_count);

#endif
