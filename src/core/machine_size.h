/* machine_size.h: is a machine small enough for a host? */
#ifndef HEDDLE_MACHINE_SIZE_H
#define HEDDLE_MACHINE_SIZE_H

#include "core/machine.h"

/* False with diagnostics: there are more slices than a request can name, or the tables of caches, MSHRs and
 * queues would take more memory than a host can be asked for. */
bool machine_size_check(const struct machine *m, struct diag_list *diags);

#endif
