/* simulator.c: see simulator.h. */
#include "lab/simulator.h"

#include "lab/store.h"

const char simulator_versions_sql[] =
    "SELECT substr(simulator, instr(simulator, ' ') + 1) AS simulator,"
    " substr(simulator, 1, instr(simulator, ' ') - 1) AS version, count(*) AS runs,"
    " sum(state = 'done') AS done, sum(state = 'failed') AS failed,"
    " datetime(max(finished), 'unixepoch') AS newest"
    " FROM run GROUP BY run.simulator ORDER BY max(finished) DESC, run.simulator";

/* The result of a search through all versions. */
struct search {
    const char *digits;
    uint32_t found;
    struct strbuf name;
    /* All versions, for an error. */
    struct strbuf list;
};

static bool version_row(void *context, int columns, const char *const *values, const char *const *names)
{
    (void)names;
    struct search *look = context;
    assert(columns == 6);
    const char *hash = values[0] ? values[0] : "", *version = values[1] ? values[1] : "";
    strbuf_printf(&look->list, "\n  %s  %s runs, newest %s", hash, values[2],
                  values[5] ? values[5] : "not ended");
    if (strncmp(hash, look->digits, strlen(look->digits))) return true;
    look->found++;
    look->name.len = 0;
    strbuf_printf(&look->name, "%s %s", version, hash);
    return true;
}

static bool is_own(const char *digits)
{
    const char *hash = strrchr(job_simulator(), ' ') + 1;
    return !strcmp(hash, digits);
}

/* ---- what the version had ---- */

/* "machine l1.mshrs: 32" has the name "machine l1.mshrs". */
static void add_lines(struct simulator *v, const char *identity)
{
    for (const char *line = identity; *line;) {
        const size_t len = strcspn(line, "\n"), name_len = strcspn(line, ":\n");
        if (!map_get_n(&v->lines, line, name_len)) {
            struct strbuf name = {0};
            strbuf_add(&name, line, name_len);
            map_put(&v->lines, strbuf_text(&name), v);
            strbuf_free(&name);
        }
        line += len + (line[len] == '\n');
    }
}

static bool identity_row(void *context, int columns, const char *const *values, const char *const *names)
{
    (void)columns, (void)names;
    if (values[0]) add_lines(context, values[0]);
    return true;
}

/* Machine and mechanisms decide which lines a run has; the settings may choose another scheduler. */
static bool read_lines(struct simulator *v, struct store *s, char **error)
{
    struct strbuf sql = {0};
    assert(!strchr(v->name, '\''));
    strbuf_printf(&sql, "SELECT identity FROM run WHERE simulator = '%s' GROUP BY machine, settings, mechs",
                  v->name);
    const bool ok = store_query(s, strbuf_text(&sql), identity_row, v, error);
    strbuf_free(&sql);
    return ok;
}

/* ---- the search ---- */

static char *not_one(const struct search *look)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s version%s of the simulator in this store %s a hash that begins with '%s'",
                  look->found ? "several" : "no", look->found ? "s" : "", look->found ? "have" : "has",
                  look->digits);
    strbuf_printf(&out, "%s%s", look->list.len ? "; its runs are of" : "; it has no runs",
                  strbuf_text(&look->list));
    return out.data;
}

bool simulator_find(struct simulator *v, struct store *s, const char *digits, char **error)
{
    struct search look = {.digits = digits};
    *v = (struct simulator){0};
    *error = NULL;
    bool ok = store_query(s, simulator_versions_sql, version_row, &look, error);
    if (ok && !is_own(digits)) {
        ok = look.found == 1 && *digits && !strchr(strbuf_text(&look.name), '\'');
        if (!ok)
            *error = not_one(&look);
        else if (strcmp(strbuf_text(&look.name), job_simulator())) {
            v->name = mem_strdup(strbuf_text(&look.name));
            ok = read_lines(v, s, error);
        }
    }
    strbuf_free(&look.name);
    strbuf_free(&look.list);
    if (!ok) simulator_free(v);
    return ok;
}

void simulator_free(struct simulator *v)
{
    free(v->name);
    map_free(&v->lines);
    *v = (struct simulator){0};
}
