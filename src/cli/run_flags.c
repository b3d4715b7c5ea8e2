/* run_flags.c: run options on the command line. */
#include "cli/run_flags.h"

#include "base/output.h"
#include "core/mech/mech_energy.h"
#include "core/mech/mech_host.h"

#include <errno.h>
#include <unistd.h>

bool cli_run_begin(struct cli_run *r)
{
    struct strbuf error = {0};
    run_options_init(&r->options);
    bool ok = run_options_from_environment(&r->options, &r->texts, &error);
    if (!ok) fprintf(stderr, "heddle: error: %s\n", strbuf_text(&error));
    strbuf_free(&error);
    return ok;
}

void cli_run_free(struct cli_run *r) { arena_free(&r->texts); }

static uint32_t row_count(void)
{
    uint32_t n = 0;
    while (run_option_rows[n].name) n++;
    assert(n <= CLI_RUN_ROWS_MAX);
    return n;
}

static struct cli_option option_of(struct cli_run *r, const struct run_option *row)
{
    const bool plain = row->kind == RUN_FLAG || row->means;
    struct cli_run_flag *flag = &r->flags[row - run_option_rows];
    *flag = (struct cli_run_flag){r, row};
    return (struct cli_option){.name = row->flag,
                               .short_name = row->short_flag,
                               .kind = plain ? CLI_RUN_FLAG : CLI_RUN_VALUE,
                               .out = flag,
                               .value = row->value,
                               .help = row->help};
}

struct cli_option *cli_run_options(struct cli_run *r, const struct cli_option *own)
{
    struct cli_option options[CLI_RUN_ROWS_MAX + 1] = {0};
    const uint32_t rows = row_count();
    for (uint32_t i = 0; i < rows; i++) options[i] = option_of(r, &run_option_rows[i]);
    return cli_join_options(own, options);
}

static const struct run_option *row_named(const char *name)
{
    for (const struct run_option *row = run_option_rows; row->name; row++)
        if (!strcmp(row->name, name)) return row;
    UNREACHABLE("name of a run option");
}

struct cli_option *cli_run_pick_options(struct cli_run *r, const struct cli_run_pick *picks,
                                        const struct cli_option *own)
{
    struct cli_option options[CLI_RUN_ROWS_MAX + 1] = {0};
    run_options_init(&r->options);
    for (uint32_t i = 0; picks[i].name; i++) {
        options[i] = option_of(r, row_named(picks[i].name));
        if (picks[i].help) options[i].help = picks[i].help;
        if (picks[i].prefix)
            options[i].help = arena_printf(&r->texts, "%s%s", picks[i].prefix, options[i].help);
    }
    return cli_join_options(options, own);
}

bool cli_run_is_given(const struct cli_run *r) { return r->given; }

bool cli_run_store(struct cli_run_flag *flag, const char *value, struct strbuf *why)
{
    struct cli_run *r = flag->run;
    const struct run_option *row = flag->row;
    uint64_t bit = 1ull << (row - run_option_rows);
    if (row->kind == RUN_LIST && !(r->given & bit)) run_option_reset(row, &r->options);
    r->given |= bit;
    if (!value) value = row->means ? row->means : "1";
    return run_option_set(row, &r->options, value, &r->texts, why);
}

/* Checks before the run that a file can be written, so that hours of simulation are not lost. */
static bool can_write(const char *option, const char *path)
{
    if (!path || output_check(path)) return true;
    fprintf(stderr, "heddle: error: %s: cannot write %s: %s\n", option, path, strerror(errno));
    return false;
}

/* A machine may name no table, unless the run asks for energies. */
static bool check_energy(const struct timed_options *o, const struct machine *m, const struct mech_set *set,
                         struct diag_list *diags)
{
    struct energy_table t;
    if (*m->energy) return mech_energy_load(&t, m->energy, set, diags);
    if (!o->energy) return true;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, "--set energy=gpuwattch, accelwattch or a .yaml file",
             "machine '%s' names no table of energies", m->name);
    return false;
}

static bool check_mechanisms(const struct timed_options *o, const struct machine *m, struct diag_list *diags)
{
    struct mech_set *set =
        mech_set_create(o->mechs, o->mech_count, o->mech_settings, o->mech_setting_count, diags);
    const bool ok = set && !diags->errors && check_energy(o, m, set, diags);
    if (set) mech_set_destroy(set);
    return ok;
}

/* Warns of options that have no effect, because the run has no clock. */
static void warn_without_clock(const struct cli_run *r)
{
    const struct run_options *o = &r->options;
    if (run_options_has_clock(o)) return;
    for (uint32_t i = 0; run_option_rows[i].name; i++)
        if (run_option_rows[i].needs_clock && r->given >> i & 1)
            fprintf(stderr, "heddle: warning: %s has no effect in a run without a clock\n",
                    run_option_rows[i].flag);
    if (o->format == RUN_FORMAT_GPGPUSIM || o->format == RUN_FORMAT_LOADS)
        fprintf(stderr, "heddle: warning: the summary of a run without a clock is a table\n");
}

bool cli_run_finish(struct cli_run *r, struct machine *machine)
{
    struct run_options *o = &r->options;
    struct diag_list diags = {0};
    run_options_complete(o);
    bool ok = run_options_machine(o, machine, &diags) && check_mechanisms(&o->timed, machine, &diags);
    cli_print_diags(&diags);
    if (ok) warn_without_clock(r);
    diag_free(&diags);
    return ok && can_write("--stats", o->stats) && can_write("--timeline", o->timeline);
}
