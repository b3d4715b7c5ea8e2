// masks_h200.cu: what a GPU does with member masks that do not name the lane that executes the instruction.
// Prints masks_h200.tsv without its head. Build: nvcc -O3 -arch=sm_90 masks_h200.cu. Each case runs in a
// process of its own, since an illegal instruction ends the context: masks_h200 CASE INSTRUCTION, with
// numbers; without arguments it says how many there are of each.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// %0 result, %1 member mask, %2 value.
#define INSTRUCTIONS(X)                                                                                      \
    X(ballot, "{.reg .pred p; setp.ne.u32 p, %2, 0; vote.sync.ballot.b32 %0, p, %1;}")                       \
    X(any, "{.reg .pred p, q; setp.ne.u32 p, %2, 0; vote.sync.any.pred q, p, %1; selp.u32 %0, 1, 0, q;}")    \
    X(all, "{.reg .pred p, q; setp.ne.u32 p, %2, 0; vote.sync.all.pred q, p, %1; selp.u32 %0, 1, 0, q;}")    \
    X(uni, "{.reg .pred p, q; setp.ne.u32 p, %2, 0; vote.sync.uni.pred q, p, %1; selp.u32 %0, 1, 0, q;}")    \
    X(shfl_idx3, "shfl.sync.idx.b32 %0, %2, 3, 31, %1;")                                                     \
    X(shfl_idx20, "shfl.sync.idx.b32 %0, %2, 20, 31, %1;")                                                   \
    X(shfl_bfly1, "shfl.sync.bfly.b32 %0, %2, 1, 31, %1;")                                                   \
    X(shfl_bfly16, "shfl.sync.bfly.b32 %0, %2, 16, 31, %1;")                                                 \
    X(shfl_down4, "shfl.sync.down.b32 %0, %2, 4, 31, %1;")                                                   \
    X(match_any, "match.any.sync.b32 %0, %2, %1;")                                                           \
    X(match_all, "{.reg .pred q; .reg .b32 t; match.all.sync.b32 t|q, %2, %1; selp.u32 %0, 1, 0, q; "        \
                 "shl.b32 %0, %0, 31; xor.b32 %0, %0, t;}")                                                  \
    X(redux_add, "redux.sync.add.u32 %0, %2, %1;")                                                           \
    X(redux_or, "redux.sync.or.b32 %0, %2, %1;")                                                             \
    X(redux_min, "redux.sync.min.u32 %0, %2, %1;")                                                           \
    X(warpsync, "bar.warp.sync %1; mov.b32 %0, %2;")                                                         \
    X(elect, "{.reg .pred q; .reg .b32 t; elect.sync t|q, %1; selp.u32 %0, 256, 0, q; or.b32 %0, %0, t;}")

// where: 0 and 1 execute the instruction at two places, 2 skips it.
#define KERNELS(name, text)                                                                                  \
    __global__ void run_##name(const unsigned *mask, const unsigned *value, const unsigned *where,           \
                               unsigned *out)                                                                \
    {                                                                                                        \
        unsigned l = threadIdx.x, m = mask[l], v = value[l], w = where[l], r = 0xdeadbeef;                   \
        if (w == 0) {                                                                                        \
            asm volatile(text : "=r"(r) : "r"(m), "r"(v));                                                   \
        } else if (w == 1) {                                                                                 \
            asm volatile(text : "=r"(r) : "r"(m), "r"(v));                                                   \
            out[32 + l] = 1;                                                                                 \
        } else {                                                                                             \
            out[32 + l] = 2;                                                                                 \
        }                                                                                                    \
        out[l] = r;                                                                                          \
    }                                                                                                        \
    template <unsigned MASK> __global__ void constant_##name(const unsigned *value, unsigned *out)           \
    {                                                                                                        \
        unsigned l = threadIdx.x, v = value[l], r = 0xdeadbeef;                                              \
        asm volatile(text : "=r"(r) : "r"(MASK), "r"(v));                                                    \
        out[l] = r;                                                                                          \
    }
INSTRUCTIONS(KERNELS)

// Below and from lane 16 on: masks and where. constant: the mask is written in the code.
struct test {
    const char *name;
    unsigned low_mask, high_mask, low_where, high_where;
    bool constant;
};
static const test tests[] = {
    {"uniform_0000ffff", 0xffff, 0xffff, 0, 0, false},
    {"uniform_00000000", 0, 0, 0, 0, false},
    {"uniform_fffffffe", 0xfffffffe, 0xfffffffe, 0, 0, false},
    {"const_0000ffff", 0xffff, 0xffff, 0, 0, true},
    {"const_00000000", 0, 0, 0, 0, true},
    {"lanes_below_16_run_mask_000000ff", 0xff, 0xff, 0, 2, false},
    {"lanes_below_16_run_mask_ffff0000_others_skip", 0xffff0000, 0xffff0000, 0, 2, false},
    {"lanes_below_16_run_mask_00ffff00_others_skip", 0x00ffff00, 0x00ffff00, 0, 2, false},
    {"halves_name_each_other_one_place", 0xffff0000, 0x0000ffff, 0, 0, false},
    {"halves_name_each_other_two_places", 0xffff0000, 0x0000ffff, 0, 1, false},
    {"lanes_below_16_ffff_others_0f0f0000", 0xffff, 0x0f0f0000, 0, 0, false},
    {"right_halves_for_reference", 0x0000ffff, 0xffff0000, 0, 0, false},
};
static const char *const names[] = {
#define NAME(name, text) #name,
    INSTRUCTIONS(NAME)};

int main(int argc, char **argv)
{
    const int count = sizeof tests / sizeof *tests, instructions = sizeof names / sizeof *names;
    if (argc != 3) return printf("%d cases, %d instructions\n", count, instructions), 0;
    const test &t = tests[atoi(argv[1]) % count];
    int op = atoi(argv[2]) % instructions;
    unsigned in[96], out[32], *d, *o;
    for (unsigned l = 0; l < 32; l++) {
        in[l] = l < 16 ? t.low_mask : t.high_mask;
        in[32 + l] = op <= 3 ? 0xa5c3f00fu >> l & 1 : op == 9 || op == 10 ? l % 3 : 100 + l;
        in[64 + l] = l < 16 ? t.low_where : t.high_where;
    }
    cudaMalloc(&d, sizeof in);
    cudaMalloc(&o, 256);
    cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
    int n = 0;
#define LAUNCH(name, text)                                                                                   \
    if (n++ == op) {                                                                                         \
        if (!t.constant)                                                                                     \
            run_##name<<<1, 32>>>(d, d + 32, d + 64, o);                                                     \
        else if (t.low_mask)                                                                                 \
            constant_##name<0xffff><<<1, 32>>>(d + 32, o);                                                   \
        else                                                                                                 \
            constant_##name<0><<<1, 32>>>(d + 32, o);                                                        \
    }
    INSTRUCTIONS(LAUNCH)
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\t%s\t", t.name, names[op]);
    if (e == cudaErrorIllegalInstruction) return printf("illegal\n"), 0;
    if (e || cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost)) return puts(cudaGetErrorString(e)), 1;
    for (int l = 0; l < 32; l++) printf("%08x%c", out[l], l == 31 ? '\n' : ' ');
}
