/* timed_options.h: the options of a timed run, shared by the commands that run something. */
#ifndef HEDDLE_TIMED_OPTIONS_H
#define HEDDLE_TIMED_OPTIONS_H

#include "cli/cli.h"
#include "core/timed.h"

struct cli_timed {
    bool functional, no_skip, json, quiet;
    uint64_t sample, threads;
    const char *stats, *timeline;
    struct cli_list mechs, mech_sets;
};

/* Rows of an option table. */
#define CLI_TIMED_OPTIONS(t)                                                                                 \
    {"--functional", NULL, CLI_FLAG, &(t).functional, NULL, "results only, no clock"},                       \
        {"--mech",   NULL,          CLI_LIST,                                                                \
         &(t).mechs, "NAME[,NAME]", "attach mechanisms: names (heddle list mechanisms) or ./file.so"},       \
        {"--mech-set",       NULL,                                                                           \
         CLI_LIST,           &(t).mech_sets,                                                                 \
         "NAME.PARAM=VALUE", "change one parameter of a mechanism"},                                         \
        {"--no-skip",  NULL, CLI_FLAG,                                                                       \
         &(t).no_skip, NULL, "tick everything in every cycle: slow, same result"},                           \
        {"--sample", NULL, CLI_U64, &(t).sample, "N", "time series: statistics of every N core cycles"},     \
        {"--threads",  NULL, CLI_U64,                                                                        \
         &(t).threads, "N",  "run the SMs on N threads: same result (docs/threads.md)"},                     \
        {"--stats", NULL,                                                                                    \
         CLI_TEXT,  &(t).stats,                                                                              \
         "FILE",    "summary into a file (JSON when it ends in .json); 'gpgpusim': in GPGPU-Sim's words"},   \
        {"--timeline",  NULL,   CLI_TEXT,                                                                    \
         &(t).timeline, "FILE", "kernels, CTAs and counters over time, for Perfetto"},                       \
        {"--json", NULL, CLI_FLAG, &(t).json, NULL, "results as JSON"},                                      \
    {                                                                                                        \
        "--quiet", "-q", CLI_FLAG, &(t).quiet, NULL, "no summary"                                            \
    }

bool cli_timed_is_gpgpusim(const struct cli_timed *t);
/* The options of the timed GPU; the texts stay valid until cli_timed_free. */
struct cli_timed_texts {
    VEC(const char *) mechs, settings;
    VEC(char *) owned;
};
void cli_timed_texts(const struct cli_timed *t, struct cli_timed_texts *out);
void cli_timed_free(struct cli_timed *t, struct cli_timed_texts *texts);
/* For a program that is about to take this process's place: HEDDLE_* variables (cuda/env.h). */
void cli_timed_environment(const struct cli_timed *t);
/* A wrong mechanism, and a file that cannot be written, are told before anything runs. */
bool cli_timed_check(const struct cli_timed *t);
bool cli_timed_can_write(const struct cli_timed *t);

#endif
