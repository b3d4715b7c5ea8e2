/* figure_bars.h: how many values or claims agree with the paper, beside how many should: the bars of
 * experiments and studies. */
#ifndef HEDDLE_FIGURE_BARS_H
#define HEDDLE_FIGURE_BARS_H

#include "lab/figure.h"

enum bar_outcome {
    /* Runs are missing that could decide it, or too few workloads were run. */
    BAR_OPEN,
    BAR_MET,
    BAR_MISSED
};

struct bar_result {
    const struct lab_bar *bar;
    /* Values or claims that the bar counts; those that it looks at; those of them that are not known yet. */
    uint32_t count, of, open;
    enum bar_outcome outcome;
};

/* Adds what a bar counts in the figures of one experiment. */
void bar_add(struct bar_result *b, const struct figure_set *set);
/* Decides the outcome, once everything was added. */
void bar_decide(struct bar_result *b);

/* "open", "met", "missed" */
const char *bar_outcome_text(enum bar_outcome o);
/* For a terminal of `width` columns; as a section of a Markdown page; as a JSON list. */
void bars_print_table(const struct bar_result *bars, uint32_t count, uint32_t width, struct strbuf *out);
void bars_print_markdown(const struct bar_result *bars, uint32_t count, struct strbuf *out);
void bars_json(const struct bar_result *bars, uint32_t count, struct strbuf *out);

#endif
