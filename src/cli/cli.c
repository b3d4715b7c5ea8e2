/* cli.c: option tables, help and errors of the command line. */
#include "cli/cli.h"

#include "base/count.h"
#include "cli/run_flags.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

void cli_print_diags(const struct diag_list *diags)
{
    struct strbuf out = {0};
    diag_render(diags, &out);
    fputs(strbuf_text(&out), stderr);
    strbuf_free(&out);
}

void cli_error(int argc, char **argv, int arg, int offset, int len, const char *hint, const char *fmt, ...)
{
    struct strbuf line = {0};
    int col = 1;
    strbuf_puts(&line, "heddle");
    for (int i = 0; i < argc; i++) {
        strbuf_putc(&line, ' ');
        if (i == arg) col = (int)line.len + 1 + offset;
        strbuf_puts(&line, argv[i]);
    }
    if (arg >= argc) col = (int)line.len + 1; /* a value is missing at the end */
    struct diag_source src = {.file = "command line", .text = line.data, .len = line.len};
    struct diag_list diags = {0};
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(&diags, DIAG_ERROR, &src, 1, col, len, hint, fmt, ap);
    va_end(ap);
    cli_print_diags(&diags);
    diag_free(&diags);
    strbuf_free(&line);
}

const struct cli_command *cli_command(const char *name)
{
    const struct cli_command *c = cli_commands;
    while (c->name && strcmp(c->name, name)) c++;
    return c;
}

void cli_print_wrapped(const char *text, int col, int indent)
{
    enum { COLUMNS = 80 };
    for (const char *word = text; *word;) {
        int len = (int)strcspn(word, " "), gap = word != text;
        if (gap && col + 1 + len > COLUMNS) {
            printf("\n%*s", indent, "");
            col = indent;
            gap = 0;
        }
        printf("%*s%.*s", gap, "", len, word);
        col += gap + len;
        word += len + (word[len] == ' ');
    }
    putchar('\n');
}

static void cli_print_help_row(const char *left, const char *help)
{
    enum { INDENT = 31 };
    int col = MAX(INDENT, (int)strlen(left) + 3);
    printf("  %-*s", col - 2, left);
    cli_print_wrapped(help, col, INDENT);
}

static void cli_print_help(const struct cli_parse *p)
{
    const struct cli_command *c = p->command;
    printf("heddle %s %s\n  ", c->name, c->usage);
    cli_print_wrapped(c->summary, 2, 2);
    puts("\noptions:");
    for (const struct cli_option *o = p->options; o->name; o++) {
        char left[80];
        snprintf(left, sizeof left, "%s%s%s%s%s", o->short_name ? o->short_name : "",
                 o->short_name ? ", " : "", o->name, o->value && o->kind != CLI_MAYBE ? " " : "",
                 o->value ? o->value : "");
        cli_print_help_row(left, o->help);
    }
    cli_print_help_row("-h, --help", "this text");
    if (c->examples) printf("\nexamples:\n%s", c->examples);
}

static uint32_t cli_option_count(const struct cli_option *options)
{
    uint32_t n = 0;
    while (options[n].name) n++;
    return n;
}

struct cli_option *cli_join_options(const struct cli_option *first, const struct cli_option *second)
{
    uint32_t n = cli_option_count(first), m = cli_option_count(second);
    struct cli_option *all = mem_zalloc((n + m + 1) * sizeof *all);
    memcpy(all, first, n * sizeof *all);
    memcpy(all + n, second, m * sizeof *all);
    return all;
}

static const struct cli_option *cli_find_option(const struct cli_option *options, const char *name,
                                                size_t len)
{
    for (const struct cli_option *o = options; o->name; o++) {
        if (strlen(o->name) == len && !strncmp(o->name, name, len)) return o;
        if (o->short_name && strlen(o->short_name) == len && !strncmp(o->short_name, name, len)) return o;
    }
    return NULL;
}

static void cli_unknown_option(const struct cli_option *options, int argc, char **argv, int arg, size_t len)
{
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; options[n].name && n < NAMES_MAX; n++) names[n] = options[n].name;
    char *word = mem_strdup(argv[arg]);
    word[len] = 0;
    const char *near = diag_nearest(word, names, n);
    char hint[128] = "see --help";
    if (near) snprintf(hint, sizeof hint, "did you mean %s?", near);
    cli_error(argc, argv, arg, 0, (int)len, hint, "unknown option '%s'", word);
    free(word);
}

static bool cli_takes_value(const struct cli_option *o)
{
    return o->kind != CLI_FLAG && o->kind != CLI_RUN_FLAG;
}

static bool cli_store_run(const struct cli_option *o, int argc, char **argv, int arg, const char *value)
{
    struct strbuf why = {0};
    bool ok = cli_run_store(o->out, value, &why);
    if (!ok)
        cli_error(argc, argv, arg, (int)(value - argv[arg]), (int)strlen(value), NULL, "%s %s, got '%s'",
                  o->name, strbuf_text(&why), value);
    strbuf_free(&why);
    return ok;
}

