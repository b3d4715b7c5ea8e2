/* lab_kit.h: jobs for the tests of the lab, without the suite: a workload whose program is any file. */
#ifndef HEDDLE_LAB_KIT_H
#define HEDDLE_LAB_KIT_H

#include "lab/store.h"

static inline struct workload kit_workload(const char *name, const char *program)
{
    return (struct workload){
        .name = name,
        .suite = "test",
        .program = program,
        .folder = "/nonexistent",
        .sizes = {{.name = "tiny", .args = {"--size", "tiny"}},
                  {.name = "small", .args = {"--size", "small"}}},
        .size_count = 2,
    };
}

static inline struct lab_job kit_job(const struct workload *w, uint64_t seed)
{
    struct lab_job job = {.workload = w, .size = "tiny", .seed = seed};
    run_options_init(&job.run);
    job.run.machine = "fermi";
    return job;
}

/* False: the errors were printed. */
static inline bool kit_seal(struct lab_job *job)
{
    struct diag_list diags = {0};
    bool ok = job_seal(job, &diags);
    struct strbuf text = {0};
    diag_render(&diags, &text);
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    diag_free(&diags);
    return ok;
}

#endif
