/* approx.h: judging the approximate instructions: by the manual's error bound around the true value (MPFR),
 * and by the distance from silicon. */
#ifndef OPCODE_APPROX_H
#define OPCODE_APPROX_H

#include "opcode_forms.h"

enum approx_verdict {
    APPROX_OK,
    /* zeros, infinities, NaNs: the manual's tables, where silicon's bits are the answer */
    APPROX_BAD_SPECIAL,
    /* farther from the true value than the manual allows */
    APPROX_OUT_OF_BOUND
};

struct approx_report {
    enum approx_verdict verdict;
    /* in units of the bound; 0 for special values */
    double error;
};

/* in = the sources of one tuple. False: the form's check names no bound. */
bool approx_judge(const struct form *f, const uint64_t *in, uint64_t got, uint64_t silicon,
                  struct approx_report *r);

#endif
