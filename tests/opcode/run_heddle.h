/* run_heddle.h: runs a kernel of a form in Heddle: text, parser, lowering, emulator. */
#ifndef OPCODE_RUN_HEDDLE_H
#define OPCODE_RUN_HEDDLE_H

#include "opcode_forms.h"

#include "emu/emu.h"

struct heddle {
    struct emu_device *device;
    uint64_t in, out, scratch; /* device addresses */
};

bool heddle_open(struct heddle *h);
void heddle_close(struct heddle *h);

struct heddle_job {
    const char *ptx; /* a module with the kernel "form", of the parameters that opcode_forms.h names */
    size_t ptx_len;
    uint32_t grid[3], block[3];
    size_t in_cells, out_cells;
    const char *tex;    /* description, or NULL */
    uint32_t opt_level; /* as in lower_options */
};

/* False with the reason in error. */
bool heddle_run(struct heddle *h, const struct heddle_job *job, const uint64_t *in, uint64_t *out,
                struct strbuf *error);

#endif
