/* profile_table.h: a profile on a terminal: a line a launch, with its fastest tuple and its target. */
#ifndef HEDDLE_PROFILE_TABLE_H
#define HEDDLE_PROFILE_TABLE_H

#include "lab/profile.h"

void profile_print(const struct profile *p, struct strbuf *out);

#endif
