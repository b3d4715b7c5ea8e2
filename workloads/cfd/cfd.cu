/* cfd: Euler solver on an unstructured mesh of tetrahedra, as Rodinia's euler3d: a thread an element, CTAs
 * of 192, every array of arrays laid out variable by variable (struct of arrays) with the elements along
 * it. The own element's variables come coalesced; those of the four neighbours are gathered through
 * elements_surrounding_elements. */
#include "kit/device.h"

#define GAMMA  1.4f
#define FACES  4
#define STAGES 3 /* of Runge-Kutta */

/* Rows of `variables` and `fluxes`. */
#define DENSITY  0
#define MOMENTUM 1
#define ENERGY   4
#define NVAR     5

/* The undisturbed flow, and its fluxes of momentum and energy. */
__constant__ float ff_variable[NVAR];
__constant__ float3 ff_flux_contribution_momentum_x[1];
__constant__ float3 ff_flux_contribution_momentum_y[1];
__constant__ float3 ff_flux_contribution_momentum_z[1];
__constant__ float3 ff_flux_contribution_density_energy[1];

struct flow {
    float density, energy;
    float3 momentum, velocity;
    float speed_squared, pressure, sound;
};

struct fluxes {
    float3 momentum_x, momentum_y, momentum_z, energy;
};

KIT_INLINE flow load_flow(const float *variables, int i, int n)
{
    flow f;
    f.density = variables[i + DENSITY * n];
    f.momentum.x = variables[i + (MOMENTUM + 0) * n];
    f.momentum.y = variables[i + (MOMENTUM + 1) * n];
    f.momentum.z = variables[i + (MOMENTUM + 2) * n];
    f.energy = variables[i + ENERGY * n];
    f.velocity.x = f.momentum.x / f.density;
    f.velocity.y = f.momentum.y / f.density;
    f.velocity.z = f.momentum.z / f.density;
    f.speed_squared = f.velocity.x * f.velocity.x + f.velocity.y * f.velocity.y + f.velocity.z * f.velocity.z;
    f.pressure = (GAMMA - 1.0f) * (f.energy - 0.5f * f.density * f.speed_squared);
    f.sound = sqrtf(GAMMA * f.pressure / f.density);
    return f;
}

KIT_INLINE fluxes fluxes_of(const flow &f)
{
    fluxes x;
    x.momentum_x.x = f.velocity.x * f.momentum.x + f.pressure;
    x.momentum_x.y = f.velocity.x * f.momentum.y;
    x.momentum_x.z = f.velocity.x * f.momentum.z;
    x.momentum_y.x = x.momentum_x.y;
    x.momentum_y.y = f.velocity.y * f.momentum.y + f.pressure;
    x.momentum_y.z = f.velocity.y * f.momentum.z;
    x.momentum_z.x = x.momentum_x.z;
    x.momentum_z.y = x.momentum_y.z;
    x.momentum_z.z = f.velocity.z * f.momentum.z + f.pressure;
    float total = f.energy + f.pressure;
    x.energy.x = f.velocity.x * total;
    x.energy.y = f.velocity.y * total;
    x.energy.z = f.velocity.z * total;
    return x;
}

struct sum {
    float density, energy;
    float3 momentum;
};

/* Adds half of (mine + theirs) along one axis. */
#define ADD_AXIS(axis, their_momentum)                                                                       \
    do {                                                                                                     \
        float half = 0.5f * normal.axis;                                                                     \
        total.density += half * ((their_momentum) + mine.momentum.axis);                                     \
        total.energy += half * (theirs.energy.axis + own.energy.axis);                                       \
        total.momentum.x += half * (theirs.momentum_x.axis + own.momentum_x.axis);                           \
        total.momentum.y += half * (theirs.momentum_y.axis + own.momentum_y.axis);                           \
        total.momentum.z += half * (theirs.momentum_z.axis + own.momentum_z.axis);                           \
    } while (0)

KERNEL cuda_initialize_variables(int n, float *variables)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < NVAR; j++) variables[i + j * n] = ff_variable[j];
}

KERNEL cuda_compute_step_factor(int n, const float *variables, const float *areas, float *step_factors)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    flow f = load_flow(variables, i, n);
    step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(f.speed_squared) + f.sound));
}

KERNEL cuda_compute_flux(int n, const int *elements_surrounding_elements, const float *normals,
                         const float *variables, float *fluxes_out)
{
    const float smoothing = 0.2f;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    flow mine = load_flow(variables, i, n);
    float speed = sqrtf(mine.speed_squared);
    fluxes own = fluxes_of(mine);
    sum total = {0, 0, {0, 0, 0}};

#pragma unroll
    for (int j = 0; j < FACES; j++) {
        int nb = elements_surrounding_elements[i + j * n];
        float3 normal;
        normal.x = normals[i + (j + 0 * FACES) * n];
        normal.y = normals[i + (j + 1 * FACES) * n];
        normal.z = normals[i + (j + 2 * FACES) * n];
        float length = sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);

        if (nb >= 0) {
            flow other = load_flow(variables, nb, n);
            fluxes theirs = fluxes_of(other);
            float factor =
                -length * smoothing * 0.5f * (speed + sqrtf(other.speed_squared) + mine.sound + other.sound);
            total.density += factor * (mine.density - other.density);
            total.energy += factor * (mine.energy - other.energy);
            total.momentum.x += factor * (mine.momentum.x - other.momentum.x);
            total.momentum.y += factor * (mine.momentum.y - other.momentum.y);
            total.momentum.z += factor * (mine.momentum.z - other.momentum.z);
            ADD_AXIS(x, other.momentum.x);
            ADD_AXIS(y, other.momentum.y);
            ADD_AXIS(z, other.momentum.z);
        } else if (nb == -1) { /* the wing: only pressure */
            total.momentum.x += normal.x * mine.pressure;
            total.momentum.y += normal.y * mine.pressure;
            total.momentum.z += normal.z * mine.pressure;
        } else if (nb == -2) { /* the far field */
            fluxes theirs;
            theirs.momentum_x = ff_flux_contribution_momentum_x[0];
            theirs.momentum_y = ff_flux_contribution_momentum_y[0];
            theirs.momentum_z = ff_flux_contribution_momentum_z[0];
            theirs.energy = ff_flux_contribution_density_energy[0];
            ADD_AXIS(x, ff_variable[MOMENTUM + 0]);
            ADD_AXIS(y, ff_variable[MOMENTUM + 1]);
            ADD_AXIS(z, ff_variable[MOMENTUM + 2]);
        }
    }

    fluxes_out[i + DENSITY * n] = total.density;
    fluxes_out[i + (MOMENTUM + 0) * n] = total.momentum.x;
    fluxes_out[i + (MOMENTUM + 1) * n] = total.momentum.y;
    fluxes_out[i + (MOMENTUM + 2) * n] = total.momentum.z;
    fluxes_out[i + ENERGY * n] = total.energy;
}

KERNEL cuda_time_step(int stage, int n, const float *old_variables, float *variables,
                      const float *step_factors, const float *fluxes_in)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float factor = step_factors[i] / (float)(STAGES + 1 - stage);
    variables[i + DENSITY * n] = old_variables[i + DENSITY * n] + factor * fluxes_in[i + DENSITY * n];
    variables[i + ENERGY * n] = old_variables[i + ENERGY * n] + factor * fluxes_in[i + ENERGY * n];
    for (int j = MOMENTUM; j < MOMENTUM + 3; j++)
        variables[i + j * n] = old_variables[i + j * n] + factor * fluxes_in[i + j * n];
}
