/* fuzz_machine.c: any bytes as a machine file. The values of a machine that is read can be shown and read
 * back; the components refuse it and say why, or its addresses have places. */
#define _GNU_SOURCE /* mkstemps */
#include "fuzz_file.h"

#include "core/machine.h"
#include "core/sm/sm.h"
#include "core/sm/split.h"

static void check_components(const struct machine *m)
{
    struct diag_list diags = {0};
    struct addrmap *map = addrmap_create(&m->addrmap, &diags);
    require((map != NULL) == !diags.errors);
    l1_params_check(&m->l1, &diags);
    sm_params_check(&m->sm, &diags);
    split_check(m, &diags);
    residency_check(m, &diags);
    l2_check(&m->l2, &diags);
    if (map) {
        dram_check(&m->dram, map, &diags);
        for (uint64_t addr = 0; !diags.errors && addr < 1 << 16; addr += 4096) {
            const struct addr_place at = addrmap_place(map, addr);
            require(at.slice < addrmap_slices(map) && at.channel < addrmap_channels(map));
        }
        addrmap_destroy(map);
    }
    diag_free(&diags);
}

/* What is shown of a value reads back as the same value. */
static void check_value(const struct param_row *r, const void *object)
{
    static struct machine again;
    struct strbuf text = {0}, wanted = {0};
    param_format(r, object, &text);
    require(param_store(r, &again, strbuf_text(&text), &wanted));
    require(r->type == PARAM_STRING || r->type == PARAM_PATH ||
            !memcmp((const char *)object + r->offset, (const char *)&again + r->offset,
                    param_value_bytes(r->type)));
    strbuf_free(&text);
    strbuf_free(&wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct machine m;
    struct diag_list diags = {0};
    struct fuzz_file f = fuzz_file_open(data, size);
    const bool ok = machine_load(f.path, NULL, 0, &m, &diags);
    if (ok) {
        check_components(&m);
        for (const struct param_group *g = machine_groups; g->rows; g++)
            for (const struct param_row *r = g->rows; r->name; r++)
                check_value(r, (const char *)&m + g->offset);
    }
    fuzz_file_close(&f, ok, &diags);
    return 0;
}
