/* test_mech_linebacker.c: the parts of Linebacker (src/mech): the victim tag table against a plain model, the
 * load monitor window by window, the CTA manager with an SM that only writes down what it is asked. */
#include "mech_kit.h"

#include "mech/cta_manager.h"
#include "mech/load_monitor.h"
#include "mech/vtt.h"

/* ---- an SM of ports ---- */

static struct {
    uint32_t limit;
    struct mech_transfer asked[64];
    uint32_t count;
    bool refuses;
} sm;

static unsigned char blocks[1 << 16];
static size_t blocks_used;

static void *give_memory(void *host, size_t bytes)
{
    void *block = blocks + blocks_used;
    blocks_used += (bytes + 15) / 16 * 16;
    assert_true(blocks_used <= sizeof blocks);
    return memset(block, 0, bytes);
}
static void note_limit(void *host, uint32_t n) { sm.limit = n; }
static bool note_transfer(void *host, const struct mech_transfer *t)
{
    if (sm.refuses) return false;
    sm.asked[sm.count++] = *t;
    return true;
}

static const struct mech_ports ports = {.ctas = 8,
                                        .l1_sets = 3,
                                        .l1_ways = 4,
                                        .register_rows = 512,
                                        .memory = give_memory,
                                        .limit_ctas = note_limit,
                                        .cta_registers = note_transfer};

static int reset(void **state)
{
    blocks_used = 0;
    memset(&sm, 0, sizeof sm);
    return 0;
}

/* ---- the victim tag table ---- */

enum { WAYS = 2, PARTITIONS = 4, SETS = 3 };

/* A list of the lines of each set, the one used last at the end, and where each lies. */
struct model {
    struct {
        uint64_t line;
        uint32_t entry;
    } at[SETS][WAYS * PARTITIONS];
    uint32_t count[SETS], on;
};

static int model_find(const struct model *m, uint32_t set, uint64_t line)
{
    for (uint32_t i = 0; i < m->count[set]; i++)
        if (m->at[set][i].line == line) return (int)i;
    return -1;
}

static uint32_t model_remove(struct model *m, uint32_t set, int i)
{
    const uint32_t entry = m->at[set][i].entry;
    memmove(&m->at[set][i], &m->at[set][i + 1], sizeof m->at[set][0] * (--m->count[set] - (uint32_t)i));
    return entry;
}

static void model_append(struct model *m, uint32_t set, uint64_t line, uint32_t entry)
{
    m->at[set][m->count[set]].line = line;
    m->at[set][m->count[set]++].entry = entry;
}

static uint32_t model_free_entry(const struct model *m, uint32_t set)
{
    for (uint32_t e = 0; e < WAYS * PARTITIONS; e++) {
        bool is_taken = !(m->on >> e / WAYS & 1);
        for (uint32_t i = 0; i < m->count[set]; i++) is_taken |= m->at[set][i].entry == e;
        if (!is_taken) return e;
    }
    return VTT_NONE;
}

static uint32_t model_insert(struct model *m, uint32_t set, uint64_t line)
{
    int i = model_find(m, set, line);
    uint32_t entry = i >= 0 ? model_remove(m, set, i) : model_free_entry(m, set);
    if (entry == VTT_NONE && m->count[set]) entry = model_remove(m, set, 0);
    if (entry != VTT_NONE) model_append(m, set, line, entry);
    return entry;
}

static void model_turn(struct model *m, uint32_t on)
{
    const uint32_t changed = m->on ^ on;
    m->on = on;
    for (uint32_t set = 0; set < SETS; set++)
        for (int i = 0; i < (int)m->count[set];)
            if (changed >> m->at[set][i].entry / WAYS & 1)
                model_remove(m, set, i);
            else
                i++;
}

