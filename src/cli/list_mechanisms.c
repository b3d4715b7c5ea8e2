/* list_mechanisms.c: `heddle list mechanisms`: what mech/registry.c holds, read from the mechanisms' own
 * rows. */
#include "cli/cli.h"
#include "mech/registry.h"

static void list_kind(const char *title, bool is_policy)
{
    printf("%s\n", title);
    for (const struct mechanism *const *b = mech_builtin; *b; b++) {
        const struct mechanism *m = *b;
        if ((m->pick != NULL) != is_policy) continue;
        printf("  %-12s %s%s\n  %-12s   %s\n", m->name, m->summary,
               strcmp(m->name, mech_default_policy) ? "" : " (default)", "", m->paper);
        for (const struct param_row *r = m->params; r && r->name; r++)
            printf("  %-12s   %s=%s  %s\n", "", r->name, r->default_text, r->help);
    }
}

void cli_list_mechanisms(void)
{
    list_kind("policies: one of them picks the warp that issues", true);
    list_kind("modifiers: any number of them, in any order", false);
    printf("your own: heddle new mechanism NAME, then --mech ./NAME.so\n");
}
