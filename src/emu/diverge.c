/* diverge.c: how the lanes of a warp diverge and reconverge: the leaves and nodes of warp.h, whose invariants
 * it keeps.
 *
 * The model is that of convergence barriers with independent threads (Volta and later; docs/divergence.md):
 * lanes that reach the reconvergence point of their branch wait there for the others, but the wait may be
 * given up when the warp makes no progress otherwise. The youngest leaf runs first, which is the order of a
 * reconvergence stack. */
#include "emu/warp.h"

static uint32_t slot_of(const struct warp *w, const struct leaf *leaf)
{
    return (uint32_t)(leaf - w->leaves);
}

static struct leaf *leaf_new(struct warp *w, const struct part *p, uint8_t node)
{
    assert(~w->leaf_used && p->mask); /* masks are disjoint and not empty: never more than lanes */
    uint32_t slot = lane_first(~w->leaf_used);
    w->leaf_used |= 1u << slot;
    w->leaf_ready |= 1u << slot;
    w->leaves[slot] =
        (struct leaf){.pc = p->pc, .mask = p->mask, .depth = p->depth, .node = node, .serial = ++w->serial};
    return &w->leaves[slot];
}

static void leaf_remove(struct warp *w, struct leaf *leaf)
{
    uint32_t bit = 1u << slot_of(w, leaf);
    w->leaf_used &= ~bit;
    w->leaf_ready &= ~bit;
    w->sync_waiting &= ~bit;
    if (w->leaf == leaf) w->leaf = NULL;
}

static void patience_join(struct patience *to, const struct patience *from)
{
    to->spins = MAX(to->spins, from->spins);
    to->insts = MAX(to->insts, from->insts);
    to->ran = MAX(to->ran, from->ran);
}

/* Removes a node at which no lane is expected any more; a node at which all lanes have arrived becomes a leaf
 * of its parent. */
static void node_settle(struct warp *w, uint32_t n)
{
    struct node *node = &w->nodes[n];
    if (node->arrived != node->expected) return;
    w->node_used &= ~(1ull << n);
    if (!node->expected) return;
    struct leaf *leaf = leaf_new(w, &(struct part){node->reconv, node->expected, node->depth}, node->parent);
    if (leaf->mask != w->live) leaf->patience = node->patience; /* all lanes are together again */
}

/* Returns the node for a reconvergence point: the leaf's own where that is the same instruction, or a new one
 * below it. Without room for a new one the lanes meet where the leaf itself was going: later, but
 * correctly. */
static uint8_t node_for(struct warp *w, const struct leaf *leaf, uint32_t reconv, uint32_t depth)
{
    uint8_t old = leaf->node;
    if (reconv == ISA_NO_RECONV) return old;
    if (old != NODE_NONE && w->nodes[old].reconv == reconv && w->nodes[old].depth == depth) return old;
    if (!~w->node_used) return old;
    uint32_t n = (uint32_t)__builtin_ctzll(~w->node_used);
    w->node_used |= 1ull << n;
    w->nodes[n] = (struct node){.reconv = reconv, .depth = depth, .expected = leaf->mask, .parent = old};
    return (uint8_t)n;
}

void diverge_split(struct warp *w, const struct part *parts, uint32_t count, uint32_t reconv, uint32_t depth)
{
    struct leaf old = *w->leaf;
    uint8_t n = node_for(w, &old, reconv, depth);
    struct node *node = n == NODE_NONE ? NULL : &w->nodes[n];
    leaf_remove(w, w->leaf);
    for (uint32_t i = count; i-- > 0;) { /* the first part last, so that it is the youngest */
        if (node && parts[i].pc == node->reconv && parts[i].depth == node->depth) {
            node->arrived |= parts[i].mask;
            patience_join(&node->patience, &old.patience);
            continue;
        }
        w->leaf = leaf_new(w, &parts[i], n);
        w->leaf->patience = old.patience;
    }
    if (node) node_settle(w, n);
    warp_raise(w, w->leaf ? EVENT_GO : EVENT_SWITCH);
}

