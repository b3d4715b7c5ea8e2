/* gpgpusim_parts.c: values of GPGPU-Sim's options that hold more than a number: clocks, widths, latencies,
 * the network, DRAM. Cache strings are in gpgpusim_cache.c. */
#include "config/gpgpusim_map.h"

#include <ctype.h>

/* "700.0:700.0:700.0:924.0": core, network, L2, DRAM in MHz; at most three digits after the point count. */
void gmap_clocks(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const keys[] = {"clock.core", "clock.xbar", "clock.l2", "clock.dram"};
    const char *p = o->value;
    for (uint32_t i = 0; i < ARRAY_LEN(keys); i++) {
        char *end;
        double mhz = strtod(p, &end);
        bool last = i + 1 == ARRAY_LEN(keys);
        if (end == p || mhz <= 0 || mhz > 1e6 || *end != (last ? 0 : ':')) {
            gmap_error(g, o, (size_t)(p - o->value), "as in 700.0:700.0:700.0:924.0",
                       "%s takes four clocks in MHz: core:network:L2:DRAM", o->name);
            return;
        }
        gmap_set(g, o, keys[i], NULL, "%llu", (unsigned long long)(mhz * 1000 + 0.5));
        p = end + 1;
    }
}

void gmap_clusters(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v;
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 1, 1, &v, &count)) return;
    uint64_t each = gmap_value(g, "-gpgpu_n_cores_per_cluster");
    struct strbuf more = {0};
    strbuf_printf(&more, "-gpgpu_n_cores_per_cluster %llu", (unsigned long long)each);
    gmap_set(g, o, key, strbuf_text(&more), "%llu", (unsigned long long)(v * each));
    if (each > 1) gmap_leave(g, o, "SMs of a cluster do not share a port of the crossbar");
    strbuf_free(&more);
}

/* Threads of an SM and of a warp. */
void gmap_residency(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v[2];
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 2, 2, v, &count)) return;
    if (v[1] != 32) {
        gmap_error(g, o, strcspn(o->value, ":") + 1, NULL, "%s: a warp has 32 threads here", o->name);
        return;
    }
    gmap_set(g, o, "sm.threads", NULL, "%llu", (unsigned long long)v[0]);
    gmap_set(g, o, "sm.warps", NULL, "%llu", (unsigned long long)(v[0] / 32));
}

void gmap_shared_limit(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    gmap_number(g, o, key);
    gmap_number(g, o, "cta.shared_optin");
}

/* A fetch of GPGPU-Sim brings two instructions of one warp; the option says how many warps fetch in a
 * cycle. */
void gmap_generic_collectors(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const keys[] = {"sm.sp_collectors", "sm.int_collectors", "sm.dp_collectors",
                                       "sm.sfu_collectors", "sm.mem_collectors"};
    uint64_t v;
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 1, 1, &v, &count) || v) return;
    for (uint32_t i = 0; i < ARRAY_LEN(keys); i++) gmap_set(g, o, keys[i], NULL, "0");
}

/* 3.x: SP, SFU, MEM into and out of the collectors, EX_WB. 4.x: SP, DP, INT, SFU, MEM, and the tensor
 * cores behind. The widths that are not memory's or the writeback's are those of the units. */
void gmap_widths(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v[13];
    uint32_t count;
    if (!gmap_numbers(g, o, ',', 7, 13, v, &count)) return;
    if (count != 7 && count != 11 && count != 13) {
        gmap_error(g, o, 0, NULL, "%s takes 7, 11 or 13 numbers, not %u", o->name, count);
        return;
    }
    gmap_set(g, o, "sm.mem_width", NULL, "%llu", (unsigned long long)v[count == 7 ? 2 : 4]);
    gmap_set(g, o, "sm.result_buses", NULL, "%llu", (unsigned long long)v[count == 7 ? 6 : 10]);
}

