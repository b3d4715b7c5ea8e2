/* libcuda_export.c: cuGetExportTable: the tables of functions by which a CUDA runtime that is linked into a
 * program (nvcc's default) reaches parts of the driver that have no public names.
 *
 * A table is found by a 16-byte id and is an array of pointers, the first of which is its own size in bytes
 * (but for context-local storage, which starts with a function). Ids and the meaning of slots: published by
 * the ZLUDA project (dark_api/src/lib.rs), and checked by running programs built by nvcc 13. A slot whose
 * meaning is not known holds a function that names itself and refuses. */
#include "cuda/libcuda_export.h"

#include <stdatomic.h>

static atomic_bool runtime_linked;
bool cu_runtime_linked(void) { return atomic_load(&runtime_linked); }

/* ---- slots that are not known ---- */

static CUresult refuse(atomic_flag *said, const char *table, int slot)
{
    if (!atomic_flag_test_and_set(said))
        fprintf(stderr, "heddle: slot %d of the driver's table '%s' is not supported\n", slot, table);
    return CUDA_ERROR_NOT_SUPPORTED;
}
#define UNKNOWN(table, slot)                                                                                 \
    static CUresult table##_unknown_##slot(void)                                                             \
    {                                                                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                          \
        return refuse(&said, #table, slot);                                                                  \
    }
#define SLOT(f)  ((const void *)(uintptr_t)(f))
#define BYTES(t) ((const void *)(uintptr_t)sizeof(t))

/* ---- the runtime's own interface ---- */

/* Loads the fatbin behind a wrapper, for the current context. */
static CUresult runtime_load(CUmodule *out, const void *image)
{
    CUcontext ctx;
    CUresult r = cu_enter(&ctx);
    return r ? r : cu_module_from(ctx, "program", image, 0, NULL, out);
}
static CUresult runtime_load_wrapper(CUmodule *out, const void *wrapper, void *a, void *b, unsigned c)
{
    return runtime_load(out, wrapper);
}
static CUresult runtime_load_fatbin(const void *fatbin, CUmodule *out, void *a, void *b, unsigned c)
{
    return runtime_load(out, fatbin);
}

CU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice dev);
static CUresult runtime_primary(CUcontext *out, CUdevice dev) { return cuDevicePrimaryCtxRetain(out, dev); }
static CUresult runtime_note(size_t value) { return CUDA_SUCCESS; }
static CUresult runtime_load_compilers(void)
{
    return CUDA_SUCCESS;
} /* the PTX reader is part of this library */

UNKNOWN(runtime, 3)
UNKNOWN(runtime, 4)
UNKNOWN(runtime, 5)
UNKNOWN(runtime, 9)
UNKNOWN(runtime, 10)
UNKNOWN(runtime, 11)
static const void *const runtime_table[13] = {
    BYTES(runtime_table),        SLOT(runtime_load),       SLOT(runtime_primary),
    SLOT(runtime_unknown_3),     SLOT(runtime_unknown_4),  SLOT(runtime_unknown_5),
    SLOT(runtime_load_wrapper),  SLOT(runtime_note),       SLOT(runtime_load_fatbin),
    SLOT(runtime_unknown_9),     SLOT(runtime_unknown_10), SLOT(runtime_unknown_11),
    SLOT(runtime_load_compilers)};

/* ---- tools: a profiler would hook in here; there is none, so the switches stay off ---- */

UNKNOWN(tools_tls, 1)
UNKNOWN(tools_tls, 2)
UNKNOWN(tools_tls, 3)
static const void *const tools_tls_table[4] = {BYTES(tools_tls_table), SLOT(tools_tls_unknown_1),
                                               SLOT(tools_tls_unknown_2), SLOT(tools_tls_unknown_3)};

/* The runtime reads them before it calls a tool. */
static uint32_t callback_switches[1024], callback_domains[14];
static void hooks_switches(void **out, size_t *count)
{
    *out = callback_switches;
    *count = ARRAY_LEN(callback_switches);
}
static void hooks_domains(void **out, size_t *count)
{
    *out = callback_domains;
    *count = ARRAY_LEN(callback_domains);
}
UNKNOWN(hooks, 1)
UNKNOWN(hooks, 3)
UNKNOWN(hooks, 4)
UNKNOWN(hooks, 5)
static const void *const hooks_table[7] = {
    BYTES(hooks_table),    SLOT(hooks_unknown_1), SLOT(hooks_switches), SLOT(hooks_unknown_3),
    SLOT(hooks_unknown_4), SLOT(hooks_unknown_5), SLOT(hooks_domains)};

/* ---- context-local storage: values that the runtime hangs on a context ---- */

typedef void storage_end(CUcontext ctx, void *key, void *value);
struct storage {
    CUcontext context;
    void *key, *value;
    storage_end *end;
};
static VEC(struct storage) storages;

static CUcontext or_current(CUcontext c) { return c ? c : cu_current(); }

static struct storage *storage_find(CUcontext c, const void *key)
{
    for (uint32_t i = 0; i < storages.len; i++)
        if (storages.data[i].context == c && storages.data[i].key == key) return &storages.data[i];
    return NULL;
}

