/* FineReg with ports that the test plays: who is chosen, when rows have moved, which vectors miss. */
#include "mech_kit.h"

#include "mech/finereg.h"

/* A CTA of two warps of eight rows; each warp waits at one PC, where `live` registers are live, and has
 * `callers` frames of functions that it goes back to. */
enum { CALLERS_MAX = 2, FIRST_CALLER_PC = 20 };
static struct {
    uint64_t live[MECH_REGISTER_WORDS], live_in_caller[CALLERS_MAX][MECH_REGISTER_WORDS];
    uint64_t saved[2][MECH_REGISTER_WORDS];
    uint32_t callers;
    uint32_t out, in, swaps, parked, reads, token;
    uint64_t code_offset;
    bool ctas_left, has_slots;
    /* rows that keep registers */
    uint32_t kept;
    bool is_kept[1024];
} host;

static bool host_swap(void *sm, uint32_t out, uint32_t in, uint32_t cycles)
{
    if (in != MECH_NO_CTA && out == MECH_NO_CTA && !host.has_slots) return false;
    host.out = out;
    host.in = in;
    host.swaps++;
    return true;
}
static uint32_t host_pcs(void *sm, uint32_t cta, uint32_t index, uint32_t *pcs, uint32_t max)
{
    pcs[0] = 10 + cta;
    for (uint32_t i = 0; i < host.callers; i++) pcs[1 + i] = FIRST_CALLER_PC + i;
    return 1 + host.callers;
}
static const uint64_t *host_live(void *sm, uint32_t cta, uint32_t pc)
{
    return pc < FIRST_CALLER_PC ? host.live : host.live_in_caller[pc - FIRST_CALLER_PC];
}
static bool host_park(void *sm, uint32_t cta, const uint64_t *kept)
{
    memcpy(host.saved, kept, sizeof host.saved);
    host.parked = cta;
    return true;
}
static bool host_unpark(void *sm, uint32_t cta) { return true; }
static bool host_left(void *sm) { return host.ctas_left; }
static uint64_t host_code(void *sm, uint32_t cta, uint32_t pc) { return 8ull * pc + host.code_offset; }
static bool host_read(void *sm, uint64_t offset, uint32_t token)
{
    host.reads++;
    host.token = token;
    return true;
}
static bool host_bank(void *sm, uint32_t row, bool is_write) { return true; }
/* Entry i of the PCRF is row ACRF_ROWS + i. */
enum { ACRF_ROWS = 512, FILE_ROWS = 1024 };
static bool host_keep(void *sm, uint32_t row)
{
    assert_in_range(row, ACRF_ROWS, FILE_ROWS - 1);
    assert_false(host.is_kept[row]);
    host.kept++;
    return host.is_kept[row] = true;
}
static bool host_release(void *sm, uint32_t row)
{
    assert_true(host.is_kept[row]);
    host.is_kept[row] = false;
    host.kept--;
    return true;
}

static const struct mech_host_ops host_ops = {.cta_swap = host_swap,
                                              .warp_pcs = host_pcs,
                                              .cta_live = host_live,
                                              .cta_park = host_park,
                                              .cta_unpark = host_unpark,
                                              .ctas_left = host_left,
                                              .code_address = host_code,
                                              .memory_read = host_read,
                                              .bank_access = host_bank,
                                              .registers_keep = host_keep,
                                              .registers_release = host_release};

/* 1,024 rows: half of them are the ACRF. */
static struct finereg *open_finereg(struct mech_kit *k)
{
    memset(&host, 0, sizeof host);
    host.parked = MECH_NO_CTA;
    host.ctas_left = true;
    host.live[0] = 0xff;
    *k = (struct mech_kit){.last = MECH_NO_WARP};
    assert_true(kit_try_set(k, "finereg", "finereg.acrf=64K finereg.pcrf=64K"));
    kit_attach(k, &host_ops, 48, 1);
    struct mech_admit a = {.registers = {0, 512, 32768},
                           .shared = {0, 0, 1024},
                           .cta_warps = 2,
                           .thread_registers = 8,
                           .gets_registers = 512};
    assert_true(mech_admit(k->sm, &a));
    return k->sm->states[0];
}

static void tell(struct mech_kit *k, enum mech_cta_kind kind, uint32_t cta)
{
    mech_on_cta(k->sm,
                &(struct mech_cta){.cycle = k->cycle, .kind = kind, .cta_slot = cta, .rows = 16, .warps = 2});
}

static void tick(struct mech_kit *k)
{
    k->cycle++;
    mech_on_timer(k->sm, k->cycle);
}

/* The vector of the only PC comes. */
static void answer(struct mech_kit *k) { mech_on_memory_read(k->sm, k->cycle, host.token); }

