/* record.c: runs every form of forms.tsv on a real GPU and writes what it gave. Not part of the build: see
 * README.md.
 *
 *   record forms.tsv OUT.bin
 * Each form runs twice; one whose two results differ is named on stderr and left out. The file is a line of
 * text that says where it comes from, then for each form: name (zero-terminated), hash of the operand cells
 * (8 bytes), number of bytes that follow (4 bytes), then every destination column as n values of the type's
 * size, little-endian. */
#include "base/hash.h"
#include "opcode_forms.h"
#include "opcode_texture.h"
#include "values.h"

#include <cuda.h>
#include <time.h>

/* The form that runs, for messages. */
static const char *form_name = "";

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        CUresult status_ = (call);                                                                           \
        if (status_ != CUDA_SUCCESS) {                                                                       \
            const char *text_ = "?";                                                                         \
            cuGetErrorString(status_, &text_);                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n%s\n", __FILE__, __LINE__, #call, text_, form_name);             \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { BATCH = 64, CELLS_MAX = 4096 * FORM_OPERANDS_MAX, SCRATCH_BYTES = 4096 + 4096 * FORM_CELL_BYTES };

struct recorder {
    CUdeviceptr in, out, scratch;
    FILE *file;
    uint32_t recorded, failed, unstable;
};

static CUarray_format array_format(const struct tex_desc *t)
{
    if (t->kind == 'f') return t->bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    if (t->kind == 'u')
        return t->bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
               : t->bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                               : CU_AD_FORMAT_UNSIGNED_INT32;
    return t->bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
           : t->bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
                           : CU_AD_FORMAT_SIGNED_INT32;
}

struct texture {
    /* CUtexObject or CUsurfObject */
    unsigned long long object;
    bool is_surface;
    /* one of the two holds the texels */
    CUarray array;
    CUdeviceptr linear;
};

static CUDA_RESOURCE_DESC linear_resource(const struct tex_desc *t, const void *texels, struct texture *out)
{
    CHECK(cuMemAlloc(&out->linear, tex_bytes(t)));
    CHECK(cuMemcpyHtoD(out->linear, texels, tex_bytes(t)));
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                .res.linear = {.devPtr = out->linear,
                                               .format = array_format(t),
                                               .numChannels = t->channels,
                                               .sizeInBytes = tex_bytes(t)}};
}

static CUDA_RESOURCE_DESC array_resource(const struct tex_desc *t, const void *texels, struct texture *out)
{
    CUDA_ARRAY3D_DESCRIPTOR a = {.Width = t->width,
                                 .Height = t->height,
                                 .Depth = t->layers ? t->layers : t->depth,
                                 .Format = array_format(t),
                                 .NumChannels = t->channels};
    if (t->layers && !(t->is_cube && t->layers == 6)) a.Flags |= CUDA_ARRAY3D_LAYERED;
    if (t->is_cube) a.Flags |= CUDA_ARRAY3D_CUBEMAP;
    if (t->is_surface) a.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    CHECK(cuArray3DCreate(&out->array, &a));
    size_t row = (size_t)t->width * tex_texel_bytes(t);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = row,
                          .srcHeight = MAX(t->height, 1u),
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = out->array,
                          .WidthInBytes = row,
                          .Height = MAX(t->height, 1u),
                          .Depth = MAX(a.Depth, 1u)};
    CHECK(cuMemcpy3D(&copy));
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = out->array};
}

static struct texture make_texture(const char *text)
{
    struct tex_desc t;
    struct texture out = {0};
    if (!tex_parse(text, &t)) {
        fprintf(stderr, "bad texture '%s'\n", text);
        exit(1);
    }
    void *texels = mem_alloc(tex_bytes(&t));
    tex_fill(&t, texels);
    CUDA_RESOURCE_DESC res =
        t.linear_memory ? linear_resource(&t, texels, &out) : array_resource(&t, texels, &out);
    free(texels);
    out.is_surface = t.is_surface;
    if (t.is_surface) {
        CHECK(cuSurfObjectCreate(&out.object, &res));
        return out;
    }
    CUDA_TEXTURE_DESC tex = {.filterMode =
                                 t.filter == TEX_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT};
    for (int i = 0; i < 3; i++) tex.addressMode[i] = (CUaddress_mode)t.address;
    memcpy(tex.borderColor, t.border, sizeof t.border);
    if (t.normalized_coords) tex.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (t.kind != 'f' && !t.read_normalized) tex.flags |= CU_TRSF_READ_AS_INTEGER;
    CHECK(cuTexObjectCreate(&out.object, &res, &tex, NULL));
    return out;
}

