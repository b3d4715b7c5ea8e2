/* sha256: one block of SHA-256 (FIPS 180-4) a thread: rotations, three-input logic, constant memory, local
 * arrays. */
#include "test_program.h"
#define KERNELS(K, V) K(sha256) V(round_words, 64 * 4)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#define SHARED_CODE __host__ __device__
extern "C" {
__constant__ uint32_t round_words[64];
}
#else
#define SHARED_CODE
#endif

static SHARED_CODE uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static SHARED_CODE void sha256_block(const uint32_t *k, const uint32_t *message, uint32_t *digest)
{
    uint32_t w[64], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; i++) digest[i] = s[i];
    for (int i = 0; i < 16; i++) w[i] = message[i];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) digest[i] += s[i];
}

#ifdef __CUDACC__
extern "C" __global__ void sha256(const uint32_t *messages, uint32_t *digests, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sha256_block(round_words, messages + 16 * i, digests + 8 * i);
}
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static void make_round_words(uint32_t *k)
{
    for (int prime = 2, i = 0; i < 64; prime++) {
        int is_prime = 1;
        for (int d = 2; d * d <= prime; d++) is_prime &= prime % d != 0;
        if (!is_prime) continue;
        /* the largest x with x^3 <= prime * 2^96: the cube root times 2^32 */
        unsigned long long lo = 0, hi = 1ull << 36;
        while (hi - lo > 1) {
            unsigned long long mid = lo + (hi - lo) / 2;
            long double cube = (long double)mid / 4294967296.0L;
            if (cube * cube * cube <= (long double)prime) lo = mid; else hi = mid;
        }
        k[i++] = (uint32_t)lo;
    }
}

int main(void)
{
    int n = 500;
    uint32_t k[64], *messages = (uint32_t *)malloc(n * 64), *want = (uint32_t *)malloc(n * 32);
    make_round_words(k);
    for (int i = 0; i < n * 16; i++) messages[i] = program_hash(i);
    memset(messages, 0, 64); /* message 0: "abc", padded; its digest is the standard's example */
    messages[0] = 0x61626380;
    messages[15] = 24;
    for (int i = 0; i < n; i++) sha256_block(k, messages + 16 * i, want + 8 * i);
    CHECK_CUDA(cudaMemcpyToSymbol(SYMBOL(round_words), k, sizeof k));
    uint32_t *dm = (uint32_t *)program_device(messages, n * 64),
             *dd = (uint32_t *)program_device(NULL, n * 32);
    LAUNCH(sha256, (n + 63) / 64, 64, 0, dm, dd, n);
    uint32_t *got = (uint32_t *)program_fetch(dd, n * 32);
    return program_end("sha256", program_same("digest", got, want, n * 8) &
                                     (got[0] == 0xba7816bf && got[7] == 0xf20015ad));
}
