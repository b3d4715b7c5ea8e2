// lines.js: a line for each workload over the columns, the mean thick; names stand at the ends of the lines.
import * as Plot from "@observablehq/plot";
import { formats, number } from "../format.js";
import {
  colorOf,
  describe,
  legend,
  paperEntry,
  paperMark,
  plot,
  textWidth,
  tip,
  FONT_SIZE,
} from "./frame.js";

const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
/** "latency=50" belongs to the sweep "latency". */
const sweepOf = (column) => (column.includes("=") ? column.slice(0, column.lastIndexOf("=")) : "");

function makePoints(view, numeric) {
  const format = (measure) => formats(view.figure, measure);
  return view.rows
    .flatMap((row, r) =>
      view.columns.flatMap((column, c) =>
        view.measures.map((measure) => {
          const cell = view.cell(row, column, measure.name);
          const kind = [sweepOf(column), view.measures.length > 1 ? measure.title || measure.name : ""]
            .filter(Boolean)
            .join(", ");
          return {
            row,
            column,
            kind,
            line: `${row.workload}\n${kind}`,
            x: numeric ? (view.source.columns.get(column)?.x ?? null) : c,
            y: cell.value,
            paper: cell.paper,
            run: cell.run,
            title: describe(view, row, column, [{ cell, measure }], format),
          };
        }),
      ),
    )
    .filter((p) => p.x !== null);
}

/** The names at the right end, moved apart where they would touch: from the top down, then back up from the
 *  bottom. A line that does not reach the edge, because runs are missing, has none. */
function endLabels(points, edge, toPixel, height) {
  const last = new Map();
  for (const p of points) if (p.y !== null && !(last.get(p.line)?.x > p.x)) last.set(p.line, p);
  const step = FONT_SIZE * 1.05;
  const labels = [...last.values()]
    .filter((p) => p.x === edge)
    .map((p) => ({ p, at: toPixel(p.y) }))
    .sort((a, b) => a.at - b.at);
  for (let i = 1; i < labels.length; i++) labels[i].at = Math.max(labels[i].at, labels[i - 1].at + step);
  let bound = height;
  for (let i = labels.length - 1; i >= 0; i--) {
    labels[i].at = Math.min(labels[i].at, bound);
    bound = labels[i].at - step;
  }
  return labels;
}

/** Their mark: needs the scale, so it is drawn by hand; a thin line leads from the curve to a name that had
 * to move. */
function labelMark(points, edge, style) {
  return (index, scales, channels, dimensions, context) => {
    const { document } = context;
    const g = document.createElementNS("http://www.w3.org/2000/svg", "g");
    g.setAttribute("aria-label", "names");
    g.setAttribute("text-anchor", "start");
    const make = (name, attributes) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      return g.appendChild(e);
    };
    for (const { p, at } of endLabels(points, edge, scales.y, dimensions.height - dimensions.marginBottom)) {
      const x = scales.x(p.x),
        border = dimensions.width - dimensions.marginRight;
      make("path", {
        d: `M${x + 3},${scales.y(p.y)}L${border + 10},${at}`,
        stroke: style(p).stroke,
        "stroke-opacity": 0.45,
        fill: "none",
      });
      const text = make("text", {
        x: border + 13,
        y: at,
        dy: "0.32em",
        fill: style(p).stroke,
        "font-weight": p.row.isMean ? "bold" : "normal",
      });
      text.textContent = p.row.label;
    }
    return g;
  };
}

/** The columns' own places, where there is room for their names; else round numbers. */
function xTicks(view, numeric, width) {
  if (!numeric) return { ticks: view.columns.map((_, i) => i), tickFormat: (i) => view.columns[i] };
  const xs = [...new Set(view.columns.map((c) => view.source.columns.get(c)?.x ?? null))].filter(
    (x) => x !== null,
  );
  xs.sort((a, b) => a - b);
  const pixels = width / (xs.at(-1) - xs[0] || 1);
  const fits = xs.every((x, i) => i === 0 || (x - xs[i - 1]) * pixels > textWidth(number(x)) + 6);
  return {
    tickFormat: (x) => number(x),
    ticks: fits ? xs : Math.max(3, Math.min(8, Math.floor(width / 60))),
  };
}

export function drawLines(view, options) {
  const { theme } = options;
  const numeric = Boolean(view.figure.x?.numeric);
  const points = makePoints(view, numeric);
  const kinds = [...new Set(points.map((p) => p.kind))];
  const style = (p) => ({
    stroke: p.row.isMean ? theme.ink : colorOf(theme, p.row.index),
    dash:
      DASHES[kinds.indexOf(p.kind) % DASHES.length] ||
      (p.row.isMean ? "" : p.row.index >= theme.palette.length ? "4 2" : ""),
  });
  const shown = points.filter((p) => p.y !== null);
  const papers = points.filter((p) => p.paper !== null);
  const entries =
    kinds.length > 1
      ? kinds.map((label, i) => ({ label, color: theme.ink, kind: "line", dash: DASHES[i % DASHES.length] }))
      : [];
  if (papers.length) entries.push(paperEntry);
  const left = 68,
    right = 26 + Math.max(20, ...view.rows.map((r) => textWidth(r.label)));
  const signs = legend(entries, options.width - right, left, theme);
  const values = shown.map((p) => p.y).concat(papers.map((p) => p.paper));
  const format = formats(view.figure, view.measures[0]);
  const height = Math.max(340, Math.min(560, view.rows.length * kinds.length * FONT_SIZE * 1.1 + 80));
  const series = [...new Set(shown.map((p) => p.line))].map((line) => shown.filter((p) => p.line === line));
  const svg = plot(
    options,
    [
      Plot.gridY({ stroke: theme.grid, strokeOpacity: 1 }),
      Plot.axisY({
        tickFormat: format.tick,
        tickSize: 0,
        label: view.figure.y?.title || null,
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: left - 4,
      }),
      Plot.axisX({
        label: view.figure.x?.title || null,
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: 40,
        ...xTicks(view, numeric, options.width - left - right),
      }),
      ...series.map((data) =>
        Plot.line(data, {
          x: "x",
          y: "y",
          sort: "x",
          stroke: style(data[0]).stroke,
          strokeDasharray: style(data[0]).dash || undefined,
          strokeWidth: data[0].row.isMean ? 3.5 : 1.6,
          className: "line",
        }),
      ),
      Plot.dot(shown, {
        x: "x",
        y: "y",
        fill: (d) => style(d).stroke,
        r: (d) => (d.row.isMean ? 3.5 : 2.2),
        className: "points",
      }),
      paperMark(papers, { x: "x", y: "paper" }, theme),
      labelMark(shown, Math.max(...points.map((p) => p.x)), style),
      tip(shown, options, Plot.pointer, { x: "x", y: "y" }),
      signs.mark,
    ],
    {
      height: height + signs.height,
      marginLeft: left,
      marginRight: right,
      marginTop: signs.height + 12,
      marginBottom: 50,
      x: { nice: false },
      y: { domain: values.length ? [Math.min(0, ...values), Math.max(...values)] : [0, 1], nice: true },
      color: { type: "identity" },
      r: { type: "identity" },
    },
  );
  if (options.interactive) emphasise(svg, series);
  return svg;
}

/** The line under the pointer stands out of the others. */
function emphasise(svg, series) {
  const lines = svg.querySelectorAll("g.line");
  svg.addEventListener("input", () => {
    lines.forEach((g, i) => (g.style.opacity = !svg.value || series[i][0].line === svg.value.line ? 1 : 0.2));
  });
}