static void free_texture(const struct texture *t)
{
    CHECK(t->is_surface ? cuSurfObjectDestroy(t->object) : cuTexObjectDestroy(t->object));
    if (t->array) CHECK(cuArrayDestroy(t->array));
    if (t->linear) CHECK(cuMemFree(t->linear));
}

static void run_once(struct recorder *r, const struct form *f, CUfunction fn, unsigned long long texture,
                     uint64_t *out)
{
    CHECK(cuMemsetD8(r->out, 0, (size_t)f->out_count * f->n * 8));
    CHECK(cuMemsetD8(r->scratch, 0, SCRATCH_BYTES));
    void *args[] = {&r->in, &r->out, &r->scratch, &texture};
    CHECK(cuLaunchKernel(fn, f->grid[0], f->grid[1], f->grid[2], f->block[0], f->block[1], f->block[2], 0,
                         NULL, args, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(out, r->out, (size_t)f->out_count * f->n * 8));
}

static void record_form(struct recorder *r, const struct form *f, CUfunction fn)
{
    static uint64_t in[CELLS_MAX], out[CELLS_MAX], again[CELLS_MAX];
    form_name = f->name;
    values_fill(f, in);
    size_t in_bytes = (size_t)f->in_count * f->n * 8, out_bytes = (size_t)f->out_count * f->n * 8;
    CHECK(cuMemcpyHtoD(r->in, in, in_bytes));
    struct texture texture = {0};
    for (int time = 0; time < 2; time++) { /* a fresh texture each time: a surface is written */
        if (f->tex) texture = make_texture(f->tex);
        run_once(r, f, fn, texture.object, time ? again : out);
        if (f->tex) free_texture(&texture);
    }
    if (memcmp(out, again, out_bytes)) {
        fprintf(stderr, "unstable: %s\n", f->name);
        r->unstable++;
        return;
    }
    uint64_t hash = hash_bytes(HASH_SEED, in, in_bytes);
    fwrite(f->name, 1, strlen(f->name) + 1, r->file);
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < f->out_count; k++) bytes += f->n * form_type_bytes(f->outs[k].type);
    fwrite(&hash, 8, 1, r->file);
    fwrite(&bytes, 4, 1, r->file);
    for (uint32_t k = 0; k < f->out_count; k++)
        for (uint32_t i = 0; i < f->n; i++)
            fwrite(&out[(size_t)k * f->n + i], form_type_bytes(f->outs[k].type), 1, r->file);
    r->recorded++;
}

static void record_batch(struct recorder *r, const struct forms *forms, uint32_t from, uint32_t to)
{
    struct strbuf ptx = {0};
    form_emit_header(&ptx);
    for (uint32_t i = from; i < to; i++) {
        char kernel[16];
        snprintf(kernel, sizeof kernel, "k%u", i);
        form_emit_kernel(&ptx, &forms->list.data[i], kernel);
    }
    CUmodule module;
    CUresult status = cuModuleLoadData(&module, strbuf_text(&ptx));
    strbuf_free(&ptx);
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "forms %u to %u do not load: error %d\n", from, to, status);
        r->failed += to - from;
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        char kernel[16];
        snprintf(kernel, sizeof kernel, "k%u", i);
        CUfunction fn;
        if (cuModuleGetFunction(&fn, module, kernel) !=
            CUDA_SUCCESS) { /* its compiler dropped it in silence */
            fprintf(stderr, "not in the module: %s\n", forms->list.data[i].name);
            r->failed++;
            continue;
        }
        record_form(r, &forms->list.data[i], fn);
    }
    CHECK(cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    struct forms forms = {0};
    struct strbuf error = {0};
    if (argc != 3 || !forms_read(&forms, argv[1], &error)) {
        fprintf(stderr, "%s", argc != 3 ? "usage: record forms.tsv OUT.bin\n" : strbuf_text(&error));
        return 2;
    }
    CUdevice device;
    CUcontext context;
    int driver = 0;
    char name[128];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDriverGetVersion(&driver));
    struct recorder r = {.file = fopen(argv[2], "wb")};
    if (!r.file) return 2;
    CHECK(cuMemAlloc(&r.in, CELLS_MAX * 8));
    CHECK(cuMemAlloc(&r.out, CELLS_MAX * 8));
    CHECK(cuMemAlloc(&r.scratch, SCRATCH_BYTES));
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(r.file, "heddle opcode record 1; %s; CUDA driver API %d.%d; %s\n", name, driver / 1000,
            driver % 1000 / 10, date);
    for (uint32_t i = 0; i < forms.list.len; i += BATCH)
        record_batch(&r, &forms, i, MIN(i + BATCH, forms.list.len));
    bool ok = fclose(r.file) == 0;
    printf("%s: %u forms recorded, %u unstable, %u failed to load\n", name, r.recorded, r.unstable, r.failed);
    return ok && r.failed == 0 ? 0 : 1;
}
