/* addrmap.h: from a device address to L2 slice, DRAM channel, bank, row and column. The map is a parameter.
 *
 *   block   = (address - base) >> interleave          channel = block mod channels   (any number of channels)
 *   rest    = (block div channels) << interleave | low bits of the address
 *   row, bank, column = the bits of rest at the letters R, B, C of the mask, most significant first
 *   slice   = channel * slices + (bank mod slices)    (slices of one channel)
 *
 * A hash moves (channel, slice) within its group of neighbours by bits that are above both; it never maps two
 * addresses to one location. */
#ifndef HEDDLE_ADDRMAP_H
#define HEDDLE_ADDRMAP_H

#include "config/param.h"

enum addrmap_hash { ADDRMAP_PLAIN, ADDRMAP_XOR, ADDRMAP_IPOLY, ADDRMAP_ROTATE };

struct addrmap_params {
    /* where device memory starts in the host's address space */
    uint64_t base;
    /* DRAM channels; L2 slices of each channel */
    uint32_t channels, slices;
    /* "dramid@8;0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS" */
    char mask[PARAM_STRING_BYTES];
    /* enum addrmap_hash */
    uint32_t hash;
};
extern const struct param_row addrmap_rows[];

struct addr_place {
    uint16_t slice, channel;
    /* column: the C bits */
    uint32_t bank, row, column;
    /* address within the channel (rest, above) */
    uint64_t chip_addr;
    /* address within the slice, by which an L2 slice chooses the set */
    uint64_t slice_addr;
};

struct addrmap;
/* NULL with diagnostics: the mask is wrong. */
struct addrmap *addrmap_create(const struct addrmap_params *p, struct diag_list *diags);
void addrmap_destroy(struct addrmap *m);
struct addr_place addrmap_place(const struct addrmap *m, uint64_t addr);
/* Gives bank and row alone. */
void addrmap_cell(const struct addrmap *m, uint64_t addr, uint32_t *bank, uint32_t *row);
/* Gives slice and channel; returns slice_addr. */
uint64_t addrmap_route(const struct addrmap *m, uint64_t addr, uint16_t *slice, uint16_t *channel);
/* Returns slice_addr alone; can be passed as a callback. */
uint64_t addrmap_slice_addr(const void *map, uint64_t addr);
uint32_t addrmap_slices(const struct addrmap *m);
uint32_t addrmap_channels(const struct addrmap *m);
/* Does each line of the L2 lie in one slice and in one row of one bank? False with diagnostics. */
bool addrmap_check_line(const struct addrmap *m, uint32_t line_bytes, struct diag_list *diags);
/* Banks that the B letters can name. */
uint32_t addrmap_banks(const struct addrmap *m);

#endif