/* Searches, touches, inserts, drops and changes of partitions in any order. */
static void the_tag_table_is_the_plain_model(void **state)
{
    struct vtt v;
    struct model m = {0};
    uint64_t rng = 5;
    vtt_init(&v, &ports, WAYS, PARTITIONS);
    for (int n = 0; n < 200000; n++) {
        rng = rng * 6364136223846793005ull + 1442695040888963407ull;
        const uint32_t what = (uint32_t)(rng >> 60), set = (uint32_t)(rng >> 40) % SETS;
        const uint64_t line = 128 * (rng >> 33 & 15);
        const int at = model_find(&m, set, line);
        const uint32_t found = vtt_find(&v, set, line);
        assert_int_equal(found, at < 0 ? VTT_NONE : m.at[set][at].entry);
        if (what < 8) {
            assert_int_equal(vtt_insert(&v, set, line), model_insert(&m, set, line));
        } else if (what < 12 && at >= 0) {
            vtt_touch(&v, set, found);
            model_append(&m, set, line, model_remove(&m, set, at));
        } else if (what < 15 && at >= 0) {
            vtt_drop(&v, set, found);
            model_remove(&m, set, at);
        } else if (what == 15 && (rng >> 20 & 7) == 0) {
            vtt_turn(&v, (uint32_t)(rng >> 24) & 15);
            model_turn(&m, (uint32_t)(rng >> 24) & 15);
        }
    }
}

/* Partition 0 is off: 1 is searched first, then 3. */
static void a_search_looks_at_partitions_that_are_on(void **state)
{
    struct vtt v;
    vtt_init(&v, &ports, WAYS, PARTITIONS);
    vtt_turn(&v, 0xa);
    assert_int_equal(vtt_searched(&v, 1 * WAYS), 1);
    assert_int_equal(vtt_searched(&v, 3 * WAYS + 1), 2);
    assert_int_equal(vtt_searched(&v, VTT_NONE), 2);
    /* equation 2: set 2, way 1 of partition 3 */
    assert_int_equal(vtt_row(&v, 2, 3 * WAYS + 1), 3 * SETS * WAYS + 2 * WAYS + 1);
}

/* ---- the load monitor ---- */

static void count(struct load_monitor *m, uint32_t pc, uint32_t hits, uint32_t misses)
{
    while (hits--) lm_count(m, pc, true);
    while (misses--) lm_count(m, pc, false);
}

static uint32_t bit(uint32_t pc) { return 1u << lm_hash(pc); }

static void loads_are_chosen_when_two_windows_agree(void **state)
{
    struct load_monitor m;
    lm_begin(&m);
    count(&m, 1, 21, 79);
    count(&m, 2, 20, 80); /* not above 20% */
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_GOES_ON);
    assert_int_equal(m.hot, bit(1));
    count(&m, 1, 30, 70);
    count(&m, 2, 30, 70);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_GOES_ON); /* another set */
    count(&m, 1, 30, 70);
    count(&m, 2, 30, 70);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_CHOSEN);
    assert_true(lm_is_chosen(&m, 1) && lm_is_chosen(&m, 2) && !lm_is_chosen(&m, 3));
    assert_int_equal(m.windows, 3);
}

static void a_load_that_is_hot_in_both_windows_is_enough_if_so_read(void **state)
{
    struct load_monitor m;
    lm_begin(&m);
    count(&m, 1, 1, 0);
    count(&m, 2, 1, 0);
    lm_end_window(&m, 20, LM_AGREE_LOAD);
    count(&m, 1, 1, 0);
    count(&m, 3, 1, 0);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_LOAD), LM_CHOSEN);
    assert_int_equal(m.chosen, bit(1));
}

static void two_windows_without_a_hot_load_end_it(void **state)
{
    struct load_monitor m;
    lm_begin(&m);
    count(&m, 1, 1, 9);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_GOES_ON);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_NONE);
    lm_begin(&m); /* hot in one window alone: it goes on, and is not chosen */
    count(&m, 1, 9, 1);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_GOES_ON);
    assert_int_equal(lm_end_window(&m, 20, LM_AGREE_SET), LM_GOES_ON);
    assert_int_equal(m.chosen, 0);
}

/* All bits of the address fold into five. */
static void the_hash_folds_the_whole_address(void **state)
{
    assert_int_equal(lm_hash(0), 0);
    assert_int_equal(lm_hash(1), 8);
    assert_int_equal(lm_hash(4), 1);          /* address 32 */
    assert_int_equal(lm_hash(1 << 7), 1);     /* address 1024 */
    assert_int_equal(lm_hash(4 | 1 << 7), 0); /* they cancel */
    assert_int_equal(lm_hash(1 << 17), 1);    /* address 2^20 */
}

