/* kit_random.c: seeded inputs (xoshiro256**, Blackman and Vigna 2018; seeded by splitmix64). */
#include "kit.h"

void kit_random_seed(uint64_t seed);

static uint64_t state[4];

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

void kit_random_seed(uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        state[i] = z ^ z >> 31;
    }
}

static uint64_t random64(void)
{
    uint64_t out = rotate(state[1] * 5, 7) * 9, t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotate(state[3], 45);
    return out;
}

uint32_t kit_random(void) { return (uint32_t)(random64() >> 32); }

uint32_t kit_below(uint32_t n)
{
    uint32_t reject = -n % n; /* this many of the lowest values would be favoured */
    uint64_t product;
    do product = (uint64_t)kit_random() * n;
    while ((uint32_t)product < reject);
    return (uint32_t)(product >> 32);
}

double kit_uniform(double low, double high)
{
    return low + (high - low) * ((double)(random64() >> 11) * 0x1p-53);
}

/* The sum of twelve uniforms (Irwin-Hall): near enough to a bell, and the same bits everywhere, as no libm is
 * called. */
double kit_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += kit_uniform(0, 1);
    return sum;
}

float *kit_floats(size_t n, double low, double high)
{
    float *values = kit_host(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (float)kit_uniform(low, high);
    return values;
}

int *kit_ints(size_t n, int low, int high)
{
    int *values = kit_host(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = low + (int)kit_below((uint32_t)(high - low + 1));
    return values;
}

void kit_shuffle(int *values, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = kit_below((uint32_t)i);
        int t = values[i - 1];
        values[i - 1] = values[j];
        values[j] = t;
    }
}
