# Draws the tables of bench_latency as curves, a panel for each level: latency (core cycles) against load
# (GB/s), with the ceilings as vertical lines. Reads the tables on stdin, writes SVG.
function ceiling(name,    at, rest) { # the number after "name " in the lines of ceilings
    at = index(ceilings, name " ")
    rest = substr(ceilings, at + length(name) + 1)
    return rest + 0
}
function x_of(p, gbs) { return left + gbs / x_max[p] * width }
function y_of(p, cycles) { return top + height - cycles / y_max[p] * height }
function text(x, y, anchor, what) {
    printf "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>\n", x, y, anchor, what
}
function curve(p, kind, colour,    i, points) {
    for (i = 1; i <= count[p]; i++)
        points = points sprintf(" %.1f,%.1f", x_of(p, gbs[p, kind, i]), y_of(p, cycles[p, kind, i]))
    printf "<polyline points='%s' fill='none' stroke='%s' stroke-width='1.5'/>\n", substr(points, 2), colour
    for (i = 1; i <= count[p]; i++)
        printf "<circle cx='%.1f' cy='%.1f' r='2' fill='%s'/>\n", x_of(p, gbs[p, kind, i]),
            y_of(p, cycles[p, kind, i]), colour
}
function wall(p, name, label, row,    value) {
    value = ceiling(name)
    printf "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#c33' stroke-dasharray='4 3'/>\n",
        x_of(p, value), top, x_of(p, value), top + height
    printf "<text x='%.1f' y='%d' text-anchor='end' fill='#c33'>%s %.1f</text>\n",
        x_of(p, value) - 3, top + 12 * row, label, value
}
function panel(p,    i) {
    left = 60 + (p - 1) * (width + 80)
    printf "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#888'/>\n",
        left, top, width, height
    text(left + width / 2, top - 10, "middle", title[p])
    text(left + width / 2, top + height + 32, "middle", "GB/s")
    for (i = 0; i <= 4; i++) {
        text(left + i * width / 4, top + height + 16, "middle", sprintf("%.0f", x_max[p] * i / 4))
        text(left - 5, top + height - i * height / 4 + 4, "end", sprintf("%.0f", y_max[p] * i / 4))
    }
    if (p == 1) wall(p, "L1", "port", 1)
    if (p == 2) { wall(p, "crossbar replies", "crossbar", 1); wall(p, "L2 data ports", "L2 ports", 2) }
    if (p == 3) { wall(p, "DRAM pins", "DRAM pins", 1); wall(p, "crossbar replies", "crossbar", 2) }
    curve(p, "random", "#27a")
    curve(p, "stream", "#282")
}
BEGIN { FS = " *[|] *"; width = 260; height = 260; top = 40 }
/^(Ceilings|crossbar replies)/ { ceilings = ceilings " " $0; gsub(/[^a-zA-Z0-9. ]/, "", ceilings) }
/; ceiling / {
    panels++
    what = panels == 1 ? "cycles from load to load" : "cycles from miss to fill"
    title[panels] = substr($0, 1, index($0, ";") - 1) ": " what
}
/^[|] *[0-9]+ x/ {
    n = ++count[panels]
    second = panels == 1 ? 5 : 6 # where the columns of the streaming reads begin, less one
    gbs[panels, "random", n] = $3; cycles[panels, "random", n] = $5
    gbs[panels, "stream", n] = $(second + 1); cycles[panels, "stream", n] = $(second + 3)
    most = $5 > $(second + 3) ? $5 : $(second + 3)
    if (most + 0 > y_max[panels]) y_max[panels] = most + 0
}
END {
    x_max[1] = ceiling("L1") * 1.05
    x_max[2] = ceiling("L2 data ports") * 1.05
    x_max[3] = ceiling("crossbar replies") * 1.05
    for (p = 1; p <= 3; p++) y_max[p] = int(y_max[p] * 1.1 / 40 + 1) * 40
    printf "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif'" \
        " font-size='11'>\n", 3 * (width + 80) + 20, height + 100
    printf "<rect width='100%%' height='100%%' fill='white'/>\n"
    for (p = 1; p <= 3; p++) panel(p)
    printf "<text x='60' y='%d' fill='#27a'>random reads</text>", top + height + 52
    printf "<text x='160' y='%d' fill='#282'>streaming reads</text>", top + height + 52
    printf "<text x='280' y='%d' fill='#c33'>ceilings</text>\n</svg>\n", top + height + 52
}
