/* mech_check.c: checks of a mechanism's struct.
 *
 * A plug-in is foreign code: everything in its struct that the host relies on is checked here, once, with an
 * error that says what to do. What its functions answer is checked when they answer (mech_host.c,
 * mech_ports.c). */
#include "core/mech/mech_check.h"

#include "config/param_value.h"
#include "core/mech/mech_set.h"
#include "core/stat_tables.h"
#include "energy/energy.h"

void mech_error(struct diag_list *diags, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(diags, DIAG_ERROR, NULL, 0, 0, 1, hint, fmt, ap);
    va_end(ap);
}

/* ---- names ---- */

#define WORD_HINT "letters, digits, '-' and '_'"

/* Returns the first built-in statistic of this group, or NULL. */
static const char *builtin_stat_of(const char *group)
{
    struct stats_table t;
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        if (!strcmp(t.group, group)) return t.rows->name;
    return NULL;
}

bool mech_check_name_is_free(const struct mechanism *m, struct diag_list *diags)
{
    const char *hint = "give it, its parameters and its statistics another name";
    const char *stat = builtin_stat_of(m->name);
    if (stat)
        mech_error(diags, hint, "mechanism '%s': built-in statistics have this name ('%s')", m->name, stat);
    else if (mech_builtin_find(m->name))
        mech_error(diags, hint, "mechanism '%s': a built-in mechanism has this name", m->name);
    else
        return true;
    return false;
}

/* ---- rows ---- */

static bool lies_inside(size_t offset, size_t bytes, size_t alignment, size_t all)
{
    return bytes && !(offset % alignment) && bytes <= all && offset <= all - bytes;
}

bool mech_is_word(const char *text)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return *text && !text[strspn(text, good)];
}

/* "NAME.something": no other mechanism and no component can have the same name. */
static bool is_named_after(const struct mechanism *m, const char *name)
{
    size_t prefix = strlen(m->name);
    return !strncmp(name, m->name, prefix) && name[prefix] == '.' && mech_is_word(name + prefix + 1);
}

static bool check_param(const struct mechanism *m, const struct param_row *r, struct diag_list *diags)
{
    /* texts are longer than a word and need no alignment */
    const size_t bytes = param_value_bytes(r->type), alignment = bytes > sizeof(uint64_t) ? 1 : bytes;
    if (!is_named_after(m, r->name))
        mech_error(diags, WORD_HINT, "mechanism '%s': its parameter '%s' must be called '%s.something'",
                   m->name, r->name, m->name);
    else if (!lies_inside(r->offset, bytes, alignment, m->param_bytes))
        mech_error(diags, "param_bytes = sizeof(struct ...)",
                   "mechanism '%s': parameter '%s' lies outside of its param_bytes", m->name, r->name);
    else if (!r->default_text || !r->unit || !r->help || (r->type == PARAM_CHOICE && !r->choices))
        mech_error(diags, "use PARAM_ROW", "mechanism '%s': the row of parameter '%s' is not complete",
                   m->name, r->name);
    else
        return true;
    return false;
}

static bool check_params(const struct mechanism *m, struct diag_list *diags)
{
    for (const struct param_row *r = m->params; r && r->name; r++) {
        if (!check_param(m, r, diags)) return false;
        for (const struct param_row *other = m->params; other < r; other++) {
            if (strcmp(other->name, r->name)) continue;
            mech_error(diags, NULL, "mechanism '%s' has two parameters called '%s'", m->name, r->name);
            return false;
        }
    }
    return true;
}

static bool stat_lies_inside(const struct mechanism *m, const struct stat_row *r)
{
    const size_t word = sizeof(uint64_t), words = r->type == STAT_HISTOGRAM ? r->length : 1;
    const size_t all = m->slice_state_bytes ? m->slice_state_bytes : m->state_bytes;
    if (!lies_inside(r->offset, words * word, word, all)) return false;
    return r->type != STAT_RATIO || lies_inside(r->offset2, word, word, all);
}

