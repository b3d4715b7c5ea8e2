/* str.c: STR, the per-PC inter-warp stride prefetcher that APRES (ISCA'16) compares with (section III-C;
 * after Lee et al., MICRO'10, and Sethia et al., PACT'13).
 *
 * A table with an entry for each static load: its PC, the warp that executed it last, that warp's address and
 * the stride between warps: difference of the addresses divided by difference of the warp numbers (section
 * III-B; figure 9 shows the same table for SAP). When the stride that a load shows is the one in the table,
 * the addresses of the next warps are prefetched into the L1.
 *
 * (1) Nothing is prefetched before a stride was seen twice in a row. (2) A prefetch is for a warp that is on
 * the SM and has not ended. (3) One load instruction of global memory trains the table once: by the address
 * of its first active lane. Open in the paper, chosen here: the table's size (10 entries, as SAP's Prefetch
 * Table: table II) and replacement (LRU); how many warps ahead (1); whether a warp's number is that of its
 * slot, which fits the byte of table II, or that of the grid, as in table I. The CTAs of an SM do not follow
 * each other, so the two differ. A warp that executes the load again before any other did shows no stride
 * between warps: it only brings the entry up to date. Early evictions: l1.prefetch_early_ratio. */
#include "mech/cost.h"
#include "mech/warps.h"

enum { STR_ENTRIES_MAX = 128 };

enum str_warp_id { STR_SLOT, STR_GRID };
static const char *const str_warp_ids[] = {"slot", "grid", NULL};

struct str_params {
    uint32_t entries, degree, confidence, warp_id;
};

/* An entry of the prefetch table. */
struct str_entry {
    uint32_t pc;
    /* number of the warp that executed the load last; the address of that execution */
    int64_t warp;
    uint64_t address;
    /* bytes from one warp to the next */
    int64_t stride;
    /* how often in a row this stride was seen, up to the parameter */
    uint32_t confidence;
    /* order of use; 0 = empty */
    uint64_t used;
};

struct str {
    const struct str_params *params;
    const struct mech_ports *ports;
    struct str_entry table[STR_ENTRIES_MAX];
    uint64_t uses;
    /* warps that have not ended, by bank; their numbers (enum str_warp_id), by slot */
    uint64_t resident[MECH_BANKS_MAX];
    int64_t number[MECH_WARPS_MAX];
    uint64_t trained, matches, prefetches, refused, absent;
};

static const struct param_row str_params[] = {
    PARAM_NUMBER(str_params, entries, "str.entries", "loads", "10", 1, STR_ENTRIES_MAX,
                 "entries of the prefetch table (APRES table II: 10)"),
    PARAM_NUMBER(str_params, degree, "str.degree", "warps", "1", 1, MECH_WARPS_MAX,
                 "warps ahead that are prefetched for"),
    PARAM_NUMBER(str_params, confidence, "str.confidence", "times", "2", 1, 16,
                 "times in a row that a stride must be seen before it is trusted"),
    PARAM_CHOICE(str_params, warp_id, "str.warp_id", "slot", str_warp_ids,
                 "number of a warp: of its slot on the SM, or of the warp in the grid"),
    {0},
};

static const struct stat_row str_stats[] = {
    STAT_COUNT(str, trained, "str.loads", "loads", "loads that trained the table", NULL),
    STAT_COUNT(str, matches, "str.matches", "loads", "loads that showed the stride of their entry", NULL),
    STAT_COUNT(str, prefetches, "str.prefetches", "requests", "prefetches that the prefetch queue took",
               NULL),
    STAT_COUNT(str, refused, "str.refused", "requests", "prefetches of addresses that are in no allocation",
               NULL),
    STAT_COUNT(str, absent, "str.absent", "warps",
               "warps that a trusted stride led to and that had ended or were not on the SM", NULL),
    {0},
};

static const struct energy_row str_energy[] = {
    ENERGY_PJ("str.table", "str.loads", COST_SMALL_TABLE_PJ, "access to the prefetch table"),
    {0},
};

/* The widths of APRES's Table II, and how often the stride was seen. */
static void str_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { PC = 32, WARP = 8, ADDRESS = 64, STRIDE = 64 };
    const struct str_params *p = params;
    mech_cost_add(c, MECH_EACH_SM, "table", p->entries,
                  PC + WARP + ADDRESS + STRIDE + cost_index_bits((uint64_t)p->confidence + 1),
                  "prefetch table: PC, warp, address, stride, confidence");
}

