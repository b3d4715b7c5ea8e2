/* pages.c: a generator of HTML in the manner of 2006: nested tables, indentation, images, scripts,
 * tags that only look like links, and links of 10 to 60 characters, some of which stand there twice. */
#include "pages.h"

static const char *a_word(void)
{
    static const char *const words[] = {"alumni",  "events", "news",    "about",  "contact", "science",
                                        "library", "school", "student", "career", "member",  "sports",
                                        "travel",  "online", "the",     "and"};
    return words[kit_below(sizeof words / sizeof *words)];
}

static void a_link(char *to)
{
    int at = kit_below(2) ? sprintf(to, "http://%s.%s.edu/", a_word(), a_word()) : 0;
    for (int i = (int)kit_below(3); i >= 0; i--) at += sprintf(to + at, "%s/", a_word());
    sprintf(to + at, kit_below(3) ? "default.cfm" : "default.cfm?id=%u&front=true", kit_below(2000));
}

/* Some links stand on the page more than once. */
static int link_line(struct page *page, char *to)
{
    char *link = page->links[page->n_links++];
    if (page->n_links > 4 && kit_below(12) == 0)
        strcpy(link, page->links[kit_below((uint32_t)page->n_links - 1)]);
    else
        a_link(link);
    int at = sprintf(to, "<a %shref%s\"%s\">", kit_below(8) ? "" : " ", kit_below(8) ? "=" : " = ", link);
    return at +
           sprintf(to + at,
                   kit_below(2) ? "%s %s</a>" : "<img src=\"images/%s.gif\" alt=\"%s\" border=\"0\"></a>",
                   a_word(), a_word());
}

/* What looks like a link of this kind and is none: other tags, other attributes first. */
static int decoy_line(char *to)
{
    static const char *const forms[] = {"<link href=\"%s/style.css\" rel=\"stylesheet\">",
                                        "<area href=\"%s.cfm\">", "<a class=\"bodysmall\" href=\"%s.cfm\">",
                                        "<a name=\"%s\">", "<address>%s</address>"};
    return sprintf(to, forms[kit_below(sizeof forms / sizeof *forms)], a_word());
}

static int plain_line(char *to)
{
    switch (kit_below(6)) {
    case 0:
        return sprintf(to, "<table width=\"%u\" border=\"0\" cellspacing=\"0\" cellpadding=\"0\">",
                       kit_below(800));
    case 1:
        return sprintf(to, "<td class=\"body%s\" valign=top height=\"%u\">%s %s %s", a_word(), kit_below(90),
                       a_word(), a_word(), a_word());
    case 2:
        return sprintf(to, "<img src=\"images/%s_%s.gif\" width=\"%u\" height=\"%u\">", a_word(), a_word(),
                       kit_below(300), kit_below(200));
    case 3:
        return sprintf(to, "var %s = \"%u/%u/2006\"; document.write(%s);", a_word(), 1 + kit_below(12),
                       1 + kit_below(28), a_word());
    case 4: return sprintf(to, "</td></tr>");
    default:
        return sprintf(to, "%s %s %s, %s %s %s %s.", a_word(), a_word(), a_word(), a_word(), a_word(),
                       a_word(), a_word());
    }
}

static int a_line(char *to)
{
    int at = sprintf(to, "%*s", (int)kit_below(9) * 2, "");
    uint32_t kind = kit_below(100);
    if (kind < 11)
        at += decoy_line(to + at);
    else if (kind < 90)
        at += plain_line(to + at);
    to[at++] = '\n';
    return at;
}

struct page page_new(int bytes, int links)
{
    enum { LINE_MAX_BYTES = 1024 };
    struct page page = {.text = kit_host(bytes + LINE_MAX_BYTES),
                        .links = kit_host((links + 1) * sizeof(link_text))};
    page.bytes = sprintf(page.text, "<html>\n<body>\n");
    while (page.bytes < bytes || page.n_links < links) {
        char *line = page.text + page.bytes;
        bool due = page.n_links < links && page.bytes >= bytes / links * page.n_links;
        page.bytes += due ? link_line(&page, line) : a_line(line);
    }
    page.text[page.bytes - 1] = '\n';
    return page;
}
