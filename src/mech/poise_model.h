/* poise_model.h: Poise's regression (thesis 5.5): from what was counted at two warp tuples to the tuple that
 * should do best. Integers only: the same on every host. */
#ifndef HEDDLE_MECH_POISE_MODEL_H
#define HEDDLE_MECH_POISE_MODEL_H

#include "heddle/mechanism.h"

enum {
    POISE_FEATURES = 8,
    /* weights are in millionths, features in 2^-20 */
    POISE_WEIGHT_ONE = 1000000,
    POISE_FEATURE_BITS = 20
};

/* Equation 5.13: ln N = sum of alpha[i] x[i], ln p = sum of beta[i] x[i]. */
struct poise_model {
    /* warps of a scheduler: N and p of the model are out of this many */
    uint32_t warps;
    int64_t alpha[POISE_FEATURES], beta[POISE_FEATURES];
    /* the machine that it was trained on, as the file names it; "": not given */
    char machine[64];
};

/* The weights of Table 5.3. */
extern const struct poise_model poise_published;

/* Reads a model file; false: reason, of MECH_REASON_BYTES, says what is wrong and in which line. The file
 * begins with `poise-model 1`; `warps N`, `alpha W1 ... W8` and `beta W1 ... W8` follow, each once;
 * `machine NAME` says where it was trained; `about` begins lines for the reader, # comments. */
bool poise_model_read(struct poise_model *m, const char *path, char *reason);

/* What one SM counts in a window. */
struct poise_window {
    uint64_t issued, loads, accesses, misses, intra_warp_hits, latency_sum, latency_count;
};
struct poise_window poise_window_between(const struct mech_counters *from, const struct mech_counters *to);

/* I_n: instructions for each load are more than `limit`. */
bool poise_is_compute_bound(const struct poise_window *w, uint32_t limit);

/* Table 5.3, from a window with all warps and one at (1, 1). */
void poise_features(const struct poise_window *all, const struct poise_window *one,
                    int64_t x[POISE_FEATURES]);

struct poise_tuple {
    uint32_t n, p;
};
/* Equation 5.13, scaled from the model's warps to `warps` (5.6.1); 1 <= p <= n <= warps. */
struct poise_tuple poise_predict(const struct poise_model *m, const int64_t x[POISE_FEATURES],
                                 uint32_t warps);

/* e^(x / 2^20) in 2^-20, within one part in 2^18; at most POISE_EXP_MAX. */
uint64_t poise_exp(int64_t x);
#define POISE_EXP_MAX ((uint64_t)1 << 40)

#endif
