/* morpheus_rows.c: the parameters and statistics of Morpheus. */
#include "mech/cost.h"
#include "mech/morpheus_state.h"

static const char *const predictors[] = {"bloom", "perfect", "none", NULL};
static const char *const chooses[] = {"fixed", "online", NULL};

const struct param_row morpheus_params[] = {
    PARAM_NUMBER(
        morpheus_params, cache_sms, "morpheus.cache_sms", "SMs", "0", 0, 1024,
        "SMs in cache mode, at most 75% of all (4.1.3); with morpheus.choose=online the most of them"),
    PARAM_CHOICE(morpheus_params, choose, "morpheus.choose", "fixed", chooses,
                 "online: how many SMs are in cache mode is found while the program runs, between launches"),
    PARAM_NUMBER(morpheus_params, start, "morpheus.start", "SMs", "0", 0, 1024,
                 "online: SMs in cache mode at first"),
    PARAM_NUMBER(morpheus_params, step, "morpheus.step", "SMs", "16", 1, 1024,
                 "online: the first step of the search; halved when both neighbours are slower"),
    PARAM_NUMBER(morpheus_params, step_min, "morpheus.step_min", "SMs", "4", 1, 1024,
                 "online: the smallest step; behind it the choice stays as it is"),
    PARAM_NUMBER(morpheus_params, margin, "morpheus.margin", "%", "2", 0, 100,
                 "online: another number of SMs must be faster by this much"),
    PARAM_NUMBER(
        morpheus_params, dram_low, "morpheus.dram_low", "%", "25", 0, 100,
        "online: where DRAM has data on its bus for less of the time, no more SMs are put into cache "
        "mode"),
    PARAM_NUMBER(morpheus_params, warps[MORPHEUS_REGISTERS], "morpheus.warps", "warps", "32", 0, 256,
                 "warps on each of them that keep blocks in registers; each is a set"),
    PARAM_NUMBER(morpheus_params, blocks[MORPHEUS_REGISTERS], "morpheus.blocks", "blocks", "32", 1,
                 MORPHEUS_BLOCKS_MAX, "blocks of such a set, each in a register of its warp"),
    PARAM_NUMBER(morpheus_params, warps[MORPHEUS_L1], "morpheus.l1_warps", "warps", "16", 0, 256,
                 "warps on each of them that keep blocks in the L1"),
    PARAM_NUMBER(morpheus_params, blocks[MORPHEUS_L1], "morpheus.l1_blocks", "blocks", "60", 1,
                 MORPHEUS_BLOCKS_MAX, "blocks of such a set, each in a line of the L1"),
    PARAM_NUMBER(morpheus_params, warps[MORPHEUS_SHARED], "morpheus.shared_warps", "warps", "0", 0, 256,
                 "warps on each of them that keep blocks in shared memory"),
    PARAM_NUMBER(morpheus_params, blocks[MORPHEUS_SHARED], "morpheus.shared_blocks", "blocks", "48", 1,
                 MORPHEUS_BLOCKS_MAX, "blocks of such a set"),
    PARAM_FLAG(morpheus_params, indirect_move, "morpheus.indirect_move", "false",
               "the kernel reads registers by imov, which the machine must have: sm.indirect_move (4.3.2)"),
    PARAM_FLAG(morpheus_params, compression, "morpheus.compression", "false",
               "the kernel compresses blocks in registers and in shared memory: morpheus.blocks and "
               "morpheus.shared_blocks are then rows that hold 1, 2 or 4 of them (4.3.1)"),
    PARAM_NUMBER(morpheus_params, epoch, "morpheus.epoch", "cycles", "10000", 1, 1000000000,
                 "after these a set allots its rows to the levels of compression again"),
    PARAM_CHOICE(morpheus_params, predictor, "morpheus.predictor", "bloom", predictors,
                 "bloom: two filters a set (4.1.2); perfect; none: every request is looked up (7.3)"),
    PARAM_NUMBER(morpheus_params, filter_bytes, "morpheus.filter_bytes", "bytes", "32", 1,
                 MORPHEUS_FILTER_BYTES_MAX, "a Bloom filter, a power of two"),
    PARAM_NUMBER(morpheus_params, filter_hashes, "morpheus.filter_hashes", "bits", "4", 1,
                 MORPHEUS_FILTER_HASHES_MAX, "bits that a block sets in a Bloom filter"),
    PARAM_NUMBER(morpheus_params, inserts, "morpheus.inserts", "blocks", "4", 1, 65536,
                 "blocks of a slice that may wait to be inserted; more are not inserted (4.1.3 gives no "
                 "number; of 64, 16 and 4 the fastest)"),
    PARAM_NUMBER(
        morpheus_params, queue, "morpheus.queue", "requests", "128", 1, 65536,
        "slots of a slice's request queue; while all are taken the slice takes no request that needs "
        "one (4.1.3 gives no number; 512 slots of 6 bytes take 3 of the 5 KiB of a partition)"),
    PARAM_FLAG(morpheus_params, joins, "morpheus.join", "true",
               "a read is answered with an earlier one of its line that waits for the warp or is with it, a "
               "write or atomic with one that waits; false: each by itself"),
    PARAM_NUMBER(
        morpheus_params, mshrs, "morpheus.mshrs", "lines", "192", 1, 65536,
        "lines that a slice's extended LLC may wait for, as l2.mshrs are for its own; what was looked "
        "up in vain goes beyond it"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(morpheus, field, "morpheus." #field, unit, help, NULL)
const struct stat_row morpheus_stats[] = {
    COUNT(requests, "requests", "requests of the extended LLC"),
    COUNT(predicted_hits, "requests", "those that the predictor calls hits"),
    COUNT(predicted_misses, "requests", "those that go to DRAM"),
    COUNT(merged, "requests", "those that wait for a line which is on its way from DRAM"),
    COUNT(joined, "requests", "requests that were answered with an earlier one for their line"),
    COUNT(hits, "requests", "requests that find their block in the extended LLC"),
    STAT_RATIO(morpheus, hits, requests, "morpheus.hit_share", "requests",
               "share of its requests that the extended LLC answers", NULL),
    COUNT(false_hits, "requests", "requests that were looked up in vain"),
    COUNT(false_negatives, "requests", "requests that went to DRAM though their block was there"),
    COUNT(swaps, "swaps", "swaps of a set's two Bloom filters"),
    COUNT(inserts, "blocks", "blocks that were inserted"),
    COUNT(bypasses, "lines", "lines that were not inserted, because too many waited for it"),
    COUNT(dirty_evictions, "blocks", "dirty blocks that left and were written to DRAM"),
    COUNT(atomics, "requests", "atomics that the helper made"),
    COUNT(clears, "sets", "sets that a host copy emptied"),
    COUNT(flushed, "blocks", "dirty blocks that were written to DRAM before SMs changed their roles"),
    COUNT(
        stale_victims, "blocks",
        "dirty blocks that left, replaced or flushed, and were older than memory: a store or copy to it was "
        "under way"),
    COUNT(allotments, "allotments", "times that a set allotted its rows to the levels of compression"),
    COUNT(rows_none, "rows", "rows that were then left uncompressed, summed over these"),
    COUNT(rows_low, "rows", "rows that were then at the low level: two blocks each"),
    COUNT(rows_high, "rows", "rows that were then at the high level: four blocks each"),
    COUNT(slots, "blocks", "blocks that sets could hold then, summed over these"),
    STAT_RATIO(morpheus, slots, allotments, "morpheus.set_blocks", "blocks",
               "average of the blocks that a set can hold after an allotment", NULL),
    COUNT(stored_none, "blocks",
          "blocks of no level that were counted at allotments; what was counted before an epoch weighs half"),
    COUNT(stored_low, "blocks", "blocks that could be compressed to 64 bytes, counted in the same way"),
    COUNT(stored_high, "blocks", "blocks that could be compressed to 32 bytes, counted in the same way"),
    COUNT(served, "requests", "requests and insertions that warps have served"),
    COUNT(service_cycles, "cycles", "time from the warp status table to the result, summed over these"),
    STAT_RATIO(morpheus, service_cycles, served, "morpheus.service", "cycles",
               "average time from the warp status table to the result", NULL),
    COUNT(turns, "requests", "requests and insertions after which the warp has asked for the next one"),
    COUNT(turn_cycles, "cycles", "time from the warp status table to the next load of it, summed over these"),
    STAT_RATIO(morpheus, turn_cycles, turns, "morpheus.turn", "cycles",
               "average time that a request keeps its warp from the next one", NULL),
    COUNT(queue_cycles, "cycles", "time in the request queue, summed over what warps have got from it"),
    STAT_RATIO(morpheus, queue_cycles, served, "morpheus.queue_wait", "cycles",
               "average time in the request queue", NULL),
    COUNT(queue_found, "requests",
          "taken slots of its slice's request queue, summed over requests that come"),
    STAT_RATIO(morpheus, queue_found, requests, "morpheus.queue_length", "requests",
               "taken slots of a slice's request queue that a request finds", NULL),
    STAT_LARGEST(morpheus, queue_max, "morpheus.queue_max", "requests",
                 "most slots of a request queue that were taken at once"),
    COUNT(messages, "requests", "loads and stores of the window: warp status table and data buffers"),
    COUNT(data_sectors, "sectors", "of these, 32-byte sectors of the data buffers"),
    COUNT(read_hits, "requests", "reads that hit"),
    COUNT(stale_reads, "requests",
          "reads that hit whose block was older than memory: a store or copy to it was under way"),
    COUNT(read_cycles, "cycles", "time from the tags of the slice to the answer, summed over reads that hit"),
    STAT_RATIO(morpheus, read_cycles, read_hits, "morpheus.read_latency", "cycles",
               "average time of a read that hits, from the tags of the slice to its answer", NULL),
    {0},
};

/* The tables of 7.5: 4 KiB of filters a slice, and little more than 1 KiB for all else. */
const struct energy_row morpheus_energy[] = {
    ENERGY_PJ("morpheus.filters", "morpheus.requests", COST_LARGE_TABLE_PJ, "look-up of the Bloom filters"),
    ENERGY_PJ("morpheus.status", "morpheus.messages", COST_LARGE_TABLE_PJ, "access to the warp status table"),
    ENERGY_PJ("morpheus.buffers", "morpheus.data_sectors", COST_LARGE_TABLE_PJ,
              "32 bytes to a data buffer, or from it"),
    {0},
};
