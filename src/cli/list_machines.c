/* list_machines.c: `heddle list machines`: what machines/ holds. */
#include "cli/list.h"

#include <dirent.h>

void cli_machine_names(struct cli_names *out)
{
    struct strbuf folder = {0};
    struct dirent **entries;
    strbuf_printf(&folder, "%s/machines", machine_data_dir());
    int count = scandir(strbuf_text(&folder), &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = entries[i]->d_name;
        size_t n = strlen(name);
        if (n > 5 && !strcmp(name + n - 5, ".yaml")) {
            name[n - 5] = 0;
            vec_push(&out->items, mem_strdup(name));
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    strbuf_free(&folder);
}

void cli_names_free(struct cli_names *names)
{
    for (uint32_t i = 0; i < names->items.len; i++) free(names->items.data[i]);
    vec_free(&names->items);
}

static void print_machine(const struct machine *m)
{
    struct strbuf about = {0};
    bool in_mb = m->l2_bytes >= 1 << 20 && m->l2_bytes % (1 << 20) == 0;
    int col = printf("%-11s %4u %5u %6u %4uKB %4u%s  ", m->name, m->sm_count, m->sm_warps, m->sm_registers,
                     (unsigned)(m->sm_shared_bytes >> 10), (unsigned)(m->l2_bytes >> (in_mb ? 20 : 10)),
                     in_mb ? "MB" : "KB");
    strbuf_printf(&about, "%s%s", strcmp(m->name, CLI_DEFAULT_MACHINE) ? "" : "(default) ", m->summary);
    cli_print_wrapped(strbuf_text(&about), col, col);
    strbuf_free(&about);
}

int cli_list_machines(void)
{
    struct cli_names names = {0};
    int status = CLI_OK;
    cli_machine_names(&names);
    if (!names.items.len) {
        fprintf(stderr,
                "heddle: error: cannot read %s/machines\n"
                "  hint: set HEDDLE_HOME to the folder that holds machines/\n",
                machine_data_dir());
        return CLI_BAD_INPUT;
    }
    puts("machine      SMs warps   regs shared     L2");
    for (uint32_t i = 0; i < names.items.len; i++) {
        struct machine m;
        if (cli_load_named_machine(names.items.data[i], &m))
            print_machine(&m);
        else
            status = CLI_BAD_INPUT;
    }
    cli_names_free(&names);
    return status;
}
