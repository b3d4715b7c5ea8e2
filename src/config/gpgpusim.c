/* gpgpusim.c: the words of GPGPU-Sim's configuration files (gpgpusim.h says what they look like).
 *
 * The .icnt file of the network (BookSim: "name = value;", comments from // on) becomes options too,
 * "-icnt:name": it is read where -inter_config_file names it, beside the file that does. */
#include "config/gpgpusim.h"

#include <ctype.h>

/* -config in a file may name another; one that names itself ends here. */
enum { FILES_MAX = 16 };

struct words {
    struct gpgpusim_import *im;
    struct diag_list *diags;
    uint32_t file;
    const char *p, *end;
    int line, col;
};

static const struct diag_source *source_of(const struct words *w) { return &w->im->files.data[w->file]; }

static void step(struct words *w)
{
    if (*w->p == '\n') {
        w->line++;
        w->col = 0;
    }
    w->col++;
    w->p++;
}

static void skip_space(struct words *w)
{
    while (w->p < w->end && (isspace((unsigned char)*w->p) || *w->p == '#')) {
        bool comment = *w->p == '#';
        while (comment && w->p < w->end && *w->p != '\n') step(w);
        if (w->p < w->end) step(w);
    }
}

/* Runs of spaces and line ends become one space; none at the ends. */
static void add_squeezed(struct strbuf *out, char c)
{
    if (!isspace((unsigned char)c))
        strbuf_putc(out, c);
    else if (out->len && out->data[out->len - 1] != ' ')
        strbuf_putc(out, ' ');
}

static bool read_quoted(struct words *w, struct strbuf *out)
{
    int line = w->line, col = w->col;
    step(w);
    while (w->p < w->end && *w->p != '"') {
        if (*w->p == '#') /* a comment cuts the line inside of quotes too */
            while (w->p < w->end && *w->p != '\n') step(w);
        if (w->p == w->end) break;
        add_squeezed(out, *w->p);
        step(w);
    }
    if (w->p == w->end) {
        diag_add(w->diags, DIAG_ERROR, source_of(w), line, col, 1, "close it with '\"'",
                 "the quoted value does not end");
        return false;
    }
    step(w);
    while (out->len && out->data[out->len - 1] == ' ') out->data[--out->len] = 0;
    return true;
}

static bool read_word(struct words *w, struct strbuf *out)
{
    if (*w->p == '"') return read_quoted(w, out);
    while (w->p < w->end && !isspace((unsigned char)*w->p) && *w->p != '#') {
        strbuf_putc(out, *w->p);
        step(w);
    }
    return true;
}

void gpgpusim_place(const struct gpgpusim_import *im, const struct gpgpusim_option *o, size_t at, int *line,
                    int *col)
{
    const struct diag_source *src = &im->files.data[o->file];
    struct words w = {.p = src->text + o->value_at,
                      .end = src->text + src->len,
                      .line = o->value_line,
                      .col = o->value_col};
    struct strbuf value = {0};
    bool quoted = w.p < w.end && *w.p == '"';
    if (quoted) step(&w);
    while (quoted && w.p < w.end && *w.p != '"') { /* as read_quoted goes */
        if (*w.p == '#')
            while (w.p < w.end && *w.p != '\n') step(&w);
        if (w.p == w.end) break;
        bool counts = !isspace((unsigned char)*w.p);
        if (counts && value.len >= at) break;
        add_squeezed(&value, *w.p);
        step(&w);
    }
    strbuf_free(&value);
    *line = w.line;
    *col = w.col + (quoted ? 0 : (int)at);
}

/* A dash and a letter: "-1" is a value. */
static bool at_name(const struct words *w)
{
    return w->p + 1 < w->end && *w->p == '-' && isalpha((unsigned char)w->p[1]);
}

struct gpgpusim_option *gpgpusim_find(struct gpgpusim_import *im, const char *name)
{
    for (uint32_t i = 0; i < im->options.len; i++)
        if (!strcmp(im->options.data[i].name, name)) return &im->options.data[i];
    return NULL;
}

