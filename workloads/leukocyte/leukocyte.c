/* leukocyte: host side: one frame is searched for cells, then the images of the cells of each further frame
 * are spread. */
#include "kit/kit.h"

#define POINTS     150
#define CIRCLES    7
#define MIN_RADIUS 6
#define MARGIN     22
#define DISK       25 /* width of the disk, at most */
#define BLOCK      320
#define CELL_ROWS  41
#define CELL_COLS  81

struct frame {
    int rows, columns;
    /* column by column */
    float *gradient_x, *gradient_y;
};

struct circles {
    float sine[POINTS], cosine[POINTS];
    int x[CIRCLES * POINTS], y[CIRCLES * POINTS];
    /* of the disk */
    int size;
    float disk[DISK * DISK];
};

/* A cell is a disk that is brighter than the blood around it, with a soft edge. */
static double cell_brightness(double distance, double radius)
{
    return 100 / (1 + exp((distance - radius) / 1.5));
}

static float *make_image(int rows, int columns, int cells)
{
    float *image = kit_floats((size_t)rows * columns, 90, 110);
    for (int c = 0; c < cells; c++) {
        double row = kit_uniform(0, rows), column = kit_uniform(0, columns), radius = kit_uniform(8, 14);
        for (int x = 0; x < columns; x++)
            for (int y = 0; y < rows; y++)
                image[x * rows + y] += (float)cell_brightness(hypot(y - row, x - column), radius);
    }
    return image;
}

/* Central differences; the border has one-sided ones. */
static struct frame make_frame(int rows, int columns)
{
    struct frame f = {rows, columns, kit_host((size_t)rows * columns * 4),
                      kit_host((size_t)rows * columns * 4)};
    float *image = make_image(rows, columns, 1 + rows * columns / 4000);
    for (int x = 0; x < columns; x++)
        for (int y = 0; y < rows; y++) {
            int left = x ? x - 1 : x, right = x < columns - 1 ? x + 1 : x, up = y ? y - 1 : y,
                down = y < rows - 1 ? y + 1 : y;
            f.gradient_x[x * rows + y] = (image[right * rows + y] - image[left * rows + y]) / 2;
            f.gradient_y[x * rows + y] = (image[x * rows + down] - image[x * rows + up]) / 2;
        }
    return f;
}

static struct circles make_circles(int size)
{
    struct circles c = {.size = size};
    for (int n = 0; n < POINTS; n++) {
        double angle = 2 * M_PI * n / POINTS;
        c.sine[n] = (float)sin(angle);
        c.cosine[n] = (float)cos(angle);
        for (int k = 0; k < CIRCLES; k++) {
            c.x[k * POINTS + n] = (int)(cos(angle) * (MIN_RADIUS + 2 * k));
            c.y[k * POINTS + n] = (int)(sin(angle) * (MIN_RADIUS + 2 * k));
        }
    }
    for (int i = 0; i < size * size; i++) {
        int row = i / size - size / 2, column = i % size - size / 2;
        c.disk[i] = row * row + column * column <= (size / 2) * (size / 2);
    }
    return c;
}

/* ---- detection ---- */
static double gicov_cpu(const struct frame *f, const struct circles *c, int row, int column)
{
    double best = 0;
    for (int k = 0; k < CIRCLES; k++) {
        double p[POINTS], mean = 0, variance = 0;
        for (int n = 0; n < POINTS; n++) {
            int at = (column + c->x[k * POINTS + n]) * f->rows + row + c->y[k * POINTS + n];
            p[n] = (double)f->gradient_x[at] * c->cosine[n] + (double)f->gradient_y[at] * c->sine[n];
            mean += p[n] / POINTS;
        }
        for (int n = 0; n < POINTS; n++) variance += (p[n] - mean) * (p[n] - mean) / (POINTS - 1);
        best = fmax(best, mean * mean / variance);
    }
    return best;
}

static void check_detection(const struct frame *f, const struct circles *c, const float *gicov,
                            const float *dilated)
{
    size_t pixels = (size_t)f->rows * f->columns;
    float *score = kit_host(pixels * 4), *most = kit_host(pixels * 4);
    for (int x = MARGIN; x < f->columns - MARGIN; x++)
        for (int y = MARGIN; y < f->rows - MARGIN; y++) score[x * f->rows + y] = (float)gicov_cpu(f, c, y, x);
    kit_check_floats("gicov", gicov, score, pixels, 1e-3, 1e-5);
    for (int x = 0; x < f->columns;
         x++) /* each score reaches the pixels around it: exact, from the device's scores */
        for (int y = 0; y < f->rows; y++) {
            float value = gicov[x * f->rows + y];
            for (int i = 0; value > 0 && i < c->size * c->size; i++) {
                int row = y + i / c->size - c->size / 2, column = x + i % c->size - c->size / 2;
                if (!c->disk[i] || row < 0 || row >= f->rows || column < 0 || column >= f->columns) continue;
                float *to = &most[row * f->columns + column];
                if (value > *to) *to = value;
            }
        }
    kit_check_floats("dilated", dilated, most, pixels, 0, 0);
}

