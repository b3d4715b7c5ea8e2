/* morpheus_kernel.c: the extended LLC kernel of Morpheus (4.2), as PTX. A warp is a set.
 *
 * A block is 128 bytes, 4 bytes a lane; where blocks are kept is in morpheus_store.c. Lane i keeps the
 * metadata of block i, of block 32 + i and so on: tags, and when each was used last. The kernel waits for a
 * request by loading its row of the warp status table, looks up the tag (Algorithm 1), moves the block
 * (Algorithm 2), stores data and result, and only then notes that the block was used. What a write or an
 * insertion brings is asked for before it is known that one comes: the load of %data waits at the controller
 * while reads are served. The kernel of sets with compressed blocks is in morpheus_levels.c.
 *
 * Open in the paper. Counters of 12 bits that fall with each request wrap, and tie: here it is the clock, in
 * units of two cycles, which is exact LRU for 2^32 cycles and costs a hit as much. A tag is a whole word in a
 * register of its own: a line cannot be found from 18 bits and the set where the address map is hashed. There
 * is no valid bit: no line has the tag ~0. */
#include "mech/morpheus_bdi.h"
#include "mech/morpheus_ptx.h"

/* ---- slots ---- */

/* A thread has seven predicates. */
static bool keeps_mine(const struct morpheus_kernel *k) { return groups_of(k) <= 2 && !k->is_compressed; }

uint32_t mine_of(const struct morpheus_kernel *k, uint32_t g) { return keeps_mine(k) ? g : 0; }

static void put_compare_lane(struct ptx_text *t, const struct morpheus_kernel *k, uint32_t g)
{
    if (g)
        put(t, "add.s32 %%x, %%idx, -%u; setp.eq.u32 %%mine%u, %%lane, %%x;\n", 32 * g, mine_of(k, g));
    else
        put(t, "setp.eq.u32 %%mine0, %%lane, %%idx;\n");
}

void put_is_mine(struct ptx_text *t, const struct morpheus_kernel *k)
{
    for (uint32_t g = 0; keeps_mine(k) && g < groups_of(k); g++) put_compare_lane(t, k, g);
}

void put_mine(struct ptx_text *t, const struct morpheus_kernel *k, uint32_t g)
{
    if (!keeps_mine(k)) put_compare_lane(t, k, g);
}

/* %idx: the last slot whose register %<name><g> equals `with`, or -1. Where only one can be equal, %mine<g>
 * is that of this slot. */
static void put_find(struct ptx_text *t, const struct morpheus_kernel *k, const char *name, const char *with)
{
    if (groups_of(k) == 1) {
        put(t, "setp.eq.u32 %%mine0, %%%s0, %s; vote.sync.ballot.b32 %%idx, %%mine0, -1;\n", name, with);
        put(t, "bfind.u32 %%idx, %%idx;\n");
        return;
    }
    put(t, "setp.eq.u32 %%mine0, %%%s0, %s; selp.b32 %%idx, %%lane, -1, %%mine0;\n", name, with);
    for (uint32_t g = 1; g < groups_of(k); g++) {
        const uint32_t mine = mine_of(k, g);
        put(t, "setp.eq.u32 %%mine%u, %%%s%u, %s; @%%mine%u add.u32 %%idx, %%lane, %u;\n", mine, name, g,
            with, mine, 32 * g);
    }
    put(t, "redux.sync.max.s32 %%idx, %%idx, -1;\n");
}

/* %y: the tag of slot %idx. */
static void put_tag(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "mov.b32 %%y, %%tag0;\n");
    for (uint32_t g = 1; g < groups_of(k); g++)
        put(t, "setp.ge.s32 %%p, %%idx, %u; @%%p mov.b32 %%y, %%tag%u;\n", 32 * g, g);
    put(t, "shfl.sync.idx.b32 %%y, %%y, %%idx, 31, -1;\n");
}

/* ---- the start ---- */

/* %row and %at: the warp's row, and its lane's word of the data buffers. The table has the lines of each
 * warp; the row says where the third one is. */
void put_start(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        ".visible .entry %s(.param .u64 table)\n{\n"
        ".reg .b64 %%row, %%at, %%sums;\n"
        ".reg .b32 %%tag<%u>, %%used<%u>, %%lane;\n"
        ".reg .b32 %%op, %%line, %%idx, %%data, %%x, %%y;\n"
        ".reg .pred %%p, %%hit, %%sector, %%mine<%u>;\n",
        k->entry, groups_of(k), groups_of(k), mine_of(k, groups_of(k) - 1) + 1);
    put_store_declarations(t, k);
    put(t,
        "mov.u32 %%x, %%ctaid.x; mov.u32 %%y, %%ntid.x; shr.u32 %%y, %%y, 5; mul.lo.u32 %%x, %%x, %%y;\n"
        "mov.u32 %%y, %%tid.x; shr.u32 %%y, %%y, 5; add.u32 %%x, %%x, %%y;\n"
        "ld.param.u64 %%at, [table]; mad.wide.u32 %%at, %%x, %u, %%at;\n"
        "ld.global.cg.u64 %%row, [%%at]; ld.global.cg.u64 %%at, [%%at + 8];\n"
        "mov.u32 %%lane, %%laneid; mad.wide.u32 %%at, %%lane, 4, %%at;\n",
        (unsigned)sizeof(uint64_t) * MORPHEUS_WINDOW_LINES);
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

