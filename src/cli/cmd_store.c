/* cmd_store.c: heddle store: runs out of a store into one file, and back. */
#include "cli/lab.h"
#include "cli/query_filter.h"
#include "lab/store_pack.h"

static const struct cli_value *word_at(const struct cli_list *words, uint32_t i)
{
    return &words->items.data[i];
}

/* The filters from the fourth word on, as one condition. */
static bool read_filters(struct store *s, const struct cli_list *words, int argc, char **argv,
                         struct strbuf *where)
{
    bool ok = true;
    strbuf_puts(where, "1");
    for (uint32_t i = 3; i < words->items.len && ok; i++) {
        const struct query_place at = {argc, argv, word_at(words, i)->arg, 0};
        strbuf_puts(where, " AND ");
        ok = query_term(s, &at, word_at(words, i)->text, where);
    }
    return ok;
}

static int pack(const struct cli_list *words, uint32_t launches, int argc, char **argv)
{
    const char *path = word_at(words, 2)->text;
    struct store *s = cli_open_store(word_at(words, 1)->text);
    if (!s) return CLI_BAD_INPUT;
    struct strbuf where = {0};
    char *error = NULL;
    uint64_t runs = 0;
    int status = CLI_BAD_INPUT;
    if (read_filters(s, words, argc, argv, &where)) {
        status = store_pack(s, strbuf_text(&where), launches, path, &runs, &error) ? CLI_OK : CLI_FAILED;
        if (status == CLI_OK)
            printf("%s: %llu run%s\n", path, (unsigned long long)runs, runs == 1 ? "" : "s");
        else
            fprintf(stderr, "heddle: error: %s\n", error);
    }
    free(error);
    strbuf_free(&where);
    store_close(s);
    return status;
}

static int unpack(const char *path, const char *store)
{
    char *error = NULL;
    struct store *s = store_open(store, true, &error);
    if (!s) {
        const int status = cli_store_refused(error);
        free(error);
        return status;
    }
    struct store_unpacked got;
    bool is_file = false;
    int status = CLI_OK;
    if (!store_unpack(s, path, &got, &is_file, &error)) {
        fprintf(stderr, "heddle: error: %s\n", error);
        status = is_file ? CLI_BAD_INPUT : CLI_FAILED;
    }
    if (status == CLI_OK || got.runs)
        printf("%s: %llu run%s read, %llu of them new\n", store, (unsigned long long)got.runs,
               got.runs == 1 ? "" : "s", (unsigned long long)got.fresh);
    free(error);
    store_close(s);
    return status;
}

int cli_cmd_store(int argc, char **argv)
{
    uint64_t launches = PACK_ALL_LAUNCHES;
    const struct cli_option options[] = {
        {"--launches", NULL, CLI_NUMBER64, &launches, "N",
         "with pack: the statistics of a run's first N launches alone, and of the whole run; a much smaller "
         "file"},
        {0}};
    struct cli_parse p = {.command = cli_command("store"), .options = options};
    int status = CLI_BAD_INPUT;
    const bool is_parsed = cli_parse(&p, argc, argv);
    const uint32_t count = p.words.items.len;
    const char *word = is_parsed && count ? word_at(&p.words, 0)->text : "";
    if (!is_parsed)
        status = p.status;
    else if (!strcmp(word, "pack") && count >= 3)
        status = pack(&p.words, (uint32_t)MIN(launches, (uint64_t)PACK_ALL_LAUNCHES), argc, argv);
    else if (!strcmp(word, "unpack") && count == 3)
        status = unpack(word_at(&p.words, 1)->text, word_at(&p.words, 2)->text);
    else
        cli_error(argc, argv, count ? word_at(&p.words, 0)->arg : argc, 0, 1,
                  "heddle store pack results.db runs.pack",
                  "store takes: pack STORE FILE, or unpack FILE STORE");
    vec_free(&p.words.items);
    return status;
}
