// bars.js: groups of bars, one for each workload, the mean set apart; plain or stacked. They stand, or lie
// where the page is too narrow for them to stand.
import * as Plot from "@observablehq/plot";
import { formats } from "../format.js";
import { colorOf, describe, legend, paperEntry, paperMark, plot, textWidth, tip } from "./frame.js";

const GROUP = 0.82; // of the room of a group, for its bars
const GAP = 0.4; // of a group, between the last workload and the mean
const MEAN = 1.5; // the mean has more room than a workload

/** Where each row's group is: { at: its middle, wide }, a workload being 1 wide. */
function places(rows) {
  const workloads = rows.filter((r) => !r.isMean).length; // means follow them: of classes, then of all
  return rows.map((row, i) =>
    row.isMean && rows.length > 1
      ? { at: workloads - 0.5 + GAP + (i - workloads + 0.5) * MEAN, wide: MEAN }
      : { at: i, wide: 1 },
  );
}
const roomOf = (rows) => ends(rows)[1] - ends(rows)[0];
function ends(rows) {
  const last = places(rows).at(-1) ?? { at: 0, wide: 1 };
  return [-0.55, last.at + last.wide / 2 + 0.05];
}

/** One datum for each bar: { row, column, band: [from, to], cells, title, run }. */
function makeBars(view, format) {
  const at = places(view.rows);
  return view.rows.flatMap((row, i) =>
    view.columns.map((column, j) => {
      const wide = (GROUP * at[i].wide) / view.columns.length;
      const from = at[i].at + (j - view.columns.length / 2) * wide;
      const cells = view.measures.map((measure) => ({ measure, cell: view.cell(row, column, measure.name) }));
      return {
        row,
        column,
        from,
        to: from + wide,
        cells,
        title: describe(view, row, column, cells, format),
        run: cells.find((c) => c.cell.run)?.cell.run ?? null,
      };
    }),
  );
}

/** One datum for each rectangle: bars have one each, stacks as many as measures. */
function makeParts(view, bars, stacked) {
  if (!stacked && view.measures.length === 1)
    return bars.map((b) => ({ ...b, series: b.column, low: 0, high: b.cells[0].cell.value }));
  return bars.flatMap((bar) => {
    let top = 0;
    return bar.cells.map(({ cell, measure }) => {
      const low = top;
      if (cell.value !== null) top += cell.value;
      return { ...bar, series: measure.title || measure.name, low, high: cell.value === null ? null : top };
    });
  });
}

/** Several measures side by side are columns of their own. */
function spread(view) {
  if (view.measures.length === 1) return view;
  const names = new Map();
  for (const column of view.columns)
    for (const m of view.measures)
      names.set(view.columns.length > 1 ? `${column}: ${m.title || m.name}` : m.title || m.name, {
        column,
        measure: m.name,
      });
  const flat = Object.create(view);
  flat.columns = [...names.keys()];
  flat.measures = [{ ...view.measures[0], title: "" }];
  flat.cell = (row, name) => ({
    ...view.cell(row, names.get(name).column, names.get(name).measure),
    column: name,
  });
  return flat;
}

const seriesNames = (view, stacked) => (stacked ? view.measures.map((m) => m.title || m.name) : view.columns);

function domainOf(parts, bars) {
  const values = parts
    .flatMap((p) => [p.low, p.high])
    .concat(bars.flatMap((b) => b.cells.map((c) => c.cell.paper)));
  const known = values.filter((v) => v !== null);
  const low = Math.min(0, ...known),
    high = Math.max(0, ...known);
  // rounded: parts that add up to 100.00001 need no axis to 110
  return low === high ? [0, 1] : [low, Number(high.toPrecision(4))];
}

export function drawBars(whole, options, stacked) {
  const view = stacked ? whole : spread(whole);
  const { theme } = options;
  const format = (measure) => formats(view.figure, measure);
  const bars = makeBars(view, format);
  const parts = makeParts(view, bars, stacked);
  const names = seriesNames(view, stacked);
  const color = new Map(
    names.map((n, i) => [n, colorOf(theme, stacked || view.indexOf(n) < 0 ? i : view.indexOf(n))]),
  );
  const papers = stacked ? [] : bars.filter((b) => b.cells[0].cell.paper !== null);
  const lying = options.width < 90 + roomOf(view.rows) * (view.columns.length * 3.5 + 8);
  const layout = lying ? layLying : layStanding;
  const entries =
    names.length > 1 || stacked ? names.map((label) => ({ label, color: color.get(label) })) : [];
  if (papers.length) entries.push(paperEntry);
  return layout({
    view,
    options,
    theme,
    bars,
    parts,
    papers,
    color,
    entries,
    format: format(view.measures[0]),
    domain: domainOf(parts, bars),
  });
}

/** A pale ground behind the mean; ground of bars whose runs are missing is left empty. */
function meanGround(view) {
  const i = view.rows.findIndex((r) => r.isMean);
  if (i < 0) return [];
  const { at, wide } = places(view.rows)[i];
  return [{ from: at - wide / 2, to: at + wide / 2 }];
}

function ticks(view) {
  const at = places(view.rows).map((p) => p.at);
  return { at, label: (x) => view.rows[at.indexOf(x)]?.label ?? "" };
}