/* ---- the loop ---- */

/* Where requests end. The result comes first, then the next %data is asked for if this one was taken, then
 * the time at which the block was used last is stored. The path of a read that hits has one branch, or
 * two. */
static void put_end(struct ptx_text *t, const struct morpheus_kernel *k)
{
    const uint32_t result = offsetof(struct morpheus_row, result);
    put(t,
        "ld.volatile.global.u32 %%data, [%%at]; bra.uni next;\n"
        "missed: mov.b32 %%y, %u; st.global.u32 [%%row + %u], %%y;\n"
        "ld.volatile.global.u32 %%data, [%%at]; bra.uni next;\n"
        "stored: st.global.u32 [%%row + %u], %%y; ld.volatile.global.u32 %%data, [%%at]; bra.uni used;\n"
        "failed: st.global.u32 [%%row + %u], %%y; bra.uni next;\n",
        MORPHEUS_MISS, result, result, result);
    if (!k->is_compressed) put_store_answer(t, k);
    put(t,
        "done: st.global.u32 [%%row + %u], %%y;\n"
        "used: mov.u32 %%y, %%clock;\n",
        result);
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_mine(t, k, g);
        put(t, "@%%mine%u bfi.b32 %%used%u, %%used%u, %%y, 0, 1;\n", mine_of(k, g), g, g);
    }
}

/* Algorithm 1. */
void put_look_up(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_end(t, k);
    put(t, "next: ld.volatile.global.v4.u32 {%%op, %%line, %%y, %%x}, [%%row];\n"
           "look_up:\n");
    put_find(t, k, "tag", "%line");
}

/* The branch of a request, for each block that it may find, or none. What no branch finds is read before it
 * is known that the request is a read: none that hits needs %line. */
static void put_dispatch(struct ptx_text *t, const struct morpheus_kernel *k)
{
    if (!answers_by_branch(k)) {
        put(t, groups_of(k) == 1 ? "vote.sync.any.pred %%hit, %%mine0, -1;\n"
                                 : "setp.ge.s32 %%hit, %%idx, 0;\n");
        put_store_read(
            t, k,
            &(struct store_access){.name = "early", .index = "%idx", .word = "%line", .guard = "@%hit "});
    }
    put(t, "add.u32 %%y, %%y, %%idx;\n"
           "all: .branchtargets failed, ");
    put_read_targets(t, k);
    put(t, ", insert");
    for (uint32_t i = 0; i < k->blocks; i++) put(t, ", write");
    put(t, ", missed");
    for (uint32_t i = 0; i < k->blocks; i++) put(t, ", write");
    for (uint32_t i = 0; i <= k->blocks; i++) put(t, ", other");
    put(t, ";\nbrx.idx %%y, all;\n");
}

/* ---- insertions ---- */

/* The block that was used longest ago leaves. */
static void put_insert(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "insert:\n");
    if (groups_of(k) > 1) put(t, "min.u32 %%x, %%used0, %%used1;\n");
    for (uint32_t g = 2; g < groups_of(k); g++) put(t, "min.u32 %%x, %%x, %%used%u;\n", g);
    put(t, "redux.sync.min.u32 %%x, %%%s, -1; and.b32 %%y, %%x, 1; setp.ne.u32 %%p, %%y, 0;\n",
        groups_of(k) > 1 ? "x" : "used0");
    put_find(t, k, "used", "%x");
    put(t,
        "@%%p bra.uni evict;\n"
        "replace: and.b32 %%y, %%op, %u;\n",
        MORPHEUS_FLAG_DIRTY);
    put_is_mine(t, k);
    for (uint32_t g = 0; g < groups_of(k); g++) {
        const uint32_t mine = mine_of(k, g);
        put_mine(t, k, g);
        put(t, "@%%mine%u mov.b32 %%tag%u, %%line; @%%mine%u mov.b32 %%used%u, %%y;\n", mine, g, mine, g);
    }
    put_store_write(t, k,
                    &(struct store_access){.name = "new", .index = "%idx", .word = "%data", .guard = ""});
    put(t, "mov.b32 %%y, 0; bra.uni stored;\n");
}

/* The bytes of a dirty block go to the read data buffer, and its tag to the row. */
static void put_evict(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "evict:\n");
    put_store_read(t, k,
                   &(struct store_access){.name = "victim", .index = "%idx", .word = "%x", .guard = ""});
    put(t, "st.global.u32 [%%at], %%x;\n");
    put_tag(t, k);
    put(t, "st.global.u32 [%%row + %u], %%y; bra.uni replace;\n",
        (unsigned)offsetof(struct morpheus_row, victim));
}

/* ---- writes and atomics ---- */

