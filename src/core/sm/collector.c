/* collector.c: see collector.h. Known from GPGPU-Sim's opndcoll_rfu_t: a collector takes one operand a cycle
 * (a parameter here); the units of a class leave in turn. Left out: reads of predicates, which have a
 * separate register file. */
#include "core/sm/collector.h"

struct class_setup {
    /* width of the latches; collector units that only this class uses */
    uint32_t width, own;
};

static struct class_setup class_setup(const struct sm_params *p, enum sm_class cls)
{
    const struct class_setup of_class[CLASS_COUNT] = {{p->sp_units, p->sp_collectors},
                                                      {p->int_units, p->int_collectors},
                                                      {p->dp_units, p->dp_collectors},
                                                      {p->sfu_units, p->sfu_collectors},
                                                      {p->mem_width, p->mem_collectors}};
    struct class_setup s = of_class[cls];
    if (!s.width) return (struct class_setup){0};
    if (!s.own && !p->gen_collectors) s.own = 1;
    return s;
}

uint32_t collector_units(const struct sm_params *p)
{
    uint32_t count = p->gen_collectors;
    for (int k = 0; k < CLASS_COUNT; k++) count += class_setup(p, (enum sm_class)k).own;
    return count;
}

static struct latch latch_of(uint32_t width)
{
    assert(width <= LATCH_MAX);
    uint32_t entries = 1;
    while (entries < width) entries *= 2;
    return (struct latch){.width = (uint16_t)width, .mask = (uint16_t)(entries - 1)};
}

static uint64_t collector_add(struct collector *c, uint32_t count)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++) mask |= 1ull << c->unit_count++;
    return mask;
}

void collector_init(struct collector *c, const struct sm_params *p)
{
    *c = (struct collector){
        .reads = p->collector_reads, .banks = p->register_banks, .by_warp = p->bank_by_warp};
    if (is_pow2_u64(c->banks)) c->bank_mask = c->banks - 1;
    if (!p->operand_collector) return;
    assert(collector_units(p) <= COLLECTOR_UNITS_MAX); /* sm_params_check */
    for (int k = 0; k < CLASS_COUNT; k++) {
        struct class_setup s = class_setup(p, (enum sm_class)k);
        c->in[k] = c->out[k] = latch_of(s.width);
        c->own[k] = collector_add(c, s.own);
        if (s.width) c->room |= 1u << k;
    }
    c->classes = c->room;
    uint64_t shared = collector_add(c, p->gen_collectors);
    for (int k = 0; k < CLASS_COUNT; k++)
        if (c->in[k].width) c->own[k] |= shared;
    for (uint32_t i = 0; i < c->unit_count; i++)
        for (uint32_t k = 0; k < CLASS_COUNT; k++) c->units[i].users |= (uint8_t)((c->own[k] >> i & 1) << k);
}

/* Neighbouring warps often read the same registers at the same time. With this stride these reads, and those
 * of neighbouring registers, go to different banks. */
enum { WARP_STRIDE = 5 };

static uint32_t bank_of(const struct collector *c, uint32_t warp, uint32_t reg)
{
    uint32_t at = c->by_warp ? reg + WARP_STRIDE * warp : reg;
    return c->bank_mask ? at & c->bank_mask : at % c->banks;
}

void collector_write(struct collector *c, uint32_t warp, const struct uop *u, uint64_t cycle)
{
    if (!c->reading && LIKELY(!c->is_shared)) return; /* nobody competes for the banks */
    uint64_t banks = 0;
    for (uint32_t i = 0; i < u->write_count; i++) banks |= 1ull << bank_of(c, warp, u->writes[i]);
    if (c->reading) c->written |= banks;
    if (LIKELY(!c->is_shared)) return;
    c->wrote = c->wrote_cycle == cycle ? c->wrote | banks : banks;
    c->wrote_cycle = cycle;
}

void collector_put(struct collector *c, enum sm_class cls, uint32_t flight)
{
    latch_put(&c->in[cls], flight);
    if (!latch_has_room(&c->in[cls])) c->room &= ~(1u << cls);
    c->work++;
    c->is_stuck = false;
    c->entering |= 1u << cls;
    c->may_enter |= 1u << cls;
}

