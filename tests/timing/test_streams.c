/* test_streams.c: streams of the timed machine: what overlaps, what waits for what, copies and their engines,
 * marks, and that kernels that ran together keep their own events apart. */
#include "timing_kit.h"

#include "core/timed_impl.h"

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    /* out[i] = a value through `rounds` dependent multiply-adds of in[i] */
    ".visible .entry work(.param .u64 in, .param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .u64 %i, %o, %a; .reg .u32 %t, %c, %n, %v, %r; .reg .pred %q;\n"
    "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %r, [rounds];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;\n"
    "mul.wide.u32 %a, %t, 4;\nadd.u64 %i, %i, %a;\nadd.u64 %o, %o, %a;\nld.global.u32 %v, [%i];\n"
    "loop:\nmad.lo.u32 %v, %v, 3, 1;\nsub.u32 %r, %r, 1;\nsetp.ne.u32 %q, %r, 0;\n@%q bra loop;\n"
    "st.global.u32 [%o], %v;\nret;\n}\n"
    ".visible .entry wait(.param .u64 flag)\n{\n.reg .u64 %f; .reg .u32 %v; .reg .pred %q;\nld.param.u64 %f, "
    "[flag];\n"
    "loop:\nld.volatile.global.u32 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra loop;\nret;\n}\n"
    ".visible .entry tell(.param .u64 flag)\n{\n.reg .u64 %f;\nld.param.u64 %f, [flag];\n"
    "st.volatile.global.u32 [%f], 1;\nret;\n}\n";

enum {
    /* two such grids find 15 SMs */
    CTAS = 7,
    THREADS = 128,
    WORDS = CTAS * THREADS,
    ROUNDS = 200
};

/* the memory of one stream */
struct lane {
    uint64_t in, out;
};

static struct lane lane_new(struct rig *r, uint32_t seed)
{
    struct lane l = {rig_alloc(r, WORDS * 4), rig_alloc(r, WORDS * 4)};
    for (uint32_t i = 0; i < WORDS; i++) ((uint32_t *)(uintptr_t)l.in)[i] = i * 2654435761u + seed;
    return l;
}

static void lane_launch(struct rig *r, struct lane l, uint64_t stream)
{
    uint64_t params[] = {l.in, l.out, ROUNDS};
    rig_launch(r, "work", CTAS, THREADS, params, stream);
}

static uint32_t worked(uint32_t v)
{
    for (int i = 0; i < ROUNDS; i++) v = v * 3 + 1;
    return v;
}

static void lane_expect(struct lane l)
{
    const uint32_t *in = (const uint32_t *)(uintptr_t)l.in, *out = (const uint32_t *)(uintptr_t)l.out;
    for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(out[i], worked(in[i]));
}

static const struct timed_kernel *kernel_on(struct rig *r, uint64_t stream)
{
    for (uint32_t i = 0; i < timed_kernel_count(r->gpu); i++)
        if (timed_kernel_at(r->gpu, i)->stream == stream) return timed_kernel_at(r->gpu, i);
    fail_msg("no kernel ran on stream %u", (unsigned)stream);
    return NULL;
}

/* ---- overlap ---- */

static const char *const own_rows[] = {"sm.warp_insts",   "sm.thread_insts", "sm.loads",      "sm.stores",
                                       "sm.transactions", "sm.ctas_done",    "sm.warps_done", "l1.accesses",
                                       "l1.misses",       "gpu.ctas"};

static void two_kernels_together_take_less_than_their_sum(void **state)
{
    static struct rig r;
    double alone[ARRAY_LEN(own_rows)];
    rig_open(&r, ptx, &(struct rig_options){0});
    struct lane a = lane_new(&r, 1), b = lane_new(&r, 2);
    lane_launch(&r, a, 5);
    rig_sync(&r);
    uint64_t one = timed_cycles(r.gpu), requests = timed_kernel_at(r.gpu, 0)->requests;
    assert_false(timed_kernel_at(r.gpu, 0)->overlapped);
    for (size_t i = 0; i < ARRAY_LEN(own_rows); i++) alone[i] = rig_stat(&r, 0, own_rows[i]);
    rig_close(&r);

    rig_open(&r, ptx, &(struct rig_options){0});
    a = lane_new(&r, 1), b = lane_new(&r, 2);
    lane_launch(&r, a, 5);
    lane_launch(&r, b, 6);
    rig_sync(&r);
    lane_expect(a);
    lane_expect(b);
    print_message("one kernel: %llu cycles, two together: %llu\n", (unsigned long long)one,
                  (unsigned long long)timed_cycles(r.gpu));
    assert_true(timed_cycles(r.gpu) < one + one / 2);
    for (uint32_t k = 0; k < 2; k++) {
        assert_true(timed_kernel_at(r.gpu, k)->overlapped);
        assert_int_equal(timed_kernel_at(r.gpu, k)->requests, requests);
        for (size_t i = 0; i < ARRAY_LEN(own_rows); i++)
            if (rig_stat(&r, k, own_rows[i]) != alone[i])
                fail_msg("%s of kernel %u: %g, alone %g", own_rows[i], k, rig_stat(&r, k, own_rows[i]),
                         alone[i]);
    }
    rig_close(&r);
}