/* "ADD,MAX,MUL,MAD,DIV", for integers also SHFL from 4.x on. */
static void five_ops(struct gmap *g, struct gpgpusim_option *o, const char *key, const char *shuffle)
{
    static const char *const ops[] = {"add", "max", "mul", "mad", "div"};
    uint64_t v[6];
    uint32_t count;
    if (!gmap_numbers(g, o, ',', 5, 6, v, &count)) return;
    for (uint32_t i = 0; i < ARRAY_LEN(ops); i++) {
        struct strbuf name = {0};
        strbuf_printf(&name, "%s_%s", key, ops[i]);
        gmap_set(g, o, strbuf_text(&name), NULL, "%llu", (unsigned long long)v[i]);
        strbuf_free(&name);
    }
    if (count == 6) gmap_set(g, o, shuffle, NULL, "%llu", (unsigned long long)v[5]);
}

void gmap_latencies(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    five_ops(g, o, key, "sm.warp_latency");
}

void gmap_initiations(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    five_ops(g, o, key, "sm.warp_interval");
}

/* The SFU's may be a list; its first is that of the simple functions. */
void gmap_one_op(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v[8];
    uint32_t count;
    if (gmap_numbers(g, o, ',', 1, 8, v, &count)) gmap_set(g, o, key, NULL, "%llu", (unsigned long long)v[0]);
}

/* trace.config: one latency and interval for everything of a unit; divisions are sequences of instructions
 * there, and keep what they have. */
void gmap_trace_unit(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const ops[] = {"_add", "_max", "_mul", "_mad"};
    uint64_t v[2];
    uint32_t count;
    if (!gmap_numbers(g, o, ',', 2, 2, v, &count)) return;
    bool one = !strcmp(key, "sm.sfu");
    for (uint32_t i = 0; i < (one ? 1 : ARRAY_LEN(ops)); i++)
        for (uint32_t k = 0; k < 2; k++) {
            struct strbuf name = {0};
            strbuf_printf(&name, "%s_%s%s", key, k ? "interval" : "latency", one ? "" : ops[i]);
            gmap_set(g, o, strbuf_text(&name), NULL, "%llu", (unsigned long long)v[k]);
            strbuf_free(&name);
        }
}

/* ---- schedulers; the parameters of a mechanism are set beside the machine ---- */

void gmap_scheduler(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    /* GPGPU-Sim looks for these words anywhere in the value, in this order. */
    static const struct {
        const char *word, *mech;
    } names[] = {{"lrr", "lrr"},    {"two_level_active", "two-level"}, {"gto", "gto"}, {"rrr", "lrr"},
                 {"old", "oldest"}, {"warp_limiting", "swl"}};
    uint32_t i = 0;
    while (i < ARRAY_LEN(names) && !strstr(o->value, names[i].word)) i++;
    if (i == ARRAY_LEN(names)) {
        gmap_error(g, o, 0, "lrr, two_level_active:N:INNER:OUTER, gto, rrr, old or warp_limiting:PRIO:WARPS",
                   "no scheduler is called '%s'", o->value);
        return;
    }
    gmap_set(g, o, key, NULL, "%s", names[i].mech);
    if (!strcmp(names[i].word, "rrr")) gmap_leave(g, o, "strict round robin; the nearest is lrr");
    unsigned a = 0, b = 0;
    struct strbuf set = {0};
    if (!strcmp(names[i].mech, "two-level") && sscanf(o->value, "two_level_active:%u", &a) == 1)
        strbuf_printf(&set, "--mech-set two-level.active=%u", a);
    if (!strcmp(names[i].mech, "swl") && sscanf(o->value, "warp_limiting:%u:%u", &a, &b) == 2)
        strbuf_printf(&set, "--mech-set swl.warps=%u", b);
    free(g->im->mech);
    g->im->mech = set.data;
}

/* ---- network; key is the network_mode that reads the option ---- */

static bool of_this_network(struct gmap *g, const char *mode)
{
    const struct gpgpusim_option *o = gpgpusim_find(g->im, "-network_mode");
    return !strcmp(o ? o->value : "1", mode);
}

