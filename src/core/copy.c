/* copy.c: copy engines: they move data between host and device while SMs work.
 *
 * A copy takes a start-up latency and then its bytes at the bandwidth of its direction. One engine does
 * one copy at a time. With two engines the directions are apart (CUDA: asyncEngineCount 2, the link is
 * full duplex); a third one is for copies on the device and fills. Left out: copies take no bandwidth of
 * DRAM and L2 away from kernels. */
#include "core/copy.h"

#include "core/machine.h"
#include "core/stream.h"

const struct param_row copy_param_rows[] = {
    PARAM_FLAG(
        copy_params, timed, "copy.timed", "false",
        "copies and fills occupy a copy engine for a time; false: one is done as soon as its turn has come"),
    PARAM_NUMBER(
        copy_params, engines, "copy.engines", "engines", "2", 1, COPY_ENGINES_MAX,
        "copy engines: 1 for all copies; 2: one for each direction; 3: one more for copies on the device"),
    PARAM_NUMBER(copy_params, to_device, "copy.to_device", "MB/s", "6000", 1, 1u << 30,
                 "bandwidth from host to device (10^6 bytes a second)"),
    PARAM_NUMBER(copy_params, to_host, "copy.to_host", "MB/s", "6000", 1, 1u << 30,
                 "bandwidth from device to host (10^6 bytes a second)"),
    PARAM_NUMBER(copy_params, on_device, "copy.on_device", "MB/s", "80000", 1, 1u << 30,
                 "bytes written a second by copies on the device and fills (10^6 bytes a second)"),
    PARAM_NUMBER(copy_params, latency_ns, "copy.latency", "ns", "3000", 0, 1u << 30,
                 "time from a copy's turn to its first byte"),
    {0},
};

uint32_t copy_engine(const struct machine *m, enum timed_copy_kind kind)
{
    static const uint32_t engine[] = {
        [COPY_TO_DEVICE] = 0, [COPY_TO_HOST] = 1, [COPY_ON_DEVICE] = 2, [COPY_ON_HOST] = 0};
    return engine[kind] < m->copy.engines ? engine[kind] : 0;
}

/* khz cycles a millisecond and MB/s: bytes * khz / (1000 * rate) cycles. 2^37 bytes of memory times 2^26
 * kHz fit. */
uint64_t copy_cycles(const struct machine *m, const struct timed_copy *c)
{
    const struct copy_params *p = &m->copy;
    const uint32_t rates[] = {[COPY_TO_DEVICE] = p->to_device,
                              [COPY_TO_HOST] = p->to_host,
                              [COPY_ON_DEVICE] = p->on_device,
                              [COPY_ON_HOST] = p->on_device};
    if (!p->timed || c->kind == COPY_ON_HOST) return 0; /* the host's own memory is not modelled */
    uint64_t per = (uint64_t)rates[c->kind] * 1000;
    uint64_t moving = (c->bytes * m->core_clock_khz + per - 1) / per;
    return (uint64_t)p->latency_ns * m->core_clock_khz / 1000000 + moving;
}
