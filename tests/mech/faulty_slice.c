/* faulty_slice.c: a plug-in with an SM in cache mode that fails in one of the hooks of slices and roles:
 * faulty-slice.hook selects the hook, and faulty-slice.how the kind of failure: a crash, a wrong call of a
 * port, or a wrong answer of take_request. Its helper kernel waits for a word that is not 0, and ends. The
 * slices pass all requests of the program, and read one of their lines from DRAM. After the first grid one SM
 * of two stays in cache mode, so that roles change. */
#include "heddle/mechanism.h"

#include <stdio.h>

enum hook {
    HOOK_NONE,
    HOOK_CACHE_SMS,
    HOOK_CHOOSE_SMS,
    HOOK_HELPER,
    HOOK_SLICE_INIT,
    HOOK_TAKE_REQUEST,
    HOOK_ON_DRAM,
    HOOK_ON_HOST_WRITE,
    HOOK_ON_RETIRE,
    HOOK_KEEPS_LINE
};
static const char *const hook_names[] = {"none",       "cache_sms",    "choose_sms", "helper",
                                         "slice_init", "take_request", "on_dram",    "on_host_write",
                                         "on_retire",  "keeps_line",   NULL};

/* Crashes, in any hook; ports, in take_request of the program's first request; ports and answers for a load
 * of the window; answers to the program's first request. */
enum how {
    HOW_SEGV,
    HOW_APPLY,
    HOW_REPLY,
    HOW_PARK,
    HOW_FAR_READ,
    HOW_ODD_READ,
    HOW_NO_SECTORS,
    HOW_ALL_SECTORS,
    HOW_FAR_WRITE,
    HOW_WINDOW,
    HOW_LINE,
    HOW_MEMORY,
    HOW_PARK_TWICE,
    HOW_APPLY_TWICE,
    HOW_REPLY_EARLY,
    HOW_REPLY_TWICE,
    HOW_PASS_WINDOW,
    HOW_WAIT_WINDOW,
    HOW_BAD_ANSWER,
    HOW_REPLY_AND_PASS
};
static const char *const how_names[] = {
    "segv",        "apply",       "reply",       "park",        "far_read",   "odd_read",       "no_sectors",
    "all_sectors", "far_write",   "window",      "line",        "memory",     "park_twice",     "apply_twice",
    "reply_early", "reply_twice", "pass_window", "wait_window", "bad_answer", "reply_and_pass", NULL};

struct params {
    uint32_t hook, how;
};
static const struct param_row param_rows[] = {
    PARAM_CHOICE(params, hook, "faulty-slice.hook", "none", hook_names, "that fails"),
    PARAM_CHOICE(params, how, "faulty-slice.how", "segv", how_names, "it fails"),
    {0}};

enum { PARKED_MAX = 64 };
struct slice {
    const struct params *params;
    const struct mech_slice_ports *ports;
    uint32_t parked[PARKED_MAX], windows[PARKED_MAX], parked_count;
    bool has_read;
};

static volatile int *volatile nowhere = (int *)8;
static void strike(const struct params *p, enum hook hook)
{
    if (p->hook == (uint32_t)hook && p->how == HOW_SEGV) *nowhere = 1;
}

/* ---- roles ---- */

static uint32_t faulty_cache_sms(const void *params, uint32_t sm_count)
{
    strike(params, HOOK_CACHE_SMS);
    return 2;
}

static uint32_t faulty_choose_sms(void *choice, const void *params, const struct mech_grid_run *ran)
{
    if (ran) strike(params, HOOK_CHOOSE_SMS);
    return ran ? 1 : 2;
}

