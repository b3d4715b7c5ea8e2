/* morpheus_levels.c: the extended LLC kernel with compressed blocks (Morpheus, 4.3.1). The compression of a
 * block is in morpheus_bdi.h.
 *
 * A row is a register of the warp, or 128 bytes of shared memory. It is at one level: a row at level 0 holds
 * a block as it is, one at level 1 (low) two, one at level 2 (high) four, side by side in each lane (Figure
 * 9). A block may be in a row of its own level or of a lower one. At first all rows are at level 0. After
 * each epoch rows are allotted in proportion to the room that blocks need at their levels; at least one
 * stays at level 0. The blocks of a row that changes its level leave. What is inserted replaces the block
 * that was used longest ago among those whose rows can hold it.
 *
 * Metadata. A set has two groups of 32 slots, with %tag<g>, %used<g> and %base<g>. Lane i has two slots of
 * row i, for its first blocks. A high row has two more: with R rows, those of lane 2R - 1 - i. So at most 32
 * - R rows are high. %level is the level of the lane's row, 3: the lane has none.
 *
 * %state keeps numbers that are rarely needed, one a lane: lanes 0 to 2 count blocks at each level, lane 3
 * has the clock at which the epoch began, lane 4 that of the last request with the flag FORGET, lane 5 `sums`
 * of that request.
 *
 * Open in the paper: what is counted. Here it is blocks as they are inserted or written; what was counted
 * before the epoch weighs half of it, because a set has few requests in an epoch. A set looks at its own
 * clock, and only when it inserts a block that is not there: without a request a warp does nothing.
 *
 * Replacement by level is not LRU of the set, so a set can hold blocks that the predictor's filters have
 * forgotten. The request with the flag FORGET makes the set give these up. A request for one of them that
 * comes between the swap and that one reads its line from DRAM: hardware would have to wait where the block
 * is dirty, for a time that is not modelled. */
#include "mech/morpheus_bdi.h"
#include "mech/morpheus_ptx.h"

enum {
    LANE_EPOCH = 3,
    LANE_FORGET = 4,
    LANE_SUMS = 5,
    NO_ROW = 3,
    ROW_OFFSET_LEVELS = offsetof(struct morpheus_row, levels)
};

/* ---- slots ---- */

/* %y = <name> of slot %idx. */
static void put_of_slot(struct ptx_text *t, const char *name)
{
    put(t,
        "setp.ge.s32 %%q, %%idx, 32; selp.b32 %%y, %%%s1, %%%s0, %%q;\n"
        "shfl.sync.idx.b32 %%y, %%y, %%idx, 31, -1;\n",
        name, name);
}

/* %t: the row of slot %idx. Leaves its lane in %x. */
static void put_row_of_slot(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "and.b32 %%x, %%idx, 31; sub.u32 %%t, %u, %%x; min.u32 %%t, %%t, %%x;\n", 2 * k->blocks - 1);
}

/* `to`: which of the blocks of its row slot %idx is. %x: the level of the row. */
static void put_part_of_slot(struct ptx_text *t, const struct morpheus_kernel *k, const char *to)
{
    put(t,
        "and.b32 %%x, %%idx, 31; setp.ge.u32 %%q, %%x, %u; shr.u32 %s, %%idx, 5; @%%q add.u32 %s, %s, 2;\n"
        "shfl.sync.idx.b32 %%x, %%level, %%idx, 31, -1;\n",
        k->blocks, to, to, to);
}

/* %old = block of slot %idx. Takes %x, %y, %t. */
static void put_unpack(struct ptx_text *t, const struct morpheus_kernel *k, const char *name)
{
    put_row_of_slot(t, k);
    put_store_read(t, k, &(struct store_access){.name = name, .index = "%t", .word = "%old", .guard = ""});
    put_of_slot(t, "base");
    put_part_of_slot(t, k, "%t");
    put(t, "call (%%old), morpheus_bdi_unpack, (%%old, %%y, %%x, %%t);\n");
}

/* The block of slot %idx, which is dirty, goes to the read data buffer, and its tag to the row. */
static void put_send_victim(struct ptx_text *t, const struct morpheus_kernel *k, const char *name)
{
    put_unpack(t, k, name);
    put_of_slot(t, "tag");
    put(t, "st.global.u32 [%%at], %%old; st.global.u32 [%%row + %u], %%y;\n",
        (unsigned)offsetof(struct morpheus_row, victim));
}

/* Slot %idx has block `tag`, and is clean and not used. */
static void put_rename(struct ptx_text *t, const struct morpheus_kernel *k, const char *tag)
{
    for (uint32_t g = 0; g < 2; g++) {
        put_mine(t, k, g);
        put(t, "@%%mine0 mov.b32 %%tag%u, %s; @%%mine0 mov.b32 %%used%u, 0;\n", g, tag, g);
    }
}