void put_sector(struct ptx_text *t)
{
    put(t, "shr.u32 %%x, %%lane, 3; shl.b32 %%x, %%op, %%x; setp.lt.s32 %%sector, %%x, 0;\n");
}

void put_sums(struct ptx_text *t)
{
    put(t, "mad.wide.s32 %%sums, %%x, 1, %%at; ld.volatile.global.u32 %%data, [%%sums];\n");
}

/* The old block goes to the read data buffer. */
static void put_atomic(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "atomic:\n");
    put_sums(t);
    if (answers_by_branch(k))
        put_store_read(t, k,
                       &(struct store_access){.name = "old", .index = "%idx", .word = "%line", .guard = ""});
    put(t, "st.global.u32 [%%at], %%line; add.u32 %%data, %%line, %%data; bra.uni write;\n");
}

/* Lanes whose sector is written take %data. An insertion of a block that is there is a write that may leave
 * it clean. */
static void put_write(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "write: and.b32 %%y, %%op, %u;\n", MORPHEUS_FLAG_DIRTY);
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_mine(t, k, g);
        put(t, "@%%mine%u or.b32 %%used%u, %%used%u, %%y;\n", mine_of(k, g), g, g);
    }
    put_sector(t);
    put_store_write(
        t, k,
        &(struct store_access){.name = "write", .index = "%idx", .word = "%data", .guard = "@%sector "});
    put(t, "add.u32 %%y, %%idx, 1; bra.uni stored;\n");
}

/* ---- other requests ---- */

/* A set that forgets its blocks has none. What reads, writes or adds to a block that is not there fails. */
static void put_other(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "other: and.b32 %%y, %%op, %u; setp.eq.u32 %%p, %%y, 0; @%%p bra.uni kept;\n",
        MORPHEUS_FLAG_CLEAR);
    if (!answers_by_branch(k)) { /* the block that was read lies in %line */
        put_tag(t, k);
        put(t, "@%%hit mov.b32 %%line, %%y;\n");
    }
    put_clear(t, k);
    put(t,
        "mov.b32 %%idx, -1;\n"
        "kept: and.b32 %%y, %%op, %u; setp.eq.u32 %%p, %%y, %u; @%%p %s;\n"
        "setp.ge.s32 %%p, %%idx, 0; @%%p bra.uni atomic;\n"
        "setp.eq.u32 %%p, %%y, %u; @%%p bra.uni insert;\n"
        "setp.ne.u32 %%p, %%y, %u; @%%p bra.uni missed;\n"
        "mov.b32 %%y, %u; bra.uni failed;\n",
        MORPHEUS_OP_MASK, MORPHEUS_EXIT, k->flushes ? "bra.uni flush" : "exit", MORPHEUS_INSERT,
        MORPHEUS_READ, MORPHEUS_MISS);
}

void put_more(struct ptx_text *t)
{
    put(t,
        "mov.b32 %%x, %d; st.global.u32 [%%row + %u], %%x;\n"
        "ld.volatile.global.u32 %%x, [%%row]; and.b32 %%x, %%x, 0; or.b32 %%idx, %%idx, %%x;\n",
        MORPHEUS_MORE, (unsigned)offsetof(struct morpheus_row, result));
}

/* Before the warp exits, one dirty block after the other goes to the controller. */
static void put_flush(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "flush: mov.b32 %%idx, -1;\n");
    for (uint32_t g = 0; g < groups_of(k); g++)
        put(t,
            "and.b32 %%x, %%used%u, 1; setp.ne.u32 %%p, %%x, 0; setp.lt.and.u32 %%p, %%lane, %u, %%p;\n"
            "@%%p add.u32 %%idx, %%lane, %u; @%%p mov.b32 %%y, %%tag%u;\n",
            g, k->blocks - 32 * g, 32 * g, g);
    put(t, "redux.sync.max.s32 %%idx, %%idx, -1; setp.lt.s32 %%p, %%idx, 0; @%%p exit;\n");
    put_store_read(t, k,
                   &(struct store_access){.name = "flushed", .index = "%idx", .word = "%x", .guard = ""});
    put(t,
        "st.global.u32 [%%at], %%x;\n"
        "shfl.sync.idx.b32 %%y, %%y, %%idx, 31, -1; st.global.u32 [%%row + %u], %%y;\n",
        (unsigned)offsetof(struct morpheus_row, victim));
    put_more(t);
    put_is_mine(t, k);
    for (uint32_t g = 0; g < groups_of(k); g++) {
        put_mine(t, k, g);
        put(t, "@%%mine%u and.b32 %%used%u, %%used%u, -2;\n", mine_of(k, g), g, g);
    }
    put(t, "bra.uni flush;\n");
}

/* ---- all ---- */

static void put_kernel(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_start(t, k);
    put_store_start(t, k);
    put_clear(t, k);
    put_look_up(t, k);
    put_dispatch(t, k);
    put_insert(t, k);
    put_evict(t, k);
    put_write(t, k);
    put_atomic(t, k);
    put_other(t, k);
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
