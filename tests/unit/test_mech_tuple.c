/* test_mech_tuple.c: which warps issue and which allocate under a warp tuple, from hand-made events; and the
 * files that give tuples to launches. */
#include "mech_kit.h"

#include "mech/warp_tuple.h"

#include <unistd.h>

static const struct warp_tuple *tuple_of(const struct mech_kit *k) { return k->sm->states[0]; }

/* A load of the warp issues; may its miss take a line? */
static bool may_allocate(struct mech_kit *k, uint64_t id, int warp)
{
    return mech_may_allocate(k->sm, &(struct mech_l1_access){.id = id, .warp = warp});
}
static void issue_load(struct mech_kit *k, uint64_t id, int warp)
{
    mech_on_issue(k->sm, &(struct mech_issue){.id = id, .warp = warp, .is_load = true, .l1_lines = 1});
}

static void n_warps_issue_and_p_of_them_allocate(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "tuple", "tuple.n=3 tuple.p=1", 1);
    assert_int_equal(k.sm->masks[0].issue, 0);     /* no warp yet */
    for (int w = 4; w >= 0; w--) kit_start(&k, w); /* 4 is the oldest */
    assert_int_equal(k.sm->masks[0].issue, W(4) | W(3) | W(2));
    for (int w = 0; w < 5; w++) issue_load(&k, (uint64_t)w + 1, w);
    for (int w = 0; w < 5; w++) assert_int_equal(may_allocate(&k, (uint64_t)w + 1, w), w == 4);
    assert_int_equal(kit_stat(&k, "tuple.bypasses"), 4);
    kit_end(&k, 4);
    assert_int_equal(k.sm->masks[0].issue, W(3) | W(2) | W(1));
    assert_int_equal(tuple_of(&k)->pollute[0], W(3));
    kit_close(&k);
}

static void each_scheduler_has_its_own_n_and_p(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "tuple", "tuple.n=2 tuple.p=1", 2);
    for (int w = 0; w < 8; w++) kit_start_on(&k, w, (uint32_t)w % 2);
    assert_int_equal(k.sm->masks[0].issue, W(0) | W(1) | W(2) | W(3));
    assert_int_equal(tuple_of(&k)->pollute[0], W(0) | W(1));
    assert_int_equal(warp_tuple_resident(tuple_of(&k)), 4);
    kit_close(&k);
}

static void a_load_keeps_the_bit_with_which_it_issued(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "tuple", "tuple.n=2 tuple.p=1", 1);
    for (int w = 0; w < 3; w++) kit_start(&k, w);
    issue_load(&k, 7, 1); /* warp 0 is the one that allocates */
    kit_end(&k, 0);       /* now warp 1 is */
    assert_false(may_allocate(&k, 7, 1));
    issue_load(&k, 8, 1);
    assert_true(may_allocate(&k, 8, 1));
    assert_true(may_allocate(&k, 7 + TUPLE_LOADS, 1)); /* an id that is not known: the present bit */
    kit_close(&k);
}

static void access_l1(struct mech_kit *k, uint64_t id, int warp, enum mech_l1_outcome outcome, bool is_store)
{
    mech_on_l1_access(
        k->sm, &(struct mech_l1_access){.id = id, .warp = warp, .outcome = outcome, .is_store = is_store});
}

static void loads_of_the_p_oldest_are_counted(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "tuple", "tuple.n=2 tuple.p=1", 1);
    for (int w = 0; w < 2; w++) kit_start(&k, w);
    for (int w = 0; w < 2; w++) issue_load(&k, (uint64_t)w + 1, w);
    access_l1(&k, 1, 0, MECH_L1_MISS, false);
    access_l1(&k, 1, 0, MECH_L1_PENDING, false);
    access_l1(&k, 1, 0, MECH_L1_HIT, false);
    access_l1(&k, 2, 1, MECH_L1_MISS, false); /* of the other warp */
    access_l1(&k, 1, 0, MECH_L1_SENT, true);
    kit_end(&k, 0);
    access_l1(&k, 1, 0, MECH_L1_MISS, false); /* it keeps its bit */
    assert_int_equal(kit_stat(&k, "tuple.polluting_accesses"), 4);
    assert_int_equal(kit_stat(&k, "tuple.polluting_misses"), 2);
    kit_close(&k);
}

