/* unified.c: unified on-chip memory (Gebhart et al., MICRO'12), as FineReg (Oh et al., MICRO'18, VI-G.3) has
 * it: a part of the register file, shared memory and L1 are one store of unified.bytes. What the CTAs of a
 * kernel leave of it is L1, in whole ways of 128-byte lines, fixed when the kernel comes; the L1 needs no
 * other latency.
 *
 * Registers up to unified.own_registers lie apart (FineReg's ACRF). Those of the resident CTAs beyond, their
 * shared memory and unified.pcrf (the rows that FineReg keeps of pending CTAs) come out of the store.
 * unified.beside says which CTAs are resident: those that the occupancy rule lets in, or as many as registers
 * and shared memory hold (Virtual Thread); beside FineReg, registers are in its ACRF and PCRF.
 *
 * Left out: conflicts of the three uses at the banks of the store. */
#include "heddle/mechanism.h"

enum { BESIDE_NONE, BESIDE_VT, BESIDE_FINEREG };

struct unified_params {
    uint64_t bytes, own_registers, pcrf, shared;
    uint32_t beside;
};

struct unified {
    const struct unified_params *params;
    const struct mech_ports *ports;
    uint64_t lines_max, launches;
};

static const char *const unified_beside[] = {"none", "vt", "finereg", NULL};
static const struct param_row unified_params[] = {
    PARAM_SIZE(unified_params, bytes, "unified.bytes", "272K", 1024, 1 << 30,
               "the store: 128 KB of registers, 96 KB of shared memory, 48 KB of L1"),
    PARAM_SIZE(unified_params, own_registers, "unified.own_registers", "128K", 0, 1 << 30,
               "bytes of registers that lie apart"),
    PARAM_SIZE(unified_params, pcrf, "unified.pcrf", "0", 0, 1 << 30,
               "bytes that finereg.pcrf takes of the store"),
    PARAM_SIZE(unified_params, shared, "unified.shared", "96K", 0, 1 << 30,
               "shared memory that CTAs can have of the store"),
    PARAM_CHOICE(unified_params, beside, "unified.beside", "none", unified_beside,
                 "the mechanism that says which CTAs are resident"),
    {0},
};

static const struct stat_row unified_stats[] = {
    STAT_LARGEST(unified, lines_max, "unified.lines_max", "lines", "most lines that the L1 had"),
    STAT_COUNT(unified, launches, "unified.launches", "kernels", "kernels that the store was divided for",
               NULL),
    {0},
};

static void unified_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct unified *u = state;
    u->params = params;
    u->ports = ports;
    const uint64_t lines = u->params->bytes / ports->line_bytes,
                   most = ports->l1_sets * mech_l1_ways_max(ports);
    u->ports->l1_lines_max(ports->host, (uint32_t)(lines < most ? lines : most));
}

/* Bytes that a CTA needs. */
static uint64_t unified_registers(const struct mech_launch *e)
{
    const uint64_t threads = (uint64_t)e->block[0] * e->block[1] * e->block[2];
    return (e->registers + 3) / 4 * 4 * 128ull * ((threads + 31) / 32);
}

static uint64_t unified_resident(const struct unified *u, const struct mech_launch *e)
{
    const uint64_t file = (uint64_t)u->ports->register_rows * MECH_ROW_BYTES;
    uint64_t ctas = file / unified_registers(e);
    if (u->params->beside == BESIDE_NONE) return e->ctas_fit;
    if (u->params->beside == BESIDE_FINEREG) ctas = u->ports->ctas;
    if (ctas > u->ports->ctas) ctas = u->ports->ctas;
    if (e->shared_bytes && ctas > u->params->shared / e->shared_bytes)
        ctas = u->params->shared / e->shared_bytes;
    return ctas;
}

static void unified_on_launch(void *state, const struct mech_launch *e)
{
    struct unified *u = state;
    const struct unified_params *p = u->params;
    const uint64_t ctas = unified_resident(u, e), registers = ctas * unified_registers(e);
    uint64_t taken = p->pcrf + ctas * e->shared_bytes;
    if (p->beside != BESIDE_FINEREG && registers > p->own_registers) taken += registers - p->own_registers;
    const uint64_t most = (uint64_t)u->ports->l1_sets * mech_l1_ways_max(u->ports);
    uint64_t lines = taken < p->bytes ? (p->bytes - taken) / u->ports->line_bytes : 0;
    if (lines > most) lines = most;
    if (lines < u->ports->l1_sets) lines = u->ports->l1_sets; /* one way */
    if (lines > p->bytes / u->ports->line_bytes) lines = p->bytes / u->ports->line_bytes;
    if (lines > u->lines_max) u->lines_max = lines;
    u->launches++;
    u->ports->l1_lines(u->ports->host, (uint32_t)lines);
}

const struct mechanism mechanism_unified = {
    .api = HEDDLE_MECHANISM_API,
    .name = "unified",
    .summary = "unified on-chip memory: what registers and shared memory leave is L1",
    .paper = "Gebhart et al., MICRO'12, as in FineReg, MICRO'18",
    .params = unified_params,
    .param_bytes = sizeof(struct unified_params),
    .stats = unified_stats,
    .state_bytes = sizeof(struct unified),
    .init = unified_init,
    .on_launch = unified_on_launch,
};