static bool check_stat(const struct mechanism *m, const struct stat_row *r, struct diag_list *diags)
{
    if (!is_named_after(m, r->name))
        mech_error(diags, WORD_HINT, "mechanism '%s': its statistic '%s' must be called '%s.something'",
                   m->name, r->name, m->name);
    else if ((unsigned)r->type > STAT_RATIO || !r->unit || !r->help || !stat_lies_inside(m, r))
        mech_error(diags, "statistics are uint64_t fields of the state",
                   "mechanism '%s': statistic '%s' lies outside of its state, or its row is not complete",
                   m->name, r->name);
    else
        return true;
    return false;
}

static bool check_stats(const struct mechanism *m, struct diag_list *diags)
{
    for (const struct stat_row *r = m->stats; r && r->name; r++) {
        if (!check_stat(m, r, diags)) return false;
        for (const struct stat_row *other = m->stats; other < r; other++) {
            if (strcmp(other->name, r->name)) continue;
            mech_error(diags, NULL, "mechanism '%s' has two statistics called '%s'", m->name, r->name);
            return false;
        }
    }
    return true;
}

/* Is it a statistic of the mechanism, or of the machine? */
static bool counts_stat(const struct mechanism *m, const char *name)
{
    struct stats_table t;
    for (const struct stat_row *r = m->stats; r && r->name; r++)
        if (!strcmp(r->name, name)) return true;
    for (uint32_t i = 0; machine_stats_at(i, &t); i++)
        for (const struct stat_row *r = t.rows; r && r->name; r++)
            if (!strcmp(r->name, name)) return true;
    return false;
}

static bool check_energy_row(const struct mechanism *m, const struct energy_row *r, struct diag_list *diags)
{
    if (!is_named_after(m, r->name))
        mech_error(diags, WORD_HINT, "mechanism '%s': its row of energy '%s' must be called '%s.something'",
                   m->name, r->name, m->name);
    else if (!r->stat || !r->help || !(r->amount >= 0))
        mech_error(diags, "use ENERGY_PJ or ENERGY_LIKE",
                   "mechanism '%s': the row of energy '%s' is not complete, or its amount is negative",
                   m->name, r->name);
    else if (r->like && energy_event_named(r->like) == ENERGY_EVENTS)
        mech_error(diags, "docs/energy.md lists them", "mechanism '%s', energy '%s': tables have no row '%s'",
                   m->name, r->name, r->like);
    else if (!counts_stat(m, r->stat))
        mech_error(diags, "its own, or one of `heddle list stats`",
                   "mechanism '%s', energy '%s': no statistic is called '%s'", m->name, r->name, r->stat);
    else
        return true;
    return false;
}

static bool check_energy(const struct mechanism *m, struct diag_list *diags)
{
    for (const struct energy_row *r = m->energy; r && r->name; r++) {
        if (!check_energy_row(m, r, diags)) return false;
        for (const struct energy_row *other = m->energy; other < r; other++) {
            if (strcmp(other->name, r->name)) continue;
            mech_error(diags, NULL, "mechanism '%s' has two rows of energy called '%s'", m->name, r->name);
            return false;
        }
    }
    return true;
}

/* ---- the rest of the struct ---- */

static bool check_notes(const struct mechanism *m, struct diag_list *diags)
{
    for (const char *const *name = m->note_names; name && *name; name++) {
        if (!**name) {
            mech_error(diags, NULL, "mechanism '%s' has a kind of note without a name", m->name);
            return false;
        }
        for (const char *const *other = m->note_names; other < name; other++) {
            if (strcmp(*other, *name)) continue;
            mech_error(diags, NULL, "mechanism '%s' has two kinds of note called '%s'", m->name, *name);
            return false;
        }
    }
    return true;
}

static bool check_gpu_timer(const struct mechanism *m, struct diag_list *diags)
{
    const bool has_period = m->gpu_timer_cycles || m->gpu_timer_period;
    const char *wrong = NULL;
    if (m->on_gpu_timer && !has_period)
        wrong = "fills on_gpu_timer, but neither gpu_timer_cycles nor gpu_timer_period";
    else if (has_period && !m->on_gpu_timer)
        wrong = "gives its GPU timer a period, but does not fill on_gpu_timer";
    else if ((m->on_gpu_timer || m->gpu_init) && !m->gpu_state_bytes)
        wrong = "fills a hook of the GPU-wide state, but its gpu_state_bytes is 0";
    if (wrong) mech_error(diags, NULL, "mechanism '%s' %s", m->name, wrong);
    return !wrong;
}

