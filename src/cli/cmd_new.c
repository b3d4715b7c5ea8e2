/* cmd_new.c: `heddle new mechanism NAME`: a mechanism of the user's own, as a folder that builds and runs at
 * once.
 *
 * It writes a whole small mechanism, not a list of empty functions: with a vote, statistics and a parameter,
 * so that an example of each common part of the interface is there to be changed. Existing files are not
 * overwritten. */
#include "base/output.h"
#include "cli/cli.h"
#include "core/mech/mech_set.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the templates @N@ is the name, @I@ the name as a C identifier, @H@ the folder of the public headers. */

static const char new_source[] =
    "/* @I@.c: @N@: say here what hardware this models, and where that is known from.\n"
    " *\n"
    " * As written it keeps loads that never hit out of the L1: a load instruction (PC) that has missed "
    "`@N@.misses` times in a row\n"
    " * takes no line until one of its accesses hits, but for one miss in 16, so that locality that begins "
    "is seen.\n"
    " * Change what you like; docs/mechanisms.md lists every hook.\n"
    " *\n"
    " *     make && heddle kernel saxpy.ptx saxpy --grid 64 --block 256 ... --mech ./@N@.so --mech-set "
    "@N@.misses=16 */\n"
    "#include <heddle/mechanism.h>\n"
    "\n"
    "enum { @I@_LOADS = 64 }; /* load instructions with a counter each */\n"
    "\n"
    "struct @I@_params {\n"
    "    uint32_t misses;\n"
    "};\n"
    "\n"
    "struct @I@ { /* one for each SM, zeroed */\n"
    "    const struct @I@_params *params;\n"
    "    uint32_t misses_in_a_row[@I@_LOADS]; /* by PC */\n"
    "    uint64_t asked, bypassed;\n"
    "};\n"
    "\n"
    "/* Each name begins with the mechanism's. Name, unit, default, smallest, largest, help. */\n"
    "static const struct param_row @I@_param_rows[] = {\n"
    "    PARAM_NUMBER(@I@_params, misses, \"@N@.misses\", \"accesses\", \"32\", 1, 1000000,\n"
    "              \"misses in a row after which a load takes no line of the L1\"),\n"
    "    {0},\n"
    "};\n"
    "\n"
    "static const struct stat_row @I@_stat_rows[] = {\n"
    "    STAT_COUNT(@I@, asked, \"@N@.asked\", \"misses\", \"misses that were voted on\", NULL),\n"
    "    STAT_COUNT(@I@, bypassed, \"@N@.bypassed\", \"misses\", \"misses that were to take no line\", "
    "NULL),\n"
    "    {0},\n"
    "};\n"
    "\n"
    "static void @I@_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)\n"
    "{\n"
    "    struct @I@ *s = state;\n"
    "    s->params = params;\n"
    "}\n"
    "\n"
    "static void @I@_on_l1_access(void *state, const struct mech_l1_access *a)\n"
    "{\n"
    "    struct @I@ *s = state;\n"
    "    uint32_t *misses = &s->misses_in_a_row[a->pc % @I@_LOADS];\n"
    "    if (a->is_store || a->is_atomic || a->is_prefetch) return;\n"
    "    if (a->outcome == MECH_L1_MISS)\n"
    "        ++*misses;\n"
    "    else if (a->outcome == MECH_L1_HIT)\n"
    "        *misses = 0;\n"
    "}\n"
    "\n"
    "static bool @I@_may_allocate(void *state, const struct mech_l1_access *a)\n"
    "{\n"
    "    struct @I@ *s = state;\n"
    "    uint32_t misses = s->misses_in_a_row[a->pc % @I@_LOADS];\n"
    "    bool may = misses < s->params->misses || misses % 16 == 0;\n"
    "    s->asked++;\n"
    "    if (!may) s->bypassed++;\n"
    "    return may;\n"
    "}\n"
    "\n"
    "HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {\n"
    "    .api = HEDDLE_MECHANISM_API,\n"
    "    .name = \"@N@\",\n"
    "    .summary = \"loads that never hit take no line of the L1\",\n"
    "    .paper = \"\",\n"
    "    .params = @I@_param_rows,\n"
    "    .param_bytes = sizeof(struct @I@_params),\n"
    "    .stats = @I@_stat_rows,\n"
    "    .state_bytes = sizeof(struct @I@),\n"
    "    .init = @I@_init,\n"
    "    .may_allocate = @I@_may_allocate,\n"
    "    .on_l1_access = @I@_on_l1_access,\n"
    "};\n";

static const char new_makefile[] =
    "# Builds @N@.so; `make HEDDLE_INCLUDE=/path/to/include` for another Heddle.\n"
    "HEDDLE_INCLUDE ?= @H@\n"
    "CFLAGS ?= -O2 -g -Wall -Wextra -Wno-unused-parameter\n"
    "\n"
    "@N@.so: @I@.c\n"
    "\t$(CC) -std=gnu17 $(CFLAGS) -shared -fPIC -fvisibility=hidden -I$(HEDDLE_INCLUDE) -o $@ $<\n"
    "\n"
    "clean:\n"
    "\trm -f @N@.so\n"
    ".PHONY: clean\n";

static const char new_cmake[] =
    "# Builds @N@.so; -DHEDDLE_INCLUDE=/path/to/include for another Heddle.\n"
    "cmake_minimum_required(VERSION 3.22)\n"
    "project(@I@ LANGUAGES C)\n"
    "set(HEDDLE_INCLUDE \"@H@\" CACHE PATH \"The folder that holds heddle/mechanism.h\")\n"
    "add_library(@I@ MODULE @I@.c)\n"
    "target_include_directories(@I@ PRIVATE ${HEDDLE_INCLUDE})\n"
    "set_target_properties(@I@ PROPERTIES PREFIX \"\" OUTPUT_NAME \"@N@\" C_STANDARD 17 C_VISIBILITY_PRESET "
    "hidden)\n";

