/* kit.h: what every workload's host side stands on: its options, the device, buffers, launches, seeded
 * inputs, and the check of the result against the CPU. A workload is NAME/NAME.cu (device code), NAME/NAME.c
 * (host, this header) and NAME/workload.yaml.
 *
 *     int main(int argc, char **argv)
 *     {
 *         kit_open("vecadd", argc, argv);
 *         int n = (const int[]){4096, 1 << 20, 1 << 24}[kit_size()];
 *         float *a = kit_floats(n, 0, 1), *c = kit_host(n * sizeof *c);
 *         CUdeviceptr da = kit_upload(a, n * sizeof *a), dc = kit_alloc(n * sizeof *c);
 *         KIT_LAUNCH("vecadd", KIT_DIM(n / 256), KIT_DIM(256), 0, da, dc, n);
 *         kit_download(c, dc, n * sizeof *c);
 *         if (kit_checking()) { ... kit_check_floats("c", c, want, n, 1e-5, 1e-6); }
 *         return kit_close();
 *     }
 *
 * Any error of CUDA ends the program with a message and status 2; a failed check makes kit_close() return
 * 1. */
#ifndef WORKLOAD_KIT_H
#define WORKLOAD_KIT_H

#include "driver.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads --size NAME, --seed N, --no-check, --help; opens the device; loads the PTX that is linked
 * in. */
void kit_open(const char *name, int argc, char **argv);
/* The row of the workload's table of sizes that --size names. Each row begins with its name:
 *     static const struct size { const char *name; int n; } sizes[] = {{"tiny", 4096}, {"fill", 1 << 20}};
 *     const struct size *size = KIT_CHOOSE(sizes);
 * A name that is not in the table ends the program with the list of those that are. */
#define KIT_CHOOSE(rows) kit_choose(rows, sizeof(rows) / sizeof *(rows), sizeof *(rows))
const void *kit_choose(const void *rows, size_t count, size_t row_bytes);
/* For a workload with these three sizes alone. */
enum kit_size { KIT_TINY, KIT_SMALL, KIT_PAPER };
enum kit_size kit_size(void);
/* false with --no-check: the CPU reference need not be computed */
bool kit_checking(void);
/* Frees everything that the kit handed out, prints "NAME: PASS" or "NAME: FAIL", returns the exit status. */
int kit_close(void);

/* ---- memory: all of it lives until kit_close(), unless freed before ---- */
/* zeroed host memory */
void *kit_host(size_t bytes);
/* device memory, not set */
CUdeviceptr kit_alloc(size_t bytes);
/* device memory, all zero */
CUdeviceptr kit_zeros(size_t bytes);
/* device memory with a copy of `from` */
CUdeviceptr kit_upload(const void *from, size_t bytes);
void kit_free(CUdeviceptr address);
void kit_put(CUdeviceptr to, const void *from, size_t bytes);
/* waits for the launches before it */
void kit_download(void *to, CUdeviceptr from, size_t bytes);
void kit_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
void kit_set32(CUdeviceptr at, uint32_t value, size_t n);
/* a __constant__ or __device__ variable */
void kit_set_symbol(const char *name, const void *from, size_t bytes);
CUdeviceptr kit_symbol(const char *name);
/* A texture over linear memory for kit_tex1d_*() of device.h; format is one of CU_AD_FORMAT_*. */
CUtexObject kit_texture(CUdeviceptr at, size_t bytes, int format, unsigned channels);

/* ---- launches: arguments are variables (their addresses are taken) of the kernel's parameter types ---- */
struct kit_dim {
    unsigned x, y, z;
};
#define KIT_DIM(...) kit_dim((unsigned[3]){__VA_ARGS__})
static inline struct kit_dim kit_dim(const unsigned d[3])
{
    return (struct kit_dim){d[0], d[1] ? d[1] : 1, d[2] ? d[2] : 1};
}
void kit_launch(const char *kernel, struct kit_dim grid, struct kit_dim block, unsigned shared, void **args);
#define KIT_LAUNCH(kernel, grid, block, shared, ...)                                                         \
    kit_launch(kernel, grid, block, shared, (void *[]){KIT_ADDRESSES(__VA_ARGS__)})
void kit_sync(void);

/* ---- seeded inputs: the same on every host ---- */
/* 32 random bits */
uint32_t kit_random(void);
/* 0 .. n-1, without bias */
uint32_t kit_below(uint32_t n);
double kit_uniform(double low, double high);
/* mean 0, deviation 1 */
double kit_normal(void);
float *kit_floats(size_t n, double low, double high);
/* low .. high, both included */
int *kit_ints(size_t n, int low, int high);
void kit_shuffle(int *values, size_t n);

