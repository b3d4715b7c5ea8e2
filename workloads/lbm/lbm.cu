/* lbm: one step of a D3Q19 lattice-Boltzmann fluid as Parboil's optimized CUDA version does it: a block is a row of
 * cells along x, a thread a cell. The 19 distributions and the flags are an array each (struct of arrays); a thread
 * gathers what streams into its cell, collides, and writes its own cell of the other grid. Rows are 128 cells apart
 * though 120 long, and planes beyond both ends of z belong to the arrays, so that no edge needs a test. */
#include "kit/device.h"

#define PADDED_X 128
#define OBSTACLE 1
#define ACCEL    2
#define OMEGA    1.95f
#define REST     (1.0f / 3.0f) /* weights of the distributions */
#define STRAIGHT (1.0f / 18.0f)
#define DIAGONAL (1.0f / 36.0f)

/* North is +y, east +x, top +z. The order is the original's. */
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, FLAGS };

/* Distribution e of the cell at (dx, dy, dz) from mine. */
#define AT(grid, e, dx, dy, dz) (grid)[(e)*cells + cell + (dx) + (dy)*PADDED_X + (dz)*plane]

#define SWAP(a, b)                                                                                           \
    {                                                                                                        \
        float was = a;                                                                                       \
        a = b;                                                                                               \
        b = was;                                                                                             \
    }

/* What is left of f after relaxing towards the equilibrium at velocity component v along its direction. */
#define RELAX(f, weight, v) f = (1.0f - OMEGA) * f + (weight)*relaxed * ((v) * (4.5f * (v) + 3.0f) - u2)

/* plane: cells from one z to the next; cells: from one distribution's array to the next's. */
KERNEL performStreamCollide_kernel(const float *src, float *dst, int plane, int cells)
{
    const int cell = threadIdx.x + blockIdx.x * PADDED_X + blockIdx.y * plane;

    float c = AT(src, C, 0, 0, 0);
    float n = AT(src, N, 0, -1, 0), s = AT(src, S, 0, +1, 0);
    float e = AT(src, E, -1, 0, 0), w = AT(src, W, +1, 0, 0);
    float t = AT(src, T, 0, 0, -1), b = AT(src, B, 0, 0, +1);
    float ne = AT(src, NE, -1, -1, 0), nw = AT(src, NW, +1, -1, 0);
    float se = AT(src, SE, -1, +1, 0), sw = AT(src, SW, +1, +1, 0);
    float nt = AT(src, NT, 0, -1, -1), nb = AT(src, NB, 0, -1, +1);
    float st = AT(src, ST, 0, +1, -1), sb = AT(src, SB, 0, +1, +1);
    float et = AT(src, ET, -1, 0, -1), eb = AT(src, EB, -1, 0, +1);
    float wt = AT(src, WT, +1, 0, -1), wb = AT(src, WB, +1, 0, +1);
    const unsigned flags = (unsigned)__float_as_int(AT(src, FLAGS, 0, 0, 0));

    if (flags & OBSTACLE) { /* everything goes back to where it came from */
        SWAP(n, s);
        SWAP(e, w);
        SWAP(t, b);
        SWAP(ne, sw);
        SWAP(nw, se);
        SWAP(nt, sb);
        SWAP(nb, st);
        SWAP(et, wb);
        SWAP(eb, wt);
    } else {
        float rho = c + n + s + e + w + t + b + ne + nw + se + sw + nt + nb + st + sb + et + eb + wt + wb;
        float ux = e - w + ne - nw + se - sw + et + eb - wt - wb;
        float uy = n - s + ne + nw - se - sw + nt + nb - st - sb;
        float uz = t - b + nt - nb + st - sb + et - eb + wt - wb;
        ux /= rho;
        uy /= rho;
        uz /= rho;
        if (flags & ACCEL) {
            ux = 0.005f;
            uy = 0.002f;
            uz = 0.000f;
        }
        const float u2 = 1.5f * (ux * ux + uy * uy + uz * uz) - 1.0f, relaxed = OMEGA * rho;
        RELAX(c, REST, 0.0f);
        RELAX(n, STRAIGHT, uy);
        RELAX(s, STRAIGHT, -uy);
        RELAX(t, STRAIGHT, uz);
        RELAX(b, STRAIGHT, -uz);
        RELAX(e, STRAIGHT, ux);
        RELAX(w, STRAIGHT, -ux);
        RELAX(nt, DIAGONAL, uy + uz);
        RELAX(nb, DIAGONAL, uy - uz);
        RELAX(st, DIAGONAL, -uy + uz);
        RELAX(sb, DIAGONAL, -uy - uz);
        RELAX(ne, DIAGONAL, ux + uy);
        RELAX(se, DIAGONAL, ux - uy);
        RELAX(et, DIAGONAL, ux + uz);
        RELAX(eb, DIAGONAL, ux - uz);
        RELAX(nw, DIAGONAL, -ux + uy);
        RELAX(sw, DIAGONAL, -ux - uy);
        RELAX(wt, DIAGONAL, -ux + uz);
        RELAX(wb, DIAGONAL, -ux - uz);
    }

    AT(dst, C, 0, 0, 0) = c;
    AT(dst, N, 0, 0, 0) = n;
    AT(dst, S, 0, 0, 0) = s;
    AT(dst, E, 0, 0, 0) = e;
    AT(dst, W, 0, 0, 0) = w;
    AT(dst, T, 0, 0, 0) = t;
    AT(dst, B, 0, 0, 0) = b;
    AT(dst, NE, 0, 0, 0) = ne;
    AT(dst, NW, 0, 0, 0) = nw;
    AT(dst, SE, 0, 0, 0) = se;
    AT(dst, SW, 0, 0, 0) = sw;
    AT(dst, NT, 0, 0, 0) = nt;
    AT(dst, NB, 0, 0, 0) = nb;
    AT(dst, ST, 0, 0, 0) = st;
    AT(dst, SB, 0, 0, 0) = sb;
    AT(dst, ET, 0, 0, 0) = et;
    AT(dst, EB, 0, 0, 0) = eb;
    AT(dst, WT, 0, 0, 0) = wt;
    AT(dst, WB, 0, 0, 0) = wb;
}
