/* cmd_kernel.c: heddle kernel: one kernel of a PTX file, its arguments from the command line, no host
 * program. */
#include "base/count.h"
#include "base/hash.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/kernel_args.h"
#include "cli/kernel_timed.h"
#include "cli/run_flags.h"
#include "core/occupancy.h"
#include "cuda/limits.h"
#include "lower/lower.h"
#include "stats/print.h"

#include <errno.h>
#include <inttypes.h>

struct kernel_run {
    int argc;
    char **argv;
    const char *grid, *block;
    uint64_t shared_bytes, seed, show;
    bool cooperative;
    struct cli_run run;
    struct cli_list args, outs;
    struct machine machine;
    VEC(struct kernel_arg) values;
    struct emu_device *device;
    struct emu_module *module;
    const struct isa_kernel *kernel;
};

static bool kernel_read_args(struct kernel_run *r)
{
    for (uint32_t i = 0; i < r->args.items.len; i++) {
        struct cli_value w = r->args.items.data[i];
        struct kernel_arg a;
        const char *message;
        int bad = kernel_arg_parse(w.text, &a, &message);
        if (bad >= 0) {
            int offset = (int)(w.text - r->argv[w.arg]) + bad;
            cli_error(r->argc, r->argv, w.arg, offset, (int)strlen(w.text) - bad, NULL, "%s", message);
            return false;
        }
        vec_push(&r->values, a);
    }
    return true;
}

static bool kernel_load(struct kernel_run *r, const char *path)
{
    size_t len;
    char *text = cli_read_file(path, &len);
    if (!text) return false;
    struct diag_list diags = {0};
    uint32_t limit = r->run.options.registers_max;
    struct lower_options lo = {.opt_level = 1,
                               .one_to_one = r->machine.lower_one_to_one,
                               .indirect_move = r->machine.sm_indirect_move,
                               .sm_regs = r->machine.sm_registers,
                               .regs_max = limit ? limit : r->machine.sm_thread_registers_max};
    struct ptx_module *ptx = ptx_parse(path, text, len, &diags);
    struct isa_module *isa = ptx ? lower_module(ptx, &lo, &diags) : NULL;
    if (ptx) ptx_module_free(ptx);
    if (isa) r->module = emu_module_load(r->device, isa, NULL, NULL, &diags);
    cli_print_diags(&diags);
    diag_free(&diags);
    free(text);
    return r->module != NULL;
}

static bool kernel_find(struct kernel_run *r, struct cli_value name)
{
    r->kernel = emu_find_kernel(r->module, name.text);
    if (r->kernel) return true;
    const struct isa_module *isa = emu_module_isa(r->module);
    const char **names = mem_alloc(sizeof *names * (isa->kernel_count + 1));
    for (uint32_t i = 0; i < isa->kernel_count; i++) names[i] = isa->kernels[i]->name;
    const char *near = diag_nearest(name.text, names, isa->kernel_count);
    struct strbuf hint = {0};
    if (near)
        strbuf_printf(&hint, "did you mean '%s'?", near);
    else
        for (uint32_t i = 0; i < isa->kernel_count && i < 8; i++)
            strbuf_printf(&hint, "%s%s", i ? ", " : "it has: ", names[i]);
    cli_error(r->argc, r->argv, name.arg, 0, (int)strlen(name.text),
              hint.len ? strbuf_text(&hint) : "it has no kernels", "no kernel '%s' in this module",
              name.text);
    strbuf_free(&hint);
    free(names);
    return false;
}

static bool is_json(const struct kernel_run *r) { return r->run.options.format == RUN_FORMAT_JSON; }

