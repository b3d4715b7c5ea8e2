/* run_heddle.h: runs a kernel of a form in Heddle: text, parser, lowering, emulator. */
#ifndef OPCODE_RUN_HEDDLE_H
#define OPCODE_RUN_HEDDLE_H

#include "opcode_forms.h"

#include "emu/emu.h"

struct heddle {
    struct emu_device *device;
    /* device addresses */
    uint64_t in, out, scratch;
};

bool heddle_open(struct heddle *h);
void heddle_close(struct heddle *h);

struct heddle_job {
    /* a module with the kernel "form", of the parameters that opcode_forms.h names */
    const char *ptx;
    size_t ptx_len;
    uint32_t grid[3], block[3];
    size_t in_cells, out_cells;
    /* description, or NULL */
    const char *tex;
    /* as in lower_options */
    uint32_t opt_level;
};

/* False with the reason in error. */
bool heddle_run(struct heddle *h, const struct heddle_job *job, const uint64_t *in, uint64_t *out,
                struct strbuf *error);

#endif
