/* lbm: one step of a D3Q19 lattice-Boltzmann fluid as Parboil's base CUDA version does it: a block is a
 * row of cells along x, a thread a cell. A cell's 19 distributions and its flags lie together (array of
 * structs). A thread reads its own cell, collides, and scatters the distributions to the neighbours in the
 * other grid. Rows are 128 cells apart though 120 long, and planes beyond both ends of z belong to the
 * grid, so that no edge needs a test. */
#include "kit/device.h"

#define PADDED_X 128
#define OBSTACLE 1
#define ACCEL    2
#define OMEGA    1.95f
#define REST     (1.0f / 3.0f) /* weights of the distributions */
#define STRAIGHT (1.0f / 18.0f)
#define DIAGONAL (1.0f / 36.0f)

/* North is +y, east +x, top +z. The order is the original's. */
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, FLAGS, ENTRIES };

/* Distribution e of the cell at (dx, dy, dz) from mine. */
#define AT(grid, e, dx, dy, dz) (grid)[(e) + ENTRIES * (cell + (dx) + (dy)*PADDED_X + (dz)*plane)]
#define MINE(e)                 AT(src, e, 0, 0, 0)

#define SWAP(a, b)                                                                                           \
    {                                                                                                        \
        float was = a;                                                                                       \
        a = b;                                                                                               \
        b = was;                                                                                             \
    }

/* What is left of f after relaxing towards the equilibrium at velocity component v along its direction. */
#define RELAX(f, weight, v) f = (1.0f - OMEGA) * f + (weight)*relaxed * ((v) * (4.5f * (v) + 3.0f) - u2)

/* plane: cells from one z to the next. */
KERNEL performStreamCollide_kernel(const float *src, float *dst, int plane)
{
    const int cell = threadIdx.x + blockIdx.x * PADDED_X + blockIdx.y * plane;

    float c = MINE(C), n = MINE(N), s = MINE(S), e = MINE(E), w = MINE(W), t = MINE(T), b = MINE(B);
    float ne = MINE(NE), nw = MINE(NW), se = MINE(SE), sw = MINE(SW);
    float nt = MINE(NT), nb = MINE(NB), st = MINE(ST), sb = MINE(SB);
    float et = MINE(ET), eb = MINE(EB), wt = MINE(WT), wb = MINE(WB);
    const unsigned flags = (unsigned)__float_as_int(MINE(FLAGS));

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
    AT(dst, N, 0, +1, 0) = n;
    AT(dst, S, 0, -1, 0) = s;
    AT(dst, E, +1, 0, 0) = e;
    AT(dst, W, -1, 0, 0) = w;
    AT(dst, T, 0, 0, +1) = t;
    AT(dst, B, 0, 0, -1) = b;
    AT(dst, NE, +1, +1, 0) = ne;
    AT(dst, NW, -1, +1, 0) = nw;
    AT(dst, SE, +1, -1, 0) = se;
    AT(dst, SW, -1, -1, 0) = sw;
    AT(dst, NT, 0, +1, +1) = nt;
    AT(dst, NB, 0, +1, -1) = nb;
    AT(dst, ST, 0, -1, +1) = st;
    AT(dst, SB, 0, -1, -1) = sb;
    AT(dst, ET, +1, 0, +1) = et;
    AT(dst, EB, +1, 0, -1) = eb;
    AT(dst, WT, -1, 0, +1) = wt;
    AT(dst, WB, -1, 0, -1) = wb;
}
