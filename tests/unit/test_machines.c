/* test_machines.c: every file of machines/ and machines/overlays/ loads, fits together, and has the sizes
 * that its paper prints. */
#include "core/machine.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Loads it and makes its address map; fails with the diagnostics. */
static struct addrmap *load(const char *name, struct machine *m)
{
    struct diag_list diags = {0};
    struct strbuf text = {0};
    struct addrmap *map = machine_load(name, NULL, 0, m, &diags) ? addrmap_create(&m->addrmap, &diags) : NULL;
    bool ok = map && dram_check(&m->dram, map, &diags) && l2_check(&m->l2, &diags) &&
              l1_params_check(&m->l1, &diags);
    diag_render(&diags, &text);
    if (!ok) fail_msg("%s: %s", name, strbuf_text(&text));
    strbuf_free(&text);
    diag_free(&diags);
    return map;
}

static uint32_t check_folder(const char *folder, const char *prefix)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", machine_data_dir(), folder);
    DIR *dir = opendir(strbuf_text(&path));
    assert_non_null(dir);
    uint32_t count = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strstr(e->d_name, ".yaml");
        if (!dot) continue;
        struct strbuf name = {0};
        strbuf_printf(&name, "%s%.*s", prefix, (int)(dot - e->d_name), e->d_name);
        struct machine m;
        struct addrmap *map = load(strbuf_text(&name), &m);
        assert_true(m.summary[0] != 0);
        addrmap_destroy(map);
        strbuf_free(&name);
        count++;
    }
    closedir(dir);
    strbuf_free(&path);
    return count;
}

static void every_machine_and_overlay_loads_and_fits_together(void **state)
{
    assert_true(check_folder("machines", "") >= 7);
    assert_true(check_folder("machines/overlays", "overlays/") >= 17);
}

/* slices, KB of L2, MB/s of the DRAM pins, KB of L1, L1 MSHRs. */
static void sizes_are_those_of_the_papers(void **state)
{
    static const struct {
        const char *name;
        uint32_t sms, slices;
        uint64_t l2_kb, mb_s, l1_kb;
        uint32_t mshrs;
    } rows[] = {
        {"fermi", 15, 12, 768, 177408, 16, 32},       /* thesis, T3.1 */
        {"kepler", 32, 24, 2040, 177408, 16, 32},     /* thesis, T5.1: 2 MB in 24 banks, whole sets */
        {"fermi-apres", 15, 12, 768, 177408, 32, 64}, /* APRES, Table III */
        {"maxwell", 16, 8, 2048, 352512, 48, 64},     /* Linebacker, Table 1: 352.5 GB/s */
        {"rtx3080", 68, 40, 5120, 760000, 128, 384},  /* Morpheus, Table 1; 19 Gb/s x 320 bits */
        {"overlays/dramx4", 15, 12, 768, 4 * 177408, 16, 32},
        {"overlays/l2x4", 15, 48, 768, 177408, 16, 32},
        {"overlays/l1x4", 15, 12, 768, 177408, 16, 128},
        {"overlays/costeff-16+48", 15, 12, 768, 177408, 16, 48},
    };
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct machine m;
        struct addrmap *map = load(rows[i].name, &m);
        uint64_t channels = addrmap_channels(map);
        assert_int_equal(m.sm_count, rows[i].sms);
        assert_int_equal(addrmap_slices(map), rows[i].slices);
        assert_int_equal(m.l2.slice_size * addrmap_slices(map) / 1024, rows[i].l2_kb);
        assert_int_equal(channels * m.dram.bus_bytes * m.dram.ratio * m.dram_clock_khz / 1000, rows[i].mb_s);
        assert_int_equal(m.l1.size / 1024, rows[i].l1_kb);
        assert_int_equal(m.l1.mshrs, rows[i].mshrs);
        addrmap_destroy(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_and_overlay_loads_and_fits_together),
        cmocka_unit_test(sizes_are_those_of_the_papers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
