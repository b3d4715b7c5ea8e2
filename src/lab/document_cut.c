/* document_cut.c: see document_cut.h. */
#include "lab/document_cut.h"

/* A text that is copied but for what is cut. */
struct cutter {
    const char *text;
    size_t len;
    /* up to here it is copied or cut */
    size_t at;
    struct strbuf *out;
};

/* A member is cut with its name and the comma before it. --stats never writes such a member first; if one is
 * first, it stays. */
static void cut_member(struct cutter *c, const struct json_node *member)
{
    if (!member || member->end > c->len) return;
    size_t from = member->start;
    while (from > c->at && c->text[from] != ',') from--;
    if (c->text[from] != ',') return;
    strbuf_add(c->out, c->text + c->at, from - c->at);
    c->at = member->end;
}

static void copy_rest(struct cutter *c) { strbuf_add(c->out, c->text + c->at, c->len - c->at); }

void document_cut_legend(const struct json_node *root, const char *text, size_t len, struct strbuf *out)
{
    struct cutter c = {.text = text, .len = len, .out = out};
    cut_member(&c, json_get(root, "legend"));
    copy_rest(&c);
}

void document_cut_launches(const struct json_node *root, const char *text, size_t len, uint32_t kept,
                           struct strbuf *out)
{
    const struct json_node *kernels = json_get(root, "kernels");
    const uint32_t count = kernels && kernels->kind == JSON_LIST ? kernels->count : 0;
    struct cutter c = {.text = text, .len = len, .out = out};
    for (uint32_t i = kept; i < count; i++) cut_member(&c, json_get(&kernels->items[i], "stats"));
    copy_rest(&c);
}
