/* kit.c: options, the device, memory and launches. */
#include "kit.h"

#include <stdarg.h>

#define KIT_LIMIT 4096 /* buffers that one workload may hold */

/* In embed.c. */
extern const char kit_ptx[];
void kit_random_seed(uint64_t seed);

static struct {
    const char *name, *ptx, *size;
    bool checking, failed;
    CUdevice device;
    CUmodule module;
    void *host[KIT_LIMIT];
    CUdeviceptr buffers[KIT_LIMIT];
    CUtexObject textures[64];
    unsigned n_host, n_buffers, n_textures;
} kit;

void kit_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    fprintf(stderr, "%s: error: ", kit.name ? kit.name : "workload");
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

void kit_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%s: ", kit.name);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

void kit_check(bool holds, const char *fmt, ...)
{
    if (holds) return;
    va_list ap;
    va_start(ap, fmt);
    printf("%s: wrong: ", kit.name);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    kit.failed = true;
}

static void kit_ok(CUresult result, const char *what)
{
    if (!result) return;
    const char *text = NULL;
    if (cuGetErrorString(result, &text) || !text) text = "unknown error";
    kit_fail("%s: %s (%d)", what, text, result);
}
#define OK(call, ...) kit_ok(call(__VA_ARGS__), #call)

static void kit_usage(FILE *to)
{
    fprintf(to,
            "usage: %s [--size NAME] [--seed N] [--no-check] [--ptx FILE]\n"
            "  --size      how much work: tiny (default) or another size of workload.yaml\n"
            "  --seed      of the generated input (default 1)\n"
            "  --no-check  do not compute the CPU reference\n"
            "  --ptx       take the kernels from this file, not from the one linked in\n",
            kit.name);
}

static uint64_t kit_read_seed(const char *text)
{
    char *end;
    uint64_t seed = strtoull(text, &end, 0);
    if (*end || end == text || *text == '-') kit_fail("--seed takes a number, not '%s'", text);
    return seed;
}

static const char *kit_read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long bytes = -1;
    if (f && !fseek(f, 0, SEEK_END)) bytes = ftell(f);
    if (bytes < 0) kit_fail("cannot read %s", path);
    rewind(f);
    char *text = kit_host((size_t)bytes + 1);
    if (fread(text, 1, (size_t)bytes, f) != (size_t)bytes) kit_fail("cannot read %s", path);
    fclose(f);
    return text;
}

static void kit_options(int argc, char **argv)
{
    uint64_t seed = 1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--help")) {
            kit_usage(stdout);
            exit(0);
        } else if (!strcmp(argv[i], "--no-check")) {
            kit.checking = false;
        } else if (!strcmp(argv[i], "--size") && value) {
            kit.size = argv[++i];
        } else if (!strcmp(argv[i], "--ptx") && value) {
            kit.ptx = kit_read_file(argv[++i]);
        } else if (!strcmp(argv[i], "--seed") && value) {
            seed = kit_read_seed(argv[++i]);
        } else {
            fprintf(stderr, "%s: error: unknown or incomplete option '%s'\n", kit.name, argv[i]);
            kit_usage(stderr);
            exit(2);
        }
    }
    kit_random_seed(seed);
}

void kit_open(const char *name, int argc, char **argv)
{
    kit.name = name;
    kit.checking = true;
    kit.ptx = kit_ptx;
    kit.size = "tiny";
    kit_options(argc, argv);
    CUcontext context;
    OK(cuInit, 0);
    OK(cuDeviceGet, &kit.device, 0);
    OK(cuDevicePrimaryCtxRetain, &context, kit.device);
    OK(cuCtxSetCurrent, context);
    OK(cuModuleLoadDataEx, &kit.module, kit.ptx, 0, NULL, NULL);
}

const void *kit_choose(const void *rows, size_t count, size_t row_bytes)
{
    char names[256] = "";
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * row_bytes, *name;
        memcpy(&name, row, sizeof name);
        if (!strcmp(kit.size, name)) return row;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    }
    kit_fail("no size '%s': there are %s", kit.size, names);
}

enum kit_size kit_size(void)
{
    static const struct three {
        const char *name;
        enum kit_size size;
    } three[] = {{"tiny", KIT_TINY}, {"small", KIT_SMALL}, {"paper", KIT_PAPER}};
    return ((const struct three *)KIT_CHOOSE(three))->size;
}

bool kit_checking(void) { return kit.checking; }

