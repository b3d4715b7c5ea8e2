/* fuzz_workload.c: any bytes as the description of a workload. */
#define _GNU_SOURCE /* mkstemps */
#include "fuzz_file.h"

#include "lab/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct workload_set set = {0};
    struct diag_list diags = {0};
    struct fuzz_file f = fuzz_file_open(data, size);
    const struct workload *w = workload_load_file(&set, f.path, "/programs", &diags);
    if (w) {
        require(w->name && *w->name && w->program && w->size_count && w->size_count <= WORKLOAD_SIZES_MAX);
        require(workload_find(&set, w->name) == w);
        for (uint32_t i = 0; i < w->size_count; i++) {
            uint32_t args = 0;
            while (w->sizes[i].args[args]) args++;
            require(w->sizes[i].name && args <= WORKLOAD_ARGS_MAX);
        }
        struct diag_list twice = {0};
        require(!workload_load_file(&set, f.path, "/programs", &twice)); /* its name is taken */
        diag_free(&twice);
    }
    fuzz_file_close(&f, w != NULL, &diags);
    workloads_free(&set);
    return 0;
}
