/* cmd_reproduce.c: heddle reproduce: an experiment's runs, its figures, and the paper's claims with verdicts. */
#include "cli/lab.h"

static int reproduce(const struct cli_sweep *s, const struct cli_list *names)
{
    struct cli_lab lab = {0};
    struct store *store = NULL;
    int status = CLI_BAD_INPUT;
    if (cli_lab_load(&lab, names, s->workloads, s->size)) status = cli_sweep(s, &lab, &store);
    if (store && !s->json && !s->detach && status <= CLI_FAILED && !cli_print_figures(&lab, store, true))
        status = CLI_FAILED;
    if (store) store_close(store);
    cli_lab_free(&lab);
    return status;
}

int cli_cmd_reproduce(int argc, char **argv)
{
    struct cli_sweep s = {0};
    struct cli_option options[] = {CLI_SWEEP_OPTIONS(s), {0}};
    struct cli_parse p = {.command = cli_command("reproduce"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "a name of experiments/, or a .yaml file",
                  "no experiment is named");
    else
        status = reproduce(&s, &p.words);
    vec_free(&p.words.items);
    return status;
}
