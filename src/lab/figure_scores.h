/* figure_scores.h: the scoreboard: how many claims of each paper come out. */
#ifndef HEDDLE_FIGURE_SCORES_H
#define HEDDLE_FIGURE_SCORES_H

#include "base/map.h"
#include "lab/figure.h"

struct paper_score {
    /* As experiments name it: "thesis-ch3", "apres". */
    const char *paper;
    /* Claims by verdict; one that several figures have counts once. */
    uint32_t counts[VERDICTS];
};

struct scoreboard {
    VEC(struct paper_score) papers;
    /* Claims that were counted: PAPER ID. */
    struct map seen;
};

/* Adds the claims of one experiment. Papers stand in the order in which they come. */
void scores_add(struct scoreboard *b, const struct figure_set *set);
void scores_free(struct scoreboard *b);

/* For a terminal of `width` columns; as a section of a Markdown page; as a JSON list. Without claims the
 * tables are empty texts. */
void scores_print_table(const struct scoreboard *b, uint32_t width, struct strbuf *out);
void scores_print_markdown(const struct scoreboard *b, struct strbuf *out);
void scores_json(const struct scoreboard *b, struct strbuf *out);

#endif
