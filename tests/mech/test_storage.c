/* test_storage.c: the storage that mechanisms declare: the papers' rows on the papers' machines, other
 * parameters, scopes, and rows that are wrong. The folder of the plug-ins is the first argument. */
#include "core/machine.h"
#include "core/mech/mech_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *folder;

struct wanted {
    const char *name;
    uint64_t entries, bits;
};

static void load(struct machine *m, const char *machine, const char *set)
{
    struct diag_list d = {0};
    assert_true(machine_load(machine, &set, set != NULL, m, &d));
    diag_free(&d);
}

/* Gets the rows of a mechanism; `setting` may be NULL. False: refused, for the reason *why. */
static bool ask(const char *machine, const char *set, const char *mech, const char *setting,
                struct mech_cost *out, char why[256])
{
    struct machine m;
    struct diag_list d = {0};
    load(&m, machine, set);
    const struct mech_machine told = mech_machine_of(&m);
    struct mech_set *s = mech_set_create(&mech, 1, &setting, setting != NULL, &d);
    assert_non_null(s);
    const bool ok = mech_cost_of(s, 0, &told, out, &d);
    if (!ok) snprintf(why, 256, "%s", d.items.data[0].message);
    assert_int_equal(ok, !d.errors);
    mech_set_destroy(s);
    diag_free(&d);
    return ok;
}

static uint64_t bits_of(const struct mech_cost *c)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < c->count; i++) bits += c->rows[i].entries * c->rows[i].bits;
    return bits;
}

static void expect_rows_of(enum mech_scope scope, const char *machine, const char *set, const char *mech,
                           const char *setting, const struct wanted *rows)
{
    struct mech_cost c;
    char why[256];
    uint32_t n = 0;
    if (!ask(machine, set, mech, setting, &c, why)) fail_msg("%s", why);
    for (; rows[n].name; n++) {
        assert_true(n < c.count);
        assert_string_equal(c.rows[n].name, rows[n].name);
        if (c.rows[n].entries != rows[n].entries || c.rows[n].bits != rows[n].bits)
            fail_msg("%s.%s: %u x %u bits", mech, rows[n].name, (unsigned)c.rows[n].entries,
                     (unsigned)c.rows[n].bits);
        assert_int_equal(c.rows[n].scope, scope);
    }
    assert_int_equal(n, c.count);
}

static void expect_rows(const char *machine, const char *set, const char *mech, const char *setting,
                        const struct wanted *rows)
{
    expect_rows_of(MECH_EACH_SM, machine, set, mech, setting, rows);
}

/* ---- the papers' rows ---- */

/* APRES, Table II: 724 bytes. */
static void apres_has_table_2(void **state)
{
    struct mech_cost c;
    char why[256];
    expect_rows("fermi-apres", NULL, "apres", NULL,
                (struct wanted[]){
                    {"llt", 48, 32}, {"wgt", 3, 48}, {"drq", 32, 64}, {"wq", 48, 8}, {"pt", 10, 168}, {0}});
    assert_true(ask("fermi-apres", NULL, "apres", NULL, &c, why));
    assert_int_equal(bits_of(&c), 724 * 8);
    expect_rows("fermi-apres", NULL, "laws", "laws.wgt=4",
                (struct wanted[]){{"llt", 48, 32}, {"wgt", 4, 48}, {0}});
}

/* Linebacker, 4.2: the parts add up to 6.08 KB; an L1 of 16 KB has room for fewer sets and more ways. */
static void linebacker_has_section_4_2(void **state)
{
    struct mech_cost c;
    char why[256];
    expect_rows("maxwell", NULL, "linebacker", NULL,
                (struct wanted[]){{"hpc", 384, 5},
                                  {"lm", 32, 98},
                                  {"ipc", 3, 32},
                                  {"manager", 1, 54},
                                  {"ctas", 32, 45},
                                  {"vtt", 1536, 24},
                                  {"buffer", 6, 1056},
                                  {0}});
    assert_true(ask("maxwell", NULL, "linebacker", NULL, &c, why));
    assert_int_equal(bits_of(&c), 49846);
    assert_true(ask("maxwell", NULL, "linebacker", "linebacker.partitions=2", &c, why));
    assert_int_equal(c.rows[5].entries, 96 / 2 * 8);
}

/* FineReg, V-F: 64, 384 and 256 bytes as printed; 1,024 tags of the 23 bits of V-D; the free-space monitor;
 * 2.4 KB of switching logic. */
static void finereg_has_section_5_f(void **state)
{
    expect_rows("maxwell", NULL, "finereg", NULL,
                (struct wanted[]){{"status", 128, 4},
                                  {"vectors", 32, 96},
                                  {"pointers", 128, 16},
                                  {"tags", 1024, 23},
                                  {"free_map", 1024, 1},
                                  {"switching", 1, 19661},
                                  {0}});
}

