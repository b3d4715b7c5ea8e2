/* ccn.c: the Cooperative Caching Network (S. Dublish, thesis, chapter 4; Dublish et al., TACO 2016): L1s that
 * answer each other's misses over a ring, so that fewer go to the L2.
 *
 * A load of global memory that misses waits in the CCN buffer (the ring's request_buffer) for the request
 * queue of its SM, where requests that pass go first. At the head of the request queue of each other SM it is
 * looked up in the shadow tags. A line that is found is read from the L1, which takes a cycle from the SM
 * there, and travels back the other way through the response queues, where a new response goes first. A
 * request that comes round unanswered goes to the L2. A miss that finds the CCN buffer full goes to the L2 at
 * once.
 *
 * Invariants. (1) The shadow tags are the L1's own (l1_probe): they "always contain an identical copy". So a
 * line is found while it is valid: not before its data has come, and not after a store, a replacement or a
 * flush. (2) A request stays at the head of its queue until its answer has a slot of the response queue or,
 * at its own SM, until the L1 can send it on. (3) A throttled SM still answers. (4) ld.cg, stores, atomics,
 * local memory and prefetches never enter. (5) A line that an L1 with sectors holds in part is not found. (6)
 * A miss has its line of the L1 before it enters, as any miss has (4.4.2). (7) One that came round has the
 * next entry of the L1's miss queue: it is older than what the SM misses now.
 *
 * Open in the thesis. "Instructions" of the throttler are thread instructions of the SM. A hit rate of
 * exactly H_min turns the ring off; without a request there is none, and it stays on. Left out: the sharing
 * tracker (4.6.2), which the thesis does not simulate either. */
#include "heddle/mechanism.h"
#include "mech/cost.h"

#include <stdio.h>
#include <string.h>

/* ---- parameters: Table 4.3; sizes of queues and links are the machine's (ring.*) ---- */

enum ccn_mode { CCN_BASIC, CCN_THROTTLED, CCN_IDEAL };
static const char *const ccn_modes[] = {"basic", "throttled", "ideal", NULL};

enum {
    /* bits of a request on the ring: 26 of tag and the number of its SM */
    CCN_REQUEST_TAG_BITS = 26,
    CCN_REQUEST_BYTES = 4,
    /* bits of a shadow tag: the upper bits of an address (4.4.3), beside the valid bit */
    CCN_SHADOW_TAG_BITS = 24
};

struct ccn_params {
    uint32_t mode, latency, cluster;
    uint32_t sample, period;
    /* thousandths */
    uint32_t hit_min;
};

static const struct param_row ccn_params[] = {
    PARAM_CHOICE(ccn_params, mode, "ccn.mode", "throttled", ccn_modes,
                 "basic (CCN-B), throttled (CCN-RT), or ideal: no ring, and no cost but ccn.latency"),
    PARAM_NUMBER(ccn_params, latency, "ccn.latency", "cycles", "0", 0, 10000,
                 "ideal: of a hit in another L1; 0 is the next cycle"),
    PARAM_NUMBER(ccn_params, cluster, "ccn.cluster", "SMs", "0", 0, 1024,
                 "ideal: only SMs of a cluster of this many share; 0 = all"),
    PARAM_NUMBER(
        ccn_params, sample, "ccn.sample", "instructions", "1000000", 1, UINT32_MAX,
        "throttled: t_S, thread instructions of the SM at the beginning of an epoch in which misses go "
        "to the ring"),
    PARAM_NUMBER(ccn_params, period, "ccn.period", "instructions", "10000000", 1, UINT32_MAX,
                 "throttled: t_P, thread instructions of the SM in an epoch"),
    PARAM_FRACTION(
        ccn_params, hit_min, "ccn.hit_min", "", "0.05", 0, 1000,
        "throttled: H_min, the hit rate of the sample above which the rest of the epoch uses the ring"),
    {0},
};

/* ---- state ---- */

/* The request throttler (4.4.4). */
struct ccn_throttler {
    uint64_t epoch;
    bool has_decided, is_off;
    uint64_t hits, total;
};

struct ccn {
    const struct ccn_params *params;
    const struct mech_ports *ports;
    struct ccn_throttler throttler;
    uint64_t misses, injected, hits, stale_hits, returned, direct_full, direct_throttled;
    uint64_t answered, stolen, held, send_waits, hops;
    uint64_t reuse_cycles, overhead_cycles, epochs_off, epochs;
};

