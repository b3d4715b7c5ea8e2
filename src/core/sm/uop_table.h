/* uop_table.h: the decoded instructions of grids, which all SMs of a machine share: what they read at each
 * issue is one table in the host's caches. One thread makes and drops tables, while no SM runs. */
#ifndef HEDDLE_UOP_TABLE_H
#define HEDDLE_UOP_TABLE_H

#include "core/sm/uop.h"

struct uop_tables;
struct isa_kernel;
struct uop_tables *uop_tables_create(const struct sm_params *p);
/* All tables were dropped. */
void uop_tables_destroy(struct uop_tables *t);
/* The instructions of the kernel of a grid, by PC. The first caller has them decoded; each one calls
 * uop_table_drop in the end, and the last call frees them. */
const struct uop *uop_table_take(struct uop_tables *t, uint64_t grid, const struct isa_kernel *k);
void uop_table_drop(struct uop_tables *t, const struct uop *uops);

#endif
