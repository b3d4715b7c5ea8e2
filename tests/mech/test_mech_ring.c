/* test_mech_ring.c: the ports of the SMs' ring, each with a mechanism of a few lines: whom a message reaches,
 * when there is room for one, and messages that pass an SM which need not be woken. When a message can be
 * seen, cycle by cycle: unit/test_mem_smring.c; on_ring: test_mech_events.c. */
#include "hooks_kit.h"

enum { SMS = 3, WORD = 77 };
static uint32_t use_ring(const void *params) { return MECH_USES_RING; }

static struct play on_sms(const char *script)
{
    struct play p = with_blank(script);
    p.sets[0] = "sm.count=3";
    p.grid = SMS;
    return p;
}

/* ---- for one SM ---- */

/* SM 0 says WORD to the last SM on both channels. n: messages that were seen, hops on the channels. */
static void send_to_last(void *state, bool is_start)
{
    const struct mech_ports *p = ((struct tiny *)state)->ports;
    const struct mech_ring_message m = {.words = {WORD}, .bytes = 4, .to = p->sm_count - 1};
    if (!is_start || p->sm != 0) return;
    assert_true(p->ring_push(p->host, MECH_RING_REQUEST, &m));
    assert_true(p->ring_push(p->host, MECH_RING_RESPONSE, &m));
}
static void take_both(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    for (uint32_t i = 0; i < 2; i++) {
        const enum mech_ring_channel c = i ? MECH_RING_RESPONSE : MECH_RING_REQUEST;
        struct mech_ring_message m;
        if (!p->ring_peek(p->host, c, &m)) continue;
        assert_int_equal(p->sm, p->sm_count - 1);
        assert_int_equal(m.words[0], WORD);
        t->n[0]++;
        t->n[1 + i] = m.hops;
        tell(t, 3, cycle, i);
        p->ring_pop(p->host, c);
    }
}

/* Requests travel up and responses down: from SM 0 to SM 2 of 3 these are two links and one. */
static void a_message_for_one_sm_is_seen_by_it_alone(void **state)
{
    attach((struct mechanism){.uses = use_ring, .on_kernel = send_to_last, .on_ring = take_both});
    struct play p = on_sms("abcdefgh");
    play_and_expect(&p, (struct wanted[]){{"blank.n0", 2}, {"blank.n1", 2}, {"blank.n2", 1}, {0}});
    p = with_blank("ab#A_cd*#");
    expect_same_everywhere(&p);
}

/* ---- room ---- */

/* SM 0 sends as many as there is room for, once. n: sent, refused, taken, when. */
static void send_all(void *state, bool is_start)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    const struct mech_ring_message m = {.words = {WORD}, .bytes = 4, .to = 1};
    if (!is_start || p->sm != 0 || t->n[1]) return;
    while (p->ring_push(p->host, MECH_RING_REQUEST, &m)) t->n[0]++;
    t->n[1]++;
    assert_int_equal(t->n[0], p->ring_request_buffer ? p->ring_request_buffer : 1);
}
static void take_one(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    struct mech_ring_message m;
    if (!p->ring_peek(p->host, MECH_RING_REQUEST, &m)) return;
    t->n[2]++;
    tell(t, 3, cycle, m.hops);
    p->ring_pop(p->host, MECH_RING_REQUEST);
}

/* With a buffer there is room for as many as it has slots; without one a message enters the queue, one a
 * cycle. All that were sent arrive. */
static void ring_push_says_whether_there_is_room(void **state)
{
    static const struct {
        const char *buffer;
        uint64_t sent;
    } rows[] = {{"ring.request_buffer=5", 5}, {"ring.request_buffer=0", 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        attach((struct mechanism){.uses = use_ring, .on_kernel = send_all, .on_ring = take_one});
        struct play p = on_sms("abcdefgh");
        p.sets[1] = "ring.queue=4";
        p.sets[2] = rows[i].buffer;
        play_and_expect(
            &p,
            (struct wanted[]){{"blank.n0", rows[i].sent}, {"blank.n1", 1}, {"blank.n2", rows[i].sent}, {0}});
        p.grid = 0;
        p.sets[0] = "ring.latency=2";
        p.script = "ab#A_cd*#";
        expect_same_everywhere(&p);
    }
}

/* ---- MECH_RING_HOLDERS ---- */

/* At each miss SM 0 asks for lines a and z. Who holds the line takes the message, and others let it pass;
 * SM 0 takes what has come round. n: sent, found, come round. */
static uint32_t to_whom;

static void ask_for_lines(void *state, const struct mech_l1_access *a)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    if (p->sm != 0 || a->outcome != MECH_L1_MISS) return;
    for (const char *c = "az"; *c; c++) {
        const struct mech_ring_message m = {.words = {line_at(*c)}, .bytes = 4, .to = to_whom};
        t->n[0] += p->ring_push(p->host, MECH_RING_REQUEST, &m);
    }
}
static void find_line(void *state, uint64_t cycle)
{
    struct tiny *t = state;
    const struct mech_ports *p = t->ports;
    struct mech_ring_message m;
    if (!p->ring_peek(p->host, MECH_RING_REQUEST, &m)) return;
    if (p->sm == 0) {
        tell(t, 2, cycle, m.words[0] - script_buf);
        p->ring_pop(p->host, MECH_RING_REQUEST);
    } else if (p->l1_probe(p->host, m.words[0])) {
        tell(t, 1, cycle, m.words[0] - script_buf + m.hops);
        p->ring_pop(p->host, MECH_RING_REQUEST);
    } else {
        p->ring_pass(p->host, MECH_RING_REQUEST);
    }
}

/* The same as a message for all that a mechanism lets pass where the L1 lacks the line. */
static void a_message_for_holders_is_one_that_others_let_pass(void **state)
{
    uint64_t want[4], cycles = 0;
    for (uint32_t i = 0; i < 2; i++) {
        to_whom = i ? MECH_RING_HOLDERS : MECH_RING_ALL;
        attach((struct mechanism){.uses = use_ring, .on_l1_access = ask_for_lines, .on_ring = find_line});
        struct play p = on_sms("abcdefgh");
        p.sets[1] = "l1.size=2K";
        play(&p);
        for (uint32_t k = 0; k < 3; k++) {
            static const char *const names[] = {"blank.n0", "blank.n1", "blank.n2"};
            if (!i) want[k] = stat_of(names[k]);
            assert_int_equal(stat_of(names[k]), want[k]);
            assert_true(want[k] > 0);
        }
        if (!i) cycles = rig_cycles(&rig, 0);
        assert_int_equal(rig_cycles(&rig, 0), cycles);
        play_close();
        p = with_blank("ab#A_cd*#$");
        expect_same_everywhere(&p);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_message_for_one_sm_is_seen_by_it_alone),
        RIG_TEST(ring_push_says_whether_there_is_room),
        RIG_TEST(a_message_for_holders_is_one_that_others_let_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