static void keep_option(struct gpgpusim_import *im, struct gpgpusim_option o)
{
    struct gpgpusim_option *before = gpgpusim_find(im, o.name);
    if (!before) {
        vec_push(&im->options, o);
        return;
    }
    free(before->name);
    free(before->value);
    *before = o;
}

static bool read_file(struct gpgpusim_import *im, const char *path, const struct words *from,
                      const struct gpgpusim_option *at, struct diag_list *diags);

/* A file that an option names lies beside the file with the option, unless its path is absolute. */
static bool read_named(struct words *w, const struct gpgpusim_option *o)
{
    struct strbuf path = {0};
    const char *here = source_of(w)->file, *slash = strrchr(here, '/');
    if (slash && *o->value != '/') strbuf_add(&path, here, (size_t)(slash - here) + 1);
    strbuf_puts(&path, o->value);
    bool ok = read_file(w->im, strbuf_text(&path), w, o, w->diags);
    strbuf_free(&path);
    return ok;
}

static bool read_option(struct words *w)
{
    struct strbuf name = {0}, value = {0};
    struct gpgpusim_option o = {.file = w->file, .line = w->line, .col = w->col};
    read_word(w, &name);
    skip_space(w);
    o.value_line = w->line;
    o.value_col = w->col;
    o.value_at = (size_t)(w->p - source_of(w)->text);
    bool ok = w->p < w->end && !at_name(w);
    if (ok)
        ok = read_word(w, &value);
    else
        diag_add(w->diags, DIAG_ERROR, source_of(w), o.line, o.col, (int)name.len, NULL,
                 "option '%s' has no value", name.data);
    o.name = mem_strdup(strbuf_text(&name));
    o.value = mem_strdup(strbuf_text(&value));
    strbuf_free(&name);
    strbuf_free(&value);
    if (ok && !strcmp(o.name, "-config")) {
        ok = read_named(w, &o);
    } else if (ok) {
        bool network = !strcmp(o.name, "-inter_config_file");
        keep_option(w->im, o);
        return !network || read_named(w, gpgpusim_find(w->im, o.name));
    }
    free(o.name);
    free(o.value);
    return ok;
}

static bool read_options(struct words *w)
{
    bool ok = true;
    for (skip_space(w); w->p < w->end; skip_space(w)) {
        if (at_name(w)) {
            ok = read_option(w) && ok;
            continue;
        }
        int line = w->line, col = w->col;
        struct strbuf word = {0};
        if (read_word(w, &word))
            diag_add(w->diags, DIAG_ERROR, source_of(w), line, col, (int)MAX(word.len, (size_t)1),
                     "the file is a row of '-name value'; '#' starts a comment",
                     "'%s' is not the value of an option", strbuf_text(&word));
        strbuf_free(&word);
        ok = false;
    }
    return ok;
}

/* ---- the network's file ---- */

/* One line of it: name = value; nothing else is looked at (lists of numbers are traffic, which only
 * BookSim's own generators use). */
static void read_network_line(struct words *w, const char *line, size_t len, int number)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (line[i] == '/' && line[i + 1] == '/') len = i;
    const char *eq = memchr(line, '=', len), *semi = memchr(line, ';', len);
    if (!eq || !semi || semi < eq) return;
    struct strbuf name = {0}, value = {0};
    strbuf_puts(&name, "-icnt:");
    for (const char *p = line; p < eq; p++)
        if (!isspace((unsigned char)*p)) strbuf_putc(&name, *p);
    const char *from = eq + 1;
    while (from < semi && isspace((unsigned char)*from)) from++;
    for (; from < semi; from++) strbuf_putc(&value, *from);
    while (value.len && isspace((unsigned char)value.data[value.len - 1])) value.data[--value.len] = 0;
    keep_option(w->im, (struct gpgpusim_option){.name = mem_strdup(strbuf_text(&name)),
                                                .value = mem_strdup(strbuf_text(&value)),
                                                .file = w->file,
                                                .line = number,
                                                .col = 1,
                                                .value_line = number,
                                                .value_col = (int)(from - line) + 1});
    strbuf_free(&name);
    strbuf_free(&value);
}

