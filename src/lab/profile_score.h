/* profile_score.h: the tuple that a kernel of a profile should run at (thesis 5.5.3). A tuple beside a cliff
 * is a bad aim for a prediction, however fast it is: the score of a tuple weighs its neighbours too.
 *
 * Equation 5.12: the speed-up of the tuple has weight 1, of its neighbours in N or in p 1/2, of those in both
 * 1/4; the sum is divided by the weights of the tuples that there are. A neighbour is the next value of N or
 * p that was profiled: one warp away in a profile of step 1. */
#ifndef HEDDLE_PROFILE_SCORE_H
#define HEDDLE_PROFILE_SCORE_H

#include "lab/profile.h"

double profile_score(const struct profile_kernel *k, const struct profile_point *at);
/* The tuple with the highest score, and the fastest one; of equals the first. */
const struct profile_point *profile_target(const struct profile_kernel *k);
const struct profile_point *profile_fastest(const struct profile_kernel *k);

#endif
