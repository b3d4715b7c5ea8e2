/* params_values.h: the parameters of a machine at their bounds. */
#ifndef HEDDLE_PARAMS_VALUES_H
#define HEDDLE_PARAMS_VALUES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct value {
    /* parameters are numbered */
    uint32_t param;
    /* it turns a part of the machine off, and with it what others say of that part */
    bool hides;
    /* it makes a machine that takes the host many times as long as others */
    bool is_large;
    /* NAME=VALUE */
    char text[96];
};

struct values {
    VEC(struct value) list;
    uint32_t params;
};

void values_find(struct values *v);

#endif
