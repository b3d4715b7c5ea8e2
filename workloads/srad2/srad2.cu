/* srad2: speckle reducing anisotropic diffusion, version 2 of Rodinia: row-major image, a CTA of 16 x 16
 * threads a tile, which goes through shared memory with a halo of its own array for each side. A warp
 * covers two rows of 16 pixels: its loads touch two lines an image row apart. Arithmetic with literals is
 * double, as in the original. */
#include "kit/device.h"

#define TILE 16
#define LAST (TILE - 1)

#define DIFFERENCES(to_north, to_south, to_west, to_east)                                                    \
    (n = (to_north)-here, s = (to_south)-here, w = (to_west)-here, e = (to_east)-here)

KERNEL srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, const float *J, float *C, int columns,
                   int rows, float q0sqr)
{
    __shared__ float tile[TILE][TILE], result[TILE][TILE];
    __shared__ float north[TILE][TILE], south[TILE][TILE], east[TILE][TILE], west[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int corner = columns * TILE * blockIdx.y + TILE * blockIdx.x;
    int at = corner + columns * y + x;

    /* All threads load each halo: 16 times the same row, 16 times the same column. At the borders of the
     * image what was loaded from outside is replaced. */
    north[y][x] = J[corner - columns + x];
    south[y][x] = J[corner + columns * TILE + x];
    if (blockIdx.y == 0)
        north[y][x] = J[corner + x];
    else if (blockIdx.y == gridDim.y - 1)
        south[y][x] = J[corner + columns * LAST + x];
    __syncthreads();
    west[y][x] = J[corner + columns * y - 1];
    east[y][x] = J[corner + columns * y + TILE];
    if (blockIdx.x == 0)
        west[y][x] = J[corner + columns * y];
    else if (blockIdx.x == gridDim.x - 1)
        east[y][x] = J[corner + columns * y + LAST];
    __syncthreads();
    tile[y][x] = J[at];
    __syncthreads();

    float here = tile[y][x], n, s, w, e;
    if (y == 0 && x == 0)
        DIFFERENCES(north[y][x], tile[y + 1][x], west[y][x], tile[y][x + 1]);
    else if (y == 0 && x == LAST)
        DIFFERENCES(north[y][x], tile[y + 1][x], tile[y][x - 1], east[y][x]);
    else if (y == LAST && x == LAST)
        DIFFERENCES(tile[y - 1][x], south[y][x], tile[y][x - 1], east[y][x]);
    else if (y == LAST && x == 0)
        DIFFERENCES(tile[y - 1][x], south[y][x], west[y][x], tile[y][x + 1]);
    else if (y == 0)
        DIFFERENCES(north[y][x], tile[y + 1][x], tile[y][x - 1], tile[y][x + 1]);
    else if (x == LAST)
        DIFFERENCES(tile[y - 1][x], tile[y + 1][x], tile[y][x - 1], east[y][x]);
    else if (y == LAST)
        DIFFERENCES(tile[y - 1][x], south[y][x], tile[y][x - 1], tile[y][x + 1]);
    else if (x == 0)
        DIFFERENCES(tile[y - 1][x], tile[y + 1][x], west[y][x], tile[y][x + 1]);
    else
        DIFFERENCES(tile[y - 1][x], tile[y + 1][x], tile[y][x - 1], tile[y][x + 1]);

    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float over = (0.5 * gradient) - ((1.0 / 16.0) * (laplacian * laplacian));
    float under = 1 + (.25 * laplacian);
    float qsqr = over / (under * under);
    under = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0 / (1.0 + under);
    if (c < 0)
        result[y][x] = 0;
    else if (c > 1)
        result[y][x] = 1;
    else
        result[y][x] = c;
    __syncthreads();

    C[at] = result[y][x];
    E_C[at] = e;
    W_C[at] = w;
    S_C[at] = s;
    N_C[at] = n;
}

KERNEL srad_cuda_2(const float *E_C, const float *W_C, const float *N_C, const float *S_C, float *J,
                   const float *C, int columns, int rows, float lambda, float q0sqr)
{
    __shared__ float south[TILE][TILE], east[TILE][TILE];
    __shared__ float c[TILE][TILE], result[TILE][TILE], tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int corner = columns * TILE * blockIdx.y + TILE * blockIdx.x;
    int at = corner + columns * y + x;

    tile[y][x] = J[at];
    __syncthreads();
    south[y][x] = C[corner + columns * TILE + x];
    if (blockIdx.y == gridDim.y - 1) south[y][x] = C[corner + columns * LAST + x];
    __syncthreads();
    east[y][x] = C[corner + columns * y + TILE];
    if (blockIdx.x == gridDim.x - 1) east[y][x] = C[corner + columns * y + LAST];
    __syncthreads();
    c[y][x] = C[at];
    __syncthreads();

    float cn = c[y][x], cw = cn, cs, ce;
    if (y == LAST && x == LAST)
        cs = south[y][x], ce = east[y][x];
    else if (x == LAST)
        cs = c[y + 1][x], ce = east[y][x];
    else if (y == LAST)
        cs = south[y][x], ce = c[y][x + 1];
    else
        cs = c[y + 1][x], ce = c[y][x + 1];

    float divergence = cn * N_C[at] + cs * S_C[at] + cw * W_C[at] + ce * E_C[at];
    result[y][x] = tile[y][x] + 0.25 * lambda * divergence;
    __syncthreads();
    J[at] = result[y][x];
}
