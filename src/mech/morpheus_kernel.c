/* morpheus_kernel.c: the extended LLC kernel of Morpheus (4.2), as PTX. A warp is a set.
 *
 * Data-array registers %d0, %d1, ... hold a block of 128 bytes each, 4 bytes a lane. Lane i keeps the
 * metadata of block i: its tag in %tag, and in %used when it was used last, in requests. Dirty bits are a
 * mask in %dirty, the same in all lanes. The kernel waits for a request by loading its row of the warp status
 * table, looks up the tag (Algorithm 1), moves the block (Algorithm 2, brx.idx), stores data and result, and
 * only then notes that the block was used.
 *
 * Open in the paper. Counters of 12 bits that fall with each request wrap, and tie: here they are times of
 * 32 bits, which is exact LRU and costs a hit as much. A tag is a whole word in a register of its own: a
 * line cannot be found from 18 bits and the set where the address map is hashed. There is no valid bit: no
 * line has the tag ~0. */
#include "mech/morpheus.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
    char *at;
    size_t room, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    const size_t used = t->length < t->room ? t->length : t->room;
    va_start(ap, fmt);
    const int n = vsnprintf(t->at ? t->at + used : NULL, t->room - used, fmt, ap);
    va_end(ap);
    t->length += (size_t)n;
}

/* Algorithm 2: branches by %idx to one of the moves, which stand between `before` and `after`. */
static void put_moves(struct text *t, uint32_t blocks, const char *name, const char *before,
                      const char *after, const char *next)
{
    for (uint32_t i = 0; i < blocks; i++)
        put(t, "%s_%u: %s%%d%u%s; bra.uni %s;\n", name, i, before, i, after, next);
}

static void put_targets(struct text *t, uint32_t blocks, const char *name)
{
    for (uint32_t i = 0; i < blocks; i++) put(t, "%s%s_%u", i ? ", " : "", name, i);
}

static void put_indirect(struct text *t, uint32_t blocks, const char *name, const char *before,
                         const char *after, const char *next)
{
    put(t, "%s_list: .branchtargets ", name);
    put_targets(t, blocks, name);
    put(t, ";\nbrx.idx %%idx, %s_list;\n", name);
    put_moves(t, blocks, name, before, after, next);
}

/* %row and %at: the warp's row and its lane's word of the data buffers; the table has both lines of a
 * warp. */
