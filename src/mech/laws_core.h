/* laws_core.h: LAWS, the locality-aware warp scheduler of APRES (Oh et al., ISCA'16, section IV-A): the state
 * and the rules that the mechanisms `laws` and `apres` share.
 *
 * The scheduling queue holds the warps of an SM in order of priority; the first ready one issues. A Last Load
 * Table keeps the PC of each warp's last global load (its LLPC). A load that issues groups its warp with all
 * warps of the same LLPC: they are about to execute the same load. The L1's answer to that one load moves the
 * whole group: to the head of the queue after a hit, to its tail after a miss. */
#ifndef HEDDLE_MECH_LAWS_CORE_H
#define HEDDLE_MECH_LAWS_CORE_H

#include "mech/warp_set.h"

enum { LAWS_GROUPS_MAX = 64 };

/* Choices that the paper leaves open; the first of each is the default. */
enum laws_full { LAWS_FULL_NO_GROUP, LAWS_FULL_REPLACE };
enum laws_empty { LAWS_EMPTY_MATCHES, LAWS_EMPTY_ALONE };
enum laws_answer { LAWS_ANSWER_FIRST, LAWS_ANSWER_ALL };
enum laws_pending { LAWS_PENDING_MISS, LAWS_PENDING_HIT };
enum laws_order { LAWS_ORDER_KEPT, LAWS_ORDER_WARP };
enum laws_hit_moves { LAWS_HIT_MOVES_GROUP, LAWS_HIT_MOVES_OTHERS };
enum laws_start { LAWS_START_TAIL, LAWS_START_SLOT };
enum laws_heads { LAWS_HEADS_ALL, LAWS_HEADS_FIRST };

struct laws_params {
    /* entries of the Last Load Table and of the Warp Group Table */
    uint32_t llt, wgt;
    /* enum laws_full, laws_empty, laws_answer, laws_pending */
    uint32_t wgt_full, empty_llpc, answer, pending;
    /* enum laws_order, laws_hit_moves, laws_start, laws_heads */
    uint32_t order, hit_moves, start, heads;
};

/* The scheduling queue: slots in order of priority, and the position of each slot in it. */
struct laws_queue {
    uint16_t slots[MECH_WARPS_MAX];
    uint64_t position[MECH_WARPS_MAX];
    uint32_t count;
    /* warps that move together lie in the order of their slots */
    bool is_by_warp;
};

/* An entry of the Warp Group Table. */
struct laws_group {
    /* of the load whose answer the group waits for; 0 = free */
    uint64_t load;
    struct warp_set warps;
    /* accesses of the load that the L1 has not answered */
    uint32_t lines_left;
};

struct laws_stats {
    uint64_t loads, groups, grouped, wgt_overflows, unanswered;
    uint64_t hit_groups, miss_groups, promotions, demotions;
};

struct laws {
    const struct laws_params *params;
    struct laws_queue queue;
    /* Last Load Table: the LLPC by slot */
    uint32_t llpc[MECH_WARPS_MAX];
    struct laws_group wgt[LAWS_GROUPS_MAX];
    struct laws_stats stats;
};

/* The effect of the L1's answer on the group that waited for it. */
enum laws_feedback { LAWS_NO_FEEDBACK, LAWS_HIT, LAWS_MISS };

void laws_init(struct laws *l, const struct laws_params *params);
int laws_pick(void *laws, const struct mech_sched_view *view);
void laws_on_warp(void *laws, const struct mech_warp_event *e);
void laws_on_issue(void *laws, const struct mech_issue *e);
/* Takes an answer of the L1 to a demand load. Where a group waited for it, the group has been moved, its
 * entry is free again, and *group holds its warps. */
enum laws_feedback laws_take_answer(struct laws *l, const struct mech_l1_access *a, struct warp_set *group);
/* Moves warps to the head of the queue. */
void laws_prioritize(struct laws *l, const struct warp_set *warps);

/* The L1 has the line or, where the parameter says so, has asked for it. */
bool laws_is_hit(const struct laws_params *p, enum mech_l1_outcome outcome);

/* Does the machine have more warps than the tables? */
enum mech_fit laws_check(const struct laws_params *p, const struct mech_machine *m, const char *name,
                         char *reason);

