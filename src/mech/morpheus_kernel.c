/* morpheus_kernel.c: the extended LLC kernel of Morpheus (4.2), as PTX. A warp is a set.
 *
 * Data-array registers %d0, %d1, ... hold a block of 128 bytes each, 4 bytes a lane. Lane i keeps the
 * metadata of block i: its tag in %tag and its rank in %rank, 0 for the block that was used longest ago.
 * Dirty bits are a mask in %dirty, the same in all lanes. The kernel waits for a request by loading its row
 * of the warp status table, looks up the tag (Algorithm 1), moves the block (Algorithm 2, brx.idx), stores
 * data and result, and only then brings the ranks up to date.
 *
 * Open in the paper. Counters that all fall by one wrap, and tie: here only those above the block's own
 * fall, which is exact LRU. A tag is a whole word in a register of its own: a line cannot be found from 18
 * bits and the set where the address map is hashed. There is no valid bit: no line has the tag ~0. */
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

static void put_start(struct text *t, uint32_t blocks)
{
    put(t,
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry " MORPHEUS_ENTRY "(.param .u64 table)\n{\n"
        ".reg .b64 %%row, %%data, %%at;\n"
        ".reg .b32 %%d<%u>, %%tag, %%rank, %%dirty, %%lane;\n"
        ".reg .b32 %%op, %%line, %%low, %%high, %%hits, %%idx, %%value, %%old, %%x, %%y;\n"
        ".reg .pred %%p, %%miss, %%sector;\n"
        "mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x; shr.u32 %%y, %%y, 5; mul.lo.u32 %%x, %%x, %%y;\n"
        "mov.u32 %%y, %%tid.x; shr.u32 %%y, %%y, 5; add.u32 %%x, %%x, %%y;\n"
        "ld.param.u64 %%at, [table]; mad.wide.u32 %%at, %%x, 8, %%at; ld.global.u64 %%row, [%%at];\n"
        "mov.u32 %%lane, %%laneid;\n",
        blocks);
    for (uint32_t i = 0; i < blocks; i++) put(t, "mov.b32 %%d%u, 0;\n", i);
}

/* An empty set. Lanes beyond the blocks have a rank that is never the lowest and never falls. */
static void put_clear(struct text *t, uint32_t blocks)
{
    put(t,
        "mov.b32 %%tag, -1; mov.b32 %%dirty, 0;\n"
        "setp.lt.u32 %%p, %%lane, %u; selp.b32 %%rank, %%lane, -1, %%p;\n",
        blocks);
}

/* Algorithm 1. One branch leads to the move of a read that hits (%x is its block and one), of one that misses
 * (0) and of all other requests. */
static void put_look_up(struct text *t, uint32_t blocks)
{
    put(t,
        "look_up:\n"
        "setp.eq.u32 %%p, %%tag, %%line; and.b32 %%y, %%op, %u;\n"
        "vote.sync.ballot.b32 %%hits, %%p, -1; setp.eq.u32 %%p, %%y, %u;\n"
        "clz.b32 %%x, %%hits; sub.u32 %%x, 32, %%x; selp.b32 %%x, %%x, %u, %%p;\n"
        "read_list: .branchtargets failed, ",
        MORPHEUS_OP_MASK | MORPHEUS_FLAG_CLEAR, MORPHEUS_READ, blocks + 1);
    put_targets(t, blocks, "read");
    put(t, ", no_read;\nbrx.idx %%x, read_list;\n");
}

static void put_read(struct text *t, uint32_t blocks)
{
    put_moves(t, blocks, "read", "mov.b32 %value, ", "", "send");
    put(t,
        "send:\n"
        "mad.wide.u32 %%at, %%lane, 4, %%data; st.global.u32 [%%at], %%value;\n"
        "bfind.u32 %%idx, %%hits; mov.b32 %%x, %u; bra.uni done;\n",
        MORPHEUS_HIT);
}

/* Writes and atomics of a block that is not there fail. All of these need what the write data buffer
 * holds. */
static void put_choose(struct text *t, uint32_t blocks)
{
    put(t,
        "no_read:\n"
        "and.b32 %%x, %%op, %u; setp.ne.u32 %%p, %%x, 0; @%%p bra.uni clear;\n"
        "setp.eq.u32 %%p, %%y, %u; @%%p exit;\n"
        "bfind.u32 %%idx, %%hits; setp.eq.u32 %%miss, %%hits, 0; mad.wide.u32 %%at, %%lane, 4, %%data;\n"
        "setp.eq.u32 %%p, %%y, %u; @%%p bra.uni insert;\n"
        "@%%miss bra.uni failed;\n"
        "setp.eq.u32 %%p, %%y, %u; ld.volatile.global.u32 %%value, [%%at];\n"
        "@%%p bra.uni fetch; bra.uni put;\n",
        MORPHEUS_FLAG_CLEAR, MORPHEUS_EXIT, MORPHEUS_INSERT, MORPHEUS_ATOMIC);
    put(t, "clear:\n");
    put_clear(t, blocks);
    put(t, "and.b32 %%op, %%op, %d; bra.uni look_up;\n", ~MORPHEUS_FLAG_CLEAR);
}

/* The block that was used longest ago leaves; if it is dirty its bytes go to the read data buffer. */
static void put_insert(struct text *t)
{
    put(t, "insert:\n"
           "ld.volatile.global.u32 %%value, [%%at];\n"
           "@!%%miss bra.uni put;\n"
           "setp.eq.u32 %%p, %%rank, 0; vote.sync.ballot.b32 %%hits, %%p, -1; bfind.u32 %%idx, %%hits;\n"
           "shr.u32 %%y, %%dirty, %%idx; and.b32 %%y, %%y, 1; setp.ne.u32 %%p, %%y, 0;\n"
           "@%%p bra.uni fetch;\n"
           "replace:\n"
           "setp.eq.u32 %%p, %%lane, %%idx; @%%p mov.b32 %%tag, %%line;\n"
           "mov.b32 %%y, 1; shl.b32 %%y, %%y, %%idx; not.b32 %%y, %%y; and.b32 %%dirty, %%dirty, %%y;\n"
           "bra.uni put;\n");
}

/* The old block of an atomic, or the victim. An atomic adds what the controller gave it (morpheus.c). */
static void put_fetch(struct text *t, uint32_t blocks)
{
    put(t, "fetch:\n");
    put_indirect(t, blocks, "old", "mov.b32 %old, ", "", "fetched");
    put(t,
        "fetched:\n"
        "st.global.u32 [%%at], %%old;\n"
        "and.b32 %%x, %%op, %u; setp.eq.u32 %%p, %%x, %u; @%%p bra.uni add;\n"
        "shfl.sync.idx.b32 %%y, %%tag, %%idx, 31, -1; st.global.u32 [%%row + %u], %%y;\n"
        "bra.uni replace;\n"
        "add: add.u32 %%value, %%value, %%old;\n",
        MORPHEUS_OP_MASK, MORPHEUS_ATOMIC, (unsigned)offsetof(struct morpheus_row, victim));
}

/* Lanes whose sector is written. */
static void put_put(struct text *t, uint32_t blocks)
{
    put(t,
        "put:\n"
        "shr.u32 %%x, %%lane, 3; shr.u32 %%y, %%op, %u; shr.u32 %%y, %%y, %%x; and.b32 %%y, %%y, 1;\n"
        "setp.ne.u32 %%sector, %%y, 0;\n"
        "shr.u32 %%x, %%op, %u; and.b32 %%x, %%x, 1; shl.b32 %%x, %%x, %%idx;\n"
        "or.b32 %%dirty, %%dirty, %%x;\n",
        MORPHEUS_SECTORS_SHIFT, MORPHEUS_FLAG_DIRTY_SHIFT);
    put_indirect(t, blocks, "write", "@%sector mov.b32 ", ", %value", "written");
    put(t, "written: selp.b32 %%x, %u, %u, %%miss; bra.uni done;\n", MORPHEUS_MISS, MORPHEUS_HIT);
}

static void put_end(struct text *t, uint32_t blocks)
{
    const unsigned result = offsetof(struct morpheus_row, result);
    put(t,
        "done:\n"
        "st.global.u32 [%%row + %u], %%x;\n"
        "shfl.sync.idx.b32 %%y, %%rank, %%idx, 31, -1;\n"
        "setp.gt.s32 %%p, %%rank, %%y; @%%p add.s32 %%rank, %%rank, -1;\n"
        "setp.eq.u32 %%p, %%lane, %%idx; @%%p mov.b32 %%rank, %u;\n"
        "bra.uni next;\n"
        "failed: mov.b32 %%x, %u; st.global.u32 [%%row + %u], %%x; bra.uni next;\n}\n",
        result, blocks - 1, MORPHEUS_MISS, result);
}

size_t morpheus_kernel(uint32_t blocks, char *ptx, size_t room)
{
    struct text t = {.at = ptx, .room = room};
    put_start(&t, blocks);
    put_clear(&t, blocks);
    put(&t, "next:\n"
            "ld.volatile.global.v4.u32 {%%op, %%line, %%low, %%high}, [%%row];\n"
            "mov.b64 %%data, {%%low, %%high};\n");
    put_look_up(&t, blocks);
    put_read(&t, blocks);
    put_choose(&t, blocks);
    put_insert(&t);
    put_fetch(&t, blocks);
    put_put(&t, blocks);
    put_end(&t, blocks);
    return t.length;
}
