/* peer_functional.h: the launches of the peer comparison without a clock. */
#ifndef HEDDLE_PEER_FUNCTIONAL_H
#define HEDDLE_PEER_FUNCTIONAL_H

#include "emu/emu.h"
#include "peer.h"

void peer_functional_run(struct emu_device *d, const struct emu_launch *l, struct peer_counts *counts,
                         struct emu_fault *fault);

#endif
