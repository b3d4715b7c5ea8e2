/* cmd_reproduce.c: heddle reproduce: an experiment's runs, its figures, the paper's claims with verdicts,
 * its bars, and the page of all of it. */
#include "cli/lab.h"
#include "cli/report_page.h"

#define DEFAULT_PAGE "report.html"

/* Prints how the runs ended, for people. */
static bool show(struct cli_lab *lab, struct store *store, const char *page)
{
    if (!cli_lab_figures(lab, store)) return false;
    cli_print_figures(lab, true);
    cli_print_bars(lab);
    putchar('\n');
    return cli_write_report(store, lab, page, false);
}

static int reproduce(const struct cli_sweep *s, const struct cli_list *names, const char *page)
{
    struct simulator v;
    if (!cli_open_simulator(&v, s->store, s->simulator)) return CLI_BAD_INPUT;
    struct cli_lab lab = {.simulator = v.name ? &v : NULL};
    struct store *store = NULL;
    int status = CLI_BAD_INPUT;
    if (cli_lab_load(&lab, names, s->workloads, s->size)) status = cli_sweep(s, &lab, &store);
    if (store && !s->json && !s->detach && status <= CLI_FAILED && !show(&lab, store, page))
        status = CLI_FAILED;
    if (store) store_close(store);
    cli_lab_free(&lab);
    simulator_free(&v);
    return status;
}

int cli_cmd_reproduce(int argc, char **argv)
{
    struct cli_sweep s = {.bars = true};
    const char *page = DEFAULT_PAGE;
    const struct cli_option own[] = {
        {"--output", "-o", CLI_STRING, &page, "FILE", "the page (default " DEFAULT_PAGE ")"}, {0}};
    struct cli_option *options = cli_sweep_options(&s, own);
    struct cli_parse p = {.command = cli_command("reproduce"), .options = options};
    int status = CLI_BAD_INPUT;
    if (!cli_parse(&p, argc, argv))
        status = p.status;
    else if (!p.words.items.len)
        cli_error(argc, argv, argc, 0, 1, "a name of experiments/, or a .yaml file",
                  "no experiment is named");
    else
        status = reproduce(&s, &p.words, page);
    vec_free(&p.words.items);
    free(options);
    return status;
}
