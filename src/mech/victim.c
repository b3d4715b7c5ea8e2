/* victim.c: a victim cache (Jouppi, ISCA'90, section 3.2) in rows of the register file that no CTA owns: the
 * plain "VC" of Linebacker (Oh et al., ISCA'19). (1) A global line that another one replaces in the L1 goes
 * into an idle row of 128 bytes; the line used least recently makes room. (2) A load that misses in the L1
 * searches all rows at once; a line that it finds answers it after `latency` cycles, one more where the bank
 * of its row is taken. A write waits in a buffer. (3) Stores and atomics drop a line; a flush of the L1 and
 * the ends of a kernel drop all. (4) A CTA that starts takes its rows back. Left out: local memory, partly
 * filled lines, and Jouppi's swap (a line that is found goes back into the L1). */
#include "heddle/mechanism.h"
#include "mech/cost.h"

struct victim_params {
    uint32_t latency;
};

static const struct param_row victim_params[] = {
    PARAM_NUMBER(victim_params, latency, "victim.latency", "cycles", "3", 1, 1000,
                 "from a miss in the L1 to the data of a line that is found"),
    {0},
};

/* A row of the register file: the line in it, and when that was used last. */
struct victim_row {
    uint64_t line, used;
};
static const struct victim_row empty = {UINT64_MAX, 0}, not_held = {UINT64_MAX, UINT64_MAX};

struct victim {
    const struct victim_params *params;
    const struct mech_ports *ports;
    struct victim_row *rows;
    uint64_t uses, inserts, lookups, hits, invalidations;
};

#define COUNT(field, unit, help) STAT_COUNT(victim, field, "victim." #field, unit, help, NULL)
static const struct stat_row victim_stats[] = {
    COUNT(inserts, "lines", "lines that came in from the L1"),
    COUNT(lookups, "misses", "misses of the L1 that were looked up"),
    COUNT(hits, "misses", "misses of the L1 whose line was found"),
    COUNT(invalidations, "lines", "lines that a store or atomic dropped"),
    {0},
};

static const struct energy_row victim_energy[] = {
    ENERGY_PJ("victim.tags", "victim.lookups", COST_LARGE_TABLE_PJ, "search of the tags of the rows"),
    COST_LINES_IN_ROWS("victim", "hits", "inserts"),
    {0},
};

static void victim_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct victim *v = state;
    *v = (struct victim){.params = params, .ports = ports};
    v->rows = ports->memory(ports->host, ports->register_rows * sizeof *v->rows);
    for (uint32_t i = 0; i < ports->register_rows; i++) v->rows[i] = not_held;
}

/* The row of a line; the number of rows: none has it. */
static uint32_t victim_find(const struct victim *v, uint64_t line)
{
    uint32_t row = 0;
    while (row < v->ports->register_rows && v->rows[row].line != line) row++;
    return row;
}

/* An empty row, else one more of the register file, else that of the oldest line; the number of rows: none is
 * held. */
static uint32_t victim_make_room(struct victim *v)
{
    uint32_t row, oldest = 0;
    for (row = 1; row < v->ports->register_rows; row++)
        if (v->rows[row].used < v->rows[oldest].used) oldest = row;
    if (v->rows[oldest].used && v->ports->registers_take(v->ports->host, 0, 1, &row)) return row;
    return v->rows[oldest].used == not_held.used ? v->ports->register_rows : oldest;
}

static void victim_on_kernel(void *state, bool is_start)
{
    struct victim *v = state;
    for (uint32_t i = 0; i < v->ports->register_rows; i++)
        if (v->rows[i].used != not_held.used) v->rows[i] = empty;
}

static void victim_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct victim *v = state;
    if (e->cause == MECH_EVICT_FLUSH) victim_on_kernel(v, false);
    const bool is_full = e->sectors + 1 == 1u << v->ports->line_bytes / 32;
    if (e->cause != MECH_EVICT_REPLACED || e->is_local || !is_full) return;
    const uint32_t row = victim_make_room(v);
    if (row == v->ports->register_rows) return;
    v->rows[row] = (struct victim_row){e->line, ++v->uses};
    v->ports->bank_access(v->ports->host, row, true);
    v->inserts++;
}

static void victim_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                             struct mech_miss *answer)
{
    struct victim *v = state;
    const uint32_t row = victim_find(v, a->line);
    v->lookups++;
    if (row == v->ports->register_rows) return;
    v->hits++;
    v->rows[row].used = ++v->uses;
    const bool is_late = !v->ports->bank_access(v->ports->host, row, false);
    *answer = (struct mech_miss){MECH_MISS_HIT, v->params->latency + is_late};
}

static void victim_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct victim *v = state;
    const bool is_write = e->is_store || e->is_atomic;
    const uint32_t row = is_write ? victim_find(v, e->line) : v->ports->register_rows;
    if (row == v->ports->register_rows) return;
    v->rows[row] = empty;
    v->invalidations++;
}

static void victim_on_rows_lost(void *state, const struct mech_rows_lost *e)
{
    struct victim *v = state;
    for (uint32_t i = 0; i < e->rows; i++) v->rows[e->first + i] = not_held;
}

const struct mechanism mechanism_victim = {
    .api = HEDDLE_MECHANISM_API,
    .name = "victim",
    .summary = "victim cache in idle registers for lines that leave the L1",
    .paper = "Jouppi, ISCA'90; VC of Linebacker, ISCA'19",
    .params = victim_params,
    .param_bytes = sizeof(struct victim_params),
    .stats = victim_stats,
    .energy = victim_energy,
    .state_bytes = sizeof(struct victim),
    .owns = MECH_OWNS_REGISTERS,
    .cost = cost_lines_in_rows,
    .init = victim_init,
    .on_kernel = victim_on_kernel,
    .take_miss = victim_take_miss,
    .on_l1_access = victim_on_l1_access,
    .on_l1_evict = victim_on_l1_evict,
    .on_rows_lost = victim_on_rows_lost,
};
