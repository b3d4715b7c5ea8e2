/* fuzz_expr.c: any bytes at all into the reader of expressions: it says what is wrong, at a position inside
 * the text, or gives an expression that can be bound and evaluated. */
#include "lab/expr.h"

#include <math.h>

/* Asserts are not compiled into every build; these hold in all of them. */
static void require(bool holds)
{
    if (!holds) abort();
}

static bool bind(void *context, struct expr_leaf *leaf)
{
    const size_t *size = context;
    require(leaf->name && leaf->line == 1 && leaf->col >= 1 && leaf->len >= 1);
    require((size_t)(leaf->col + leaf->len - 1) <= *size);
    return true;
}

static double value(void *context, const struct expr_leaf *leaf) { return (double)strlen(leaf->name); }
static double unknown(void *context, const struct expr_leaf *leaf) { return NAN; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct diag_list diags = {0};
    char *text = arena_strndup(&arena, (const char *)data, size);
    size = strlen(text);
    struct diag_source src = {"fuzz", text, size};
    struct expr_source where = {&src, 1, 1, true};
    struct expr *e = expr_parse(&arena, text, &where, &diags);
    require((e != NULL) == (diags.errors == 0));
    if (e) {
        bool ok = expr_bind(e, bind, &size);
        double v = expr_eval(e, value, NULL);
        require(ok && !isinf(v) && !isinf(expr_eval(e, unknown, NULL)));
    } else {
        require(diags.errors == 1 && diags.items.data[0].col >= 1 &&
                (size_t)diags.items.data[0].col <= size + 1);
    }
    struct strbuf shown = {0};
    diag_render(&diags, &shown);
    strbuf_free(&shown);
    diag_free(&diags);
    arena_free(&arena);
    return 0;
}
