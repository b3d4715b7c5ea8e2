/* machine.c: the parameters of a machine and the reader of machines/NAME.yaml.
 *
 * A machine file is a two-level YAML mapping: section, then parameter (`sm:` / `  count: 15` is sm.count).
 * `base: NAME` at the top starts from another machine. Every value has its place, so that an error can show
 * it. */
#include "config/machine.h"

#include "base/vec.h"

#include <limits.h>
#include <unistd.h>
#include <yaml.h>

#define ROW(type, field, nm, unit, def, lo, hi, help)                                                        \
    PARAM_ROW(type, machine, field, nm, unit, def, lo, hi, help)

const struct param_row machine_rows[] = {
    ROW(PARAM_TEXT, summary, "summary", "", "", 0, 0, "one line for `heddle list machines`"),
    ROW(PARAM_TEXT, device_name, "device.name", "", "Heddle", 0, 0,
        "name that cudaGetDeviceProperties reports"),
    ROW(PARAM_U32, cc_major, "device.cc_major", "", "9", 2, 9,
        "compute capability told to programs; the emulator runs PTX for up to sm_90 on every machine"),
    ROW(PARAM_U32, cc_minor, "device.cc_minor", "", "0", 0, 9,
        "compute capability, the digit after the point"),
    ROW(PARAM_BYTES, memory_bytes, "device.memory", "bytes", "4G", 1 << 20, 1ull << 37,
        "device memory that a program can allocate"),
    ROW(PARAM_U32, memory_bus_bits, "device.memory_bus", "bits", "384", 8, 16384,
        "width of the memory interface"),
    ROW(PARAM_U32, memory_clock_khz, "device.memory_clock", "kHz", "1848000", 1, UINT32_MAX,
        "memory clock that device properties report"),
    ROW(PARAM_BYTES, l2_bytes, "device.l2", "bytes", "768K", 0, 1ull << 32,
        "size of the L2 cache that device properties report"),
    ROW(PARAM_U32, core_clock_khz, "clock.core", "kHz", "1400000", 1, UINT32_MAX, "clock of the SMs"),
    ROW(PARAM_U32, sm_count, "sm.count", "SMs", "15", 1, 1024, "streaming multiprocessors"),
    ROW(PARAM_U32, sm_threads, "sm.threads", "threads", "1536", 32, 65536,
        "threads that may be resident on one SM"),
    ROW(PARAM_U32, sm_warps, "sm.warps", "warps", "48", 1, 2048, "warps that may be resident on one SM"),
    ROW(PARAM_U32, sm_ctas, "sm.ctas", "CTAs", "8", 1, 1024, "CTAs that may be resident on one SM"),
    ROW(PARAM_U32, sm_registers, "sm.registers", "registers", "32768", 1024, 1 << 24,
        "32-bit registers of one SM"),
    ROW(PARAM_U32, sm_register_unit, "sm.register_unit", "registers", "64", 1, 4096,
        "a warp gets registers in multiples of this"),
    ROW(PARAM_U32, sm_thread_registers_max, "sm.thread_registers", "registers", "255", 16, 255,
        "registers that one thread may use; more are spilled to local memory"),
    ROW(PARAM_BYTES, sm_shared_bytes, "sm.shared", "bytes", "48K", 0, 1 << 24, "shared memory of one SM"),
    ROW(PARAM_BYTES, sm_shared_unit, "sm.shared_unit", "bytes", "128", 1, 65536,
        "a CTA gets shared memory in multiples of this"),
    ROW(PARAM_U32, cta_threads, "cta.threads", "threads", "1024", 32, 1024, "threads of one CTA, at most"),
    ROW(PARAM_BYTES, cta_shared_bytes, "cta.shared", "bytes", "48K", 0, 1 << 24,
        "shared memory of one CTA, at most, unless the program asks for more"),
    ROW(PARAM_BYTES, cta_shared_optin_bytes, "cta.shared_optin", "bytes", "48K", 0, 1 << 24,
        "shared memory of one CTA, at most, when the program asks for more"),
    ROW(PARAM_U32, emu_stack_bytes, "emu.stack", "bytes", "1024", 0, 512 << 10,
        "stack of one thread for calls and recursion (cudaLimitStackSize)"),
    ROW(PARAM_BYTES, emu_heap_bytes, "emu.heap", "bytes", "8M", 0, 1ull << 36,
        "heap of device-side malloc (cudaLimitMallocHeapSize)"),
    ROW(PARAM_U64, emu_warp_insts_max, "emu.warp_insts_max", "instructions", "10000000000", 0, UINT64_MAX,
        "instructions after which a warp is taken to loop for ever; 0 = no limit"),
    {0},
};

const char *machine_data_dir(void)
{
    const char *home = getenv("HEDDLE_HOME");
    if (home && *home) return home;
    return HEDDLE_DATA_DIR; /* the source folder, or the installed one: set by the build */
}

/* ---- reading ---- */

struct machine_file {
    struct diag_source src;
    char *text;
    yaml_document_t doc;
};

static char *machine_read_text(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct strbuf s = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) strbuf_add(&s, block, n);
    fclose(f);
    *len = s.len;
    return s.data ? s.data : mem_strdup("");
}

static bool machine_parse_yaml(struct machine_file *f, struct diag_list *diags)
{
    yaml_parser_t parser;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)f->text, f->src.len);
    bool ok = yaml_parser_load(&parser, &f->doc);
    if (!ok)
        diag_add(diags, DIAG_ERROR, &f->src, (int)parser.problem_mark.line + 1,
                 (int)parser.problem_mark.column + 1, 1,
                 "a machine file is 'section:' lines with indented 'key: value' lines", "not valid YAML: %s",
                 parser.problem ? parser.problem : "unknown problem");
    yaml_parser_delete(&parser);
    return ok;
}

