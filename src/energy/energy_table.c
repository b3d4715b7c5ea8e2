/* energy_table.c: reads a table of energies.
 *
 *     about: one line
 *     by_sector: false
 *     picojoules: {decode: 3.614, ...}      every event of events.def
 *     watts: {constant: 11, idle_sm: 1.59, pipeline: 25.46, leakage: 35.6}
 *     static: {sms: 80, int: [15.29, 0.5862], ...}   the SMs of that chip, and every mix; may be left out
 *     mechanisms: {linebacker.vtt: 2.05}    in place of what mechanisms declare; may be left out
 *
 * With `base: NAME` a table has the rows of another one, and its own replace these. A row that is missing,
 * negative, no number, unknown or there twice is an error with its place. */
#include "energy/energy.h"

#include "config/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char hint[] = "a table of energies has 'picojoules:' and 'watts:'; see energy/gpuwattch.yaml";

static const char *const power_names[ENERGY_POWERS] = {[ENERGY_CONSTANT] = "constant",
                                                       [ENERGY_IDLE_SM] = "idle_sm",
                                                       [ENERGY_PIPELINE] = "pipeline",
                                                       [ENERGY_CHIP_LEAKAGE] = "leakage"};
/* SMs of a chip, at most. */
enum { STATIC_SMS_MAX = 65536 };

/* Rows of `static:`; the last one is the number of SMs. */
enum { STATIC_SMS = ENERGY_MIXES, STATIC_ROWS };
static const char *const static_names[STATIC_ROWS] = {
    [MIX_INT] = "int", [MIX_FP] = "fp",       [MIX_DP] = "dp",     [MIX_SFU] = "sfu",
    [MIX_TEX] = "tex", [MIX_OTHER] = "other", [STATIC_SMS] = "sms"};

struct table_reader {
    const struct yaml_tree *tree;
    struct diag_list *diags;
    const struct energy_place *place;
    /* rows may be missing */
    bool has_base;
};

static double read_number(const struct table_reader *r, const struct yaml_node *at, const char *unit)
{
    char *end;
    errno = 0;
    const double v = strtod(at->text, &end);
    if (at->kind == YAML_TEXT && at->text[0] && !*end && isfinite(v) && v >= 0) return v;
    yaml_error(r->tree, at, r->diags, NULL, "must be a number of %s, at least 0", unit);
    return 0;
}

/* A mapping with a value for each of `names`, and no other. NULL: there is none, with a diagnostic where the
 * table needs it. */
static const struct yaml_node *read_map(const struct table_reader *r, const char *key,
                                        const char *const *names, size_t count)
{
    const struct yaml_node *map = yaml_get(r->tree->root, key);
    if (!map && r->has_base) return NULL;
    if (!map || map->kind != YAML_MAP) {
        yaml_error(r->tree, map ? map : r->tree->root, r->diags, hint, "'%s:' must be a mapping", key);
        return NULL;
    }
    yaml_only(r->tree, map, names, count, r->diags);
    for (size_t i = 0; !r->has_base && i < count; i++)
        if (!yaml_get(map, names[i]))
            yaml_error(r->tree, map, r->diags, NULL, "'%s:' has no row '%s'", key, names[i]);
    return map;
}

static void read_rows(const struct table_reader *r, const char *key, const char *const *names, size_t count,
                      double *out)
{
    const struct yaml_node *map = read_map(r, key, names, count);
    for (size_t i = 0; map && i < count; i++) {
        const struct yaml_node *row = yaml_get(map, names[i]);
        if (row) out[i] = read_number(r, row, key);
    }
}

static void read_sms(const struct table_reader *r, const struct yaml_node *at, struct energy_table *t)
{
    char *end;
    const long sms = strtol(at->text, &end, 10);
    if (at->kind == YAML_TEXT && at->text[0] && !*end && sms > 0 && sms <= STATIC_SMS_MAX)
        t->static_sms = (uint32_t)sms;
    else
        yaml_error(r->tree, at, r->diags, NULL, "must be a whole number of SMs, at least 1");
}

/* Reads `static:`. The base of a table may have none of these rows; then the table must have all of them. */
static void read_static(const struct table_reader *r, struct energy_table *t)
{
    struct table_reader own = *r;
    own.has_base = t->static_sms;
    if (!yaml_get(r->tree->root, "static")) return;
    const struct yaml_node *map = read_map(&own, "static", static_names, STATIC_ROWS);
    const struct yaml_node *sms = map ? yaml_get(map, static_names[STATIC_SMS]) : NULL;
    if (sms) read_sms(r, sms, t);
    for (uint32_t i = 0; map && i < ENERGY_MIXES; i++) {
        const struct yaml_node *pair = yaml_get(map, static_names[i]);
        if (!pair) continue;
        if (pair->kind != YAML_LIST || pair->count != 2) {
            yaml_error(r->tree, pair, r->diags, NULL, "must be [watts of the first lane, of each lane more]");
            continue;
        }
        t->mixes[i].first_lane = read_number(r, &pair->items[0], "watts");
        t->mixes[i].lane = read_number(r, &pair->items[1], "watts");
    }
}

