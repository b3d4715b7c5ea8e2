/* sync.c: instructions with a member mask (.sync): the lanes that the mask names execute them together.
 *
 * A lane waits at the instruction until every lane of its mask that has not ended waits at the same
 * instruction (bar.warp.sync: at any bar.warp.sync). Then it is executed once for all of them, since the
 * registers of all lanes lie in the same rows, and each leaf goes on where it was. PTX ISA, "shfl.sync",
 * "bar.warp.sync".
 *
 * A mask that does not name the lane that executes it is undefined in PTX. An H200 (ptxas 13.0, sm_90)
 * either ignores the mask or stops with an illegal instruction, and so does this file;
 * tests/unit/masks_h200.tsv has the values. It is ignored where every lane that it names is here and all
 * executing lanes have the same mask (shfl and bar.warp.sync: whatever their masks are). Left out: behind a
 * branch, ptxas guards a constant mask with a WARPSYNC that stops; here it is ignored as anywhere else. */
#include "emu/fault.h"
#include "emu/ops.h"

static uint16_t member_operand(const struct isa_inst *i)
{
    if (i->op == ISA_OP_SHFL) return i->src[3];
    if (i->op == ISA_OP_WARPSYNC || i->op == ISA_OP_ELECT) return i->src[0];
    return i->src[1];
}

static const uint32_t *member_row(const struct warp *w, const struct isa_inst *i)
{
    return exec_src(&w->x, member_operand(i));
}

/* The lanes of all waiting leaves that can meet the one at pc. */
static uint32_t lanes_at(const struct warp *w, uint32_t pc)
{
    const struct isa_inst *insts = w->run->insts;
    bool any_place = insts[pc].op == ISA_OP_WARPSYNC;
    uint32_t at = 0;
    FOR_LANES (slot, w->sync_waiting) {
        const struct leaf *leaf = &w->leaves[slot];
        if (leaf->pc == pc || (any_place && insts[leaf->pc].op == ISA_OP_WARPSYNC)) at |= leaf->mask;
    }
    return at;
}

/* Lanes of a waiting leaf whose members have all arrived. */
static uint32_t lanes_complete(const struct warp *w, const struct leaf *leaf, uint32_t there)
{
    const uint32_t *member = member_row(w, &w->run->insts[leaf->pc]);
    uint32_t complete = 0;
    FOR_LANES (l, leaf->mask)
        if (!(member[l] & w->live & ~there)) complete |= 1u << l;
    return complete;
}

/* Executes the instruction for the lanes `go` of the leaves that wait together at pc, and releases them. */
static void let_go(struct warp *w, uint32_t pc, uint32_t go)
{
    const struct isa_inst *i = &w->run->insts[pc];
    exec_fn *fn = warp_op(i->op);
    if (fn) fn(&w->x, i, go);
    FOR_LANES (slot, w->sync_waiting) {
        struct leaf *leaf = &w->leaves[slot];
        uint32_t part = leaf->mask & go;
        if (!part) continue;
        if (part == leaf->mask)
            diverge_wake(w, leaf, leaf->pc + 1);
        else
            diverge_detach(w, leaf, part, leaf->pc + 1);
    }
}

/* Executes one instruction whose lanes all wait; false: there is none. */
static bool resolve_one(struct warp *w)
{
    FOR_LANES (slot, w->sync_waiting) {
        uint32_t pc = w->leaves[slot].pc, there = lanes_at(w, pc), go = 0;
        bool any_place = w->run->insts[pc].op == ISA_OP_WARPSYNC;
        FOR_LANES (other, w->sync_waiting) {
            const struct leaf *o = &w->leaves[other];
            if (o->pc == pc || (any_place && w->run->insts[o->pc].op == ISA_OP_WARPSYNC))
                go |= lanes_complete(w, o, there);
        }
        if (!go) continue;
        let_go(w, pc, go);
        return true;
    }
    return false;
}

void sync_resolve(struct warp *w)
{
    while (w->sync_waiting && resolve_one(w)) {}
}

uint32_t sync_missing(struct warp *w, const struct leaf *leaf)
{
    const uint32_t *member = member_row(w, &w->run->insts[leaf->pc]);
    uint32_t there = lanes_at(w, leaf->pc), missing = 0;
    FOR_LANES (l, leaf->mask) missing |= member[l] & w->live & ~there;
    return missing;
}

