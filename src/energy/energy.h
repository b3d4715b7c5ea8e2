/* energy.h: what a run costs: events times picojoules plus watts times time.
 *
 * The events are counted by the machine as statistics; a table (energy/NAME.yaml) says what each of them
 * costs. Nothing here changes a run, and no result of it is in a run's hash. */
#ifndef HEDDLE_ENERGY_H
#define HEDDLE_ENERGY_H

#include "base/base.h"
#include "base/diag.h"
#include "heddle/rows.h" /* struct energy_row */

enum energy_part {
    ENERGY_FRONT,
    ENERGY_REGISTERS,
    ENERGY_UNITS,
    ENERGY_SHARED,
    ENERGY_CACHES,
    ENERGY_L1,
    ENERGY_XBAR,
    ENERGY_L2,
    ENERGY_DRAM,
    /* what mechanisms declare beyond the parts above */
    ENERGY_MECHANISMS,
    ENERGY_ALWAYS,
    ENERGY_LEAKAGE,
    ENERGY_PARTS
};
extern const char *const energy_part_names[ENERGY_PARTS];
/* Their names in expressions: one word each. */
extern const char *const energy_part_words[ENERGY_PARTS];

enum energy_event {
#define ENERGY_EVENT(id, name, part, count, about) ENERGY_##id,
#include "energy/events.def"
#undef ENERGY_EVENT
    ENERGY_EVENTS
};

/* Their names in tables. */
extern const char *const energy_event_names[ENERGY_EVENTS];

enum energy_power {
    /* of the chip, whenever it is on */
    ENERGY_CONSTANT,
    /* of an SM without a warp */
    ENERGY_IDLE_SM,
    /* of the chip's pipelines, if a warp instruction issued in every slot */
    ENERGY_PIPELINE,
    /* of the chip; counted apart from all else */
    ENERGY_CHIP_LEAKAGE,
    ENERGY_POWERS
};

/* Leakage while SMs work, by the units that a program uses (AccelWattch): watts of a chip all of whose SMs
 * work with one lane of each warp active, and watts for each further lane. */
enum energy_mix { MIX_INT, MIX_FP, MIX_DP, MIX_SFU, MIX_TEX, MIX_OTHER, ENERGY_MIXES };
struct energy_static {
    double first_lane, lane;
};

/* A row of a mechanism that the table overrides. */
struct energy_own {
    char name[64];
    double picojoules;
};
enum { ENERGY_OWN_MAX = 64 };

struct energy_table {
    char name[64];
    /* caches count sectors of 32 bytes, not requests */
    bool by_sector;
    double picojoules[ENERGY_EVENTS];
    double watts[ENERGY_POWERS];
    struct energy_static mixes[ENERGY_MIXES];
    /* SMs of the chip that `mixes` are of; 0: the table has none */
    uint32_t static_sms;
    struct energy_own own[ENERGY_OWN_MAX];
    uint32_t own_count;
};

/* Where tables are, and the rows of mechanisms that they may override. */
struct energy_place {
    const char *dir;
    const char *const *rows;
    uint32_t row_count;
};
/* `name` is NAME of place->dir/energy/NAME.yaml, or a path (with a slash or ending in .yaml). False with
 * diagnostics. */
bool energy_load(struct energy_table *t, const char *name, const struct energy_place *place,
                 struct diag_list *diags);

/* The counts of a run, and the properties of the machine that the energy depends on. */
struct energy_source {
    /* The value of a statistic; 0 where the machine has no such part. */
    double (*value)(void *context, const char *name);
    void *context;
    uint32_t core_khz, sms;
    /* bytes of a flit in each direction, and of a burst of DRAM */
    uint32_t request_flit, reply_flit, burst_bytes;
    /* rows of the mechanisms that were there */
    const struct energy_row *const *rows;
    uint32_t row_count;
};

struct energy_sum {
    double joules[ENERGY_PARTS];
    /* the part of them on SMs in cache mode */
    double helper;
    double seconds;
};
void energy_of(const struct energy_table *t, const struct energy_source *s, struct energy_sum *out);
/* All parts, with leakage or without. */
double energy_total(const struct energy_sum *e, bool with_leakage);
/* ENERGY_EVENTS: no row of tables has this name. */
enum energy_event energy_event_named(const char *name);
/* What the events of a mechanism's row cost, and the part that they are added to. */
double energy_row_joules(const struct energy_table *t, const struct energy_source *s,
                         const struct energy_row *r);
enum energy_part energy_row_part(const struct energy_row *r);
/* How often an event happened. */
double energy_events(const struct energy_table *t, const struct energy_source *s, enum energy_event event);

#endif