static void put_own(const struct table_reader *r, struct energy_table *t, const struct yaml_node *key,
                    double picojoules)
{
    uint32_t i = 0;
    while (i < t->own_count && strcmp(t->own[i].name, key->text)) i++;
    if (i == ENERGY_OWN_MAX || strlen(key->text) >= sizeof t->own[i].name) {
        yaml_error(r->tree, key, r->diags, NULL, "more than %d rows of mechanisms, or a name too long",
                   ENERGY_OWN_MAX);
        return;
    }
    snprintf(t->own[i].name, sizeof t->own[i].name, "%s", key->text);
    t->own[i].picojoules = picojoules;
    t->own_count += i == t->own_count;
}

/* Rows in place of those that mechanisms declare; the base's stay where this table has none. */
static void read_own(const struct table_reader *r, struct energy_table *t)
{
    const struct yaml_node *map = yaml_get(r->tree->root, "mechanisms");
    if (!map) return;
    if (map->kind != YAML_MAP) {
        yaml_error(r->tree, map, r->diags, "as in mechanisms: {linebacker.vtt: 2.05}",
                   "'mechanisms:' must be a mapping of their rows to picojoules");
        return;
    }
    yaml_only(r->tree, map, r->place->rows, r->place->row_count, r->diags);
    for (uint32_t i = 0; i < map->count; i++)
        put_own(r, t, &map->keys[i], read_number(r, &map->items[i], "picojoules"));
}

static void read_flag(const struct table_reader *r, struct energy_table *t)
{
    const struct yaml_node *flag = yaml_get(r->tree->root, "by_sector");
    if (!flag) return;
    t->by_sector = !strcmp(flag->text, "true");
    if (!t->by_sector && strcmp(flag->text, "false"))
        yaml_error(r->tree, flag, r->diags, NULL, "must be true or false");
}

static bool is_path(const char *name)
{
    const size_t len = strlen(name);
    return strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".yaml"));
}

/* A table has no more ancestors than this: one that names itself ends. */
enum { BASES_MAX = 8 };

/* The name of a table, and where it stands; no tree: on the command line or in a machine. */
struct table_name {
    const char *text;
    const struct yaml_tree *tree;
    const struct yaml_node *at;
};

static bool load(struct energy_table *t, const struct table_name *name, const struct energy_place *place,
                 uint32_t depth, struct diag_list *diags);

static void read_table(const struct yaml_tree *tree, struct energy_table *t, const struct energy_place *place,
                       uint32_t depth, struct diag_list *diags)
{
    static const char *const keys[] = {"about", "base",   "by_sector", "picojoules",
                                       "watts", "static", "mechanisms"};
    const struct table_name base = {yaml_text(tree, tree->root, "base", NULL, diags), tree,
                                    yaml_get(tree->root, "base")};
    const struct table_reader r = {tree, diags, place, base.text != NULL};
    yaml_only(tree, tree->root, keys, ARRAY_LEN(keys), diags);
    if (base.text && depth == BASES_MAX)
        yaml_error(tree, base.at, diags, NULL, "more than %d tables, each the base of another", BASES_MAX);
    else if (base.text && !load(t, &base, place, depth + 1, diags))
        return;
    read_flag(&r, t);
    read_rows(&r, "picojoules", energy_event_names, ENERGY_EVENTS, t->picojoules);
    read_rows(&r, "watts", power_names, ENERGY_POWERS, t->watts);
    read_static(&r, t);
    read_own(&r, t);
}

static void refuse_name(const struct table_name *name, const char *why, struct diag_list *diags)
{
    static const char known[] = "gpuwattch, accelwattch, accelwattch-gddr6x, or a .yaml file";
    if (name->tree)
        yaml_error(name->tree, name->at, diags, known, "no table of energies '%s': %s", name->text, why);
    else
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, known, "no table of energies '%s': %s", name->text, why);
}

static bool load(struct energy_table *t, const struct table_name *name, const struct energy_place *place,
                 uint32_t depth, struct diag_list *diags)
{
    struct yaml_tree tree;
    struct strbuf path = {0};
    const uint32_t before = diags->errors;
    if (is_path(name->text))
        strbuf_puts(&path, name->text);
    else
        strbuf_printf(&path, "%s/energy/%s.yaml", place->dir, name->text);
    if (yaml_tree_load(&tree, strbuf_text(&path), hint, diags))
        read_table(&tree, t, place, depth, diags);
    else if (diags->errors == before)
        refuse_name(name, strerror(errno), diags);
    yaml_tree_free(&tree);
    strbuf_free(&path);
    return diags->errors == before;
}

bool energy_load(struct energy_table *t, const char *name, const struct energy_place *place,
                 struct diag_list *diags)
{
    *t = (struct energy_table){0};
    snprintf(t->name, sizeof t->name, "%s", name);
    return load(t, &(struct table_name){.text = name}, place, 0, diags);
}