static void machine_error_at(struct machine_file *f, const yaml_node_t *n, struct diag_list *diags,
                             const char *hint, const char *what)
{
    diag_add(diags, DIAG_ERROR, &f->src, (int)n->start_mark.line + 1, (int)n->start_mark.column + 1, 1, hint,
             "%s", what);
}

static const char *machine_scalar(const yaml_node_t *n) { return (const char *)n->data.scalar.value; }

static void machine_apply(struct machine_file *f, struct machine *out, const char *name,
                          const yaml_node_t *key, const yaml_node_t *value, struct diag_list *diags)
{
    if (value->type != YAML_SCALAR_NODE) {
        machine_error_at(f, value, diags, NULL, "a parameter takes one value, not a list or a mapping");
        return;
    }
    param_set(machine_rows, out, name, machine_scalar(value), &f->src, (int)key->start_mark.line + 1,
              (int)key->start_mark.column + 1, (int)value->start_mark.column + 1, diags);
}

static bool machine_load_file(const char *name, struct machine *out, struct diag_list *diags, int depth);

static void machine_apply_section(struct machine_file *f, struct machine *out, const yaml_node_t *key,
                                  const yaml_node_t *section, struct diag_list *diags)
{
    for (yaml_node_pair_t *p = section->data.mapping.pairs.start; p < section->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&f->doc, p->key),
                    *v = yaml_document_get_node(&f->doc, p->value);
        if (k->type != YAML_SCALAR_NODE) {
            machine_error_at(f, k, diags, NULL, "a parameter's name must be plain text");
            continue;
        }
        struct strbuf name = {0};
        strbuf_printf(&name, "%s.%s", machine_scalar(key), machine_scalar(k));
        machine_apply(f, out, strbuf_text(&name), k, v, diags);
        strbuf_free(&name);
    }
}

static void machine_apply_root(struct machine_file *f, struct machine *out, struct diag_list *diags,
                               int depth)
{
    yaml_node_t *root = yaml_document_get_root_node(&f->doc);
    if (!root || root->type != YAML_MAPPING_NODE) {
        diag_add(diags, DIAG_ERROR, &f->src, 1, 1, 1, "see machines/fermi.yaml",
                 "a machine file must be a mapping");
        return;
    }
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&f->doc, p->key),
                    *v = yaml_document_get_node(&f->doc, p->value);
        if (k->type != YAML_SCALAR_NODE)
            machine_error_at(f, k, diags, NULL, "a section's name must be plain text");
        else if (!strcmp(machine_scalar(k), "base") && v->type == YAML_SCALAR_NODE)
            machine_load_file(machine_scalar(v), out, diags, depth + 1);
        else if (v->type == YAML_MAPPING_NODE)
            machine_apply_section(f, out, k, v, diags);
        else
            machine_apply(f, out, machine_scalar(k), k, v, diags);
    }
}

/* A path as it is, a bare name in the machines folder. */
static void machine_path(const char *name, struct strbuf *out)
{
    size_t n = strlen(name);
    if (strchr(name, '/') || (n > 5 && !strcmp(name + n - 5, ".yaml")))
        strbuf_puts(out, name);
    else
        strbuf_printf(out, "%s/machines/%s.yaml", machine_data_dir(), name);
}

static bool machine_load_file(const char *name, struct machine *out, struct diag_list *diags, int depth)
{
    enum { BASE_DEPTH_MAX = 8 };
    if (depth > BASE_DEPTH_MAX) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0, NULL, "machine '%s': 'base' goes round in a circle", name);
        return false;
    }
    struct strbuf path = {0};
    machine_path(name, &path);
    struct machine_file f = {.src.file = strbuf_text(&path)};
    uint32_t errors = diags->errors;
    f.text = machine_read_text(f.src.file, &f.src.len);
    f.src.text = f.text;
    if (!f.text) {
        diag_add(diags, DIAG_ERROR, NULL, 0, 0, 0,
                 "`heddle list machines` shows what there is; a path to a .yaml file works too",
                 "no machine '%s': %s cannot be read", name, f.src.file);
    } else if (machine_parse_yaml(&f, diags)) {
        machine_apply_root(&f, out, diags, depth);
        yaml_document_delete(&f.doc);
    }
    free(f.text);
    strbuf_free(&path);
    return diags->errors == errors;
}

static void machine_apply_override(const char *text, struct machine *out, struct diag_list *diags)
{
    struct diag_source src = {.file = "--set", .text = text, .len = strlen(text)};
    const char *eq = strchr(text, '=');
    if (!eq) {
        diag_add(diags, DIAG_ERROR, &src, 1, 1, (int)strlen(text), "write --set sm.count=30",
                 "'%s' is not of the form key=value", text);
        return;
    }
    char *key = mem_strdup(text);
    key[eq - text] = 0;
    param_set(machine_rows, out, key, eq + 1, &src, 1, 1, (int)(eq - text) + 2, diags);
    free(key);
}

static void machine_name_from(const char *name, struct machine *out)
{
    const char *slash = strrchr(name, '/');
    snprintf(out->name, sizeof out->name, "%s", slash ? slash + 1 : name);
    char *dot = strstr(out->name, ".yaml");
    if (dot) *dot = 0;
}

bool machine_load(const char *name, const char *const *overrides, uint32_t override_count,
                  struct machine *out, struct diag_list *diags)
{
    memset(out, 0, sizeof *out);
    param_set_defaults(machine_rows, out);
    machine_name_from(name, out);
    uint32_t errors = diags->errors;
    machine_load_file(name, out, diags, 0);
    for (uint32_t i = 0; i < override_count; i++) machine_apply_override(overrides[i], out, diags);
    return diags->errors == errors;
}
