// matrix.js: SM by SM: the row is the one that missed, the cell how often the column's L1 held the line.
// Colours run from pale to dark.
import * as Plot from "@observablehq/plot";
import { number, percent } from "../format.js";
import { plot, tip } from "./frame.js";

const CELL = 22;
const MARGIN = { top: 40, right: 8, bottom: 8, left: 56 };

export function drawMatrix(rows, { width, theme, label }) {
  const all = rows.flat().reduce((sum, n) => sum + n, 0) || 1;
  const cells = rows.flatMap((row, misses) =>
    row.map((value, holds) => ({
      misses,
      holds,
      value,
      title:
        `SM ${misses} misses, SM ${holds} holds the line\n` +
        `${number(value)}, ${percent(value / all, true)} of all`,
    })),
  );
  const sms = rows.map((_, sm) => sm);
  const room = Math.min(width - MARGIN.left - MARGIN.right, rows.length * CELL);
  return plot(
    { theme, width: room + MARGIN.left + MARGIN.right, label, interactive: true },
    [
      Plot.axisX({
        anchor: "top",
        tickSize: 0,
        label: "SM that holds the line",
        labelAnchor: "left",
        labelArrow: "none",
      }),
      Plot.axisY({ tickSize: 0, label: "SM that misses", labelArrow: "none", labelAnchor: "top" }),
      Plot.cell(cells, { x: "holds", y: "misses", fill: "value", inset: 0.5, className: "cells" }),
      tip(cells, { theme, interactive: true }, Plot.pointer, { x: "holds", y: "misses" }),
    ],
    {
      height: room + MARGIN.top + MARGIN.bottom,
      marginTop: MARGIN.top,
      marginRight: MARGIN.right,
      marginBottom: MARGIN.bottom,
      marginLeft: MARGIN.left,
      x: { domain: sms, padding: 0.02 },
      y: { domain: sms, padding: 0.02 },
      color: { type: "linear", scheme: "blues", domain: [0, Math.max(1, ...rows.flat())] },
    },
  );
}
