/* register_use.c: an observer: which share of the registers that CTAs own is read or written in a window of
 * 1,000 warp instructions of an SM (FineReg, Oh et al., MICRO'18, Figure 5). Registers that a warp reads or
 * writes count once in a window. It changes nothing. */
#include "heddle/mechanism.h"

enum { WINDOW = 1000, MILLE = 1000 };

struct register_use {
    uint64_t touched[MECH_WARPS_MAX][MECH_REGISTER_WORDS];
    uint32_t warps, issued;
    /* registers touched in this window; rows that CTAs own */
    uint64_t used_now, rows;
    uint64_t windows, used, owned, unused_max;
};

static const struct stat_row register_use_stats[] = {
    STAT_COUNT(register_use, windows, "register-use.windows", "windows", "of 1,000 warp instructions", NULL),
    STAT_COUNT(register_use, used, "register-use.used", "rows", "read or written, summed over windows", NULL),
    STAT_COUNT(register_use, owned, "register-use.owned", "rows", "that CTAs own, summed over windows", NULL),
    STAT_RATIO(register_use, used, owned, "register-use.share", "%", "of owned rows that a window uses",
               NULL),
    STAT_LARGEST(register_use, unused_max, "register-use.unused_max", "1/1000",
                 "of owned rows that the window with the fewest left unused"),
    {0},
};

static void register_use_init(void *state, void *gpu_state, const void *params,
                              const struct mech_ports *ports)
{
    ((struct register_use *)state)->warps =
        ports->warps > MECH_BANK_WARPS ? ports->banks * MECH_BANK_WARPS : ports->warps;
}

static void register_use_on_cta(void *state, const struct mech_cta *e)
{
    struct register_use *u = state;
    if (e->kind == MECH_CTA_START) u->rows += e->rows;
    if (e->kind == MECH_CTA_END) u->rows -= e->rows;
}

static void register_use_end_window(struct register_use *u)
{
    if (u->rows) {
        const uint64_t used = u->used_now < u->rows ? u->used_now : u->rows;
        const uint64_t unused = MILLE - used * MILLE / u->rows;
        u->windows++;
        u->used += used;
        u->owned += u->rows;
        if (unused > u->unused_max) u->unused_max = unused;
    }
    for (uint32_t w = 0; w < u->warps; w++)
        for (int i = 0; i < MECH_REGISTER_WORDS; i++) u->touched[w][i] = 0;
    u->issued = 0;
    u->used_now = 0;
}

static void register_use_on_issue(void *state, const struct mech_issue *e)
{
    struct register_use *u = state;
    for (int i = 0; i < MECH_REGISTER_WORDS; i++) {
        const uint64_t fresh = (e->reads[i] | e->writes[i]) & ~u->touched[e->warp][i];
        u->touched[e->warp][i] |= fresh;
        u->used_now += (uint32_t)__builtin_popcountll(fresh);
    }
    if (++u->issued == WINDOW) register_use_end_window(u);
}

const struct mechanism mechanism_register_use = {
    .api = HEDDLE_MECHANISM_API,
    .name = "register-use",
    .summary = "observer: share of the registers that 1,000 instructions use",
    .paper = "FineReg, MICRO'18, Figure 5",
    .stats = register_use_stats,
    .state_bytes = sizeof(struct register_use),
    .init = register_use_init,
    .on_issue = register_use_on_issue,
    .on_cta = register_use_on_cta,
};
