/* morpheus_state.h: the state of a Morpheus controller, and its lists. */
#ifndef HEDDLE_MORPHEUS_STATE_H
#define HEDDLE_MORPHEUS_STATE_H

#include "heddle/mechanism.h"
#include "mech/morpheus.h"
#include "mech/morpheus_choose.h"
#include "mech/morpheus_filter.h"

/* ---- parameters ---- */

enum morpheus_predictor { PREDICTOR_BLOOM, PREDICTOR_PERFECT, PREDICTOR_NONE };
enum morpheus_choose { CHOOSE_FIXED, CHOOSE_ONLINE };
struct morpheus_params {
    /* parameters of morpheus_choose.c */
    uint32_t choose, start, step, step_min, margin, dram_low;
    uint32_t cache_sms, predictor, filter_bytes, filter_hashes, inserts;
    /* by enum morpheus_store */
    uint32_t warps[MORPHEUS_STORES], blocks[MORPHEUS_STORES];
    bool indirect_move, compression, joins;
    uint32_t epoch, queue, mshrs;
};

extern const struct param_row morpheus_params[];
extern const struct stat_row morpheus_stats[];
extern const struct energy_row morpheus_energy[];

/* ---- state ---- */

/* A request of the extended LLC, or an insertion, in the request queue or beside a line on its way. */
struct request {
    struct request *next;
    /* requests for its line that are answered with it */
    struct request *joined, *joined_last;
    /* enum morpheus_op; the request to answer, if it has one */
    uint32_t op, token;
    bool has_token, is_dirty, is_partial, is_applied, was_predicted_miss;
    /* it has a slot of the request queue */
    bool has_slot;
    /* the first request for the set since its filters were swapped: MORPHEUS_FLAG_FORGET */
    bool forgets;
    /* that it writes, all of them for an atomic; those that a read wants */
    uint32_t sectors, wanted;
    uint64_t line, queued;
    /* the predictor's mark: of its look-up, or of the one before its insertion */
    struct morpheus_filter_mark mark;
};

/* A line on its way from DRAM, and who waits for it. */
struct fetch {
    struct fetch *next;
    struct request *first, *last;
    struct set *set;
    uint64_t line;
    /* sectors that were asked for, and reads of DRAM that have not come */
    uint32_t tag, sectors, reads;
    bool is_predicted;
    /* the mark of the look-up that failed, if there was one */
    struct morpheus_filter_mark mark;
};

/* A set: its warp's row of the warp status table, its request queue, its predictor. */
struct set {
    struct request *first, *last;
    /* the request that the warp serves; NULL: none */
    struct request *current;
    uint64_t handed;
    struct fetch *fetches;
    /* the load of its row waits for work; that of its data buffer waits for a request with data */
    bool is_parked, is_data_parked, must_clear;
    /* the warp is at a request with data, and their load has not come */
    bool wants_data;
    /* the warp has said MORE: the next load of its row only wants an answer */
    bool is_sending;
    /* the warp has had a request and has not loaded its row since */
    bool is_away;
    /* it may hold blocks */
    bool is_used;
    uint32_t parked, data_parked;
    /* blocks that it can hold */
    uint32_t blocks;
    /* its filters were swapped, and no request has come since */
    bool is_compressed, has_swapped;
    /* what the set will hold, the newest first */
    uint32_t tag_count;
    uint32_t tags[MORPHEUS_BLOCKS_MAX];
    /* the words of the line before an atomic took effect */
    uint32_t before[MORPHEUS_LINE_WORDS];
};

/* The sets of a slice whose blocks are in one store, and the lines that each has room for as they are. */
struct set_range {
    uint32_t first, count, blocks;
};

/* The address separator: of `shares` lines the slice has the first `own`; `step` spreads them. */
struct separator {
    uint64_t shares, own, step;
};

/* Lists grow by chunks. */
enum { MORPHEUS_CHUNK = 64, MORPHEUS_CHUNKS_MAX = 4096 };

struct morpheus {
    const struct morpheus_params *params;
    const struct mech_slice_ports *ports;
    struct set *sets;
    uint32_t set_count;
    struct set_range ranges[MORPHEUS_STORES];
    struct morpheus_filter filter;
    /* now, and before SMs changed their roles; shares 0: all lines are the slice's own */
    struct separator separator, before;
    /* the part of a line's number that tags leave out */
    uint64_t high;
    uint64_t now;
    bool is_retired;
    /* requests with a slot of the request queue; lines on their way from DRAM */
    uint32_t queued, fetching;
    uint32_t inserts_waiting;
    struct request *free_requests;
    struct fetch *free_fetches;
    struct fetch *fetch_chunks[MORPHEUS_CHUNKS_MAX];
    uint32_t fetch_chunk_count;
    uint64_t requests, predicted_hits, predicted_misses, hits, false_hits, false_negatives;
    uint64_t inserts, bypasses, dirty_evictions, atomics, merged, joined, swaps;
    uint64_t allotments, rows_none, rows_low, rows_high, slots, stored_none, stored_low, stored_high;
    uint64_t queue_cycles, served, service_cycles, read_hits, read_cycles, stale_reads, clears;
    uint64_t queue_max, queue_found, turns, turn_cycles, messages, data_sectors;
    uint64_t flushed, stale_victims;
};

