/* limits.h: the launch limits that a machine sets for the emulator. */
#ifndef HEDDLE_LIMITS_H
#define HEDDLE_LIMITS_H

#include "core/machine.h"
#include "emu/emu.h"

struct emu_limits limits_from_machine(const struct machine *m);

#endif
