/* params_values.h: the parameters of a machine at their bounds. */
#ifndef HEDDLE_PARAMS_VALUES_H
#define HEDDLE_PARAMS_VALUES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct value {
    uint32_t param; /* parameters are numbered */
    bool hides;     /* it turns a part of the machine off, and with it what others say of that part */
    bool is_large;  /* it makes a machine that takes the host many times as long as others */
    char text[96];  /* NAME=VALUE */
};

struct values {
    VEC(struct value) list;
    uint32_t params;
};

void values_find(struct values *v);

#endif
