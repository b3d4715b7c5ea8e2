/* report_impl.h: what the files of the report share. */
#ifndef HEDDLE_REPORT_IMPL_H
#define HEDDLE_REPORT_IMPL_H

#include "lab/report.h"

#define REPORT_PAGE_HINT                                                                                     \
    "  hint: the build makes it where node and npm are (Debian: nodejs, npm): cmake --build --preset "       \
    "release "                                                                                               \
    "--target report_page"

/* printf into *error; always false. */
bool report_fail(char **error, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The data of the page alone, as a JSON file. */
bool report_json(const struct report *r, const char *path, char **error);

#endif
