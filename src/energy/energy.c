/* energy.c: see energy.h. */
#include "energy/energy.h"

const char *const energy_part_names[ENERGY_PARTS] = {
    [ENERGY_FRONT] = "front end",   [ENERGY_REGISTERS] = "registers",
    [ENERGY_UNITS] = "units",       [ENERGY_SHARED] = "shared",
    [ENERGY_CACHES] = "const, tex", [ENERGY_L1] = "L1",
    [ENERGY_XBAR] = "crossbar",     [ENERGY_L2] = "L2",
    [ENERGY_DRAM] = "DRAM",         [ENERGY_MECHANISMS] = "mechanisms",
    [ENERGY_ALWAYS] = "always on",  [ENERGY_LEAKAGE] = "leakage"};

const char *const energy_part_words[ENERGY_PARTS] = {
    [ENERGY_FRONT] = "front",   [ENERGY_REGISTERS] = "registers",
    [ENERGY_UNITS] = "units",   [ENERGY_SHARED] = "shared",
    [ENERGY_CACHES] = "caches", [ENERGY_L1] = "l1",
    [ENERGY_XBAR] = "xbar",     [ENERGY_L2] = "l2",
    [ENERGY_DRAM] = "dram",     [ENERGY_MECHANISMS] = "mechanisms",
    [ENERGY_ALWAYS] = "always", [ENERGY_LEAKAGE] = "leakage"};

static const double picojoule = 1e-12;

/* GPUWattch holds the pipelines' duty below this share. */
static const double duty_max = 0.8;

static double value(const struct energy_source *s, const char *name) { return s->value(s->context, name); }

/* Requests as they are, or the sectors that they ask for: `count` times the mean of all. */
static double sectors(const struct energy_table *t, double requests, double sectors, double count)
{
    if (!t->by_sector) return count;
    return requests > 0 ? count * sectors / requests : 0;
}

#define S(name)                            value(s, name)
#define SECTORS(requests, sectors_, count) sectors(t, requests, sectors_, count)
double energy_events(const struct energy_table *t, const struct energy_source *s, enum energy_event event)
{
    switch (event) {
#define ENERGY_EVENT(id, name, part, count, about)                                                           \
    case ENERGY_##id:                                                                                        \
        return count;
#include "energy/events.def"
#undef ENERGY_EVENT
    case ENERGY_EVENTS: break;
    }
    UNREACHABLE("an event that does not exist");
}

const char *const energy_event_names[ENERGY_EVENTS] = {
#define ENERGY_EVENT(id, name, part, count, about) [ENERGY_##id] = name,
#include "energy/events.def"
#undef ENERGY_EVENT
};

static const enum energy_part event_parts[ENERGY_EVENTS] = {
#define ENERGY_EVENT(id, name, part, count, about) [ENERGY_##id] = ENERGY_##part,
#include "energy/events.def"
#undef ENERGY_EVENT
};

/* ---- rows of mechanisms ---- */

enum energy_event energy_event_named(const char *name)
{
    enum energy_event e = 0;
    while (e < ENERGY_EVENTS && strcmp(energy_event_names[e], name)) e++;
    return e;
}

enum energy_part energy_row_part(const struct energy_row *r)
{
    return r->like ? event_parts[energy_event_named(r->like)] : ENERGY_MECHANISMS;
}

static double row_picojoules(const struct energy_table *t, const struct energy_row *r)
{
    for (uint32_t i = 0; i < t->own_count; i++)
        if (!strcmp(t->own[i].name, r->name)) return t->own[i].picojoules;
    return r->like ? r->amount * t->picojoules[energy_event_named(r->like)] : r->amount;
}

double energy_row_joules(const struct energy_table *t, const struct energy_source *s,
                         const struct energy_row *r)
{
    return value(s, r->stat) * row_picojoules(t, r) * picojoule;
}

/* ---- SMs in cache mode ---- */

/* What the helper kernel's SMs count, by the names that SMs of the program have: sm.NAME is helper.NAME
 * there, l1.NAME helper.l1_NAME. Crossbar, L2 and DRAM belong to both and are counted once. */
static double helper_value(void *context, const char *name)
{
    const struct energy_source *s = context;
    const bool is_sm = !strncmp(name, "sm.", 3), is_l1 = !strncmp(name, "l1.", 3);
    char own[64];
    if (!is_sm && !is_l1) return 0;
    snprintf(own, sizeof own, "helper.%s%s", is_l1 ? "l1_" : "", name + 3);
    return value(s, own);
}

