// map.js: a heat map over two parameters of the columns, of one workload: a cell stands where its column's
// parameters say. Ratios diverge at 1: speed-ups in one colour, slow-downs in the other. Over a map of warp
// tuples, where Poise predicted (rings) and settled (dots, larger where it did so more often), and the path
// of one SM through its first epoch.
import * as Plot from "@observablehq/plot";
import { formats } from "../format.js";
import { mapCells, poiseMarks } from "../map_cells.js";
import { describe, plot, textWidth, tip } from "./frame.js";

const ROW = 24;

/** The values of an axis that any cell stands at, in order. */
const ticks = (cells, axis) => [...new Set(cells.map((c) => c[axis]))].sort((a, b) => a - b);

export function drawMap(view, options) {
  const measure = view.measures[0];
  const format = (m) => formats(view.figure, m);
  const cells = mapCells(view).map((c) => ({
    ...c,
    value: c.cell.value,
    run: c.cell.run,
    text: format(measure).value(c.cell.value),
    title: describe(view, c.row, c.column, [{ cell: c.cell, measure }], format),
  }));
  const xs = ticks(cells, "x"),
    ys = ticks(cells, "y").reverse();
  const left = Math.max(40, ...ys.map((y) => textWidth(String(y)))) + 30;
  const room = (options.width - left - 8) / Math.max(1, xs.length);
  const withText = room > Math.max(0, ...cells.map((c) => textWidth(c.text))) + 2;
  const poise = poiseMarks(view.source.tuples, xs, ys);
  const color = colors(cells.map((c) => c.value).filter((v) => v !== null));
  return plot(
    options,
    [
      Plot.axisX({ label: view.figure.x?.title || view.figure.axes[0], labelArrow: "none", tickSize: 0 }),
      Plot.axisY({ label: view.figure.y?.title || view.figure.axes[1], labelArrow: "none", tickSize: 0 }),
      Plot.cell(
        cells.filter((c) => c.value !== null),
        { x: "x", y: "y", fill: "value", inset: 0.5, className: "cells" },
      ),
      withText && Plot.text(cells, { x: "x", y: "y", text: "text", fill: "#111111" }),
      Plot.line(poise.path, { x: "x", y: "y", stroke: "#111111", strokeWidth: 1.5, className: "poise-path" }),
      Plot.dot(
        poise.marks.filter((m) => m.predicted > 0),
        {
          x: "x",
          y: "y",
          r: (m) => 3 + 6 * Math.sqrt(m.predicted),
          stroke: "#111111",
          className: "poise-predicted",
        },
      ),
      Plot.dot(
        poise.marks.filter((m) => m.settled > 0),
        {
          x: "x",
          y: "y",
          r: (m) => 2 + 5 * Math.sqrt(m.settled),
          fill: "#111111",
          className: "poise-settled",
        },
      ),
      tip(cells, options, Plot.pointer, { x: "x", y: "y" }),
    ],
    {
      height: 30 + 44 + Math.max(1, ys.length) * ROW,
      marginTop: 30,
      marginBottom: 44,
      marginLeft: left,
      marginRight: 8,
      x: { domain: xs, padding: 0.02, type: "band" },
      y: { domain: ys, padding: 0.04, type: "band" },
      color,
      r: { type: "identity" },
    },
  );
}

/** Around 1 where ratios lie on both sides of it, around 0 where other numbers do; pale enough for dark
 * text. */
function colors(values) {
  const low = Math.min(...values),
    high = Math.max(...values);
  const pivot = low > 0 ? 1 : 0;
  const reach = Math.max(high - pivot, pivot - low, 1e-9) * 1.6;
  if (values.length && low < pivot && high > pivot)
    return { type: "diverging", scheme: "PuOr", domain: [pivot - reach, pivot + reach], pivot };
  return { type: "linear", scheme: "blues", domain: [low, low + (high - low || 1) * 1.6] };
}