/* Many small kernels, some of which end while others run and make room for the next. */
static void kernels_come_and_go_beside_each_other(void **state)
{
    enum { STREAMS = 5, ROUNDS_OF_EACH = 4 };
    static struct rig r;
    struct lane lanes[STREAMS][ROUNDS_OF_EACH];
    rig_open(&r, ptx, &(struct rig_options){0});
    for (uint32_t n = 0; n < ROUNDS_OF_EACH; n++)
        for (uint32_t s = 0; s < STREAMS; s++) {
            lanes[s][n] = lane_new(&r, s * 100 + n);
            uint64_t params[] = {lanes[s][n].in, lanes[s][n].out, ROUNDS};
            rig_launch(&r, "work", CTAS, s % 2 ? THREADS : THREADS / 2, params, 10 + s);
        }
    rig_sync(&r);
    assert_int_equal(timed_kernel_count(r.gpu), STREAMS * ROUNDS_OF_EACH);
    for (uint32_t i = 0; i < timed_kernel_count(r.gpu); i++) {
        assert_int_equal(rig_stat(&r, i, "sm.ctas_done"), CTAS);
        assert_true(rig_stat(&r, i, "sm.loads") == rig_stat(&r, i, "sm.stores"));
    }
    for (uint32_t n = 0; n < ROUNDS_OF_EACH; n++) lane_expect(lanes[1][n]);
    rig_close(&r);
}

/* ---- order ---- */

static void a_non_blocking_stream_does_not_know_the_default_stream(void **state)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    timed_stream_nonblocking(r.gpu, 5);
    rig_launch(&r, "wait", 1, 32, flag, 5);
    rig_launch(&r, "tell", 1, 32, flag, 0); /* would wait for a blocking stream for ever */
    rig_sync(&r);
    struct lane a = lane_new(&r, 1);
    *(uint32_t *)(uintptr_t)flag[0] = 0;
    rig_launch(&r, "wait", 1, 32, flag, 0);
    rig_launch(&r, "tell", 1, 32, flag, 5); /* and the other way round */
    lane_launch(&r, a, 6);                  /* blocking: after the default stream */
    rig_sync(&r);
    assert_true(kernel_on(&r, 6)->start_cycle >= timed_kernel_at(r.gpu, 3)->end_cycle);
    rig_close(&r);
}

static void a_stream_waits_for_a_mark_of_another(void **state)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    struct lane a = lane_new(&r, 1), b = {a.out, rig_alloc(&r, WORDS * 4)}, c = lane_new(&r, 3);
    uint64_t begin = timed_mark(r.gpu, 5), ns[2];
    assert_true(timed_mark_reached(r.gpu, begin, &ns[0])); /* nothing is before it */
    lane_launch(&r, a, 5);
    uint64_t end = timed_mark(r.gpu, 5);
    assert_false(timed_mark_reached(r.gpu, end, &ns[1]));
    timed_wait_mark(r.gpu, 6, end);
    lane_launch(&r, b, 6);
    lane_launch(&r, c, 7);
    assert_int_equal(timed_sync_mark(r.gpu, end, &r.fault), EMU_OK);
    assert_true(timed_pending(r.gpu)); /* stream 6 has only begun */
    assert_true(timed_mark_reached(r.gpu, end, &ns[1]));
    assert_int_equal(ns[1], timed_now_ns(r.gpu));
    rig_sync(&r);
    lane_expect(a);
    lane_expect(b);
    assert_true(kernel_on(&r, 6)->start_cycle >= kernel_on(&r, 5)->end_cycle);
    assert_true(kernel_on(&r, 7)->start_cycle < kernel_on(&r, 5)->end_cycle);
    rig_close(&r);
}

static void waiting_for_one_stream_leaves_the_others_under_way(void **state)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    struct lane a = lane_new(&r, 1);
    rig_launch(&r, "wait", 1, 32, flag, 5);
    lane_launch(&r, a, 6);
    assert_int_equal(timed_sync(r.gpu, 6, &r.fault), EMU_OK);
    lane_expect(a);
    assert_true(timed_pending(r.gpu));
    *(uint32_t *)(uintptr_t)flag[0] = 1; /* the host sets what the kernel waits for */
    rig_sync(&r);
    assert_int_equal(timed_kernel_count(r.gpu), 2);
    rig_close(&r);
}

