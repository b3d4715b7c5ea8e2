// series.js: one statistic over the cycles of a run.
import * as Plot from "@observablehq/plot";
import { number } from "../format.js";
import { colorOf, plot, tip } from "./frame.js";

const short = (n) => (n >= 1e6 ? `${number(n / 1e6)}M` : n >= 1e3 ? `${number(n / 1e3)}k` : number(n));

/** most: the top of the axis; without it the largest value is. */
export function drawSeries(cycles, values, { name, width, theme, most }) {
  const data = cycles
    .map((cycle, i) => ({
      cycle,
      value: values[i],
      title: `cycle ${number(cycle)}\n${number(values[i], 4)}`,
    }))
    .filter((d) => d.value !== null && d.value !== undefined);
  return plot(
    { theme, width, label: `${name} over time`, interactive: true },
    [
      Plot.gridY({ stroke: theme.grid, strokeOpacity: 1, ticks: 4 }),
      Plot.axisY({ ticks: 4, tickSize: 0, label: null, tickFormat: (v) => number(v) }),
      Plot.axisX({
        ticks: Math.max(3, Math.floor(width / 110)),
        tickFormat: short,
        label: "core cycles",
        labelAnchor: "right",
        labelArrow: "none",
      }),
      Plot.areaY(data, { x: "cycle", y: "value", fill: colorOf(theme, 0), fillOpacity: 0.15 }),
      Plot.lineY(data, { x: "cycle", y: "value", stroke: colorOf(theme, 0), className: "line" }),
      tip(data, { theme, interactive: true }, Plot.pointerX, { x: "cycle", y: "value" }),
    ],
    {
      height: 174,
      marginLeft: 52,
      marginRight: 14,
      marginTop: 12,
      marginBottom: 40,
      y: most ? { domain: [0, most] } : { zero: true, nice: true },
    },
  );
}
