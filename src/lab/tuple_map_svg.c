/* tuple_map_svg.c: a map of warp tuples as a picture: see tuple_map.h. */
#include "lab/tuple_map.h"

#include <math.h>

enum { STEP = 26, LEFT = 56, TOP = 60, BOTTOM = 56, RIGHT = 24, RADIUS_MAX = 12, RADIUS_MIN = 2 };

static double x_of(uint32_t n) { return LEFT + STEP * (double)n; }
static double y_of(const struct tuple_map *m, uint32_t p) { return TOP + STEP * (double)(m->warps - p); }

/* The largest gain or loss, to which circles are scaled. */
static double largest_change(const struct tuple_map *m)
{
    double most = 0.01;
    for (uint32_t i = 0; i < m->tuples.len; i++)
        if (!isnan(m->tuples.data[i].speedup)) most = fmax(most, fabs(m->tuples.data[i].speedup - 1));
    return most;
}

static void put_speed(const struct tuple_map *m, const struct map_tuple *t, double most, struct strbuf *out)
{
    const double change = t->speedup - 1;
    strbuf_printf(
        out,
        "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.65\"><title>(%u, %u): "
        "%.3f</title></circle>\n",
        x_of(t->n), y_of(m, t->p), RADIUS_MIN + (RADIUS_MAX - RADIUS_MIN) * sqrt(fabs(change) / most),
        change >= 0 ? "#2a9d4e" : "#c9372c", t->n, t->p, t->speedup);
}

static void put_poise(const struct tuple_map *m, const struct map_tuple *t, struct strbuf *out)
{
    const double x = x_of(t->n), y = y_of(m, t->p);
    if (t->settled)
        strbuf_printf(out,
                      "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"%d\" fill=\"none\" stroke=\"#1f4e99\" "
                      "stroke-width=\"2\"><title>(%u, %u): settled %llu times</title></circle>\n",
                      x, y, RADIUS_MAX, t->n, t->p, (unsigned long long)t->settled);
    if (t->predicted)
        strbuf_printf(
            out,
            "<path d=\"M%.0f %.0fh10M%.0f %.0fv10\" stroke=\"#111\" stroke-width=\"2\"><title>(%u, %u): "
            "predicted %llu times</title></path>\n",
            x - 5, y, x, y - 5, t->n, t->p, (unsigned long long)t->predicted);
}

static void put_text(double x, double y, const char *anchor, const char *text, struct strbuf *out)
{
    strbuf_printf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            strbuf_puts(out, *text == '<' ? "&lt;" : "&amp;");
        else
            strbuf_putc(out, *text);
    strbuf_puts(out, "</text>\n");
}

static void put_axes(const struct tuple_map *m, struct strbuf *out)
{
    const double floor = y_of(m, 1) + STEP;
    char text[16];
    for (uint32_t v = 1; v <= m->warps; v++) {
        if (m->warps > 12 && v % 4 && v != 1) continue;
        snprintf(text, sizeof text, "%u", v);
        put_text(x_of(v), floor + 4, "middle", text, out);
        put_text(LEFT + 4, y_of(m, v) + 4, "end", text, out);
    }
    put_text(x_of((m->warps + 1) / 2), floor + 26, "middle", "N: warps that issue", out);
    put_text(LEFT - 44, TOP - 18, "start", "p: warps that allocate", out);
}

void tuple_map_svg(const struct tuple_map *m, struct strbuf *out)
{
    const uint32_t side = STEP * (m->warps + 1);
    const double most = largest_change(m);
    char title[160];
    strbuf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        MAX(LEFT + side + RIGHT, 420u), TOP + side + BOTTOM);
    snprintf(title, sizeof title, "%.40s, %.20s, on %.60s", m->workload, m->size, m->machine);
    put_text(LEFT - 44, 18, "start", title, out);
    put_axes(m, out);
    for (uint32_t i = 0; i < m->tuples.len; i++)
        if (!isnan(m->tuples.data[i].speedup)) put_speed(m, &m->tuples.data[i], most, out);
    for (uint32_t i = 0; i < m->tuples.len; i++) put_poise(m, &m->tuples.data[i], out);
    strbuf_puts(out, "</svg>\n");
}
