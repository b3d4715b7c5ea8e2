/* list_cost.c: `heddle list mechanisms --cost`: the storage that each mechanism declares, from its parameters
 * and a machine. One that does not fit the machine is listed with the reason; if it was named, that is an
 * error. */
#include "cli/list.h"
#include "core/mech/mech_cost.h"
#include "stats/json.h"

#include <inttypes.h>

enum { NAME_WIDTH = 9, HELP_COLUMN = 43 };

/* One mechanism of the list, with its storage. */
struct cost_entry {
    struct mech_set *set;
    struct mech_cost cost;
    /* Why it has no rows; freed by the caller. */
    char *fault;
};

/* ---- finding out ---- */

static bool takes(const struct mechanism *m, const char *setting)
{
    const size_t len = strcspn(setting, ".=");
    return strlen(m->name) == len && !strncmp(setting, m->name, len);
}

/* A set with the mechanism first, and the settings that are its own; each of these is marked in `used`. */
static struct mech_set *open_set(const char *name, const char *const *settings, bool *used,
                                 struct diag_list *diags)
{
    VEC(const char *) own = {0};
    struct mech_set *set = mech_set_create(&name, 1, NULL, 0, diags);
    if (!set) return NULL;
    for (uint32_t i = 0; settings[i]; i++) {
        if (!takes(mech_set_at(set, 0), settings[i])) continue;
        vec_push(&own, settings[i]);
        used[i] = true;
    }
    if (own.len) {
        mech_set_destroy(set);
        set = mech_set_create(&name, 1, own.data, own.len, diags);
    }
    vec_free(&own);
    return set;
}

static bool open_entry(struct cost_entry *e, const char *name, const struct list_cost *request, bool *used,
                       const struct mech_machine *machine)
{
    struct diag_list diags = {0};
    *e = (struct cost_entry){.set = open_set(name, request->run->mech_sets, used, &diags)};
    if (!e->set)
        cli_print_diags(&diags);
    else if (!mech_cost_of(e->set, 0, machine, &e->cost, &diags))
        e->fault = mem_strdup(diags.items.data[0].message);
    diag_free(&diags);
    return e->set;
}

static void close_entry(struct cost_entry *e)
{
    mech_set_destroy(e->set);
    free(e->fault);
}

/* ---- a table ---- */

static void print_row(const struct mech_storage *r)
{
    struct strbuf help = {0};
    strbuf_puts(&help, r->help);
    if (r->scope != MECH_EACH_SM) strbuf_printf(&help, " (%s)", mech_scope_text(r->scope));
    const int col = printf("  %-*s %5" PRIu64 " x %5" PRIu64 " bits %8.2f B  ", NAME_WIDTH, r->name,
                           r->entries, r->bits, mech_storage_bytes(r));
    cli_print_wrapped(strbuf_text(&help), col, HELP_COLUMN);
    strbuf_free(&help);
}

/* Bytes of the rows of a scope in one of its units. */
static double bytes_of(const struct mech_cost *c, enum mech_scope scope)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->rows[i].scope == scope) sum += mech_storage_bytes(&c->rows[i]);
    return sum;
}

static void print_entry(const struct cost_entry *e, const struct mech_machine *machine)
{
    const struct mechanism *m = mech_set_at(e->set, 0);
    printf("%s\n", m->name);
    if (e->fault) {
        printf("  ");
        cli_print_wrapped(e->fault, 2, 2);
        return;
    }
    for (uint32_t i = 0; i < e->cost.count; i++) print_row(&e->cost.rows[i]);
    if (!e->cost.count) {
        printf("  %s\n", m->cost ? "no storage with these parameters" : "declares no storage");
        return;
    }
    printf("  %-*s %.2f bytes of an SM, %.0f on the whole machine\n", NAME_WIDTH, "all",
           bytes_of(&e->cost, MECH_EACH_SM), mech_cost_bytes(&e->cost, machine));
}

/* ---- JSON ---- */

static void put_pair(struct strbuf *out, const char *key, double value)
{
    strbuf_puts(out, ", ");
    json_string(out, key);
    strbuf_puts(out, ": ");
    json_number(out, value);
}

