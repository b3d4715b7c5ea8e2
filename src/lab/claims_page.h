/* claims_page.h: the claims of the papers, each with our value and the verdict, as a Markdown page. */
#ifndef HEDDLE_CLAIMS_PAGE_H
#define HEDDLE_CLAIMS_PAGE_H

#include "lab/figure.h"

/* A section for each paper, in the order in which papers come; a claim that several figures have stands
 * once, as it is judged in the first of them. */
void claims_page(const struct figure_set *sets, uint32_t count, struct strbuf *out);

#endif
