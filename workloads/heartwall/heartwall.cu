/* heartwall: follows points on the wall of a heart through frames of ultrasound, as Rodinia does it: one
 * block a point, one launch a frame, and inside it the whole of MATLAB's normalised correlation of the
 * point's template with the surroundings of the point, phase after phase with a barrier between. All
 * matrices but the rotated template are the point's own in global memory, stored column by column; what
 * points share, and where their matrices are, stands in constant memory. */
#include "kit/device.h"

#define THREADS    256
#define POINTS_MAX 51
#define TEMPLATE   51  /* rows of the template, at most */
#define CONV       131 /* rows of the correlation, at most */

struct change {
    const float *frame;
    int frame_no;
};
struct common {
    int search, templ, max_move; /* half the height of surroundings and template; how far a point may move */
    float alpha;
    int frames, frame_rows;
    int in_rows, in2_rows, conv_rows,
        pad_rows; /* template, surroundings, correlation, padded surroundings; all are square */
};
struct unique {
    int *row, *col, *t_row, *t_col; /* where the point was at the last update, and in each frame */
    float *templates;
    int point, in_pointer;
    float *in2, *conv, *pad_cumv, *pad_cumv_sel, *sub_cumh, *sub_cumh_sel, *sub2, *in2_sqr, *in2_sqr_sub2,
        *in_sqr, *mask, *mask_conv;
};

__constant__ struct change d_change;
__constant__ struct common d_common;
__constant__ struct unique d_unique[POINTS_MAX];

#define EACH(e, elements) for (int e = threadIdx.x; e < (elements); e += THREADS)

/* A part of a matrix from (row_low, col_low) on, `rows` high. */
KIT_INLINE void select_part(float *to, int rows, int elements, const float *from, int from_rows, int row_low,
                            int col_low)
{
    EACH(e, elements)
    {
        int row = e % rows, col = e / rows;
        to[e] = from[(col + col_low) * from_rows + row + row_low];
    }
    __syncthreads();
}

KIT_INLINE void subtract_from(float *to, const float *from, int elements)
{
    EACH(e, elements) to[e] = from[e] - to[e];
    __syncthreads();
}

/* Sums over the template's size at each place of the correlation: cumulative sums down and across,
 * differences of them. */
KIT_INLINE void window_sums(const struct unique *u, const float *in2, float *sums)
{
    int in_rows = d_common.in_rows, in2_rows = d_common.in2_rows, pad = d_common.pad_rows,
        conv = d_common.conv_rows;
    EACH(e, pad * pad)
    {
        int row = e % pad - in_rows, col = e / pad - in_rows;
        bool inside = row >= 0 && row < in2_rows && col >= 0 && col < in2_rows;
        u->pad_cumv[e] = inside ? in2[col * in2_rows + row] : 0;
    }
    __syncthreads();
    EACH(col, pad)
    {
        float sum = 0;
        for (int at = col * pad; at < col * pad + pad; at++) {
            u->pad_cumv[at] = u->pad_cumv[at] + sum;
            sum = u->pad_cumv[at];
        }
    }
    __syncthreads();
    select_part(u->pad_cumv_sel, conv, conv * pad, u->pad_cumv, pad, in_rows, 0);
    select_part(u->sub_cumh, conv, conv * pad, u->pad_cumv, pad, 0, 0);
    subtract_from(u->sub_cumh, u->pad_cumv_sel, conv * pad);
    EACH(row, conv)
    {
        float sum = 0;
        for (int at = row; at < row + conv * pad; at += conv) {
            u->sub_cumh[at] = u->sub_cumh[at] + sum;
            sum = u->sub_cumh[at];
        }
    }
    __syncthreads();
    select_part(u->sub_cumh_sel, conv, conv * conv, u->sub_cumh, conv, 0, in_rows);
    select_part(sums, conv, conv * conv, u->sub_cumh, conv, 0, 0);
    subtract_from(sums, u->sub_cumh_sel, conv * conv);
}

/* Full convolution of the surroundings with the rotated template. Rows and columns are counted from 1, as in
 * MATLAB. */
