/* mech_set.c: chooses the mechanisms of a run: built-in ones by name, plug-ins by file, their parameters from
 * "name.param=value". */
#include "core/mech/mech_set.h"

#include "config/param.h"
#include "core/mech/mech_check.h"
#include "core/mech/mech_elf.h"

#include <dlfcn.h>
#include <unistd.h>

struct mech_choice {
    const struct mechanism *mech;
    /* handle of dlopen; NULL: built in */
    void *library;
    /* values of mech->params; NULL where there are none */
    void *params;
};

enum { MECH_CHOICES_MAX = 32 };

struct mech_set {
    struct mech_choice items[MECH_CHOICES_MAX];
    uint32_t count;
};

uint32_t mech_set_count(const struct mech_set *s) { return s->count; }
const struct mechanism *mech_set_at(const struct mech_set *s, uint32_t i) { return s->items[i].mech; }
const void *mech_set_params(const struct mech_set *s, uint32_t i) { return s->items[i].params; }
bool mech_set_is_plugin(const struct mech_set *s, uint32_t i) { return s->items[i].library; }

bool mech_set_has_plugin(const struct mech_set *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (mech_set_is_plugin(s, i)) return true;
    return false;
}

/* ---- the built-in ones ---- */

const struct mechanism *mech_builtin_find(const char *name)
{
    for (const struct mechanism *const *b = mech_builtin; *b; b++)
        if (!strcmp((*b)->name, name)) return *b;
    return NULL;
}

const char *mech_builtin_nearest(const char *name)
{
    enum { NAMES_MAX = 128 };
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; mech_builtin[n] && n < NAMES_MAX; n++) names[n] = mech_builtin[n]->name;
    return diag_nearest(name, names, n);
}

/* ---- adding one ---- */

static bool mech_is_file(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 3 && !strcmp(name + n - 3, ".so"));
}

static const struct mechanism *mech_open_file(const char *path, void **library, struct diag_list *diags)
{
    struct strbuf full = {0}; /* dlopen looks up a name without a slash in the system's folders */
    strbuf_printf(&full, "%s%s", strchr(path, '/') ? "" : "./", path);
    const struct mechanism *m = NULL;
    const char *fault;
    if (access(strbuf_text(&full), R_OK)) {
        mech_error(diags, "a plug-in is named by its file: --mech ./mine.so",
                   "cannot read the mechanism '%s'", path);
    } else if ((fault = mech_elf_fault(strbuf_text(&full)))) {
        mech_error(diags, "build it again", "cannot load the mechanism '%s': %s", path, fault);
    } else if (!(*library = dlopen(strbuf_text(&full), RTLD_NOW | RTLD_LOCAL))) {
        const char *why = dlerror();
        mech_error(diags, "`heddle new mechanism NAME` writes one that builds",
                   "cannot load the mechanism '%s': %s", path, why ? why : "no reason given");
    } else if (!(m = dlsym(*library, HEDDLE_MECHANISM_SYMBOL))) {
        mech_error(diags,
                   "HEDDLE_MECHANISM_EXPORT const struct mechanism " HEDDLE_MECHANISM_SYMBOL " = { ... };",
                   "%s exports no '" HEDDLE_MECHANISM_SYMBOL "'", path);
    } else if (!mech_check(m, path, diags) || !mech_check_name_is_free(m, diags)) {
        m = NULL;
    }
    strbuf_free(&full);
    if (!m && *library) {
        dlclose(*library);
        *library = NULL;
    }
    return m;
}

static const struct mechanism *mech_open_builtin(const char *name, struct diag_list *diags)
{
    const struct mechanism *m = mech_builtin_find(name);
    if (m) return mech_check(m, name, diags) ? m : NULL;
    const char *near = mech_builtin_nearest(name);
    char hint[128] = "`heddle list mechanisms` shows them; a plug-in is named by its file: ./mine.so";
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    mech_error(diags, hint, "no mechanism is called '%s'", name);
    return NULL;
}

/* Sets the parameters to their defaults. A default that its own row refuses is an error of the plug-in. */
static bool mech_make_params(struct mech_choice *c, struct diag_list *diags)
{
    const struct mechanism *m = c->mech;
    c->params = m->param_bytes ? mem_zalloc(m->param_bytes) : NULL;
    bool ok = true;
    for (const struct param_row *r = m->params; r && r->name; r++)
        ok = param_set(m->params, c->params, r->name, r->default_text, NULL, 0, 0, 0, diags) && ok;
    return ok;
}

/* Can this mechanism be attached beside the others? */
static bool mech_fits(const struct mech_set *s, const struct mechanism *m, struct diag_list *diags)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct mechanism *other = s->items[i].mech;
        const char *question = mech_contest(other, m);
        if (!strcmp(other->name, m->name))
            mech_error(diags, "name it once", "mechanism '%s' is attached twice", other->name);
        else if (question)
            mech_error(diags, "keep one of them", "'%s' and '%s' both %s; only one mechanism can",
                       other->name, m->name, question);
        else
            continue;
        return false;
    }
    if (s->count < MECH_CHOICES_MAX) return true;
    mech_error(diags, NULL, "at most %d mechanisms can be attached", (int)MECH_CHOICES_MAX);
    return false;
}