/* ---- graphs in compressed rows, for the graph workloads (kit_graph.c) ---- */
struct kit_graph {
    int nodes, edges;
    /* nodes + 1 */
    int *row;
    /* edges; neighbours of v are column[row[v] .. row[v+1]-1] */
    int *column;
};
/* Each node draws `degree` +- up to half of it neighbours at random: Rodinia's generator of graphNNN.txt. */
struct kit_graph kit_graph_uniform(int nodes, int degree);
/* R-MAT with a=.57 b=.19 c=.19 (Graph500), degrees by a power law; symmetric on request, no self loops. */
struct kit_graph kit_graph_rmat(int log2_nodes, int degree, bool symmetric);
/* A road-network-like grid: neighbours left, right, up, down, some missing; symmetric. */
struct kit_graph kit_graph_grid(int width, int height, int percent_missing);

/* ---- checks: each prints the first difference, with its place, and makes the workload fail ---- */
void kit_check_floats(const char *what, const float *got, const float *want, size_t n, double relative,
                      double absolute);
void kit_check_doubles(const char *what, const double *got, const double *want, size_t n, double relative,
                       double absolute);
void kit_check_ints(const char *what, const int *got, const int *want, size_t n);
void kit_check_bytes(const char *what, const void *got, const void *want, size_t n);
void kit_check(bool holds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* one line on stdout: "NAME: ..." */
void kit_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void kit_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Addresses of up to 24 variables. */
#define KIT_ADDRESSES(...)                                                                                   \
    KIT_PICK(__VA_ARGS__, A24, A23, A22, A21, A20, A19, A18, A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, \
             A7, A6, A5, A4, A3, A2, A1, )                                                                   \
    (__VA_ARGS__)
#define KIT_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,  \
                 a21, a22, a23, a24, name, ...)                                                              \
    KIT_##name
#define KIT_A1(a)       (void *)&(a)
#define KIT_A2(a, ...)  (void *)&(a), KIT_A1(__VA_ARGS__)
#define KIT_A3(a, ...)  (void *)&(a), KIT_A2(__VA_ARGS__)
#define KIT_A4(a, ...)  (void *)&(a), KIT_A3(__VA_ARGS__)
#define KIT_A5(a, ...)  (void *)&(a), KIT_A4(__VA_ARGS__)
#define KIT_A6(a, ...)  (void *)&(a), KIT_A5(__VA_ARGS__)
#define KIT_A7(a, ...)  (void *)&(a), KIT_A6(__VA_ARGS__)
#define KIT_A8(a, ...)  (void *)&(a), KIT_A7(__VA_ARGS__)
#define KIT_A9(a, ...)  (void *)&(a), KIT_A8(__VA_ARGS__)
#define KIT_A10(a, ...) (void *)&(a), KIT_A9(__VA_ARGS__)
#define KIT_A11(a, ...) (void *)&(a), KIT_A10(__VA_ARGS__)
#define KIT_A12(a, ...) (void *)&(a), KIT_A11(__VA_ARGS__)
#define KIT_A13(a, ...) (void *)&(a), KIT_A12(__VA_ARGS__)
#define KIT_A14(a, ...) (void *)&(a), KIT_A13(__VA_ARGS__)
#define KIT_A15(a, ...) (void *)&(a), KIT_A14(__VA_ARGS__)
#define KIT_A16(a, ...) (void *)&(a), KIT_A15(__VA_ARGS__)
#define KIT_A17(a, ...) (void *)&(a), KIT_A16(__VA_ARGS__)
#define KIT_A18(a, ...) (void *)&(a), KIT_A17(__VA_ARGS__)
#define KIT_A19(a, ...) (void *)&(a), KIT_A18(__VA_ARGS__)
#define KIT_A20(a, ...) (void *)&(a), KIT_A19(__VA_ARGS__)
#define KIT_A21(a, ...) (void *)&(a), KIT_A20(__VA_ARGS__)
#define KIT_A22(a, ...) (void *)&(a), KIT_A21(__VA_ARGS__)
#define KIT_A23(a, ...) (void *)&(a), KIT_A22(__VA_ARGS__)
#define KIT_A24(a, ...) (void *)&(a), KIT_A23(__VA_ARGS__)

#endif