static bool check_slices(const struct mechanism *m, struct diag_list *diags)
{
    const bool has_all = m->take_request && m->slice_init && m->on_dram && m->on_retire;
    const char *wrong = NULL;
    if (m->slice_state_bytes && !has_all)
        wrong = "has a state for slices, but does not fill take_request, slice_init, on_dram and on_retire";
    else if (!m->slice_state_bytes && (m->take_request || m->slice_init))
        wrong = "fills a hook of slices, but its slice_state_bytes is 0";
    else if (!m->cache_sms != !m->helper || (m->helper && !m->slice_state_bytes))
        wrong = "fills one of cache_sms, helper and the hooks of slices, but not all";
    else if (m->choose_sms && !m->cache_sms)
        wrong = "fills choose_sms, but not cache_sms";
    if (wrong) mech_error(diags, NULL, "mechanism '%s' %s", m->name, wrong);
    return !wrong;
}

static bool check_owns(const struct mechanism *m, struct diag_list *diags)
{
    if (!(m->owns & ~(uint32_t)(MECH_OWNS_REGISTERS | MECH_KEEPS_REGISTERS))) return true;
    mech_error(diags, "enum mech_owns", "mechanism '%s' owns 0x%x, which this Heddle does not know", m->name,
               (unsigned)m->owns);
    return false;
}

static bool check_bytes(const struct mechanism *m, const char *field, size_t bytes, struct diag_list *diags)
{
    if (bytes <= MECH_STATE_BYTES_MAX) return true;
    mech_error(diags, NULL, "mechanism '%s': %s is %zu; at most %zu bytes can be had", m->name, field, bytes,
               (size_t)MECH_STATE_BYTES_MAX);
    return false;
}

static bool check_sizes(const struct mechanism *m, struct diag_list *diags)
{
    return check_bytes(m, "state_bytes", m->state_bytes, diags) &&
           check_bytes(m, "gpu_state_bytes", m->gpu_state_bytes, diags) &&
           check_bytes(m, "slice_state_bytes", m->slice_state_bytes, diags) &&
           check_bytes(m, "choice_bytes", m->choice_bytes, diags) &&
           check_bytes(m, "param_bytes", m->param_bytes, diags);
}

bool mech_check(const struct mechanism *m, const char *where, struct diag_list *diags)
{
    if (m->api != HEDDLE_MECHANISM_API) {
        mech_error(diags, "build it again with the include folder of this Heddle",
                   "%s was built for version %u of the mechanism interface, this is version %u", where,
                   m->api, (unsigned)HEDDLE_MECHANISM_API);
        return false;
    }
    if (!m->name || !mech_is_word(m->name)) {
        mech_error(diags, WORD_HINT, "%s: '%s' is not the name of a mechanism", where,
                   m->name ? m->name : "");
        return false;
    }
    if (!m->summary || !m->paper) {
        mech_error(diags, NULL, "mechanism '%s' needs a summary and a paper (\"\" where there is none)",
                   m->name);
        return false;
    }
    return check_sizes(m, diags) && check_params(m, diags) && check_stats(m, diags) &&
           check_energy(m, diags) && check_notes(m, diags) && check_gpu_timer(m, diags) &&
           check_slices(m, diags) && check_owns(m, diags);
}

/* ---- questions that need one answer ---- */

const char *mech_contest(const struct mechanism *a, const struct mechanism *b)
{
    if (a->pick && b->pick) return "pick the warp that issues";
    if (a->take_miss && b->take_miss) return "decide what becomes of a miss (take_miss)";
    if (a->victim && b->victim) return "choose the line that leaves the L1 (victim)";
    if (a->admit && b->admit) return "decide which CTAs become resident (admit)";
    if (a->take_request && b->take_request) return "take requests at the L2's slices (take_request)";
    if (a->owns & b->owns & MECH_OWNS_REGISTERS) return "own the free rows of the register file";
    if (a->owns & b->owns & MECH_KEEPS_REGISTERS) return "use rows of the register file that no CTA owns";
    return NULL;
}