/* A CTA with n live rows goes to the PCRF: n + 3 cycles after it was decided. */
static void rows_have_moved_after_n_and_three_cycles(void **state)
{
    static const uint32_t registers[] = {1, 4, 8};
    for (size_t i = 0; i < ARRAY_LEN(registers); i++) {
        struct mech_kit k;
        struct finereg *f = open_finereg(&k);
        const uint32_t rows = 2 * registers[i];
        host.live[0] = (1ull << registers[i]) - 1;
        tell(&k, MECH_CTA_START, 0);
        tell(&k, MECH_CTA_STALLED, 0);
        assert_int_equal(host.reads, 1);
        assert_int_equal(host.swaps, 0);
        answer(&k);
        tick(&k);
        assert_int_equal(host.out, 0); /* decided */
        tell(&k, MECH_CTA_OUT, 0);
        for (uint32_t c = 0; c < rows + 2; c++) {
            tick(&k);
            assert_int_equal(host.parked, MECH_NO_CTA);
        }
        tick(&k);
        assert_int_equal(host.parked, 0);
        assert_int_equal(f->pcrf.free, 512 - rows);
        assert_int_equal(f->pcrf.chains[0].count, rows);
        assert_int_equal(host.kept, rows);
        assert_true(host.is_kept[ACRF_ROWS] && host.is_kept[ACRF_ROWS + rows - 1]);
        kit_close(&k);
    }
}

/* A warp stalls in a function with registers 0 to 2 live. Its caller needs 2 and 5 when it is back, the
 * caller of that one 6: these are saved, too, and each but once. Two warps of five rows; the second warp
 * finds the three vectors that the first has read. */
static void registers_of_callers_are_saved(void **state)
{
    struct mech_kit k;
    struct finereg *f = open_finereg(&k);
    host.live[0] = W(0) | W(1) | W(2);
    host.live_in_caller[0][0] = W(2) | W(5);
    host.live_in_caller[1][0] = W(6);
    host.callers = 2;
    tell(&k, MECH_CTA_START, 0);
    tell(&k, MECH_CTA_STALLED, 0);
    for (uint32_t reads = 1; reads <= 3; reads++) {
        assert_int_equal(host.reads, reads);
        answer(&k);
    }
    tick(&k);
    tell(&k, MECH_CTA_OUT, 0);
    while (f->now.stage == SWITCH_MOVE) tick(&k);
    assert_int_equal(kit_stat(&k, "finereg.rows_out"), 2 * 5);
    assert_int_equal(host.kept, 2 * 5);
    assert_int_equal(f->vectors.lookups, 2 * 3);
    assert_int_equal(f->vectors.misses, 3);
    for (uint32_t warp = 0; warp < 2; warp++) {
        assert_int_equal(host.saved[warp][0], W(0) | W(1) | W(2) | W(5) | W(6));
        for (uint32_t i = 1; i < MECH_REGISTER_WORDS; i++) assert_int_equal(host.saved[warp][i], 0);
    }
    kit_close(&k);
}

/* A stalled CTA, one that is ready in the PCRF (1/1) and a younger one that is ready in the ACRF (1/2). */
static void registers_in_the_acrf_come_first(void **state)
{
    struct mech_kit k;
    struct finereg *f = open_finereg(&k);
    for (uint32_t cta = 0; cta < 3; cta++) tell(&k, MECH_CTA_START, cta);
    f->status[0].registers = AT_REST;
    host.ctas_left = false;
    tell(&k, MECH_CTA_OUT, 0);
    tell(&k, MECH_CTA_OUT, 1);
    f->now.stage = SWITCH_VECTORS; /* nothing is decided until all are as they should be */
    f->now.out = 7;
    tell(&k, MECH_CTA_READY, 0);
    tell(&k, MECH_CTA_READY, 1);
    f->now.stage = SWITCH_NONE;
    tell(&k, MECH_CTA_STALLED, 2);
    assert_int_equal(host.out, 2);
    assert_int_equal(host.in, 1);
    assert_int_equal(f->context_swaps, 1);
    assert_int_equal(f->rows_out, 0);
    kit_close(&k);
}

static void save(struct finereg *f, uint32_t cta, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) pcrf_append(&f->pcrf, cta, 0, i);
    f->status[cta].registers = AT_REST;
}

/* CTAs 0 and 1 are ready in the PCRF, which has four free entries; CTA 2 has 16 live rows. Those of CTA 0
 * would not make room for them. */
