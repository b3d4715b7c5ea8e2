/* color.c: colouring of the interference graph.
 *
 * Nodes are ordered (the node with the fewest neighbours last, after Matula and Beck, or in the order of
 * their first definition, which is perfect for graphs of straight-line code; pairs before single registers or
 * mixed) and each takes the lowest register that its neighbours leave; the order that needs the fewest
 * registers wins. When even that is too much, the graph is coloured again with a limit after Briggs, Cooper
 * and Torczon (1994): what can always be coloured is put aside first, then the cheapest to spill, in the hope
 * that it finds a register after all. */
#include "lower/graph.h"

struct coloring {
    struct graph *gr;
    /* representatives */
    uint32_t *nodes, count;
    /* registers that neighbours not yet removed may take */
    uint32_t *degree;
    bool *removed;
    uint32_t *stamp, stamp_now;
};

static void open_coloring(struct coloring *c, struct graph *gr)
{
    *c = (struct coloring){.gr = gr};
    c->nodes = mem_alloc(sizeof *c->nodes * (gr->vreg_count + 1));
    c->degree = mem_zalloc(sizeof *c->degree * (gr->vreg_count + 1));
    c->removed = mem_zalloc(gr->vreg_count + 1);
    c->stamp = mem_zalloc(sizeof *c->stamp * (gr->vreg_count + 1));
    for (uint32_t v = 0; v < gr->vreg_count; v++)
        if (gr->present[v] && graph_find(gr, v) == v) c->nodes[c->count++] = v;
    /* Merging left old names and repeats in the lists. */
    for (uint32_t k = 0; k < c->count; k++) {
        uint32_t v = c->nodes[k], kept = 0;
        c->stamp_now++;
        for (uint32_t i = 0; i < gr->near[v].len; i++) {
            uint32_t n = graph_find(gr, gr->near[v].data[i]);
            if (n == v || c->stamp[n] == c->stamp_now) continue;
            c->stamp[n] = c->stamp_now;
            gr->near[v].data[kept++] = n;
        }
        gr->near[v].len = kept;
    }
}

static void close_coloring(struct coloring *c)
{
    free(c->nodes);
    free(c->degree);
    free(c->removed);
    free(c->stamp);
}

static void reset_degrees(struct coloring *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        uint32_t v = c->nodes[k], d = 0;
        for (uint32_t i = 0; i < c->gr->near[v].len; i++) d += graph_size(c->gr, c->gr->near[v].data[i]);
        c->degree[v] = d;
        c->removed[v] = false;
    }
}

/* ---- orders: order[0] is coloured first ---- */

/* Buckets by degree, as chains through next/prev. */
struct buckets {
    uint32_t *head, *next, *prev, size;
};

static void bucket_put(struct buckets *b, uint32_t v, uint32_t degree)
{
    b->prev[v] = CFG_NONE;
    b->next[v] = b->head[degree];
    if (b->head[degree] != CFG_NONE) b->prev[b->head[degree]] = v;
    b->head[degree] = v;
}

static void bucket_take(struct buckets *b, uint32_t v, uint32_t degree)
{
    if (b->prev[v] == CFG_NONE)
        b->head[degree] = b->next[v];
    else
        b->next[b->prev[v]] = b->next[v];
    if (b->next[v] != CFG_NONE) b->prev[b->next[v]] = b->prev[v];
}

static void buckets_open(struct buckets *b, const struct coloring *c)
{
    uint32_t n = c->gr->vreg_count + 1;
    b->size = 0;
    for (uint32_t k = 0; k < c->count; k++) b->size = MAX(b->size, c->degree[c->nodes[k]] + 1);
    b->head = mem_alloc(sizeof *b->head * (b->size + 1));
    b->next = mem_alloc(sizeof *b->next * n);
    b->prev = mem_alloc(sizeof *b->prev * n);
    for (uint32_t i = 0; i <= b->size; i++) b->head[i] = CFG_NONE;
    for (uint32_t k = c->count; k-- > 0;) bucket_put(b, c->nodes[k], c->degree[c->nodes[k]]);
}

static void buckets_close(struct buckets *b)
{
    free(b->head);
    free(b->next);
    free(b->prev);
}

static void remove_node(struct coloring *c, struct buckets *b, uint32_t v)
{
    assert(!c->removed[v] && c->degree[v] < b->size);
    bucket_take(b, v, c->degree[v]);
    c->removed[v] = true;
    uint32_t size = graph_size(c->gr, v);
    for (uint32_t i = 0; i < c->gr->near[v].len; i++) {
        uint32_t n = c->gr->near[v].data[i];
        if (c->removed[n]) continue;
        bucket_take(b, n, c->degree[n]);
        assert(c->degree[n] >= size);
        c->degree[n] -= size;
        bucket_put(b, n, c->degree[n]);
    }
}