/** Colours of stacks are their parts': where several stand in a group, the words say which is which. */
function xTitle(view) {
  if (view.figure.draw === "stacked" && view.columns.length > 1)
    return `in each group: ${view.columns.join(", ")}`;
  return view.figure.x?.title || null;
}

function layStanding(o) {
  const { view, options, theme } = o;
  const left = 68,
    right = 8;
  const signs = legend(o.entries, options.width - right, left, theme);
  const longest = Math.max(0, ...view.rows.map((r) => textWidth(r.label)));
  const room = (options.width - left - right) / roomOf(view.rows);
  const turned = longest > room;
  const bottom = (turned ? longest * 0.71 + 14 : 26) + (xTitle(view) ? 20 : 0);
  const tick = ticks(view);
  return plot(
    options,
    [
      Plot.rectX(meanGround(view), { x1: "from", x2: "to", fill: theme.shade }),
      Plot.gridY({ stroke: theme.grid, strokeOpacity: 1 }),
      Plot.axisY({
        tickFormat: o.format.tick,
        tickSize: 0,
        label: view.figure.y?.title || null,
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: left - 4,
      }),
      Plot.axisX(tick.at, {
        tickFormat: tick.label,
        tickSize: 0,
        tickPadding: 6,
        tickRotate: turned ? -45 : 0,
        label: xTitle(view),
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: bottom - 4,
        ...(turned ? { textAnchor: "end" } : {}),
      }),
      Plot.rect(o.parts, {
        filter: (d) => d.high !== null,
        x1: "from",
        x2: "to",
        y1: "low",
        y2: "high",
        fill: (d) => o.color.get(d.series),
        insetLeft: 0.4,
        insetRight: 0.4,
        className: "bars",
      }),
      Plot.ruleY([0], { stroke: theme.ink }),
      paperMark(
        o.papers,
        { x: (d) => (d.from + d.to) / 2, y: (d) => d.cells[0].cell.paper },
        theme,
        markSize(room, view),
      ),
      options.interactive &&
        Plot.rect(
          o.parts,
          Plot.pointerX({
            px: (d) => (d.from + d.to) / 2,
            x1: "from",
            x2: "to",
            y1: "low",
            y2: "high",
            stroke: theme.ink,
            fill: "none",
            maxRadius: 60,
          }),
        ),
      tip(o.bars, options, Plot.pointerX, {
        x: (d) => (d.from + d.to) / 2,
        y: (d) => top(d, o.parts),
      }),
      signs.mark,
    ],
    {
      height: 300 + signs.height + bottom,
      marginLeft: left,
      marginRight: right,
      marginTop: signs.height + 10,
      marginBottom: bottom,
      x: { domain: ends(view.rows), axis: null },
      y: { domain: o.domain, nice: true },
      color: { type: "identity" },
    },
  );
}

function layLying(o) {
  const { view, options, theme } = o;
  const left = Math.min(130, Math.max(40, ...view.rows.map((r) => textWidth(r.label))) + 14),
    right = 24,
    bottom = 44;
  const signs = legend(o.entries, options.width - right, 4, theme);
  const group = Math.max(18, view.columns.length * 8 + 6);
  const tick = ticks(view);
  return plot(
    options,
    [
      Plot.rectY(meanGround(view), { y1: "from", y2: "to", fill: theme.shade }),
      Plot.gridX({ stroke: theme.grid, strokeOpacity: 1, ticks: 5 }),
      Plot.axisX({
        ticks: 5,
        tickFormat: o.format.tick,
        tickSize: 0,
        label:
          [view.figure.y?.title, view.figure.draw === "stacked" ? xTitle(view) : ""]
            .filter(Boolean)
            .join("; ") || null,
        labelAnchor: "center",
        labelArrow: "none",
        labelOffset: bottom - 6,
      }),
      Plot.axisY(tick.at, { tickFormat: tick.label, tickSize: 0, label: null }),
      Plot.rect(o.parts, {
        filter: (d) => d.high !== null,
        y1: "from",
        y2: "to",
        x1: "low",
        x2: "high",
        fill: (d) => o.color.get(d.series),
        insetTop: 0.4,
        insetBottom: 0.4,
        className: "bars",
      }),
      Plot.ruleX([0], { stroke: theme.ink }),
      paperMark(
        o.papers,
        { y: (d) => (d.from + d.to) / 2, x: (d) => d.cells[0].cell.paper },
        theme,
        markSize(group, view),
      ),
      tip(o.bars, options, Plot.pointerY, {
        y: (d) => (d.from + d.to) / 2,
        x: (d) => top(d, o.parts),
        preferredAnchor: "top",
      }),
      signs.mark,
    ],
    {
      height: roomOf(view.rows) * group + signs.height + bottom + 20,
      marginLeft: left,
      marginRight: right,
      marginTop: signs.height + 10,
      marginBottom: bottom,
      y: { domain: ends(view.rows).reverse(), axis: null },
      x: { domain: o.domain, nice: true },
      color: { type: "identity" },
    },
  );
}

/** About as wide as a bar of the mean. */
const markSize = (room, view) =>
  Math.max(2.5, Math.min(4.5, (0.6 * room * GROUP * MEAN) / view.columns.length));

/** Where the tip of a bar points to. */
function top(bar, parts) {
  return Math.max(0, ...parts.filter((p) => p.from === bar.from).map((p) => p.high ?? 0));
}