void gmap_flit(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    if (!of_this_network(g, key)) return;
    gmap_number(g, o, "xbar.request_flit");
    gmap_number(g, o, "xbar.reply_flit");
}

void gmap_buffers(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    if (!of_this_network(g, key)) return;
    gmap_number(g, o, "xbar.injection");
    gmap_number(g, o, "xbar.vc_buffer");
    if (!strcmp(key, "2")) gmap_set(g, o, "xbar.latency", "the built-in crossbar takes a cycle", "1");
}

void gmap_speedup(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    char *end;
    double v = strtod(o->value, &end);
    if (end == o->value || *end || v < 1 || v > 64)
        gmap_error(g, o, 0, NULL, "%s: a speedup from 1 to 64 is wanted", o->name);
    else
        gmap_set(g, o, key, NULL, "%u", (unsigned)v);
}

/* ---- memory partition ---- */

/* Leading zeros have no meaning and would not fit; letters D (channel bits) need dramid@ in Heddle. */
void gmap_address_map(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    const char *semi = strchr(o->value, ';');
    if (strncmp(o->value, "dramid@", 7) || !semi || strpbrk(semi, "Dd")) {
        gmap_leave(g, o, "only maps of the form dramid@BIT;RRRR.BBBB.CCCC.SSSS are known");
        return;
    }
    const char *p = semi + 1;
    while (!strncmp(p, "00000000.", 9)) p += 9;
    gmap_set(g, o, key, NULL, "%.*s%s", (int)(semi + 1 - o->value), o->value, p);
}

void gmap_partition_hash(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const names[] = {"none", "xor", "ipoly"};
    uint64_t v, slices = gmap_value(g, "-gpgpu_n_mem") * gmap_value(g, "-gpgpu_n_sub_partition_per_mchannel");
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 1, 1, &v, &count)) return;
    if (v >= ARRAY_LEN(names))
        gmap_leave(g, o, "of the hashes only xor (1) and ipoly (2) are known");
    else if (v && (!slices || slices & (slices - 1)))
        gmap_set(g, o, key, "only rotate works for a number of slices that is not a power of two", "rotate");
    else
        gmap_set(g, o, key, NULL, "%s", names[v]);
}

/* network to L2, L2 to DRAM, DRAM to L2, L2 to network */
void gmap_partition_queues(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const keys[] = {"l2.access_queue", "l2.miss_queue", "l2.fill_queue",
                                       "l2.response_queue"};
    uint64_t v[4];
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 4, 4, v, &count)) return;
    for (uint32_t i = 0; i < 4; i++) gmap_set(g, o, keys[i], NULL, "%llu", (unsigned long long)v[i]);
}

/* In GPGPU-Sim 4 a miss leaves the L1 after the L1's latency; in Heddle at once, so the latency of the L2
 * includes it. */
void gmap_rop(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v;
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 1, 1, &v, &count)) return;
    struct strbuf more = {0};
    uint64_t l1 = gmap_value(g, "-gpgpu_l1_latency");
    strbuf_printf(&more, "-gpgpu_l1_latency %llu, which a miss takes too", (unsigned long long)l1);
    gmap_set(g, o, key, strbuf_text(&more), "%llu", (unsigned long long)(v + l1));
    strbuf_free(&more);
}

/* ---- DRAM ---- */

void gmap_bus(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t v, chips = gmap_value(g, "-gpgpu_n_mem_per_ctrlr");
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 1, 1, &v, &count)) return;
    struct strbuf more = {0};
    strbuf_printf(&more, "-gpgpu_n_mem_per_ctrlr %llu", (unsigned long long)chips);
    gmap_set(g, o, key, strbuf_text(&more), "%llu", (unsigned long long)(v * chips));
    strbuf_free(&more);
}

void gmap_dram_sched(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    gmap_set(g, o, key, NULL, "%s", !strcmp(o->value, "0") ? "fcfs" : "fr-fcfs");
}