static bool mech_set_add(struct mech_set *s, const char *name, struct diag_list *diags)
{
    struct mech_choice c = {0};
    c.mech = mech_is_file(name) ? mech_open_file(name, &c.library, diags) : mech_open_builtin(name, diags);
    if (!c.mech) return false;
    if (!mech_fits(s, c.mech, diags) || !mech_make_params(&c, diags)) {
        free(c.params);
        if (c.library) dlclose(c.library);
        return false;
    }
    s->items[s->count++] = c;
    return true;
}

/* ---- settings ---- */

/* No attached mechanism has this parameter: the error names the mechanism that has it, or a similar name. */
static void mech_unknown_setting(const struct mech_set *s, const char *name, const struct diag_source *src,
                                 struct diag_list *diags)
{
    size_t dot = strcspn(name, ".");
    char hint[160] = "parameters are called NAME.PARAM, as in swl.warps=4";
    for (uint32_t i = 0; i < s->count; i++) {
        const struct mechanism *m = s->items[i].mech;
        if (strlen(m->name) != dot || strncmp(m->name, name, dot)) continue;
        const char *near = m->params ? param_nearest(m->params, name) : NULL;
        if (near)
            snprintf(hint, sizeof hint, "did you mean '%s'?", near);
        else if (m->params && m->params->name)
            snprintf(hint, sizeof hint, "%.40s has '%.60s'", m->name, m->params->name);
        else
            snprintf(hint, sizeof hint, "%.40s has no parameters", m->name);
        diag_add(diags, DIAG_ERROR, src, 1, 1, (int)strlen(name), hint, "unknown parameter '%s'", name);
        return;
    }
    const struct mechanism *owner = NULL;
    for (const struct mechanism *const *b = mech_builtin; *b && !owner; b++)
        if (strlen((*b)->name) == dot && !strncmp((*b)->name, name, dot)) owner = *b;
    if (owner) {
        snprintf(hint, sizeof hint, "attach it: --mech %.60s", owner->name);
        diag_add(diags, DIAG_ERROR, src, 1, 1, (int)dot, hint,
                 "'%s' is set, but mechanism '%s' is not attached", name, owner->name);
        return;
    }
    const char *names[MECH_CHOICES_MAX];
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%.*s", (int)MIN(dot, sizeof prefix - 1), name);
    for (uint32_t i = 0; i < s->count; i++) names[i] = s->items[i].mech->name;
    const char *near = diag_nearest(prefix, names, s->count);
    if (!near) near = mech_builtin_nearest(prefix);
    if (near) snprintf(hint, sizeof hint, "did you mean '%.60s'?", near);
    diag_add(diags, DIAG_ERROR, src, 1, 1, (int)dot, hint, "no mechanism is called '%s'", prefix);
}

static bool mech_set_apply(struct mech_set *s, const char *setting, struct diag_list *diags)
{
    const struct diag_source src = {.file = "mechanism setting", .text = setting, .len = strlen(setting)};
    const char *eq = strchr(setting, '=');
    if (!eq || eq == setting) {
        diag_add(diags, DIAG_ERROR, &src, 1, 1, (int)strlen(setting), "as in swl.warps=4",
                 "a setting is NAME.PARAM=VALUE, got '%s'", setting);
        return false;
    }
    char *name = mem_strdup(setting);
    name[eq - setting] = 0;
    struct mech_choice *owner = NULL;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i].mech->params && param_find(s->items[i].mech->params, name)) owner = &s->items[i];
    bool ok = owner != NULL;
    if (ok)
        ok = param_set(owner->mech->params, owner->params, name, eq + 1, &src, 1, 1, (int)(eq - setting) + 2,
                       diags);
    else
        mech_unknown_setting(s, name, &src, diags);
    free(name);
    return ok;
}

/* ---- the set ---- */

struct mech_set *mech_set_create_for(const char *default_policy, const char *const *names, uint32_t count,
                                     const char *const *settings, uint32_t setting_count,
                                     struct diag_list *diags)
{
    struct mech_set *s = mem_zalloc(sizeof *s);
    bool ok = true, has_policy = false;
    for (uint32_t i = 0; i < count; i++) ok = mech_set_add(s, names[i], diags) && ok;
    for (uint32_t i = 0; i < s->count; i++) has_policy = has_policy || s->items[i].mech->pick;
    if (ok && !has_policy) {
        const char *policy = default_policy && *default_policy ? default_policy : mech_default_policy;
        ok = mech_set_add(s, policy, diags);
        if (ok && !s->items[s->count - 1].mech->pick) {
            mech_error(diags, "lrr, gto, two-level and oldest do",
                       "'%s' picks no warp: it cannot be the scheduler", policy);
            ok = false;
        }
    }
    /* When a mechanism is missing, errors in its settings only follow from that: one error is enough. */
    for (uint32_t i = 0; ok && i < setting_count; i++) ok = mech_set_apply(s, settings[i], diags);
    if (ok) return s;
    mech_set_destroy(s);
    return NULL;
}

struct mech_set *mech_set_create(const char *const *names, uint32_t count, const char *const *settings,
                                 uint32_t setting_count, struct diag_list *diags)
{
    return mech_set_create_for(NULL, names, count, settings, setting_count, diags);
}

void mech_set_destroy(struct mech_set *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->count; i++) {
        free(s->items[i].params);
        if (s->items[i].library) dlclose(s->items[i].library);
    }
    free(s);
}
