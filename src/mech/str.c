/* str.c: STR, the per-PC inter-warp stride prefetcher that APRES (ISCA'16) compares with (section III-C;
 * after Lee et al., MICRO'10, and Sethia et al., PACT'13).
 *
 * A table with an entry for each static load: its PC, the warp that executed it last, that warp's address and
 * the stride between warps: difference of the addresses divided by difference of the warp numbers (section
 * III-B; figure 9 shows the same table for SAP). When the stride that a load shows is the one in the table,
 * the addresses of the next warps are prefetched into the L1.
 *
 * (1) Nothing is prefetched before a stride was seen twice in a row. (2) A prefetch that the L1 cannot take
 * is dropped, not kept. (3) One load instruction trains the table once: by the address of its first active
 * lane. Open in the paper, chosen here: the table's size (10 entries, as SAP's Prefetch Table: table II) and
 * replacement (LRU); how many warps ahead (1). A warp that executes the load again before any other did shows
 * no stride between warps: it only brings the entry up to date. */
#include "mech/warps.h"

enum { STR_ENTRIES_MAX = 128 };

struct str_params {
    uint32_t entries, degree, confidence;
};

/* An entry of the prefetch table. */
struct str_entry {
    uint32_t pc;
    /* that executed the load last; the address of that execution */
    int warp;
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
    uint64_t trained, matches, prefetches, refused, unused;
};

static const struct param_row str_params[] = {
    PARAM_NUMBER(str_params, entries, "str.entries", "loads", "10", 1, STR_ENTRIES_MAX,
                 "entries of the prefetch table (APRES table II: 10)"),
    PARAM_NUMBER(str_params, degree, "str.degree", "warps", "1", 1, MECH_WARPS_MAX,
                 "warps ahead that are prefetched for"),
    PARAM_NUMBER(str_params, confidence, "str.confidence", "times", "2", 1, 16,
                 "times in a row that a stride must be seen before it is trusted"),
    {0},
};

static const struct stat_row str_stats[] = {
    STAT_COUNT(str, trained, "str.loads", "loads", "loads that trained the table", NULL),
    STAT_COUNT(str, matches, "str.matches", "loads", "loads that showed the stride of their entry", NULL),
    STAT_COUNT(str, prefetches, "str.prefetches", "requests", "prefetches that the L1 accepted", NULL),
    STAT_COUNT(str, refused, "str.refused", "requests",
               "prefetches dropped because the prefetch queue was full", NULL),
    STAT_COUNT(str, unused, "str.early_evictions", "lines", "prefetched lines evicted before they were used",
               NULL),
    STAT_RATIO_OF(str, unused, prefetches, "str.early_eviction_ratio", "%",
                  "early evictions of all prefetches (APRES figure 4)", NULL),
    {0},
};

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
static bool str_train(struct str *s, struct str_entry *e, int warp, uint64_t address)
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

static void str_prefetch(struct str *s, const struct str_entry *e)
{
    uint64_t line_mask = ~(uint64_t)(s->ports->line_bytes - 1), line = e->address & line_mask;
    for (uint32_t d = 1; d <= s->params->degree && e->warp + d < s->ports->warps; d++) {
        uint64_t address = e->address + (uint64_t)(e->stride * (int64_t)d);
        if ((address & line_mask) == line) continue; /* requested already */
        line = address & line_mask;
        if (s->ports->prefetch(s->ports->host, address, e->pc, e->warp + (int)d))
            s->prefetches++;
        else
            s->refused++;
    }
}

static void str_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct str *s = state;
    if (a->is_store || a->is_atomic || a->is_prefetch) return;
    if (!a->is_first_line || a->outcome == MECH_L1_SENT) return;
    struct str_entry *victim, *e = str_find(s, a->pc, &victim);
    s->trained++;
    if (!e) {
        *victim =
            (struct str_entry){.pc = a->pc, .warp = a->warp, .address = a->lane_address, .used = ++s->uses};
        return;
    }
    e->used = ++s->uses;
    if (str_train(s, e, a->warp, a->lane_address)) str_prefetch(s, e);
}

static void str_on_l1_evict(void *state, const struct mech_l1_evict *e)
{
    struct str *s = state;
    if (e->was_prefetch && !e->was_used) s->unused++;
}

const struct mechanism mechanism_str = {
    .api = HEDDLE_MECHANISM_API,
    .name = "str",
    .summary = "stride prefetcher: per load PC, from warp to warp, into the L1",
    .paper = "as compared in APRES, ISCA'16 (section III-C)",
    .params = str_params,
    .param_bytes = sizeof(struct str_params),
    .stats = str_stats,
    .state_bytes = sizeof(struct str),
    .init = str_init,
    .on_l1_access = str_on_l1_access,
    .on_l1_evict = str_on_l1_evict,
};