/* In lanes with %r: both slots are empty, and there only where `level` has them. */
static void put_empty_slots(struct ptx_text *t, const char *level)
{
    put(t,
        "@%%r mov.b32 %%tag0, -1; @%%r mov.b32 %%tag1, -1;\n"
        "setp.lt.u32 %%q, %s, %u; selp.b32 %%x, 0, -1, %%q; @%%r mov.b32 %%used0, %%x;\n"
        "sub.u32 %%x, %s, 1; setp.lt.u32 %%q, %%x, 2; selp.b32 %%x, 0, -1, %%q; @%%r mov.b32 %%used1, %%x;\n",
        level, NO_ROW, level);
}

/* ---- the start ---- */

static void put_levels_start(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        ".reg .b32 %%base<2>, %%level, %%state, %%t, %%old, %%b;\n"
        ".reg .pred %%q, %%r, %%allots;\n"
        "mov.b32 %%base0, 0; mov.b32 %%base1, 0; mov.b32 %%state, 0;\n"
        "setp.lt.u32 %%p, %%lane, %u; selp.b32 %%level, 0, %u, %%p;\n"
        "setp.eq.u32 %%r, %%lane, %%lane;\n",
        k->blocks, NO_ROW);
    put_empty_slots(t, "%level");
}

/* ---- reads, writes and atomics ---- */

static void put_answer(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "setp.ge.s32 %%hit, %%idx, 0; add.u32 %%y, %%idx, 1;\n"
           "setp.ne.u32 %%p, %%op, 0; @%%p bra.uni no_read; @!%%hit bra.uni failed;\n");
    put_unpack(t, k, "read");
    put(t, "st.global.u32 [%%at], %%old; add.u32 %%y, %%idx, 1; bra.uni done;\n");
}

/* What leaves: a set that forgets blocks, the end, an insertion, and a block that is not there. */
static void put_choose(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "no_read: and.b32 %%t, %%op, %u; setp.eq.u32 %%p, %%t, %u; @%%p bra.uni insert;\n"
        "and.b32 %%t, %%op, %u; setp.ne.u32 %%p, %%t, 0; @%%p bra.uni clear;\n"
        "and.b32 %%t, %%op, %u; setp.ne.u32 %%p, %%t, 0; @%%p bra.uni forget;\n"
        "and.b32 %%t, %%op, %u; setp.eq.u32 %%p, %%t, %u; @%%p %s;\n"
        "@!%%hit bra.uni missed; setp.eq.u32 %%p, %%t, %u; @%%p bra.uni atomic;\n",
        MORPHEUS_OP_MASK | MORPHEUS_FLAG_CLEAR | MORPHEUS_FLAG_FORGET, MORPHEUS_INSERT, MORPHEUS_FLAG_CLEAR,
        MORPHEUS_FLAG_FORGET, MORPHEUS_OP_MASK, MORPHEUS_EXIT, k->flushes ? "bra.uni flush" : "exit",
        MORPHEUS_ATOMIC);
}

/* %data: the block as the request leaves it. */
static void put_change(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_unpack(t, k, "change");
    put_sector(t);
    put(t, "@!%%sector mov.b32 %%data, %%old; bra.uni keep;\n"
           "atomic:\n");
    put_sums(t);
    put_unpack(t, k, "sum");
    put(t, "st.global.u32 [%%at], %%old; add.u32 %%data, %%old, %%data; bra.uni keep;\n");
}

static void put_cleared(struct ptx_text *t)
{
    put(t, "clear: setp.eq.u32 %%r, %%lane, %%lane;\n");
    put_empty_slots(t, "%level");
    put(t, "and.b32 %%op, %%op, %d; bra.uni look_up;\n", ~MORPHEUS_FLAG_CLEAR);
}

/* ---- blocks that are kept ---- */

/* The level of %data in %x, its base in %b, its deltas in %data; the block is counted. One that has grown
 * out of its slot gives it up, and stays dirty. */
static void put_keep(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "keep: call (%%x, %%b, %%data), morpheus_bdi_compress, (%%data);\n"
        "setp.eq.u32 %%p, %%lane, %%x; @%%p add.u32 %%state, %%state, 1;\n"
        "@!%%hit bra.uni choose;\n"
        "shfl.sync.idx.b32 %%y, %%level, %%idx, 31, -1; setp.ge.u32 %%p, %%x, %%y; @%%p bra.uni place;\n"
        "or.b32 %%op, %%op, %u; mov.b32 %%t, %%x;\n",
        MORPHEUS_FLAG_DIRTY);
    put_rename(t, k, "-1");
    put(t, "mov.b32 %%x, %%t;\n");
}

