// heatmap.js: a row for each workload, a cell for each column and measure. Colours run from pale to dark;
// where values lie on both sides of zero, from orange over white to purple.
import * as Plot from "@observablehq/plot";
import { formats } from "../format.js";
import { describe, plot, textWidth, tip } from "./frame.js";

const ROW = 24;

/** Labels are the paper's, and two workloads may share one. */
const keyOf = (row) => row.workload ?? `\nmean ${row.of ?? ""}`;

export function drawHeatmap(view, options) {
  const { theme } = options;
  const format = (measure) => formats(view.figure, measure);
  const several = view.measures.length > 1;
  const cells = view.rows.flatMap((row) =>
    view.columns.flatMap((column) =>
      view.measures.map((measure) => {
        const cell = view.cell(row, column, measure.name);
        const x = !several
          ? column
          : view.columns.length > 1
            ? `${column}: ${measure.title || measure.name}`
            : measure.title || measure.name;
        return {
          row,
          column,
          x,
          y: keyOf(row),
          value: cell.value,
          run: cell.run,
          text: format(measure).value(cell.value),
          title: describe(view, row, column, [{ cell, measure }], format),
        };
      }),
    ),
  );
  const xs = [...new Set(cells.map((c) => c.x))],
    ys = view.rows.map(keyOf),
    labels = new Map(view.rows.map((r) => [keyOf(r), r.label]));
  const values = cells.map((c) => c.value).filter((v) => v !== null);
  const color = colors(values);
  const left = Math.max(40, ...view.rows.map((r) => textWidth(r.label))) + 14,
    right = 8;
  const room = (options.width - left - right) / Math.max(1, xs.length);
  const turned = Math.max(...xs.map(textWidth)) > room - 4;
  const top = turned ? Math.max(...xs.map(textWidth)) * 0.71 + 20 : 26;
  const withText = room > Math.max(...cells.map((c) => textWidth(c.text))) + 2;
  const bottom = view.figure.x?.title ? 34 : 10;
  const gap = view.rows.at(-1)?.isMean ? [""] : []; // an empty row before the mean
  const order = gap.length ? [...ys.slice(0, -1), "", ys.at(-1)] : ys;
  return plot(
    options,
    [
      Plot.axisX({
        anchor: "top",
        label: null,
        tickSize: 0,
        tickRotate: turned ? -45 : 0,
        ...(turned ? { textAnchor: "start" } : {}),
      }),
      Plot.axisY({ label: null, tickSize: 0, tickFormat: (key) => labels.get(key) ?? "" }),
      Plot.cell(
        cells.filter((c) => c.value !== null),
        { x: "x", y: "y", fill: "value", inset: 0.5, className: "cells" },
      ),
      withText &&
        Plot.text(cells, {
          x: "x",
          y: "y",
          text: "text",
          fill: (d) => inkOn(d.value, color, theme),
        }),
      view.figure.x?.title &&
        Plot.text([view.figure.x.title], { frameAnchor: "bottom", dy: 22, fill: theme.ink }),
      tip(cells, options, Plot.pointer, { x: "x", y: "y" }),
    ],
    {
      height: top + bottom + order.length * ROW,
      marginTop: top,
      marginBottom: bottom,
      marginLeft: left,
      marginRight: right,
      x: { domain: xs, padding: 0.02 },
      y: { domain: order, padding: 0.04 },
      color: color.scale,
    },
  );
}

/** From pale at 0 to dark at `reach`, on one side of 0 or on both. */
function colors(values) {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const reach = Math.max(-low, high) || 1;
  if (low < 0 && high > 0)
    return {
      reach,
      dark: 0.72,
      scale: { type: "diverging", scheme: "PuOr", domain: [-reach, reach], pivot: 0 },
    };
  const domain = low < 0 ? [-reach, 0] : [0, reach];
  return { reach, dark: 0.55, scale: { type: "linear", scheme: "blues", domain, reverse: low < 0 } };
}

/** Dark text on pale cells, white on dark ones; open cells have the page's ground. */
function inkOn(value, color, theme) {
  if (value === null) return theme.muted;
  return Math.abs(value) / color.reach > color.dark ? "#ffffff" : "#111111";
}
