/* oldest.c: oldest first: the ready warp that was launched first issues.
 *
 * Without the greedy part of gto.c an old warp that becomes ready takes the slot back at once. (1) Age is
 * launch order, not slot number. */
#include "mech/warps.h"

static int oldest_pick(void *state, const struct mech_sched_view *view)
{
    return warps_least(view->ready, view->age);
}

const struct mechanism mechanism_oldest = {
    .api = HEDDLE_MECHANISM_API,
    .name = "oldest",
    .summary = "oldest first: the ready warp that was launched first",
    .paper = "the second half of GTO: Rogers et al., MICRO'12",
    .pick = oldest_pick,
};
