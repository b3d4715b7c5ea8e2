/* peer_timed.h: the launches of the peer comparison on the timed GPU. */
#ifndef HEDDLE_PEER_TIMED_H
#define HEDDLE_PEER_TIMED_H

#include "emu/emu.h"
#include "peer.h"

struct peer_timed;
struct peer_timed *peer_timed_open(struct emu_device *d, const struct peer_machine *m);
void peer_timed_run(struct peer_timed *t, const struct emu_launch *l, struct peer_counts *counts,
                    struct emu_fault *fault);
void peer_timed_copy(struct peer_timed *t, uint64_t address, uint64_t bytes);

#endif
