/* gpu_capability.c: the compute capability that programs see.
 *
 * A machine has its own (device.cc_major, device.cc_minor), but nvcc 13 builds for 7.5 at least, and a
 * program that is told less than its code asks for takes that for a mistake. So programs see the higher of
 * the machine's capability and what the program's file asks for: the lowest architecture of each fatbin that
 * has PTX, the highest of these. A program without PTX of its own loads or makes its code at run time and
 * sees at least 7.5, the least that the compilers of CUDA 13 make code for. It is worked out when the GPU is
 * made, from the file alone, and never changes: before and after registrations, with the shared and the
 * static runtime, every call tells the same. device.cc_exact=true reports the machine's own whatever the
 * program needs. */
#include "cuda/elf.h"
#include "cuda/fatbin.h"
#include "cuda/gpu_impl.h"
#include "cuda/map_file.h"

enum { CAPABILITY_LEAST = 75 };

static uint32_t needed_by_image(const void *image, size_t len)
{
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section fatbin;
    uint32_t need = 0;
    while (elf_is(image, len) && elf_next_fatbin(image, len, &cursor, &fatbin))
        need = MAX(need, fatbin_lowest_ptx(fatbin.data, fatbin.len));
    return need;
}

/* 0: the program's file has no PTX, or cannot be read. */
static uint32_t needed_by_program(void)
{
    struct mapped_file program;
    if (!map_file("/proc/self/exe", &program)) return 0;
    uint32_t need = needed_by_image(program.data, program.len);
    unmap_file(&program);
    return need;
}

void gpu_capability_set(struct machine *m)
{
    if (m->cc_exact) return;
    uint32_t need = needed_by_program();
    if (!need) need = CAPABILITY_LEAST;
    if (m->cc_major * 10 + m->cc_minor >= need) return;
    m->cc_major = need / 10;
    m->cc_minor = need % 10;
}
