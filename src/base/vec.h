/* vec.h: a growable array of any type: VEC(int) v = {0}; vec_push(&v, 3); v.data[0]; vec_free(&v). */
#ifndef HEDDLE_VEC_H
#define HEDDLE_VEC_H

#include "base/base.h"

#define VEC(type)                                                                                            \
    struct {                                                                                                 \
        type *data;                                                                                          \
        uint32_t len, cap;                                                                                   \
    }

#define vec_reserve(v, n)                                                                                    \
    do {                                                                                                     \
        if ((v)->cap < (uint32_t)(n)) {                                                                      \
            (v)->cap = MAX((uint32_t)(n), (v)->cap ? (v)->cap * 2 : 8);                                      \
            (v)->data = mem_realloc((v)->data, sizeof(*(v)->data) * (v)->cap);                               \
        }                                                                                                    \
    } while (0)

#define vec_push(v, ...)                                                                                     \
    do {                                                                                                     \
        vec_reserve((v), (v)->len + 1);                                                                      \
        (v)->data[(v)->len++] = (__VA_ARGS__);                                                               \
    } while (0)

#define vec_free(v)                                                                                          \
    do {                                                                                                     \
        free((v)->data);                                                                                     \
        (v)->data = NULL;                                                                                    \
        (v)->len = (v)->cap = 0;                                                                             \
    } while (0)

#endif
