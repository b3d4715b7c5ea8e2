/* store_tuples.c: the warp tuples of Poise in a run, for the map that the page draws: how often it predicted
 * each {N, p} and settled there, and the path of one SM through its first epoch. All of it comes from the
 * notes in the run's document. */
#include "lab/store_impl.h"

struct place {
    uint64_t n, p, predicted, settled;
};
struct tuples {
    VEC(struct place) places;
    /* n and p in turn */
    VEC(uint64_t) path;
    /* the SM of the path; has the path begun, and ended? */
    double sm;
    bool has_begun, has_ended;
};

static struct place *place_at(struct tuples *t, uint64_t n, uint64_t p)
{
    for (uint32_t i = 0; i < t->places.len; i++)
        if (t->places.data[i].n == n && t->places.data[i].p == p) return &t->places.data[i];
    vec_push(&t->places, (struct place){.n = n, .p = p});
    return &t->places.data[t->places.len - 1];
}

/* The first prediction of any SM begins the path, the first result of that SM ends it. */
static void follow(struct tuples *t, double sm, uint64_t n, uint64_t p, bool predicts, bool settles)
{
    if (!t->has_begun && predicts) {
        t->has_begun = true;
        t->sm = sm;
    }
    if (!t->has_begun || t->has_ended || t->sm != sm) return;
    vec_push(&t->path, n);
    vec_push(&t->path, p);
    t->has_ended = settles;
}

static void add_note(struct tuples *t, const struct json_node *note)
{
    const char *kind = json_get_text(note, "kind", "");
    const uint64_t n = (uint64_t)json_get_number(note, "a", 0), p = (uint64_t)json_get_number(note, "b", 0);
    const bool predicts = !strcmp(kind, "predict"), settles = !strcmp(kind, "settle");
    if (strcmp(json_get_text(note, "mechanism", ""), "poise") != 0) return;
    if (!predicts && !settles && strcmp(kind, "visit") != 0) return;
    struct place *at = place_at(t, n, p);
    at->predicted += predicts;
    at->settled += settles;
    follow(t, json_get_number(note, "sm", 0), n, p, predicts, settles);
}

static void put_tuples(const struct tuples *t, struct strbuf *out)
{
    strbuf_puts(out, ",\"tuples\":{\"places\":[");
    for (uint32_t i = 0; i < t->places.len; i++) {
        const struct place *p = &t->places.data[i];
        strbuf_printf(out, "%s[%llu,%llu,%llu,%llu]", i ? "," : "", (unsigned long long)p->n,
                      (unsigned long long)p->p, (unsigned long long)p->predicted,
                      (unsigned long long)p->settled);
    }
    strbuf_puts(out, "],\"path\":[");
    for (uint32_t i = 0; i < t->path.len; i += 2)
        strbuf_printf(out, "%s[%llu,%llu]", i ? "," : "", (unsigned long long)t->path.data[i],
                      (unsigned long long)t->path.data[i + 1]);
    strbuf_puts(out, "]}");
}

void store_put_tuples(struct store *s, const char *key, struct strbuf *out)
{
    struct tuples t = {0};
    const struct json_node *notes = json_get(store_document_root(s, key), "events");
    for (uint32_t i = 0; notes && notes->kind == JSON_LIST && i < notes->count; i++)
        add_note(&t, &notes->items[i]);
    if (t.places.len) put_tuples(&t, out);
    vec_free(&t.places);
    vec_free(&t.path);
}
