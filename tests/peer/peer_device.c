/* peer_device.c: what peer_host.c asks of the CUDA runtime, on an emulated device: kernels.ptx lowered one to
 * one, so that instructions are those of PTX. */
#include "peer.h"

#include "emu/emu.h"
#include "lower/lower.h"
#include "peer_functional.h"
#include "peer_timed.h"

struct dim3 {
    unsigned x, y, z;
};
enum { PEER_KERNELS_MAX = 32, CUDA_ERROR = 999, COPY_TO_DEVICE = 1 };

/* Their buffers lie one behind the other from 0xC0000000 on, which is a multiple of all that sets, slices and
 * channels are made of (six channels of 256 bytes; 2 MiB of sets, banks and columns). So do ours, from such a
 * multiple on: which lines meet in a set decides over the hits. */
enum { BUFFER_UNIT = 256, BUFFERS_ALIGN = 6 << 20, BUFFERS_BYTES = 32 << 20 };

/* The runtime API has no handle of a device: it is the process's. */
static struct {
    struct emu_device *device;
    struct emu_module *module;
    struct peer_timed *timed; /* NULL: functional */
    struct {
        const char *handle, *name;
    } kernels[PEER_KERNELS_MAX];
    uint32_t kernel_count;
    uint64_t buffers, buffers_end; /* where the next buffer begins; the end of the room for them */
    struct peer_counts counts;
} peer;

void **__cudaRegisterFatBinary(void *fatbin);
void __cudaRegisterFunction(void **module, const char *handle, char *device_name, const char *name, int limit,
                            void *tid, void *bid, void *block, void *grid);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream);
int cudaLaunchKernel(const char *handle, struct dim3 grid, struct dim3 block, const void **args,
                     size_t shared, void *stream);
int cudaMalloc(void **out, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaThreadSynchronize(void);

static const struct emu_limits gtx480_limits = {.threads_per_cta_max = 1024,
                                                .grid_max = {65535, 65535, 65535},
                                                .block_max = {1024, 1024, 64},
                                                .shared_per_cta_max = 48 << 10,
                                                .regs_per_cta_max = 32768,
                                                .sm_count = 15,
                                                .stack_bytes = 1024,
                                                .heap_bytes = 8 << 20,
                                                .clock_khz = 700000};

static void die(const char *text)
{
    fprintf(stderr, "%s\n", text);
    exit(3);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) die(path);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *text = mem_zalloc(*len + 1);
    if (fread(text, 1, *len, f) != *len) die(path);
    fclose(f);
    return text;
}

static void open_device(void)
{
    struct diag_list diags = {0};
    size_t len;
    char *text = read_file(PEER_DIR "/kernels.ptx", &len);
    peer.device = emu_device_create(&gtx480_limits, 1536ull << 20);
    if (!peer.device) die("no device memory");
    struct ptx_module *ptx = ptx_parse("kernels.ptx", text, len, &diags);
    struct isa_module *isa =
        ptx ? lower_module(ptx, &(struct lower_options){.one_to_one = true}, &diags) : NULL;
    if (isa) peer.module = emu_module_load(peer.device, isa, NULL, NULL, &diags);
    uint64_t room = space_alloc(emu_device_space(peer.device), BUFFERS_BYTES + BUFFERS_ALIGN, BUFFER_UNIT,
                                SPACE_DEVICE, "buffers");
    if (!room) die("no room for the buffers");
    peer.buffers = SPACE_BASE + round_up_u64(room - SPACE_BASE, BUFFERS_ALIGN);
    peer.buffers_end = room + BUFFERS_BYTES + BUFFERS_ALIGN;
    if (!peer.module) {
        struct strbuf why = {0};
        diag_render(&diags, &why);
        die(strbuf_text(&why));
    }
    ptx_module_free(ptx);
    diag_free(&diags);
    free(text);
}

bool peer_use_machine(const struct peer_machine *m)
{
    open_device();
    if (m->name) peer.timed = peer_timed_open(peer.device, m);
    return !m->name || peer.timed;
}

struct peer_counts peer_counts(void) { return peer.counts; }

void **__cudaRegisterFatBinary(void *fatbin) { return NULL; }

void __cudaRegisterFunction(void **module, const char *handle, char *device_name, const char *name, int limit,
                            void *tid, void *bid, void *block, void *grid)
{
    assert(peer.kernel_count < PEER_KERNELS_MAX);
    peer.kernels[peer.kernel_count].handle = handle;
    peer.kernels[peer.kernel_count++].name = name;
}

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
    return 0;
}

static const struct isa_kernel *kernel_of(const char *handle)
{
    for (uint32_t i = 0; i < peer.kernel_count; i++)
        if (peer.kernels[i].handle == handle) return emu_find_kernel(peer.module, peer.kernels[i].name);
    return NULL;
}

int cudaLaunchKernel(const char *handle, struct dim3 grid, struct dim3 block, const void **args,
                     size_t shared, void *stream)
{
    const struct isa_kernel *k = kernel_of(handle);
    if (!k) return CUDA_ERROR;
    uint8_t *params = mem_zalloc(k->param_bytes + 1);
    for (uint32_t i = 0; i < k->param_count; i++)
        memcpy(params + k->params[i].offset, args[i], k->params[i].bytes);
    struct emu_launch l = {.module = peer.module,
                           .kernel = k,
                           .grid = {grid.x, grid.y, grid.z},
                           .block = {block.x, block.y, block.z},
                           .shared_dynamic_bytes = (uint32_t)shared,
                           .params = params};
    struct emu_fault fault = {.kind = EMU_OK};
    if (peer.timed)
        peer_timed_run(peer.timed, &l, &peer.counts, &fault);
    else
        peer_functional_run(peer.device, &l, &peer.counts, &fault);
    free(params);
    if (fault.kind != EMU_OK) fprintf(stderr, "%s", fault.message);
    return fault.kind == EMU_OK ? 0 : CUDA_ERROR;
}

int cudaMalloc(void **out, size_t bytes)
{
    uint64_t rounded = round_up_u64(bytes, BUFFER_UNIT);
    if (rounded > peer.buffers_end - peer.buffers) return CUDA_ERROR;
    *out = (void *)(uintptr_t)peer.buffers;
    peer.buffers += rounded;
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    memcpy(to, from, bytes); /* device memory is memory of the process */
    if (kind == COPY_TO_DEVICE && peer.timed) peer_timed_copy(peer.timed, (uint64_t)(uintptr_t)to, bytes);
    return 0;
}

int cudaThreadSynchronize(void) { return 0; }
