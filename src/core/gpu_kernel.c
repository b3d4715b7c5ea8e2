/* gpu_kernel.c: the memory of a launch. */
#include "core/gpu_kernel.h"

struct gpu_kernel *gpu_kernel_create(const struct emu_launch *l, uint64_t stream, uint64_t id)
{
    struct gpu_kernel *k = mem_zalloc(sizeof *k);
    k->launch = *l;
    k->name = mem_strdup(l->kernel->name);
    k->id = id;
    k->stream = stream;
    if (l->kernel->param_bytes) {
        k->params = mem_alloc(l->kernel->param_bytes);
        memcpy(k->params, l->params, l->kernel->param_bytes);
        k->launch.params = k->params;
    }
    return k;
}

char *gpu_kernel_give_name(struct gpu_kernel *k)
{
    char *name = k->name;
    k->name = NULL;
    return name;
}

void gpu_kernel_free(struct gpu_kernel *k)
{
    assert(!k->measure.before);
    free(k->params);
    free(k->cta_starts);
    free(k->name);
    free(k->measure.owned.loads);
    free(k);
}