/* %idx: of the slots in rows of level %x and below, the one that was used longest ago. */
static void put_choose_victim(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "choose: setp.le.u32 %%r, %%level, %%x;\n"
           "selp.b32 %%x, %%used0, -1, %%r; selp.b32 %%y, %%used1, -1, %%r; min.u32 %%x, %%x, %%y;\n"
           "redux.sync.min.u32 %%x, %%x, -1; mov.b32 %%idx, -1;\n"
           "setp.eq.and.u32 %%q, %%used0, %%x, %%r; @%%q mov.b32 %%idx, %%lane;\n"
           "setp.eq.and.u32 %%q, %%used1, %%x, %%r; @%%q add.u32 %%idx, %%lane, 32;\n"
           "redux.sync.max.s32 %%idx, %%idx, -1;\n"
           "and.b32 %%x, %%x, 1; setp.eq.u32 %%p, %%x, 0; @%%p bra.uni take;\n");
    put_send_victim(t, k, "victim");
    put(t, "take:\n");
    put_rename(t, k, "%line");
}

/* Slot %idx gets base and deltas, and its row their bits. The result is sent before: the warp asks for its
 * next request after this. */
static void put_place(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t, "place: and.b32 %%y, %%op, %u;\n", MORPHEUS_FLAG_DIRTY);
    for (uint32_t g = 0; g < 2; g++) {
        put_mine(t, k, g);
        put(t, "@%%mine0 or.b32 %%used%u, %%used%u, %%y; @%%mine0 mov.b32 %%base%u, %%b;\n", g, g, g);
    }
    put(t, "add.u32 %%y, %%idx, 1; selp.b32 %%y, %%y, 0, %%hit; st.global.u32 [%%row + %u], %%y;\n",
        (unsigned)offsetof(struct morpheus_row, result));
    put_row_of_slot(t, k);
    put_store_read(t, k,
                   &(struct store_access){.name = "around", .index = "%t", .word = "%old", .guard = ""});
    put_part_of_slot(t, k, "%y");
    put(t, "call (%%old), morpheus_bdi_pack, (%%old, %%data, %%x, %%y);\n");
    put_store_write(t, k,
                    &(struct store_access){.name = "place_row", .index = "%t", .word = "%old", .guard = ""});
    put(t, "ld.volatile.global.u32 %%data, [%%at]; bra.uni used;\n");
}

/* ---- blocks that leave before a request ---- */

/* Slots of group g with %r: a clean block is gone; a dirty one leaves, so its time is 0. */
static void put_doom(struct ptx_text *t, uint32_t g)
{
    put(t,
        "setp.ne.and.u32 %%q, %%tag%u, -1, %%r; @%%q and.b32 %%used%u, %%used%u, 1;\n"
        "setp.eq.and.u32 %%q, %%used%u, 0, %%q; @%%q mov.b32 %%tag%u, -1;\n",
        g, g, g, g, g);
}

/* One dirty block after the other goes to the controller. Then the set goes on with what it came from: an
 * allotment, or a request that is looked up again. */
static void put_purge(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "purge: mov.b32 %%idx, -1;\n"
        "setp.eq.u32 %%p, %%used0, 1; @%%p mov.b32 %%idx, %%lane;\n"
        "setp.eq.u32 %%p, %%used1, 1; @%%p add.u32 %%idx, %%lane, 32;\n"
        "redux.sync.max.s32 %%idx, %%idx, -1;\n"
        "setp.ge.s32 %%p, %%idx, 0; @%%p bra.uni purge_one;\n"
        "@%%allots bra.uni allot_rows;\n"
        "shfl.sync.idx.b32 %%x, %%state, %u, 31, -1; bra.uni look_up;\n"
        "purge_one:\n",
        LANE_SUMS);
    put_send_victim(t, k, "purged");
    put_more(t);
    put_rename(t, k, "-1");
    put(t, "bra.uni purge;\n");
}

/* Blocks that were not used since the last such request. */
static void put_forget(struct ptx_text *t)
{
    put(t,
        "forget: setp.eq.u32 %%p, %%lane, %u; @%%p mov.b32 %%state, %%x;\n"
        "shfl.sync.idx.b32 %%x, %%state, %u, 31, -1;\n"
        "mov.u32 %%y, %%clock; setp.eq.u32 %%p, %%lane, %u; @%%p mov.b32 %%state, %%y;\n",
        LANE_SUMS, LANE_FORGET, LANE_FORGET);
    for (uint32_t g = 0; g < 2; g++) {
        put(t, "setp.lt.u32 %%r, %%used%u, %%x;\n", g);
        put_doom(t, g);
    }
    put(t,
        "and.b32 %%op, %%op, %d; setp.ne.u32 %%allots, %%lane, %%lane;\n"
        "bra.uni purge;\n",
        ~MORPHEUS_FLAG_FORGET);
}

