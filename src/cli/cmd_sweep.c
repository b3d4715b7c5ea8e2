/* cmd_sweep.c: heddle sweep: the runs of experiments. */
#include "cli/lab.h"
#include "lab/slurm.h"

static int sweep_named(const struct cli_sweep *s, const struct cli_list *names)
{
    struct simulator v;
    if (!cli_open_simulator(&v, s->store, s->simulator)) return CLI_BAD_INPUT;
    struct cli_lab lab = {.simulator = v.name ? &v : NULL};
    struct store *store = NULL;
    int status = CLI_BAD_INPUT;
    if (cli_lab_load(&lab, names, s->workloads, s->size)) status = cli_sweep(s, &lab, &store);
    /* one experiment is shown whole; of several, what the papers claimed */
    if (store && !s->json && !s->detach && status <= CLI_FAILED) {
        if (cli_lab_figures(&lab, store))
            cli_print_figures(&lab, lab.plans.len == 1);
        else
            status = CLI_FAILED;
    }
    if (store) store_close(store);
    cli_lab_free(&lab);
    simulator_free(&v);
    return status;
}

int cli_cmd_sweep(int argc, char **argv)
{
    struct cli_sweep s = {0};
    const char *task = NULL;
    const struct cli_option own[] = {{"--task", NULL, CLI_STRING, &task, "LIST",
                                      "what a job of --slurm starts: makes one run of the list"},
                                     {0}};
    struct cli_option *options = cli_sweep_options(&s, own);
    struct cli_parse p = {.command = cli_command("sweep"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (task)
        status = slurm_task(task);
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "a name of experiments/, or a .yaml file",
                  "no experiment is named");
    else
        status = sweep_named(&s, &p.words);
    vec_free(&p.words.items);
    free(options);
    return status;
}
