/* fault.c: what stops a run, in words: kernel, source line of PTX and CUDA, CTA, thread, and what is near. */
#include "emu/fault.h"

void fault_set_text(struct emu_fault *f, const char *text)
{
    size_t len = MIN(strlen(text), sizeof f->message - 1);
    memcpy(f->message, text, len);
    f->message[len] = 0;
}

static const struct isa_loc *loc_of(const struct isa_kernel *k, uint32_t pc)
{
    uint32_t loc = pc < k->inst_count ? k->insts[pc].loc : 0;
    return loc < k->loc_count ? &k->locs[loc] : NULL;
}

void fault_place(const struct isa_kernel *k, uint32_t pc, struct strbuf *out)
{
    const struct isa_loc *loc = loc_of(k, pc);
    const char *ptx = k->ptx_name ? k->ptx_name : "ptx";
    if (!loc || (!loc->ptx_line && !loc->cuda_file))
        strbuf_printf(out, "instruction %u of %s", pc, ptx);
    else if (loc->cuda_file)
        strbuf_printf(out, "%s:%u (%s:%u)", loc->cuda_file, loc->cuda_line, ptx, loc->ptx_line);
    else
        strbuf_printf(out, "%s:%u", ptx, loc->ptx_line);
}

void fault_thread(const struct warp *w, uint32_t lane, uint32_t out[3])
{
    for (uint32_t d = 0; d < 3; d++) out[d] = w->tid[d][lane];
}

/* Fills in all of the fault but its text. */
static void fill(struct warp *w, uint32_t lane, enum emu_fault_kind kind, uint32_t pc)
{
    const struct isa_kernel *k = w->run->kernel;
    struct emu_fault *f = w->share->fault;
    const struct isa_loc *loc = loc_of(k, pc);
    f->kind = kind;
    f->kernel = k->name;
    f->pc = pc;
    f->ptx_line = loc ? loc->ptx_line : 0;
    f->cuda_line = loc ? loc->cuda_line : 0;
    f->cuda_file = loc ? loc->cuda_file : NULL;
    memcpy(f->cta, w->cta->id, sizeof f->cta);
    fault_thread(w, lane, f->thread);
}

void fault_report(struct warp *w, uint32_t lane, enum emu_fault_kind kind, uint32_t pc, const char *text)
{
    if (w->share->fault->kind != EMU_OK) return;
    fill(w, lane, kind, pc);
    fault_set_text(w->share->fault, text);
}

static void describe(struct warp *w, struct strbuf *out, const char *fmt, va_list ap)
{
    const struct emu_fault *f = w->share->fault;
    strbuf_printf(out, "heddle: kernel '%s': ", f->kernel);
    strbuf_vprintf(out, fmt, ap);
    strbuf_puts(out, "\n  at ");
    fault_place(w->run->kernel, f->pc, out);
    strbuf_printf(out, ", CTA (%u,%u,%u), thread (%u,%u,%u)\n", f->cta[0], f->cta[1], f->cta[2], f->thread[0],
                  f->thread[1], f->thread[2]);
}

void fault_raise(struct warp *w, uint32_t lane, enum emu_fault_kind kind, const char *fmt, ...)
{
    warp_raise(w, EVENT_FAULT);
    if (w->share->fault->kind != EMU_OK) return;
    struct strbuf text = {0};
    fill(w, lane, kind, w->leaf ? w->leaf->pc : 0);
    va_list ap;
    va_start(ap, fmt);
    describe(w, &text, fmt, ap);
    va_end(ap);
    fault_set_text(w->share->fault, strbuf_text(&text));
    strbuf_free(&text);
}

void fault_address(struct warp *w, uint32_t lane, enum emu_fault_kind kind, uint64_t address,
                   const char *more, const char *fmt, ...)
{
    warp_raise(w, EVENT_FAULT);
    if (w->share->fault->kind != EMU_OK) return;
    struct strbuf text = {0};
    fill(w, lane, kind, w->leaf ? w->leaf->pc : 0);
    w->share->fault->address = address;
    va_list ap;
    va_start(ap, fmt);
    describe(w, &text, fmt, ap);
    va_end(ap);
    if (more && *more) strbuf_printf(&text, "  %s\n", more);
    fault_set_text(w->share->fault, strbuf_text(&text));
    strbuf_free(&text);
}

/* ---- deadlock: who waits where ---- */
enum { EXAMPLES_MAX = 6 };

static void describe_leaf(struct warp *w, const struct leaf *leaf, struct strbuf *out)
{
    const struct isa_kernel *k = w->run->kernel;
    uint32_t t[3];
    fault_thread(w, lane_first(leaf->mask), t);
    uint32_t n = lanes_count(leaf->mask);
    strbuf_printf(out, "  %u thread%s of warp %u, first (%u,%u,%u), at ", n, n == 1 ? "" : "s", w->index,
                  t[0], t[1], t[2]);
    fault_place(k, leaf->pc, out);
    if (leaf->state == LEAF_AT_BARRIER) strbuf_printf(out, ", wait at barrier %u", leaf->barrier);
    if (leaf->state == LEAF_AT_SYNC)
        strbuf_printf(out, ", wait in %s for lanes 0x%08x", isa_ops[k->insts[leaf->pc].op].name,
                      sync_missing(w, leaf));
    strbuf_putc(out, '\n');
}

/* The first waiting leaves that wait at different instructions. */
static void describe_waiting(struct cta *c, struct strbuf *out)
{
    uint32_t seen[EXAMPLES_MAX], count = 0, hidden = 0;
    for (uint32_t k = 0; k < c->warp_count; k++) {
        struct warp *w = &c->warps[k];
        FOR_LANES (slot, w->leaf_used) {
            const struct leaf *leaf = &w->leaves[slot];
            bool known = false;
            for (uint32_t i = 0; i < count; i++) known |= seen[i] == leaf->pc;
            if (known || count == EXAMPLES_MAX) {
                hidden++;
                continue;
            }
            seen[count++] = leaf->pc;
            describe_leaf(w, leaf, out);
        }
    }
    if (hidden)
        strbuf_printf(out, "  and %u more group%s of threads at these or other places\n", hidden,
                      hidden == 1 ? "" : "s");
}

void fault_deadlock(struct cta *c)
{
    struct run *r = c->run;
    struct warp *w = NULL;
    for (uint32_t k = 0; k < c->warp_count && !w; k++)
        if (c->warps[k].leaf_used) w = &c->warps[k];
    assert(w);
    const struct leaf *leaf = &w->leaves[lane_first(w->leaf_used)];
    if (w->share->fault->kind != EMU_OK) return;
    fill(w, lane_first(leaf->mask), EMU_DEADLOCK, leaf->pc);
    struct strbuf text = {0};
    strbuf_printf(
        &text, "heddle: kernel '%s': deadlock in CTA (%u,%u,%u): its threads wait for each other forever\n",
        r->kernel->name, c->id[0], c->id[1], c->id[2]);
    FOR_LANES (number, c->barriers_used) {
        uint32_t arrived, expected;
        barrier_count(c, number, &arrived, &expected);
        strbuf_printf(&text, "  barrier %u: %u of %u threads arrived\n", number, arrived, expected);
    }
    describe_waiting(c, &text);
    fault_set_text(w->share->fault, strbuf_text(&text));
    strbuf_free(&text);
}