static void a_stream_that_was_ended_runs_what_it_has_and_is_forgotten(void **state)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    struct lane a = lane_new(&r, 1);
    uint32_t streams = r.gpu->streams.all.len;
    lane_launch(&r, a, 5);
    timed_mark(r.gpu, 6);
    timed_stream_end(r.gpu, 5);
    timed_stream_end(r.gpu, 6);
    assert_int_equal(r.gpu->streams.all.len, streams + 1);
    rig_sync(&r);
    lane_expect(a);
    assert_int_equal(r.gpu->streams.all.len, streams);
    rig_close(&r);
}

/* ---- copies ---- */

struct move {
    uint32_t *to;
    const uint32_t *from;
    int performed, released;
    uint64_t at;
    struct timed_gpu *gpu;
};
static void move_perform(void *ctx)
{
    struct move *m = ctx;
    memcpy(m->to, m->from, WORDS * 4);
    m->performed++;
    m->at = timed_cycles(m->gpu);
}
static void move_release(void *ctx) { ((struct move *)ctx)->released++; }

static void move_queue(struct rig *r, struct move *m, enum timed_copy_kind kind, uint64_t to, uint64_t from,
                       uint64_t stream)
{
    *m = (struct move){
        .to = (uint32_t *)(uintptr_t)to, .from = (const uint32_t *)(uintptr_t)from, .gpu = r->gpu};
    struct timed_copy c = {
        .kind = kind, .bytes = 4096, .perform = move_perform, .release = move_release, .ctx = m};
    timed_copy(r->gpu, &c, stream);
}

static void a_copy_that_takes_no_time_still_keeps_its_turn(void **state)
{
    static struct rig r;
    static uint32_t host[WORDS], back[WORDS];
    struct move in, out;
    rig_open(&r, ptx, &(struct rig_options){0});
    struct lane a = lane_new(&r, 1);
    for (uint32_t i = 0; i < WORDS; i++) host[i] = i + 7;
    move_queue(&r, &in, COPY_TO_DEVICE, a.in, (uintptr_t)host, 5);
    assert_int_equal(in.performed, 1); /* nothing is before it */
    lane_launch(&r, a, 5);
    move_queue(&r, &out, COPY_TO_HOST, (uintptr_t)back, a.out, 5);
    assert_int_equal(out.performed, 0);
    rig_sync(&r);
    for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(back[i], worked(i + 7));
    assert_int_equal(in.released + out.released, 2);
    assert_int_equal(out.at, kernel_on(&r, 5)->end_cycle);
    rig_close(&r);
}

/* 4096 bytes at 1000 MB/s are 4096 ns, with 1000 ns before: 5.096 us are 7134.4 core cycles of 1.4 GHz. */
static const char *const timed_sets[] = {"copy.timed=true", "copy.to_device=1000", "copy.to_host=1000",
                                         "copy.latency=1000", "copy.engines=2"};
enum { COPY_CYCLES = 1400 + 5735 };

static void copies_take_their_time_on_the_engine_of_their_direction(void **state)
{
    static struct rig r;
    static uint32_t host[WORDS], back[WORDS];
    struct move first, second, other;
    rig_open(&r, ptx,
             &(struct rig_options){
                 .sets = timed_sets, .set_count = ARRAY_LEN(timed_sets), .timed.timeline = true});
    struct lane a = lane_new(&r, 1), b = lane_new(&r, 2);
    move_queue(&r, &first, COPY_TO_DEVICE, a.in, (uintptr_t)host, 5);
    move_queue(&r, &second, COPY_TO_DEVICE, b.in, (uintptr_t)host, 6);
    move_queue(&r, &other, COPY_TO_HOST, (uintptr_t)back, a.out, 7);
    lane_launch(&r, a, 5);
    lane_launch(&r, b, 8); /* beside the copies */
    rig_sync(&r);
    assert_int_equal(first.at, COPY_CYCLES);
    assert_int_equal(other.at, COPY_CYCLES);
    assert_int_equal(second.at, 2 * COPY_CYCLES); /* one engine for each direction */
    assert_true(kernel_on(&r, 5)->start_cycle >= first.at);
    assert_true(kernel_on(&r, 8)->start_cycle < 10);
    lane_expect(a);
    assert_int_equal(timed_transfer_count(r.gpu), 3);
    assert_int_equal(timed_transfer_at(r.gpu, 2)->end_cycle - timed_transfer_at(r.gpu, 2)->start_cycle,
                     COPY_CYCLES);
    rig_close(&r);
}

