/* gpu_origin.c: device code without PTX: where it comes from, and what to do about it.
 *
 * Libraries such as cuBLAS, cuFFT and cuDNN ship machine code of real GPUs, much of it without PTX. A
 * library into which the CUDA runtime was linked never shows such code to the driver: its call fails for
 * reasons of its own. So the files of all loaded libraries are looked at when the GPU is made and when a
 * module is loaded, and each one with such code is named once. An image that is loaded is told apart by its
 * address: it lies in a file that is mapped, or was made or read at run time. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "cuda/elf.h"
#include "cuda/fatbin.h"
#include "cuda/gpu_impl.h"
#include "cuda/map_file.h"

#include <dlfcn.h>
#include <link.h>

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_library(const char *path) { return strstr(file_name(path), ".so") != NULL; }

/* True the first time for each name. */
static bool first_mention(struct gpu *g, const char *library)
{
    for (uint32_t i = 0; i < g->libraries_named.len; i++)
        if (!strcmp(g->libraries_named.data[i], library)) return false;
    vec_push(&g->libraries_named, mem_strdup(library));
    return true;
}

static void explain(struct diag_list *diags, enum diag_level level, const char *file, const char *hint,
                    const char *what)
{
    struct diag_source src = {.file = file};
    diag_add(diags, level, &src, 0, 0, 0, hint, "%s", what);
}

static void explain_library(struct gpu *g, const char *path, enum diag_level level, struct diag_list *diags)
{
    if (!first_mention(g, file_name(path))) return;
    explain(
        diags, level, file_name(path),
        "use a build of the library with PTX, or kernels of your own in place of its calls",
        "this library ships machine code of real GPUs without PTX, and Heddle runs PTX: calls that need this "
        "code fail");
}

/* ---- the libraries that are loaded ---- */

/* Relocatable device code (section 1) is also there as the device linker's machine code (section 0), which
 * never has PTX and is not needed. */
static bool lacks_ptx(const void *image, size_t len)
{
    struct elf_fatbin_cursor cursor = {0};
    struct elf_section fatbin;
    bool found[2] = {0}, lacking[2] = {0};
    while (elf_is(image, len) && elf_next_fatbin(image, len, &cursor, &fatbin)) {
        found[cursor.section & 1] = true;
        lacking[cursor.section & 1] |= !fatbin_lowest_ptx(fatbin.data, fatbin.len);
    }
    return lacking[found[1]];
}

struct search {
    struct gpu *gpu;
    struct diag_list diags;
    uint32_t index;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *s = context;
    struct mapped_file file;
    (void)size;
    if (s->index++ < s->gpu->objects_seen || !info->dlpi_name || !is_library(info->dlpi_name)) return 0;
    if (!map_file(info->dlpi_name, &file)) return 0;
    if (lacks_ptx(file.data, file.len)) explain_library(s->gpu, info->dlpi_name, DIAG_NOTE, &s->diags);
    unmap_file(&file);
    return 0;
}

/* New objects come at the end of the list; after a dlclose some may be looked at twice, which does no
 * harm. */
void gpu_note_libraries(struct gpu *g)
{
    struct search s = {.gpu = g};
    dl_iterate_phdr(look_at, &s);
    g->objects_seen = s.index;
    gpu_report(&s.diags, NULL);
    diag_free(&s.diags);
}

/* ---- an image that was to be loaded ---- */

void gpu_explain_no_ptx(struct gpu *g, const char *name, bool has_machine_code, const void *origin,
                        struct diag_list *diags)
{
    static const char rebuild[] =
        "rebuild with PTX embedded, e.g. nvcc -gencode arch=compute_75,code=compute_75";
    Dl_info info;
    bool is_mapped = dladdr(origin, &info) && info.dli_fname;
    if (!has_machine_code)
        explain(diags, DIAG_ERROR, name, rebuild, "holds no PTX");
    else if (is_mapped && is_library(info.dli_fname))
        explain_library(g, info.dli_fname, DIAG_ERROR, diags);
    else if (is_mapped)
        explain(diags, DIAG_ERROR, name, rebuild, "holds machine code of a real GPU but no PTX");
    else
        explain(diags, DIAG_ERROR, name,
                "have the compiler make PTX: nvrtcGetPTX with --gpu-architecture=compute_75 instead of "
                "nvrtcGetCUBIN with sm_75; nvcc -ptx instead of -cubin",
                "made or read at run time, holds machine code of a real GPU but no PTX");
}
