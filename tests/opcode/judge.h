/* judge.h: comparing what Heddle gave with silicon and with the reference. */
#ifndef OPCODE_JUDGE_H
#define OPCODE_JUDGE_H

#include "opcode_forms.h"

enum rule { RULE_NONE, RULE_EITHER };

struct exceptions {
    VEC(struct exception {
        char *pattern;
        enum rule rule;
    })
    list;
};
bool exceptions_read(struct exceptions *e, const char *path, struct strbuf *error);
void exceptions_free(struct exceptions *e);
enum rule exceptions_find(const struct exceptions *e, const char *name);

struct verdict {
    /* tuples */
    uint32_t wrong;
    /* the first wrong ones */
    uint32_t first[3];
    /* approximate forms: largest error in units of the bound; textures: largest difference */
    double worst;
};

/* All are cells as in opcode_forms.h. reference may be NULL. */
struct verdict judge_form(const struct form *f, enum rule rule, const uint64_t *in, const uint64_t *got,
                          const uint64_t *silicon, const uint64_t *reference);
/* "  [17] f32 3f800000 f32 80000000 -> got ... silicon ... reference ...": one line for tuple i. */
void judge_describe(const struct form *f, uint32_t i, const uint64_t *in, const uint64_t *got,
                    const uint64_t *silicon, const uint64_t *reference, struct strbuf *out);

#endif