static void detect(int rows, int columns, int disk_size)
{
    struct frame f = make_frame(rows, columns);
    struct circles c = make_circles(disk_size);
    kit_set_symbol("sine", c.sine, sizeof c.sine);
    kit_set_symbol("cosine", c.cosine, sizeof c.cosine);
    kit_set_symbol("circle_x", c.x, sizeof c.x);
    kit_set_symbol("circle_y", c.y, sizeof c.y);
    kit_set_symbol("disk", c.disk, sizeof c.disk);
    size_t bytes = (size_t)rows * columns * sizeof(float);
    CUtexObject gx = kit_texture(kit_upload(f.gradient_x, bytes), bytes, CU_AD_FORMAT_FLOAT, 1);
    CUtexObject gy = kit_texture(kit_upload(f.gradient_y, bytes), bytes, CU_AD_FORMAT_FLOAT, 1);
    CUdeviceptr gicov = kit_zeros(bytes), dilated = kit_alloc(bytes);
    CUtexObject scores = kit_texture(gicov, bytes, CU_AD_FORMAT_FLOAT, 1);
    KIT_LAUNCH("GICOV_kernel", KIT_DIM(columns - 2 * MARGIN), KIT_DIM(rows - 2 * MARGIN), 0, gx, gy, rows,
               gicov);
    KIT_LAUNCH("dilate_kernel", KIT_DIM((rows * columns + 175) / 176), KIT_DIM(176), 0, scores, rows, columns,
               disk_size, disk_size, dilated);
    float *host_gicov = kit_host(bytes), *host_dilated = kit_host(bytes);
    kit_download(host_gicov, gicov, bytes);
    kit_download(host_dilated, dilated, bytes);
    if (kit_checking()) check_detection(&f, &c, host_gicov, host_dilated);
}

/* ---- tracking ---- */
static void make_cell(float *image, int m, int n)
{
    double row = m / 2.0 + kit_uniform(-3, 3), column = n / 2.0 + kit_uniform(-3, 3),
           radius = kit_uniform(0.2, 0.35) * m, top = 0;
    for (int i = 0; i < m * n; i++) { /* strength of the edges */
        double distance = fabs(hypot(i / n - row, i % n - column) - radius);
        image[i] = (float)(exp(-distance * distance / 4) + kit_uniform(0, 0.1));
        top = fmax(top, image[i]);
    }
    for (int i = 0; i < m * n; i++) image[i] /= (float)top;
}

static double step_towards(double difference, double along, double e)
{
    return (atan(difference * along / e) / 3.14159 + 0.5) * difference;
}

static void spread_cpu(const float *image, float *result, int m, int n, double e, int max_iterations,
                       double cutoff)
{
    double *old = calloc(m * n, sizeof *old), *next = calloc(m * n, sizeof *next), mean = cutoff;
    for (int i = 0; i < m * n; i++) old[i] = image[i];
    for (int it = 0; it < max_iterations && mean >= cutoff; it++) {
        mean = 0;
        for (int at = 0; at < m * n; at++) {
            double sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    int y = at / n + dy, x = at % n + dx;
                    y = y < 0 ? 0 : y >= m ? m - 1 : y, x = x < 0 ? 0 : x >= n ? n - 1 : x;
                    sum += step_towards(old[y * n + x] - old[at], dx + dy, e);
                }
            double value = old[at] + 0.1 * sum;
            next[at] = value - 0.2 * image[at] * (value - image[at]);
            mean += fabs(next[at] - old[at]) / (m * n);
        }
        memcpy(old, next, m * n * sizeof *old);
    }
    for (int i = 0; i < m * n; i++) result[i] = (float)old[i];
    free(old), free(next);
}

static void track(int cells, int m, int n, int max_iterations)
{
    size_t one = m * n * sizeof(float), all = cells * one;
    float *images = kit_host(all), *got = kit_host(all), *want = kit_host(one), vx = 1, vy = 1, e = 1e-10f,
          cutoff = 1e-4f;
    int *rows = kit_host(cells * sizeof *rows), *columns = kit_host(cells * sizeof *columns);
    CUdeviceptr *at_image = kit_host(cells * sizeof *at_image),
                *at_field = kit_host(cells * sizeof *at_field);
    for (int c = 0; c < cells; c++) make_cell(images + c * m * n, m, n), rows[c] = m, columns[c] = n;
    CUdeviceptr dimages = kit_upload(images, all), dfields = kit_upload(images, all);
    for (int c = 0; c < cells; c++) at_image[c] = dimages + c * one, at_field[c] = dfields + c * one;
    CUdeviceptr di = kit_upload(at_image, cells * sizeof *at_image),
                df = kit_upload(at_field, cells * sizeof *at_field);
    CUdeviceptr dm = kit_upload(rows, cells * sizeof *rows),
                dn = kit_upload(columns, cells * sizeof *columns);
    KIT_LAUNCH("IMGVF_kernel", KIT_DIM(cells), KIT_DIM(BLOCK), 0, df, di, dm, dn, vx, vy, e, max_iterations,
               cutoff);
    kit_download(got, dfields, all);
    kit_free(dimages), kit_free(dfields), kit_free(di), kit_free(df), kit_free(dm), kit_free(dn);
    /* where convergence ends it, float and double may do one iteration more or less */
    double slack = max_iterations < 10 ? 1e-5 : 1e-3;
    for (int c = 0; kit_checking() && c < cells; c++) {
        spread_cpu(images + c * m * n, want, m, n, e, max_iterations, cutoff);
        kit_check_floats("field", got + c * m * n, want, m * n, 0, slack);
    }
}

int main(int argc, char **argv)
{
    kit_open("leukocyte", argc, argv);
    static const struct {
        int rows, columns, disk, frames, cells, cell_rows, cell_columns, iterations;
    } sizes[] = {{48, 47, 9, 1, 2, 21, 31, 2},
                 {219, 60, DISK, 1, 36, CELL_ROWS, CELL_COLS, 3},
                 {219, 640, DISK, 5, 36, CELL_ROWS, CELL_COLS, 500}};
    int s = kit_size();
    detect(sizes[s].rows, sizes[s].columns, sizes[s].disk);
    for (int frame = 0; frame < sizes[s].frames; frame++)
        track(sizes[s].cells, sizes[s].cell_rows, sizes[s].cell_columns, sizes[s].iterations);
    return kit_close();
}
