/* run_heddle.h: runs the kernel of a form in Heddle: text, parser, lowering, emulator. */
#ifndef OPCODE_RUN_HEDDLE_H
#define OPCODE_RUN_HEDDLE_H

#include "forms.h"

#include "emu/emu.h"

struct heddle {
    struct emu_device *device;
    uint64_t in, out, scratch; /* device addresses */
};

bool heddle_open(struct heddle *h);
void heddle_close(struct heddle *h);

/* in and out are cells as in forms.h. opt_level as in lower_options. False with the reason in error. */
bool heddle_run(struct heddle *h, const struct form *f, uint32_t opt_level, const uint64_t *in, uint64_t *out,
                struct strbuf *error);

#endif
