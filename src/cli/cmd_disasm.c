/* cmd_disasm.c: heddle disasm: the machine code of every kernel in a PTX file, a fatbin or a CUDA program. */
#include "cli/run_flags.h"
#include "cuda/elf.h"
#include "cuda/fatbin.h"
#include "lower/lower.h"

struct disasm {
    struct cli_run run;
    bool no_ptx, no_opt;
    struct cli_list words;
    /* kernels; lacking: those that need what is not modelled */
    uint32_t shown, lacking;
    struct diag_list diags;
};

static bool disasm_wanted(const struct disasm *d, const char *name)
{
    if (d->words.items.len < 2) return true;
    for (uint32_t i = 1; i < d->words.items.len; i++)
        if (!strcmp(d->words.items.data[i].text, name)) return true;
    return false;
}

static void disasm_ptx(struct disasm *d, const char *name, const char *text, size_t len)
{
    struct lower_options lo = {
        .opt_level = d->no_opt ? 0 : 1, .regs_max = d->run.options.registers_max, .indirect_move = true};
    struct ptx_module *ptx = ptx_parse(name, text, len, &d->diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &lo, &d->diags) : NULL;
    for (uint32_t i = 0; isa && i < isa->kernel_count; i++) {
        if (!disasm_wanted(d, isa->kernels[i]->name)) continue;
        if (isa->kernels[i]->refused) {
            fprintf(stderr, "heddle: error: kernel '%s' has no machine code: %s\n%s\n", isa->kernels[i]->name,
                    isa->kernels[i]->refused->need, isa->kernels[i]->refused->text);
            d->lacking++;
            continue;
        }
        struct strbuf out = {0};
        lower_disasm(isa, isa->kernels[i], !d->no_ptx, &out);
        fputs(strbuf_text(&out), stdout);
        strbuf_free(&out);
        d->shown++;
    }
    isa_module_free(isa);
    if (ptx) ptx_module_free(ptx);
}

static void disasm_fatbin(struct disasm *d, const char *name, const void *data, size_t len)
{
    struct fatbin f = {0};
    if (!fatbin_read(name, data, len, &f, &d->diags)) return;
    const struct fatbin_entry *e = fatbin_best_ptx(&f, 90);
    if (e) disasm_ptx(d, name, e->text, e->len);
    fatbin_free(&f);
}

static void disasm_file(struct disasm *d, const char *path, const char *data, size_t len)
{
    if (elf_is(data, len)) {
        struct elf_fatbin_cursor cursor = {0};
        struct elf_section found;
        uint32_t count = 0;
        for (; elf_next_fatbin(data, len, &cursor, &found); count++)
            disasm_fatbin(d, path, found.data, found.len);
        if (!count)
            diag_add(&d->diags, DIAG_ERROR, NULL, 0, 0, 0, "is it a CUDA program?", "%s holds no device code",
                     path);
    } else if (len >= 4 && fatbin_is(data)) {
        disasm_fatbin(d, path, data, len);
    } else {
        disasm_ptx(d, path, data, len);
    }
}

static int disasm_run(struct disasm *d, int argc, char **argv)
{
    if (!d->words.items.len) {
        cli_error(argc, argv, argc, 0, 1, "heddle disasm saxpy.ptx", "a file is needed");
        return CLI_BAD_INPUT;
    }
    const char *path = d->words.items.data[0].text;
    size_t len;
    char *data = cli_read_file(path, &len);
    if (!data) return CLI_BAD_INPUT;
    disasm_file(d, path, data, len);
    free(data);
    cli_print_diags(&d->diags);
    bool ok = !d->diags.errors && !d->lacking;
    if (ok && !d->shown) {
        fprintf(stderr, "heddle: error: %s: %s\n", path,
                d->words.items.len > 1 ? "none of the kernels named is in it" : "no PTX kernels in it");
        ok = false;
    }
    return ok ? CLI_OK : CLI_BAD_INPUT;
}

int cli_cmd_disasm(int argc, char **argv)
{
    static const struct cli_run_pick picks[] = {{"maxrregcount", NULL, NULL}, {0}};
    struct disasm d = {0};
    const struct cli_option own[] = {{"--no-ptx", NULL, CLI_FLAG, &d.no_ptx, NULL, "machine code only"},
                                     {"--no-opt", NULL, CLI_FLAG, &d.no_opt, NULL, "without folding"},
                                     {0}};
    struct cli_option *options = cli_run_pick_options(&d.run, picks, own);
    struct cli_parse p = {.command = cli_command("disasm"), .options = options};
    int status;
    if (cli_parse(&p, argc, argv)) {
        d.words = p.words;
        status = disasm_run(&d, argc, argv);
    } else {
        status = p.status;
    }
    vec_free(&p.words.items);
    cli_run_free(&d.run);
    free(options);
    diag_free(&d.diags);
    return status;
}
