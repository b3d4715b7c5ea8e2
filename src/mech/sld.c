/* sld.c: SLD, the spatial-locality-detection prefetcher of Jog et al. (ISCA'13) as APRES (ISCA'16, section
 * III-C) compares with it.
 *
 * Memory is seen in macro blocks of four consecutive lines. When two distinct lines of a block have been
 * accessed, the lines of it that are left are prefetched into the L1.
 *
 * (1) The two lines are distinct: one that is accessed again counts once. (2) A block is prefetched once
 * while it has an entry. (3) A prefetch never leaves its block. Open in the paper, chosen here: how many
 * blocks are watched at once (64) and which of them makes room (the one whose load is the longest ago). Loads
 * of global memory train it, each line of a load by itself; stores and prefetches do not. */
#include "mech/cost.h"

#include "heddle/mechanism.h"

/* The sizes of a macro block: powers of two, each with more lines than the largest threshold. */
enum { SLD_LINES_MIN = 4, SLD_THRESHOLD_MAX = SLD_LINES_MIN - 1 };
static const char *const sld_sizes[] = {"4", "8", "16", "32", NULL};

struct sld_params {
    /* size: position in sld_sizes */
    uint32_t entries, size, threshold;
};

/* A macro block that is watched. */
struct sld_block {
    /* its first line */
    uint64_t address;
    /* a bit for each line: accessed */
    uint32_t accessed;
    bool is_prefetched;
    /* order of use; 0 = empty */
    uint64_t used;
};

struct sld {
    const struct sld_params *params;
    const struct mech_ports *ports;
    struct sld_block *table;
    /* lines and bytes of a macro block */
    uint32_t lines;
    uint64_t block_bytes, uses;
    uint64_t loads, detected, prefetches, refused, replaced;
};

static const struct param_row sld_params[] = {
    PARAM_NUMBER(sld_params, entries, "sld.entries", "blocks", "64", 1, 4096,
                 "macro blocks that are watched at once"),
    PARAM_CHOICE(sld_params, size, "sld.lines", "4", sld_sizes,
                 "lines of a macro block (APRES section III-C: 4)"),
    PARAM_NUMBER(sld_params, threshold, "sld.threshold", "lines", "2", 1, SLD_THRESHOLD_MAX,
                 "distinct lines of a block that are accessed before the others are prefetched"),
    {0},
};

static const struct stat_row sld_stats[] = {
    STAT_COUNT(sld, loads, "sld.loads", "transactions", "lines of loads that trained the table", NULL),
    STAT_COUNT(sld, detected, "sld.detected", "blocks", "blocks whose other lines were prefetched", NULL),
    STAT_COUNT(sld, prefetches, "sld.prefetches", "requests", "prefetches that the prefetch queue took",
               NULL),
    STAT_COUNT(sld, refused, "sld.refused", "requests", "prefetches of addresses that are in no allocation",
               NULL),
    STAT_COUNT(sld, replaced, "sld.replaced", "blocks", "blocks that made room for others", NULL),
    {0},
};

static const struct energy_row sld_energy[] = {
    ENERGY_PJ("sld.table", "sld.loads", COST_SMALL_TABLE_PJ, "access to the table of blocks"),
    {0},
};

/* Lines of a macro block. */
static uint32_t sld_lines(const struct sld_params *p) { return SLD_LINES_MIN << p->size; }

static void sld_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    const struct sld_params *p = params;
    const uint32_t lines = sld_lines(p);
    const uint64_t tag = COST_ADDRESS_BITS - cost_index_bits((uint64_t)lines * m->line_bytes);
    mech_cost_add(c, MECH_EACH_SM, "blocks", p->entries, tag + lines + 1 + cost_index_bits(p->entries),
                  "number of the block, a bit for each line, one that it was prefetched, order");
}

static void sld_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct sld *s = state;
    s->params = params;
    s->ports = ports;
    s->table = ports->memory(ports->host, s->params->entries * sizeof *s->table);
    s->lines = sld_lines(s->params);
    s->block_bytes = (uint64_t)s->lines * ports->line_bytes;
}

/* The entry of a block; one that is new takes the slot of the block used least recently. */
static struct sld_block *sld_find(struct sld *s, uint64_t address)
{
    struct sld_block *victim = s->table;
    for (struct sld_block *b = s->table; b < s->table + s->params->entries; b++) {
        if (b->used && b->address == address) return b;
        if (b->used < victim->used) victim = b;
    }
    s->replaced += victim->used != 0;
    *victim = (struct sld_block){.address = address};
    return victim;
}

static void sld_prefetch(struct sld *s, const struct sld_block *b, const struct mech_l1_access *a)
{
    for (uint32_t i = 0; i < s->lines; i++) {
        if (b->accessed >> i & 1) continue;
        if (s->ports->prefetch(s->ports->host, b->address + (uint64_t)i * s->ports->line_bytes, a->pc,
                               a->warp))
            s->prefetches++;
        else
            s->refused++;
    }
}

static void sld_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct sld *s = state;
    if (a->is_store || a->is_atomic || a->is_prefetch || a->is_local || a->outcome == MECH_L1_SENT) return;
    struct sld_block *b = sld_find(s, a->line & ~(s->block_bytes - 1));
    b->used = ++s->uses;
    b->accessed |= 1u << (a->line - b->address) / s->ports->line_bytes;
    s->loads++;
    if (b->is_prefetched || (uint32_t)__builtin_popcount(b->accessed) < s->params->threshold) return;
    b->is_prefetched = true;
    s->detected++;
    sld_prefetch(s, b, a);
}

/* Another kernel has other data. */
static void sld_on_kernel(void *state, bool is_start)
{
    struct sld *s = state;
    if (!is_start) return;
    for (uint32_t i = 0; i < s->params->entries; i++) s->table[i] = (struct sld_block){0};
}

const struct mechanism mechanism_sld = {
    .api = HEDDLE_MECHANISM_API,
    .name = "sld",
    .summary = "spatial prefetcher: two lines of a block of four bring the other two into the L1",
    .paper = "Jog et al., ISCA'13, as compared in APRES, ISCA'16 (section III-C)",
    .params = sld_params,
    .param_bytes = sizeof(struct sld_params),
    .stats = sld_stats,
    .energy = sld_energy,
    .state_bytes = sizeof(struct sld),
    .cost = sld_cost,
    .init = sld_init,
    .on_l1_access = sld_on_l1_access,
    .on_kernel = sld_on_kernel,
};