/* Table II: the Last Load Table and the Warp Group Table. */
void laws_cost(const struct laws_params *p, struct mech_cost *c);

extern const char *const laws_full_names[], *const laws_empty_names[], *const laws_answer_names[];
extern const char *const laws_pending_names[], *const laws_order_names[], *const laws_hit_moves_names[];
extern const char *const laws_start_names[], *const laws_heads_names[];

/* Rows of a struct that begins with struct laws_params, and of a state that begins with struct laws. */
#define LAWS_PARAM_ROWS(name)                                                                                \
    PARAM_NUMBER(laws_params, llt, name ".llt", "warps", "48", 1, MECH_WARPS_MAX,                            \
                 "entries of the Last Load Table, bits of a group: warps of an SM (table II: 48)"),          \
        PARAM_NUMBER(laws_params, wgt, name ".wgt", "groups", "3", 1, LAWS_GROUPS_MAX,                       \
                     "entries of the Warp Group Table: loads that wait for the L1's answer (table II: 3)"),  \
        PARAM_CHOICE(laws_params, wgt_full, name ".wgt_full", "none", laws_full_names,                       \
                     "a load that finds the Warp Group Table full: makes no group (none), or takes the "     \
                     "entry of the oldest (replace)"),                                                       \
        PARAM_CHOICE(laws_params, empty_llpc, name ".empty_llpc", "match", laws_empty_names,                 \
                     "a warp's first load: groups it with all that have had none (match), or alone"),        \
        PARAM_CHOICE(laws_params, answer, name ".answer", "first", laws_answer_names,                        \
                     "a load of many lines hits if its first line does (first), or if all do (all)"),        \
        PARAM_CHOICE(laws_params, pending, name ".pending", "miss", laws_pending_names,                      \
                     "a load that merges with a miss under way counts as: miss, hit"),                       \
        PARAM_CHOICE(laws_params, order, name ".order", "kept", laws_order_names,                            \
                     "warps that move together lie in the queue as before (kept), or in the order of their " \
                     "slots (warp)"),                                                                        \
        PARAM_CHOICE(laws_params, hit_moves, name ".hit_moves", "group", laws_hit_moves_names,               \
                     "a hit moves the whole group to the head (group), or all but the warp that hit "        \
                     "(others)"),                                                                            \
        PARAM_CHOICE(laws_params, start, name ".start", "tail", laws_start_names,                            \
                     "where a new warp enters the queue: at its tail, or where the warp before it in its "   \
                     "slot was (slot)"),                                                                     \
        PARAM_CHOICE(laws_params, heads, name ".heads", "all", laws_heads_names,                             \
                     "loads that make a group: all, or those of warps that no group in the table holds "     \
                     "(first)")

/* Rows of energy; include mech/cost.h. */
#define LAWS_ENERGY_ROWS(name)                                                                               \
    ENERGY_PJ(name ".llt", name ".loads", COST_SMALL_TABLE_PJ, "access to the Last Load Table"),             \
        ENERGY_PJ(name ".wgt", name ".groups", COST_SMALL_TABLE_PJ, "entry of the Warp Group Table")

#define LAWS_COUNT(name, field, unit, help) STAT_COUNT(laws, stats.field, name "." #field, unit, help, NULL)
#define LAWS_STAT_ROWS(name)                                                                                 \
    LAWS_COUNT(name, loads, "loads", "global loads that issued"),                                            \
        LAWS_COUNT(name, groups, "groups", "groups that loads made"),                                        \
        LAWS_COUNT(name, grouped, "warps", "warps of these groups, all together"),                           \
        LAWS_COUNT(name, wgt_overflows, "loads", "loads that found the Warp Group Table full"),              \
        LAWS_COUNT(name, unanswered, "loads", "loads that the L1 neither hits nor misses: other path"),      \
        LAWS_COUNT(name, hit_groups, "groups", "groups that a hit moved to the head of the queue"),          \
        LAWS_COUNT(name, miss_groups, "groups", "groups that a miss moved to the tail of the queue"),        \
        LAWS_COUNT(name, promotions, "warps", "warps moved to the head of the queue"),                       \
        LAWS_COUNT(name, demotions, "warps", "warps moved to the tail of the queue")

#endif
