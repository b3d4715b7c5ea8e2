/* test_gpu_origin.c: device code without PTX is refused in words that say where it comes from: a library, the
 * program, or a compiler at run time. And the compute capability that a program with PTX of its own sees. */
#define _GNU_SOURCE
#include "cuda/fatbin.h"
#include "cuda/gpu.h"
#include "cuda/gpu_impl.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "fatbin_section.h"
#include "said_kit.h"

/* The program's own: the first can run from 7.5 on, the second from 8.0, the third has no PTX. */
static const struct section_fatbin own[] IN_FATBIN_SECTION = {
    SECTION_FATBIN(SECTION_ENTRY(SECTION_PTX, 90), SECTION_ENTRY(SECTION_PTX, 75)),
    SECTION_FATBIN(SECTION_ENTRY(SECTION_CUBIN, 75), SECTION_ENTRY(SECTION_PTX, 80)),
    SECTION_FATBIN(SECTION_ENTRY(SECTION_CUBIN, 75), SECTION_ENTRY(SECTION_CUBIN, 90)),
};
static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";

static enum gpu_status load(const void *image, size_t len, struct strbuf *said)
{
    struct gpu_module *m = NULL;
    said_begin();
    enum gpu_status status = gpu_module_load(gpu_get(), "image", image, len, &m);
    said_end(said);
    gpu_module_unload(gpu_get(), m);
    return status;
}

static void lowest_architecture_of_a_fatbin(void **state)
{
    assert_int_equal(fatbin_lowest_ptx(&own[0], sizeof own[0]), 75);
    assert_int_equal(fatbin_lowest_ptx(&own[1], sizeof own[1]), 80);
    assert_int_equal(fatbin_lowest_ptx(&own[2], sizeof own[2]), 0);
    assert_int_equal(fatbin_lowest_ptx(&own[0], sizeof own[0] - 1), 0); /* cut off */
}

static void a_program_sees_what_its_ptx_asks_for(void **state)
{
    static const struct {
        uint32_t major, minor;
        bool exact;
        uint32_t seen;
    } rows[] = {{2, 0, false, 80}, {5, 2, false, 80}, {8, 6, false, 86}, {5, 2, true, 52}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct machine m = {.cc_major = rows[i].major, .cc_minor = rows[i].minor, .cc_exact = rows[i].exact};
        gpu_capability_set(&m);
        assert_int_equal(m.cc_major * 10 + m.cc_minor, rows[i].seen);
    }
    const struct machine *m = gpu_machine(gpu_get());
    assert_int_equal(m->cc_major * 10 + m->cc_minor, 80);
}

static void machine_code_in_the_program(void **state)
{
    struct strbuf said = {0};
    assert_int_equal(load(&own[2], sizeof own[2], &said), GPU_NO_BINARY);
    assert_string_equal(
        strbuf_text(&said),
        "image: error: holds machine code of a real GPU but no PTX\n"
        "  hint: rebuild with PTX embedded, e.g. nvcc -gencode arch=compute_75,code=compute_75\n");
    strbuf_free(&said);
}

/* As nvrtcGetCUBIN gives it to a program that asked for sm_NN. */
static void machine_code_made_at_run_time(void **state)
{
    Elf64_Ehdr *cubin = mem_zalloc(4096);
    struct strbuf said = {0};
    memcpy(cubin->e_ident, ELFMAG, SELFMAG);
    cubin->e_machine = EM_CUDA;
    assert_int_equal(load(cubin, 4096, &said), GPU_NO_BINARY);
    assert_string_equal(
        strbuf_text(&said),
        "image: error: made or read at run time, holds machine code of a real GPU but no PTX\n"
        "  hint: have the compiler make PTX: nvrtcGetPTX with --gpu-architecture=compute_75 instead "
        "of nvrtcGetCUBIN with sm_75; nvcc -ptx instead of -cubin\n");
    strbuf_free(&said);
    free(cubin);
}

/* A library is named at the first module that is loaded after it, once; its own images add nothing. */
static void a_library_without_ptx(void **state)
{
    struct strbuf said = {0};
    assert_int_equal(load(ptx, sizeof ptx, &said), GPU_OK);
    assert_int_equal(said.len, 0);
    void *library = dlopen(CUBIN_ONLY, RTLD_NOW);
    assert_non_null(library);
    assert_int_equal(load(ptx, sizeof ptx, &said), GPU_OK);
    assert_string_equal(
        strbuf_text(&said),
        "libcubin_only.so: note: this library ships machine code of real GPUs without PTX, and Heddle "
        "runs PTX: calls that need this code fail\n"
        "  hint: use a build of the library with PTX, or kernels of your own in place of its calls\n");
    strbuf_free(&said);
    assert_int_equal(load(dlsym(library, "cubin_only"), 0, &said), GPU_NO_BINARY);
    assert_int_equal(load(ptx, sizeof ptx, &said), GPU_OK);
    assert_int_equal(said.len, 0);
    dlclose(library);
}

int main(void)
{
    setenv("HEDDLE_MACHINE", "fermi", 1);
    setenv("HEDDLE_QUIET", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_architecture_of_a_fatbin),
        cmocka_unit_test(a_program_sees_what_its_ptx_asks_for),
        cmocka_unit_test(machine_code_in_the_program),
        cmocka_unit_test(machine_code_made_at_run_time),
        cmocka_unit_test(a_library_without_ptx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