#define COUNT(field, unit, help) STAT_COUNT(ccn, field, "ccn." #field, unit, help, NULL)
static const struct stat_row ccn_stats[] = {
    COUNT(misses, "misses", "loads of global memory that missed in the L1"),
    COUNT(injected, "misses", "misses that went into the ring"),
    COUNT(hits, "misses", "misses that another L1 answered"),
    COUNT(stale_hits, "misses", "those whose copy was older than the newest store to its line"),
    COUNT(returned, "misses", "misses that came round unanswered and went to the L2"),
    COUNT(direct_full, "misses", "misses that went to the L2 because the CCN buffer was full"),
    COUNT(direct_throttled, "misses", "misses that the throttler sent to the L2"),
    STAT_RATIO(ccn, hits, misses, "ccn.hit_share", "misses", "share of the misses that another L1 answered",
               NULL),
    COUNT(answered, "requests", "requests of other SMs that this L1 answered"),
    COUNT(stolen, "cycles", "cycles of the L1 that these took"),
    COUNT(held, "cycles", "cycles that a request waited because the response queue was full"),
    COUNT(send_waits, "cycles", "cycles that an unanswered request waited because the L1 could not send it"),
    COUNT(hops, "hops", "hops of requests that were answered and of their responses"),
    STAT_RATIO(ccn, hops, hits, "ccn.hops_per_hit", "hops", "hops to service a miss", NULL),
    COUNT(reuse_cycles, "cycles", "time from miss to data, summed over misses that another L1 answered"),
    STAT_RATIO(ccn, reuse_cycles, hits, "ccn.reuse_latency", "cycles",
               "average time of a miss that another L1 answered (l_reuse)", NULL),
    COUNT(overhead_cycles, "cycles", "time in the ring, summed over misses that came round"),
    STAT_RATIO(ccn, overhead_cycles, returned, "ccn.overhead", "cycles",
               "average time in the ring of a miss that came round (delta_overhead)", NULL),
    COUNT(epochs, "epochs", "epochs of throttlers that were decided"),
    COUNT(epochs_off, "epochs", "those in which the ring was left alone"),
    {0},
};

/* Wires of 0.2 pJ a bit and mm (28 nm) and hops of 3.5 mm (4.5.5), of channels of 4 and 32 bytes; an access
 * of 32 bytes to a queue of 1 KB is 50 pJ of one to 8 KB, less by the root of the size, in and out. */
#define CCN_BIT_PJ (0.2 * 3.5)
static const struct energy_row ccn_energy[] = {
    ENERGY_PJ("ccn.tags", "ring.request_hops", COST_LARGE_TABLE_PJ, "search of shadow tags"),
    ENERGY_PJ("ccn.requests", "ring.request_flits", 32 * CCN_BIT_PJ, "flit of a request on a link"),
    ENERGY_PJ("ccn.responses", "ring.response_flits", 256 * CCN_BIT_PJ, "flit of a response on a link"),
    ENERGY_PJ("ccn.queues", "ring.response_flits", 2 * 17.7, "flit of a response through a queue"),
    ENERGY_LIKE("ccn.reads", "ccn.answered", 1, "l1_read_hit", "line that is read for another SM"),
    {0},
};

/* ---- life ---- */

/* 4.4.3 and Table 4.3. The ideal one has no hardware. */
static void ccn_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    const uint64_t sm_bits = cost_index_bits(m->sm_count), request = CCN_REQUEST_TAG_BITS + sm_bits;
    const uint64_t response = 8 * m->line_bytes + sm_bits;
    if (((const struct ccn_params *)params)->mode == CCN_IDEAL) return;
    mech_cost_add(c, MECH_EACH_SM, "tags", (uint64_t)m->l1_sets * m->l1_ways, 1 + CCN_SHADOW_TAG_BITS,
                  "shadow tags of the L1: valid, tag");
    mech_cost_add(c, MECH_EACH_SM, "buffer", m->ring_request_buffer, request, "CCN buffer: tag, SM");
    mech_cost_add(c, MECH_EACH_SM, "requests", m->ring_queue, request, "request queue: tag, SM");
    mech_cost_add(c, MECH_EACH_SM, "responses", m->ring_response_buffer + m->ring_queue, response,
                  "response queue: line, SM");
}

static void ccn_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct ccn *c = state;
    c->params = params;
    c->ports = ports;
}

static uint32_t ccn_uses(const void *params)
{
    const bool is_ideal = ((const struct ccn_params *)params)->mode == CCN_IDEAL;
    return (is_ideal ? MECH_USES_SHARERS : MECH_USES_RING) | MECH_USES_AGES;
}