static void put_start(struct text *t, uint32_t blocks)
{
    put(t,
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry " MORPHEUS_ENTRY "(.param .u64 table)\n{\n"
        ".reg .b64 %%row, %%at;\n"
        ".reg .b32 %%d<%u>, %%tag, %%used, %%dirty, %%lane, %%now;\n"
        ".reg .b32 %%op, %%line, %%idx, %%found, %%value, %%x, %%y;\n"
        ".reg .pred %%p, %%sector;\n"
        "mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x; shr.u32 %%y, %%y, 5; mul.lo.u32 %%x, %%x, %%y;\n"
        "mov.u32 %%y, %%tid.x; shr.u32 %%y, %%y, 5; add.u32 %%x, %%x, %%y;\n"
        "ld.param.u64 %%at, [table]; mad.wide.u32 %%at, %%x, 16, %%at;\n"
        "ld.global.u64 %%row, [%%at]; ld.global.u64 %%at, [%%at + 8];\n"
        "mov.u32 %%lane, %%laneid; mad.wide.u32 %%at, %%lane, 4, %%at; mov.b32 %%now, 0;\n",
        blocks);
    for (uint32_t i = 0; i < blocks; i++) put(t, "mov.b32 %%d%u, 0;\n", i);
}

/* An empty set. Lanes beyond the blocks never were used longest ago. */
static void put_clear(struct text *t, uint32_t blocks)
{
    put(t,
        "mov.b32 %%tag, -1; mov.b32 %%dirty, 0;\n"
        "setp.lt.u32 %%p, %%lane, %u; selp.b32 %%used, 0, -1, %%p;\n",
        blocks);
}

/* Algorithm 1: %idx is the block; %found is 0 where there is none, else the block and one. */
static void put_look_up(struct text *t, uint32_t blocks)
{
    put(t, "look_up:\n"
           "setp.eq.u32 %%p, %%tag, %%line; vote.sync.ballot.b32 %%idx, %%p, -1;\n"
           "setp.ne.u32 %%p, %%op, 0; bfind.u32 %%idx, %%idx; add.u32 %%found, %%idx, 1;\n"
           "@%%p bra.uni no_read;\n"
           "read_list: .branchtargets failed, ");
    put_targets(t, blocks, "read");
    put(t, ";\nbrx.idx %%found, read_list;\n");
    put_moves(t, blocks, "read", "mov.b32 %value, ", "", "send");
    put(t, "failed: st.global.u32 [%%row + %u], %%found; bra.uni next;\n",
        (unsigned)offsetof(struct morpheus_row, result));
}

/* The result, then the time at which the block was used last. */
static void put_end(struct text *t)
{
    put(t,
        "send: st.global.u32 [%%at], %%value;\n"
        "done: st.global.u32 [%%row + %u], %%found;\n"
        "add.u32 %%now, %%now, 1; setp.eq.u32 %%p, %%lane, %%idx; @%%p mov.b32 %%used, %%now;\n"
        "bra.uni next;\n",
        (unsigned)offsetof(struct morpheus_row, result));
}

/* Writes and atomics of a block that is not there fail. */
static void put_choose(struct text *t, uint32_t blocks)
{
    put(t,
        "no_read:\n"
        "and.b32 %%x, %%op, %u; setp.ne.u32 %%p, %%x, 0; @%%p bra.uni clear;\n"
        "and.b32 %%x, %%op, %u; setp.eq.u32 %%p, %%x, %u; @%%p exit;\n"
        "setp.eq.u32 %%p, %%x, %u; @%%p bra.uni insert;\n"
        "setp.eq.u32 %%p, %%found, 0; @%%p bra.uni failed;\n"
        "setp.eq.u32 %%p, %%x, %u; @%%p bra.uni fetch; bra.uni put;\n",
        MORPHEUS_FLAG_CLEAR, MORPHEUS_OP_MASK, MORPHEUS_EXIT, MORPHEUS_INSERT, MORPHEUS_ATOMIC);
    put(t, "clear:\n");
    put_clear(t, blocks);
    put(t, "and.b32 %%op, %%op, %d; bra.uni look_up;\n", ~MORPHEUS_FLAG_CLEAR);
}

/* The block that was used longest ago leaves; if it is dirty its bytes go to the read data buffer. */
static void put_insert(struct text *t)
{
    put(t, "insert:\n"
           "setp.ne.u32 %%p, %%found, 0; @%%p bra.uni put;\n"
           "redux.sync.min.u32 %%x, %%used, -1; setp.eq.u32 %%p, %%used, %%x;\n"
           "vote.sync.ballot.b32 %%idx, %%p, -1; bfind.u32 %%idx, %%idx;\n"
           "shr.u32 %%x, %%dirty, %%idx; and.b32 %%x, %%x, 1; setp.ne.u32 %%p, %%x, 0;\n"
           "@%%p bra.uni fetch;\n"
           "replace:\n"
           "setp.eq.u32 %%p, %%lane, %%idx; @%%p mov.b32 %%tag, %%line;\n"
           "mov.b32 %%x, 1; shl.b32 %%x, %%x, %%idx; not.b32 %%x, %%x; and.b32 %%dirty, %%dirty, %%x;\n"
           "bra.uni put;\n");
}

/* The old block of an atomic, or the victim. An atomic adds what the write data buffer holds (morpheus.c). */
static void put_fetch(struct text *t, uint32_t blocks)
{
    put(t, "fetch:\n");
    put_indirect(t, blocks, "old", "mov.b32 %value, ", "", "fetched");
    put(t,
        "fetched:\n"
        "st.global.u32 [%%at], %%value;\n"
        "and.b32 %%x, %%op, %u; setp.eq.u32 %%p, %%x, %u; @%%p bra.uni add;\n"
        "shfl.sync.idx.b32 %%x, %%tag, %%idx, 31, -1; st.global.u32 [%%row + %u], %%x;\n"
        "bra.uni replace;\n"
        "add: ld.volatile.global.u32 %%x, [%%at]; add.u32 %%value, %%value, %%x; bra.uni write;\n",
        MORPHEUS_OP_MASK, MORPHEUS_ATOMIC, (unsigned)offsetof(struct morpheus_row, victim));
}

/* Lanes whose sector is written take what the write data buffer holds. */
static void put_put(struct text *t, uint32_t blocks)
{
    put(t,
        "put: ld.volatile.global.u32 %%value, [%%at];\n"
        "write:\n"
        "shr.u32 %%x, %%op, %u; and.b32 %%x, %%x, 1; shl.b32 %%x, %%x, %%idx; or.b32 %%dirty, %%dirty, %%x;\n"
        "shr.u32 %%x, %%lane, 3; shr.u32 %%op, %%op, %u; shr.u32 %%op, %%op, %%x; and.b32 %%op, %%op, 1;\n"
        "setp.ne.u32 %%sector, %%op, 0;\n",
        MORPHEUS_FLAG_DIRTY_SHIFT, MORPHEUS_SECTORS_SHIFT);
    put_indirect(t, blocks, "write", "@%sector mov.b32 ", ", %value", "done");
}

size_t morpheus_kernel(uint32_t blocks, char *ptx, size_t room)
{
    struct text t = {.at = ptx, .room = room};
    put_start(&t, blocks);
    put_clear(&t, blocks);
    put(&t, "next: ld.volatile.global.v2.u32 {%%op, %%line}, [%%row];\n");
    put_look_up(&t, blocks);
    put_end(&t);
    put_choose(&t, blocks);
    put_insert(&t);
    put_fetch(&t, blocks);
    put_put(&t, blocks);
    put(&t, "}\n");
    return t.length;
}
