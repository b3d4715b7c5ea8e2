/* heartwall: host side. */
#include "kit/kit.h"

#define THREADS    256
#define POINTS_MAX 51
#define LATTICE    64 /* of the speckle's random values */

struct change {
    CUdeviceptr frame;
    int frame_no;
};
struct common {
    int search, templ, max_move;
    float alpha;
    int frames, frame_rows, in_rows, in2_rows, conv_rows, pad_rows;
};
struct unique {
    CUdeviceptr row, col, t_row, t_col, templates;
    int point, in_pointer;
    CUdeviceptr in2, conv, pad_cumv, pad_cumv_sel, sub_cumh, sub_cumh_sel, sub2, in2_sqr, in2_sqr_sub2,
        in_sqr, mask, mask_conv;
};

/* The points of the inner wall (endocardium) and those of the outer one (epicardium). */
struct wall {
    int points;
    /* start; the device's answer, a row of frames a point */
    int *row, *col, *t_row, *t_col;
    CUdeviceptr drow, dcol, dt_row, dt_col, templates;
};

static float speckle[LATTICE * LATTICE];

/* Smooth random brightness, 5 pixels a lattice cell, that repeats only after 320 pixels. */
static double texture_at(double y, double x)
{
    double value[2], v = y / 5, h = x / 5;
    int row = (int)floor(v), col = (int)floor(h);
    for (int k = 0; k < 2; k++) {
        const float *line = speckle + ((row + k) & (LATTICE - 1)) * LATTICE;
        value[k] = line[col & (LATTICE - 1)] +
                   (h - col) * (line[(col + 1) & (LATTICE - 1)] - line[col & (LATTICE - 1)]);
    }
    return value[0] + (v - row) * (value[1] - value[0]);
}

/* The heart beats about the middle of the frame: the picture shrinks and widens by 3%. */
static void make_frame(float *frame, int rows, int cols, int number)
{
    double stretch = 1 + 0.03 * sin(2 * M_PI * number / 50);
    for (int x = 0; x < cols; x++)
        for (int y = 0; y < rows; y++)
            frame[x * rows + y] = (float)(texture_at(rows / 2.0 + (y - rows / 2.0) * stretch,
                                                     cols / 2.0 + (x - cols / 2.0) * stretch) +
                                          kit_uniform(0, 0.05));
}

static struct wall make_wall(int points, int frames, double row_radius, double col_radius, int rows, int cols,
                             size_t template_bytes)
{
    struct wall w = {.points = points, .row = kit_host(points * 4), .col = kit_host(points * 4)};
    w.t_row = kit_host((size_t)points * frames * 4);
    w.t_col = kit_host((size_t)points * frames * 4);
    for (int i = 0; i < points; i++) {
        w.row[i] = (int)(rows / 2.0 + row_radius * sin(2 * M_PI * i / points));
        w.col[i] = (int)(cols / 2.0 + col_radius * cos(2 * M_PI * i / points));
    }
    w.drow = kit_upload(w.row, points * 4);
    w.dcol = kit_upload(w.col, points * 4);
    w.dt_row = kit_zeros((size_t)points * frames * 4);
    w.dt_col = kit_zeros((size_t)points * frames * 4);
    w.templates = kit_alloc(points * template_bytes);
    return w;
}

static struct unique make_unique(const struct wall *w, int point, const struct common *c)
{
    size_t in = c->in_rows * c->in_rows * 4, in2 = c->in2_rows * c->in2_rows * 4,
           conv = c->conv_rows * c->conv_rows * 4;
    size_t pad = c->pad_rows * c->pad_rows * 4, strip = c->conv_rows * c->pad_rows * 4;
    return (struct unique){.row = w->drow,
                           .col = w->dcol,
                           .t_row = w->dt_row,
                           .t_col = w->dt_col,
                           .templates = w->templates,
                           .point = point,
                           .in_pointer = point * c->in_rows * c->in_rows,
                           .in2 = kit_alloc(in2),
                           .conv = kit_alloc(conv),
                           .pad_cumv = kit_alloc(pad),
                           .pad_cumv_sel = kit_alloc(strip),
                           .sub_cumh = kit_alloc(strip),
                           .sub_cumh_sel = kit_alloc(conv),
                           .sub2 = kit_alloc(conv),
                           .in2_sqr = kit_alloc(in2),
                           .in2_sqr_sub2 = kit_alloc(conv),
                           .in_sqr = kit_alloc(in),
                           .mask = kit_alloc(conv),
                           .mask_conv = kit_alloc(conv)};
}

/* ---- the CPU: correlation by its definition, only where the point may be ---- */
struct tracker {
    /* at the last update; all positions are the device's, so that one different choice does not run on */
    int row, col;
    double *templ;
};

static double correlation(const struct common *c, const float *frame, const struct tracker *t, int shift_row,
                          int shift_col)
{
    int n = c->in_rows * c->in_rows;
    double sum_t = 0, sum_tt = 0, sum_w = 0, sum_ww = 0, sum_tw = 0;
    for (int x = -c->templ; x <= c->templ; x++)
        for (int y = -c->templ; y <= c->templ; y++) {
            double value = t->templ[(x + c->templ) * c->in_rows + y + c->templ], pixel = 0;
            if (abs(shift_row + y) <= c->search && abs(shift_col + x) <= c->search)
                pixel = frame[(t->col - 1 + shift_col + x) * c->frame_rows + t->row - 1 + shift_row + y];
            sum_t += value, sum_tt += value * value, sum_w += pixel, sum_ww += pixel * pixel,
                sum_tw += value * pixel;
        }
    double spread_t = sqrt(sum_tt / n - sum_t / n * (sum_t / n)) * sqrt(n - 1.0),
           spread_w = sqrt(fmax(0, sum_ww - sum_w * sum_w / n));
    return fabs((sum_tw - sum_w * sum_t / n) / (spread_w * spread_t));
}

