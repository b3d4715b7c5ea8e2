/* speed.c: bench_speed KERNEL [--size tiny|small|paper] [--no-check]: runs one kernel and says what its
 * simulation cost. The clock covers the launches and the wait for them, not the making of the input nor the
 * check; bench/speed.sh puts many such runs together and takes the simulated figures from the statistics of
 * the run. */
#include "speed.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Counts instructions of this process in user mode, with its threads to come; -1 where the machine does not
 * let us. */
static int counter_open(void)
{
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .disabled = 1,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

static long long counter_read(int counter)
{
    long long count = 0;
    if (counter < 0 || read(counter, &count, sizeof count) != sizeof count) return 0;
    return count;
}

static long peak_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
    if (f) fclose(f);
    return kb;
}

/* A function of its own, by name: callgrind counts what happens in here (bench/speed.sh --count). */
__attribute__((noinline)) void speed_simulate(const struct speed_kernel *k);
void speed_simulate(const struct speed_kernel *k)
{
    k->launch();
    kit_sync();
}

static const struct speed_kernel *find(const char *name)
{
    for (unsigned i = 0; name && i < speed_kernel_count; i++)
        if (!strcmp(speed_kernels[i].name, name)) return &speed_kernels[i];
    fprintf(stderr, "usage: bench_speed KERNEL [--size tiny|small|paper] [--no-check]; kernels:");
    for (unsigned i = 0; i < speed_kernel_count; i++) fprintf(stderr, " %s", speed_kernels[i].name);
    fputc('\n', stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    const struct speed_kernel *k = find(argc > 1 ? argv[1] : NULL);
    kit_open(k->name, argc - 1, argv + 1);
    k->prepare(k->work[kit_size()]);
    kit_sync();
    int counter = counter_open();
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), wall = seconds_of(CLOCK_MONOTONIC);
    if (counter >= 0) ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    speed_simulate(k);
    if (counter >= 0) ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    kit_note("cpu_s=%.6f wall_s=%.6f peak_kb=%ld own_kb=%zu host_insts=%lld", cpu, wall, peak_kb(),
             speed_own_bytes() / 1024, counter_read(counter));
    if (kit_checking()) k->check();
    return kit_close();
}