static void order_smallest_last(struct coloring *c, uint32_t *order)
{
    struct buckets b;
    reset_degrees(c);
    buckets_open(&b, c);
    uint32_t low = 0;
    for (uint32_t k = c->count; k-- > 0;) {
        while (b.head[low] == CFG_NONE) low++;
        uint32_t v = b.head[low];
        remove_node(c, &b, v);
        order[k] = v;
        low = low > 2 ? low - 2 : 0;
    }
    buckets_close(&b);
}

/* Pairs first, otherwise as it was. */
static void order_pairs_first(const struct coloring *c, const uint32_t *from, uint32_t *order)
{
    uint32_t n = 0;
    for (uint32_t size = 2; size > 0; size--)
        for (uint32_t k = 0; k < c->count; k++)
            if (graph_size(c->gr, from[k]) == size) order[n++] = from[k];
}

/* ---- choice of a register ---- */

static bool is_taken(const uint64_t *mask, uint32_t r) { return mask[r / 64] >> (r % 64) & 1; }

/* Chooses the lowest register that fits; a single one goes beside a taken one where that costs nothing. */
static uint32_t choose(const uint64_t *mask, uint32_t size, uint32_t limit, bool fill)
{
    if (size == 2) {
        for (uint32_t r = 0; r + 1 < limit; r += 2)
            if (!is_taken(mask, r) && !is_taken(mask, r + 1)) return r;
        return GRAPH_UNCOLOURED;
    }
    uint32_t first = GRAPH_UNCOLOURED;
    for (uint32_t r = 0; r < limit; r++) {
        if (is_taken(mask, r)) continue;
        if (!fill || is_taken(mask, r ^ 1)) return r;
        if (first == GRAPH_UNCOLOURED) first = r;
        if (r > first + 8u) break;
    }
    return first;
}

enum { COLOURS_MAX = 1024 };

static void neighbours_take(const struct coloring *c, uint32_t v, uint32_t reserved, const uint16_t *colour,
                            uint64_t *mask)
{
    if (reserved != MIR_NO_VREG) mask[reserved / 64] |= 1ull << (reserved % 64);
    for (uint32_t i = 0; i < c->gr->near[v].len; i++) {
        uint32_t n = c->gr->near[v].data[i], at = colour[n];
        if (at == GRAPH_UNCOLOURED) continue;
        mask[at / 64] |= 1ull << (at % 64);
        assert(at + graph_size(c->gr, n) <= COLOURS_MAX);
        if (graph_size(c->gr, n) == 2) mask[(at + 1) / 64] |= 1ull << ((at + 1) % 64);
    }
}

static uint32_t color_one(const struct coloring *c, uint32_t v, uint32_t reserved, uint32_t limit, bool fill,
                          const uint16_t *colour)
{
    uint64_t mask[COLOURS_MAX / 64] = {0};
    neighbours_take(c, v, reserved, colour, mask);
    return choose(mask, graph_size(c->gr, v), limit, fill);
}

/* Returns the highest register + 1; COLOURS_MAX + 1 when even that was not enough. */
static uint32_t color_in_order(const struct coloring *c, const uint32_t *order, uint32_t reserved, bool fill,
                               uint16_t *colour)
{
    uint32_t top = 0;
    for (uint32_t k = 0; k < c->count; k++) colour[c->nodes[k]] = GRAPH_UNCOLOURED;
    for (uint32_t k = 0; k < c->count; k++) {
        uint32_t v = order[k], r = color_one(c, v, reserved, COLOURS_MAX, fill, colour);
        if (r == GRAPH_UNCOLOURED) return COLOURS_MAX + 1;
        colour[v] = (uint16_t)r;
        top = MAX(top, r + graph_size(c->gr, v));
    }
    return top;
}

uint32_t graph_color_least(struct graph *gr, uint32_t reserved, uint16_t *colour)
{
    struct coloring c;
    open_coloring(&c, gr);
    uint32_t *orders = mem_alloc(sizeof *orders * (c.count + 1) * 2), *other = orders + c.count + 1;
    uint16_t *trial = mem_alloc(sizeof *trial * (gr->vreg_count + 1));
    uint32_t best = UINT32_MAX;
    for (uint32_t way = 0; way < 8; way++) {
        if (way % 4 == 0) order_smallest_last(&c, orders);
        if (way % 4 == 2) memcpy(orders, c.nodes, sizeof *orders * c.count);
        if (way % 4 == 1 || way % 4 == 3) order_pairs_first(&c, orders, other);
        uint32_t top = color_in_order(&c, way % 2 ? other : orders, reserved, way >= 4, trial);
        if (top >= best) continue;
        best = top;
        for (uint32_t k = 0; k < c.count; k++) colour[c.nodes[k]] = trial[c.nodes[k]];
        if (best <= gr->pressure_max) break; /* cannot be better */
    }
    free(orders);
    free(trial);
    close_coloring(&c);
    return best == UINT32_MAX ? 0 : best;
}

