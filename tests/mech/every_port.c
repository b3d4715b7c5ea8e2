/* every_port.c: a plug-in that claims every miss and, when its timer is due, calls every port of the SM with
 * arguments that the test knows. Statistic `yes`: how many ports answered yes. */
#include "heddle/mechanism.h"

struct every_port {
    const struct mech_ports *ports;
    unsigned char *block;
    uint64_t yes, issued, waits, live, set, first, block_is_zero;
    uint64_t seen, sharers, insts, as_of;
    uint64_t pcs, cta_live, code, others_keep_rows;
};

#define COUNT(field) STAT_COUNT(every_port, field, "every_port." #field, "", "for the test", NULL)
static const struct stat_row every_port_stats[] = {
    COUNT(yes),   COUNT(issued),        COUNT(waits),    COUNT(live),    COUNT(set),
    COUNT(first), COUNT(block_is_zero), COUNT(seen),     COUNT(sharers), COUNT(insts),
    COUNT(as_of), COUNT(pcs),           COUNT(cta_live), COUNT(code),    COUNT(others_keep_rows),
    {0}};

enum { BLOCK_BYTES = 1000, STALL_CYCLES = 29, CTA_ROWS = 35 };

static void every_port_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct every_port *s = state;
    s->ports = ports;
    s->block = ports->memory(ports->host, BLOCK_BYTES);
    ports->stall_after(ports->host, STALL_CYCLES);
    ports->cta_rows(ports->host, CTA_ROWS);
    s->others_keep_rows = ports->others_keep_rows;
    s->block_is_zero = 1;
    for (int i = 0; i < BLOCK_BYTES; i++) {
        if (s->block[i]) s->block_is_zero = 0;
        s->block[i] = 1;
    }
}

static void every_port_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                                 struct mech_miss *answer)
{
    answer->answer = MECH_MISS_CLAIM;
}

static void every_port_between_sms(struct every_port *s)
{
    const struct mech_ports *p = s->ports;
    struct mech_ring_message m = {.words = {[MECH_RING_WORDS - 1] = 20}, .bytes = 4, .to = 1};
    s->yes += p->ring_push(p->host, MECH_RING_RESPONSE, &m);
    s->yes += p->ring_peek(p->host, MECH_RING_REQUEST, &m);
    s->seen = m.words[0] + m.hops;
    p->ring_pass(p->host, MECH_RING_REQUEST);
    p->ring_pop(p->host, MECH_RING_RESPONSE);
    s->sharers = p->sharers(p->host, 0x180)[0];
    s->as_of = p->copy_as_of(p->host, 1, 0x200);
    s->insts = p->thread_insts(p->host);
}

static bool every_port_admit(void *state, struct mech_admit *a) { return true; }

static void every_port_of_ctas(struct every_port *s)
{
    const struct mech_ports *p = s->ports;
    const uint64_t kept[MECH_REGISTER_WORDS] = {26};
    uint32_t pcs[2] = {0};
    s->yes += p->cta_swap(p->host, 1, 2, 21);
    s->pcs = p->warp_pcs(p->host, 3, 22, pcs, 2) + pcs[1];
    s->cta_live = p->cta_live(p->host, 4, 23)[MECH_REGISTER_WORDS - 1];
    p->cta_park(p->host, 5, kept);
    s->yes += p->cta_unpark(p->host, 6);
    s->yes += p->ctas_left(p->host);
    s->code = p->code_address(p->host, 7, 24);
    s->yes += p->memory_read(p->host, 0x140, 25);
}

static void every_port_on_timer(void *state, uint64_t cycle)
{
    struct every_port *s = state;
    const struct mech_ports *p = s->ports;
    uint32_t first = 0;
    s->yes += p->prefetch(p->host, 0x1234, 5, 6);
    s->issued = p->counters(p->host)->issued + p->warp_issued(p->host, 7);
    s->waits = p->memory_wait(p->host, 0);
    s->live = p->live_registers(p->host, 8, 9)[MECH_REGISTER_WORDS - 1];
    p->miss_as_of(p->host, 10, 27);
    p->miss_answer(p->host, 10);
    s->yes += p->miss_forward(p->host, 11);
    s->set = p->l1_set(p->host, 0x180);
    s->yes += p->l1_probe(p->host, 0x80);
    s->yes += p->l1_read(p->host, 0x100);
    s->yes += p->registers_take(p->host, 12, 13, &first);
    s->first = first;
    p->registers_give(p->host, 14, 15);
    s->yes += p->registers_keep(p->host, 36);
    p->registers_release(p->host, 37);
    s->yes += p->bank_access(p->host, 16, true);
    s->yes += p->cta_registers(p->host, &(struct mech_transfer){.cta_slot = 3, .is_out = true, .buffer = 17});
    every_port_between_sms(s);
    every_port_of_ctas(s);
}

static uint32_t every_port_uses(const void *params)
{
    return MECH_USES_RING | MECH_USES_SHARERS | MECH_USES_AGES;
}

extern const struct mechanism heddle_mechanism;
HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "every_port",
    .summary = "calls every port",
    .paper = "",
    .stats = every_port_stats,
    .state_bytes = sizeof(struct every_port),
    .timer_cycles = 50,
    .owns = MECH_OWNS_REGISTERS | MECH_KEEPS_REGISTERS,
    .uses = every_port_uses,
    .init = every_port_init,
    .take_miss = every_port_take_miss,
    .admit = every_port_admit,
    .on_timer = every_port_on_timer,
};
