/* host.c: cores and memory, as Linux reports them. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "lab/host.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

double host_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void host_name(char out[HOST_NAME_BYTES])
{
    if (gethostname(out, HOST_NAME_BYTES)) snprintf(out, HOST_NAME_BYTES, "localhost");
    out[HOST_NAME_BYTES - 1] = 0;
}

/* Numbers of a small file of the kernel; "max" and what is missing are UINT64_MAX. */
static uint32_t read_numbers(const char *path, uint64_t *out, uint32_t count)
{
    uint32_t n = 0;
    FILE *f = fopen(path, "r");
    char word[32];
    for (uint32_t i = 0; i < count; i++) out[i] = UINT64_MAX;
    while (f && n < count && fscanf(f, "%31s", word) == 1) {
        out[n] = word[0] >= '0' && word[0] <= '9' ? strtoull(word, NULL, 10) : UINT64_MAX;
        n++;
    }
    if (f) fclose(f);
    return n;
}

uint32_t host_cores(void)
{
    cpu_set_t set;
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t cores = all > 0 ? (uint64_t)all : 1, quota[2];
    if (!sched_getaffinity(0, sizeof set, &set)) cores = MIN(cores, (uint64_t)CPU_COUNT(&set));
    if (read_numbers("/sys/fs/cgroup/cpu.max", quota, 2) < 2) {
        read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota[0], 1);
        read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &quota[1], 1);
    }
    if (quota[0] != UINT64_MAX && quota[1]) cores = MIN(cores, (quota[0] + quota[1] - 1) / quota[1]);
    return (uint32_t)MAX(cores, (uint64_t)1);
}

/* The number behind a name at the start of a line; UINT64_MAX where there is none. */
static uint64_t read_named(const char *path, const char *name)
{
    FILE *f = fopen(path, "r");
    char line[128];
    size_t n = strlen(name);
    uint64_t value = UINT64_MAX;
    while (f && value == UINT64_MAX && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n) && (line[n] == ' ' || line[n] == ':'))
            value = strtoull(line + n + 1, NULL, 10);
    if (f) fclose(f);
    return value;
}

/* Memory that a group of processes may still take: files that are only kept for later count as free. */
struct group_files {
    const char *limit, *used, *stat, *cached;
};
static uint64_t group_free(const struct group_files *g)
{
    uint64_t limit, used, cached = read_named(g->stat, g->cached);
    read_numbers(g->limit, &limit, 1);
    read_numbers(g->used, &used, 1);
    if (limit == UINT64_MAX || used == UINT64_MAX) return UINT64_MAX;
    if (cached != UINT64_MAX) used -= MIN(used, cached);
    return limit > used ? limit - used : 0;
}

uint64_t host_free_bytes(void)
{
    static const struct group_files groups[] = {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                                                 "/sys/fs/cgroup/memory.stat", "inactive_file"},
                                                {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                                 "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                                 "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}};
    uint64_t kib = read_named("/proc/meminfo", "MemAvailable");
    uint64_t free_bytes = kib == UINT64_MAX ? kib : kib * 1024;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        uint64_t in_group = group_free(&groups[i]);
        free_bytes = MIN(free_bytes, in_group);
    }
    return free_bytes;
}
