/* libcuda_jit.c: options of the just-in-time compiler: a limit on registers in, the log of errors out. */
#include "cuda/libcuda_module.h"

void cu_jit_read(struct cu_jit *j, unsigned count, const CUjit_option *names, void **values)
{
    *j = (struct cu_jit){0};
    j->options.log = &j->log;
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == CU_JIT_MAX_REGISTERS) j->options.regs_max = (uint32_t)(uintptr_t)values[i];
}

static void *option_value(unsigned count, const CUjit_option *names, void **values, CUjit_option name)
{
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == name) return values[i];
    return NULL;
}

static void copy_log(const char *text, unsigned count, const CUjit_option *names, void **values,
                     CUjit_option buffer, CUjit_option size)
{
    char *to = option_value(count, names, values, buffer);
    size_t room = (size_t)(uintptr_t)option_value(count, names, values, size);
    size_t len = strlen(text);
    if (to && room) {
        len = MIN(len, room - 1);
        memcpy(to, text, len);
        to[len] = 0;
    }
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == size) values[i] = (void *)(uintptr_t)(to && room ? len + 1 : 0);
}

void cu_jit_finish(struct cu_jit *j, CUresult r, unsigned count, const CUjit_option *names, void **values)
{
    const char *text = strbuf_text(&j->log);
    copy_log(r ? text : "", count, names, values, CU_JIT_ERROR_LOG_BUFFER,
             CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    copy_log(r ? "" : text, count, names, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == CU_JIT_WALL_TIME) values[i] = NULL; /* 0.0f: a simulated device has no host time */
    strbuf_free(&j->log);
}