/* ---- what the parameters ask of a machine (morpheus_parts.c) ---- */

/* Warps of an SM in cache mode, of all stores, and of those before this one. */
uint32_t parts_warps(const struct morpheus_params *p);
uint32_t parts_warps_before(const struct morpheus_params *p, enum morpheus_store store);
/* Does the kernel compress the blocks of this store? The L1 has none to offer: a line of it is a block. */
bool parts_compress(const struct morpheus_params *p, enum morpheus_store store);
/* The hooks of these names. */
enum mech_fit parts_check(const void *params, const struct mech_machine *machine, char *reason);
void parts_cost(const void *params, const struct mech_machine *machine, struct mech_cost *cost);
uint32_t parts_cache_sms(const void *params, uint32_t sm_count);
size_t parts_helper(const void *params, struct mech_helper *helper, char *ptx, size_t room);

/* ---- sets (morpheus_sets.c) ---- */

/* The hooks slice_init, keeps_line and on_host_write. */
void sets_init(void *state, const void *params, const struct mech_slice_ports *ports);
bool sets_keeps_line(void *state, uint64_t number);
void sets_on_host_write(void *state, uint64_t line, uint64_t number);
/* The set of a line, by its number; NULL: it is the slice's own. */
struct set *sets_find(const struct morpheus *m, uint64_t number);
/* The shape of the predictor. */
struct morpheus_filter_shape sets_filter_shape(const struct morpheus_params *p, uint32_t sets);
/* A request for the block goes into the queue, or its insertion does: it will be the newest of its set. */
void sets_use(struct morpheus *m, struct set *s, struct request *r);
/* The block of a request was there. */
void sets_found(struct morpheus *m, struct set *s, const struct request *r);
/* A set has allotted its rows to the levels of compression. */
void sets_report(struct morpheus *m, const struct set *s, const struct morpheus_report *r);
/* The set has lost its blocks. */
void sets_clear(struct morpheus *m, struct set *s);
/* The tag of a request's block. */
uint32_t sets_tag(const struct morpheus *m, uint64_t line);
/* Is the block there, as the predictor knows? */
bool sets_predict(const struct morpheus *m, const struct set *s, uint32_t tag);

/* ---- the warp status table and the data buffers (morpheus_table.c) ---- */

struct morpheus_row *table_row(const struct morpheus *m, const struct set *s);
/* Answers a load of the window. */
void table_answer(const struct morpheus *m, uint32_t token);
/* s->current, or the request to exit, goes to the warp, whose load of its row waits. */
void table_give_request(struct morpheus *m, struct set *s);
void table_give_exit(struct morpheus *m, struct set *s);
/* The warp has sent a victim, and is told to go on. */
void table_go_on(struct morpheus *m, struct set *s);
/* Loads of the data buffer, and of what an atomic adds. */
void table_load_data(struct morpheus *m, struct set *s, uint32_t token);
void table_load_sums(struct morpheus *m, const struct set *s, uint32_t token);
/* Are the bytes in the set's read data buffer those of the line? */
bool table_is_memory(const struct morpheus *m, const struct set *s, uint64_t line);

/* ---- lists (morpheus_lists.c) ---- */

/* Not bounded: they grow by chunks. request_new copies. */
struct request *request_new(struct morpheus *m, const struct request *from);
void request_free(struct morpheus *m, struct request *r);
void request_append(struct request **first, struct request **last, struct request *r);
/* Is it answered with an earlier one for its line (morpheus.join)? */
bool request_join(struct morpheus *m, const struct set *s, struct request *r);
void request_give_slot(struct morpheus *m, struct request *r);
/* Answers it and those that have joined it. */
void request_end(struct morpheus *m, struct request *r);
/* The line that is on its way to a set; NULL: it is not. */
struct fetch *fetch_find(const struct set *s, uint64_t line);
/* A line that is on its way from now on; `tag` names it for DRAM. */
struct fetch *fetch_add(struct morpheus *m, struct set *s, uint64_t line);
struct fetch *fetch_at(const struct morpheus *m, uint32_t tag);
/* It has come: *f stays as it is until the next fetch_add. */
void fetch_remove(struct morpheus *m, struct fetch *f);

#endif
