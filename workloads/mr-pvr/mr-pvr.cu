/* mr-pvr: page view rank on Mars: sorts web pages by how often they were seen. The map only hands (count,
 * page) on; the work is in the group stage, where the sort reads the counts through the index: every
 * compare is two loads of 4 bytes from where the records first lay. */
#include "kit/mars_group.cuh"

KIT_INLINE void map_count(char *key, char *value, struct mars_counts counts)
{
    mars_emit_count(counts, sizeof(int), sizeof(int));
}

KIT_INLINE void map(char *key, char *value, struct mars_output out)
{
    int *scratch = mars_own_scratch();
    scratch[0] = *(const int *)key;
    scratch[1] = *(const int *)value;
    __syncthreads();
    mars_emit(out, scratch, scratch + 1, sizeof(int), sizeof(int));
}

/* Most seen first. */
KIT_INLINE int compare(const char *a, int a_bytes, const char *b, int b_bytes)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x > y ? -1 : x < y ? 1 : 0;
}
