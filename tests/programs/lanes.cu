/* lanes: votes, ballots, matches, shuffles with widths, active masks, population counts, divergent member
 * masks. */
#include "test_program.h"
#define KERNELS(K, V) K(lanes)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void lanes(const unsigned *in, unsigned *out)
{
    unsigned lane = threadIdx.x & 31, v = in[threadIdx.x], all = 0xffffffffu, *o = out + threadIdx.x * 10;
    o[0] = __ballot_sync(all, v & 1);
    o[1] = __any_sync(all, v % 7 == 0) * 2 + __all_sync(all, v < 1000);
    o[2] = __match_any_sync(all, v % 4);
    o[3] = __shfl_sync(all, v, lane * 5 + 1);
    o[4] = __shfl_xor_sync(all, v, 3, 8) + __shfl_up_sync(all, v, 2, 16);
    if (v & 2) {
        unsigned mask = __activemask();
        o[5] = mask;
        o[6] = __shfl_down_sync(mask, v, 1) * 0 + __popc(__ballot_sync(mask, v & 4));
    } else {
        unsigned mask = __activemask();
        o[5] = mask;
        o[6] = __ffs(mask) + __clz(mask) + __brev(mask);
    }
    __syncwarp();
    int pred;
    o[7] = __match_all_sync(all, threadIdx.x / 32, &pred) + pred;
    o[8] = __popcll((unsigned long long)v << 20 | v) + __byte_perm(v, lane, 0x5140) +
           __funnelshift_l(v, lane, 9);
    o[9] = __syncthreads_count(v & 8) * 4 + __syncthreads_or(v == 5) * 2 + __syncthreads_and(v != 12345);
}
#endif

int main(void)
{
    enum { N = 96 };
    unsigned in[N], want[N * 10];
    int any5 = 0, count8 = 0;
    for (int i = 0; i < N; i++) {
        in[i] = program_hash(i) % 999;
        any5 |= in[i] == 5;
        count8 += (in[i] & 8) != 0;
    }
    for (int i = 0; i < N; i++) {
        const unsigned *w = in + i / 32 * 32;
        unsigned lane = i % 32, v = in[i], *o = want + i * 10, four = 0;
        memset(o, 0, 40);
        unsigned any = 0, all = 1;
        for (int l = 0; l < 32; l++) {
            o[0] |= (w[l] & 1) << l;
            any |= w[l] % 7 == 0;
            all &= w[l] < 1000;
            o[2] |= (unsigned)(w[l] % 4 == v % 4) << l;
            o[5] |= (unsigned)((w[l] & 2) == (v & 2)) << l;
            four += (w[l] & 2) && (w[l] & 4);
        }
        o[1] = any * 2 + all;
        o[3] = w[(lane * 5 + 1) % 32];
        o[4] = w[(lane ^ 3)] + w[lane % 16 >= 2 ? lane - 2 : lane];
        if (v & 2) {
            o[6] = four;
        } else {
            unsigned rev = 0;
            for (int l = 0; l < 32; l++) rev |= (o[5] >> l & 1) << (31 - l);
            o[6] = (unsigned)__builtin_ffs((int)o[5]) + (unsigned)__builtin_clz(o[5]) + rev;
        }
        o[7] = 0xffffffffu + 1;
        unsigned char bytes[8];
        for (int k = 0; k < 4; k++) {
            bytes[k] = (unsigned char)(v >> 8 * k);
            bytes[4 + k] = (unsigned char)(lane >> 8 * k);
        }
        o[8] = (unsigned)__builtin_popcountll((unsigned long long)v << 20 | v) +
               (bytes[0] | bytes[4] << 8 | bytes[1] << 16 | (unsigned)bytes[5] << 24) + (lane << 9 | v >> 23);
        o[9] = (unsigned)(count8 * 4 + any5 * 2 + 1);
    }
    unsigned *din = (unsigned *)program_device(in, sizeof in),
             *dout = (unsigned *)program_device(NULL, sizeof want);
    LAUNCH(lanes, 1, N, 0, din, dout);
    return program_end("lanes", program_same("out", program_fetch(dout, sizeof want), want, N * 10));
}