/* Before the warp exits all blocks leave. */
static void put_flush(struct ptx_text *t)
{
    put(t, "flush: setp.eq.u32 %%r, %%lane, %%lane;\n");
    for (uint32_t g = 0; g < 2; g++) put_doom(t, g);
    put(t, "setp.eq.u32 %%p, %%used0, 1; setp.eq.or.u32 %%p, %%used1, 1, %%p;\n"
           "vote.sync.ballot.b32 %%x, %%p, -1; setp.eq.u32 %%p, %%x, 0; @%%p exit;\n"
           "setp.ne.u32 %%allots, %%lane, %%lane; bra.uni purge;\n");
}

/* ---- allotment ---- */

/* Has the epoch ended? */
static void put_insert(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put(t,
        "insert: @%%hit bra.uni keep;\n"
        "mov.u32 %%x, %%clock; shfl.sync.idx.b32 %%y, %%state, %u, 31, -1; sub.u32 %%y, %%x, %%y;\n"
        "setp.lt.u32 %%p, %%y, %u; @%%p bra.uni keep; bra.uni allot;\n",
        LANE_EPOCH, k->epoch);
}

/* %b rows at level 0, and %idx at level 2, for the shares %x, %y and %t of the room; the controller is
 * told so. */
static void put_shares(struct ptx_text *t, const struct morpheus_kernel *k)
{
    const uint32_t rows = k->blocks;
    put(t,
        "allot: setp.eq.u32 %%p, %%lane, %u; @%%p mov.b32 %%state, %%x;\n"
        "shfl.sync.idx.b32 %%x, %%state, 0, 31, -1; shl.b32 %%x, %%x, 2;\n"
        "shfl.sync.idx.b32 %%y, %%state, 1, 31, -1; shl.b32 %%y, %%y, 1;\n"
        "shfl.sync.idx.b32 %%t, %%state, 2, 31, -1;\n"
        "setp.lt.u32 %%p, %%lane, 3; @%%p shr.u32 %%state, %%state, 1;\n"
        "add.u32 %%old, %%x, %%y; add.u32 %%old, %%old, %%t;\n"
        "setp.eq.u32 %%p, %%old, 0; @%%p bra.uni keep;\n",
        LANE_EPOCH);
    put(t,
        "mad.lo.u32 %%b, %%x, %u, %%old; sub.u32 %%b, %%b, 1; div.u32 %%b, %%b, %%old; max.u32 %%b, %%b, 1;\n"
        "mad.lo.u32 %%idx, %%y, %u, %%old; sub.u32 %%idx, %%idx, 1; div.u32 %%idx, %%idx, %%old;\n"
        "add.u32 %%idx, %%idx, %%b; sub.u32 %%idx, %u, %%idx; max.s32 %%idx, %%idx, 0;\n"
        "min.s32 %%idx, %%idx, %u; shl.b32 %%old, %%idx, 16; or.b32 %%old, %%old, %%b;\n"
        "st.global.v4.u32 [%%row + %u], {%%x, %%y, %%t, %%old};\n",
        rows, rows, rows, MORPHEUS_COMPRESSED_ROWS_MAX - rows, (unsigned)ROW_OFFSET_LEVELS);
}

/* %b: the new level of the lane's row. Blocks leave rows that change theirs. */
static void put_allot(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_shares(t, k);
    put(t,
        "add.u32 %%x, %%idx, %u; setp.lt.u32 %%p, %%lane, %%x; selp.b32 %%t, 2, %u, %%p;\n"
        "sub.u32 %%x, %u, %%idx; setp.lt.u32 %%p, %%lane, %%x; @%%p mov.b32 %%t, 1;\n"
        "setp.lt.u32 %%p, %%lane, %%b; @%%p mov.b32 %%t, 0; mov.b32 %%b, %%t;\n"
        "setp.ne.u32 %%r, %%b, %%level;\n",
        k->blocks, NO_ROW, k->blocks);
    for (uint32_t g = 0; g < 2; g++) put_doom(t, g);
    put(t, "setp.eq.u32 %%allots, %%lane, %%lane; bra.uni purge;\n"
           "allot_rows: setp.ne.u32 %%r, %%b, %%level; mov.b32 %%level, %%b;\n");
    put_empty_slots(t, "%level");
    put(t, "bra.uni keep;\n");
}

void put_compressing_kernel(struct ptx_text *t, const struct morpheus_kernel *k)
{
    put_start(t, k);
    put_store_start(t, k);
    put_levels_start(t, k);
    put_look_up(t, k);
    put_answer(t, k);
    put_choose(t, k);
    put_change(t, k);
    put_cleared(t);
    put_insert(t, k);
    put_keep(t, k);
    put_choose_victim(t, k);
    put_place(t, k);
    put_purge(t, k);
    put_forget(t);
    put_allot(t, k);
    if (k->flushes) put_flush(t);
    put(t, "}\n");
}
