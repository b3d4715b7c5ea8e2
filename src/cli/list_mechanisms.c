/* list_mechanisms.c: `heddle list mechanisms`: what mech/registry.c holds, read from the mechanisms' rows. */
#include "cli/list.h"
#include "mech/registry.h"

enum { NAME_WIDTH = 12, INDENT = NAME_WIDTH + 3, DETAIL = INDENT + 2 };

static void print_mechanism(const struct mechanism *m)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s", strcmp(m->name, mech_default_policy) ? "" : "(default) ", m->summary);
    printf("  %-*s ", NAME_WIDTH, m->name);
    cli_print_wrapped(strbuf_text(&text), INDENT, DETAIL);
    printf("%*s", DETAIL, "");
    cli_print_wrapped(m->paper, DETAIL, DETAIL);
    for (const struct param_row *r = m->params; r && r->name; r++) {
        int col = printf("%*s%s=%s  ", DETAIL, "", r->name, r->default_text);
        cli_print_wrapped(r->help, col, DETAIL + 2);
    }
    strbuf_free(&text);
}

static void list_kind(const char *title, bool is_policy)
{
    printf("%s\n", title);
    for (const struct mechanism *const *b = mech_builtin; *b; b++)
        if (((*b)->pick != NULL) == is_policy) print_mechanism(*b);
}

int cli_list_mechanisms(void)
{
    list_kind("policies: one of them picks the warp that issues", true);
    list_kind("modifiers: any number of them, in any order", false);
    printf("your own: heddle new mechanism NAME, then --mech ./NAME.so\n");
    return CLI_OK;
}