static bool cli_store(const struct cli_option *o, int argc, char **argv, int arg, const char *value)
{
    switch (o->kind) {
    case CLI_FLAG: *(bool *)o->out = true; return true;
    case CLI_STRING:
    case CLI_MAYBE: *(const char **)o->out = value; return true;
    case CLI_LIST: vec_push(&((struct cli_list *)o->out)->items, (struct cli_value){value, arg}); return true;
    case CLI_RUN_FLAG:
    case CLI_RUN_VALUE: return cli_store_run(o, argc, argv, arg, value);
    case CLI_NUMBER64:
        if (count_read(value, strlen(value), o->out)) return true;
        cli_error(argc, argv, arg, (int)(value - argv[arg]), (int)strlen(value), NULL,
                  "%s takes a whole number, got '%s'", o->name, value);
        return false;
    }
    UNREACHABLE("option kind");
}

/* One option at argv[*i]; moves *i to its last word. */
static bool cli_parse_option(struct cli_parse *p, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *eq = strchr(word, '=');
    size_t len = eq && word[1] == '-' ? (size_t)(eq - word) : strlen(word);
    const struct cli_option *o = cli_find_option(p->options, word, len);
    if (!o && word[1] != '-') { /* -j8 */
        o = cli_find_option(p->options, word, 2);
        if (o && cli_takes_value(o)) return cli_store(o, argc, argv, *i, word + 2);
        o = NULL;
    }
    if (!o) {
        cli_unknown_option(p->options, argc, argv, *i, len);
        return false;
    }
    bool attached = word[len] == '=';
    if (!cli_takes_value(o)) {
        if (!attached) return cli_store(o, argc, argv, *i, NULL);
        cli_error(argc, argv, *i, (int)len, (int)strlen(word + len), NULL, "%s takes no value", o->name);
        return false;
    }
    if (attached) return cli_store(o, argc, argv, *i, word + len + 1);
    if (o->kind == CLI_MAYBE) return cli_store(o, argc, argv, *i, "");
    if (*i + 1 >= argc) {
        char hint[96];
        snprintf(hint, sizeof hint, "%s %s", o->name, o->value);
        cli_error(argc, argv, argc, 0, 1, hint, "%s needs a value", o->name);
        return false;
    }
    ++*i;
    return cli_store(o, argc, argv, *i, argv[*i]);
}

bool cli_parse(struct cli_parse *p, int argc, char **argv)
{
    p->rest = argc;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
            cli_print_help(p);
            p->status = CLI_OK;
            return false;
        }
        if (!strcmp(argv[i], "--")) {
            p->rest = i + 1;
            break;
        }
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!cli_parse_option(p, argc, argv, &i)) {
                p->status = CLI_BAD_INPUT;
                return false;
            }
        } else {
            vec_push(&p->words.items, (struct cli_value){argv[i], i});
        }
    }
    return true;
}

bool cli_read_dims(const char *text, uint32_t dims[3])
{
    dims[0] = dims[1] = dims[2] = 1;
    for (int i = 0; i < 3; i++) {
        size_t len = strcspn(text, ",x");
        /* "0x10" is a number, not two dimensions */
        if (len == 1 && text[0] == '0' && text[1] == 'x') len = 2 + strcspn(text + 2, ",x");
        uint64_t v;
        if (!count_read(text, len, &v) || v < 1 || v > UINT32_MAX) return false;
        dims[i] = (uint32_t)v;
        text += len;
        if (!*text) return true;
        text++;
    }
    return false;
}

const char *cli_self(void)
{
    static char path[PATH_MAX];
    if (!path[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0) path[0] = 0;
    return path;
}

const char *cli_self_dir(void)
{
    static char folder[PATH_MAX];
    if (folder[0]) return folder;
    strcpy(folder, cli_self());
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    return folder;
}

char *cli_read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "heddle: error: cannot read %s: %s\n", path, strerror(errno));
        return NULL;
    }
    struct strbuf s = {0};
    char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&s, block, n);
    bool bad = ferror(f);
    fclose(f);
    if (bad) {
        fprintf(stderr, "heddle: error: cannot read %s: %s\n", path, strerror(errno));
        strbuf_free(&s);
        return NULL;
    }
    *len = s.len;
    return s.data ? s.data : mem_strdup("");
}

bool cli_load_machine(const struct run_options *o, struct machine *out)
{
    struct diag_list diags = {0};
    const bool ok = run_options_machine(o, out, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    return ok;
}

bool cli_load_named_machine(const char *name, struct machine *out)
{
    struct run_options o;
    run_options_init(&o);
    o.machine = name;
    return cli_load_machine(&o, out);
}
