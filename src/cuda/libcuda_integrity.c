/* libcuda_integrity.c: the question by which a CUDA runtime that is linked into a program makes sure that it
 * talks to the driver library it found: the driver answers with a keyed digest of facts that both know
 * (process, thread, tables, devices). The digest is HMAC (RFC 2104) over MD2 (RFC 1319), with the key and
 * message layout that the ZLUDA project published (dark_api, zluda/src/impl/driver.rs). It guards nothing
 * here; without it such programs do not start. */
#include "cuda/libcuda_export.h"

#include <pthread.h>
#include <unistd.h>

/* RFC 1319, section 3.2: a permutation of 0..255 made from the digits of pi. */
static const uint8_t md2_pi[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243,
    192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,
    103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142,
    187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,  95,  33,
    128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179,
    72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184, 56,  210, 150, 164, 125, 182,
    118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100, 113, 135, 32,  134, 91,  207, 101,
    230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,  97,  105, 52,  64,  126, 15,
    85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,  44,  83,  13,  110,
    133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193, 171, 250,
    36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254,
    59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,
    49,  68,  80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

enum { BLOCK = 16 };
struct md2 {
    uint8_t state[3 * BLOCK], checksum[BLOCK], block[BLOCK];
    uint32_t used;
};

static void md2_block(struct md2 *m)
{
    uint8_t last = m->checksum[BLOCK - 1], t = 0;
    for (int i = 0; i < BLOCK; i++) {
        last = m->checksum[i] ^= md2_pi[m->block[i] ^ last];
        m->state[BLOCK + i] = m->block[i];
        m->state[2 * BLOCK + i] = m->state[i] ^ m->block[i];
    }
    for (int round = 0; round < 18; round++) {
        for (int i = 0; i < 3 * BLOCK; i++) t = m->state[i] ^= md2_pi[t];
        t = (uint8_t)(t + round);
    }
    m->used = 0;
}

static void md2_add(struct md2 *m, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        m->block[m->used++] = p[i];
        if (m->used == BLOCK) md2_block(m);
    }
}

static void md2_end(struct md2 *m, uint8_t out[BLOCK])
{
    uint8_t pad[BLOCK], checksum[BLOCK], count = (uint8_t)(BLOCK - m->used);
    memset(pad, count, sizeof pad);
    md2_add(m, pad, count);
    memcpy(checksum, m->checksum, BLOCK);
    md2_add(m, checksum, BLOCK);
    memcpy(out, m->state, BLOCK);
}

static void md2_add_key(struct md2 *m, uint8_t mask)
{
    static const uint8_t key[BLOCK] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                                       0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};
    uint8_t masked[BLOCK];
    for (int i = 0; i < BLOCK; i++) masked[i] = key[i] ^ mask;
    md2_add(m, masked, BLOCK);
}

struct message {
    uint32_t driver_version, runtime_version, process, thread;
    const void *runtime_table, *integrity_table, *function;
    uint64_t unix_seconds;
    struct {
        CUuuid uuid;
        int32_t domain, bus, device;
    } devices[1];
};

CUresult integrity_answer(uint32_t version, uint64_t unix_seconds, const void *runtime_table,
                          const void *integrity_table, const void *function, uint64_t out[2])
{
    /* Old runtimes ask with versions that end in 0 or 1 and take a fixed answer. */
    if (version % 10 < 2) {
        out[0] = version % 10 ? 0x1841181c03cb675cull : 0x3341181c03cb675cull;
        out[1] = 0x8ed383aa1f4cd1e8ull;
        return CUDA_SUCCESS;
    }
    struct message msg;
    memset(&msg, 0, sizeof msg);
    msg.driver_version = CU_VERSION;
    msg.runtime_version = version;
    msg.process = (uint32_t)getpid();
    msg.thread = (uint32_t)(uintptr_t)pthread_self();
    msg.runtime_table = runtime_table;
    msg.integrity_table = integrity_table;
    msg.function = function;
    msg.unix_seconds = unix_seconds;
    bool known;
    cu_uuid(&msg.devices[0].uuid);
    msg.devices[0].domain = cu_device_attribute(gpu_machine(cu_gpu()), 50, &known);
    msg.devices[0].bus = cu_device_attribute(gpu_machine(cu_gpu()), 33, &known);
    msg.devices[0].device = cu_device_attribute(gpu_machine(cu_gpu()), 34, &known);
    size_t len = offsetof(struct message, devices) + sizeof(CUuuid) + 3 * sizeof(int32_t);
    uint8_t inner_digest[BLOCK];
    struct md2 inner = {0}, outer = {0};
    md2_add_key(&inner, 0x36);
    md2_add(&inner, &msg, len);
    md2_end(&inner, inner_digest);
    md2_add_key(&outer, 0x5c);
    md2_add(&outer, inner_digest, BLOCK);
    md2_end(&outer, (uint8_t *)out);
    return CUDA_SUCCESS;
}