struct new_mechanism {
    const char *name, *folder, *include;
    char identifier[64];
};

static bool new_is_header_folder(const char *folder)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/heddle/mechanism.h", folder);
    bool is = !access(strbuf_text(&path), R_OK);
    strbuf_free(&path);
    return is;
}

/* The public headers: beside the data (a source tree), or where the command was installed. Empty: not found.
 */
static void new_find_include(char out[PATH_MAX])
{
    char folder[PATH_MAX];
    struct strbuf data = {0}, prefix = {0};
    strbuf_printf(&data, "%s/include", machine_data_dir());
    strbuf_printf(&prefix, "%s/../include", cli_self_dir()); /* PREFIX/bin/heddle */
    const char *const candidates[] = {strbuf_text(&data), strbuf_text(&prefix), "/usr/local/include",
                                      "/usr/include"};
    out[0] = 0;
    for (size_t i = 0; i < ARRAY_LEN(candidates) && !out[0]; i++)
        if (new_is_header_folder(candidates[i]) && realpath(candidates[i], folder)) strcpy(out, folder);
    strbuf_free(&data);
    strbuf_free(&prefix);
}

/* An exit status. */
static int new_write(const struct new_mechanism *m, const char *file, const char *text)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", m->folder, file);
    struct output out;
    bool exists = !access(strbuf_text(&path), F_OK), ok = !exists && output_open(&out, strbuf_text(&path));
    if (exists) errno = EEXIST;
    for (; ok && *text; text++) {
        bool is_mark = text[0] == '@' && text[1] && text[2] == '@';
        const char *value = !is_mark         ? NULL
                            : text[1] == 'N' ? m->name
                            : text[1] == 'I' ? m->identifier
                                             : m->include;
        if (is_mark) {
            fputs(value, out.file);
            text += 2;
        } else {
            fputc(*text, out.file);
        }
    }
    ok = ok && output_close(&out);
    if (!ok) fprintf(stderr, "heddle: error: cannot write %s: %s\n", strbuf_text(&path), strerror(errno));
    strbuf_free(&path);
    return ok ? CLI_OK : exists ? CLI_BAD_INPUT : CLI_FAILED;
}

/* Returns why a name is not allowed; NULL: it is. */
static const char *new_name_fault(struct new_mechanism *m)
{
    size_t n = strlen(m->name);
    if (n >= sizeof m->identifier) return "a name has at most 63 characters";
    for (size_t i = 0; i < n; i++) {
        char c = m->name[i];
        if (!islower((unsigned char)c) && !(i && (isdigit((unsigned char)c) || c == '-' || c == '_')))
            return "a name is made of a-z, then also 0-9, '-' and '_'";
        m->identifier[i] = c == '-' ? '_' : c;
    }
    m->identifier[n] = 0;
    return mech_builtin_find(m->name) ? "a built-in mechanism has this name" : NULL;
}

static int new_make(struct new_mechanism *m)
{
    struct strbuf source = {0};
    if (mkdir(m->folder, 0777) && errno != EEXIST) {
        fprintf(stderr, "heddle: error: cannot make the folder %s: %s\n", m->folder, strerror(errno));
        return CLI_FAILED;
    }
    strbuf_printf(&source, "%s.c", m->identifier);
    int status = new_write(m, strbuf_text(&source), new_source);
    if (status == CLI_OK) status = new_write(m, "Makefile", new_makefile);
    if (status == CLI_OK) status = new_write(m, "CMakeLists.txt", new_cmake);
    if (status == CLI_OK)
        printf("wrote %s/%s, Makefile and CMakeLists.txt. Now:\n"
               "  make -C %s\n"
               "  heddle run --mech %s%s/%s.so -- ./app\n",
               m->folder, strbuf_text(&source), m->folder, strchr(m->folder, '/') ? "" : "./", m->folder,
               m->name);
    strbuf_free(&source);
    return status;
}

int cli_cmd_new(int argc, char **argv)
{
    const char *folder = NULL, *include = NULL;
    struct cli_option options[] = {
        {"--output", "-o", CLI_STRING, &folder, "FOLDER", "where to write it; default: a folder of its name"},
        {"--include", NULL, CLI_STRING, &include, "FOLDER",
         "what holds heddle/mechanism.h; default: this Heddle's"},
        {0},
    };
    struct cli_parse p = {.command = cli_command("new"), .options = options};
    int status = CLI_BAD_INPUT;
    char found[PATH_MAX];
    if (!cli_parse(&p, argc, argv)) {
        status = p.status;
    } else if (p.words.items.len != 2 || strcmp(p.words.items.data[0].text, "mechanism")) {
        cli_error(argc, argv, argc, 0, 1, "heddle new mechanism my-scheduler", "new takes: mechanism NAME");
    } else {
        struct cli_value name = p.words.items.data[1];
        struct new_mechanism m = {.name = name.text, .folder = folder ? folder : name.text};
        const char *fault = new_name_fault(&m);
        new_find_include(found);
        m.include = include ? include : found;
        if (fault)
            cli_error(argc, argv, name.arg, 0, (int)strlen(name.text), NULL, "%s", fault);
        else if (!new_is_header_folder(m.include))
            cli_error(argc, argv, argc, 0, 1, "--include FOLDER says where it is",
                      "cannot find heddle/mechanism.h%s%s", include ? " in " : "", include ? include : "");
        else
            status = new_make(&m);
    }
    vec_free(&p.words.items);
    return status;
}
