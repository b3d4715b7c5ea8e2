/* victim.c: a victim cache (Jouppi, ISCA'90, section 3.2) in rows of the register file that no CTA owns: the
 * plain "VC" of Linebacker (Oh et al., ISCA'19). A global line that another one replaces in the L1 goes into
 * an idle row of 128 bytes. A load that misses in the L1 searches all rows at once; a line that it finds
 * answers it after `latency` cycles. The line used least recently makes room.
 *
 * (1) A line lies in one row or in the L1, never in both: it enters the L1 only by a miss that found no
 * row. (2) Stores and atomics drop a line; a flush of the L1 and the ends of a kernel drop all. (3) A row
 * is taken when a line needs one; a CTA that starts takes its rows back. (4) A read that finds the bank of
 * its row taken is a cycle late; a write waits in a buffer. Left out: local memory, partly filled lines of
 * a sectored L1, and Jouppi's swap (a line that is found does not go back into the L1). */
#include "heddle/mechanism.h"
#include "mech/cost.h"

struct victim_params {
    uint32_t latency;
};

/* A row of the register file: the line in it, and when that was used last. */
struct victim_row {
    uint64_t line, used;
};
static const struct victim_row victim_empty = {UINT64_MAX, 0}, victim_not_held = {UINT64_MAX, UINT64_MAX};

struct victim {
    const struct victim_params *params;
    const struct mech_ports *ports;
    struct victim_row *rows;
    uint64_t uses, held, held_max, inserts, lookups, hits, invalidations, conflicts;
};

static const struct param_row victim_params[] = {
    PARAM_NUMBER(victim_params, latency, "victim.latency", "cycles", "3", 1, 1000,
                 "from a miss in the L1 to the data of a line that is found"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(victim, field, "victim." #field, unit, help, NULL)
static const struct stat_row victim_stats[] = {
    COUNT(inserts, "lines", "lines that came in from the L1"),
    COUNT(lookups, "misses", "misses of the L1 that were looked up"),
    COUNT(hits, "misses", "misses of the L1 whose line was found"),
    COUNT(invalidations, "lines", "lines that a store or atomic dropped"),
    COUNT(conflicts, "accesses", "reads and writes of a row whose bank was taken"),
    STAT_LARGEST(victim, held_max, "victim.held_max", "rows", "most rows that one SM held at a time"),
    {0},
};

static const struct energy_row victim_energy[] = {
    ENERGY_PJ("victim.tags", "victim.lookups", COST_LARGE_TABLE_PJ, "search of the tags of the rows"),
    COST_LINES_IN_ROWS("victim", "hits", "inserts"),
    {0},
};

static void victim_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    cost_row_tags(c, m, COST_ADDRESS_BITS - cost_index_bits(m->line_bytes), m->register_rows);
}

static void victim_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct victim *v = state;
    *v = (struct victim){.params = params, .ports = ports};
    v->rows = ports->memory(ports->host, ports->register_rows * sizeof *v->rows);
    for (uint32_t i = 0; i < ports->register_rows; i++) v->rows[i] = victim_not_held;
}

static struct victim_row *victim_find(const struct victim *v, uint64_t line)
{
    for (uint32_t i = 0; i < v->ports->register_rows; i++)
        if (v->rows[i].line == line) return &v->rows[i];
    return NULL;
}

/* An empty row, else one more of the register file, else that of the oldest line. NULL: none is held. */
static struct victim_row *victim_make_room(struct victim *v)
{
    struct victim_row *oldest = v->rows;
    uint32_t row;
    for (uint32_t i = 1; i < v->ports->register_rows; i++)
        if (v->rows[i].used < oldest->used) oldest = &v->rows[i];
    if (!oldest->used) return oldest;
    if (!v->ports->registers_take(v->ports->host, 0, 1, &row)) return v->held ? oldest : NULL;
    if (++v->held > v->held_max) v->held_max = v->held;
    return &v->rows[row];
}

/* Cycles for which the bank of the row is taken: 0 or 1. */
static uint32_t victim_access(struct victim *v, struct victim_row *row, bool is_write)
{
    row->used = ++v->uses;
    if (v->ports->bank_access(v->ports->host, (uint32_t)(row - v->rows), is_write)) return 0;
    v->conflicts++;
    return 1;
}

static void victim_on_kernel(void *state, bool is_start)
{
    struct victim *v = state;
    for (uint32_t i = 0; i < v->ports->register_rows; i++)
        if (v->rows[i].used != victim_not_held.used) v->rows[i] = victim_empty;
}

static void victim_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct victim *v = state;
    if (e->cause == MECH_EVICT_FLUSH) victim_on_kernel(v, false);
    const bool is_full = e->sectors + 1 == 1u << v->ports->line_bytes / 32;
    if (e->cause != MECH_EVICT_REPLACED || e->is_local || !is_full) return;
    struct victim_row *row = victim_make_room(v);
    if (!row) return;
    row->line = e->line;
    victim_access(v, row, true);
    v->inserts++;
}

static void victim_take_miss(void *state, const struct mech_l1_access *a, uint32_t token,
                             struct mech_miss *answer)
{
    struct victim *v = state;
    struct victim_row *row = victim_find(v, a->line);
    v->lookups++;
    v->hits += row != NULL;
    if (!row) return;
    *answer = (struct mech_miss){MECH_MISS_HIT, v->params->latency + victim_access(v, row, false)};
}

static void victim_on_l1_access(void *state, const struct mech_l1_access *e)
{
    struct victim *v = state;
    struct victim_row *row = e->is_store || e->is_atomic ? victim_find(v, e->line) : NULL;
    if (!row) return;
    *row = victim_empty;
    v->invalidations++;
}

static void victim_on_rows_lost(void *state, const struct mech_rows_lost *e)
{
    struct victim *v = state;
    v->held -= e->rows;
    for (uint32_t i = 0; i < e->rows; i++) v->rows[e->first + i] = victim_not_held;
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
    .cost = victim_cost,
    .init = victim_init,
    .on_kernel = victim_on_kernel,
    .take_miss = victim_take_miss,
    .on_l1_access = victim_on_l1_access,
    .on_l1_evict = victim_on_l1_evict,
    .on_rows_lost = victim_on_rows_lost,
};
