/* step.h: the emulator one instruction at a time, for the timing model, which chooses the warp that runs
 * next. The same code executes as in emu_run.
 *
 * Life: emu_grid_open -> emu_cta_open for each CTA that becomes resident -> emu_warp_step until every warp is
 * EMU_WARP_DONE -> emu_cta_close -> emu_grid_close. Several grids may be open at once. Steps and atomics are
 * made in the default floating-point environment, which the caller enters once around many of them. */
#ifndef HEDDLE_EMU_STEP_H
#define HEDDLE_EMU_STEP_H

#include <fenv.h>

#include "base/event_flag.h"
#include "emu/emu.h"

struct emu_grid;
struct cta;
struct warp;

/* The host program may round otherwise or flush denormals (-ffast-math): results must not depend on it. */
void emu_env_enter(fenv_t *host);
void emu_env_leave(const fenv_t *host);

/* NULL: refused. The launch and its parameters are copied; *fault must live as long as the grid. */
struct emu_grid *emu_grid_open(struct emu_device *d, const struct emu_launch *l, struct emu_fault *fault);
/* Ends the CTAs that are still open and makes the atomics that are still deferred. stats may be NULL. */
void emu_grid_close(struct emu_grid *g, struct emu_stats *stats);
/* Its params are the block in device memory. */
const struct emu_launch *emu_grid_launch(const struct emu_grid *g);
/* No two grids of a device share an id; they may share an address, one after the other. */
uint64_t emu_grid_id(const struct emu_grid *g);
uint64_t emu_grid_ctas(const struct emu_grid *g);
/* Per CTA, static and dynamic. */
uint32_t emu_grid_shared_bytes(const struct emu_grid *g);
/* Per thread. */
uint32_t emu_grid_local_bytes(const struct emu_grid *g);
/* Does the address lie in memory that the host has allocated on the grid's device? Memory of device malloc
 * does not count, since grids allocate and free it while they run. */
bool emu_grid_has_memory(const struct emu_grid *g, uint64_t address);
/* What %clock and %globaltimer show, read at each use; NULL (the default): instructions executed. */
void emu_grid_clock(struct emu_grid *g, const uint64_t *cycles, const uint64_t *ns);

/* The SMs of a machine, stepped by several threads. What the warps of an SM do to device memory goes into its
 * log and takes effect when emu_log_apply is called, while no SM is stepped; loads of the SM see it before.
 * The caller owns the logs: an SM has one for all grids. emu_grid_share comes before the first CTA; only one
 * thread at a time may open or close CTAs and grids. `written` is set when something is logged. */
struct emu_log *emu_log_create(struct event_flag *written);
void emu_log_destroy(struct emu_log *log);
bool emu_log_is_empty(const struct emu_log *log);
/* False: a call of the device runtime faulted. */
bool emu_log_apply(struct emu_log *log);
void emu_grid_share(struct emu_grid *g, struct emu_log *const *logs, uint32_t sm_count);
/* The fault of the first SM that has one becomes the grid's. */
void emu_grid_find_fault(struct emu_grid *g);

/* sm: what %smid says, and with emu_grid_share whose log is written. NULL: the host has no memory for it (a
 * fault). */
struct cta *emu_cta_open(struct emu_grid *g, uint64_t linear, uint32_t sm);
/* Results of deferred atomics are dropped. */
void emu_cta_close(struct cta *c);
/* Its number in the grid. */
uint64_t emu_cta_linear(const struct cta *c);
uint32_t emu_cta_warps(const struct cta *c);
struct warp *emu_cta_warp(struct cta *c, uint32_t index);

enum emu_warp_state {
    EMU_WARP_READY,
    EMU_WARP_AT_BARRIER,
    /* lanes wait for other lanes of the warp */
    EMU_WARP_AT_SYNC,
    EMU_WARP_DONE
};
enum emu_warp_state emu_warp_state(const struct warp *w);
/* Instructions that the warp has executed. */
uint64_t emu_warp_insts(const struct warp *w);

/* The instruction that the next step executes (its pc in *pc, active lanes before the guard in *mask). Only
 * when READY. Lanes that wait for the others at a reconvergence point have been brought together, so the
 * answer stays until the step. */
