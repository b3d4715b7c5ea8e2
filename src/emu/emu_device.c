/* emu_device.c: the device: memory, limits, the table of instructions, where output goes. */
#include "emu/emu_device.h"

#include "emu/ops.h"

static void write_to_process(void *ctx, bool is_error, const char *text, size_t len)
{
    FILE *to = is_error ? stderr : stdout;
    fwrite(text, 1, len, to);
    fflush(to); /* the process may end in a fault right after */
}

static void fill_table(exec_fn **table)
{
    memcpy(table, emu_alu_table(), sizeof *table * ISA_OP_COUNT);
    ops_memory(table);
    ops_atomic(table);
    ops_texture(table);
    ops_warp(table);
    ops_sync(table);
    ops_barrier(table);
    ops_mbarrier(table);
    ops_surface(table);
    ops_control(table);
    ops_services(table);
}

static struct launch_block *block_create(struct emu_device *d)
{
    struct launch_block *b = mem_zalloc(sizeof *b);
    b->param_address = space_alloc(d->space, PARAM_BLOCK_MAX + 4, 256, SPACE_CONST, "kernel parameters");
    b->workspace_address =
        space_alloc(d->space, WORKSPACE_BYTES, 256, SPACE_INTERNAL, "workspace of grid synchronization");
    if (b->param_address && b->workspace_address) return b;
    if (b->param_address) space_free(d->space, b->param_address);
    free(b);
    return NULL;
}

struct launch_block *device_take_block(struct emu_device *d)
{
    struct launch_block **at = &d->blocks;
    while (*at && (*at)->busy) at = &(*at)->next;
    if (!*at) *at = block_create(d);
    if (*at) (*at)->busy = true;
    return *at;
}

struct emu_device *emu_device_create(const struct emu_limits *limits, uint64_t memory_bytes)
{
    struct space *space = space_create(memory_bytes);
    if (!space) return NULL;
    struct emu_device *d = mem_zalloc(sizeof *d);
    d->limits = *limits;
    d->space = space;
    d->write = write_to_process;
    atomic_flag_clear(&d->odd_mask_noted);
    fill_table(d->table);
    d->blocks = block_create(d);
    if (!d->blocks) {
        emu_device_destroy(d);
        return NULL;
    }
    return d;
}

void emu_device_destroy(struct emu_device *d)
{
    if (!d) return;
    for (uint32_t t = 0; t < d->texture_count; t++) free(d->textures[t]);
    free(d->textures);
    for (struct launch_block *b = d->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    stage_free(&d->stage);
    vec_free(&d->races);
    space_destroy(d->space);
    free(d);
}

void emu_device_find_races(struct emu_device *d) { d->finds_races = true; }
uint64_t emu_device_races(const struct emu_device *d) { return d->races.len; }

struct space *emu_device_space(struct emu_device *d) { return d->space; }
struct emu_limits *emu_device_limits(struct emu_device *d) { return &d->limits; }

void emu_device_on_output(struct emu_device *d,
                          void (*write)(void *ctx, bool is_error, const char *text, size_t len), void *ctx)
{
    d->write = write ? write : write_to_process;
    d->write_ctx = ctx;
}

void device_write(struct emu_device *d, bool is_error, const char *text, size_t len)
{
    d->write(d->write_ctx, is_error, text, len);
}
