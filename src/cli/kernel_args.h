/* kernel_args.h: the --arg values of `heddle kernel`: scalars and buffers. */
#ifndef HEDDLE_KERNEL_ARGS_H
#define HEDDLE_KERNEL_ARGS_H

#include "base/rng.h"
#include "emu/emu.h"

enum arg_type {
    ARG_U8,
    ARG_S8,
    ARG_U16,
    ARG_S16,
    ARG_U32,
    ARG_S32,
    ARG_U64,
    ARG_S64,
    ARG_F32,
    ARG_F64,
    ARG_TYPE_COUNT
};
enum arg_fill { ARG_FILL_ZERO, ARG_FILL_RAND, ARG_FILL_IOTA, ARG_FILL_VALUE, ARG_FILL_FILE };

struct kernel_arg {
    enum arg_type type;
    bool is_buffer;
    /* Elements of a buffer. */
    uint64_t count;
    enum arg_fill fill;
    /* The scalar, or the value that fills the buffer. */
    uint64_t bits;
    /* The file of ARG_FILL_FILE. */
    char path[256];
    /* Where a buffer was placed. */
    uint64_t address;
};

/* Reads "f32=2", "buf:f32[1M]", "buf:f32[1M]=rand|iota|VALUE|@FILE". On error returns the offset of the bad
 * part in text and a message; -1 = fine. */
int kernel_arg_parse(const char *text, struct kernel_arg *out, const char **message);
uint32_t kernel_arg_type_bytes(enum arg_type t);
const char *kernel_arg_type_name(enum arg_type t);
/* Allocates and fills a buffer. False: out of memory, or the file cannot be read (message). */
bool kernel_arg_place(struct kernel_arg *a, struct space *space, struct rng *rng, uint32_t index,
                      struct strbuf *message);
/* Element i of a placed buffer as text. */
void kernel_arg_format(const struct kernel_arg *a, uint64_t i, struct strbuf *out);

#endif
