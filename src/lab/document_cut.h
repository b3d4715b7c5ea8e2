/* document_cut.h: what --stats wrote, as a text without some of its members. */
#ifndef HEDDLE_DOCUMENT_CUT_H
#define HEDDLE_DOCUMENT_CUT_H

#include "base/json_tree.h"
#include "base/strbuf.h"

/* Without the member `legend`, which all runs share. root: of the text. */
void document_cut_legend(const struct json_node *root, const char *text, size_t len, struct strbuf *out);
/* Without the member `stats` of all launches but the first `kept` ones. */
void document_cut_launches(const struct json_node *root, const char *text, size_t len, uint32_t kept,
                           struct strbuf *out);

#endif