static uint64_t busy_hash(bool no_skip)
{
    static struct rig r;
    static uint32_t host[WORDS];
    struct move in, out;
    rig_open(&r, ptx,
             &(struct rig_options){
                 .sets = timed_sets, .set_count = ARRAY_LEN(timed_sets), .timed.no_skip = no_skip});
    struct lane a = lane_new(&r, 1), b = lane_new(&r, 2), c = lane_new(&r, 3);
    timed_stream_nonblocking(r.gpu, 7);
    move_queue(&r, &in, COPY_TO_DEVICE, a.in, (uintptr_t)host, 5);
    lane_launch(&r, a, 5);
    uint64_t mark = timed_mark(r.gpu, 5);
    lane_launch(&r, b, 6);
    timed_wait_mark(r.gpu, 6, mark);
    lane_launch(&r, b, 6);
    lane_launch(&r, c, 7);
    assert_int_equal(timed_sync(r.gpu, 7, &r.fault), EMU_OK);
    lane_launch(&r, c, 0);
    move_queue(&r, &out, COPY_TO_HOST, (uintptr_t)host, b.out, 6);
    rig_sync(&r);
    uint64_t h = timed_hash(r.gpu);
    rig_close(&r);
    return h;
}

static void sleeping_changes_nothing_when_streams_overlap(void **state)
{
    uint64_t h = busy_hash(false);
    assert_true(h == busy_hash(true));
    assert_true(h == busy_hash(false));
}

/* ---- ends ---- */

static void a_fault_ends_all_streams_and_gives_copies_back(void **state)
{
    static struct rig r;
    struct move late, later;
    uint64_t bad[] = {16}, ns;
    rig_open(&r, ptx, &(struct rig_options){0});
    struct lane a = lane_new(&r, 1), b = lane_new(&r, 2);
    rig_launch(&r, "tell", 1, 32, bad, 5);
    move_queue(&r, &late, COPY_ON_DEVICE, a.in, b.in, 5);
    uint64_t mark = timed_mark(r.gpu, 5);
    lane_launch(&r, b, 6);
    assert_int_equal(timed_sync_mark(r.gpu, mark, &r.fault), EMU_OUT_OF_BOUNDS);
    assert_int_equal(timed_sync(r.gpu, 6, &r.fault), EMU_OUT_OF_BOUNDS); /* it sticks */
    assert_false(timed_mark_reached(r.gpu, mark, &ns));
    assert_false(timed_pending(r.gpu));
    move_queue(&r, &later, COPY_ON_DEVICE, a.in, b.in, 6);
    assert_true(later.released == 1 && later.performed == 0);
    emu_module_unload(r.device, r.module); /* before the machine: it has let go of it */
    r.module = NULL;
    rig_close(&r);
    assert_true(late.released == 1 && late.performed == 0);
}

static void a_request_of_a_kernel_that_is_not_answered_breaks_a_law(void **state)
{
    static struct rig r;
    rig_open(&r, ptx, &(struct rig_options){0});
    uint64_t flag[] = {rig_alloc(&r, 4)};
    struct lane a = lane_new(&r, 1);
    rig_launch(&r, "wait", 1, 32, flag, 5); /* owner slot 1; overlaps the next */
    lane_launch(&r, a, 6);                  /* owner slot 2 */
    uint64_t longer[] = {a.in, a.out, 4 * ROUNDS};
    rig_launch(&r, "work", CTAS, THREADS, longer, 7);
    assert_int_equal(timed_sync(r.gpu, 6, &r.fault), EMU_OK);
    assert_int_equal(r.gpu->dispatch.queue.len, 2);
    units_sm(r.gpu->wiring.units, 0)->pool.owners[r.gpu->dispatch.queue.data[1]->owner_slot].live++;
    assert_int_equal(timed_sync(r.gpu, 7, &r.fault), EMU_LAW_BROKEN);
    assert_non_null(strstr(timed_report(r.gpu), "requests not answered of kernel 3: 1, should be 0"));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(two_kernels_together_take_less_than_their_sum),
        RIG_TEST(kernels_come_and_go_beside_each_other),
        RIG_TEST(a_non_blocking_stream_does_not_know_the_default_stream),
        RIG_TEST(a_stream_waits_for_a_mark_of_another),
        RIG_TEST(waiting_for_one_stream_leaves_the_others_under_way),
        RIG_TEST(a_stream_that_was_ended_runs_what_it_has_and_is_forgotten),
        RIG_TEST(a_copy_that_takes_no_time_still_keeps_its_turn),
        RIG_TEST(copies_take_their_time_on_the_engine_of_their_direction),
        RIG_TEST(sleeping_changes_nothing_when_streams_overlap),
        RIG_TEST(a_fault_ends_all_streams_and_gives_copies_back),
        RIG_TEST(a_request_of_a_kernel_that_is_not_answered_breaks_a_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
