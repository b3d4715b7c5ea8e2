/* workload.h: programs that a user can name: those of workloads/, and the user's own beside a small YAML file
 * (docs/workloads.md). */
#ifndef HEDDLE_WORKLOAD_H
#define HEDDLE_WORKLOAD_H

#include "config/yaml_tree.h"

enum {
    WORKLOAD_SIZES_MAX = 8,
    WORKLOAD_PAPERS_MAX = 8,
    WORKLOAD_FIGURES_MAX = 6,
    WORKLOAD_ARGS_MAX = 32,
    WORKLOAD_LOADS_MAX = 4
};

struct workload_size {
    /* tiny, small, paper, or any other */
    const char *name;
    /* What it works on, in words. */
    const char *input;
    /* The list ends with NULL. */
    const char *args[WORKLOAD_ARGS_MAX + 1];
    /* Measured on `fermi`; 0 = not measured. */
    uint64_t warp_instructions;
};

/* What a paper measured of it. */
struct workload_figure {
    const char *name;
    double value;
};
/* A row of APRES's Table I. */
struct workload_load {
    double share, unique, miss_rate, stride, stride_share;
};
struct workload_paper {
    /* thesis-ch3, apres, ... */
    const char *paper;
    /* The paper's abbreviation. */
    const char *as;
    /* "" where the paper gives none. */
    const char *class_of;
    /* At which its studies run it; NULL: at the experiment's. */
    const char *size;
    /* The paper trains on it, and does not evaluate on it. */
    bool is_training;
    struct workload_figure figures[WORKLOAD_FIGURES_MAX];
    uint32_t figure_count;
    struct workload_load loads[WORKLOAD_LOADS_MAX];
    uint32_t load_count;
};

struct workload {
    const char *name, *suite, *summary, *follows;
    /* Path of the executable. */
    const char *program;
    /* Where its description is. */
    const char *folder;
    struct workload_size sizes[WORKLOAD_SIZES_MAX];
    uint32_t size_count, kernel_count;
    const char **kernels;
    struct workload_paper papers[WORKLOAD_PAPERS_MAX];
    uint32_t paper_count;
};

struct workload_set {
    /* They are in the order of their names. */
    VEC(struct workload) items;
    /* They hold the texts. */
    VEC(struct yaml_tree) files;
    struct arena arena;
};

/* Where to look: `data_dir`/workloads, and the paths (files or folders, with colons between them) of
 * `more`, which may be NULL. Programs without a path of their own are in `programs`. False with
 * diagnostics when a description is wrong; the right ones are there all the same. */
struct workload_places {
    const char *data_dir, *programs, *more;
};
bool workloads_load(struct workload_set *w, const struct workload_places *places, struct diag_list *diags);
/* One description by its path. */
const struct workload *workload_load_file(struct workload_set *w, const char *path, const char *programs,
                                          struct diag_list *diags);
void workloads_free(struct workload_set *w);

const struct workload *workload_find(const struct workload_set *w, const char *name);
const struct workload_size *workload_size(const struct workload *w, const char *name);
/* "it has tiny, small", for hints. */
void workload_list_sizes(const struct workload *w, struct strbuf *out);
/* A number that a paper gives of the workload, such as "p_inf" of "thesis-ch3" or "load1.share" of
 * "apres"; NAN: it gives none. */
double workload_figure(const struct workload *w, const char *paper, const char *figure);
const struct workload_paper *workload_paper(const struct workload *w, const char *paper);

#endif