static void the_oldest_that_makes_room_comes_back(void **state)
{
    static const uint32_t rows_of_second[] = {12, 11};
    for (size_t i = 0; i < ARRAY_LEN(rows_of_second); i++) {
        struct mech_kit k;
        struct finereg *f = open_finereg(&k);
        for (uint32_t cta = 0; cta < 4; cta++) tell(&k, MECH_CTA_START, cta);
        save(f, 0, 2);
        save(f, 1, rows_of_second[i]);
        save(f, 3, 512 - 2 - rows_of_second[i] - 4);
        f->now.stage = SWITCH_VECTORS; /* nothing is decided until all are as they should be */
        f->now.out = 7;
        for (uint32_t cta = 0; cta < 2; cta++) {
            tell(&k, MECH_CTA_OUT, cta);
            tell(&k, MECH_CTA_READY, cta);
        }
        f->now.stage = SWITCH_NONE;
        f->expects = true; /* no room is left for a CTA that comes from the PCRF */
        tell(&k, MECH_CTA_STALLED, 2);
        answer(&k);
        tick(&k);
        const bool fits = rows_of_second[i] == 12;
        assert_int_equal(f->exchanges, fits);
        assert_int_equal(f->depletions, !fits);
        if (fits) assert_int_equal(f->now.in, 1);
        kit_close(&k);
    }
}

/* Kernels of two sizes: CTA 0, of 400 rows, is ready in the PCRF; CTA 1 stalls, which has 16; CTA 2 has the
 * others. The ACRF has room for CTA 0 if CTA 2 has at most 112. */
static void a_cta_that_the_acrf_has_no_room_for_stays_in_the_pcrf(void **state)
{
    static const uint32_t rows_of_third[] = {112, 113};
    for (size_t i = 0; i < ARRAY_LEN(rows_of_third); i++) {
        struct mech_kit k;
        struct finereg *f = open_finereg(&k);
        const uint32_t rows[] = {400, 16, rows_of_third[i]};
        for (uint32_t cta = 0; cta < 3; cta++) {
            tell(&k, MECH_CTA_START, cta);
            f->table.ctas[cta].rows = rows[cta];
        }
        host.ctas_left = false;
        save(f, 0, 16);
        f->now.stage = SWITCH_VECTORS; /* nothing is decided until all are as they should be */
        f->now.out = 7;
        tell(&k, MECH_CTA_OUT, 0);
        tell(&k, MECH_CTA_READY, 0);
        f->now.stage = SWITCH_NONE;
        tell(&k, MECH_CTA_STALLED, 1);
        answer(&k);
        tick(&k);
        assert_int_equal(f->exchanges, rows_of_third[i] == 112);
        assert_int_equal(f->pcrf.chains[0].count, 16);
        kit_close(&k);
    }
}

/* A stalled CTA that goes on while its vector is read keeps its slots; the vector is kept. */
static void a_cta_that_goes_on_is_not_switched(void **state)
{
    struct mech_kit k;
    struct finereg *f = open_finereg(&k);
    tell(&k, MECH_CTA_START, 0);
    tell(&k, MECH_CTA_STALLED, 0);
    tell(&k, MECH_CTA_RESUMED, 0);
    answer(&k);
    tick(&k);
    assert_int_equal(host.swaps, 0);
    assert_int_equal(f->resumed, 1);
    tell(&k, MECH_CTA_STALLED, 0);
    assert_int_equal(host.reads, 1);
    assert_int_equal(host.out, 0);
    assert_int_equal(host.swaps, 1);
    kit_close(&k);
}

/* ---- parts ---- */

static void vectors_that_share_an_entry_miss_in_turn(void **state)
{
    struct mech_kit k;
    struct finereg *f = open_finereg(&k);
    struct live_vectors *v = &f->vectors;
    /* instructions 1 and 32 fold to the same entry, 2 to another */
    assert_int_equal(vectors_index(v, 8), vectors_index(v, 8 * 32));
    assert_int_not_equal(vectors_index(v, 8), vectors_index(v, 8 * 2));
    static const uint32_t pcs[] = {1, 1, 2, 32, 1, 2, 32, 32};
    for (size_t i = 0; i < ARRAY_LEN(pcs); i++)
        if (vectors_lookup(v, 0, pcs[i]) == VECTOR_COMES) assert_true(vectors_arrived(v, host.token));
    assert_int_equal(v->lookups, 8);
    assert_int_equal(v->misses, 5); /* 1, 2, 32, 1, 32 */
    kit_close(&k);
}

static void chains_share_the_pcrf(void **state)
{
    struct mech_kit k;
    struct pcrf *p = &open_finereg(&k)->pcrf;
    for (uint32_t i = 0; i < 4; i++) {
        pcrf_append(p, 1, 0, i);
        pcrf_append(p, 2, 1, 10 + i);
    }
    assert_int_equal(p->free, 512 - 8);
    for (uint32_t i = 0; i < 4; i++) {
        const struct pcrf_tag t = pcrf_take(p, 1);
        assert_int_equal(t.reg, i);
        assert_int_equal(t.is_end, i == 3);
    }
    pcrf_append(p, 3, 0, 5); /* into the lowest entry that is free */
    assert_int_equal(p->chains[3].first, 0);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(pcrf_take(p, 2).reg, 10 + i);
    assert_int_equal(p->free, 512 - 1);
    kit_close(&k);
}

