/* count.c: reads a whole number with an optional unit. */
#include "base/count.h"

#include <ctype.h>
#include <errno.h>

bool count_read(const char *text, size_t len, uint64_t *out)
{
    char buf[32];
    if (!len || len >= sizeof buf || !isdigit((unsigned char)text[0])) return false;
    memcpy(buf, text, len);
    buf[len] = 0;
    char *end;
    errno = 0;
    uint64_t v = strtoull(buf, &end, 0);
    if (errno) return false;
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        int shift = 10 * (int)(unit - units + 1);
        if (v > UINT64_MAX >> shift) return false;
        v <<= shift;
        end++;
    }
    *out = v;
    return !*end;
}
