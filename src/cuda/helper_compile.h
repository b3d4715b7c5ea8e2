/* helper_compile.h: lowers the helper kernel of a mechanism (timed_options.compile). */
#ifndef HEDDLE_HELPER_COMPILE_H
#define HEDDLE_HELPER_COMPILE_H

#include "core/machine.h"
#include "isa/isa.h"

struct isa_module *helper_compile(const struct machine *m, const char *name, const char *ptx,
                                  uint32_t registers_max, struct diag_list *diags);

#endif