uint32_t collector_take(struct collector *c, enum sm_class cls)
{
    uint32_t id = latch_take(&c->out[cls]);
    c->work--;
    c->is_stuck = false;
    if (!c->out[cls].count) c->leaving &= ~(1u << cls);
    if (c->held[cls]) c->may_leave |= 1u << cls;
    return id;
}

/* Rotates the mask so that it begins at unit `start`. */
static uint64_t turned(uint64_t mask, uint32_t start)
{
    return start ? mask >> start | mask << (64 - start) : mask;
}

/* Classes that may use one of these units. */
static uint32_t users_of(const struct collector *c, uint64_t units)
{
    uint32_t users = 0;
    for (; units; units &= units - 1) users |= c->units[__builtin_ctzll(units)].users;
    return users;
}

/* The units of a class leave in turn. In a fixed order a unit that is filled again at once would hold back
 * the others, and its loads would overtake older ones. Returns the units that leave. */
static uint64_t leave(struct collector *c, uint32_t cls)
{
    struct latch *out = &c->out[cls];
    uint64_t ready = c->held[cls] & ~c->reading, gone = 0;
    uint32_t room = latch_room(out), last = c->last[cls];
    for (; ready && room; room--) {
        const uint64_t after = ready & ~((2ull << last) - 1);
        last = (uint32_t)__builtin_ctzll(after ? after : ready);
        latch_put(out, c->units[last].flight);
        ready &= ~(1ull << last);
        gone |= 1ull << last;
    }
    c->last[cls] = (uint8_t)last;
    return gone;
}

static bool dispatch_ready(struct collector *c)
{
    uint64_t all = 0;
    uint32_t leaving = c->leaving;
    for (uint32_t rest = c->may_leave; rest; rest &= rest - 1) {
        const uint32_t cls = (uint32_t)__builtin_ctz(rest);
        const uint64_t gone = leave(c, cls);
        if (!gone) continue;
        c->held[cls] &= ~gone;
        all |= gone;
        leaving |= 1u << cls;
    }
    c->may_leave = 0;
    c->leaving = (uint8_t)leaving;
    c->used &= ~all;
    if (c->entering) c->may_enter |= (uint8_t)(c->entering & users_of(c, all));
    return all != 0;
}

/* Reads operands of one unit from its list, for one cycle; *taken: banks in use. */
static void read_list(struct collector *c, struct collector_unit *u, uint64_t *taken)
{
    uint32_t granted = 0;
    bool refused = false;
    for (uint32_t k = 0; k < u->left && granted < c->reads;) {
        uint64_t bank = 1ull << u->banks[k];
        if (*taken & bank) {
            refused = true;
            k++;
            continue;
        }
        *taken |= bank;
        u->banks[k] = u->banks[--u->left];
        granted++;
    }
    c->conflict_cycles += refused && granted < c->reads;
}

/* As read_list, where all reads that are left fit one cycle and go to different banks: reads those whose bank
 * is free. */
static void read_set(struct collector *c, struct collector_unit *u, uint64_t *taken)
{
    const uint64_t refused = u->set & *taken;
    *taken |= u->set;
    u->set = refused;
    u->left = refused != 0;
    c->conflict_cycles += refused != 0;
}

/* Puts the read that had to wait for the others into the list. False: there is none. */
static bool read_next(struct collector_unit *u)
{
    if (u->then == COLLECTOR_NO_BANK) return false;
    u->banks[u->left++] = u->then;
    u->then = COLLECTOR_NO_BANK;
    return true;
}

static bool read_operands(struct collector *c, uint64_t cycle)
{
    const uint32_t start = (uint32_t)(cycle % 64);
    uint64_t taken = c->written;
    c->written = 0;
    for (uint64_t rest = turned(c->reading, start); rest; rest &= rest - 1) {
        uint32_t i = ((uint32_t)__builtin_ctzll(rest) + start) % 64;
        struct collector_unit *u = &c->units[i];
        if (LIKELY(u->set))
            read_set(c, u, &taken);
        else
            read_list(c, u, &taken);
        if (u->left || read_next(u)) continue;
        c->reading &= ~(1ull << i);
        c->may_leave |= 1u << u->cls;
    }
    c->granted = taken;
    c->granted_cycle = (uint32_t)cycle;
    return true; /* reads may go on in the next cycle */
}

