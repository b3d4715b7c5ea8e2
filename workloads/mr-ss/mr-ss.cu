/* mr-ss: similarity score on Mars: each map task is a pair of documents, whose score is the cosine of
 * their feature vectors; the pairs are then grouped by score, highest first. The lanes of a warp share the
 * first document (mostly) and sit a vector apart in the second, so its load touches 32 lines, which the
 * next 7 iterations (16 bytes each) use again. */
#include "kit/mars_group.cuh"

struct ss_key {
    float *features;
};
struct ss_value {
    int first, second, dimensions;
    float score;
};

KIT_INLINE float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    mars_emit_count(counts, sizeof(float), sizeof(int2));
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    const float *features = ((const struct ss_key *)key)->features;
    const struct ss_value *pair = (const struct ss_value *)value;
    int first = pair->first, second = pair->second, dimensions = pair->dimensions;
    const float4 *a = (const float4 *)(features + first * dimensions);
    const float4 *b = (const float4 *)(features + second * dimensions);
    float product = 0, a_square = 0, b_square = 0;
#pragma unroll 1
    for (int left = dimensions >> 2; left > 0; left--, a++, b++) {
        float4 x = *a, y = *b;
        product += dot(x, y);
        a_square += dot(x, x);
        b_square += dot(y, y);
    }
    const float *a_rest = (const float *)a, *b_rest = (const float *)b;
#pragma unroll 1
    for (int left = dimensions & 3; left > 0; left--) {
        float x = *a_rest++, y = *b_rest++;
        product += x * y;
        a_square += x * x;
        b_square += y * y;
    }

    int *scratch = mars_own_scratch();
    *(float *)scratch = product / (sqrtf(a_square) * sqrtf(b_square));
    scratch[1] = first;
    scratch[2] = second;
    __syncthreads();
    mars_emit(out, scratch, scratch + 1, sizeof(float), sizeof(int2));
}

/* Highest score first; scores this close count as one group. */
KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes)
{
    float x = *(const float *)a, y = *(const float *)b;
    if (fabsf(x - y) < 1e-7f) return 0;
    return x < y ? 1 : -1;
}
