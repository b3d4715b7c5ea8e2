/* dwt2d: forward 5/3 wavelet transform of an image, as Rodinia's dwt2d: the colours are taken apart, and
 * for each level a CTA a strip of WIDTH columns slides a window of eight rows down the image. A thread
 * loads and transforms one column; then the rows of the window are transformed in shared memory, where
 * even and odd columns lie apart. */
#include "kit/device.h"

#define COPY_THREADS 256
#define HEIGHT       8            /* rows of the window */
#define ROWS         (HEIGHT + 3) /* with the two before it and the one after it */
#define BORDER       2            /* columns of the neighbours at each side */
#define BANKS        32

/* Window in shared memory: all even columns, row by row, then all odd ones. */
template <int WIDTH> struct window {
    enum {
        STRIDE = BORDER + WIDTH / 2,
        HALF = STRIDE * ROWS,
        GAP =
            BANKS - (HALF + BANKS / 2) % BANKS, /* so that even and odd neighbours are half the banks apart */
        ODD = HALF + GAP,
        COUNT = 2 * HALF + GAP
    };
    static __device__ int offset(int column)
    {
        column += BORDER;
        return column / 2 + (column & 1) * ODD;
    }
};

KIT_INLINE void predict(int before, int &here, int after) { here -= (before + after) / 2; }
KIT_INLINE void update(int before, int &here, int after) { here += (before + after + 2) / 4; }

/* A column on its way through the window: where it was read last, and its last three pixels. */
struct column {
    int at, stride, end, offset;
    int pixel[3];
};

KIT_INLINE int mirror(int d, int size) { return d >= size ? 2 * size - 2 - d : d < 0 ? -d : d; }

KIT_INLINE void column_seek(column &c, int x, int y, int width, int height)
{
    x = mirror(x, width);
    c.end = height * width + x;
    c.stride = width;
    c.at = x + width * (y - 1);
}

/* At the bottom of the image the column turns round and goes up again: CHECKED says that this may happen. */
template <bool CHECKED> KIT_INLINE int column_next(column &c, const int *in)
{
    c.at += c.stride;
    if (CHECKED && c.at == c.end) {
        c.at -= 2 * c.stride;
        c.stride = -c.stride;
    }
    return in[c.at];
}

template <int WIDTH, bool CHECKED>
KIT_INLINE void column_start(column &c, const int *in, int width, int height, int index, int first_row)
{
    int x = blockIdx.x * WIDTH + index;
    c.offset = window<WIDTH>::offset(index);
    if (blockIdx.y == 0) { /* above the image it is mirrored */
        column_seek(c, x, first_row, width, height);
        for (int i = 2; i >= 0; i--) c.pixel[i] = column_next<CHECKED>(c, in);
        column_seek(c, x, first_row + 1, width, height);
    } else {
        column_seek(c, x, first_row - 2, width, height);
        for (int i = 0; i < 3; i++) c.pixel[i] = column_next<CHECKED>(c, in);
    }
}

/* Loads the next eight rows of the column and transforms it along. */
template <int WIDTH, bool CHECKED> KIT_INLINE void column_transform(column &c, int *data, const int *in)
{
    const int stride = window<WIDTH>::STRIDE;
    int *mine = data + c.offset;
    for (int i = 0; i < 3; i++) mine[i * stride] = c.pixel[i];
    /* As the original's compilers left it: each row is in shared memory before the next one is asked
     * for. */
#pragma unroll 1
    for (int i = 3; i < ROWS; i++) mine[i * stride] = column_next<CHECKED>(c, in);
    for (int i = 0; i < 3; i++) c.pixel[i] = mine[(HEIGHT + i) * stride];
    for (int i = 1; i < ROWS - 1; i += 2)
        predict(mine[(i - 1) * stride], mine[i * stride], mine[(i + 1) * stride]);
    for (int i = 2; i < ROWS - 1; i += 2)
        update(mine[(i - 1) * stride], mine[i * stride], mine[(i + 1) * stride]);
}

/* One lifting step along all rows of the window at once: element k of `here` lies between `before` and
 * `after`. */
template <int WIDTH, bool UPDATE> KIT_INLINE void rows_step(const int *before, int *here, const int *after)
{
    const int count = HEIGHT * window<WIDTH>::STRIDE - 1;
    for (int k = threadIdx.x; k < count; k += WIDTH) {
        if (UPDATE)
            update(before[k], here[k], after[k]);
        else
            predict(before[k], here[k], after[k]);
    }
}

/* Where a column of results goes: the four bands LL, HL, LH, HH lie one after the other. */
struct writer {
    int next, end, to_high, to_low;
};

