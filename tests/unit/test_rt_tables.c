/* test_rt_tables.c: the tables of libcudart: handles, error texts, device properties in three layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/rt_props.h"
#include "cuda/rt_table.h"
#include "rt_kit.h"

static void a_table_keeps_what_is_put_and_forgets_what_is_removed(void **state)
{
    enum { COUNT = 5000 };
    static char values[COUNT];
    struct rt_table t = {0};
    assert_null(rt_table_get(&t, 0));
    assert_null(rt_table_remove(&t, 1));
    for (uint64_t k = 0; k < COUNT; k++) rt_table_put(&t, k * 64, &values[k]);
    for (uint64_t k = 0; k < COUNT; k += 2) assert_ptr_equal(rt_table_remove(&t, k * 64), &values[k]);
    for (uint64_t k = 0; k < COUNT; k++)
        assert_ptr_equal(rt_table_get(&t, k * 64), k % 2 ? (void *)&values[k] : NULL);
    rt_table_put(&t, 64, &values[0]); /* replaces */
    assert_ptr_equal(rt_table_get(&t, 64), &values[0]);
    uint32_t seen = 0;
    for (uint32_t i = 0; rt_table_next(&t, &i);) seen++;
    assert_int_equal(seen, COUNT / 2);
    rt_table_free(&t);
    assert_null(rt_table_get(&t, 64));
}

static void a_table_that_is_filled_and_emptied_for_ever_stays_small(void **state)
{
    char value;
    struct rt_table t = {0};
    for (uint64_t k = 1; k < 100000; k++) {
        rt_table_put(&t, k, &value);
        assert_ptr_equal(rt_table_remove(&t, k), &value);
    }
    assert_true(t.slot_count <= 64);
    rt_table_free(&t);
}

static void errors_have_the_names_and_texts_of_the_manual(void **state)
{
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorName((cudaError_t)2), "cudaErrorMemoryAllocation");
    assert_string_equal(cudaGetErrorString((cudaError_t)2), "out of memory");
    assert_string_equal(cudaGetErrorString((cudaError_t)700), "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString((cudaError_t)719), "unspecified launch failure");
    assert_string_equal(cudaGetErrorName((cudaError_t)999), "cudaErrorUnknown");
    assert_string_equal(cudaGetErrorName((cudaError_t)10), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)-1), "unrecognized error code");
}

/* Offsets that nvcc 13.0 gives for its own struct, and those of the manuals of 11.8 and 12.9. */
static void properties_have_the_layout_of_each_cuda_version(void **state)
{
    assert_int_equal(offsetof(struct rt_props_13, totalGlobalMem), 288);
    assert_int_equal(offsetof(struct rt_props_13, major), 360);
    assert_int_equal(offsetof(struct rt_props_13, l2CacheSize), 596);
    assert_int_equal(offsetof(struct rt_props_13, sharedMemPerBlockOptin), 672);
    assert_int_equal(offsetof(struct rt_props_13, clusterLaunch), 748);
    assert_int_equal(offsetof(struct rt_props_12, clockRate), 348);
    assert_int_equal(offsetof(struct rt_props_11, clockRate), 348);
    assert_int_equal(offsetof(struct rt_props_12, hostRegisterSupported), sizeof(struct rt_props_11));
}

static void properties_come_from_the_machine(void **state)
{
    struct machine m = {.name = "x",
                        .device_name = "Some GPU",
                        .cc_major = 7,
                        .cc_minor = 5,
                        .sm_count = 21,
                        .core_clock_khz = 1400000,
                        .memory_bytes = 3ull << 30,
                        .cta_shared_bytes = 49152,
                        .cta_shared_optin_bytes = 65536,
                        .cta_threads = 1024};
    struct rt_props_13 p13 = rt_props_13(&m);
    struct rt_props_12 p12 = rt_props_12(&m);
    struct rt_props_11 p11 = rt_props_11(&m);
    assert_string_equal(p13.name, "Some GPU");
    assert_int_equal(p13.multiProcessorCount, 21);
    assert_int_equal(p13.totalGlobalMem, 3ull << 30);
    assert_int_equal(p13.maxThreadsDim[0], 1024);
    assert_int_equal(p12.clockRate, 1400000);
    assert_int_equal(p11.major, 7);
    assert_int_equal(p11.sharedMemPerBlockOptin, 65536);
    assert_memory_equal(&p13.uuid, &p11.uuid, 16);
    int value = -1;
    assert_true(rt_device_attribute(&m, 16, &value));
    assert_int_equal(value, 21);
    assert_true(rt_device_attribute(&m, 75, &value));
    assert_int_equal(value, 7);
    assert_true(rt_device_attribute(&m, 120, &value)); /* clusters: none */
    assert_int_equal(value, 0);
    assert_false(rt_device_attribute(&m, 0, &value));
    assert_false(rt_device_attribute(&m, 148, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_keeps_what_is_put_and_forgets_what_is_removed),
        cmocka_unit_test(a_table_that_is_filled_and_emptied_for_ever_stays_small),
        cmocka_unit_test(errors_have_the_names_and_texts_of_the_manual),
        cmocka_unit_test(properties_have_the_layout_of_each_cuda_version),
        cmocka_unit_test(properties_come_from_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
