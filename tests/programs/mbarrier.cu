/* mbarrier: bulk copies through a ring of buffers (a producer thread, full and empty barriers with parities),
 * copies of single threads that arrive at a barrier, and a hand-over between warps with states, from which
 * half of the threads drop out. */
#include "test_program.h"
#define KERNELS(K, V) K(stream_sum) K(gather) K(hand_over)
PROGRAM(KERNELS)

enum { THREADS = 128, CHUNK = 512, STAGES = 3, CHUNKS = 8, BLOCKS = 6, ROUNDS = 5 };

#ifdef __CUDACC__
static __device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ void init(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(count));
}
static __device__ void wait(uint64_t *bar, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN;\n}" ::"r"(at(bar)), "r"(parity)
                 : "memory");
}
static __device__ void arrive(uint64_t *bar)
{
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at(bar)) : "memory");
}
static __device__ void load_chunk(uint32_t *to, const uint32_t *from, uint64_t *full)
{
    asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(at(full)),
                 "r"(CHUNK * 4)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(CHUNK * 4), "r"(at(full))
                 : "memory");
}

/* Each thread sums every THREADS-th word of its block's chunks; the sums leave as one bulk store. */
extern "C" __global__ void stream_sum(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(128) uint32_t ring[STAGES][CHUNK], sums[THREADS];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const uint32_t *mine = in + blockIdx.x * CHUNKS * CHUNK;
    uint32_t sum = 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            init(&full[s], 1);
            init(&empty[s], THREADS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
        for (int c = 0; c < STAGES; c++) load_chunk(ring[c], mine + c * CHUNK, &full[c]);
    }
    __syncthreads();
    for (int c = 0; c < CHUNKS; c++) {
        int s = c % STAGES;
        unsigned parity = c / STAGES & 1;
        wait(&full[s], parity);
        for (int i = threadIdx.x; i < CHUNK; i += THREADS) sum += ring[s][i];
        arrive(&empty[s]);
        if (threadIdx.x == 0 && c + STAGES < CHUNKS) {
            wait(&empty[s], parity);
            load_chunk(ring[s], mine + (c + STAGES) * CHUNK, &full[s]);
        }
    }
    sums[threadIdx.x] = sum;
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::
                     "l"(out + blockIdx.x * THREADS), "r"(at(sums)), "r"(THREADS * 4)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

/* Thread t copies the 16 bytes that `order` names; thread t + 1 reads them when the barrier says that all
 * have come. */
extern "C" __global__ void gather(const uint32_t *in, const uint32_t *order, uint32_t *out)
{
    __shared__ __align__(16) uint32_t words[THREADS][4];
    __shared__ uint64_t bar;
    unsigned t = threadIdx.x;
    if (t == 0) init(&bar, THREADS);
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(words[t])), "l"(in + order[t] * 4)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&bar)) : "memory");
    wait(&bar, 0);
    const uint32_t *w = words[(t + 1) % THREADS];
    out[t] = w[0] + 2 * w[1] + 3 * w[2] + 4 * w[3];
}

/* Round by round each thread doubles what its neighbour wrote; the upper half leaves after the second
 * round. */
extern "C" __global__ void hand_over(uint32_t *out)
{
    __shared__ uint32_t words[2][THREADS];
    __shared__ uint64_t bar;
    unsigned t = threadIdx.x, n = THREADS;
    if (t == 0) init(&bar, THREADS);
    words[0][t] = t;
    __syncthreads();
    for (int r = 0; r < ROUNDS; r++) {
        words[(r + 1) & 1][t] = 2 * words[r & 1][(t + 1) % n] + 1;
        if (r == 1 && t >= THREADS / 2) {
            asm volatile("{.reg .b64 s; mbarrier.arrive_drop.shared.b64 s, [%0];}" ::"r"(at(&bar))
                         : "memory");
            out[t] = words[0][t];
            return;
        }
        asm volatile("{\n.reg .pred done;\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n"
                     "POLL:\nmbarrier.test_wait.shared.b64 done, [%0], s;\n"
                     "@!done bra POLL;\n}" ::"r"(at(&bar))
                     : "memory");
        if (r == 1) n = THREADS / 2;
    }
    out[t] = words[ROUNDS & 1][t];
}
#endif

static void expect_hand_over(uint32_t *want)
{
    uint32_t words[2][THREADS];
    unsigned n = THREADS;
    for (unsigned t = 0; t < THREADS; t++) words[0][t] = t;
    for (int r = 0; r < ROUNDS; r++) {
        for (unsigned t = 0; t < n; t++) words[(r + 1) & 1][t] = 2 * words[r & 1][(t + 1) % n] + 1;
        if (r != 1) continue;
        n = THREADS / 2;
        memcpy(want, words[0], sizeof words[0]);
    }
    memcpy(want, words[ROUNDS & 1], THREADS / 2 * 4);
}

int main(void)
{
    enum { WORDS = BLOCKS * CHUNKS * CHUNK };
    static uint32_t in[WORDS], want_sum[BLOCKS * THREADS], order[THREADS], want_gather[THREADS],
        want_hand[THREADS];
    for (int i = 0; i < WORDS; i++) {
        in[i] = program_hash((uint32_t)i);
        want_sum[i / (CHUNKS * CHUNK) * THREADS + i % THREADS] += in[i];
    }
    for (int t = 0; t < THREADS; t++) order[t] = program_hash((uint32_t)t + 77) % (WORDS / 4);
    for (int t = 0; t < THREADS; t++) {
        const uint32_t *w = in + order[(t + 1) % THREADS] * 4;
        want_gather[t] = w[0] + 2 * w[1] + 3 * w[2] + 4 * w[3];
    }
    expect_hand_over(want_hand);
    uint32_t *data = (uint32_t *)program_device(in, sizeof in),
             *places = (uint32_t *)program_device(order, sizeof order);
    uint32_t *sums = (uint32_t *)program_device(NULL, sizeof want_sum),
             *gathered = (uint32_t *)program_device(NULL, sizeof want_gather),
             *handed = (uint32_t *)program_device(NULL, sizeof want_hand);
    LAUNCH(stream_sum, BLOCKS, THREADS, 0, data, sums);
    LAUNCH(gather, 1, THREADS, 0, data, places, gathered);
    LAUNCH(hand_over, 1, THREADS, 0, handed);
    int ok = program_same("stream_sum", program_fetch(sums, sizeof want_sum), want_sum, BLOCKS * THREADS) &
             program_same("gather", program_fetch(gathered, sizeof want_gather), want_gather, THREADS) &
             program_same("hand_over", program_fetch(handed, sizeof want_hand), want_hand, THREADS);
    return program_end("mbarrier", ok);
}