static CUresult storage_put(CUcontext ctx, void *key, void *value, storage_end *end)
{
    ctx = or_current(ctx);
    if (!ctx) return CUDA_ERROR_INVALID_CONTEXT;
    gpu_lock();
    struct storage *s = storage_find(ctx, key), fresh = {ctx, key, value, end};
    if (s)
        *s = fresh;
    else
        vec_push(&storages, fresh);
    gpu_unlock();
    return CUDA_SUCCESS;
}

static CUresult storage_drop(CUcontext ctx, void *key)
{
    gpu_lock();
    struct storage *s = storage_find(or_current(ctx), key);
    if (s) *s = storages.data[--storages.len];
    gpu_unlock();
    return s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult storage_get(void **value, CUcontext ctx, void *key)
{
    gpu_lock();
    struct storage *s = storage_find(or_current(ctx), key);
    if (s && value) *value = s->value;
    gpu_unlock();
    return s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

UNKNOWN(storage, 3)
static const void *const storage_table[4] = {SLOT(storage_put), SLOT(storage_drop), SLOT(storage_get),
                                             SLOT(storage_unknown_3)};

/* The runtime's state of a context must go when the context is reset: it frees it in its own function. */
void cu_storage_end(CUcontext ctx)
{
    for (uint32_t i = 0; i < storages.len;) {
        struct storage s = storages.data[i];
        if (s.context != ctx) {
            i++;
            continue;
        }
        storages.data[i] = storages.data[--storages.len];
        if (s.end) s.end(s.context, s.key, s.value);
    }
}

/* ---- smaller tables ---- */

CU_EXPORT CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice dev);
static CUresult bypass_create(CUcontext *out, unsigned flags, CUdevice dev)
{
    return cuCtxCreate_v2(out, flags, dev);
}
static const void *const bypass_table[2] = {BYTES(bypass_table), SLOT(bypass_create)};

UNKNOWN(heap, 1)
UNKNOWN(heap, 2)
static const void *const heap_table[3] = {BYTES(heap_table), SLOT(heap_unknown_1), SLOT(heap_unknown_2)};

UNKNOWN(device, 1)
static CUresult device_flag(unsigned char *out, CUdevice dev)
{
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = 0;
    return CUDA_SUCCESS;
}
#define D SLOT(device_unknown_1)
static const void *const device_table[26] = {BYTES(device_table), D, D, D, D, D, D, D, D, D, D, D, D,
                                             SLOT(device_flag),   D, D, D, D, D, D, D, D, D, D, D, D};
#undef D

static CUresult context_check(CUcontext ctx, uint32_t *out, const void **more)
{
    if (out) *out = 0;
    return CUDA_SUCCESS;
}
static uint32_t context_zero(void) { return 0; }
UNKNOWN(context, 1)
static const void *const context_table[4] = {BYTES(context_table), SLOT(context_unknown_1),
                                             SLOT(context_check), SLOT(context_zero)};

static CUresult integrity_check(uint32_t version, uint64_t unix_seconds, uint64_t out[2]);
UNKNOWN(integrity, 2)
static const void *const integrity_table[3] = {BYTES(integrity_table), SLOT(integrity_check),
                                               SLOT(integrity_unknown_2)};
static CUresult integrity_check(uint32_t version, uint64_t unix_seconds, uint64_t out[2])
{
    if (!out || !cu_gpu()) return CUDA_ERROR_INVALID_VALUE;
    atomic_store(&runtime_linked, true);
    return integrity_answer(version, unix_seconds, runtime_table, integrity_table, SLOT(integrity_check),
                            out);
}

/* A table that runtimes from CUDA 13.4 on want to be there; no slot of it was seen in use (published by the
 * fakegpu project). */
UNKNOWN(late, 1)
#define L  SLOT(late_unknown_1)
#define L8 L, L, L, L, L, L, L, L
static const void *const late_table[95] = {
    BYTES(late_table), L8, L8, L8, L8, L8, L8, L8, L8, L8, L8, L8, L, L, L, L, L, L};
#undef L8
#undef L

/* ---- the way in ---- */

static const struct {
    const char *id; /* as 32 hexadecimal digits */
    const void *const *table;
} tables[] = {
    {"6bd5fb6c5bf4e74a8987d93912fd9df9", runtime_table},
    {"42d85a8123f6cb478298f6e78a3aecdc", tools_tls_table},
    {"a094798c2e742e7493f20800200c0a66", hooks_table},
    {"c693336e1121df11a8c368f355d89593", storage_table},
    {"0ca50b8c1004929a89a7d0df10e77286", bypass_table},
    {"195bcbf4d67d024aacc51d29cea631ae", heap_table},
    {"b10541e1f7c7c74a9f64f223be99f1e2", device_table},
    {"d4082055bde6704b8d34ba123c66e1f2", integrity_table},
    {"263e88607cd2614392f6bbd5006dfa7e", context_table},
    {"21318c60971432488ca641ff7324c8f2", late_table},
};

CU_API(cuGetExportTable, (const void **out, const CUuuid *id))
{
    if (!out || !id) return CUDA_ERROR_INVALID_VALUE;
    char text[33];
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", (unsigned char)id->bytes[i]);
    *out = NULL;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (!strcmp(tables[i].id, text)) *out = tables[i].table;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
