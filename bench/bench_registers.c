/* bench_registers.c: prints for each kernel of the PTX files given: file, kernel, registers, bytes spilled,
 * instructions, milliseconds to lower its module. Read by registers.sh, which sets them beside what ptxas
 * says. */
#include <time.h>

#include "lower/lower.h"
#include "ptx/ptx.h"

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    struct strbuf text = {0};
    char chunk[65536];
    size_t n;
    if (!f) return NULL;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) strbuf_add(&text, chunk, n);
    fclose(f);
    *len = text.len;
    return text.data;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void show_errors(const char *path, const struct diag_list *d)
{
    struct strbuf out = {0};
    diag_render(d, &out);
    fprintf(stderr, "%s: not lowered\n%s", path, strbuf_text(&out));
    strbuf_free(&out);
}

static bool show_file(const char *path, bool listing, const struct lower_options *opts)
{
    size_t len = 0;
    char *text = read_file(path, &len);
    struct diag_list diags = {0};
    if (!text) {
        fprintf(stderr, "%s: cannot read\n", path);
        return false;
    }
    struct ptx_module *ptx = ptx_parse(path, text, len, &diags);
    double start = now_ms();
    struct isa_module *m = ptx ? lower_module(ptx, opts, &diags) : NULL;
    double ms = now_ms() - start;
    if (!m) show_errors(path, &diags);
    for (uint32_t i = 0; m && i < m->kernel_count; i++) {
        const struct isa_kernel *k = m->kernels[i];
        struct strbuf out = {0};
        if (listing) {
            lower_disasm(m, k, true, &out);
            printf("%s\n", strbuf_text(&out));
        } else {
            printf("%s\t%s\t%u\t%u\t%u\t%.2f\n", path, k->name, k->reg_count, k->spill_bytes, k->inst_count,
                   ms);
        }
        strbuf_free(&out);
    }
    bool ok = m != NULL;
    isa_module_free(m);
    ptx_module_free(ptx);
    diag_free(&diags);
    free(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct lower_options opts = {.opt_level = 1};
    bool listing = false, ok = true;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-l"))
            listing = true;
        else if (!strncmp(argv[i], "-r", 2))
            opts.regs_max = (uint32_t)strtoul(argv[i] + 2, NULL, 10);
        else if (!strcmp(argv[i], "-O0"))
            opts.opt_level = 0;
        else if (!strcmp(argv[i], "-n"))
            opts.no_inline = true;
        else
            ok &= show_file(argv[i], listing, &opts);
    }
    return ok ? 0 : 1;
}
