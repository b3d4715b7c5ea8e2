/* test_gpu_link.c: the device linker: definitions for declarations, names that belong to one module, errors.
 */
#include "cuda/linker.h"

#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

enum { MODULES_MAX = 4 };
struct linked {
    struct ptx_module *parts[MODULES_MAX], out;
    uint32_t count;
    struct diag_list diags;
    bool ok;
};

static void link_texts(struct linked *l, uint32_t count, const char *const *texts)
{
    *l = (struct linked){.count = count};
    for (uint32_t i = 0; i < count; i++) {
        l->parts[i] = ptx_parse("part", texts[i], strlen(texts[i]), &l->diags);
        if (!l->parts[i]) {
            struct strbuf text = {0};
            diag_render(&l->diags, &text);
            fail_msg("%s", strbuf_text(&text));
        }
    }
    l->ok = linked_modules("whole", l->parts, count, &l->out, &l->diags);
}

static void release(struct linked *l)
{
    if (l->ok) linked_free(&l->out);
    for (uint32_t i = 0; i < l->count; i++) ptx_module_free(l->parts[i]);
    diag_free(&l->diags);
}

static const char user[] = HEAD ".extern .global .align 4 .u32 counter;\n"
                                ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                                ".global .align 4 .u32 mine = 1;\n"
                                ".visible .entry k(.param .u64 out)\n{\n"
                                ".reg .b32 %r<4>; .reg .b64 %d<2>;\n"
                                "ld.global.u32 %r1, [counter];\n"
                                "ld.global.u32 %r2, [mine];\n"
                                "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b;\n"
                                "call.uni (b), twice, (a);\n"
                                "ld.param.b32 %r3, [b]; }\n"
                                "ret;\n}\n";
static const char maker[] =
    HEAD ".visible .global .align 4 .u32 counter = 7;\n"
         ".global .align 4 .u32 mine = 2;\n"
         ".visible .global .align 8 .u64 where = mine;\n"
         ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n"
         ".reg .b32 %r<3>;\n"
         "ld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n";

static void declarations_find_their_definitions(void **state)
{
    struct linked l;
    link_texts(&l, 2, (const char *const[]){user, maker});
    assert_true(l.ok);
    struct ptx_var *counter = ptx_find_var(&l.out, "counter");
    struct ptx_func *twice = ptx_find_func(&l.out, "twice"), *k = ptx_find_func(&l.out, "k");
    assert_non_null(counter);
    assert_false(counter->is_extern);
    assert_true(twice && twice->has_body && k && k->is_entry);
    bool called = false, loaded = false;
    for (uint32_t i = 0; i < k->inst_count; i++) {
        const struct ptx_inst *inst = &k->insts[i];
        if (inst->op == PTX_OP_call) called = inst->ops[1].func == twice;
        if (inst->op == PTX_OP_ld && inst->ops[1].sub_count && inst->ops[1].sub[0].var == counter)
            loaded = true;
    }
    assert_true(called);
    assert_true(loaded);
    uint32_t counters = 0;
    for (uint32_t i = 0; i < l.out.var_count; i++) counters += !strcmp(l.out.vars[i]->name, "counter");
    assert_int_equal(counters, 1);
    release(&l);
}

static void names_of_one_module_do_not_meet(void **state)
{
    struct linked l;
    link_texts(&l, 2, (const char *const[]){user, maker});
    assert_true(l.ok);
    struct ptx_var *first = ptx_find_var(&l.out, "mine"), *second = ptx_find_var(&l.out, "mine$2");
    assert_true(first && second);
    assert_int_equal(first->init[0], 1);
    assert_int_equal(second->init[0], 2);
    struct ptx_var *where = ptx_find_var(&l.out, "where"); /* an address in data follows the new name */
    assert_int_equal(where->reloc_count, 1);
    assert_string_equal(where->relocs[0].symbol, "mine$2");
    release(&l);
}

static void lines_point_into_the_joined_text(void **state)
{
    struct linked l;
    link_texts(&l, 2, (const char *const[]){user, maker});
    const struct ptx_func *twice = ptx_find_func(&l.out, "twice");
    const char *line = l.out.source.text;
    for (int n = 1; n < twice->line; n++) line = strchr(line, '\n') + 1;
    assert_int_equal(strncmp(line, ".visible .func (.param .b32 r) twice", 36), 0);
    release(&l);
}

static void weak_gives_way_to_strong(void **state)
{
    static const char weak[] = HEAD ".weak .global .align 4 .u32 v = 1;\n";
    static const char strong[] = HEAD ".visible .global .align 4 .u32 v = 2;\n";
    struct linked l;
    link_texts(&l, 3, (const char *const[]){weak, strong, weak});
    assert_true(l.ok);
    assert_int_equal(l.out.var_count, 1);
    assert_int_equal(l.out.vars[0]->init[0], 2);
    release(&l);
}

static void two_definitions_are_an_error(void **state)
{
    struct linked l;
    link_texts(&l, 2, (const char *const[]){maker, maker});
    assert_false(l.ok);
    assert_int_equal(l.diags.errors, 3); /* counter, where, twice */
    assert_non_null(strstr(l.diags.items.data[0].message, "multiple definition"));
    release(&l);
}

static void a_variable_without_definition_is_an_error(void **state)
{
    struct linked l;
    link_texts(&l, 2, (const char *const[]){user, HEAD ".visible .global .u32 other;\n"});
    assert_false(l.ok);
    assert_non_null(strstr(l.diags.items.data[0].message, "'counter'"));
    assert_int_equal(l.diags.items.data[0].line, 4);
    release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_find_their_definitions),
        cmocka_unit_test(names_of_one_module_do_not_meet),
        cmocka_unit_test(lines_point_into_the_joined_text),
        cmocka_unit_test(weak_gives_way_to_strong),
        cmocka_unit_test(two_definitions_are_an_error),
        cmocka_unit_test(a_variable_without_definition_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
