/* laws_kit.h: LAWS and SAP event by event: loads that issue and are answered, prefetches that the L1 takes,
 * the order of the queue. */
#ifndef LAWS_KIT_H
#define LAWS_KIT_H

#include "mech_kit.h"

enum { LINE = 128 };

static uint64_t last_id;
/* prefetches of a kit that the L1 has taken */
static uint32_t taken;

static inline void open_with_warps(struct mech_kit *k, const char *names, const char *settings, int warps)
{
    kit_open(k, names, settings, 1);
    last_id = 0;
    taken = 0;
    for (int w = 0; w < warps; w++) kit_start(k, w);
}

/* The L1 takes the oldest prefetch that it has not taken. False: there is none. */
static inline bool take_prefetch(struct mech_kit *k, enum mech_prefetch_outcome outcome)
{
    if (taken == k->prefetch_count) return false;
    const uint32_t i = taken++;
    mech_on_prefetch(k->sm, &(struct mech_prefetch){.line = k->prefetches[i].address / LINE * LINE,
                                                    .pc = k->prefetches[i].pc,
                                                    .warp = k->prefetches[i].warp,
                                                    .outcome = outcome});
    return true;
}
static inline void take_prefetches(struct mech_kit *k)
{
    while (take_prefetch(k, MECH_PREFETCH_SENT)) continue;
}

/* A global load issues; the L1 will answer it with this many accesses. Returns its id. */
static inline uint64_t issue_lines(struct mech_kit *k, int warp, uint32_t pc, uint32_t lines)
{
    mech_on_issue(k->sm, &(struct mech_issue){.id = ++last_id,
                                              .warp = warp,
                                              .pc = pc,
                                              .is_load = true,
                                              .is_global = true,
                                              .lanes = UINT32_MAX,
                                              .l1_lines = lines});
    return last_id;
}
static inline uint64_t issue(struct mech_kit *k, int warp, uint32_t pc)
{
    return issue_lines(k, warp, pc, 1);
}

/* A load that the L1 never sees: it sets the LLPC and moves nothing. */
static inline void pass(struct mech_kit *k, int warp, uint32_t pc) { issue_lines(k, warp, pc, 0); }

static inline struct mech_l1_access access_to(int warp, uint32_t pc, uint64_t id,
                                              enum mech_l1_outcome outcome, uint64_t address)
{
    return (struct mech_l1_access){.id = id,
                                   .warp = warp,
                                   .pc = pc,
                                   .line = address / LINE * LINE,
                                   .is_first_line = true,
                                   .outcome = outcome,
                                   .lane_address = address};
}
static inline void answer(struct mech_kit *k, int warp, uint32_t pc, uint64_t id,
                          enum mech_l1_outcome outcome, uint64_t address)
{
    const struct mech_l1_access a = access_to(warp, pc, id, outcome, address);
    mech_on_l1_access(k->sm, &a);
}
/* Issue and answer of a load in one; the L1 takes no prefetch yet. */
static inline void load_only(struct mech_kit *k, int warp, uint32_t pc, enum mech_l1_outcome outcome,
                             uint64_t address)
{
    answer(k, warp, pc, issue(k, warp, pc), outcome, address);
}
/* ... and the L1 takes what is prefetched. */
static inline void load(struct mech_kit *k, int warp, uint32_t pc, enum mech_l1_outcome outcome,
                        uint64_t address)
{
    load_only(k, warp, pc, outcome, address);
    take_prefetches(k);
}

/* The whole queue: warps of one digit, in order. */
static inline void expect_order(struct mech_kit *k, const char *order)
{
    uint64_t ready = 0;
    char got[16] = "";
    for (const char *c = order; *c; c++) ready |= W(*c - '0');
    for (size_t i = 0; order[i]; i++) {
        const int w = kit_pick(k, ready);
        got[i] = (char)('0' + w);
        ready &= ~W(w);
    }
    assert_string_equal(got, order);
}

static inline void expect_prefetches(const struct mech_kit *k, uint32_t count, const uint64_t (*wanted)[2])
{
    assert_int_equal(k->prefetch_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(k->prefetches[i].warp, wanted[i][0]);
        assert_int_equal(k->prefetches[i].address, wanted[i][1]);
    }
}
#define EXPECT_PREFETCHES(k, ...)                                                                            \
    do {                                                                                                     \
        const uint64_t list[][2] = {__VA_ARGS__};                                                            \
        expect_prefetches(k, ARRAY_LEN(list), list);                                                         \
    } while (0)

#endif
