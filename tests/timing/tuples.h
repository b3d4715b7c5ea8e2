/* tuples.h: runs with warp tuples, whose windows are short enough for these kernels. */
#ifndef HEDDLE_TESTS_TUPLES_H
#define HEDDLE_TESTS_TUPLES_H

#include "timing_kit.h"

static const struct {
    const char *mech, *settings[4];
    uint32_t count;
} tuples[] = {
    {"tuple", {"tuple.n=3", "tuple.p=1"}, 2},
    {"pcal", {"pcal.window=150", "pcal.start_n=2"}, 2},
    {"pcal", {"pcal.window=150", "pcal.start=ccws"}, 2},
    {"poise", {"poise.period=1500", "poise.warmup=20", "poise.feature=100", "poise.correct=50"}, 4}};

static inline struct rig_options tuple_options(size_t i)
{
    return (struct rig_options){.timed = {.mechs = &tuples[i].mech,
                                          .mech_count = 1,
                                          .mech_settings = tuples[i].settings,
                                          .mech_setting_count = tuples[i].count}};
}

#endif
