/* report_page.h: the report page as the commands write it. */
#ifndef HEDDLE_CLI_REPORT_PAGE_H
#define HEDDLE_CLI_REPORT_PAGE_H

#include "cli/lab.h"

/* Writes the page of the lab's figures and says so; brief: without the statistics of runs. False: an error
 * was printed. */
bool cli_write_report(struct store *s, const struct cli_lab *lab, const char *path, bool is_brief);

#endif
