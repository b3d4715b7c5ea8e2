/* test_rt_surface.c: layered arrays, cube maps and surface objects of libcudart: what is made, what is
 * refused. The programs layers.cu and surface.cu use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt_kit.h"

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc, struct cudaExtent e,
                              unsigned flags);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t s);

#define OK(call)             assert_int_equal(call, cudaSuccess)
#define REFUSED(call, error) assert_int_equal(call, error)

static const struct cudaChannelFormatDesc words = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};

static cudaError_t make(size_t width, size_t height, size_t depth, unsigned flags)
{
    cudaArray_t a = NULL;
    cudaError_t e = cudaMalloc3DArray(&a, &words, (struct cudaExtent){width, height, depth}, flags);
    if (!e) OK(cudaFreeArray(a));
    return e;
}

static void a_cube_map_has_six_square_faces(void **state)
{
    OK(make(8, 8, 6, cudaArrayCubemap));
    OK(make(8, 8, 18, cudaArrayCubemap | cudaArrayLayered));
    REFUSED(make(8, 4, 6, cudaArrayCubemap), cudaErrorInvalidValue);
    REFUSED(make(8, 8, 5, cudaArrayCubemap), cudaErrorInvalidValue);
    REFUSED(make(8, 8, 12, cudaArrayCubemap), cudaErrorInvalidValue);
    REFUSED(make(8, 8, 15, cudaArrayCubemap | cudaArrayLayered), cudaErrorInvalidValue);
    REFUSED(make(8, 8, 0, cudaArrayCubemap | cudaArrayLayered), cudaErrorInvalidValue);
}

static void layers_need_a_number(void **state)
{
    OK(make(8, 0, 3, cudaArrayLayered));
    OK(make(8, 4, 3, cudaArrayLayered | cudaArraySurfaceLoadStore));
    REFUSED(make(8, 4, 0, cudaArrayLayered), cudaErrorInvalidValue);
    REFUSED(make(8, 4, 2049, cudaArrayLayered), cudaErrorInvalidValue);
}

static void a_surface_needs_an_array_made_for_it(void **state)
{
    cudaArray_t plain, good;
    cudaSurfaceObject_t s;
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray}, kept;
    OK(cudaMalloc3DArray(&plain, &words, (struct cudaExtent){8, 4, 0}, 0));
    OK(cudaMalloc3DArray(&good, &words, (struct cudaExtent){8, 4, 0}, cudaArraySurfaceLoadStore));
    r.res.array.array = plain;
    REFUSED(cudaCreateSurfaceObject(&s, &r), cudaErrorInvalidValue);
    r.res.array.array = good;
    OK(cudaCreateSurfaceObject(&s, &r));
    OK(cudaGetSurfaceObjectResourceDesc(&kept, s));
    assert_ptr_equal(kept.res.array.array, good);
    OK(cudaDestroySurfaceObject(s));
    REFUSED(cudaGetSurfaceObjectResourceDesc(&kept, s), cudaErrorInvalidValue);
    r.resType = cudaResourceTypeLinear;
    REFUSED(cudaCreateSurfaceObject(&s, &r), cudaErrorInvalidValue);
    REFUSED(cudaCreateSurfaceObject(NULL, &r), cudaErrorInvalidValue);
    OK(cudaFreeArray(plain));
    OK(cudaFreeArray(good));
}

static void a_seamless_cube_map_is_refused(void **state)
{
    cudaArray_t a;
    cudaTextureObject_t t;
    OK(cudaMalloc3DArray(&a, &words, (struct cudaExtent){4, 4, 6}, cudaArrayCubemap));
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray, .res.array.array = a};
    struct cudaTextureDesc d = {.normalizedCoords = 1};
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    d.seamlessCubemap = 1;
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorNotSupported);
    OK(cudaFreeArray(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_map_has_six_square_faces),
        cmocka_unit_test(layers_need_a_number),
        cmocka_unit_test(a_surface_needs_an_array_made_for_it),
        cmocka_unit_test(a_seamless_cube_map_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