void gmap_dram_groups(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    gmap_set(g, o, key, NULL, "%s", !strcmp(o->value, "0") ? "high" : "low");
}

/* 0 means "no limit" in GPGPU-Sim. */
void gmap_queue(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    /* more than a channel ever has waiting */
    enum { UNLIMITED = 4096 };
    if (!strcmp(o->value, "0"))
        gmap_set(g, o, key, "no limit", "%u", (unsigned)UNLIMITED);
    else
        gmap_number(g, o, key);
}

void gmap_write_queue(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    static const char *const keys[] = {"dram.write_queue", "dram.write_high", "dram.write_low"};
    uint64_t v[3];
    uint32_t count;
    if (!gmap_numbers(g, o, ':', 3, 3, v, &count)) return;
    for (uint32_t i = 0; i < 3; i++) gmap_set(g, o, keys[i], NULL, "%llu", (unsigned long long)v[i]);
}

struct timing_name {
    const char *name, *key;
};
/* In the order of the form without names. */
static const struct timing_name timings[] = {
    {"nbk", "dram.banks"},  {"CCD", "dram.tccd"},   {"RRD", "dram.trrd"}, {"RCD", "dram.trcd"},
    {"RAS", "dram.tras"},   {"RP", "dram.trp"},     {"RC", "dram.trc"},   {"CL", "dram.tcl"},
    {"WL", "dram.twl"},     {"CDLR", "dram.tcdlr"}, {"WR", "dram.twr"},   {"nbkgrp", "dram.groups"},
    {"CCDL", "dram.tccdl"}, {"RTPL", "dram.trtpl"},
};

static const struct timing_name *find_timing(const char *name, size_t len)
{
    for (uint32_t i = 0; i < ARRAY_LEN(timings); i++)
        if (strlen(timings[i].name) == len && !strncmp(timings[i].name, name, len)) return &timings[i];
    return NULL;
}

/* The comment beside it shows this timing alone. */
static void put_timing(struct gmap *g, const struct gpgpusim_option *o, const struct timing_name *t,
                       uint64_t v)
{
    struct strbuf shown = {0};
    strbuf_printf(&shown, "%s=%llu", t->name, (unsigned long long)v);
    struct gpgpusim_option part = *o;
    part.value = shown.data;
    gmap_set(g, &part, t->key, NULL, "%llu", (unsigned long long)v);
    strbuf_free(&shown);
}

/* "nbk=16:CCD=2:..." or, as in 3.1, the numbers alone. Without bank groups CCDL is 0; Heddle's is then
 * CCD. */
void gmap_dram_timing(struct gmap *g, struct gpgpusim_option *o, const char *key)
{
    uint64_t ccd = 1;
    uint32_t position = 0;
    for (const char *p = o->value; *p; position++) {
        while (*p == ' ') p++;
        const char *eq = p + strcspn(p, "=:");
        bool named = *eq == '=';
        const struct timing_name *t = named                           ? find_timing(p, (size_t)(eq - p))
                                      : position < ARRAY_LEN(timings) ? &timings[position]
                                                                      : NULL;
        const char *number = named ? eq + 1 : p;
        while (*number == ' ') number++;
        char *end = NULL;
        uint64_t v = isdigit((unsigned char)*number) ? strtoull(number, &end, 10) : 0;
        if (!end || (*end && *end != ':' && *end != ' ')) {
            gmap_error(g, o, (size_t)(number - o->value), "as in nbk=16:CCD=2:RRD=6:RCD=12",
                       "%s: a number is missing here", o->name);
            return;
        }
        if (t && !strcmp(t->name, "CCD")) ccd = v;
        if (t)
            put_timing(g, o, t, !strcmp(t->name, "CCDL") && !v ? ccd : v);
        else
            gmap_leave(g, o, "Heddle does not know the timing '%.*s'", (int)(end - p), p);
        p = end;
        while (*p == ' ' || *p == ':') p++;
    }
}