KIT_INLINE void writer_start(writer &w, int x, int y, int width, int height)
{
    w.next = w.end = w.to_high = w.to_low = 0;
    if (x >= width) return; /* next == end: nothing is written */
    int start = x / 2, row = width / 2 + (width & 1);
    w.to_high = (height + 1) / 2 * width;
    if (x & 1) {
        start += (width + 1) / 2 * ((height + 1) / 2);
        row = width / 2;
        w.to_high = width * height / 2;
    }
    w.to_low = row - w.to_high;
    w.end = start + height / 2 * row + (height & 1) * w.to_high;
    w.next = start + y / 2 * row + (y & 1) * w.to_high;
}

template <bool CHECKED> KIT_INLINE void writer_put(writer &w, int *out, int value, int step)
{
    if (CHECKED && w.next == w.end) return;
    out[w.next] = value;
    w.next += step;
}

template <int WIDTH, bool CHECK_LOADS, bool CHECK_WRITES>
KIT_INLINE void transform(int *data, const int *in, int *out, int width, int height, int steps)
{
    typedef window<WIDTH> win;
    int x = threadIdx.x, first_row = blockIdx.y * HEIGHT * steps;
    column main, side;
    column_start<WIDTH, CHECK_LOADS>(main, in, width, height, x, first_row);
    if (x <
        3) /* the first threads also have the columns beside the strip: one to the right, two to the left */
        column_start<WIDTH, CHECK_LOADS>(side, in, width, height, x == 0 ? WIDTH : x - 3, first_row);

    /* The first half of the threads writes the even columns, the other half the odd ones. */
    int mine = x * 2 - (WIDTH - 1) * (x / (WIDTH / 2));
    int *result = data + win::offset(mine);
    writer w;
    writer_start(w, blockIdx.x * WIDTH + mine, first_row, width, height);

    for (int step = 0; step < steps; step++) {
        column_transform<WIDTH, CHECK_LOADS>(main, data, in);
        if (x < 3) column_transform<WIDTH, CHECK_LOADS>(side, data, in);
        __syncthreads();

        int *even = data + 2 * win::STRIDE, *odd = even + win::ODD;
        rows_step<WIDTH, false>(even, odd, even + 1);
        __syncthreads();
        rows_step<WIDTH, true>(odd, even + 1, odd + 1);
        __syncthreads();

        for (int r = 2; r < 2 + HEIGHT; r += 2) {
            writer_put<CHECK_WRITES>(w, out, result[r * win::STRIDE], w.to_high);
            writer_put<CHECK_WRITES>(w, out, result[(r + 1) * win::STRIDE], w.to_low);
        }
        __syncthreads();
    }
}

template <int WIDTH> KIT_INLINE void fdwt53(const int *in, int *out, int width, int height, int steps)
{
    __shared__ int data[window<WIDTH>::COUNT];
    bool right = (int)(blockIdx.x + 1) * WIDTH + 1 >= width;
    bool bottom = (int)(blockIdx.y + 1) * HEIGHT * steps + 1 >= height;
    if (bottom)
        transform<WIDTH, true, true>(data, in, out, width, height, steps);
    else if (right)
        transform<WIDTH, false, true>(data, in, out, width, height, steps);
    else
        transform<WIDTH, false, false>(data, in, out, width, height, steps);
}

/* The original's template over the width of the strip, for images from 960, from 480 and below 480
 * columns. */
KERNEL __launch_bounds__(192, 5) fdwt53Kernel_192(const int *in, int *out, int width, int height, int steps)
{
    fdwt53<192>(in, out, width, height, steps);
}
KERNEL __launch_bounds__(128, 8) fdwt53Kernel_128(const int *in, int *out, int width, int height, int steps)
{
    fdwt53<128>(in, out, width, height, steps);
}
KERNEL __launch_bounds__(64, 8) fdwt53Kernel_64(const int *in, int *out, int width, int height, int steps)
{
    fdwt53<64>(in, out, width, height, steps);
}

/* Takes the bytes of 256 RGB pixels apart, through shared memory. */
KERNEL c_CopySrcToComponents(int *red, int *green, int *blue, const unsigned char *from, int pixels)
{
    __shared__ __attribute__((aligned(4))) unsigned char bytes[COPY_THREADS * 3];
    int x = threadIdx.x, first = blockDim.x * blockIdx.x;
    if (x * 4 < COPY_THREADS * 3) ((int *)bytes)[x] = ((const int *)from)[(first * 3 >> 2) + x];
    __syncthreads();

    int r = bytes[x * 3], g = bytes[x * 3 + 1], b = bytes[x * 3 + 2], at = first + x;
    if (at >= pixels) return;
    red[at] = r - 128;
    green[at] = g - 128;
    blue[at] = b - 128;
}
