/* gpgpusim.h: reads the configuration of GPGPU-Sim and Accel-Sim (3.2 to 4.x: gpgpusim.config,
 * trace.config and the .icnt file that they name) and turns it into a machine file.
 *
 * A file is a row of words: "-name value". '#' starts a comment to the end of the line, a line's end is a
 * space, and a value in double quotes may hold both. An option that appears twice has its last value, over
 * all files in their order. Terms: an option is one "-name value" of the files; a setting is one parameter of
 * the machine that came out of an option; an option is left when it is about the machine, but the machine has
 * no parameter for it. */
#ifndef HEDDLE_GPGPUSIM_H
#define HEDDLE_GPGPUSIM_H

#include "config/reader.h"

struct gpgpusim_option {
    /* name with its dash; value without quotes, each run of spaces and line ends one space */
    char *name, *value;
    /* position in files; GPGPUSIM_DEFAULT: stands in none, the value is GPGPU-Sim's default */
    uint32_t file;
    /* of the name */
    int line, col;
    int value_line, value_col;
    /* where the value, with its quotes, starts in the text */
    size_t value_at;
    /* it gave a setting, or it is not about the machine */
    bool used;
};
#define GPGPUSIM_DEFAULT UINT32_MAX

struct gpgpusim_setting {
    /* "l1.size", "16384" */
    char *key, *value;
    /* "-gpgpu_cache:dl1 N:32:128:4,...", or what else is behind it */
    char *source;
};

struct gpgpusim_left {
    /* "-gpgpu_l1_cache_write_ratio 20" */
    char *option;
    char *reason;
};

struct gpgpusim_import {
    /* texts are owned */
    VEC(struct diag_source) files;
    VEC(struct gpgpusim_option) options;
    /* a key stands once */
    VEC(struct gpgpusim_setting) settings;
    VEC(struct gpgpusim_left) left;
    /* what the scheduler needs beside the machine: "--mech-set swl.warps=16"; NULL: nothing */
    char *mech;
};

/* Reads the files in their order. False with diagnostics. */
bool gpgpusim_read(struct gpgpusim_import *im, const char *const *paths, uint32_t count,
                   struct diag_list *diags);
/* Reads a text; `name` is what diagnostics call it, and files that it names are looked for beside it. */
bool gpgpusim_read_text(struct gpgpusim_import *im, const char *name, const char *text,
                        struct diag_list *diags);
/* Options into settings. Each is tried on the target, so that what a machine cannot take is known here: it
 * is left. A value of the wrong form is an error at its position; an unknown option is a warning. */
bool gpgpusim_map(struct gpgpusim_import *im, const struct config_target *target, struct diag_list *diags);
/* The machine file: a value a line, its option beside it, and what was left at the end. */
void gpgpusim_write(const struct gpgpusim_import *im, const struct param_group *groups, struct strbuf *out);
void gpgpusim_free(struct gpgpusim_import *im);

/* The position in its file of the character that is number `at` of the option's value. */
void gpgpusim_place(const struct gpgpusim_import *im, const struct gpgpusim_option *o, size_t at, int *line,
                    int *col);
/* The option of that name, or NULL. */
struct gpgpusim_option *gpgpusim_find(struct gpgpusim_import *im, const char *name);

#endif
