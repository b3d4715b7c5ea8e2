/* blank.c: a plug-in without hooks, in writable memory. test_mech_hooks.c opens it first, fills the hooks of
 * a test with functions of its own, and then attaches it like any other plug-in. */
#include "heddle/mechanism.h"

struct mechanism blank_mechanism __asm__(HEDDLE_MECHANISM_SYMBOL);
HEDDLE_MECHANISM_EXPORT struct mechanism blank_mechanism = {
    .api = HEDDLE_MECHANISM_API, .name = "blank", .summary = "nothing", .paper = ""};
