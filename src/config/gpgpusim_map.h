/* gpgpusim_map.h: what the two halves of the map share: gpgpusim_map.c walks the table of options,
 * gpgpusim_parts.c takes the values apart that hold more than a number. */
#ifndef HEDDLE_GPGPUSIM_MAP_H
#define HEDDLE_GPGPUSIM_MAP_H

#include "config/gpgpusim.h"

struct gmap {
    struct gpgpusim_import *im;
    const struct config_target *target;
    struct diag_list *diags;
    bool ok;
};

/* How an option's value becomes settings. `key` is the row's: a parameter, or the prefix of several. */
typedef void gmap_fn(struct gmap *g, struct gpgpusim_option *o, const char *key);

/* One value: as it is, 0/1 as false/true, 0/1 as true/false. */
gmap_fn gmap_number, gmap_flag, gmap_not;
gmap_fn gmap_clocks, gmap_residency, gmap_widths, gmap_latencies, gmap_initiations, gmap_trace_unit,
    gmap_one_op;
gmap_fn gmap_l1, gmap_unified, gmap_l2, gmap_rocache;
gmap_fn gmap_generic_collectors, gmap_address_map, gmap_partition_hash, gmap_partition_queues;
gmap_fn gmap_clusters, gmap_bus, gmap_dram_timing, gmap_dram_sched, gmap_dram_groups, gmap_write_queue;
gmap_fn gmap_queue, gmap_scheduler, gmap_rop, gmap_flit, gmap_buffers, gmap_speedup, gmap_shared_limit;

/* One setting out of the option (and of `more`, the text of others that are in it; NULL: none). False, and
 * the option is left with the reason, when the machine cannot take it. */
bool gmap_set(struct gmap *g, struct gpgpusim_option *o, const char *key, const char *more, const char *fmt,
              ...) PRINTF_LIKE(5, 6);
void gmap_leave(struct gmap *g, const struct gpgpusim_option *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The value's form is wrong; `at` is where in the value. */
void gmap_error(struct gmap *g, const struct gpgpusim_option *o, size_t at, const char *hint, const char *fmt,
                ...) PRINTF_LIKE(5, 6);
/* The option as a number, from the files or by GPGPU-Sim's default. */
uint64_t gmap_value(struct gmap *g, const char *name);
const char *gmap_text(struct gmap *g, const char *name);
/* Numbers with `separator` between them; false with an error unless there are min to max of them. */
bool gmap_numbers(struct gmap *g, const struct gpgpusim_option *o, char separator, uint32_t min, uint32_t max,
                  uint64_t *out, uint32_t *count);

#endif
