/* crew.h: threads that do one piece of work together, again and again: a round begins when the caller says so and is over when
 * every member that was called has done its part. The caller is member 0. Rounds are short (a cycle of a machine), so members wait for the next one
 * with their eyes open for a while before they sleep; where there are more members than cores they give way at once.
 *
 * A word that goes from core to core takes as long as hundreds of instructions. So what the caller says in a round lies beside the number of the
 * round, which members look at, and what a member has to say beside the word that it is done: a line each way. */
#ifndef HEDDLE_CREW_H
#define HEDDLE_CREW_H

#include "base/base.h"

struct crew;

enum {
    CREW_LINE =
        128, /* bytes that the host's cores hand to each other at a time: two lines, for the prefetcher */
    CREW_BITS = 32 /* of the mask of those that are called: bit i is for members i, i + 32, ... */
};

/* members >= 1, the caller included; bytes of what the caller says, and of what each member says. NULL: the host gives no more threads. */
struct crew *crew_create(uint32_t members, size_t call_bytes, size_t report_bytes,
                         void (*work)(void *ctx, uint32_t member), void *ctx);
void crew_destroy(struct crew *c);
/* What the caller says: written between rounds, read by those who do a part. It begins 8 bytes into a CREW_LINE, as a report does. */
void *crew_call(struct crew *c);
/* What came of a part: written in it, read by the caller after the round. */
void *crew_report(struct crew *c, uint32_t part);
/* A round of the parts in the mask. work is called once for each of them, by its own member or, where that is late, by another; what the
 * caller wrote before is seen by all, and what they wrote by the caller after. */
void crew_round(struct crew *c, uint32_t parts);
static inline bool crew_is_called(uint32_t parts, uint32_t part) { return parts >> part % CREW_BITS & 1; }

#endif