static void parameters_fit_the_machine(void **state)
{
    static const struct {
        struct finereg_params params;
        enum mech_fit fit;
    } cases[] = {
        {{.acrf = 131072, .pcrf = 131072, .vectors = 32, .vector_bits = 64}, MECH_FITS},
        {{.acrf = 131072, .pcrf = 65536, .vectors = 32, .vector_bits = 64}, MECH_MISFIT},
        {{.acrf = 131072, .pcrf = 65536, .vectors = 32, .vector_bits = 64, .unified = true}, MECH_FITS},
        {{.acrf = 131072 - 64, .pcrf = 131072 + 64, .vectors = 32, .vector_bits = 64}, MECH_MISFIT},
        {{.acrf = 131072, .pcrf = 131072, .vectors = 33, .vector_bits = 64}, MECH_MISFIT},
        {{.acrf = 131072, .pcrf = 131072, .vectors = 32, .vector_bits = 70}, MECH_MISFIT}};
    const struct mech_machine machine = {.register_rows = 65536 / 32};
    char reason[MECH_REASON_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(finereg_check(&cases[i].params, &machine, reason), cases[i].fit);
    const struct mech_machine shared = {.register_rows = 65536 / 32, .takes_rows = "linebacker"};
    assert_int_equal(finereg_check(&cases[0].params, &shared, reason), MECH_FITS);
    assert_int_equal(finereg_check(&cases[2].params, &shared, reason), MECH_MISFIT); /* unified */
}

/* The pool of RegMutex and the L1 of CERF are rows that no CTA owns, and nobody knows which: they are not
 * idle for others. FineReg says which rows its PCRF uses. */
static void rows_without_a_cta_have_one_owner(void **state)
{
    static const struct {
        const char *names;
        bool is_allowed;
    } pairs[] = {{"finereg linebacker", true},   {"finereg victim", true},   {"finereg cerf", false},
                 {"regmutex linebacker", false}, {"regmutex victim", false}, {"linebacker cerf", false},
                 {"linebacker victim", false}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct mech_kit k = {0};
        assert_int_equal(kit_try_set(&k, pairs[i].names, ""), pairs[i].is_allowed);
        if (pairs[i].is_allowed) mech_set_destroy(k.set);
        diag_free(&k.diags);
    }
}

/* A CTA comes back, a row a cycle: each row that it leaves is released at once. */
static void rows_that_come_back_are_released(void **state)
{
    struct mech_kit k;
    struct finereg *f = open_finereg(&k);
    host.has_slots = true;
    tell(&k, MECH_CTA_START, 0);
    tell(&k, MECH_CTA_STALLED, 0);
    answer(&k);
    tick(&k);
    tell(&k, MECH_CTA_OUT, 0);
    while (f->now.stage == SWITCH_MOVE) tick(&k);
    assert_int_equal(host.kept, 16);
    f->expects = host.ctas_left = false;
    tell(&k, MECH_CTA_READY, 0);
    for (uint32_t left = 16; left; left--) {
        assert_int_equal(host.kept, left);
        tick(&k);
    }
    assert_int_equal(host.kept, 0);
    assert_int_equal(f->rows_in, 16);
    kit_close(&k);
}

/* Two mechanisms that say which CTAs become resident. */
static void two_cannot_admit(void **state)
{
    struct mech_kit k = {0};
    assert_false(kit_try_set(&k, "vt finereg", ""));
    assert_true(kit_try_set(&k, "vt unified", ""));
    mech_set_destroy(k.set);
    diag_free(&k.diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_moved_after_n_and_three_cycles),
        cmocka_unit_test(registers_of_callers_are_saved),
        cmocka_unit_test(registers_in_the_acrf_come_first),
        cmocka_unit_test(the_oldest_that_makes_room_comes_back),
        cmocka_unit_test(a_cta_that_the_acrf_has_no_room_for_stays_in_the_pcrf),
        cmocka_unit_test(a_cta_that_goes_on_is_not_switched),
        cmocka_unit_test(vectors_that_share_an_entry_miss_in_turn),
        cmocka_unit_test(chains_share_the_pcrf),
        cmocka_unit_test(parameters_fit_the_machine),
        cmocka_unit_test(rows_without_a_cta_have_one_owner),
        cmocka_unit_test(rows_that_come_back_are_released),
        cmocka_unit_test(two_cannot_admit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
