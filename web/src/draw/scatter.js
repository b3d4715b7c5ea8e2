// scatter.js: a dot for each workload: the second measure over the first; of one measure: each further column
// over the first one, with the line on which they would be equal.
import * as Plot from "@observablehq/plot";
import { formats } from "../format.js";
import { colorOf, describe, legend, plot, tip } from "./frame.js";

function makeDots(view) {
  const format = (measure) => formats(view.figure, measure);
  const [first, second] = view.measures;
  const rows = view.rows.filter((r) => !r.isMean);
  if (second)
    return rows.flatMap((row) =>
      view.columns.map((column) => {
        const a = view.cell(row, column, first.name),
          b = view.cell(row, column, second.name);
        return {
          row,
          column,
          series: column,
          x: a.value,
          y: b.value,
          run: b.run ?? a.run,
          title: describe(
            view,
            row,
            column,
            [
              { cell: a, measure: first },
              { cell: b, measure: second },
            ],
            format,
          ),
        };
      }),
    );
  const [base, ...others] = view.columns;
  return rows.flatMap((row) =>
    others.map((column) => {
      const a = view.cell(row, base, first.name),
        b = view.cell(row, column, first.name);
      const about = describe(view, row, column, [{ cell: b, measure: first }], format);
      const title = `${about}\n${base}: ${format(first).value(a.value)}`;
      return { row, column, series: column, x: a.value, y: b.value, run: b.run, title };
    }),
  );
}

export function drawScatter(view, options) {
  const { theme } = options;
  const dots = makeDots(view).filter((d) => d.x !== null && d.y !== null);
  const names = [...new Set(dots.map((d) => d.series))];
  const left = 68,
    right = 40;
  const signs = legend(
    names.length > 1 ? names.map((label) => ({ label, color: colorOf(theme, view.indexOf(label)) })) : [],
    options.width - right,
    left,
    theme,
  );
  const [first, second] = view.measures;
  const both = dots.flatMap((d) => [d.x, d.y]);
  const yFormat = formats(view.figure, second ?? first),
    xFormat = formats(view.figure, first);
  return plot(
    options,
    [
      Plot.gridY({ stroke: theme.grid, strokeOpacity: 1 }),
      Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: 6 }),
      Plot.axisY({
        tickFormat: yFormat.tick,
        tickSize: 0,
        label: view.figure.y?.title || second?.title || view.columns.slice(1).join(", "),
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: left - 4,
      }),
      Plot.axisX({
        tickFormat: xFormat.tick,
        ticks: 6,
        tickSize: 0,
        label: view.figure.x?.title || (second ? first.title : view.columns[0]),
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: 40,
      }),
      !second &&
        dots.length &&
        Plot.line([Math.min(...both), Math.max(...both)], {
          x: (v) => v,
          y: (v) => v,
          stroke: theme.muted,
          strokeDasharray: "4 3",
        }),
      Plot.dot(dots, {
        x: "x",
        y: "y",
        r: 4.5,
        fill: (d) => colorOf(theme, view.indexOf(d.series)),
        stroke: theme.back,
        className: "dots",
      }),
      Plot.text(withoutOverlap(dots), {
        x: "x",
        y: "y",
        text: (d) => d.row.label,
        dx: 7,
        textAnchor: "start",
        fill: theme.ink,
      }),
      tip(dots, options, Plot.pointer, { x: "x", y: "y" }),
      signs.mark,
    ],
    {
      height: 400 + signs.height,
      marginLeft: left,
      marginRight: right,
      marginTop: signs.height + 12,
      marginBottom: 50,
      x: { nice: true, zero: true },
      y: { nice: true, zero: true },
      color: { type: "identity" },
      r: { type: "identity" },
    },
  );
}

/** Names of dots that have room; the others have their tip. */
function withoutOverlap(dots) {
  if (dots.length === 0) return [];
  const spanX = Math.max(...dots.map((d) => d.x)) - Math.min(0, ...dots.map((d) => d.x)) || 1;
  const spanY = Math.max(...dots.map((d) => d.y)) - Math.min(0, ...dots.map((d) => d.y)) || 1;
  const kept = [];
  for (const d of dots)
    if (kept.every((k) => Math.abs(k.x - d.x) / spanX > 0.07 || Math.abs(k.y - d.y) / spanY > 0.045))
      kept.push(d);
  return kept;
}
