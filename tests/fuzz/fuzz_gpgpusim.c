/* fuzz_gpgpusim.c: any bytes as a configuration of GPGPU-Sim: refused, or a machine file that is read without
 * an error. */
#define _GNU_SOURCE /* mkstemps */
#include "fuzz_file.h"

#include "config/gpgpusim.h"
#include "core/machine.h"

/* As `heddle config import` does. */
static bool is_machine(const struct machine *m, struct diag_list *diags)
{
    struct addrmap *map = addrmap_create(&m->addrmap, diags);
    const bool ok =
        map && dram_check(&m->dram, map, diags) && l2_check(&m->l2, diags) && l1_params_check(&m->l1, diags);
    addrmap_destroy(map);
    return ok;
}

static void check_written(const struct gpgpusim_import *im)
{
    struct strbuf text = {0};
    struct diag_list diags = {0};
    gpgpusim_write(im, machine_groups, &text);
    struct fuzz_file f = fuzz_file_open((const uint8_t *)strbuf_text(&text), text.len);
    static struct machine m;
    const bool ok = machine_load(f.path, NULL, 0, &m, &diags);
    require(ok);
    fuzz_file_close(&f, ok, &diags);
    strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct machine m;
    const struct config_target target = {.groups = machine_groups, .object = &m, .dir = machine_data_dir()};
    struct gpgpusim_import im = {0};
    struct diag_list diags = {0};
    struct fuzz_file f = fuzz_file_open(data, size);
    memset(&m, 0, sizeof m);
    params_set_defaults(machine_groups, &m);
    const bool ok = gpgpusim_read(&im, &(const char *){f.path}, 1, &diags) &&
                    gpgpusim_map(&im, &target, &diags) && is_machine(&m, &diags);
    if (ok) check_written(&im);
    fuzz_file_close(&f, ok, &diags);
    gpgpusim_free(&im);
    return 0;
}