/* Sets what the unit has to read for its flight. Returns the number of reads. */
static uint32_t load_unit(const struct collector *c, struct collector_unit *u,
                          const struct uop *(*uop_of)(void *, uint32_t, struct collector_reader *), void *ctx)
{
    struct collector_reader reader;
    const struct uop *op = uop_of(ctx, u->flight, &reader);
    const uint32_t count = op->read_count;
    uint64_t set = 0, twice = count > c->reads;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t bank = bank_of(c, reader.warp, op->reads[k]);
        u->banks[k] = (uint8_t)bank;
        twice |= set & 1ull << bank;
        set |= 1ull << bank;
    }
    u->left = (uint8_t)count;
    u->set = twice ? 0 : set;
    u->then = COLLECTOR_NO_BANK;
    if (UNLIKELY(op->flags & UOP_INDIRECT)) u->then = (uint8_t)bank_of(c, reader.warp, reader.indirect);
    return count;
}

/* Moves instructions of a class into free units. Returns these units; *reading: those of them that have
 * operands to read. */
static uint64_t enter(struct collector *c, uint32_t cls, uint64_t *reading,
                      const struct uop *(*uop_of)(void *, uint32_t, struct collector_reader *), void *ctx)
{
    struct latch *in = &c->in[cls];
    uint64_t free = c->own[cls] & ~c->used, taken = 0, reads = 0;
    for (; free && in->count; free &= free - 1) {
        const uint64_t unit = free & (0 - free);
        struct collector_unit *u = &c->units[__builtin_ctzll(free)];
        u->flight = latch_take(in);
        u->cls = (uint8_t)cls;
        taken |= unit;
        if (load_unit(c, u, uop_of, ctx) || read_next(u)) reads |= unit;
    }
    *reading = reads;
    return taken;
}

static bool allocate(struct collector *c,
                     const struct uop *(*uop_of)(void *, uint32_t, struct collector_reader *), void *ctx)
{
    uint64_t all = 0;
    for (uint32_t rest = c->may_enter; rest; rest &= rest - 1) {
        const uint32_t cls = (uint32_t)__builtin_ctz(rest);
        uint64_t reading;
        const uint64_t taken = enter(c, cls, &reading, uop_of, ctx);
        if (!taken) continue;
        c->room |= (uint8_t)(1u << cls);
        if (!c->in[cls].count) c->entering &= (uint8_t) ~(1u << cls);
        c->used |= taken;
        c->held[cls] |= taken;
        c->reading |= reading;
        if (taken & ~reading) c->may_leave |= (uint8_t)(1u << cls);
        all |= taken;
    }
    c->may_enter = 0;
    return all != 0;
}

bool collector_cycle(struct collector *c, uint64_t cycle,
                     const struct uop *(*uop_of)(void *, uint32_t, struct collector_reader *), void *ctx)
{
    bool moved = false;
    if (c->work && !c->is_stuck) {
        if (c->may_leave) moved |= dispatch_ready(c);
        if (c->reading) moved |= read_operands(c, cycle);
        if (c->may_enter) moved |= allocate(c, uop_of, ctx);
        c->is_stuck = !moved;
    }
    c->written = 0;
    return moved;
}

bool collector_ask(struct collector *c, uint32_t row, uint64_t cycle)
{
    const uint64_t bank = 1ull << (c->bank_mask ? row & c->bank_mask : row % c->banks);
    if (c->asked_cycle != cycle) c->asked = 0;
    c->asked_cycle = cycle;
    c->is_shared = true;
    uint64_t taken = c->asked;
    if (c->granted_cycle + 1 == (uint32_t)cycle) taken |= c->granted;
    if (c->wrote_cycle == cycle) taken |= c->wrote;
    if (taken & bank) return false;
    c->asked |= bank;
    return true;
}