static struct energy_source helper_source(const struct energy_source *s)
{
    struct energy_source own = *s;
    own.value = helper_value;
    own.context = (void *)s;
    return own;
}

static void add_helper(const struct energy_table *t, const struct energy_source *s, struct energy_sum *out)
{
    const struct energy_source own = helper_source(s);
    for (enum energy_event e = 0; e < ENERGY_EVENTS; e++) {
        const double joules = energy_events(t, &own, e) * t->picojoules[e] * picojoule;
        out->joules[event_parts[e]] += joules;
        out->helper += joules;
    }
}

/* ---- powers ---- */

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

static enum energy_mix mix_of(const struct energy_source *s)
{
    const bool fp = S("sm.lanes_fp") + S("sm.lanes_fp_mul") + S("sm.lanes_fp_div") > 0;
    const bool dp = S("sm.lanes_dp") + S("sm.lanes_dp_mul") + S("sm.lanes_dp_div") > 0;
    const bool sfu = S("sm.lanes_sqrt") + S("sm.lanes_log") + S("sm.lanes_exp") + S("sm.lanes_sin") > 0;
    const bool tex = S("sm.lanes_tex") > 0;
    if (dp + sfu + tex > 1) return MIX_OTHER;
    if (dp) return MIX_DP;
    if (sfu) return MIX_SFU;
    if (tex) return MIX_TEX;
    return fp ? MIX_FP : MIX_INT;
}

/* The numbers of SMs by what they do, as means over the run. An SM in cache mode always has warps. */
struct sm_use {
    double busy, idle, cache;
};

static struct sm_use sm_use_of(const struct energy_source *s)
{
    const double cache = s->sms * ratio(S("helper.cycles"), S("helper.cycles") + S("sm.cycles"));
    const double busy = (s->sms - cache) * ratio(S("sm.active_cycles"), S("sm.cycles"));
    return (struct sm_use){.busy = busy, .idle = s->sms - cache - busy, .cache = cache};
}

/* The leakage of `sms` SMs that work as `s` counts: their share of that of the table's chip. */
static double static_watts(const struct energy_table *t, const struct energy_source *s, double sms)
{
    if (!t->static_sms || sms <= 0) return 0;
    const struct energy_static *m = &t->mixes[mix_of(s)];
    const double lanes = ratio(S("sm.thread_insts"), S("sm.warp_insts"));
    const double more = lanes > 1 ? lanes - 1 : 0;
    return (m->first_lane + m->lane * more) * sms / t->static_sms;
}

static void add_powers(const struct energy_table *t, const struct energy_source *s, struct energy_sum *out)
{
    const struct energy_source helper = helper_source(s);
    const struct sm_use use = sm_use_of(s);
    const double duty = ratio(S("sm.slots_issued") + S("helper.issues"), S("sm.slots") + S("helper.slots"));
    const double always = t->watts[ENERGY_CONSTANT] + t->watts[ENERGY_IDLE_SM] * use.idle +
                          t->watts[ENERGY_PIPELINE] * MIN(duty, duty_max);
    const double leakage =
        t->watts[ENERGY_CHIP_LEAKAGE] + static_watts(t, s, use.busy) + static_watts(t, &helper, use.cache);
    out->joules[ENERGY_ALWAYS] += always * out->seconds;
    out->joules[ENERGY_LEAKAGE] += leakage * out->seconds;
}

void energy_of(const struct energy_table *t, const struct energy_source *s, struct energy_sum *out)
{
    static const double cycles_per_khz = 1e-3;
    assert(s->core_khz);
    *out = (struct energy_sum){.seconds = S("gpu.cycles") * cycles_per_khz / s->core_khz};
    for (enum energy_event e = 0; e < ENERGY_EVENTS; e++)
        out->joules[event_parts[e]] += energy_events(t, s, e) * t->picojoules[e] * picojoule;
    for (uint32_t i = 0; i < s->row_count; i++)
        out->joules[energy_row_part(s->rows[i])] += energy_row_joules(t, s, s->rows[i]);
    if (S("helper.cycles") > 0) add_helper(t, s, out);
    add_powers(t, s, out);
}

double energy_total(const struct energy_sum *e, bool with_leakage)
{
    double sum = 0;
    for (enum energy_part p = 0; p < ENERGY_PARTS; p++)
        if (with_leakage || p != ENERGY_LEAKAGE) sum += e->joules[p];
    return sum;
}
