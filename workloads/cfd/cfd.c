/* cfd: host side. */
#include "cfd_mesh.h"

#include "kit/kit.h"

#define BLOCK  192
#define NVAR   5
#define STAGES 3
#define GAMMA  1.4
#define MACH   1.2

/* A state is density, momentum (3), energy; flux[v][d] is what it carries of variable v along axis d. */
static double flow_pressure(const double s[NVAR])
{
    return (GAMMA - 1) * (s[4] - 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]) / s[0]);
}

static void flow_flux(const double s[NVAR], double flux[NVAR][3])
{
    double p = flow_pressure(s);
    for (int d = 0; d < 3; d++) {
        double u = s[1 + d] / s[0];
        for (int v = 0; v < NVAR; v++) flux[v][d] = u * s[v];
        flux[1 + d][d] += p;
        flux[4][d] += u * p;
    }
}

static double flow_speeds(const double s[NVAR])
{
    return sqrt(s[1] * s[1] + s[2] * s[2] + s[3] * s[3]) / s[0] + sqrt(GAMMA * flow_pressure(s) / s[0]);
}

static void flow_far(double s[NVAR])
{
    double pressure = 1, density = 1.4, speed = MACH * sqrt(GAMMA * pressure / density);
    s[0] = density, s[1] = density * speed, s[2] = s[3] = 0;
    s[4] = density * speed * speed / 2 + pressure / (GAMMA - 1);
}

/* The right-hand side of one element of the reference. */
static void cpu_residual(const struct cfd_mesh *m, double (*state)[NVAR], int i, double sum[NVAR])
{
    double mine[NVAR][3], theirs[NVAR][3], far[NVAR];
    flow_far(far);
    flow_flux(state[i], mine);
    memset(sum, 0, NVAR * sizeof *sum);
    for (int f = 0; f < CFD_FACES; f++) {
        int nb = m->around[(size_t)f * m->padded + i];
        double normal[3], length = 0;
        for (int d = 0; d < 3; d++) {
            normal[d] = m->normals[(size_t)(f + d * CFD_FACES) * m->padded + i];
            length += normal[d] * normal[d];
        }
        if (nb == CFD_WING) {
            for (int d = 0; d < 3; d++) sum[1 + d] += normal[d] * flow_pressure(state[i]);
            continue;
        }
        const double *other = nb == CFD_FAR ? far : state[nb];
        double viscosity =
            nb == CFD_FAR ? 0 : 0.1 * sqrt(length) * (flow_speeds(state[i]) + flow_speeds(other));
        flow_flux(other, theirs);
        for (int v = 0; v < NVAR; v++) {
            sum[v] -= viscosity * (state[i][v] - other[v]);
            for (int d = 0; d < 3; d++) sum[v] += normal[d] * (mine[v][d] + theirs[v][d]) / 2;
        }
    }
}

static float *cfd_cpu(const struct cfd_mesh *m, int iterations)
{
    double(*old)[NVAR] = kit_host(m->padded * sizeof *old), (*now)[NVAR] = kit_host(m->padded * sizeof *now);
    double(*sum)[NVAR] = kit_host(m->padded * sizeof *sum), *step = kit_host(m->padded * sizeof *step);
    for (int i = 0; i < m->padded; i++) flow_far(now[i]);
    for (int k = 0; k < iterations; k++) {
        memcpy(old, now, m->padded * sizeof *old);
        for (int i = 0; i < m->padded; i++) step[i] = 0.5 / (sqrt(m->areas[i]) * flow_speeds(now[i]));
        for (int stage = 0; stage < STAGES; stage++) {
            for (int i = 0; i < m->padded; i++) cpu_residual(m, now, i, sum[i]);
            for (int i = 0; i < m->padded; i++)
                for (int v = 0; v < NVAR; v++)
                    now[i][v] = old[i][v] + step[i] / (STAGES + 1 - stage) * sum[i][v];
        }
    }
    float *result = kit_host((size_t)m->padded * NVAR * sizeof *result);
    for (int v = 0; v < NVAR; v++)
        for (int i = 0; i < m->padded; i++) result[(size_t)v * m->padded + i] = (float)now[i][v];
    return result;
}

static void cfd_set_far_field(void)
{
    static const char *const names[NVAR] = {
        NULL, "ff_flux_contribution_momentum_x", "ff_flux_contribution_momentum_y",
        "ff_flux_contribution_momentum_z", "ff_flux_contribution_density_energy"};
    double far[NVAR], flux[NVAR][3];
    float variables[NVAR];
    flow_far(far);
    flow_flux(far, flux);
    for (int v = 0; v < NVAR; v++) variables[v] = (float)far[v];
    kit_set_symbol("ff_variable", variables, sizeof variables);
    for (int v = 1; v < NVAR; v++) {
        float axes[3] = {(float)flux[v][0], (float)flux[v][1], (float)flux[v][2]};
        kit_set_symbol(names[v], axes, sizeof axes);
    }
}

static void cfd_gpu(const struct cfd_mesh *m, int iterations, float *result)
{
    int n = m->padded;
    size_t row = n * sizeof(float), bytes = NVAR * row;
    struct kit_dim grid = KIT_DIM(n / BLOCK), block = KIT_DIM(BLOCK);
    CUdeviceptr areas = kit_upload(m->areas, row), around = kit_upload(m->around, CFD_FACES * row);
    CUdeviceptr normals = kit_upload(m->normals, 3 * CFD_FACES * row);
    CUdeviceptr variables = kit_alloc(bytes), old = kit_alloc(bytes), fluxes = kit_alloc(bytes);
    CUdeviceptr factors = kit_zeros(row);

    cfd_set_far_field();
    KIT_LAUNCH("cuda_initialize_variables", grid, block, 0, n, variables);
    KIT_LAUNCH("cuda_initialize_variables", grid, block, 0, n, old);
    KIT_LAUNCH("cuda_initialize_variables", grid, block, 0, n, fluxes);
    for (int k = 0; k < iterations; k++) {
        kit_copy(old, variables, bytes);
        KIT_LAUNCH("cuda_compute_step_factor", grid, block, 0, n, variables, areas, factors);
        for (int stage = 0; stage < STAGES; stage++) {
            KIT_LAUNCH("cuda_compute_flux", grid, block, 0, n, around, normals, variables, fluxes);
            KIT_LAUNCH("cuda_time_step", grid, block, 0, stage, n, old, variables, factors, fluxes);
        }
    }
    kit_download(result, variables, bytes);
}

static const struct size {
    const char *name;
    struct cfd_tunnel tunnel;
    int iterations;
} sizes[] = {
    {"tiny", {.size = {6, 6, 6}, .hole = {2, 2, 2}}, 1},
    {"small", {.size = {23, 23, 24}, .hole = {6, 3, 10}}, 1},
    {"paper", {.size = {32, 32, 33}, .hole = {8, 4, 14}}, 10},
    {"llc", {.size = {32, 32, 33}, .hole = {8, 4, 14}}, 1},
};

int main(int argc, char **argv)
{
    kit_open("cfd", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int iterations = size->iterations;
    struct cfd_mesh mesh = cfd_mesh_make(&size->tunnel, BLOCK);
    size_t values = (size_t)mesh.padded * NVAR;
    float *result = kit_host(values * sizeof *result);
    kit_note("%d elements", mesh.elements);

    cfd_gpu(&mesh, iterations, result);
    if (kit_checking()) kit_check_floats("variables", result, cfd_cpu(&mesh, iterations), values, 2e-4, 2e-5);
    return kit_close();
}