static void put_row(struct strbuf *out, const struct mech_storage *r)
{
    static const char *const scopes[] = {
        [MECH_EACH_SM] = "sm", [MECH_EACH_SLICE] = "slice", [MECH_WHOLE_GPU] = "gpu"};
    strbuf_puts(out, "{\"name\": ");
    json_string(out, r->name);
    strbuf_printf(out, ", \"scope\": \"%s\", \"entries\": %" PRIu64 ", \"bits\": %" PRIu64, scopes[r->scope],
                  r->entries, r->bits);
    put_pair(out, "bytes", mech_storage_bytes(r));
    strbuf_puts(out, ", \"help\": ");
    json_string(out, r->help);
    strbuf_putc(out, '}');
}

static void put_entry(struct strbuf *out, const struct cost_entry *e, const struct mech_machine *machine)
{
    strbuf_puts(out, "{\"name\": ");
    json_string(out, mech_set_at(e->set, 0)->name);
    if (e->fault) {
        strbuf_puts(out, ", \"fault\": ");
        json_string(out, e->fault);
    } else {
        strbuf_puts(out, ", \"storage\": [");
        for (uint32_t i = 0; i < e->cost.count; i++) {
            if (i) strbuf_puts(out, ", ");
            put_row(out, &e->cost.rows[i]);
        }
        strbuf_putc(out, ']');
        put_pair(out, "sm_bytes", bytes_of(&e->cost, MECH_EACH_SM));
        put_pair(out, "machine_bytes", mech_cost_bytes(&e->cost, machine));
    }
    strbuf_putc(out, '}');
}

/* ---- the list ---- */

static void show_entry(const struct cost_entry *e, const struct list_cost *request,
                       const struct mech_machine *machine, struct strbuf *json)
{
    if (!request->json) {
        print_entry(e, machine);
        return;
    }
    strbuf_puts(json, json->len ? ",\n  " : "[\n  ");
    put_entry(json, e, machine);
}

/* Reports a setting that no listed mechanism has. */
static bool check_settings(const struct list_cost *request, const bool *used)
{
    struct diag_list diags = {0};
    for (uint32_t i = 0; request->run->mech_sets[i]; i++) {
        const char *setting = request->run->mech_sets[i];
        if (!used[i]) mech_set_destroy(mech_set_create(NULL, 0, &setting, 1, &diags));
    }
    const bool ok = !diags.errors;
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

static int list_each(const struct list_cost *request, const struct mech_machine *machine,
                     const char *const *names, uint32_t count, bool is_named)
{
    bool *used = mem_zalloc(run_list_count(request->run->mech_sets) + 1);
    struct strbuf json = {0};
    int status = CLI_OK;
    for (uint32_t i = 0; i < count; i++) {
        struct cost_entry e;
        if (!open_entry(&e, names[i], request, used, machine)) {
            status = CLI_BAD_INPUT;
            continue;
        }
        show_entry(&e, request, machine, &json);
        if (e.fault && is_named) {
            fprintf(stderr, "heddle: error: %s\n", e.fault);
            status = CLI_BAD_INPUT;
        }
        close_entry(&e);
    }
    if (!check_settings(request, used)) status = CLI_BAD_INPUT;
    if (request->json && json.len) printf("%s\n]\n", strbuf_text(&json));
    strbuf_free(&json);
    free(used);
    return status;
}

int cli_list_cost(const struct list_cost *request)
{
    VEC(const char *) names = {0};
    struct machine m;
    if (!cli_load_machine(request->run, &m)) return CLI_BAD_INPUT;
    const struct mech_machine machine = mech_machine_of(&m);
    for (uint32_t i = 0; request->run->mechs[i]; i++) vec_push(&names, request->run->mechs[i]);
    const bool is_named = names.len;
    for (const struct mechanism *const *b = mech_builtin; !is_named && *b; b++) vec_push(&names, (*b)->name);
    if (!request->json)
        printf("storage on %s: %u SMs, %u slices of the L2\n", m.name, machine.sm_count, machine.l2_slices);
    const int status = list_each(request, &machine, names.data, names.len, is_named);
    vec_free(&names);
    return status;
}
