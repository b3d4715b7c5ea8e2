/* graph-ccl: connected components of an image by label equivalence (Hawick, Leist and Playne), one thread
 * a pixel. A pixel looks at its eight neighbours; those of nearly its colour are tied to it. Each round
 * scans for smaller labels, follows the table of equivalences to its roots, and gives every pixel its
 * root's label. */
#include "kit/device.h"

KIT_INLINE int pixel_id()
{
    return blockIdx.x * blockDim.x + blockIdx.y * blockDim.x * gridDim.x + threadIdx.x;
}

/* Sum of the differences of red, green and blue. */
KIT_INLINE int diff(int a, int b)
{
    return abs(((a >> 16) & 0xff) - ((b >> 16) & 0xff)) + abs(((a >> 8) & 0xff) - ((b >> 8) & 0xff)) +
           abs((a & 0xff) - (b & 0xff));
}

KERNEL init_CCL(int *L, int *R, int n)
{
    int id = pixel_id();
    if (id >= n) return;
    L[id] = R[id] = id;
}

KIT_INLINE int smaller(const int *D, const int *L, int colour, int other, int limit, int label)
{
    return diff(colour, D[other]) <= limit ? min(label, L[other]) : label;
}

KERNEL scanning8(const int *D, int *L, int *R, bool *more, int n, int width, int limit)
{
    int id = pixel_id();
    if (id >= n) return;
    int colour = D[id], label = n, x = id % width;
    if (id - width >= 0) label = smaller(D, L, colour, id - width, limit, label);
    if (id + width < n) label = smaller(D, L, colour, id + width, limit, label);
    if (x) {
        label = smaller(D, L, colour, id - 1, limit, label);
        if (id - width - 1 >= 0) label = smaller(D, L, colour, id - width - 1, limit, label);
        if (id + width - 1 < n) label = smaller(D, L, colour, id + width - 1, limit, label);
    }
    if (x + 1 != width) {
        label = smaller(D, L, colour, id + 1, limit, label);
        if (id - width + 1 >= 0) label = smaller(D, L, colour, id - width + 1, limit, label);
        if (id + width + 1 < n) label = smaller(D, L, colour, id + width + 1, limit, label);
    }
    if (label < L[id]) {
        R[L[id]] = label; /* not an atomic minimum: a lost update comes back next round */
        *more = true;
    }
}

KERNEL analysis(const int *L, int *R, int n)
{
    int id = pixel_id();
    if (id >= n) return;
    int label = L[id], from;
    if (label != id) return;
    do {
        from = label;
        label = R[from];
    } while (from != label);
    R[id] = label;
}

KERNEL labeling(int *L, const int *R, int n)
{
    int id = pixel_id();
    if (id >= n) return;
    L[id] = R[R[L[id]]];
}
