/* layers: layered textures of lines and planes, a cube map and an array of cube maps, with point sampling, so
 * that every texel can be told; layers outside of a texture are its last one. */
#include "test_program.h"
#define KERNELS(K, V) K(sample_layers) K(sample_cubes)
PROGRAM(KERNELS)

enum { W = 16, H = 8, LAYERS = 5, SIDE = 8, CUBES = 2, N = 512 };

#ifdef __CUDACC__
extern "C" __global__ void sample_layers(cudaTextureObject_t lines, cudaTextureObject_t planes,
                                         const float *at, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, layer = i % (LAYERS + 2);
    if (i >= N) return;
    out[2 * i] = tex1DLayered<float>(lines, at[2 * i], layer);
    out[2 * i + 1] = tex2DLayered<float>(planes, at[2 * i], at[2 * i + 1], layer);
}
extern "C" __global__ void sample_cubes(cudaTextureObject_t cube, cudaTextureObject_t cubes, const float *way,
                                        float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    out[2 * i] = texCubemap<float>(cube, way[3 * i], way[3 * i + 1], way[3 * i + 2]);
    out[2 * i + 1] = texCubemapLayered<float>(cubes, way[3 * i], way[3 * i + 1], way[3 * i + 2], i % CUBES);
}
#endif

static int index_of(float x, int n)
{
    int i = (int)floorf(x * (float)n);
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* The texel that a direction points to, in a cube of six faces +x -x +y -y +z -z. */
static float cube_texel(const float *cube, const float *v)
{
    int axis = fabsf(v[1]) >= fabsf(v[0]);
    if (fabsf(v[2]) >= fabsf(v[0]) && fabsf(v[2]) >= fabsf(v[1])) axis = 2;
    float sign = v[axis] < 0 ? -1.0f : 1.0f, major = fabsf(v[axis]);
    float s = axis == 0 ? -sign * v[2] : axis == 1 ? v[0] : sign * v[0], t = axis == 1 ? sign * v[2] : -v[1];
    int face = 2 * axis + (sign < 0), x = index_of((s / major + 1) * 0.5f, SIDE),
        y = index_of((t / major + 1) * 0.5f, SIDE);
    return cube[(face * SIDE + y) * SIDE + x];
}

static cudaTextureObject_t point_texture(cudaArray_t array)
{
    struct cudaResourceDesc res = program_resource(array);
    struct cudaTextureDesc tex;
    cudaTextureObject_t object;
    memset(&tex, 0, sizeof tex);
    tex.addressMode[0] = tex.addressMode[1] = tex.addressMode[2] = cudaAddressModeClamp;
    tex.normalizedCoords = 1;
    CHECK_CUDA(cudaCreateTextureObject(&object, &res, &tex, NULL));
    return object;
}

int main(void)
{
    static float lines[LAYERS * W], planes[LAYERS * W * H], cubes[CUBES * 6 * SIDE * SIDE], at[2 * N],
        way[3 * N], want[2 * N], want_cube[2 * N];
    for (int i = 0; i < LAYERS * W; i++) lines[i] = (float)i;
    for (int i = 0; i < LAYERS * W * H; i++) planes[i] = (float)(1000 + i);
    for (int i = 0; i < CUBES * 6 * SIDE * SIDE; i++) cubes[i] = (float)(program_hash((uint32_t)i) % 100000);
    for (int i = 0; i < 2 * N; i++) at[i] = program_unit(1, (uint32_t)i) * 1.5f - 0.25f;
    for (int i = 0; i < 3 * N; i++) way[i] = program_unit(2, (uint32_t)i) * 2 - 1;
    for (int i = 0; i < N; i++) {
        int layer = i % (LAYERS + 2) < LAYERS ? i % (LAYERS + 2) : LAYERS - 1;
        int x = index_of(at[2 * i], W), y = index_of(at[2 * i + 1], H);
        want[2 * i] = lines[layer * W + x];
        want[2 * i + 1] = planes[(layer * H + y) * W + x];
        want_cube[2 * i] = cube_texel(cubes, way + 3 * i);
        want_cube[2 * i + 1] = cube_texel(cubes + i % CUBES * 6 * SIDE * SIDE, way + 3 * i);
    }
    cudaArray_t arrays[4] = {
        program_array(lines, W, 0, LAYERS, 1, cudaArrayLayered),
        program_array(planes, W, H, LAYERS, 1, cudaArrayLayered),
        program_array(cubes, SIDE, SIDE, 6, 1, cudaArrayCubemap),
        program_array(cubes, SIDE, SIDE, CUBES * 6, 1, cudaArrayCubemap | cudaArrayLayered)};
    cudaTextureObject_t t0 = point_texture(arrays[0]), t1 = point_texture(arrays[1]),
                        t2 = point_texture(arrays[2]), t3 = point_texture(arrays[3]);
    float *places = (float *)program_device(at, sizeof at), *ways = (float *)program_device(way, sizeof way),
          *a = (float *)program_device(NULL, sizeof want),
          *b = (float *)program_device(NULL, sizeof want_cube);
    LAUNCH(sample_layers, N / 64, 64, 0, t0, t1, places, a);
    LAUNCH(sample_cubes, N / 64, 64, 0, t2, t3, ways, b);
    int ok = program_same("layers", program_fetch(a, sizeof want), want, 2 * N) &
             program_same("cubes", program_fetch(b, sizeof want_cube), want_cube, 2 * N);
    CHECK_CUDA(cudaDestroyTextureObject(t3));
    CHECK_CUDA(cudaFreeArray(arrays[3]));
    return program_end("layers", ok);
}
