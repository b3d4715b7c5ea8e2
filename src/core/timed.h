/* timed.h: the timed GPU: what the CUDA layer and the command line drive. Launches and copies are queued on streams; running them advances
 * the clock. */
#ifndef HEDDLE_TIMED_H
#define HEDDLE_TIMED_H

#include "base/diag.h"
#include "core/machine.h"
#include "emu/emu.h"
#include "stats/run.h"

#include <signal.h>

struct timed_gpu;
struct timed_progress {
    const char *kernel;
    uint64_t kernel_id, ctas, ctas_done, cycles, warp_insts;
    uint32_t kernels_running, kernels_queued;
};
struct timed_options {
    const char *const *mechs; /* names or ./file.so */
    uint32_t mech_count;
    const char *const *mech_settings; /* "swl.warps=4" */
    uint32_t mech_setting_count;
    bool no_skip;           /* tick every component every cycle */
    uint64_t sample_cycles; /* time series, 0 = none */
    uint32_t
        threads; /* that run the units of the machine; 0 and 1: the caller alone. The result is the same */
    bool threads_always; /* even where they do not pay, for tests */
    bool timeline;       /* keep the CTAs for timed_cta_at */
    const volatile sig_atomic_t
        *stop; /* set by a signal handler: the run ends with what it has so far; may be NULL */
    void (*progress)(void *ctx,
                     const struct timed_progress *p); /* called now and then while running; may be NULL */
    void *progress_ctx;
};
struct timed_gpu *timed_create(const struct machine *m, struct emu_device *d, const struct timed_options *o,
                               struct diag_list *diags);
void timed_destroy(struct timed_gpu *g);
void timed_set_device(struct timed_gpu *g,
                      struct emu_device *d); /* nothing may be queued: the device was reset */

/* Queues a launch on a stream (0 = default). The emu_launch is copied, params included. */
void timed_launch(struct timed_gpu *g, const struct emu_launch *l, uint64_t stream);
/* Runs until everything queued (on this stream; UINT64_MAX = on all) is done. EMU_OK or the fault. */
enum emu_fault_kind timed_sync(struct timed_gpu *g, uint64_t stream, struct emu_fault *fault);
bool timed_pending(const struct timed_gpu *g); /* something is queued or runs */

/* Work beside kernels, on any stream. Stream 0 waits for what other streams were given before it, and they for it, but those
 * that were declared non-blocking. */
void timed_stream_nonblocking(struct timed_gpu *g, uint64_t stream);
void timed_stream_end(struct timed_gpu *g, uint64_t stream); /* gets no more work; what it has still runs */
struct timed_copy {
    enum timed_copy_kind kind;
    uint64_t bytes;
    void (*perform)(void *ctx); /* moves the data, when the copy ends */
    void (*release)(void *ctx); /* once, afterwards, or when the copy never happens; may be NULL */
    void *ctx;
};
void timed_copy(struct timed_gpu *g, const struct timed_copy *c, uint64_t stream);
/* A mark is reached when all work before it on its stream has ended. Waiting for one holds a stream up; numbered from 1. */
uint64_t timed_mark(struct timed_gpu *g, uint64_t stream);
void timed_wait_mark(struct timed_gpu *g, uint64_t stream, uint64_t mark);
bool timed_mark_reached(const struct timed_gpu *g, uint64_t mark, uint64_t *ns);
enum emu_fault_kind timed_sync_mark(struct timed_gpu *g, uint64_t mark, struct emu_fault *fault);

uint64_t timed_cycles(const struct timed_gpu *g); /* core cycles so far */
uint64_t timed_now_ns(const struct timed_gpu *g);
void timed_host_copy(struct timed_gpu *g, uint64_t address,
                     uint64_t bytes); /* a host-to-device copy: fills L2 where the machine says so */

uint32_t timed_kernel_count(const struct timed_gpu *g);
const struct timed_kernel *timed_kernel_at(const struct timed_gpu *g, uint32_t i);
const struct emu_stats *timed_kernel_emu(const struct timed_gpu *g,
                                         uint32_t i); /* what it executed; zeros when it is partial */
uint32_t timed_groups(const struct timed_gpu *g, const struct timed_group **out);
bool timed_is_own(const struct timed_group *group,
                  const struct stat_row *row); /* see timed_kernel.overlapped */
void **timed_totals(
    const struct timed_gpu *g); /* of the run so far, one struct for each group; free with timed_free_stats */
void timed_free_stats(const struct timed_gpu *g, void **stats);
uint64_t timed_hash(const struct timed_gpu *g); /* of all cycle counts and statistics */
const struct machine *timed_machine(const struct timed_gpu *g);
bool timed_partial(const struct timed_gpu *g);       /* ended by a fault, a stop or a stuck machine */
const char *timed_report(const struct timed_gpu *g); /* why it ended, in many lines; "" = it did not */

/* Is there a time series (timed_options.sample_cycles)? */
bool timed_has_samples(const struct timed_gpu *g);
/* The time series: what happened in each interval of sample_cycles core cycles (the last may be shorter). */
uint32_t timed_sample_count(const struct timed_gpu *g);
const struct timed_sample *timed_sample_at(const struct timed_gpu *g, uint32_t i);

/* When each CTA ran, in the order of their ends (timed_options.timeline). */
uint32_t timed_cta_count(const struct timed_gpu *g);
const struct timed_cta *timed_cta_at(const struct timed_gpu *g, uint32_t i);

/* Copies that took time, in the order of their ends (timed_options.timeline). */
uint32_t timed_transfer_count(const struct timed_gpu *g);
const struct timed_transfer *timed_transfer_at(const struct timed_gpu *g, uint32_t i);

/* All of this, gathered and given to a printer (stats/print.h, trace/timeline.h). */
struct stats_view;
void timed_print(struct timed_gpu *g, void (*print)(const struct stats_view *, struct strbuf *),
                 struct strbuf *out);

/* SMs and L2 slices one by one, for what is kept for each. */
struct sm;
uint32_t timed_sm_count(const struct timed_gpu *g);
struct sm *timed_sm_at(const struct timed_gpu *g, uint32_t i);
uint32_t timed_slice_count(const struct timed_gpu *g);
void *timed_slice_stats(const struct timed_gpu *g, uint32_t i);

#endif
