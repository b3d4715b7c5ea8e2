/* alu.c: which of the arithmetic's variants runs: tables are filled once, on first use, and never change
 * after. The variants are the same sources (alu_*.c) compiled for different vector units; see alu.h for why
 * they agree. */
#include <pthread.h>

#include "emu/exec.h"

#include "emu/alu.h"
#ifdef HEDDLE_ALU_V3
#define ALU_DECLARE_V3(f) void f##_v3(exec_fn **table);
ALU_FILES(ALU_DECLARE_V3)
#endif

static exec_fn *baseline_table[ISA_OP_COUNT];
static exec_fn *const *best_table;
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

#ifdef HEDDLE_ALU_V3
static exec_fn *v3_table[ISA_OP_COUNT];

/* True when the host has all that -march=x86-64-v3 may use. */
static bool host_has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#endif

static void fill_tables(void)
{
#define ALU_FILL_BASELINE(f) f##_baseline(baseline_table);
    ALU_FILES(ALU_FILL_BASELINE)
    best_table = baseline_table;
#ifdef HEDDLE_ALU_V3
    if (host_has_v3()) {
#define ALU_FILL_V3(f) f##_v3(v3_table);
        ALU_FILES(ALU_FILL_V3)
        best_table = v3_table;
    }
#endif
}

exec_fn *const *emu_alu_table(void)
{
    pthread_once(&tables_once, fill_tables);
    return best_table;
}

exec_fn *const *emu_alu_table_baseline(void)
{
    pthread_once(&tables_once, fill_tables);
    return baseline_table;
}
