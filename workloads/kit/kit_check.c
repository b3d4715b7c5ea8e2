/* kit_check.c: results against the CPU's. */
#include "kit.h"

static bool near(double got, double want, double relative, double absolute)
{
    if (got == want || (isnan(got) && isnan(want))) return true;
    return fabs(got - want) <= absolute + relative * fabs(want);
}

void kit_check_floats(const char *what, const float *got, const float *want, size_t n, double relative,
                      double absolute)
{
    for (size_t i = 0; i < n; i++)
        if (!near(got[i], want[i], relative, absolute)) {
            kit_check(false, "%s[%zu] is %.9g, the CPU says %.9g", what, i, got[i], want[i]);
            return;
        }
}

void kit_check_doubles(const char *what, const double *got, const double *want, size_t n, double relative,
                       double absolute)
{
    for (size_t i = 0; i < n; i++)
        if (!near(got[i], want[i], relative, absolute)) {
            kit_check(false, "%s[%zu] is %.17g, the CPU says %.17g", what, i, got[i], want[i]);
            return;
        }
}

void kit_check_ints(const char *what, const int *got, const int *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            kit_check(false, "%s[%zu] is %d, the CPU says %d", what, i, got[i], want[i]);
            return;
        }
}

void kit_check_bytes(const char *what, const void *got, const void *want, size_t n)
{
    const unsigned char *g = got, *w = want;
    for (size_t i = 0; i < n; i++)
        if (g[i] != w[i]) {
            kit_check(false, "byte %zu of %s is 0x%02x, the CPU says 0x%02x", i, what, g[i], w[i]);
            return;
        }
}
