/* mr-mm: matrix multiplication on Mars: each map task is one element of the product, a row of the first
 * matrix times a row of the transposed second one. The lanes of a warp share the first row and sit a row
 * apart in the second matrix, so each of its loads touches 32 lines, which the next 7 iterations (16 bytes
 * each) use again. */
#include "kit/mars.cuh"

struct mm_key {
    float *first, *second;
};
struct mm_value {
    int row, column, rows, columns;
};

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    mars_emit_count(counts, sizeof(float), sizeof(int2));
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    const struct mm_key *matrices = (const struct mm_key *)key;
    const struct mm_value *element = (const struct mm_value *)value;
    int row = element->row, column = element->column, columns = element->columns;
    const float4 *a = (const float4 *)(matrices->first + row * columns);
    const float4 *b = (const float4 *)(matrices->second + column * columns);
    float sum = 0;
#pragma unroll 1
    for (int left = columns >> 2; left > 0; left--, a++, b++) {
        float4 x = *a, y = *b;
        sum += x.x * y.x;
        sum += x.y * y.y;
        sum += x.z * y.z;
        sum += x.w * y.w;
    }
    const float *a_rest = (const float *)a, *b_rest = (const float *)b;
#pragma unroll 1
    for (int left = columns & 3; left > 0; left--) sum += *a_rest++ * *b_rest++;

    int *scratch = mars_own_scratch();
    *(float *)scratch = sum;
    scratch[1] = row;
    scratch[2] = column;
    __syncthreads();
    mars_emit(out, scratch, scratch + 1, sizeof(float), sizeof(int2));
}
