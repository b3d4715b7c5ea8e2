/* emu_device.h: inside the emulator: a device and the modules loaded on it. */
#ifndef HEDDLE_EMU_DEVICE_H
#define HEDDLE_EMU_DEVICE_H

#include "base/map.h"
#include "emu/emu.h"
#include "emu/exec.h"
#include "emu/stage.h"

#include <stdatomic.h>

enum {
    /* bytes of kernel parameters (PTX ISA 8.1: .param of a kernel) */
    PARAM_BLOCK_MAX = 32764,
    /* for cooperative groups: size word, barrier word */
    WORKSPACE_BYTES = 64
};

/* Device memory that a grid needs while it is open; the device keeps it for the next one. */
struct launch_block {
    /* the parameter block, for loads by address */
    uint64_t param_address;
    /* what ENVREG1 and ENVREG2 point to in a cooperative launch */
    uint64_t workspace_address;
    bool busy;
    struct launch_block *next;
};

struct run;

struct emu_device {
    struct emu_limits limits;
    struct space *space;
    /* what each opcode does */
    exec_fn *table[ISA_OP_COUNT];
    /* handle = index + 1; NULL = destroyed */
    struct emu_texture **textures;
    uint32_t texture_count, texture_cap;
    void (*write)(void *ctx, bool is_error, const char *text, size_t len);
    void *write_ctx;
    /* memory for the resident CTAs of the grid that emu_run runs */
    struct stage stage;
    /* one for each grid that was open at the same time as others */
    struct launch_block *blocks;
    /* open grids */
    struct run *runs;
    /* so far: the grid id */
    uint64_t launches;
    /* warp instructions of all launches so far: the clock of %globaltimer */
    uint64_t insts;
    /* by device malloc, bytes */
    uint64_t heap_used;
    uint64_t heap_serial;
    bool finds_races;
    /* pairs of instructions found so far, as hashes */
    VEC(uint64_t) races;
    /* sync.c */
    atomic_flag odd_mask_noted;
};

/* What a kernel needs beyond its code, worked out once when the module is loaded. */
struct image {
    const struct isa_kernel *kernel;
    /* rows of the register file that the code names */
    uint32_t reg_rows;
    /* by index into kernel->syms */
    uint64_t *sym_values;
};

/* A kernel of the module, lowered in another way. */
struct variant {
    struct isa_module *isa;
    struct image image;
    struct variant *next;
};

struct emu_module {
    struct isa_module *isa;
    struct emu_device *device;
    /* one for each kernel, same order */
    struct image *images;
    /* by index into isa->vars; 0 = an extern that is not defined */
    uint64_t *var_address;
    bool *var_owned;
    struct variant *variants;
};

/* NULL: the kernel does not belong to m. */
const struct image *module_image(const struct emu_module *m, const struct isa_kernel *k);
/* Returns a block that no open grid holds, and marks it busy; NULL: no device memory. */
struct launch_block *device_take_block(struct emu_device *d);
void device_write(struct emu_device *d, bool is_error, const char *text, size_t len);

#endif
