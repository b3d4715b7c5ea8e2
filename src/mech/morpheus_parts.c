/* morpheus_parts.c: what the parameters of Morpheus ask of a machine: SMs in cache mode, the helper kernel
 * with a part for each store that has warps (Morpheus, section 5), and the storage of a controller. */
#include "mech/morpheus_state.h"

#include <stdio.h>

static const char *const entries[MORPHEUS_STORES] = {"extended_llc_registers", "extended_llc_l1",
                                                     "extended_llc_shared"};

uint32_t parts_warps(const struct morpheus_params *p)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < MORPHEUS_STORES; i++) sum += p->warps[i];
    return sum;
}

uint32_t parts_warps_before(const struct morpheus_params *p, enum morpheus_store store)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < (uint32_t)store; i++) sum += p->warps[i];
    return sum;
}

bool parts_compress(const struct morpheus_params *p, enum morpheus_store store)
{
    return p->compression && store != MORPHEUS_L1;
}

/* Why the parameters do not fit together; NULL: they do. */
static const char *refuse(const struct morpheus_params *p)
{
    if (!parts_warps(p))
        return "morpheus.warps, morpheus.l1_warps and morpheus.shared_warps are 0: no warp is left for a set";
    if (!p->compression) return choose_refuses(p);
    if (p->predictor == PREDICTOR_PERFECT)
        return "morpheus.predictor=perfect needs sets that replace by LRU alone: leave morpheus.compression "
               "out";
    for (uint32_t i = 0; i < MORPHEUS_STORES; i++)
        if (p->warps[i] && parts_compress(p, (enum morpheus_store)i) &&
            p->blocks[i] > MORPHEUS_COMPRESSED_ROWS_MAX)
            return "a set of compressed blocks has at most 32 rows: morpheus.blocks, morpheus.shared_blocks";
    return choose_refuses(p);
}

/* 4.1.3: 75% of the SMs. */
static uint32_t cache_sms_max(const struct mech_machine *machine) { return machine->sm_count * 3 / 4; }

enum mech_fit parts_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct morpheus_params *p = params;
    const uint32_t most = cache_sms_max(machine);
    const struct morpheus_filter_shape shape = sets_filter_shape(p, 1);
    const char *refusal = morpheus_filter_refuses(&shape);
    if (p->cache_sms > most)
        snprintf(reason, MECH_REASON_BYTES,
                 "morpheus.cache_sms is %u; at most 75%% of the SMs, %u of %u, can be in cache mode",
                 p->cache_sms, most, machine->sm_count);
    else if (refuse(p))
        snprintf(reason, MECH_REASON_BYTES, "%s", refuse(p));
    else if (parts_warps(p) > machine->warps)
        snprintf(reason, MECH_REASON_BYTES,
                 "morpheus.warps, morpheus.l1_warps and morpheus.shared_warps are %u, and an SM has %u warps",
                 parts_warps(p), machine->warps);
    else if (refusal)
        snprintf(reason, MECH_REASON_BYTES, "morpheus.filter_bytes, morpheus.filter_hashes: %s", refusal);
    else
        return MECH_FITS;
    return MECH_MISFIT;
}

/* Section 7.5 gives 5 KiB a partition and no fields. Taken here: a slot of the queue has the address of a
 * line (27 bits of 10 GiB), the operation, the set and the slot behind it; a row of the table has the
 * operation, the state of the warp, and pointers to its request and its data. Data of writes that wait is not
 * counted: 128 of them would take 16 KiB of a slice. Nor are the buffers of each warp, MSHRs and requests
 * that wait for DRAM, which the paper's sum has no room for (docs/papers.md, Morpheus). */
enum { QUEUE_SLOT_BITS = 48, STATUS_ROW_BITS = 40 };

/* 7.5: a controller has room for as many sets as there can be. */
void parts_cost(const void *params, const struct mech_machine *machine, struct mech_cost *cost)
{
    const struct morpheus_params *p = params;
    const uint32_t most = cache_sms_max(machine) * parts_warps(p);
    const uint32_t sets = (most + machine->l2_slices - 1) / machine->l2_slices;
    mech_cost_add(cost, MECH_EACH_SLICE, "filters", 2 * sets, 8 * p->filter_bytes, "Bloom filters");
    mech_cost_add(cost, MECH_EACH_SLICE, "queue", p->queue, QUEUE_SLOT_BITS, "request queue");
    mech_cost_add(cost, MECH_EACH_SLICE, "status", sets, STATUS_ROW_BITS, "warp status table");
    mech_cost_add(cost, MECH_EACH_SLICE, "buffers", p->inserts, 32 * MORPHEUS_LINE_WORDS,
                  "data buffers of insertions");
    choose_cost(p, cost);
}

uint32_t parts_cache_sms(const void *params, uint32_t sm_count)
{
    return ((const struct morpheus_params *)params)->cache_sms;
}

static struct mech_helper_part part_of(const struct morpheus_params *p, enum morpheus_store store)
{
    const uint32_t line_bytes = MORPHEUS_LINE_WORDS * sizeof(uint32_t);
    return (struct mech_helper_part){
        .entry = entries[store],
        .warps = p->warps[store],
        .shared_bytes = store == MORPHEUS_SHARED ? p->blocks[store] * line_bytes : 0,
        .local_bytes = store == MORPHEUS_L1 ? p->blocks[store] * (uint32_t)sizeof(uint32_t) : 0};
}

static struct morpheus_kernel kernel_of(const struct morpheus_params *p, enum morpheus_store store)
{
    return (struct morpheus_kernel){.entry = entries[store],
                                    .store = store,
                                    .blocks = p->blocks[store],
                                    .indirect_move = p->indirect_move && store == MORPHEUS_REGISTERS,
                                    .is_compressed = parts_compress(p, store),
                                    .epoch = p->epoch,
                                    .flushes = p->choose == CHOOSE_ONLINE};
}

size_t parts_helper(const void *params, struct mech_helper *helper, char *ptx, size_t room)
{
    const struct morpheus_params *p = params;
    struct morpheus_kernel kernels[MORPHEUS_STORES];
    *helper = (struct mech_helper){.window_lines = MORPHEUS_WINDOW_LINES, .window_loads = 2};
    for (uint32_t i = 0; i < MORPHEUS_STORES; i++) {
        if (!p->warps[i]) continue;
        kernels[helper->part_count] = kernel_of(p, (enum morpheus_store)i);
        helper->parts[helper->part_count++] = part_of(p, (enum morpheus_store)i);
    }
    return morpheus_kernels(kernels, helper->part_count, ptx, room);
}
