/* blank.c: a plug-in without a hook, in memory that can be written: test_mech_hooks.c opens it first, fills
 * the hooks that a test is about with functions of its own, and then attaches it as any other. */
#include "heddle/mechanism.h"

struct mechanism blank_mechanism __asm__(HEDDLE_MECHANISM_SYMBOL);
HEDDLE_MECHANISM_EXPORT struct mechanism blank_mechanism = {
    .api = HEDDLE_MECHANISM_API, .name = "blank", .summary = "nothing", .paper = ""};
