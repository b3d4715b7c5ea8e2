/* occupancy.c: known from the CUDA Occupancy Calculator: a CTA takes warps = ceil(threads / 32); registers
 * are handed to warps in units and each of the SM's sub-partitions has its share of them; shared memory is
 * handed out in units. Fermi has two sub-partitions, every later machine four.
 *
 * GPGPU-Sim 3.2.2 (shader_core_config::max_cta) rounds the registers of a thread up to 4 and has neither
 * sub-partitions nor units of shared memory. With units of 128 registers, one sub-partition and units of one
 * byte the rules here are its rules. */
#include "core/occupancy.h"

struct occupancy_registers occupancy_registers_of(const struct machine *m)
{
    return (struct occupancy_registers){m->sm_registers, m->sm_register_unit, m->sm_register_partitions};
}

uint32_t occupancy_warp_registers(struct occupancy_registers r, uint32_t thread_registers)
{
    return (uint32_t)round_up_u64((uint64_t)MAX(thread_registers, 1u) * ISA_LANES, r.unit);
}

uint32_t occupancy_warps(struct occupancy_registers r, uint32_t thread_registers)
{
    assert(r.partitions);
    return r.count / r.partitions / occupancy_warp_registers(r, thread_registers) * r.partitions;
}

uint32_t occupancy_warps_by_registers(const struct machine *m, const struct isa_kernel *k)
{
    return occupancy_warps(occupancy_registers_of(m), k->reg_count);
}

uint64_t occupancy_shared(const struct machine *m, uint64_t shared_bytes)
{
    return round_up_u64(shared_bytes + m->cta_shared_reserved_bytes, m->sm_shared_unit);
}

/* Among equal bounds the first is named: slots of the scheduler before registers and shared memory. */
struct occupancy occupancy_of(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                              uint64_t shared_bytes, uint64_t sm_shared)
{
    uint32_t warps = (threads + ISA_LANES - 1) / ISA_LANES;
    if (!warps) return (struct occupancy){0, "threads"};
    uint64_t shared = occupancy_shared(m, shared_bytes);
    const struct {
        const char *name;
        uint64_t ctas;
    } bounds[] = {{"warps", m->sm_warps / warps},
                  {"threads", m->sm_threads / (warps * ISA_LANES)},
                  {"ctas", m->sm_ctas},
                  {"registers", occupancy_warps_by_registers(m, k) / warps},
                  {"shared", shared ? sm_shared / shared : UINT32_MAX}};
    uint32_t least = 0;
    for (uint32_t i = 1; i < ARRAY_LEN(bounds); i++)
        if (bounds[i].ctas < bounds[least].ctas) least = i;
    return (struct occupancy){(uint32_t)bounds[least].ctas, bounds[least].name};
}

uint32_t occupancy_ctas_within(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                               uint64_t shared_bytes, uint64_t sm_shared)
{
    return occupancy_of(m, k, threads, shared_bytes, sm_shared).ctas;
}

uint32_t occupancy_ctas(const struct machine *m, const struct isa_kernel *k, uint32_t threads,
                        uint64_t shared_bytes)
{
    return occupancy_ctas_within(m, k, threads, shared_bytes, m->sm_shared_bytes);
}
