/* morpheus_kernel.c: the extended LLC kernel of Morpheus (4.2), as PTX. A warp is a set.
 *
 * A block is 128 bytes, 4 bytes a lane; where blocks are kept is in morpheus_store.c. Lane i keeps the
 * metadata of block i, of block 32 + i and so on: tags, and when each was used last. The kernel waits for a
 * request by loading its row of the warp status table, looks up the tag (Algorithm 1), moves the block
 * (Algorithm 2), stores data and result, and only then notes that the block was used. The kernel of sets with
 * compressed blocks is in morpheus_levels.c.
 *
 * Open in the paper. Counters of 12 bits that fall with each request wrap, and tie: here it is the clock, in
 * units of two cycles, which is exact LRU for 2^32 cycles and costs a hit as much. A tag is a whole word in a
 * register of its own: a line cannot be found from 18 bits and the set where the address map is hashed. There
 * is no valid bit: no line has the tag ~0. */
#include "mech/morpheus_bdi.h"
#include "mech/morpheus_ptx.h"

/* ---- slots ---- */

void put_is_mine(struct ptx_text *t, uint32_t g)
{
    if (g)
        put(t, "add.s32 %%x, %%idx, -%u; setp.eq.u32 %%p, %%lane, %%x;\n", 32 * g);
    else
        put(t, "setp.eq.u32 %%p, %%lane, %%idx;\n");
}

/* %idx: the last slot whose register %<name><g> equals `with`, or -1. %y: with one group, the ballot of lanes
 * that have such a slot; with more, and `also`, the register %<also><g> of the slot in its lane. */
static void put_find(struct ptx_text *t, const struct morpheus_kernel *k, const char *name, const char *with,
                     const char *also)
{
    if (groups_of(k) == 1) {
        put(t, "setp.eq.u32 %%p, %%%s0, %s; vote.sync.ballot.b32 %%y, %%p, -1; bfind.u32 %%idx, %%y;\n", name,
            with);
        return;
    }
    put(t, "mov.b32 %%idx, -1;%s\n", also ? " mov.b32 %y, 0;" : "");
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put(t, "setp.eq.u32 %%p, %%%s%u, %s; @%%p add.u32 %%idx, %%lane, %u;\n", name, g, with, 32 * g);
        if (also) put(t, "@%%p mov.b32 %%y, %%%s%u;\n", also, g);
    }
    put(t, "redux.sync.max.s32 %%idx, %%idx, -1;\n");
}

/* ---- the start ---- */

/* %row and %at: the warp's row and its lane's word of the data buffers; the table has both lines of a
 * warp. */
void put_start(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        ".visible .entry %s(.param .u64 table)\n{\n"
        ".reg .b64 %%row, %%at;\n"
        ".reg .b32 %%tag<%u>, %%used<%u>, %%lane;\n"
        ".reg .b32 %%op, %%line, %%idx, %%value, %%x, %%y;\n"
        ".reg .pred %%p, %%hit, %%sector;\n",
        k->entry, groups_of(k), groups_of(k));
    put_store_declarations(t, k);
    put(t, "mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x; shr.u32 %%y, %%y, 5; mul.lo.u32 %%x, %%x, %%y;\n"
           "mov.u32 %%y, %%tid.x; shr.u32 %%y, %%y, 5; add.u32 %%x, %%x, %%y;\n"
           "ld.param.u64 %%at, [table]; mad.wide.u32 %%at, %%x, 16, %%at;\n"
           "ld.global.cg.u64 %%row, [%%at]; ld.global.cg.u64 %%at, [%%at + 8];\n"
           "mov.u32 %%lane, %%laneid; mad.wide.u32 %%at, %%lane, 4, %%at;\n");
}

/* An empty set. Slots beyond the blocks never were used longest ago. */
static void put_clear(struct ptx_text *t, const struct morpheus_kernel *k)
{
    for (uint32_t g = 0; g < groups_of(k); g++)
        put(t,
            "mov.b32 %%tag%u, -1;\n"
            "setp.lt.u32 %%p, %%lane, %u; selp.b32 %%used%u, 0, -1, %%p;\n",
            g, k->blocks - 32 * g, g);
}

/* ---- reads ---- */