/* Thesis, 4.4.3 and Table 4.3: 128 or 384 shadow tags, 16 requests, 8 lines with the number of an SM. */
static void ccn_has_table_4_3(void **state)
{
    struct mech_cost c;
    char why[256];
    expect_rows("fermi", "l1.size=48K", "ccn", NULL,
                (struct wanted[]){
                    {"tags", 384, 25}, {"buffer", 8, 30}, {"requests", 8, 30}, {"responses", 8, 1028}, {0}});
    expect_rows("fermi", "l1.size=16K", "ccn", NULL,
                (struct wanted[]){
                    {"tags", 128, 25}, {"buffer", 8, 30}, {"requests", 8, 30}, {"responses", 8, 1028}, {0}});
    assert_true(ask("fermi", NULL, "ccn", "ccn.mode=ideal", &c, why));
    assert_int_equal(c.count, 0);
}

/* Thesis, 5.7.9: 4 counters and 6 bits of state; the bits of the warps are not in its sum. */
static void poise_has_section_5_7_9(void **state)
{
    expect_rows("kepler", NULL, "poise", NULL,
                (struct wanted[]){{"counters", 4, 32}, {"states", 2, 3}, {"bits", 48, 2}, {0}});
}

/* Morpheus, 7.5: 51 of 68 SMs with 48 warps each are 62 sets for each of 40 slices. */
static void morpheus_has_section_7_5(void **state)
{
    expect_rows_of(
        MECH_EACH_SLICE, "rtx3080", NULL, "morpheus", NULL,
        (struct wanted[]){
            {"filters", 2 * 62, 256}, {"queue", 128, 48}, {"status", 62, 40}, {"buffers", 4, 1024}, {0}});
    expect_rows_of(
        MECH_EACH_SLICE, "rtx3080", NULL, "morpheus", "morpheus.queue=64",
        (struct wanted[]){
            {"filters", 2 * 62, 256}, {"queue", 64, 48}, {"status", 62, 40}, {"buffers", 4, 1024}, {0}});
}

/* Every built-in mechanism answers on every machine that it fits, and no row is empty. */
static void every_mechanism_answers(void **state)
{
    static const char *const machines[] = {"fermi", "kepler", "maxwell", "rtx3080", "h200"};
    uint32_t declared = 0;
    for (uint32_t i = 0; i < ARRAY_LEN(machines); i++)
        for (const struct mechanism *const *b = mech_builtin; *b; b++) {
            struct mech_cost c;
            char why[256];
            if (!ask(machines[i], NULL, (*b)->name, NULL, &c, why)) continue;
            declared += c.count > 0;
            for (uint32_t r = 0; r < c.count; r++)
                if (!c.rows[r].entries || (!c.rows[r].bits && strcmp((*b)->name, "pa")))
                    fail_msg("%s on %s: row %s is empty", (*b)->name, machines[i], c.rows[r].name);
        }
    assert_true(declared > 70);
}

/* ---- scopes ---- */

/* 48 warps of 3 bits on 15 SMs, 16 bytes on 12 slices, 8 bytes. */
static void scopes_count_once_for_each_unit(void **state)
{
    char path[512], why[256];
    struct machine m;
    struct mech_cost c;
    snprintf(path, sizeof path, "%s/costly.so", folder);
    load(&m, "fermi", NULL);
    const struct mech_machine told = mech_machine_of(&m);
    assert_int_equal(told.l2_slices, 12);
    assert_true(ask("fermi", NULL, path, NULL, &c, why));
    assert_int_equal(c.count, 3);
    assert_true(mech_cost_bytes(&c, &told) == 15 * 48 * 3 / 8.0 + 12 * 16 + 8);
}

/* ---- rows that are wrong ---- */

static void bad_rows_are_refused(void **state)
{
    static const char *const faults[][2] = {
        {"costly.fault=name", "row 2 of its storage ('a b'): its name must be of letters"},
        {"costly.fault=twice", "row 2 of its storage ('table'): there are two rows"},
        {"costly.fault=help", "row 2 of its storage ('filter'): it is not complete"},
        {"costly.fault=scope", "row 2 of its storage ('filter'): it is not complete"},
        {"costly.fault=bits", "row 2 of its storage ('filter'): it has too many bits"},
        {"costly.fault=many", "has 19 rows of storage; at most 16"},
        {"costly.fault=crash", "mechanism 'costly', cost"}};
    char path[512], why[256];
    struct mech_cost c;
    snprintf(path, sizeof path, "%s/costly.so", folder);
    for (uint32_t i = 0; i < ARRAY_LEN(faults); i++) {
        assert_false(ask("fermi", NULL, path, faults[i][0], &c, why));
        if (!strstr(why, faults[i][1])) fail_msg("%s: %s", faults[i][0], why);
    }
}

static void a_machine_that_does_not_fit_is_told(void **state)
{
    char why[256];
    struct mech_cost c;
    assert_false(ask("maxwell", "l1.line=64", "linebacker", NULL, &c, why));
    assert_non_null(strstr(why, "mechanism 'linebacker': l1.line is 64"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apres_has_table_2),       cmocka_unit_test(linebacker_has_section_4_2),
        cmocka_unit_test(finereg_has_section_5_f), cmocka_unit_test(ccn_has_table_4_3),
        cmocka_unit_test(poise_has_section_5_7_9), cmocka_unit_test(morpheus_has_section_7_5),
        cmocka_unit_test(every_mechanism_answers), cmocka_unit_test(scopes_count_once_for_each_unit),
        cmocka_unit_test(bad_rows_are_refused),    cmocka_unit_test(a_machine_that_does_not_fit_is_told),
    };
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