uint32_t diverge_detach(struct warp *w, struct leaf *from, uint32_t mask, uint32_t pc)
{
    assert(mask && (from->mask & ~mask));
    from->mask &= ~mask;
    return slot_of(w, leaf_new(w, &(struct part){pc, mask, from->depth}, from->node));
}

void diverge_arrive(struct warp *w)
{
    struct leaf *leaf = w->leaf;
    uint8_t n = leaf->node;
    w->nodes[n].arrived |= leaf->mask;
    patience_join(&w->nodes[n].patience, &leaf->patience);
    leaf_remove(w, leaf);
    node_settle(w, n);
    warp_raise(w, EVENT_SWITCH);
}

void diverge_exit(struct warp *w, uint32_t mask)
{
    w->live &= ~mask;
    w->leaf->mask &= ~mask;
    if (!w->leaf->mask) leaf_remove(w, w->leaf);
    for (uint64_t rest = w->node_used; rest; rest &= rest - 1) {
        uint32_t n = (uint32_t)__builtin_ctzll(rest);
        w->nodes[n].expected &= w->live;
        node_settle(w, n);
    }
    warp_raise(w, w->leaf ? EVENT_GO : EVENT_SWITCH);
}

void diverge_block(struct warp *w, enum leaf_state state)
{
    uint32_t bit = 1u << slot_of(w, w->leaf);
    w->leaf->state = (uint8_t)state;
    w->leaf_ready &= ~bit;
    if (state == LEAF_AT_SYNC) w->sync_waiting |= bit;
    w->leaf = NULL;
    warp_raise(w, EVENT_SWITCH);
}

void diverge_wake(struct warp *w, struct leaf *leaf, uint32_t pc)
{
    uint32_t bit = 1u << slot_of(w, leaf);
    leaf->state = LEAF_READY;
    leaf->pc = pc;
    w->leaf_ready |= bit;
    w->sync_waiting &= ~bit;
}

/* Merges leaves that are at the same instruction on the way to the same node. */
static void merge_into(struct warp *w, struct leaf *leaf)
{
    uint32_t others = w->leaf_ready & ~(1u << slot_of(w, leaf));
    FOR_LANES (slot, others) {
        struct leaf *o = &w->leaves[slot];
        if (o->pc != leaf->pc || o->node != leaf->node || o->depth != leaf->depth) continue;
        leaf->mask |= o->mask;
        patience_join(&leaf->patience, &o->patience);
        leaf_remove(w, o);
    }
}

bool diverge_pick(struct warp *w)
{
    struct leaf *best = NULL;
    FOR_LANES (slot, w->leaf_ready)
        if (!best || w->leaves[slot].serial > best->serial) best = &w->leaves[slot];
    w->leaf = best;
    if (best) merge_into(w, best);
    return best != NULL;
}

void diverge_rotate(struct warp *w)
{
    if (!w->leaf) return;
    w->leaf->patience.ran = ++w->clock;
    struct leaf *next = w->leaf;
    FOR_LANES (slot, w->leaf_ready)
        if (w->leaves[slot].patience.ran < next->patience.ran) next = &w->leaves[slot];
    w->leaf = next;
    merge_into(w, next);
}

static void release_node(struct warp *w, uint32_t n)
{
    struct node *node = &w->nodes[n];
    leaf_new(w, &(struct part){node->reconv, node->arrived, node->depth}, node->parent);
    node->expected &= ~node->arrived;
    node->arrived = 0;
}

bool diverge_release(struct warp *w)
{
    if (w->leaf) { /* nodes that wait for the current leaf come first, from the nearest on */
        for (uint8_t n = w->leaf->node; n != NODE_NONE; n = w->nodes[n].parent) {
            if (!w->nodes[n].arrived) continue;
            release_node(w, n);
            return true;
        }
    }
    bool any = false;
    for (uint64_t rest = w->node_used; rest; rest &= rest - 1) {
        uint32_t n = (uint32_t)__builtin_ctzll(rest);
        if (!w->nodes[n].arrived) continue;
        release_node(w, n);
        any = true;
    }
    return any;
}
