/* store_age.c: store_age STORE HASH [LINE...]: turns all runs of a store into runs of version 0.0.9 of the
 * simulator, with this hash of its sources, which had no lines of these names in a run's identity. */
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"

#include <sqlite3.h>

/* The identity as that version would have written it. */
static void age(const char *identity, const char *hash, int count, char **names, struct strbuf *out)
{
    for (const char *line = identity; *line;) {
        const size_t len = strcspn(line, "\n") + 1, name_len = strcspn(line, ":\n");
        bool is_dropped = false;
        for (int i = 0; i < count; i++)
            is_dropped = is_dropped || (strlen(names[i]) == name_len && !strncmp(names[i], line, name_len));
        if (!strncmp(line, "simulator: ", 11))
            strbuf_printf(out, "simulator: 0.0.9 %s\n", hash);
        else if (!is_dropped)
            strbuf_add(out, line, len);
        line += len;
    }
}

static bool age_run(sqlite3 *db, sqlite3_int64 id, const char *text, const char *hash)
{
    char key[HASH128_CHARS + 1];
    struct strbuf name = {0};
    sqlite3_stmt *q = NULL;
    hash128_hex(hash128_bytes(text, strlen(text)), key);
    strbuf_printf(&name, "0.0.9 %s", hash);
    bool ok = !sqlite3_prepare_v2(db, "UPDATE run SET key = ?1, identity = ?2, simulator = ?3 WHERE id = ?4",
                                  -1, &q, NULL) &&
              !sqlite3_bind_text(q, 1, key, -1, SQLITE_TRANSIENT) &&
              !sqlite3_bind_text(q, 2, text, -1, SQLITE_TRANSIENT) &&
              !sqlite3_bind_text(q, 3, strbuf_text(&name), -1, SQLITE_TRANSIENT) &&
              !sqlite3_bind_int64(q, 4, id) && sqlite3_step(q) == SQLITE_DONE;
    sqlite3_finalize(q);
    strbuf_free(&name);
    return ok;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *all = NULL;
    VEC(sqlite3_int64) ids = {0};
    VEC(char *) texts = {0};
    if (argc < 3) return 2;
    bool ok = !sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) &&
              !sqlite3_prepare_v2(db, "SELECT id, identity FROM run", -1, &all, NULL);
    while (ok && sqlite3_step(all) == SQLITE_ROW) {
        struct strbuf text = {0};
        age((const char *)sqlite3_column_text(all, 1), argv[2], argc - 3, argv + 3, &text);
        vec_push(&ids, sqlite3_column_int64(all, 0));
        vec_push(&texts, text.data);
    }
    sqlite3_finalize(all);
    for (uint32_t i = 0; i < ids.len; i++) {
        ok = ok && age_run(db, ids.data[i], texts.data[i], argv[2]);
        free(texts.data[i]);
    }
    if (!ok) fprintf(stderr, "store_age: %s\n", sqlite3_errmsg(db));
    vec_free(&ids);
    vec_free(&texts);
    sqlite3_close(db);
    return !ok;
}