const struct isa_inst *emu_warp_peek(struct warp *w, uint32_t *pc, uint32_t *mask);

/* The host fetches what the next step will touch: these registers; the memory of a load from global memory.
 * Only when READY. */
void emu_warp_expect(const struct warp *w, const uint8_t *registers, uint32_t count);
void emu_warp_expect_load(const struct warp *w);

/* The PCs at which parts of the warp go on: of each leaf, of lanes that wait at a reconvergence point, and of
 * the callers of both; distinct. How many there are; at most max are written. */
uint32_t emu_warp_pcs(const struct warp *w, uint32_t *pcs, uint32_t max);
/* The registers that are not in the set have lost their values: all lanes are overwritten. */
void emu_warp_lose(struct warp *w, const isa_live_set *kept);

/* The most texels that one lane reads: linear filtering of a volume. */
enum { EMU_TEXELS_MAX = 8 };
struct emu_texels {
    uint64_t addr[ISA_LANES][EMU_TEXELS_MAX];
    /* 0: the border only */
    uint8_t count[ISA_LANES];
};

/* What a step did beyond registers; fields that every instruction fills come first. */
struct emu_access {
    const struct isa_inst *inst;
    uint32_t pc;
    /* Lanes that executed: active and guard true; 0 = nothing happened but time. For cp.async,
     * prefetch and surfaces only the lanes that access device memory. */
    uint32_t mask;
    /* enum isa_space, generic resolved: GLOBAL, SHARED, LOCAL, CONST, PARAM; ISA_GENERIC = no memory access.
     * When lanes of one generic access differ in space it is the first lane's. */
    uint8_t space;
    bool is_store, is_atomic, is_texture, is_prefetch, is_bulk;
    /* Copies arrive at an mbarrier when they have ended: emu_arrival_apply must be called once, when all
     * asynchronous copies that the warp has issued so far, this one included, have ended. */
    bool arrives;
    /* A global atomic that has not happened yet: emu_atomic_apply must be called for each lane of mask &
     * ~shared_lanes. is_late: it is a load of a privileged launch, which reads memory when it is applied. */
    bool deferred, is_late;
    /* per lane, vector included: 1 to 16 (32 for four 64-bit words) */
    uint8_t bytes;
    /* subsets of mask */
    uint32_t shared_lanes, local_lanes;
    /* the record of a deferred atomic */
    uint32_t atomic_record;
    /* imov: the register of its array that it read */
    uint8_t indirect;
    /* nanosleep: the longest that any lane asks for; other instructions 0 */
    uint32_t sleep_ns;
    /* For the lanes of mask: global, const and param: device address; shared: offset in the CTA's shared
     * memory; local: offset in the thread's local memory; texture: address of the first texel read, or of the
     * texture; cp.async: the address that it reads (it writes shared memory as well). */
    uint64_t addr[ISA_LANES];
    /* is_texture: all texels of the lanes of mask; bytes is the size of one */
    struct emu_texels texels;
    /* is_bulk: what each lane copies, from or to addr; bytes is 0 */
    uint32_t bulk_bytes[ISA_LANES];
};

/* Executes the next instruction. False: it faulted, or the CTA is in deadlock (the fault given to
 * emu_grid_open is filled). With defer_atomics, global atomics and reductions only record their operands; the
 * warp must not execute what reads their destination before they have been applied. A thread that fences,
 * waits at a barrier, frees memory or touches the same bytes makes its own atomics happen before that, so
 * that program order holds for every observer; emu_atomic_apply must still be called. */
bool emu_warp_step(struct warp *w, bool defer_atomics, struct emu_access *out);
/* Performs the lanes of a deferred atomic now, in ascending order, and writes their results into the
 * destination register. The record is freed when the last of its lanes is done. */
void emu_atomic_apply(struct emu_grid *g, uint32_t record, uint32_t lanes);
/* Makes the oldest arrival of the warp. False: it faulted. */
bool emu_arrival_apply(struct warp *w);
/* emu_atomic_apply for the time while SMs are stepped. */
void emu_atomic_log(struct emu_grid *g, uint32_t record, uint32_t lanes);

#endif