/* Places buffers and lays the parameter block out. */
static bool kernel_pack(struct kernel_run *r, unsigned char *block)
{
    const struct isa_kernel *k = r->kernel;
    if (r->values.len != k->param_count) {
        cli_error(r->argc, r->argv, r->argc, 0, 1, "one --arg for each parameter, in order",
                  "kernel '%s' takes %u arguments, got %u", k->name, k->param_count, r->values.len);
        return false;
    }
    struct rng rng = {r->seed};
    for (uint32_t i = 0; i < r->values.len; i++) {
        struct kernel_arg *a = &r->values.data[i];
        struct cli_value w = r->args.items.data[i];
        uint32_t bytes = a->is_buffer ? 8 : kernel_arg_type_bytes(a->type);
        struct strbuf message = {0};
        if (bytes != k->params[i].bytes)
            strbuf_printf(&message, "parameter %u of '%s' has %u bytes, this argument %u", i, k->name,
                          k->params[i].bytes, bytes);
        else
            kernel_arg_place(a, emu_device_space(r->device), &rng, i, &message);
        if (message.len) {
            cli_error(r->argc, r->argv, w.arg, (int)(w.text - r->argv[w.arg]), (int)strlen(w.text), NULL,
                      "%s", strbuf_text(&message));
            strbuf_free(&message);
            return false;
        }
        memcpy(block + k->params[i].offset, a->is_buffer ? &a->address : &a->bits, bytes);
    }
    return true;
}

static void kernel_json_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') putchar('\\');
        if ((unsigned char)*s >= 32) putchar(*s);
    }
    putchar('"');
}

static uint64_t kernel_buffer_hash(const struct kernel_arg *a)
{
    return hash_bytes(HASH_SEED, (const void *)(uintptr_t)a->address,
                      a->count * kernel_arg_type_bytes(a->type));
}

static void kernel_print_json(const struct kernel_run *r, const struct emu_launch *l,
                              const struct emu_stats *st, struct timed_gpu *timed)
{
    printf("{\"kernel\": ");
    kernel_json_text(r->kernel->name);
    printf(", \"machine\": ");
    kernel_json_text(r->machine.name);
    printf(", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"registers\": %u, \"shared_bytes\": %u,\n",
           l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], r->kernel->reg_count,
           r->kernel->shared_bytes + l->shared_dynamic_bytes);
    printf(" \"warp_insts\": %" PRIu64 ", \"thread_insts\": %" PRIu64 ", \"loads\": %" PRIu64
           ", \"stores\": %" PRIu64 ", \"atomics\": %" PRIu64 ", \"divergent_branches\": %" PRIu64
           ",\n \"buffers\": [",
           st->warp_insts, st->thread_insts, st->loads, st->stores, st->atomics, st->divergent_branches);
    const char *between = "";
    for (uint32_t i = 0; i < r->values.len; i++) {
        const struct kernel_arg *a = &r->values.data[i];
        if (!a->is_buffer) continue;
        printf("%s\n  {\"arg\": %u, \"type\": \"%s\", \"count\": %" PRIu64 ", \"hash\": \"%016" PRIx64
               "\", \"values\": [",
               between, i, kernel_arg_type_name(a->type), a->count, kernel_buffer_hash(a));
        for (uint64_t e = 0; e < MIN(r->show, a->count); e++) {
            struct strbuf v = {0};
            kernel_arg_format(a, e, &v);
            bool odd = strpbrk(strbuf_text(&v), "nN") != NULL; /* inf and nan are not JSON numbers */
            printf(odd ? "%s\"%s\"" : "%s%s", e ? ", " : "", strbuf_text(&v));
            strbuf_free(&v);
        }
        printf("]}");
        between = ",";
    }
    printf("]");
    if (timed) {
        struct strbuf text = {0};
        timed_print(timed, view_print_json, &text);
        printf(",\n \"timed\": %s", strbuf_text(&text));
        strbuf_free(&text);
    }
    printf("}\n");
}

static void kernel_print_table(const struct kernel_run *r, const struct emu_launch *l,
                               const struct emu_stats *st)
{
    printf("%s: grid %u,%u,%u block %u,%u,%u on %s%s\n", r->kernel->name, l->grid[0], l->grid[1], l->grid[2],
           l->block[0], l->block[1], l->block[2], r->machine.name,
           run_options_has_clock(&r->run.options) ? "" : ", functional");
    printf("  registers %u, shared %u bytes, local %u bytes (%u spilled)\n", r->kernel->reg_count,
           r->kernel->shared_bytes + l->shared_dynamic_bytes, r->kernel->frame_bytes, r->kernel->spill_bytes);
    printf("  warp instructions   %14" PRIu64 "\n  thread instructions %14" PRIu64 "\n", st->warp_insts,
           st->thread_insts);
    printf("  loads %" PRIu64 ", stores %" PRIu64 ", atomics %" PRIu64 ", divergent branches %" PRIu64 "\n",
           st->loads, st->stores, st->atomics, st->divergent_branches);
    for (uint32_t i = 0; i < r->values.len; i++) {
        const struct kernel_arg *a = &r->values.data[i];
        if (!a->is_buffer) continue;
        struct strbuf v = {0};
        for (uint64_t e = 0; e < MIN(r->show, a->count); e++) {
            strbuf_putc(&v, ' ');
            kernel_arg_format(a, e, &v);
        }
        printf("  arg %u: %s[%" PRIu64 "] hash %016" PRIx64 ":%s%s\n", i, kernel_arg_type_name(a->type),
               a->count, kernel_buffer_hash(a), strbuf_text(&v), a->count > r->show ? " ..." : "");
        strbuf_free(&v);
    }
}