static enum mech_fit ccn_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct ccn_params *p = params;
    enum mech_fit fit = MECH_MISFIT;
    if (!machine->l1_caches_global)
        snprintf(reason, MECH_REASON_BYTES,
                 "l1.cache_global is false, and it shares lines of global memory in the L1s");
    else if (p->sample > p->period)
        snprintf(reason, MECH_REASON_BYTES, "ccn.sample is %u, but an epoch (ccn.period) has %u instructions",
                 p->sample, p->period);
    else if (p->cluster && p->mode != CCN_IDEAL)
        snprintf(reason, MECH_REASON_BYTES, "ccn.cluster needs ccn.mode=ideal: the ring connects all SMs");
    else if (p->cluster && machine->sm_count % p->cluster)
        snprintf(reason, MECH_REASON_BYTES, "%u SMs cannot be divided into clusters of %u (ccn.cluster)",
                 machine->sm_count, p->cluster);
    else if (machine->sm_count > 1)
        fit = MECH_FITS;
    else {
        fit = MECH_FITS_POORLY;
        snprintf(reason, MECH_REASON_BYTES,
                 "a single SM has no other SM to share with: all of its misses go to the L2");
    }
    return fit;
}

/* A miss is answered with a copy of this age (copy_as_of). */
static void ccn_count_hit(struct ccn *c, uint32_t token, uint64_t as_of)
{
    c->hits++;
    c->stale_hits += !as_of;
    c->ports->miss_as_of(c->ports->host, token, as_of);
}

/* ---- 4.3.2, 4.6.3: ideal cooperation, among all or in clusters ---- */

/* The next SM of the cluster, in the direction of requests, whose L1 has the line; this one: none has. */
static uint32_t ccn_holder(const struct ccn *c, uint64_t line)
{
    const uint64_t *sharers = c->ports->sharers(c->ports->host, line);
    const uint32_t size = c->params->cluster ? c->params->cluster : c->ports->sm_count;
    const uint32_t own = c->ports->sm % size, first = c->ports->sm - own;
    for (uint32_t i = 1; i < size; i++) {
        const uint32_t sm = first + (own + i) % size;
        if (sharers[sm / 64] >> sm % 64 & 1) return sm;
    }
    return c->ports->sm;
}

static void ccn_take_ideal(struct ccn *c, uint64_t line, uint32_t token, struct mech_miss *answer)
{
    const uint32_t holder = ccn_holder(c, line);
    if (holder == c->ports->sm) return;
    ccn_count_hit(c, token, c->ports->copy_as_of(c->ports->host, holder, line));
    c->reuse_cycles += c->params->latency ? c->params->latency : 1;
    *answer = (struct mech_miss){MECH_MISS_FILL, c->params->latency};
}

/* ---- 4.4.4: the request throttler ---- */

/* N_hits / N_total against H_min, at the end of t_S. */
static void ccn_decide(struct ccn *c)
{
    struct ccn_throttler *t = &c->throttler;
    t->has_decided = true;
    t->is_off = t->total && t->hits * 1000 <= (uint64_t)c->params->hit_min * t->total;
    c->epochs++;
    c->epochs_off += t->is_off;
}

/* May misses of this SM go into the ring now? */
static bool ccn_is_on(struct ccn *c)
{
    struct ccn_throttler *t = &c->throttler;
    if (c->params->mode != CCN_THROTTLED) return true;
    const uint64_t done = c->ports->thread_insts(c->ports->host), epoch = done / c->params->period;
    if (epoch != t->epoch) *t = (struct ccn_throttler){.epoch = epoch};
    if (!t->has_decided && done % c->params->period >= c->params->sample) ccn_decide(c);
    return !t->is_off;
}

/* ---- 4.4.2: requests ---- */

/* The words of a message of the ring. The first is the line, as MECH_RING_HOLDERS requires. */
struct ccn_packet {
    uint64_t line;
    /* the cycle of the miss */
    uint64_t cycle;
    uint32_t token;
    /* the SM that asks */
    uint16_t asker;
    /* in a response: hops of the request and, for statistics alone, the age of the line (copy_as_of) */
    uint16_t hops;
    uint64_t as_of;
};
_Static_assert(sizeof(struct ccn_packet) == sizeof(uint64_t) * MECH_RING_WORDS, "a packet is a message");

static bool ccn_send(const struct ccn *c, enum mech_ring_channel channel, const struct ccn_packet *p,
                     uint32_t to, uint32_t bytes)
{
    struct mech_ring_message m = {.bytes = bytes, .to = to};
    memcpy(m.words, p, sizeof m.words);
    return c->ports->ring_push(c->ports->host, channel, &m);
}

