// frame.js: what all figures share: fonts, legend, axes, the tip.
import * as Plot from "@observablehq/plot";

const SVG = "http://www.w3.org/2000/svg";
export const FONT_SIZE = 12;
const LEGEND_LINE = 20;
const SWATCH = 11;

/** About how wide a text is, of a wide font: the figure is laid out before any font is known (node has
 * none). */
export function textWidth(text) {
  let em = 0;
  for (const c of text) em += /[A-Z%+&@mw]/.test(c) ? 0.78 : /[ijlt.,:;|'()]/.test(c) ? 0.36 : 0.585;
  return em * FONT_SIZE;
}

/** Rows of legend entries that fit in `width`. entries: [{ label, color, kind: "swatch" | "mark" | "line",
 * dash }] */
function legendRows(entries, width) {
  const rows = [[]];
  let x = 0;
  for (const entry of entries) {
    const wide = SWATCH + 6 + textWidth(entry.label) + 16;
    if (x + wide > width && rows.at(-1).length) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1).push({ ...entry, x });
    x += wide;
  }
  return rows;
}

function element(document, name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

function legendSign(document, entry, y, theme) {
  const middle = y + SWATCH / 2;
  if (entry.kind === "mark") {
    const x = entry.x + SWATCH / 2;
    return element(document, "path", {
      d: `M${x},${middle - 5}l4,5l-4,5l-4,-5z`,
      fill: theme.ink,
      stroke: theme.back,
    });
  }
  if (entry.kind === "line")
    return element(document, "path", {
      d: `M${entry.x},${middle}h${SWATCH + 3}`,
      stroke: entry.color,
      "stroke-width": 2.5,
      ...(entry.dash ? { "stroke-dasharray": entry.dash } : {}),
    });
  return element(document, "rect", { x: entry.x, y, width: SWATCH, height: SWATCH, fill: entry.color });
}

/** A legend inside of the picture, so that a saved SVG has it too. Returns { height, mark }. */
export function legend(entries, width, left, theme) {
  if (entries.length === 0) return { height: 0, mark: null };
  const rows = legendRows(entries, width - left);
  const mark = (index, scales, channels, dimensions, context) => {
    const g = element(context.document, "g", {
      "aria-label": "legend",
      "text-anchor": "start",
      transform: `translate(${left},4)`,
    });
    rows.forEach((row, i) => {
      for (const entry of row) {
        g.append(legendSign(context.document, entry, i * LEGEND_LINE, theme));
        g.append(
          element(
            context.document,
            "text",
            { x: entry.x + SWATCH + 6, y: i * LEGEND_LINE + SWATCH - 1, fill: theme.ink, stroke: "none" },
            entry.label,
          ),
        );
      }
    });
    return g;
  };
  return { height: rows.length * LEGEND_LINE + 6, mark };
}

/** The sign of a paper's value. */
export function paperMark(data, options, theme, r = 4) {
  return Plot.dot(data, {
    ...options,
    symbol: "diamond",
    r,
    fill: theme.ink,
    stroke: theme.back,
    strokeWidth: 1,
    className: "paper-mark",
  });
}
export const paperEntry = { label: "the paper's", kind: "mark" };

/** Draws; `options.document` is node's when there is no browser. The value of the returned element is what
 * the pointer is on. */
export function plot(options, marks, extra) {
  const { theme, width, document } = options;
  const svg = Plot.plot({
    width,
    document,
    style: {
      fontFamily: theme.font,
      fontSize: `${FONT_SIZE}px`,
      color: theme.ink,
      background: options.background ?? "transparent",
      "--plot-background": theme.back,
    },
    ...extra,
    marks: marks.filter(Boolean),
  });
  if (options.label) svg.setAttribute("aria-label", options.label);
  svg.setAttribute("role", "img");
  return svg;
}

/** The box at the pointer; none in a file. */
export function tip(data, options, pointer, channels) {
  if (!options.interactive) return null;
  return Plot.tip(
    data,
    pointer({
      ...channels,
      title: "title",
      fontSize: FONT_SIZE,
      lineHeight: 1.35,
      maxRadius: 60,
      pathFilter: "none",
      stroke: options.theme.muted,
      fill: options.theme.back,
    }),
  );
}

export const colorOf = (theme, i) => theme.palette[i % theme.palette.length];

/** The lines of a tip: workload and column, value, the paper's. */
export function describe(view, row, column, cells, format) {
  const name = row.isMean
    ? row.label
    : row.workload === row.label
      ? row.workload
      : `${row.workload} (${row.label})`;
  const lines = [`${name}, ${column}`];
  for (const { cell, measure } of cells) {
    const title = view.measures.length > 1 ? `${measure.title || measure.name}: ` : "";
    const paper = cell.paper === null ? "" : `   paper: ${format(measure).paper(cell.paper)}`;
    lines.push(`${title}${cell.value === null ? "not run yet" : format(measure).value(cell.value)}${paper}`);
    if (cell.chosen && cell.chosen !== cell.column) lines.push(`chosen: ${cell.chosen}`);
  }
  return lines.join("\n");
}
