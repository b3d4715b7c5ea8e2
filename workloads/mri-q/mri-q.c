/* mri-q: host side. */
#include "kit/kit.h"

#define CHUNK     1024
#define BLOCK_PHI 512
#define BLOCK_Q   256

struct sample {
    float kx, ky, kz, magnitude;
};

struct scan {
    int side, slices, voxels, samples;
    /* voxels, as parts of the field of view */
    float *x, *y, *z;
    /* samples, in cycles over the field of view */
    float *kx, *ky, *kz;
    float *phi_real, *phi_imag;
};

/* Voxels on a Cartesian grid; samples along a cone's spiral, as a scanner's trajectory goes: dense in the
 * middle of k-space. */
static struct scan scan_generate(int side, int slices, int samples)
{
    struct scan s = {.side = side, .slices = slices, .voxels = side * side * slices, .samples = samples};
    size_t voxel_bytes = s.voxels * sizeof(float), sample_bytes = samples * sizeof(float);
    s.x = kit_host(voxel_bytes), s.y = kit_host(voxel_bytes), s.z = kit_host(voxel_bytes);
    s.kx = kit_host(sample_bytes), s.ky = kit_host(sample_bytes), s.kz = kit_host(sample_bytes);
    for (int v = 0; v < s.voxels; v++) {
        s.x[v] = (float)(v % side) / side - 0.5f;
        s.y[v] = (float)(v / side % side) / side - 0.5f;
        s.z[v] = (float)(v / (side * side)) / slices - 0.5f;
    }
    for (int k = 0; k < samples; k++) {
        double t = (k + 0.5) / samples, radius = side / 2.0 * fmod(t * 16, 1), angle = 2 * M_PI * 32 * t;
        s.kx[k] = (float)(radius * cos(angle));
        s.ky[k] = (float)(radius * sin(angle));
        s.kz[k] = (float)(slices / 2.0 * (2 * t - 1));
    }
    s.phi_real = kit_floats(samples, -1, 1);
    s.phi_imag = kit_floats(samples, -1, 1);
    return s;
}

/* |phi|^2 on the device, and back: the original builds the samples for constant memory on the host. */
static struct sample *magnitudes_gpu(const struct scan *s)
{
    size_t bytes = s->samples * sizeof(float);
    CUdeviceptr real = kit_upload(s->phi_real, bytes), imag = kit_upload(s->phi_imag, bytes),
                out = kit_alloc(bytes);
    KIT_LAUNCH("ComputePhiMag_GPU", KIT_DIM((s->samples + BLOCK_PHI - 1) / BLOCK_PHI), KIT_DIM(BLOCK_PHI), 0,
               real, imag, out, s->samples);
    float *magnitude = kit_host(bytes);
    kit_download(magnitude, out, bytes);
    struct sample *samples = kit_host(s->samples * sizeof *samples);
    for (int k = 0; k < s->samples; k++)
        samples[k] = (struct sample){s->kx[k], s->ky[k], s->kz[k], magnitude[k]};
    return samples;
}

static void q_gpu(const struct scan *s, const struct sample *samples, float *real, float *imag)
{
    size_t bytes = s->voxels * sizeof(float);
    CUdeviceptr x = kit_upload(s->x, bytes), y = kit_upload(s->y, bytes), z = kit_upload(s->z, bytes);
    CUdeviceptr q_real = kit_zeros(bytes), q_imag = kit_zeros(bytes);
    for (int first = 0; first < s->samples; first += CHUNK) {
        int n = s->samples - first < CHUNK ? s->samples - first : CHUNK;
        kit_set_symbol("ck", samples + first, n * sizeof *samples);
        KIT_LAUNCH("ComputeQ_GPU", KIT_DIM(s->voxels / BLOCK_Q), KIT_DIM(BLOCK_Q), 0, s->samples, first, x, y,
                   z, q_real, q_imag);
    }
    kit_download(real, q_real, bytes);
    kit_download(imag, q_imag, bytes);
}

/* The sum over samples is one of waves: along x its phase advances by the same angle from voxel to voxel, so
 * that a rotation takes the place of sine and cosine. */
static void scan_check(const struct scan *s, const float *real, const float *imag)
{
    double *want = kit_host(2 * s->voxels * sizeof *want), total = 0;
    for (int k = 0; k < s->samples; k++) {
        double magnitude = (double)s->phi_real[k] * s->phi_real[k] + (double)s->phi_imag[k] * s->phi_imag[k];
        double step = 2 * M_PI * s->kx[k] / s->side, turn_re = cos(step), turn_im = sin(step);
        total += magnitude;
        for (int v = 0; v < s->voxels; v += s->side) {
            double angle =
                2 * M_PI *
                ((double)s->kx[k] * s->x[v] + (double)s->ky[k] * s->y[v] + (double)s->kz[k] * s->z[v]);
            double re = magnitude * cos(angle), im = magnitude * sin(angle);
            for (int i = 0; i < s->side; i++) {
                want[2 * (v + i)] += re;
                want[2 * (v + i) + 1] += im;
                double was = re;
                re = re * turn_re - im * turn_im;
                im = was * turn_im + im * turn_re;
            }
        }
    }
    /* A phase of hundreds of radians in float is known to some 1e-5, its fast sine to less; the samples'
     * errors are independent. */
    double allowed = 1e-4 * sqrt(s->samples) * (total / s->samples);
    for (int v = 0; v < s->voxels; v++)
        if (fabs(real[v] - want[2 * v]) > allowed || fabs(imag[v] - want[2 * v + 1]) > allowed) {
            kit_check(false, "Q[%d] is %.7g%+.7gi, the CPU says %.7g%+.7gi", v, real[v], imag[v], want[2 * v],
                      want[2 * v + 1]);
            return;
        }
}

static const struct size {
    const char *name;
    int side, slices, samples;
} sizes[] = {{"tiny", 16, 8, 129}, {"small", 64, 12, 256}, {"paper", 64, 64, 2048}, {"llc", 64, 52, 128}};

int main(int argc, char **argv)
{
    kit_open("mri-q", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    struct scan s = scan_generate(size->side, size->slices, size->samples);
    float *real = kit_host(s.voxels * sizeof *real), *imag = kit_host(s.voxels * sizeof *imag);
    q_gpu(&s, magnitudes_gpu(&s), real, imag);
    if (kit_checking()) scan_check(&s, real, imag);
    return kit_close();
}
