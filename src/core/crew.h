/* crew.h: threads that do one piece of work together, again and again: a round begins when the caller says so and is over when
 * every member that was called has done its part. The caller is member 0. Rounds are short (a cycle of a machine), so members wait for the next one
 * with their eyes open for a while before they sleep; where there are more members than cores they give way at once. */
#ifndef HEDDLE_CREW_H
#define HEDDLE_CREW_H

#include "base/base.h"

struct crew;

/* members >= 1, the caller included. NULL: the host gives no more threads. */
struct crew *crew_create(uint32_t members, void (*work)(void *ctx, uint32_t member), void *ctx);
void crew_destroy(struct crew *c);
/* A round of the parts in the mask (bit of word m / 64: part m). work is called once for each of them, by its own member or, where that is
 * late, by another; what the caller wrote before is seen by all, and what they wrote by the caller after. */
void crew_round(struct crew *c, const uint64_t *parts);

#endif
