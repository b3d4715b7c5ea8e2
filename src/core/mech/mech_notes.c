/* mech_notes.c: see mech_notes.h. */
#include "core/mech/mech_notes.h"

#include "core/mech/mech_set.h"

void mech_notes_init(struct mech_notes *n, uint32_t mechanisms)
{
    *n = (struct mech_notes){.kept = mem_zalloc(sizeof *n->kept * mechanisms)};
}

void mech_notes_free(struct mech_notes *n)
{
    vec_free(&n->items);
    free(n->kept);
}

void mech_notes_add(struct mech_notes *n, const struct mech_note *note)
{
    if (n->kept[note->mechanism] == MECH_NOTES_MAX) {
        n->dropped++;
        return;
    }
    n->kept[note->mechanism]++;
    vec_push(&n->items, *note);
}

static int note_compare(const void *a, const void *b)
{
    const struct timed_note *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct timed_note *mech_notes_merge(const struct mech_notes *by_sm, uint32_t sm_count,
                                    const struct mech_set *set, uint32_t *count)
{
    *count = 0;
    for (uint32_t sm = 0; sm < sm_count; sm++) *count += by_sm[sm].items.len;
    if (!*count) return NULL;
    struct timed_note *all = mem_alloc(sizeof *all * *count), *next = all;
    for (uint32_t sm = 0; sm < sm_count; sm++)
        for (uint32_t i = 0; i < by_sm[sm].items.len; i++) {
            const struct mech_note *n = &by_sm[sm].items.data[i];
            const struct mechanism *m = mech_set_at(set, n->mechanism);
            *next++ = (struct timed_note){.cycle = n->cycle,
                                          .sm = sm,
                                          .order = i,
                                          .mechanism = n->mechanism,
                                          .mechanism_name = m->name,
                                          .kind = m->note_names[n->kind],
                                          .a = n->a,
                                          .b = n->b};
        }
    qsort(all, *count, sizeof *all, note_compare);
    return all;
}

uint64_t mech_notes_dropped(const struct mech_notes *by_sm, uint32_t sm_count)
{
    uint64_t dropped = 0;
    for (uint32_t sm = 0; sm < sm_count; sm++) dropped += by_sm[sm].dropped;
    return dropped;
}
