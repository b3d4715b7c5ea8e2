/* report_page.h: the report page as the commands write it. */
#ifndef HEDDLE_CLI_REPORT_PAGE_H
#define HEDDLE_CLI_REPORT_PAGE_H

#include "lab/figure.h"

/* Writes the page and says so; false: an error was printed. */
bool cli_write_report(struct store *s, const struct plan *plans, uint32_t count, const char *path);

#endif
