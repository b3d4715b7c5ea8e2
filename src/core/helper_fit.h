/* helper_fit.h: the parts of a helper kernel on one SM: how their warps are divided into CTAs, which
 * registers they get, and whether all of them fit together. */
#ifndef HEDDLE_HELPER_FIT_H
#define HEDDLE_HELPER_FIT_H

#include "core/machine.h"
#include "heddle/mechanism.h"
#include "isa/isa.h"

typedef struct isa_module *helper_compiler(const struct machine *m, const char *name, const char *ptx,
                                           uint32_t registers_max, struct diag_list *diags);

/* The module to lower, and the mechanism that it belongs to. */
struct helper_source {
    const struct machine *machine;
    const char *name, *ptx;
    const struct mech_helper *wants;
    helper_compiler *compile;
};

/* CTAs of a part on each SM, and their warps. */
struct helper_shape {
    uint32_t ctas_each, warps_each;
};

/* The largest CTAs that the warps of a part can be divided into. */
struct helper_shape helper_fit_shape(const struct machine *m, const struct mech_helper_part *part);
/* Shared memory of a CTA of the part, beside what its kernel declares. */
uint32_t helper_fit_shared(const struct machine *m, const struct mech_helper_part *part);
/* emu_launch.shared_wish of every part: they are on an SM together, so they must want the same split. */
uint32_t helper_fit_wish(const struct machine *m, const struct mech_helper *wants);
/* Lowers the module; the first part may use the registers that the others leave. NULL with diagnostics: it
 * cannot be lowered, or its parts do not fit. */
struct isa_module *helper_fit_compile(const struct helper_source *s, struct diag_list *diags);

#endif