/* %hit, after put_find: the ballot is there before %idx is. */
static void put_is_hit(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, groups_of(k) == 1 ? "setp.ne.u32 %%hit, %%y, 0;\n" : "setp.ge.s32 %%hit, %%idx, 0;\n");
}

/* Algorithm 1: %idx is the block; %hit: is there one? Reads that branch to their block know without it. */
void put_look_up(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "next: ld.volatile.global.v2.u32 {%%op, %%line}, [%%row];\n"
           "look_up:\n");
    put_find(t, k, "tag", "%line", NULL);
    if (!answers_by_branch(k)) put_is_hit(t, k);
    put(t, "setp.ne.u32 %%p, %%op, 0; @%%p bra.uni no_read;\n"
           "add.u32 %%y, %%idx, 1;\n");
}

/* The result, then the time at which the block was used last. */
void put_end(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "done: st.global.u32 [%%row + %u], %%y;\n"
        "mov.u32 %%y, %%clock;\n",
        (unsigned)offsetof(struct morpheus_row, result));
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_is_mine(t, g);
        put(t, "@%%p bfi.b32 %%used%u, %%used%u, %%y, 0, 1;\n", g, g);
    }
    put(t, "bra.uni next;\n");
}

/* ---- other requests ---- */

/* Writes and atomics of a block that is not there fail. */
void put_choose(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "no_read:\n");
    if (answers_by_branch(k)) put_is_hit(t, k);
    put(t, "and.b32 %%x, %%op, %u; setp.ne.u32 %%p, %%x, 0; @%%p bra.uni clear;\n", MORPHEUS_FLAG_CLEAR);
    if (k->is_compressed)
        put(t, "and.b32 %%x, %%op, %u; setp.ne.u32 %%p, %%x, 0; @%%p bra.uni forget;\n",
            MORPHEUS_FLAG_FORGET);
    put(t,
        "and.b32 %%x, %%op, %u; setp.eq.u32 %%p, %%x, %u; @%%p %s;\n"
        "setp.eq.u32 %%p, %%x, %u; @%%p bra.uni insert;\n"
        "@%%hit bra.uni found;\n"
        "failed: mov.b32 %%x, %u; st.global.u32 [%%row + %u], %%x; bra.uni next;\n"
        "found:\n",
        MORPHEUS_OP_MASK, MORPHEUS_EXIT, k->flushes ? "bra.uni flush" : "exit", MORPHEUS_INSERT,
        MORPHEUS_MISS, (unsigned)offsetof(struct morpheus_row, result));
}

/* A write or an atomic asks for its data at once: %value. */
static void put_cleared(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "ld.volatile.global.u32 %%value, [%%at];\n"
        "setp.eq.u32 %%p, %%x, %u; @%%p bra.uni fetch; bra.uni put;\n"
        "clear:\n",
        MORPHEUS_ATOMIC);
    put_clear(t, k);
    put(t, "and.b32 %%op, %%op, %d; bra.uni look_up;\n", ~MORPHEUS_FLAG_CLEAR);
}

/* The block that was used longest ago leaves; if it is dirty its bytes go to the read data buffer, before the
 * warp asks for those of the new one. */
static void put_insert(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "insert:\n"
           "@%%hit bra.uni load;\n"
           "mov.b32 %%x, %%used0;\n");
    for (uint32_t g = 1; g < groups_of(k); g++) put(t, "min.u32 %%x, %%x, %%used%u;\n", g);
    put(t, "redux.sync.min.u32 %%x, %%x, -1;\n");
    put_find(t, k, "used", "%x", "tag");
    put(t, "and.b32 %%x, %%x, 1; setp.ne.u32 %%p, %%x, 0; @%%p bra.uni fetch;\n"
           "replace:\n");
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_is_mine(t, g);
        put(t, "@%%p mov.b32 %%tag%u, %%line; @%%p mov.b32 %%used%u, 0;\n", g, g);
    }
    put(t, "load: ld.volatile.global.u32 %%value, [%%at]; bra.uni put;\n");
}

/* The old block of an atomic, or the victim, goes to the read data buffer. Both data buffers are one line of
 * the window, so an atomic first adds its data to the block. */