static size_t faulty_helper(const void *params, struct mech_helper *helper, char *ptx, size_t room)
{
    strike(params, HOOK_HELPER);
    *helper = (struct mech_helper){
        .parts = {{.entry = "waits", .warps = 1}}, .part_count = 1, .window_lines = 1, .window_loads = 1};
    return (size_t)snprintf(ptx, room,
                            ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry waits(.param .u64 table)\n{\n"
                            ".reg .b64 %%row; .reg .b32 %%x; .reg .pred %%p;\n"
                            "ld.param.u64 %%row, [table]; mov.u32 %%x, %%ctaid.x;\n"
                            "mad.wide.u32 %%row, %%x, 8, %%row; ld.global.cg.u64 %%row, [%%row];\n"
                            "next: ld.volatile.global.u32 %%x, [%%row];\n"
                            "setp.eq.u32 %%p, %%x, 0; @%%p bra.uni next;\nret;\n}\n");
}

/* ---- slices ---- */

static void faulty_slice_init(void *state, const void *params, const struct mech_slice_ports *ports)
{
    *(struct slice *)state = (struct slice){.params = params, .ports = ports};
    strike(params, HOOK_SLICE_INIT);
}

/* Calls ports that are forbidden, or have wrong arguments, for a request of the program that is not an
 * atomic. */
static void misuse(const struct slice *s, const struct mech_request *r)
{
    const struct mech_slice_ports *p = s->ports;
    switch (s->params->how) {
    case HOW_APPLY: p->apply(p->host, r->token); break;
    case HOW_REPLY: p->reply(p->host, r->token + (1u << 30)); break;
    case HOW_PARK: p->park(p->host, r->token); break;
    case HOW_FAR_READ: p->dram_read(p->host, r->line + 1, r->sectors, 0); break;
    case HOW_ODD_READ:
        for (uint32_t i = 1; i <= 4096; i++) /* one of these lines is in another slice */
            p->dram_read(p->host, r->line + i * p->line_bytes, 1, 0);
        break;
    case HOW_NO_SECTORS: p->dram_read(p->host, r->line, 0, 0); break;
    case HOW_ALL_SECTORS: p->dram_write(p->host, r->line, UINT32_MAX); break;
    case HOW_FAR_WRITE: p->dram_write(p->host, UINT64_MAX, 1); break;
    case HOW_WINDOW: p->window(p->host, 1u << 20)[0] = 1; break;
    case HOW_LINE: p->line(p->host, 128); break;
    case HOW_MEMORY: p->memory(p->host, SIZE_MAX); break;
    case HOW_REPLY_AND_PASS: p->reply(p->host, r->token); break;
    default: break;
    }
}

/* The same for a load of the window. */
static void misuse_window(const struct slice *s, const struct mech_request *r)
{
    const struct mech_slice_ports *p = s->ports;
    switch (s->params->how) {
    case HOW_PARK_TWICE:
        p->park(p->host, r->token);
        p->park(p->host, r->token);
        break;
    case HOW_APPLY_TWICE:
        p->apply(p->host, r->token);
        p->apply(p->host, r->token);
        break;
    case HOW_REPLY_EARLY: p->reply(p->host, r->token); break;
    case HOW_REPLY_TWICE:
        p->apply(p->host, r->token);
        p->reply(p->host, r->token);
        p->reply(p->host, r->token);
        break;
    default: break;
    }
}

static enum mech_take faulty_take_request(void *state, const struct mech_request *r)
{
    struct slice *s = state;
    strike(s->params, HOOK_TAKE_REQUEST);
    if (s->params->hook == HOOK_TAKE_REQUEST && r->is_window) {
        misuse_window(s, r);
        if (s->params->how == HOW_PASS_WINDOW) return MECH_PASS;
        if (s->params->how == HOW_WAIT_WINDOW) return MECH_WAIT;
    } else if (s->params->hook == HOOK_TAKE_REQUEST) {
        misuse(s, r);
        if (s->params->how == HOW_BAD_ANSWER) return (enum mech_take)3;
    }
    if (r->is_window) {
        s->windows[s->parked_count] = r->window;
        s->parked[s->parked_count++] = r->token;
        s->ports->park(s->ports->host, r->token);
        return MECH_CLAIM;
    }
    if (!s->has_read) s->ports->dram_read(s->ports->host, r->line, r->sectors, 0);
    s->has_read = true;
    return MECH_PASS;
}

static void faulty_on_dram(void *state, uint64_t cycle, uint32_t tag)
{
    strike(((const struct slice *)state)->params, HOOK_ON_DRAM);
}

static void faulty_on_host_write(void *state, uint64_t line, uint64_t number)
{
    strike(((const struct slice *)state)->params, HOOK_ON_HOST_WRITE);
}

static bool faulty_keeps_line(void *state, uint64_t number)
{
    strike(((const struct slice *)state)->params, HOOK_KEEPS_LINE);
    return true;
}

static void faulty_on_retire(void *state)
{
    struct slice *s = state;
    strike(s->params, HOOK_ON_RETIRE);
    while (s->parked_count) {
        const uint32_t i = --s->parked_count;
        s->ports->window(s->ports->host, s->windows[i])[0] = 1;
        s->ports->apply(s->ports->host, s->parked[i]);
        s->ports->reply(s->ports->host, s->parked[i]);
    }
}

HEDDLE_MECHANISM_EXPORT const struct mechanism heddle_mechanism = {
    .api = HEDDLE_MECHANISM_API,
    .name = "faulty-slice",
    .summary = "fails at a slice where it is told to",
    .paper = "",
    .params = param_rows,
    .param_bytes = sizeof(struct params),
    .slice_state_bytes = sizeof(struct slice),
    .choice_bytes = 1,
    .cache_sms = faulty_cache_sms,
    .choose_sms = faulty_choose_sms,
    .helper = faulty_helper,
    .slice_init = faulty_slice_init,
    .take_request = faulty_take_request,
    .on_dram = faulty_on_dram,
    .on_host_write = faulty_on_host_write,
    .keeps_line = faulty_keeps_line,
    .on_retire = faulty_on_retire,
};
