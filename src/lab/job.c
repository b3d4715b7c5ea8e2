/* job.c: what determines a run, as text; its hash; and the command that makes it.
 *
 * (1) Everything that can change a statistic is in the text. (2) Nothing else is in it: neither the build
 * folder, the compiler, the host and the number of threads, nor the spelling of a setting. (3) The text of a
 * run of another version of the simulator differs in the line of the simulator alone, and in parameters that
 * this version did not have. */
#include "lab/job.h"

#include "base/hash.h"
#include "config/param_value.h"
#include "core/machine.h"
#include "core/machine_check.h"
#include "core/mech/mech_set.h"
#include "simulator_hash.h" /* made by scripts/simulator_hash.cmake */

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define JOB_SIMULATOR HEDDLE_VERSION " " SIMULATOR_HASH

const char *job_simulator(void) { return JOB_SIMULATOR; }

static uint32_t list_length(const char *const *list)
{
    uint32_t n = 0;
    while (list[n]) n++;
    return n;
}

/* A machine that is wrong is read again, for its errors. */
static bool machine_of(const struct lab_job *job, struct machine *out, struct diag_list *diags)
{
    struct diag_list none = {0};
    if (job->machine) *out = *job->machine;
    const bool is_right = job->machine && machine_check(out, &none);
    diag_free(&none);
    return is_right || run_options_machine(&job->run, out, diags);
}

/* ---- files by their bytes ---- */

static bool file_hash(const char *path, char out[HASH128_CHARS + 1])
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    struct strbuf bytes = {0};
    char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&bytes, block, n);
    bool ok = !ferror(f); /* a folder opens, and cannot be read */
    if (!ok) errno = EISDIR;
    fclose(f);
    hash128_hex(hash128_bytes(strbuf_text(&bytes), bytes.len), out);
    strbuf_free(&bytes);
    return ok;
}

static bool add_file(const char *what, const char *path, const char *hint, struct strbuf *out,
                     struct diag_list *diags)
{
    char hash[HASH128_CHARS + 1];
    if (!file_hash(path, hash)) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, hint, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    strbuf_printf(out, "%s: %s\n", what, hash);
    return true;
}

/* ---- parts of the text ---- */

static bool has_program(const struct workload *w, struct diag_list *diags)
{
    if (!access(w->program, R_OK)) return true;
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0,
             "the suite's are built and installed with all the rest: cmake --build --preset release",
             "the program of workload '%s' is missing: cannot read %s: %s", w->name, w->program,
             strerror(errno));
    return false;
}

static void unknown_size(const struct lab_job *job, struct diag_list *diags)
{
    struct strbuf hint = {0};
    for (uint32_t i = 0; i < job->workload->size_count; i++)
        strbuf_printf(&hint, "%s%s", i ? ", " : "it has ", job->workload->sizes[i].name);
    diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, strbuf_text(&hint), "%s has no size '%s'", job->workload->name,
             job->size);
    strbuf_free(&hint);
}

static bool add_workload(const struct lab_job *job, struct strbuf *out, struct diag_list *diags)
{
    const struct workload *w = job->workload;
    const struct workload_size *size = workload_size(w, job->size);
    if (!size) {
        unknown_size(job, diags);
        return false;
    }
    strbuf_printf(out, "workload: %s\nsize: %s\n", w->name, size->name);
    for (uint32_t i = 0; size->args[i]; i++) strbuf_printf(out, "argument: %s\n", size->args[i]);
    strbuf_printf(out, "seed: %" PRIu64 "\n", job->seed);
    bool ok = has_program(w, diags) && add_file("program", w->program, NULL, out, diags);
    /* The suite's programs have their PTX linked in; a user's program may read it from beside the
     * description. */
    struct strbuf ptx = {0};
    strbuf_printf(&ptx, "%s/%s.ptx", w->folder, w->name);
    if (ok && access(strbuf_text(&ptx), F_OK) == 0) ok = add_file("ptx", strbuf_text(&ptx), NULL, out, diags);
    strbuf_free(&ptx);
    return ok;
}