static void a_warp_at_a_barrier_counts_for_neither(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "tuple", "tuple.n=2 tuple.p=1", 1);
    for (int w = 0; w < 4; w++) kit_start(&k, w);
    kit_barrier(&k, W(0), true);
    assert_int_equal(k.sm->masks[0].issue, W(1) | W(2));
    assert_int_equal(tuple_of(&k)->pollute[0], W(1));
    kit_barrier(&k, W(0), false);
    assert_int_equal(k.sm->masks[0].issue, W(0) | W(1));
    kit_close(&k);
}

/* The same events: the votes of tuple with N = p are those of swl. */
static void equal_n_and_p_vote_as_swl_does(void **unused)
{
    struct mech_kit a, b;
    uint64_t seed = 1, resident = 0;
    kit_open(&a, "tuple", "tuple.n=5 tuple.p=5", 1);
    kit_open(&b, "swl", "swl.warps=5", 1);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int w = (int)(seed >> 33) % 48;
        if (resident & W(w) && seed >> 62) {
            kit_barrier(&a, W(w), seed >> 61 & 1);
            kit_barrier(&b, W(w), seed >> 61 & 1);
        } else if (resident & W(w)) {
            kit_end(&a, w);
            kit_end(&b, w);
            resident &= ~W(w);
        } else {
            kit_start(&a, w);
            kit_start(&b, w);
            resident |= W(w);
        }
        assert_int_equal(a.sm->masks[0].issue, b.sm->masks[0].issue);
        assert_int_equal(tuple_of(&a)->pollute[0], a.sm->masks[0].issue);
    }
    kit_close(&a);
    kit_close(&b);
}

/* ---- files ---- */

static void write_text(const char *text, char path[64])
{
    strcpy(path, "/tmp/heddle_tuple_XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void launch(struct mech_kit *k, const char *kernel, uint64_t number)
{
    mech_on_launch(k->sm, &(struct mech_launch){.kernel = kernel, .launch = number});
}

static void a_file_gives_tuples_to_launches(void **unused)
{
    char path[64], setting[128];
    struct mech_kit k;
    write_text("# kernel launch N p\nmap 2 3 1\nmap * 4 2 # any other\n\n* 9 5 5\n", path);
    snprintf(setting, sizeof setting, "tuple.n=6 tuple.p=3 tuple.file=%s", path);
    kit_open(&k, "tuple", setting, 1);
    static const struct {
        const char *kernel;
        uint64_t launch;
        uint32_t n, p;
    } rows[] = {{"map", 1, 4, 2}, {"map", 2, 3, 1}, {"sort", 3, 6, 3}, {"sort", 9, 5, 5}, {"map", 9, 4, 2}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        launch(&k, rows[i].kernel, rows[i].launch);
        assert_int_equal(tuple_of(&k)->n, rows[i].n);
        assert_int_equal(tuple_of(&k)->p, rows[i].p);
    }
    assert_int_equal(kit_stat(&k, "tuple.listed"), 4); /* all but sort's third */
    kit_close(&k);
    unlink(path);
}

static void a_bad_file_is_refused_with_its_line(void **unused)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {{"map 1 3\n", ":1: a line is KERNEL LAUNCH N p, such as: bfs_kernel * 5 2"},
                {"map 1 3 2 1\n", ":1: a line is KERNEL LAUNCH N p, such as: bfs_kernel * 5 2"},
                {"map * 3 2\nmap 0 3 2\n", ":2: the launch is a number from 1 on, or * for any"},
                {"map x 3 2\n", ":1: the launch is a number from 1 on, or * for any"},
                {"map 1 0 1\n", ":1: N and p are numbers from 1 to 64"},
                {"map 1 65 1\n", ":1: N and p are numbers from 1 to 64"},
                {"map 1 3 -1\n", ":1: N and p are numbers from 1 to 64"},
                {"\nmap 1 3 4\n", ":2: p is larger than N"},
                {"# nothing\n", ":1: there is no line with a tuple"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char path[64], reason[MECH_REASON_BYTES];
        write_text(rows[i].text, path);
        assert_int_equal(tuple_rows_read(NULL, 0, path, reason), -1);
        assert_string_equal(reason + strlen(path), rows[i].reason);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(n_warps_issue_and_p_of_them_allocate),
        cmocka_unit_test(each_scheduler_has_its_own_n_and_p),
        cmocka_unit_test(a_load_keeps_the_bit_with_which_it_issued),
        cmocka_unit_test(loads_of_the_p_oldest_are_counted),
        cmocka_unit_test(a_warp_at_a_barrier_counts_for_neither),
        cmocka_unit_test(equal_n_and_p_vote_as_swl_does),
        cmocka_unit_test(a_file_gives_tuples_to_launches),
        cmocka_unit_test(a_bad_file_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