KIT_INLINE void convolve(const struct unique *u, const float *rotated)
{
    int in_rows = d_common.in_rows, in2_rows = d_common.in2_rows, conv = d_common.conv_rows;
    EACH(e, conv * conv)
    {
        int i = e % conv + 1, j = e / conv + 1;
        int ja1 = in2_rows < j + 1 ? j + 1 - in2_rows : 1, ja2 = in_rows < j ? in_rows : j;
        int ia1 = in2_rows < i + 1 ? i + 1 - in2_rows : 1, ia2 = in_rows < i ? in_rows : i;
        float s = 0;
        for (int ja = ja1; ja <= ja2; ja++) {
            int jb = j + 1 - ja;
            for (int ia = ia1; ia <= ia2; ia++) {
                int ib = i + 1 - ia;
                s = s + rotated[in_rows * (ja - 1) + ia - 1] * u->in2[in2_rows * (jb - 1) + ib - 1];
            }
        }
        u->conv[e] = s;
    }
    __syncthreads();
}

/* The mask: the correlation counts only within max_move of where the point was; made by convolving one 1
 * with a square. */
KIT_INLINE void mask_correlation(const struct unique *u, int mask_row, int mask_col)
{
    int conv = d_common.conv_rows, move = d_common.max_move, offset = (move - 1) / 2 + (move - 1) % 2;
    EACH(e, conv * conv) u->mask[e] = e == mask_col * conv + mask_row ? 1 : 0;
    __syncthreads();
    EACH(e, conv * conv)
    {
        int i = e % conv + 1 + offset, j = e / conv + 1 + offset;
        int ja1 = move < j + 1 ? j + 1 - move : 1, ja2 = conv < j ? conv : j;
        int ia1 = move < i + 1 ? i + 1 - move : 1, ia2 = conv < i ? conv : i;
        float s = 0;
        for (int ja = ja1; ja <= ja2; ja++)
            for (int ia = ia1; ia <= ia2; ia++) s = s + u->mask[conv * (ja - 1) + ia - 1];
        u->mask_conv[e] = u->in2_sqr_sub2[e] * s;
    }
    __syncthreads();
}