/* ---- the CTA manager ---- */

static void tell(struct cta_manager *c, enum mech_cta_kind kind, uint32_t slot)
{
    cta_manager_see(
        c,
        &(struct mech_cta){
            .kind = kind, .cta_slot = slot, .first_row = 10 * slot, .last_row = 10 * slot + 9, .rows = 10});
}

static void start(struct cta_manager *c, uint32_t count)
{
    cta_manager_init(c, &ports, 6, 40);
    for (uint32_t i = 0; i < count; i++) tell(c, MECH_CTA_START, i);
}

/* The last moves that were asked for, as slots; out: +, back: -1 - slot. */
static int move_at(uint32_t i)
{
    return sm.asked[i].is_out ? (int)sm.asked[i].cta_slot : -1 - (int)sm.asked[i].cta_slot;
}

static void the_largest_slot_is_throttled_and_comes_back_first(void **state)
{
    struct cta_manager c;
    start(&c, 4);
    assert_true(cta_manager_throttle(&c));
    assert_int_equal(move_at(0), 3);
    assert_true(sm.asked[0].drains && sm.asked[0].buffer == 6 && sm.asked[0].rows == UINT32_MAX);
    assert_int_equal(sm.limit, 0);
    assert_int_equal(cta_manager_last_row(&c), 39); /* it is not out yet */
    tell(&c, MECH_CTA_REGISTERS_OUT, 3);
    assert_int_equal(cta_manager_last_row(&c), 29);
    assert_true(cta_manager_throttle(&c));
    tell(&c, MECH_CTA_REGISTERS_OUT, 2);
    assert_int_equal(cta_manager_last_row(&c), 19);
    assert_int_equal(cta_manager_rows_here(&c), 20);
    tell(&c, MECH_CTA_END, 0); /* one that is out precedes a new CTA */
    assert_int_equal(sm.count, 3);
    assert_int_equal(move_at(2), -1 - 2);
    assert_int_equal(sm.asked[2].buffer, 40);
    assert_true(cta_manager_restores(&c));
    tell(&c, MECH_CTA_REGISTERS_IN, 2);
    assert_int_equal(sm.limit, 0); /* slot 3 is still out */
    assert_true(cta_manager_release(&c));
    assert_int_equal(move_at(3), -1 - 3);
    assert_int_equal(sm.limit, 3); /* three may be active: none in the slot of CTA 0 */
    tell(&c, MECH_CTA_REGISTERS_IN, 3);
    assert_true(cta_manager_release(&c)); /* nobody is out: one more may start */
    assert_int_equal(sm.limit, UINT32_MAX);
    assert_false(cta_manager_release(&c));
}

static void one_cta_stays(void **state)
{
    struct cta_manager c;
    start(&c, 1);
    assert_false(cta_manager_throttle(&c));
    start(&c, 2);
    sm.refuses = true;
    assert_false(cta_manager_throttle(&c));
    assert_int_equal(sm.count, 0);
    sm.refuses = false;
    assert_true(cta_manager_throttle(&c));
    assert_false(cta_manager_throttle(&c));
    tell(&c, MECH_CTA_END, 0); /* while the other one leaves: it comes back when it is out */
    assert_int_equal(sm.count, 1);
    tell(&c, MECH_CTA_REGISTERS_OUT, 1);
    assert_int_equal(move_at(1), -1 - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_tag_table_is_the_plain_model, reset),
        cmocka_unit_test_setup(a_search_looks_at_partitions_that_are_on, reset),
        cmocka_unit_test(loads_are_chosen_when_two_windows_agree),
        cmocka_unit_test(a_load_that_is_hot_in_both_windows_is_enough_if_so_read),
        cmocka_unit_test(two_windows_without_a_hot_load_end_it),
        cmocka_unit_test(the_hash_folds_the_whole_address),
        cmocka_unit_test_setup(the_largest_slot_is_throttled_and_comes_back_first, reset),
        cmocka_unit_test_setup(one_cta_stays, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