/* Other places may correlate as well as the device's but for rounding; none may do better. */
static void check_place(const struct common *c, const float *frame, const struct tracker *t, const char *wall,
                        int point, int number, int last_row, int last_col, int row, int col)
{
    int back = (c->max_move - 1) / 2 + (c->max_move - 1) % 2;
    double best = 0, got = 0;
    for (int x = last_col - back; x < last_col - back + c->max_move; x++)
        for (int y = last_row - back; y < last_row - back + c->max_move; y++) {
            double value = correlation(c, frame, t, y - t->row, x - t->col);
            best = fmax(best, value);
            if (y == row && x == col) got = value;
        }
    kit_check(got > best - 1e-3,
              "frame %d: %s point %d is at (%d, %d) with correlation %.5f; the best is %.5f", number, wall,
              point, row, col, got, best);
}

static void blend_template(const struct common *c, const float *frame, struct tracker *t, double keep)
{
    for (int x = 0; x < c->in_rows; x++)
        for (int y = 0; y < c->in_rows; y++) {
            double pixel = frame[(t->col - 1 - c->templ + x) * c->frame_rows + t->row - 1 - c->templ + y];
            double *value = &t->templ[x * c->in_rows + y];
            *value = keep * *value + (1 - keep) * pixel;
        }
}

static void check_point(const struct common *c, float *const *video, const struct wall *w, const char *name,
                        int point)
{
    struct tracker t = {w->row[point], w->col[point], calloc(c->in_rows * c->in_rows, sizeof(double))};
    const int *rows = w->t_row + point * c->frames, *cols = w->t_col + point * c->frames;
    blend_template(c, video[0], &t, 0);
    for (int f = 1; f < c->frames; f++) {
        check_place(c, video[f], &t, name, point, f, rows[f - 1], cols[f - 1], rows[f], cols[f]);
        if (f % 10) continue;
        t.row = rows[f], t.col = cols[f];
        blend_template(c, video[f], &t, c->alpha);
    }
    free(t.templ);
}

static void check_wall(const struct common *c, float *const *video, struct wall *w, const char *name)
{
    kit_download(w->t_row, w->dt_row, (size_t)w->points * c->frames * 4);
    kit_download(w->t_col, w->dt_col, (size_t)w->points * c->frames * 4);
    for (int i = 0; kit_checking() && i < w->points; i++) {
        kit_check(w->t_row[i * c->frames] == w->row[i] && w->t_col[i * c->frames] == w->col[i],
                  "%s point %d starts elsewhere", name, i);
        check_point(c, video, w, name, i);
    }
}

int main(int argc, char **argv)
{
    kit_open("heartwall", argc, argv);
    static const struct {
        int rows, cols, frames, endo, epi, search, templ, max_move;
    } sizes[] = {
        {96, 112, 12, 1, 1, 5, 3, 3}, {656, 744, 2, 2, 2, 40, 25, 10}, {656, 744, 104, 20, 31, 40, 25, 10}};
    int s = kit_size(), rows = sizes[s].rows, cols = sizes[s].cols, points = sizes[s].endo + sizes[s].epi;
    struct common c = {
        .search = sizes[s].search, .templ = sizes[s].templ, .max_move = sizes[s].max_move, .alpha = 0.87f};
    c.frames = sizes[s].frames, c.frame_rows = rows;
    c.in_rows = 2 * c.templ + 1, c.in2_rows = 2 * c.search + 1;
    c.conv_rows = c.in_rows + c.in2_rows - 1, c.pad_rows = c.in2_rows + 2 * c.in_rows;

    float **video = kit_host(c.frames * sizeof *video);
    for (int i = 0; i < LATTICE * LATTICE; i++) speckle[i] = (float)kit_uniform(0, 0.95);
    for (int f = 0; f < c.frames; f++)
        make_frame(video[f] = kit_host((size_t)rows * cols * 4), rows, cols, f);
    size_t template_bytes = c.in_rows * c.in_rows * 4;
    struct wall endo =
        make_wall(sizes[s].endo, c.frames, rows * 0.16, cols * 0.12, rows, cols, template_bytes);
    struct wall epi = make_wall(sizes[s].epi, c.frames, rows * 0.22, cols * 0.2, rows, cols, template_bytes);
    struct unique unique[POINTS_MAX] = {0};
    for (int i = 0; i < points; i++)
        unique[i] = i < endo.points ? make_unique(&endo, i, &c) : make_unique(&epi, i - endo.points, &c);
    kit_set_symbol("d_common", &c, sizeof c);
    kit_set_symbol("d_unique", unique, sizeof unique);

    struct change change = {.frame = kit_alloc((size_t)rows * cols * 4)};
    for (int f = 0; f < c.frames; f++) {
        change.frame_no = f;
        kit_put(change.frame, video[f], (size_t)rows * cols * 4);
        kit_set_symbol("d_change", &change, sizeof change);
        kit_launch("kernel", KIT_DIM(points), KIT_DIM(THREADS), 0, NULL);
    }
    check_wall(&c, video, &endo, "inner");
    check_wall(&c, video, &epi, "outer");
    return kit_close();
}
