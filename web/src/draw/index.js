// index.js: a figure's view as an SVG element. options: { width, theme, interactive, label, document?,
// background? }. The element's `value` is the datum under the pointer, with the `run` behind it.
import { drawBars } from "./bars.js";
import { drawHeatmap } from "./heatmap.js";
import { drawLines } from "./lines.js";
import { drawMap } from "./map.js";
import { drawScatter } from "./scatter.js";

const kinds = {
  bars: (view, options) => drawBars(view, options, false),
  stacked: (view, options) => drawBars(view, options, true),
  lines: drawLines,
  heatmap: (view, options) => (view.figure.axes ? drawMap : drawHeatmap)(view, options),
  scatter: drawScatter,
};

/** A table has no picture. */
export const canDraw = (figure) => figure.draw in kinds;

export function draw(view, options) {
  return kinds[view.figure.draw](view, options);
}
