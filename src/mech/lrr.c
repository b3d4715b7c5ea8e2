/* lrr.c: loose round robin: the baseline scheduler of GPGPU-Sim and of the papers that start from it (APRES,
 * Table III).
 *
 * The warps of a scheduler take turns in the order of their slots. "Loose": a warp that is not ready loses
 * its turn instead of holding up the others. (1) After warp w issued, every other ready warp comes before w
 * again. */
#include "mech/warps.h"

static int lrr_pick(void *state, const struct mech_sched_view *view)
{
    return warps_after(view->ready, view->last);
}

const struct mechanism mechanism_lrr = {
    .api = HEDDLE_MECHANISM_API,
    .name = "lrr",
    .summary = "loose round robin: ready warps take turns",
    .paper = "baseline of Jog et al., ISCA'13 and of APRES, ISCA'16 (Table III)",
    .pick = lrr_pick,
};
