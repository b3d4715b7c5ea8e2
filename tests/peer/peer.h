/* peer.h: one launch of the peer comparison (README.md) on Heddle: peer_host.c makes it through the entry
 * points of the CUDA runtime, which peer_device.c has over the emulator and the timed GPU. */
#ifndef HEDDLE_PEER_H
#define HEDDLE_PEER_H

#include "base/base.h"

struct peer_counts {
    /* core cycles; 0 in a functional run */
    uint64_t cycles;
    uint64_t warp_insts, thread_insts;
    /* of lines of 128 bytes; atomics go by */
    uint64_t l1_reads;
    /* of reads; lines that are under way are not hits. 0 in a functional run */
    uint64_t l1_hits;
};

struct peer_machine {
    /* of the timed GPU's machine; NULL: a functional run */
    const char *name;
    /* a mechanism, NULL: the machine's own scheduler */
    const char *mech;
    /* "key=value" */
    const char *const *settings;
    uint32_t setting_count;
};

/* False, with a message: there is no such machine. */
bool peer_use_machine(const struct peer_machine *m);
/* The sum over all launches so far in this process. */
struct peer_counts peer_counts(void);

/* peer_host.c: `host NAME` runs one case and checks its result; 0 = right. */
int host_main(int argc, char **argv);

#endif