static bool is_old_form(const struct isa_inst *i)
{
    return i->mod & ISA_NOSYNC && (i->op == ISA_OP_SHFL || i->op == ISA_OP_VOTE || i->op == ISA_OP_BALLOT);
}

/* The lanes that the masks of the executing lanes name, live or not. *self: those that name themselves. */
static uint32_t members_of(struct warp *w, const struct isa_inst *i, uint32_t mask, uint32_t *self_out)
{
    const uint32_t *row = member_row(w, i);
    uint32_t all = 0, self = 0;
    if (isa_is_const(member_operand(i))) {
        all = row[0];
        self = row[0] & mask;
    } else {
        FOR_LANES (l, mask) {
            all |= row[l];
            self |= row[l] & 1u << l;
        }
    }
    *self_out = self;
    return all;
}

/* ---- masks that do not name the executing lane ---- */

static bool same_masks(const struct warp *w, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *row = member_row(w, i);
    FOR_LANES (l, mask)
        if (row[l] != row[lane_first(mask)]) return false;
    return true;
}

static bool mask_is_ignored(const struct warp *w, const struct isa_inst *i, uint32_t mask, uint32_t members)
{
    if (members & w->live & ~mask) return false;
    return i->op == ISA_OP_SHFL || i->op == ISA_OP_WARPSYNC || same_masks(w, i, mask);
}

/* Prints the warning, once for each device: the program is most likely wrong. */
static void note_ignored(struct warp *w, const struct isa_inst *i, uint32_t lane)
{
    struct emu_device *d = w->run->device;
    if (atomic_flag_test_and_set(&d->odd_mask_noted)) return;
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "heddle: note: kernel '%s': %s with member mask 0x%08x, which does not name lane %u that "
                  "executes it: the mask is ignored, as an H200 does\n  at ",
                  w->run->kernel->name, isa_ops[i->op].name, member_row(w, i)[lane], lane);
    fault_place(w->run->kernel, w->leaf->pc, &text);
    strbuf_putc(&text, '\n');
    device_write(d, true, strbuf_text(&text), text.len);
    strbuf_free(&text);
}

static void run_odd_mask(struct exec *x, const struct isa_inst *i, uint32_t mask, uint32_t members,
                         uint32_t self)
{
    struct warp *w = x->warp;
    uint32_t lane = lane_first(mask & ~self);
    if (!mask_is_ignored(w, i, mask, members)) {
        fault_raise(w, lane, EMU_BAD_MASK,
                    "%s with member mask 0x%08x, which does not name the lane that executes it (lane %u)",
                    isa_ops[i->op].name, member_row(w, i)[lane], lane);
        return;
    }
    note_ignored(w, i, lane);
    exec_fn *fn = warp_op(i->op);
    struct isa_inst unmasked = *i;
    unmasked.mod |= ISA_UNMASKED;
    if (fn) fn(x, &unmasked, mask);
}

/* ---- execution ---- */

static void wait_for_members(struct warp *w, uint32_t mask)
{
    struct leaf *leaf = w->leaf;
    if (leaf->mask & ~mask) { /* lanes whose guard is false wait behind the instruction */
        const struct part parts[2] = {{leaf->pc, mask, leaf->depth},
                                      {leaf->pc + 1, leaf->mask & ~mask, leaf->depth}};
        diverge_split(w, parts, 2, leaf->pc + 1, leaf->depth);
    }
    diverge_block(w, LEAF_AT_SYNC);
    sync_resolve(w);
}

static void op_conv(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    if (!is_old_form(i)) {
        uint32_t self, members = members_of(w, i, mask, &self);
        if (self != mask) {
            run_odd_mask(x, i, mask, members, self);
            return;
        }
        if (members & w->live & ~mask) { /* some lane is not here yet */
            wait_for_members(w, mask);
            return;
        }
    }
    exec_fn *fn = warp_op(i->op);
    if (fn) fn(x, i, mask);
}

void ops_sync(exec_fn **table)
{
    for (uint32_t op = 0; op < ISA_OP_COUNT; op++)
        if (isa_ops[op].flags & ISA_CONV) table[op] = op_conv;
}
