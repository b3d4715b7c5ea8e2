/* hotspot: host side. */
#include "kit/kit.h"

#define TILE 16

/* The chip of the original: metres, watts and kelvins; see its README for the model. */
#define THICKNESS     0.0005
#define CHIP_EDGE     0.016
#define SPECIFIC_HEAT 1.75e6
#define CONDUCTIVITY  100.0
#define FIT           0.5
#define MAX_POWER     3.0e6
#define PRECISION     0.001
#define AMBIENT       80.0

struct chip {
    float cap, rx, ry, rz, step;
};

static struct chip chip_of(int n)
{
    double edge = CHIP_EDGE / n;
    double slope = MAX_POWER / (FIT * THICKNESS * SPECIFIC_HEAT);
    return (struct chip){.cap = (float)(FIT * SPECIFIC_HEAT * THICKNESS * edge * edge),
                         .rx = (float)(edge / (2 * CONDUCTIVITY * THICKNESS * edge)),
                         .ry = (float)(edge / (2 * CONDUCTIVITY * THICKNESS * edge)),
                         .rz = (float)(THICKNESS / (CONDUCTIVITY * edge * edge)),
                         .step = (float)(PRECISION / slope)};
}

/* A floorplan of 8 x 8 units, each of one power density with a little noise; temperatures follow it, around
 * 325 K. */
static void chip_generate(float *temp, float *power, int n)
{
    double units[8][8];
    for (int u = 0; u < 64; u++)
        units[u / 8][u % 8] = kit_below(4) ? kit_uniform(0, 0.002) : kit_uniform(0.005, 0.02);
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            double unit = units[y * 8 / n][x * 8 / n];
            power[y * n + x] = (float)(unit * kit_uniform(0.9, 1.1));
            temp[y * n + x] = (float)(323 + 900 * unit + kit_uniform(0, 0.5));
        }
    }
}

/* One step of all cells in double; beyond an edge lies the cell at the edge itself. */
static void step_cpu(const struct chip *chip, const double *from, const float *power, double *to, int n)
{
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            const double *row = from + (size_t)y * n;
            double here = row[x];
            double flow =
                (y ? row[x - n] - here : 0) / chip->ry + (y < n - 1 ? row[x + n] - here : 0) / chip->ry +
                (x ? row[x - 1] - here : 0) / chip->rx + (x < n - 1 ? row[x + 1] - here : 0) / chip->rx +
                (AMBIENT - here) / chip->rz + power[(size_t)y * n + x];
            to[(size_t)y * n + x] = here + chip->step / (double)chip->cap * flow;
        }
    }
}

static void hotspot_cpu(const struct chip *chip, const float *temp, const float *power, float *want, int n,
                        int steps)
{
    size_t cells = (size_t)n * n;
    double *from = malloc(cells * sizeof *from), *to = malloc(cells * sizeof *to);
    for (size_t i = 0; i < cells; i++) from[i] = temp[i];
    for (int s = 0; s < steps; s++) {
        step_cpu(chip, from, power, to, n);
        double *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < cells; i++) want[i] = (float)from[i];
    free(from);
    free(to);
}

static const struct size {
    const char *name;
    int side, steps;
} sizes[] = {{"tiny", 64, 4}, {"small", 512, 4}, {"paper", 512, 20}, {"llc", 1120, 4}};

int main(int argc, char **argv)
{
    kit_open("hotspot", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->side, steps = size->steps;
    int height = 2, inner = TILE - 2 * height;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *temp = kit_host(bytes), *power = kit_host(bytes), *want = kit_host(bytes), *got = kit_host(bytes);
    chip_generate(temp, power, n);
    struct chip chip = chip_of(n);

    CUdeviceptr dpower = kit_upload(power, bytes), dtemp[2] = {kit_upload(temp, bytes), kit_alloc(bytes)};
    unsigned side = (n + inner - 1) / inner;
    float time_elapsed = 0.001f;
    int from = 1, to = 0;
    for (int t = 0; t < steps; t += height) {
        int now = steps - t < height ? steps - t : height;
        from = !from, to = !to;
        KIT_LAUNCH("calculate_temp", KIT_DIM(side, side), KIT_DIM(TILE, TILE), 0, now, dpower, dtemp[from],
                   dtemp[to], n, n, height, height, chip.cap, chip.rx, chip.ry, chip.rz, chip.step,
                   time_elapsed);
    }
    kit_download(got, dtemp[to], bytes);

    if (kit_checking()) {
        hotspot_cpu(&chip, temp, power, want, n, steps);
        kit_check_floats("temperature", got, want, (size_t)n * n, 1e-6, 0);
    }
    return kit_close();
}