/* The content of a file counts, not its name. */
static bool add_file_param(const struct param_row *r, const void *object, struct strbuf *out,
                           struct diag_list *diags)
{
    char hex[HASH128_CHARS + 1];
    if (!param_file_hash(r, object, hex)) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "%s: cannot read %s", r->name,
                 (const char *)object + r->offset);
        return false;
    }
    strbuf_puts(out, hex);
    return true;
}

static bool has_default(const struct param_row *r, const void *object)
{
    struct param_row alone = *r;
    struct strbuf ours = {0}, usual = {0}, wanted = {0};
    void *value = mem_zalloc(param_value_bytes(r->type));
    alone.offset = 0;
    bool ok = param_store(&alone, value, r->default_text, &wanted);
    param_format(r, object, &ours);
    param_format(&alone, value, &usual);
    ok = ok && !strcmp(strbuf_text(&ours), strbuf_text(&usual));
    strbuf_free(&ours);
    strbuf_free(&usual);
    strbuf_free(&wanted);
    free(value);
    return ok;
}

/* Did the version (NULL: this one) have lines of this name? */
static bool has_line(const struct simulator *v, const char *what, const char *name)
{
    struct strbuf line = {0};
    if (!v) return true;
    strbuf_printf(&line, "%s%s%s", what, *what ? " " : "", name);
    const bool found = map_get(&v->lines, strbuf_text(&line)) != NULL;
    strbuf_free(&line);
    return found;
}

static bool add_params(const struct simulator *v, const char *what, const struct param_row *rows,
                       const void *object, struct strbuf *out, struct diag_list *diags)
{
    for (const struct param_row *r = rows; r && r->name; r++) {
        /* They change no statistic. */
        if (!strcmp(r->name, "summary") || !strcmp(r->name, "energy")) continue;
        if (!has_line(v, what, r->name) && has_default(r, object)) continue;
        strbuf_printf(out, "%s %s: ", what, r->name);
        if (r->type != PARAM_PATH)
            param_format(r, object, out);
        else if (!add_file_param(r, object, out, diags))
            return false;
        strbuf_putc(out, '\n');
    }
    return true;
}

static bool is_plugin_file(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 3 && !strcmp(name + n - 3, ".so"));
}

static bool add_mechanisms(const struct lab_job *job, const struct machine *m, struct strbuf *out,
                           struct diag_list *diags)
{
    uint32_t named = list_length(job->run.mechs);
    struct mech_set *set = mech_set_create_for(m->scheduler, job->run.mechs, named, job->run.mech_sets,
                                               list_length(job->run.mech_sets), diags);
    bool ok = set != NULL;
    for (uint32_t i = 0; ok && i < mech_set_count(set); i++) {
        const struct mechanism *mech = mech_set_at(set, i);
        const char *from =
            i < named ? job->run.mechs[i] : m->scheduler; /* the machine's own policy comes last */
        strbuf_printf(out, "mechanism: %s\n", mech->name);
        if (is_plugin_file(from)) ok = add_file("plug-in", from, NULL, out, diags);
        ok = ok && add_params(job->simulator, "mechanism", mech->params, mech_set_params(set, i), out, diags);
    }
    mech_set_destroy(set);
    return ok;
}

/* The options whose value changes what a run counts. Machine and mechanisms follow as they are resolved. */
static void add_options(const struct simulator *v, const struct run_options *o, struct strbuf *out)
{
    for (const struct run_option *row = run_option_rows; row->name; row++) {
        struct strbuf value = {0};
        if (row->effect != RUN_CHANGES) continue;
        const bool is_given = run_option_format(row, o, &value);
        if (is_given || has_line(v, "", row->name))
            strbuf_printf(out, "%s: %s\n", row->name, is_given ? strbuf_text(&value) : "0");
        strbuf_free(&value);
    }
}

