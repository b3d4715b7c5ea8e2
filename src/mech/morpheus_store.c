/* morpheus_store.c: where the extended LLC kernel keeps its blocks (Morpheus, 4.2.1 and 4.2.2): registers,
 * shared memory, or the L1. Tags are in registers for all of them.
 *
 * In registers block i is %d<i>. It is found by brx.idx (Algorithm 2), or read by the indirect move (4.3.2),
 * which reads alone: writes branch in any case.
 *
 * In shared memory block i of a warp is the 128 bytes at i * 128 of its part.
 *
 * In the L1 block i is word i of each lane's local memory, which is one line. These lines stay in the L1 of
 * an SM in cache mode: nothing of them is written through, and what does not fit is refused. The paper's
 * kernel loads the program's own lines instead and leaves tags, replacement and misses to the L1; then a
 * line that the controller has from DRAM could only be inserted by reading it from DRAM once more, and the
 * predictor would not know what the L1 replaces. */
#include "mech/morpheus_ptx.h"

/* ---- registers ---- */

static void put_targets(struct ptx_text *t, const struct morpheus_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->blocks; i++) put(t, "%s%s_%u", i ? ", " : "", name, i);
}

/* Algorithm 2: the targets of a branch, which move the block between `before` and `after`. */
static void put_moves(struct ptx_text *t, const struct morpheus_kernel *k, const char *name,
                      const char *before, const char *after)
{
    for (uint32_t i = 0; i < k->blocks; i++)
        put(t, "%s_%u: %s%%d%u%s; bra.uni %s_end;\n", name, i, before, i, after, name);
    put(t, "%s_end:\n", name);
}

static void put_branch(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a)
{
    put(t, "%s_list: .branchtargets ", a->name);
    put_targets(t, k, a->name);
    put(t, ";\nbrx.idx %s, %s_list;\n", a->index, a->name);
}

/* Each block has a branch that answers with it. */
static void put_branch_answer(struct ptx_text *t, const struct morpheus_kernel *k)
{
    for (uint32_t i = 0; i < k->blocks; i++)
        put(t, "read_%u: st.global.u32 [%%at], %%d%u; bra.uni done;\n", i, i);
}

/* ---- memory ---- */

/* `to`: where the lane's word of a block is. */
static void put_address(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a,
                        const char *to)
{
    const uint32_t apart = k->store == MORPHEUS_SHARED ? MORPHEUS_LINE_WORDS * 4 : 4;
    put(t, "%smad.lo.u32 %s, %s, %u, %%origin;\n", a->guard, to, a->index, apart);
}

static const char *space_of(const struct morpheus_kernel *k)
{
    return k->store == MORPHEUS_SHARED ? "shared" : "local";
}

/* ---- all ---- */

void put_store_module(struct ptx_text *t, const struct morpheus_kernel *k)
{
    if (k->store == MORPHEUS_SHARED) put(t, ".extern .shared .align 128 .b8 shared_blocks[];\n");
}

void put_store_declarations(struct ptx_text *t, const struct morpheus_kernel *k)
{
    if (k->store == MORPHEUS_REGISTERS)
        put(t, ".reg .b32 %%d<%u>;\n", k->blocks);
    else
        put(t, ".reg .b32 %%origin;\n");
    if (k->store == MORPHEUS_L1) put(t, ".local .align 16 .b8 local_blocks[%u];\n", 4 * k->blocks);
}

/* Here %y is the number of the warp in its CTA. */
void put_store_start(struct ptx_text *t, const struct morpheus_kernel *k)
{
    switch (k->store) {
    case MORPHEUS_REGISTERS:
        for (uint32_t i = 0; i < k->blocks; i++) put(t, "mov.b32 %%d%u, 0;\n", i);
        break;
    case MORPHEUS_SHARED:
        put(t,
            "mov.u32 %%origin, shared_blocks; mad.lo.u32 %%origin, %%y, %u, %%origin;\n"
            "mad.lo.u32 %%origin, %%lane, 4, %%origin;\n",
            k->blocks * MORPHEUS_LINE_WORDS * 4);
        break;
    default: put(t, "mov.u32 %%origin, local_blocks;\n");
    }
}

void put_read_targets(struct ptx_text *t, const struct morpheus_kernel *k)
{
    if (answers_by_branch(k))
        put_targets(t, k, "read");
    else
        for (uint32_t i = 0; i < k->blocks; i++) put(t, "%sread", i ? ", " : "");
}

void put_store_answer(struct ptx_text *t, const struct morpheus_kernel *k)
{
    if (answers_by_branch(k))
        put_branch_answer(t, k);
    else
        put(t, "read: st.global.u32 [%%at], %%line;\n");
}

void put_store_read(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a)
{
    char before[32];
    if (k->store != MORPHEUS_REGISTERS) {
        put_address(t, k, a, a->word);
        put(t, "%sld.%s.u32 %s, [%s];\n", a->guard, space_of(k), a->word, a->word);
    } else if (k->indirect_move) {
        put(t, "%simov.b32 %s, %%d<%u>, %s;\n", a->guard, a->word, k->blocks, a->index);
    } else {
        snprintf(before, sizeof before, "mov.b32 %s, ", a->word);
        put_branch(t, k, a);
        put_moves(t, k, a->name, before, "");
    }
}

void put_store_write(struct ptx_text *t, const struct morpheus_kernel *k, const struct store_access *a)
{
    char before[32], after[32];
    snprintf(before, sizeof before, "%smov.b32 ", a->guard);
    snprintf(after, sizeof after, ", %s", a->word);
    if (k->store == MORPHEUS_REGISTERS) {
        put_branch(t, k, a);
        put_moves(t, k, a->name, before, after);
        return;
    }
    put_address(t, k, a, "%x");
    put(t, "%sst.%s.u32 [%%x], %s;\n", a->guard, space_of(k), a->word);
}
