/* machine_check.h: do the parameters of a machine make sense together? */
#ifndef HEDDLE_MACHINE_CHECK_H
#define HEDDLE_MACHINE_CHECK_H

#include "core/machine.h"

/* Checks what the bounds of single parameters cannot express, for all components. False with diagnostics. */
bool machine_check(const struct machine *m, struct diag_list *diags);

#endif