int kit_close(void)
{
    kit_ok(cuCtxSynchronize(), "cuCtxSynchronize");
    for (unsigned i = 0; i < kit.n_textures; i++) OK(cuTexObjectDestroy, kit.textures[i]);
    for (unsigned i = 0; i < kit.n_buffers; i++)
        if (kit.buffers[i]) OK(cuMemFree_v2, kit.buffers[i]);
    for (unsigned i = 0; i < kit.n_host; i++) free(kit.host[i]);
    OK(cuModuleUnload, kit.module);
    OK(cuDevicePrimaryCtxRelease_v2, kit.device);
    kit_note(kit.failed ? "FAIL" : kit.checking ? "PASS" : "ran, not checked");
    return kit.failed;
}

void *kit_host(size_t bytes)
{
    if (kit.n_host == KIT_LIMIT) kit_fail("more than %d host buffers", KIT_LIMIT);
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) kit_fail("no memory for %zu bytes", bytes);
    return kit.host[kit.n_host++] = p;
}

CUdeviceptr kit_alloc(size_t bytes)
{
    if (kit.n_buffers == KIT_LIMIT) kit_fail("more than %d device buffers", KIT_LIMIT);
    CUdeviceptr p;
    OK(cuMemAlloc_v2, &p, bytes ? bytes : 1);
    return kit.buffers[kit.n_buffers++] = p;
}

CUdeviceptr kit_zeros(size_t bytes)
{
    CUdeviceptr p = kit_alloc(bytes);
    OK(cuMemsetD8_v2, p, 0, bytes);
    return p;
}

CUdeviceptr kit_upload(const void *from, size_t bytes)
{
    CUdeviceptr p = kit_alloc(bytes);
    kit_put(p, from, bytes);
    return p;
}

void kit_free(CUdeviceptr address)
{
    for (unsigned i = 0; i < kit.n_buffers; i++)
        if (kit.buffers[i] == address) {
            OK(cuMemFree_v2, address);
            kit.buffers[i] = kit.buffers[--kit.n_buffers];
            return;
        }
    kit_fail("kit_free of what kit_alloc did not give");
}

void kit_put(CUdeviceptr to, const void *from, size_t bytes) { OK(cuMemcpyHtoD_v2, to, from, bytes); }
void kit_download(void *to, CUdeviceptr from, size_t bytes) { OK(cuMemcpyDtoH_v2, to, from, bytes); }
void kit_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { OK(cuMemcpyDtoD_v2, to, from, bytes); }
void kit_set32(CUdeviceptr at, uint32_t value, size_t n) { OK(cuMemsetD32_v2, at, value, n); }
void kit_sync(void) { kit_ok(cuCtxSynchronize(), "cuCtxSynchronize"); }

static CUdeviceptr kit_symbol_sized(const char *name, size_t *bytes)
{
    CUdeviceptr at;
    CUresult result = cuModuleGetGlobal_v2(&at, bytes, kit.module, name);
    if (result) kit_fail("no variable '%s' in the PTX (%d)", name, result);
    return at;
}

CUdeviceptr kit_symbol(const char *name)
{
    size_t bytes;
    return kit_symbol_sized(name, &bytes);
}

void kit_set_symbol(const char *name, const void *from, size_t bytes)
{
    size_t room;
    CUdeviceptr at = kit_symbol_sized(name, &room);
    if (bytes > room) kit_fail("variable '%s' has %zu bytes, not %zu", name, room, bytes);
    kit_put(at, from, bytes);
}

CUtexObject kit_texture(CUdeviceptr at, size_t bytes, int format, unsigned channels)
{
    if (kit.n_textures == sizeof kit.textures / sizeof *kit.textures) kit_fail("too many textures");
    struct CUresource resource = {.type = CU_RESOURCE_TYPE_LINEAR,
                                  .of.linear = {at, format, channels, bytes}};
    struct CUtexture texture = {.flags = 1};
    OK(cuTexObjectCreate, &kit.textures[kit.n_textures], &resource, &texture, NULL);
    return kit.textures[kit.n_textures++];
}

void kit_launch(const char *kernel, struct kit_dim grid, struct kit_dim block, unsigned shared, void **args)
{
    CUfunction f;
    CUresult result = cuModuleGetFunction(&f, kit.module, kernel);
    if (result) kit_fail("no kernel '%s' in the PTX (%d)", kernel, result);
    result = cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, NULL, args, NULL);
    kit_ok(result, kernel);
}