/* The argument that `--out N=FILE` names; NULL: an error was printed. */
static const struct kernel_arg *kernel_out_arg(const struct kernel_run *r, struct cli_value w)
{
    const char *eq = strchr(w.text, '=');
    uint64_t n;
    if (eq && count_read(w.text, (size_t)(eq - w.text), &n) && n < r->values.len &&
        r->values.data[n].is_buffer)
        return &r->values.data[n];
    cli_error(r->argc, r->argv, w.arg, (int)(w.text - r->argv[w.arg]), (int)strlen(w.text),
              "--out 0=result.bin, with the number of a buffer argument",
              "'%s' does not name a buffer argument", w.text);
    return NULL;
}

static bool kernel_write_out(const struct kernel_arg *a, const char *path)
{
    struct output out;
    if (output_open(&out, path)) {
        fwrite((const void *)(uintptr_t)a->address, kernel_arg_type_bytes(a->type), a->count, out.file);
        if (output_close(&out)) return true;
    }
    fprintf(stderr, "heddle: error: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

static int kernel_write_outs(const struct kernel_run *r)
{
    for (uint32_t i = 0; i < r->outs.items.len; i++) {
        struct cli_value w = r->outs.items.data[i];
        const struct kernel_arg *a = kernel_out_arg(r, w);
        if (!a) return CLI_BAD_INPUT;
        if (!kernel_write_out(a, strchr(w.text, '=') + 1)) return CLI_FAILED;
    }
    return CLI_OK;
}

/* Was the run stopped though neither the program nor the machine is at fault? Then its counts so far are
 * worth keeping. */
static bool is_cut_short(enum emu_fault_kind kind)
{
    return kind == EMU_INTERRUPTED || kind == EMU_BAD_MECHANISM;
}

static int kernel_launch(struct kernel_run *r)
{
    struct emu_launch l = {.module = r->module,
                           .kernel = r->kernel,
                           .shared_dynamic_bytes = (uint32_t)r->shared_bytes,
                           .cooperative = r->cooperative};
    if (!cli_read_dims(r->grid, l.grid) || !cli_read_dims(r->block, l.block)) {
        fprintf(stderr, "heddle: error: --grid and --block take one to three whole numbers from 1 on: --grid "
                        "64 or --grid 64,2\n");
        return CLI_BAD_INPUT;
    }
    l.ctas_per_sm = occupancy_ctas(&r->machine, r->kernel, l.block[0] * l.block[1] * l.block[2],
                                   r->kernel->shared_bytes + r->shared_bytes);
    unsigned char *block = mem_zalloc(r->kernel->param_bytes);
    struct emu_stats stats = {0};
    struct emu_fault fault;
    int status = CLI_BAD_INPUT;
    l.params = block;
    if (kernel_pack(r, block)) {
        struct kernel_timed timed = {0};
        enum emu_fault_kind kind = EMU_BAD_LAUNCH;
        fault = (struct emu_fault){0};
        if (!run_options_has_clock(&r->run.options))
            kind = emu_run(r->device, &l, &stats, &fault);
        else if (kernel_timed_open(&timed, &r->machine, r->device, &r->run.options))
            kind = kernel_timed_run(&timed, &l, &stats, &fault);
        fflush(stdout);
        if (kind != EMU_OK) {
            fputs(fault.message, stderr);
            status = kind == EMU_BAD_LAUNCH ? CLI_BAD_INPUT : CLI_FAILED;
            if (is_cut_short(kind) && is_json(r)) kernel_print_json(r, &l, &stats, timed.gpu);
        } else if ((status = kernel_write_outs(r)) == CLI_OK) {
            if (is_json(r))
                kernel_print_json(r, &l, &stats, timed.gpu);
            else
                kernel_print_table(r, &l, &stats);
        }
        if (timed.gpu && (status == CLI_OK || is_cut_short(kind)) &&
            !kernel_timed_write(&timed, &r->run.options))
            status = CLI_FAILED;
        kernel_timed_close(&timed);
    }
    free(block);
    return status;
}

static int kernel_judge_races(const struct kernel_run *r)
{
    struct strbuf text = {0};
    emu_race_summary(emu_device_races(r->device), &text);
    fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    return emu_device_races(r->device) ? CLI_FAILED : CLI_OK;
}

static int kernel_run(struct kernel_run *r, const struct cli_parse *p)
{
    if (p->words.items.len != 2 || !r->grid || !r->block) {
        cli_error(r->argc, r->argv, r->argc, 0, 1,
                  "heddle kernel FILE.ptx NAME --grid 64 --block 256 --arg ...",
                  p->words.items.len != 2 ? "a PTX file and a kernel name are needed"
                                          : "--grid and --block are needed");
        return CLI_BAD_INPUT;
    }
    if (!kernel_read_args(r) || !cli_run_finish(&r->run, &r->machine)) return CLI_BAD_INPUT;
    if (r->shared_bytes > UINT32_MAX) {
        fprintf(stderr, "heddle: error: --shared must be at most 4G\n");
        return CLI_BAD_INPUT;
    }
    struct emu_limits limits = limits_from_machine(&r->machine);
    r->device = emu_device_create(&limits, r->machine.memory_bytes);
    if (!r->device) {
        fprintf(stderr,
                "heddle: error: cannot reserve %" PRIu64 " bytes of address space for device memory\n"
                "  hint: lower it with --set device.memory=1G\n",
                r->machine.memory_bytes);
        return CLI_BAD_INPUT;
    }
    if (r->run.options.races) emu_device_find_races(r->device);
    int status = CLI_BAD_INPUT;
    if (kernel_load(r, p->words.items.data[0].text) && kernel_find(r, p->words.items.data[1]))
        status = kernel_launch(r);
    if (status == CLI_OK && r->run.options.races) status = kernel_judge_races(r);
    if (r->module) emu_module_unload(r->device, r->module);
    emu_device_destroy(r->device);
    return status;
}

int cli_cmd_kernel(int argc, char **argv)
{
    struct kernel_run r = {.argc = argc, .argv = argv, .show = 8, .seed = 1};
    const struct cli_option own[] = {
        {"--grid", NULL, CLI_STRING, &r.grid, "X[,Y[,Z]]", "CTAs"},
        {"--block", NULL, CLI_STRING, &r.block, "X[,Y[,Z]]", "threads of a CTA"},
        {"--arg", NULL, CLI_LIST, &r.args, "VALUE",
         "next argument: f32=2, u64=7, buf:f32[1M][=rand|iota|VALUE|@FILE]"},
        {"--shared", NULL, CLI_NUMBER64, &r.shared_bytes, "BYTES", "dynamic shared memory"},
        {"--cooperative", NULL, CLI_FLAG, &r.cooperative, NULL,
         "all CTAs resident together, so that grid.sync works"},
        {"--out", NULL, CLI_LIST, &r.outs, "N=FILE", "write buffer argument N to a file afterwards"},
        {"--show", NULL, CLI_NUMBER64, &r.show, "N", "elements of each buffer to print (default 8)"},
        {"--seed", NULL, CLI_NUMBER64, &r.seed, "N", "seed of rand (default 1)"},
        {0}};
    struct cli_option *options = cli_run_options(&r.run, own);
    struct cli_parse p = {.command = cli_command("kernel"), .options = options};
    int status = CLI_BAD_INPUT;
    if (cli_run_begin(&r.run)) status = cli_parse(&p, argc, argv) ? kernel_run(&r, &p) : p.status;
    vec_free(&p.words.items);
    cli_run_free(&r.run);
    free(options);
    vec_free(&r.args.items);
    vec_free(&r.outs.items);
    vec_free(&r.values);
    return status;
}
