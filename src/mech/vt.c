/* vt.c: Virtual Thread (Yoon et al., ISCA'16), as FineReg (Oh et al., MICRO'18, VI-A) compares with it: CTAs
 * become resident while registers and shared memory last, whatever the number of warp and CTA slots. As many
 * as there are slots for are active. When all warps of an active CTA wait for memory and an inactive one
 * could go on, the two are exchanged. Registers and shared memory stay where they are; only the scheduling
 * state moves: program counters, reconvergence stacks, barriers.
 *
 * (1) The oldest ready CTA enters; of several stalled ones, the one that stalled first leaves. (2) A CTA that
 * has ended leaves its slots to a ready one, else to the next of the grid.
 *
 * Open in what is printed of it: how long an exchange takes (vt.cycles_per_warp for each warp of the larger
 * CTA), which waits are long (vt.stall_cycles), and when a CTA counts as ready (one of its warps could
 * issue). */
#include "mech/cost.h"
#include "mech/cta_table.h"

struct vt_params {
    uint32_t cycles_per_warp, stall_cycles, control_bits;
};

struct vt {
    const struct vt_params *params;
    const struct mech_ports *ports;
    struct cta_table table;
};

static const struct param_row vt_params[] = {
    PARAM_NUMBER(vt_params, stall_cycles, "vt.stall_cycles", "cycles", "100", 0, 100000,
                 "for which a CTA waits before it counts as stalled: longer than a hit of the L1"),
    PARAM_NUMBER(vt_params, cycles_per_warp, "vt.cycles_per_warp", "cycles", "2", 0, 10000,
                 "to exchange the scheduling state of a warp for that of another"),
    PARAM_NUMBER(vt_params, control_bits, "vt.control_bits", "bits", "19661", 0, 1 << 30,
                 "storage of an SM for exchanges: 2.4 KB"),
    {0},
};

static const struct stat_row vt_stats[] = {
    CTA_TABLE_STATS(vt, "vt"),
    {0},
};

static const struct energy_row vt_energy[] = {
    ENERGY_PJ("vt.switching", "vt.swaps", COST_LARGE_TABLE_PJ, "access to the CTA switching logic"),
    {0},
};

static void vt_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "switching", 1, ((const struct vt_params *)params)->control_bits,
                  "CTA switching logic (vt.control_bits)");
}

static void vt_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct vt *v = state;
    v->params = params;
    v->ports = ports;
    ports->stall_after(ports->host, v->params->stall_cycles);
    cta_table_init(&v->table, ports);
}

/* Registers and shared memory are the host's to check. */
static bool vt_admit(void *state, struct mech_admit *a) { return true; }

/* True: `in` enters for `out`, which may be MECH_NO_CTA. */
static bool vt_exchange(struct vt *v, uint32_t out, uint32_t in)
{
    const struct cta_entry *ctas = v->table.ctas;
    uint32_t warps = ctas[in].warps;
    if (out != MECH_NO_CTA && ctas[out].warps > warps) warps = ctas[out].warps;
    return v->ports->cta_swap(v->ports->host, out, in, v->params->cycles_per_warp * warps);
}

/* Exchanges as long as there is a ready CTA, and slots for it: free ones, or those of a stalled CTA. A CTA
 * that is on its way counts as neither until it is there. */
static void vt_serve(struct vt *v)
{
    for (uint32_t in; (in = cta_table_ready(&v->table)) != MECH_NO_CTA;) {
        struct cta_entry *next = &v->table.ctas[in];
        bool has_entered = vt_exchange(v, MECH_NO_CTA, in);
        for (uint32_t out; !has_entered && (out = cta_table_stalled(&v->table)) != MECH_NO_CTA;) {
            has_entered = vt_exchange(v, out, in);
            v->table.ctas[out].is_stalled = false; /* it leaves, or has gone on meanwhile */
        }
        if (!has_entered) return;
        next->is_ready = false;
    }
}

static void vt_on_cta(void *state, const struct mech_cta *e)
{
    struct vt *v = state;
    cta_table_hear(&v->table, e);
    if (e->kind != MECH_CTA_START) vt_serve(v);
}

const struct mechanism mechanism_vt = {
    .api = HEDDLE_MECHANISM_API,
    .name = "vt",
    .summary = "Virtual Thread: CTAs beyond the slots of the schedulers, exchanged when one stalls",
    .paper = "Yoon et al., ISCA'16; FineReg, MICRO'18",
    .params = vt_params,
    .param_bytes = sizeof(struct vt_params),
    .stats = vt_stats,
    .energy = vt_energy,
    .state_bytes = sizeof(struct vt),
    .cost = vt_cost,
    .init = vt_init,
    .admit = vt_admit,
    .on_cta = vt_on_cta,
};
