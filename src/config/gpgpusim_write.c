/* gpgpusim_write.c: an imported configuration as a machine file. */
#include "config/gpgpusim.h"

static size_t section_of(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static bool in_section(const char *key, const char *section, size_t len)
{
    return section_of(key) == len && !strncmp(key, section, len);
}

static void write_setting(const struct gpgpusim_setting *s, const struct param_row *row, struct strbuf *out)
{
    struct strbuf line = {0};
    bool quoted = row->type == PARAM_STRING || row->type == PARAM_PATH;
    strbuf_printf(&line, quoted ? "  %s: \"%s\"" : "  %s: %s", s->key + section_of(s->key) + 1, s->value);
    strbuf_printf(out, "%-28s # %s\n", strbuf_text(&line), s->source);
    strbuf_free(&line);
}

/* In the order of the parameter tables, a section once. */
static void write_section(const struct gpgpusim_import *im, const struct param_group *groups,
                          const char *section, size_t len, struct strbuf *out)
{
    strbuf_printf(out, "%.*s:\n", (int)len, section);
    for (const struct param_group *group = groups; group->rows; group++)
        for (const struct param_row *r = group->rows; r->name; r++)
            for (uint32_t i = 0; in_section(r->name, section, len) && i < im->settings.len; i++)
                if (!strcmp(im->settings.data[i].key, r->name)) write_setting(&im->settings.data[i], r, out);
}

/* Is this the first setting of its section, in the order of the settings? */
static bool begins_section(const struct gpgpusim_import *im, uint32_t at)
{
    const char *key = im->settings.data[at].key;
    for (uint32_t i = 0; i < at; i++)
        if (in_section(im->settings.data[i].key, key, section_of(key))) return false;
    return true;
}

void gpgpusim_write(const struct gpgpusim_import *im, const struct param_group *groups, struct strbuf *out)
{
    strbuf_puts(out, "# Imported from");
    for (uint32_t i = 0; i < im->files.len; i++)
        strbuf_printf(out, "%s %s", i ? "," : "", im->files.data[i].file);
    strbuf_puts(out, " by `heddle config import`.\n"
                     "# Parameters that are not listed have Heddle's defaults.\n");
    if (im->mech) strbuf_printf(out, "# Its scheduler has parameters of its own: run with %s\n", im->mech);
    const char *first = im->files.len ? im->files.data[0].file : "text";
    strbuf_printf(out, "summary: \"imported from %.40s\"\n",
                  strrchr(first, '/') ? strrchr(first, '/') + 1 : first);
    for (uint32_t i = 0; i < im->settings.len; i++) {
        const char *key = im->settings.data[i].key;
        if (begins_section(im, i)) write_section(im, groups, key, section_of(key), out);
    }
    if (im->left.len) strbuf_puts(out, "# Not carried over:\n");
    for (uint32_t i = 0; i < im->left.len; i++)
        strbuf_printf(out, "#   %s: %s\n", im->left.data[i].option, im->left.data[i].reason);
}
