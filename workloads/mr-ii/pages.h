/* pages.h: the HTML that mr-ii reads, and the links that were put into it. */
#ifndef MR_II_PAGES_H
#define MR_II_PAGES_H

#include "kit/kit.h"

typedef char link_text[96];

/* One page; a file is copies of it. */
struct page {
    char *text;
    int bytes, n_links;
    /* in the page's order, a link as often as it stands there */
    link_text *links;
};

/* About `bytes` of HTML, whole lines, with `links` links at about even distances. */
struct page page_new(int bytes, int links);

#endif
