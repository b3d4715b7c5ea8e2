/* list.h: what `heddle list` shows, for people and as JSON. */
#ifndef HEDDLE_CLI_LIST_H
#define HEDDLE_CLI_LIST_H

#include "cli/cli.h"

/* Tables on standard output; each gives an exit status. */
int cli_list_experiments(void);
int cli_list_machines(void);
int cli_list_mechanisms(void);
int cli_list_workloads(void);

/* Storage of mechanisms on a machine: of those that are named, or of all that are built in. */
struct list_cost {
    /* the machine with its settings, the mechanisms and their settings */
    const struct run_options *run;
    bool json;
};
int cli_list_cost(const struct list_cost *request);

/* JSON lists (docs/workloads.md has that of the workloads). False: errors were printed, and the list is
 * not complete. */
bool list_json_experiments(struct strbuf *out);
bool list_json_machines(struct strbuf *out);
bool list_json_mechanisms(struct strbuf *out);
bool list_json_options(struct strbuf *out);
bool list_json_params(struct strbuf *out);
bool list_json_stats(struct strbuf *out);
bool list_json_workloads(struct strbuf *out);

/* The names of DATA/machines, in order. The caller frees each name, and the list. */
struct cli_names {
    VEC(char *) items;
};
void cli_machine_names(struct cli_names *out);
void cli_names_free(struct cli_names *names);

#endif