static void put_fetch(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "fetch: and.b32 %%x, %%op, %u; setp.eq.u32 %%p, %%x, %u;\n", MORPHEUS_OP_MASK, MORPHEUS_ATOMIC);
    put_store_read(t, k, &(struct store_access){.name = "old", .index = "%idx", .word = "%x"});
    put(t,
        "@%%p add.u32 %%value, %%value, %%x;\n"
        "st.global.u32 [%%at], %%x; @%%p bra.uni put;\n"
        "shfl.sync.idx.b32 %%x, %%%s, %%idx, 31, -1; st.global.u32 [%%row + %u], %%x;\n"
        "bra.uni replace;\n",
        groups_of(k) == 1 ? "tag0" : "y", (unsigned)offsetof(struct morpheus_row, victim));
}

/* Before the warp exits, one dirty block after the other goes to the controller: it has taken one when it
 * answers the load. */
static void put_flush(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "flush: mov.b32 %%idx, -1;\n");
    for (uint32_t g = 0; g < groups_of(k); g++)
        put(t,
            "and.b32 %%x, %%used%u, 1; setp.ne.u32 %%p, %%x, 0; setp.lt.and.u32 %%p, %%lane, %u, %%p;\n"
            "@%%p add.u32 %%idx, %%lane, %u; @%%p mov.b32 %%y, %%tag%u;\n",
            g, k->blocks - 32 * g, 32 * g, g);
    put(t, "redux.sync.max.s32 %%idx, %%idx, -1; setp.lt.s32 %%p, %%idx, 0; @%%p exit;\n");
    put_store_read(t, k, &(struct store_access){.name = "flushed", .index = "%idx", .word = "%value"});
    put(t,
        "st.global.u32 [%%at], %%value;\n"
        "shfl.sync.idx.b32 %%y, %%y, %%idx, 31, -1; st.global.u32 [%%row + %u], %%y;\n"
        "ld.volatile.global.u32 %%x, [%%at]; and.b32 %%x, %%x, 0; or.b32 %%idx, %%idx, %%x;\n",
        (unsigned)offsetof(struct morpheus_row, victim));
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_is_mine(t, g);
        put(t, "@%%p and.b32 %%used%u, %%used%u, -2;\n", g, g);
    }
    put(t, "bra.uni flush;\n");
}

void put_sector(struct ptx_text *t)
{
    put(t,
        "shr.u32 %%x, %%lane, 3; add.u32 %%x, %%x, %u; shr.u32 %%x, %%op, %%x; and.b32 %%x, %%x, 1;\n"
        "setp.ne.u32 %%sector, %%x, 0;\n",
        MORPHEUS_SECTORS_SHIFT);
}

/* Lanes whose sector is written take %value. */
static void put_put(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "put: shr.u32 %%y, %%op, %u; and.b32 %%y, %%y, 1;\n", MORPHEUS_FLAG_DIRTY_SHIFT);
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_is_mine(t, g);
        put(t, "@%%p or.b32 %%used%u, %%used%u, %%y;\n", g, g);
    }
    put_sector(t);
    put_store_write(t, k,
                    &(struct store_access){
                        .name = "write_block", .index = "%idx", .word = "%value", .guard = "@%sector "});
    put(t, "add.u32 %%y, %%idx, 1; selp.b32 %%y, %%y, 0, %%hit; bra.uni done;\n");
}

/* ---- all ---- */

static void put_kernel(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_start(t, k);
    put_store_start(t, k);
    put_clear(t, k);
    put_look_up(t, k);
    put_store_answer(t, k);
    put_end(t, k);
    put_choose(t, k);
    put_cleared(t, k);
    put_insert(t, k);
    put_fetch(t, k);
    put_put(t, k);
    if (k->flushes) put_flush(t, k);
    put(t, "}\n");
}

size_t morpheus_kernels(const struct morpheus_kernel *kernels, uint32_t count, char *ptx, size_t room)
{
    struct ptx_text t = {.at = ptx, .room = room};
    put(&t, ".version 7.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t i = 0; i < count; i++) put_store_module(&t, &kernels[i]);
    bool is_compressed = false;
    for (uint32_t i = 0; i < count; i++) is_compressed |= kernels[i].is_compressed;
    if (is_compressed) put(&t, "%s", MORPHEUS_BDI_PTX);
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i].is_compressed)
            put_compressing_kernel(&t, &kernels[i]);
        else
            put_kernel(&t, &kernels[i]);
    }
    return t.length;
}