/* ---- spread ---- */

/* Chooses round robin, from the register after the last one chosen: a register then rests before it is
 * written again, and a write seldom waits for a read or write that is still under way. */
static uint32_t choose_next(const uint64_t *mask, uint32_t size, uint32_t limit, uint32_t *last)
{
    for (uint32_t k = 1; k <= limit; k++) {
        uint32_t r = (*last + k) % limit;
        if (size == 2 && (r % 2 || r + 1 >= limit || is_taken(mask, r + 1))) continue;
        if (is_taken(mask, r)) continue;
        *last = r + size - 1;
        return r;
    }
    return GRAPH_UNCOLOURED;
}

bool graph_color_spread(struct graph *gr, uint32_t reserved, uint32_t limit, uint16_t *colour)
{
    struct coloring c;
    open_coloring(&c, gr);
    uint32_t *order = mem_alloc(sizeof *order * (c.count + 1));
    uint16_t *trial = mem_alloc(sizeof *trial * (gr->vreg_count + 1));
    bool ok = false;
    for (uint32_t way = 0; way < 3 && !ok && limit && limit <= COLOURS_MAX; way++) {
        uint32_t last = limit - 1;
        if (way == 0) memcpy(order, c.nodes, sizeof *order * c.count);
        if (way == 1) order_pairs_first(&c, c.nodes, order);
        if (way == 2) order_smallest_last(&c, order);
        for (uint32_t k = 0; k < c.count; k++) trial[c.nodes[k]] = GRAPH_UNCOLOURED;
        ok = true;
        for (uint32_t k = 0; k < c.count && ok; k++) {
            uint64_t mask[COLOURS_MAX / 64] = {0};
            neighbours_take(&c, order[k], reserved, trial, mask);
            trial[order[k]] = (uint16_t)choose_next(mask, graph_size(gr, order[k]), limit, &last);
            ok = trial[order[k]] != GRAPH_UNCOLOURED;
        }
    }
    for (uint32_t k = 0; k < c.count && ok; k++) colour[c.nodes[k]] = trial[c.nodes[k]];
    free(order);
    free(trial);
    close_coloring(&c);
    return ok;
}

/* ---- with a limit ---- */

static bool always_fits(const struct coloring *c, uint32_t v, uint32_t limit)
{
    /* A neighbour takes at most one aligned pair away, and degree counts at least one for each neighbour. */
    return graph_size(c->gr, v) == 2 ? c->degree[v] < limit / 2 : c->degree[v] < limit;
}

static uint32_t cheapest(const struct coloring *c, const bool *keep)
{
    uint32_t best = CFG_NONE;
    float best_value = 0;
    for (uint32_t pass = 0; pass < 2 && best == CFG_NONE; pass++)
        for (uint32_t k = 0; k < c->count; k++) {
            uint32_t v = c->nodes[k];
            if (c->removed[v] || (keep[v] && !pass)) continue;
            float value = c->gr->cost[v] / (float)(c->degree[v] + 1);
            if (best != CFG_NONE && value >= best_value) continue;
            best = v;
            best_value = value;
        }
    return best;
}

uint32_t graph_color_within(struct graph *gr, uint32_t reserved, uint32_t limit, const bool *keep,
                            uint16_t *colour)
{
    struct coloring c;
    struct buckets b;
    open_coloring(&c, gr);
    assert(limit > 2 && limit <= COLOURS_MAX);
    uint32_t *order = mem_alloc(sizeof *order * (c.count + 1));
    uint32_t room = limit - (reserved != MIR_NO_VREG ? 2 : 0);
    reset_degrees(&c);
    buckets_open(&b, &c);
    uint32_t low = 0;
    for (uint32_t k = c.count; k-- > 0;) {
        while (b.head[low] == CFG_NONE) low++;
        uint32_t v = b.head[low];
        if (!always_fits(&c, v, room)) v = cheapest(&c, keep);
        remove_node(&c, &b, v);
        order[k] = v;
        low = low > 2 ? low - 2 : 0;
    }
    buckets_close(&b);
    uint32_t failed = 0;
    for (uint32_t k = 0; k < c.count; k++) colour[c.nodes[k]] = GRAPH_UNCOLOURED;
    for (uint32_t k = 0; k < c.count; k++) {
        colour[order[k]] = (uint16_t)color_one(&c, order[k], reserved, limit, true, colour);
        failed += colour[order[k]] == GRAPH_UNCOLOURED;
    }
    free(order);
    close_coloring(&c);
    return failed;
}
