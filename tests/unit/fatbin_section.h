/* fatbin_section.h: fatbins in the section where nvcc puts them, for tests of what Heddle reads from files.
 * Only the headers are those of real entries: the payload is eight zero bytes. */
#ifndef HEDDLE_FATBIN_SECTION_H
#define HEDDLE_FATBIN_SECTION_H

#include <stdint.h>

enum { SECTION_PTX = 1, SECTION_CUBIN = 2 };

struct section_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t packed_bytes, options;
    uint16_t minor, major;
    uint32_t arch, name[2];
    uint64_t flags, unused, plain_bytes, payload;
};
struct section_fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct section_entry entries[2];
};
#define SECTION_ENTRY(k, a)                                                                                  \
    {                                                                                                        \
        .kind = (k), .version = 0x0101, .header_bytes = 64, .payload_bytes = 8, .major = 9, .arch = (a)      \
    }
#define SECTION_FATBIN(first, second)                                                                        \
    {                                                                                                        \
        .magic = 0xba55ed50, .version = 1, .header_bytes = 16, .bytes = 2 * sizeof(struct section_entry),    \
        .entries = {                                                                                         \
            first,                                                                                           \
            second                                                                                           \
        }                                                                                                    \
    }
#define IN_FATBIN_SECTION __attribute__((section(".nv_fatbin"), used, aligned(8)))

_Static_assert(sizeof(struct section_entry) == 72, "layout of a fatbin entry with its payload");

#endif
