/* emu.h: running kernels functionally, and the pieces that the timing model drives.
 *
 * A *device* owns memory, loaded modules and the texture table; a *launch* is one grid; the result is either
 * success or a *fault* that names kernel, source line, CTA, thread and address. */
#ifndef HEDDLE_EMU_H
#define HEDDLE_EMU_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "emu/space.h"
#include "isa/isa.h"

/* libheddle.so exports these symbols to libcudart and libcuda. */
#pragma GCC visibility push(default)

/* Limits of the modelled device. */
struct emu_limits {
    /* 1024 */
    uint32_t threads_per_cta_max;
    /* 2^31-1, 65535, 65535 */
    uint32_t grid_max[3];
    /* 1024, 1024, 64 */
    uint32_t block_max[3];
    /* bytes, static + dynamic (opt-in limit) */
    uint32_t shared_per_cta_max;
    /* 65536 */
    uint32_t regs_per_cta_max;
    uint32_t sm_count;
    /* per thread, for real calls: cudaLimitStackSize */
    uint32_t stack_bytes;
    /* device malloc: cudaLimitMallocHeapSize */
    uint64_t heap_bytes;
    /* per warp; 0 = no limit. Past it the launch faults as an endless loop */
    uint64_t warp_insts_max;
    uint32_t clock_khz;
};

struct emu_device;
struct emu_module;

struct emu_device *emu_device_create(const struct emu_limits *limits, uint64_t memory_bytes);
void emu_device_destroy(struct emu_device *d);
struct space *emu_device_space(struct emu_device *d);
struct emu_limits *emu_device_limits(struct emu_device *d);
/* Where device printf and assert messages go; default: stdout and stderr of the process. */
void emu_device_on_output(struct emu_device *d,
                          void (*write)(void *ctx, bool is_error, const char *text, size_t len), void *ctx);

/* From now on emu_run looks for accesses that race, and writes each pair of instructions that it finds where
 * messages go (docs/emulator.md). */
void emu_device_find_races(struct emu_device *d);
/* Pairs found so far. */
uint64_t emu_device_races(const struct emu_device *d);
/* One line that says how many pairs were found. */
void emu_race_summary(uint64_t pairs, struct strbuf *out);

/* Places the module's variables in device memory and resolves addresses. `externs` (may be NULL) resolves
 * symbols that the module declares extern. Takes ownership of isa. NULL on error. */
struct emu_module *emu_module_load(struct emu_device *d, struct isa_module *isa,
                                   uint64_t (*externs)(void *ctx, const char *name), void *ctx,
                                   struct diag_list *diags);
void emu_module_unload(struct emu_device *d, struct emu_module *m);
/* Adds the one kernel of `isa`, made of the same PTX as the module, as a further variant of the module's
 * kernel of this name: it uses the module's variables. emu_find_kernel does not find it. Takes ownership of
 * isa. NULL on error. */
const struct isa_kernel *emu_module_add_variant(struct emu_module *m, struct isa_module *isa,
                                                struct diag_list *diags);
const struct isa_module *emu_module_isa(const struct emu_module *m);
const struct isa_kernel *emu_find_kernel(const struct emu_module *m, const char *name);
bool emu_find_var(const struct emu_module *m, const char *name, uint64_t *address, uint64_t *bytes);

struct emu_launch {
    struct emu_module *module;
    const struct isa_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_dynamic_bytes;
    /* the parameter block, kernel->param_bytes long, laid out by isa_param.offset */
    const void *params;
    /* all CTAs resident together; grid.sync works */
    bool cooperative;
    /* 1 + percent of an SM's shared memory that the program would like to have; 0 = no wish. Only
     * the timing model uses it. */
    uint32_t shared_wish;
    /* CTAs of this launch that an SM holds at a time; 0 = as many as the limits of the device allow. */
    uint32_t ctas_per_sm;
    /* It may touch the window of a controller (SPACE_WINDOW). Its volatile 32-bit loads of global memory are
     * late where it is stepped (emu/step.h). */
    bool privileged;
};

/* emu_run adds to these and never clears them. */
struct emu_stats {
    uint64_t warp_insts, thread_insts;
    uint64_t ctas, warps;
    /* warp instructions */
    uint64_t loads, stores, atomics;
    uint64_t divergent_branches;
    uint64_t insts_by_unit[ISA_UNIT_COUNT];
};

enum emu_fault_kind {
    EMU_OK,
    EMU_BAD_LAUNCH,
    EMU_OUT_OF_BOUNDS,
    EMU_MISALIGNED,
    EMU_FREED,
    EMU_DEADLOCK,
    EMU_ENDLESS,
    EMU_TRAP,
    EMU_ASSERT,
    EMU_BAD_CALL,
    EMU_STACK_OVERFLOW,
    EMU_BAD_BARRIER,
    /* a warp-wide instruction whose mask does not name the lane */
    EMU_BAD_MASK,
    EMU_BAD_TEXTURE,
    EMU_READ_ONLY,
    /* timed GPU only */
    EMU_LAW_BROKEN,
    /* timed GPU only */
    EMU_INTERRUPTED,
    /* timed GPU only */
    EMU_BAD_MECHANISM
};
struct emu_fault {
    enum emu_fault_kind kind;
    /* rendered: several lines, ready to print */
    char message[2048];
    const char *kernel;
    uint32_t ptx_line, cuda_line, pc;
    const char *cuda_file;
    uint32_t cta[3], thread[3];
    uint64_t address;
};

/* Runs a grid to its end. EMU_OK, or the fault's kind with *fault filled. */
enum emu_fault_kind emu_run(struct emu_device *d, const struct emu_launch *l, struct emu_stats *stats,
                            struct emu_fault *fault);

/* Threads per CTA, registers, shared memory against the limits: what a launch would be refused for. */
enum emu_fault_kind emu_check_launch(struct emu_device *d, const struct emu_launch *l,
                                     struct emu_fault *fault);

/* ---- textures ---- */
/* The values are those of cudaTextureAddressMode. */
enum emu_tex_addr { EMU_TEX_WRAP, EMU_TEX_CLAMP, EMU_TEX_MIRROR, EMU_TEX_BORDER };
enum emu_tex_chan { EMU_CHAN_SIGNED, EMU_CHAN_UNSIGNED, EMU_CHAN_FLOAT };
struct emu_texture {
    /* first texel, device memory */
    uint64_t address;
    /* texels; height 0 = 1D, depth 0 = 2D */
    uint32_t width, height, depth;
    /* row to row, slice or layer to the next */
    uint64_t pitch_bytes, slice_bytes;
    /* 0: not layered; a cube map has 6 for each cube, and then depth is 0 */
    uint32_t layers;
    bool is_cube;
    /* suld and sust alone take it; it has no sampler */
    bool is_surface;
    /* 1, 2 or 4 */
    uint8_t channels;
    /* 8, 16 or 32 */
    uint8_t channel_bits;
    /* enum emu_tex_chan */
    uint8_t channel_kind;
    /* 1D fetch from linear memory: no filtering, out of range returns 0 */
    bool is_linear_memory;
    /* enum emu_tex_addr */
    uint8_t addr_mode[3];
    bool linear_filter, normalized_coords, read_normalized, srgb;
    float border[4];
};
/* Handle, never 0. */
uint64_t emu_texture_create(struct emu_device *d, const struct emu_texture *t);
bool emu_texture_destroy(struct emu_device *d, uint64_t handle);
const struct emu_texture *emu_texture_get(const struct emu_device *d, uint64_t handle);

#pragma GCC visibility pop

#endif