KERNEL kernel(void)
{
    __shared__ float rotated[TEMPLATE * TEMPLATE];
    __shared__ float in_partial[TEMPLATE], in_sqr_partial[TEMPLATE], in_sum, in_sqr_sum, denominator;
    __shared__ float max_value[CONV];
    __shared__ int max_at[CONV];
    const struct unique *u = &d_unique[blockIdx.x];
    int tx = threadIdx.x, frame_no = d_change.frame_no, in_rows = d_common.in_rows,
        in_elem = in_rows * in_rows;
    int in2_rows = d_common.in2_rows, conv = d_common.conv_rows, frame_rows = d_common.frame_rows;
    float *in = u->templates + u->in_pointer;

    if (frame_no == 0) { /* the first frame only gives the templates */
        if (tx == 0) {
            u->t_row[u->point * d_common.frames] = u->row[u->point];
            u->t_col[u->point * d_common.frames] = u->col[u->point];
        }
        EACH(e, in_elem)
        {
            int row = u->row[u->point] - d_common.templ + e % in_rows - 1,
                col = u->col[u->point] - d_common.templ + e / in_rows - 1;
            in[e] = d_change.frame[col * frame_rows + row];
        }
        return;
    }

    select_part(u->in2, in2_rows, in2_rows * in2_rows, d_change.frame, frame_rows,
                u->row[u->point] - d_common.search - 1, u->col[u->point] - d_common.search - 1);
    EACH(e, in_elem)
    {
        int row = in_rows - 1 - e % in_rows, col = in_rows - 1 - e / in_rows;
        rotated[e] = in[col * in_rows + row];
    }
    __syncthreads();
    convolve(u, rotated);
    window_sums(u, u->in2, u->sub2);
    EACH(e, in2_rows * in2_rows)
    {
        float value = u->in2[e];
        u->in2_sqr[e] = value * value;
    }
    __syncthreads();
    window_sums(u, u->in2_sqr, u->in2_sqr_sub2);

    /* denominator of the surroundings, then of the template */
    EACH(e, conv * conv)
    {
        float sum = u->sub2[e], variance = u->in2_sqr_sub2[e] - sum * sum / in_elem;
        u->in2_sqr_sub2[e] = sqrtf(variance < 0 ? 0 : variance);
    }
    __syncthreads();
    EACH(e, in_elem)
    {
        float value = in[e];
        u->in_sqr[e] = value * value;
    }
    __syncthreads();
    EACH(col, in_rows)
    {
        float sum = 0;
        for (int i = 0; i < in_rows; i++) sum = sum + in[col * in_rows + i];
        in_partial[col] = sum;
    }
    __syncthreads();
    EACH(row, in_rows)
    {
        float sum = 0;
        for (int i = 0; i < in_rows; i++) sum = sum + u->in_sqr[row + in_rows * i];
        in_sqr_partial[row] = sum;
    }
    __syncthreads();
    if (tx == 0) {
        in_sum = 0;
        for (int i = 0; i < in_rows; i++) in_sum = in_sum + in_partial[i];
    } else if (tx == 1) {
        in_sqr_sum = 0;
        for (int i = 0; i < in_rows; i++) in_sqr_sum = in_sqr_sum + in_sqr_partial[i];
    }
    __syncthreads();
    if (tx == 0) {
        float mean = in_sum / in_elem, variance = in_sqr_sum / in_elem - mean * mean;
        denominator = sqrtf((float)(in_elem - 1)) * sqrtf(variance);
    }
    __syncthreads();

    /* correlation, into the matrix of the squares' sums */
    EACH(e, conv * conv) u->in2_sqr_sub2[e] = u->in2_sqr_sub2[e] * denominator;
    __syncthreads();
    EACH(e, conv * conv) u->conv[e] = u->conv[e] - u->sub2[e] * in_sum / in_elem;
    __syncthreads();
    EACH(e, conv * conv) u->in2_sqr_sub2[e] = u->conv[e] / u->in2_sqr_sub2[e];
    __syncthreads();

    int last = frame_no - 1 + u->point * d_common.frames, centre = d_common.search + d_common.templ;
    mask_correlation(u, centre + u->t_row[last] - u->row[u->point],
                     centre + u->t_col[last] - u->col[u->point]);

    /* the maximum: of each column by a thread, then of those by one */
    EACH(col, conv)
    {
        float largest = 0;
        int at = 0;
        for (int i = 0; i < conv; i++) {
            float value = fabsf(u->mask_conv[col * conv + i]);
            if (value > largest) at = col * conv + i, largest = value;
        }
        max_at[col] = at;
        max_value[col] = largest;
    }
    __syncthreads();
    if (tx == 0) {
        float largest = 0;
        int at = 0;
        for (int i = 0; i < conv; i++)
            if (max_value[i] > largest) largest = max_value[i], at = max_at[i];
        int here = frame_no + u->point * d_common.frames;
        u->t_row[here] = u->row[u->point] + at % conv + 1 - in_rows - (d_common.search - d_common.templ);
        u->t_col[here] = u->col[u->point] + at / conv + 1 - in_rows - (d_common.search - d_common.templ);
    }
    __syncthreads();

    if (frame_no % 10 != 0)
        return; /* in each tenth frame the point's place and its template are brought up to date */
    int row_now = u->t_row[frame_no + u->point * d_common.frames],
        col_now = u->t_col[frame_no + u->point * d_common.frames];
    if (tx == 0) {
        u->row[u->point] = row_now;
        u->col[u->point] = col_now;
    }
    EACH(e, in_elem)
    {
        int row = row_now - d_common.templ + e % in_rows - 1,
            col = col_now - d_common.templ + e / in_rows - 1;
        in[e] = d_common.alpha * in[e] + (1.0f - d_common.alpha) * d_change.frame[col * frame_rows + row];
    }
}