static bool ccn_see(const struct ccn *c, enum mech_ring_channel channel, struct ccn_packet *p, uint32_t *hops)
{
    struct mech_ring_message m;
    if (!c->ports->ring_peek(c->ports->host, channel, &m)) return false;
    memcpy(p, m.words, sizeof m.words);
    *hops = m.hops;
    return true;
}

/* A miss enters the CCN buffer. */
static void ccn_take_request(struct ccn *c, const struct mech_l1_access *a, uint32_t token,
                             struct mech_miss *answer)
{
    const struct ccn_packet p = {
        .line = a->line, .cycle = a->cycle, .token = token, .asker = (uint16_t)c->ports->sm};
    if (!ccn_is_on(c)) {
        c->direct_throttled++;
    } else if (!ccn_send(c, MECH_RING_REQUEST, &p, MECH_RING_HOLDERS, CCN_REQUEST_BYTES)) {
        c->direct_full++;
    } else {
        c->injected++;
        c->throttler.total += !c->throttler.has_decided;
        answer->answer = MECH_MISS_CLAIM;
    }
}

static void ccn_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                          struct mech_miss *answer)
{
    struct ccn *c = state;
    if (a->is_local || a->is_prefetch || c->ports->sm_count == 1) return;
    c->misses++;
    if (c->params->mode == CCN_IDEAL)
        ccn_take_ideal(c, a->line, token, answer);
    else
        ccn_take_request(c, a, token, answer);
}

/* The request of this SM has come round: it goes to the L2, or waits until it can. */
static void ccn_give_up(struct ccn *c, const struct ccn_packet *p, uint64_t cycle)
{
    if (!c->ports->miss_forward(c->ports->host, p->token)) {
        c->send_waits++;
        return;
    }
    c->ports->ring_pop(c->ports->host, MECH_RING_REQUEST);
    c->returned++;
    c->overhead_cycles += cycle - p->cycle;
}

/* A line that the shadow tags have goes into the response queue, or its request waits until it can. */
static void ccn_answer(struct ccn *c, const struct ccn_packet *p, uint32_t hops)
{
    struct ccn_packet response = *p;
    response.hops = (uint16_t)hops;
    response.as_of = c->ports->copy_as_of(c->ports->host, c->ports->sm, p->line);
    if (!ccn_send(c, MECH_RING_RESPONSE, &response, p->asker, c->ports->line_bytes)) {
        c->held++;
        return;
    }
    c->ports->ring_pop(c->ports->host, MECH_RING_REQUEST);
    c->answered++;
    c->stolen += c->ports->l1_read(c->ports->host, p->line);
}

static void ccn_look_at_request(struct ccn *c, uint64_t cycle)
{
    struct ccn_packet p;
    uint32_t hops;
    if (!ccn_see(c, MECH_RING_REQUEST, &p, &hops)) return;
    if (p.asker == c->ports->sm)
        ccn_give_up(c, &p, cycle);
    else if (c->ports->l1_probe(c->ports->host, p.line))
        ccn_answer(c, &p, hops);
    else
        c->ports->ring_pass(c->ports->host, MECH_RING_REQUEST);
}

/* ---- 4.4.5: the response has arrived ---- */

static void ccn_take_response(struct ccn *c, uint64_t cycle)
{
    struct ccn_packet p;
    uint32_t hops;
    if (!ccn_see(c, MECH_RING_RESPONSE, &p, &hops)) return;
    c->ports->ring_pop(c->ports->host, MECH_RING_RESPONSE);
    ccn_count_hit(c, p.token, p.as_of);
    c->throttler.hits += !c->throttler.has_decided;
    c->hops += p.hops + hops;
    c->reuse_cycles += cycle - p.cycle;
    c->ports->miss_answer(c->ports->host, p.token);
}

static void ccn_on_ring(void *state, uint64_t cycle)
{
    struct ccn *c = state;
    ccn_take_response(c, cycle);
    ccn_look_at_request(c, cycle);
}

const struct mechanism mechanism_ccn = {
    .api = HEDDLE_MECHANISM_API,
    .name = "ccn",
    .summary = "Cooperative Caching Network: L1s answer each other's misses over a ring",
    .paper = "thesis, chapter 4; TACO 2016",
    .params = ccn_params,
    .param_bytes = sizeof(struct ccn_params),
    .stats = ccn_stats,
    .energy = ccn_energy,
    .state_bytes = sizeof(struct ccn),
    .check = ccn_check,
    .claims_lines = true,
    .uses = ccn_uses,
    .cost = ccn_cost,
    .init = ccn_init,
    .take_miss = ccn_take_miss,
    .on_ring = ccn_on_ring,
};