static void str_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct str *s = state;
    s->params = params;
    s->ports = ports;
}

/* The entry of pc; NULL when there is none, and *victim is the one to replace. */
static struct str_entry *str_find(struct str *s, uint32_t pc, struct str_entry **victim)
{
    *victim = &s->table[0];
    for (uint32_t i = 0; i < s->params->entries; i++) {
        struct str_entry *e = &s->table[i];
        if (e->used && e->pc == pc) return e;
        if (e->used < (*victim)->used) *victim = e;
    }
    return NULL;
}

/* Takes a new execution into the entry. True: the stride was the expected one, and has been for long
 * enough. */
static bool str_train(struct str *s, struct str_entry *e, int64_t warp, uint64_t address)
{
    int64_t warps = warp - e->warp, bytes = (int64_t)(address - e->address);
    e->warp = warp;
    e->address = address;
    if (!warps) return false;
    /* no whole stride explains it */
    if (bytes % warps) {
        e->confidence = 0;
        return false;
    }
    if (e->confidence && bytes / warps == e->stride) {
        s->matches++;
        if (e->confidence < s->params->confidence) e->confidence++;
    } else {
        e->stride = bytes / warps;
        e->confidence = 1;
    }
    return e->confidence >= s->params->confidence;
}

/* The slot of the warp with this number, or MECH_NO_WARP: it has ended, or is on another SM. */
static int str_slot_of(const struct str *s, int64_t number)
{
    if (s->params->warp_id == STR_SLOT) {
        const bool is_here =
            number < MECH_WARPS_MAX && s->resident[mech_bank((int)number)] & mech_bit((int)number);
        return is_here ? (int)number : MECH_NO_WARP;
    }
    for (uint32_t bank = 0; bank < s->ports->banks; bank++)
        for (uint64_t rest = s->resident[bank]; rest; rest &= rest - 1) {
            const int slot = (int)bank * MECH_BANK_WARPS + warps_first(rest);
            if (s->number[slot] == number) return slot;
        }
    return MECH_NO_WARP;
}

static void str_prefetch(struct str *s, const struct str_entry *e)
{
    uint64_t line_mask = ~(uint64_t)(s->ports->line_bytes - 1), line = e->address & line_mask;
    for (uint32_t d = 1; d <= s->params->degree; d++) {
        uint64_t address = e->address + (uint64_t)(e->stride * (int64_t)d);
        if ((address & line_mask) == line) continue; /* requested already */
        const int target = str_slot_of(s, e->warp + d);
        if (target == MECH_NO_WARP) {
            s->absent++;
            continue;
        }
        line = address & line_mask;
        if (s->ports->prefetch(s->ports->host, address, e->pc, target))
            s->prefetches++;
        else
            s->refused++;
    }
}

static void str_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct str *s = state;
    if (a->is_store || a->is_atomic || a->is_prefetch || a->is_local) return;
    if (!a->is_first_line || a->outcome == MECH_L1_SENT) return;
    struct str_entry *victim, *e = str_find(s, a->pc, &victim);
    const int64_t warp = s->number[a->warp];
    s->trained++;
    if (!e) {
        *victim =
            (struct str_entry){.pc = a->pc, .warp = warp, .address = a->lane_address, .used = ++s->uses};
        return;
    }
    e->used = ++s->uses;
    if (str_train(s, e, warp, a->lane_address)) str_prefetch(s, e);
}

static void str_on_warp(void *state, const struct mech_warp_event *e)
{
    struct str *s = state;
    uint64_t *resident = &s->resident[mech_bank(e->warp)];
    *resident = e->is_start ? *resident | mech_bit(e->warp) : *resident & ~mech_bit(e->warp);
    if (!e->is_start) return;
    s->number[e->warp] =
        s->params->warp_id == STR_SLOT ? e->warp : (int64_t)(e->cta * e->cta_warps + e->index);
}

const struct mechanism mechanism_str = {
    .api = HEDDLE_MECHANISM_API,
    .name = "str",
    .summary = "stride prefetcher: per load PC, from warp to warp, into the L1",
    .paper = "as compared in APRES, ISCA'16 (section III-C)",
    .params = str_params,
    .param_bytes = sizeof(struct str_params),
    .stats = str_stats,
    .energy = str_energy,
    .state_bytes = sizeof(struct str),
    .cost = str_cost,
    .init = str_init,
    .on_l1_access = str_on_l1_access,
    .on_warp = str_on_warp,
};