static void read_network(struct words *w)
{
    for (int number = 1; w->p < w->end; number++) {
        const char *end = memchr(w->p, '\n', (size_t)(w->end - w->p));
        if (!end) end = w->end;
        read_network_line(w, w->p, (size_t)(end - w->p), number);
        w->p = end < w->end ? end + 1 : end;
    }
}

/* ---- files ---- */

static bool read_text(struct gpgpusim_import *im, const char *name, char *text, size_t len, bool network,
                      struct diag_list *diags)
{
    vec_push(&im->files, (struct diag_source){mem_strdup(name), text, len});
    struct words w = {.im = im,
                      .diags = diags,
                      .file = im->files.len - 1,
                      .p = text,
                      .end = text + len,
                      .line = 1,
                      .col = 1};
    if (!network) return read_options(&w);
    read_network(&w);
    return true;
}

static char *load_text(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct strbuf s = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&s, block, n);
    bool failed = ferror(f);
    fclose(f);
    *len = s.len;
    if (!failed) return s.data ? s.data : mem_strdup("");
    strbuf_free(&s);
    return NULL;
}

/* from, at: the option that names the file; NULL for one of the command line. A network file that is not
 * there is a warning: its values then stay those of the machine that the file starts from. */
static bool read_file(struct gpgpusim_import *im, const char *path, const struct words *from,
                      const struct gpgpusim_option *at, struct diag_list *diags)
{
    bool network = at && !strcmp(at->name, "-inter_config_file");
    struct diag_source src = from ? *source_of(from) : (struct diag_source){0};
    int line = at ? at->value_line : 0, col = at ? at->value_col : 0, len = at ? (int)strlen(at->value) : 0;
    if (im->files.len >= FILES_MAX) {
        diag_add(diags, DIAG_ERROR, from ? &src : NULL, line, col, len,
                 "does a file name itself with -config?", "more than %d files", FILES_MAX);
        return false;
    }
    size_t bytes = 0;
    char *text = load_text(path, &bytes);
    if (text) return read_text(im, path, text, bytes, network, diags);
    diag_add(diags, network ? DIAG_WARNING : DIAG_ERROR, from ? &src : NULL, line, col, len,
             network ? "the network's buffers and flits are not imported" : NULL, "cannot read %s", path);
    return network;
}

bool gpgpusim_read(struct gpgpusim_import *im, const char *const *paths, uint32_t count,
                   struct diag_list *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) ok = read_file(im, paths[i], NULL, NULL, diags) && ok;
    return ok;
}

bool gpgpusim_read_text(struct gpgpusim_import *im, const char *name, const char *text,
                        struct diag_list *diags)
{
    return read_text(im, name, mem_strdup(text), strlen(text), false, diags);
}

void gpgpusim_free(struct gpgpusim_import *im)
{
    for (uint32_t i = 0; i < im->files.len; i++) {
        free((char *)im->files.data[i].file);
        free((char *)im->files.data[i].text);
    }
    for (uint32_t i = 0; i < im->options.len; i++) {
        free(im->options.data[i].name);
        free(im->options.data[i].value);
    }
    for (uint32_t i = 0; i < im->settings.len; i++) {
        free(im->settings.data[i].key);
        free(im->settings.data[i].value);
        free(im->settings.data[i].source);
    }
    for (uint32_t i = 0; i < im->left.len; i++) {
        free(im->left.data[i].option);
        free(im->left.data[i].reason);
    }
    free(im->mech);
    vec_free(&im->files);
    vec_free(&im->options);
    vec_free(&im->settings);
    vec_free(&im->left);
    memset(im, 0, sizeof *im);
}