bool job_identity(const struct lab_job *job, struct strbuf *out, struct diag_list *diags)
{
    struct machine m;
    assert(run_options_has_clock(&job->run)); /* such a run has no statistics */
    if (!machine_of(job, &m, diags)) return false;
    strbuf_printf(out, "run: 1\nsimulator: %s\n", job->simulator ? job->simulator->name : job_simulator());
    if (!add_workload(job, out, diags)) return false;
    add_options(job->simulator, &job->run, out);
    strbuf_printf(out, "machine: %s\n", m.name);
    for (const struct param_group *g = machine_groups; g->rows; g++)
        if (!add_params(job->simulator, "machine", g->rows, (const char *)&m + g->offset, out, diags))
            return false;
    return add_mechanisms(job, &m, out, diags);
}

bool job_seal(struct lab_job *job, struct diag_list *diags)
{
    assert(job->workload && job->size && job->run.machine && job->run.sets && job->run.mechs &&
           job->run.mech_sets);
    struct strbuf text = {0};
    bool ok = job_identity(job, &text, diags);
    if (ok) hash128_hex(hash128_bytes(strbuf_text(&text), text.len), job->key);
    strbuf_free(&text);
    return ok;
}

/* ---- the command ---- */

const char **job_argv(const struct lab_job *job, const char *heddle, const char *stats, struct arena *a)
{
    struct run_options run = job->run;
    const char **words, **options;
    run.stats = stats;
    uint32_t count = 0, option_count = run_options_to_words(&run, a, &options);
    const char *const head[] = {heddle, "run", job->workload->name, "--size", job->size};
    const char *const seed[] = {"--", "--seed", arena_printf(a, "%" PRIu64, job->seed)};
    words = ARENA_ARRAY(a, const char *, ARRAY_LEN(head) + option_count + ARRAY_LEN(seed) + 1);
    for (size_t i = 0; i < ARRAY_LEN(head); i++) words[count++] = head[i];
    for (uint32_t i = 0; i < option_count; i++) words[count++] = options[i];
    for (size_t i = 0; job->seed && i < ARRAY_LEN(seed); i++) words[count++] = seed[i];
    words[count] = NULL;
    return words;
}

void job_put_word(const char *word, struct strbuf *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
    if (*word && !word[strspn(word, plain)]) {
        strbuf_puts(out, word);
        return;
    }
    strbuf_putc(out, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            strbuf_puts(out, "'\\''");
        else
            strbuf_putc(out, *c);
    strbuf_putc(out, '\'');
}

void job_command(const struct lab_job *job, struct strbuf *out)
{
    struct arena a = {0};
    const char **words = job_argv(job, "heddle", NULL, &a);
    for (uint32_t i = 0; words[i]; i++) {
        if (i) strbuf_putc(out, ' ');
        job_put_word(words[i], out);
    }
    arena_free(&a);
}

/* ---- host memory ---- */

uint64_t job_memory(const struct lab_job *job)
{
    /* Upper bounds of what runs of the suite took: bfs tiny 13 MB with 15 SMs and 99 MB with 68; small ones
     * up to 73 MB and paper ones up to 570 MB of data (lbm). A size that a user has defined is estimated at a
     * gigabyte. */
    enum { MB = 1 << 20, SM_BYTES = 2 * MB };
    static const struct {
        const char *size;
        uint64_t bytes;
    } data[] = {{"tiny", 16 * MB}, {"small", 128 * MB}};
    uint64_t bytes = 1024ull * MB;
    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        if (!strcmp(job->size, data[i].size)) bytes = data[i].bytes;
    struct machine m;
    struct diag_list diags = {0};
    bool known = machine_of(job, &m, &diags);
    diag_free(&diags);
    return bytes + (known ? m.sm_count : 64u) * (uint64_t)SM_BYTES;
}
