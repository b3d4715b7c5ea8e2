// units.test.mjs: the arithmetic behind the page: means, order, filters, how numbers are written. Needs
// neither packages nor a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Figure, mean, Report } from "../src/data.js";
import { evictor, loadClass, prefetchLate, prefetchUsed, sourceLine } from "../src/loads.js";
import { mapCells, poiseMarks } from "../src/map_cells.js";
import { bytes, formats, number, percent, time } from "../src/format.js";
import { chartsOf, IN_PERCENT } from "../src/charts.js";

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);
const nothing = { hidden: new Set(), machines: new Set() };

function makeFigure(values, { kind = "arithmetic", paperMean = 9 } = {}) {
  const names = Object.keys(values);
  const cell = (workload, column, value, paper = null) => ({
    workload,
    column,
    measure: "m",
    value,
    paper,
    chosen: null,
    run: null,
  });
  const experiment = {
    name: "e",
    machine: "fermi",
    workloads: names.map((name) => ({ name, as: name === "long" ? "l" : "", suite: "s" })),
    columns: [
      { name: "a", machine: "fermi", x: null },
      { name: "b", machine: "kepler", x: null },
    ],
    figures: [],
  };
  const figure = {
    id: "f",
    mean: kind,
    columns: ["a", "b"],
    measures: [{ name: "m", title: "", unit: "" }],
    cells: [
      ...names.flatMap((n) => [cell(n, "a", values[n]), cell(n, "b", 1)]),
      cell(null, "a", 5, paperMean),
      cell(null, "b", 1),
    ],
  };
  experiment.figures.push(figure);
  return new Figure(experiment, figure);
}
const order = (view) => view.rows.map((r) => r.label);

test("means", () => {
  near(mean("arithmetic", [1, 2, 6]), 3);
  near(mean("geometric", [1, 4, 16]), 4);
  near(mean("harmonic", [1, 2, 4]), 12 / 7);
  assert.equal(mean("geometric", [1, -1]), null);
  near(mean("gains", [3, -0.5, 0.125]), Math.cbrt(4 * 0.5 * 1.125) - 1);
  assert.equal(mean("gains", [3, -1]), null);
  assert.equal(mean("harmonic", [1, 0]), null);
  assert.equal(mean("smallest", [3, -1, 2]), -1);
  assert.equal(mean("largest", [3, -1, 2]), 3);
  assert.equal(mean("total", [3, -1, 2]), 4);
});

test("a mean of all workloads is the simulator's; of fewer it is made again, without the paper's", () => {
  const figure = makeFigure({ x: 1, y: 2, long: 6 });
  const all = figure.view(nothing, null);
  assert.deepEqual(
    [all.cell(all.rows.at(-1), "a", "m").value, all.cell(all.rows.at(-1), "a", "m").paper],
    [5, 9],
  );
  const some = figure.view({ hidden: new Set(["x"]), machines: new Set() }, null);
  assert.deepEqual(order(some), ["y", "l", "mean of 2"]);
  assert.deepEqual(
    [some.cell(some.rows.at(-1), "a", "m").value, some.cell(some.rows.at(-1), "a", "m").paper],
    [4, null],
  );
});

test("a mean over an open value is open; no workload, no mean", () => {
  const figure = makeFigure({ x: 1, y: null, z: 3 });
  const some = figure.view({ hidden: new Set(["x"]), machines: new Set() }, null);
  assert.equal(some.cell(some.rows.at(-1), "a", "m").value, null);
  assert.deepEqual(order(figure.view({ hidden: new Set(["x", "y", "z"]), machines: new Set() }, null)), []);
});

test("order: by a column, open values last either way, the mean always at the end", () => {
  const figure = makeFigure({ x: 2, y: null, z: 3, w: 1 });
  assert.deepEqual(order(figure.view(nothing, { by: ["a", "m"], down: true })), ["z", "x", "w", "y", "mean"]);
  assert.deepEqual(order(figure.view(nothing, { by: ["a", "m"], down: false })), [
    "w",
    "x",
    "z",
    "y",
    "mean",
  ]);
  assert.deepEqual(order(figure.view(nothing, { by: "name", down: false })), ["w", "x", "y", "z", "mean"]);
  assert.deepEqual(order(figure.view(nothing, { by: "file", down: true })), ["w", "z", "y", "x", "mean"]);
});

test("a hidden machine takes its columns away; places of the others stay", () => {
  const view = makeFigure({ x: 1 }).view({ hidden: new Set(), machines: new Set(["fermi"]) }, null);
  assert.deepEqual(view.columns, ["b"]);
  assert.equal(view.indexOf("b"), 1);
});

test("a figure without workloads has one row", () => {
  const figure = makeFigure({});
  const view = figure.view(nothing, null);
  assert.deepEqual(order(view), ["value"]);
  assert.equal(view.cell(view.rows[0], "a", "m").value, 5);
});

test("a cell whose run is not in the report has none", () => {
  const { experiment } = makeFigure({ x: 1 });
  experiment.figures[0].cells[0].run = "lost";
  experiment.figures[0].cells[1].run = "kept";
  const report = new Report({ schema: 1, heddle: "0", experiments: [experiment], runs: [{ key: "kept" }] });
  assert.deepEqual(
    experiment.figures[0].cells.slice(0, 2).map((c) => c.run),
    [null, "kept"],
  );
  assert.deepEqual(
    report.figuresOf("kept").map((f) => f.key),
    ["e/f"],
  );
  assert.deepEqual(report.machines, ["fermi", "kepler"]);
});

test("numbers", () => {
  assert.equal(number(0.012345), "0.0123");
  assert.equal(number(8.7), "8.7");
  assert.equal(number(8.7, 3, true), "8.70");
  assert.equal(number(1234567.8), "1,234,568");
  assert.equal(number(-0.0), "0");
  assert.equal(number(null), "–");
  assert.equal(number(NaN), "–");
  assert.equal(percent(0.59), "59%");
  assert.equal(percent(-0.0001), "0%");
  assert.equal(percent(12.34), "1,234%");
  const share = formats({ percent: true }, { unit: "" });
  assert.deepEqual(
    [share.value(0.59), share.paper(0.59), share.difference(0.1), share.difference(-0.1), share.tick(0.5)],
    ["59.0%", "59%", "+10.0 pp", "-10.0 pp", "50%"],
  );
  const cycles = formats({ percent: false }, { unit: "cycles" });
  assert.deepEqual(
    [cycles.value(452.3), cycles.difference(3), cycles.tick(100), cycles.value(null)],
    ["452 cycles", "+3 cycles", "100", "–"],
  );
  const points = formats({ percent: false }, { unit: "%" });
  assert.deepEqual([points.value(64.16), points.tick(50)], ["64.2%", "50%"]);
  assert.equal(bytes(3 * 1024 * 1024), "3 MiB");
  assert.equal(time(0), "–");
  assert.equal(time(1760000000), "2025-10-09 08:53 UTC");
});

test("classes have means of their own, also of what is left under a filter", () => {
  const source = makeFigure({ one: 2, two: 4, three: 9 });
  ["S", "S", "I"].forEach((c, i) => (source.experiment.workloads[i].class = c));
  const cell = (of, column, value) => ({
    workload: null,
    of,
    column,
    measure: "m",
    value,
    paper: null,
    chosen: null,
    run: null,
  });
  source.figure.cells.push(cell("S", "a", 3), cell("I", "a", 9));
  const figure = new Figure(source.experiment, source.figure);
  const view = figure.view(nothing, null);
  assert.deepEqual(
    view.rows.map((r) => r.label),
    ["one", "two", "three", "mean of S", "mean of I", "mean"],
  );
  assert.equal(view.cell(view.rows[3], "a", "m").value, 3);
  assert.equal(view.cell(view.rows[5], "a", "m").value, 5);
  const left = figure.view({ hidden: new Set(["one"]), machines: new Set() }, null);
  assert.equal(left.cell(left.rows[2], "a", "m").value, 4); // of S, two is left
});

test("a map has a cell where the parameters of a column say, and none where there is no run", () => {
  const source = makeFigure({ bfs: 2 });
  Object.assign(source.figure, {
    axes: ["n", "p"],
    places: [
      [4, 1],
      [8, 2],
    ],
  });
  source.figure.cells = source.figure.cells.filter((c) => c.workload);
  source.figure.cells[1].value = null;
  const cells = mapCells(new Figure(source.experiment, source.figure).view(nothing, null));
  assert.deepEqual(
    cells.map((c) => [c.column, c.x, c.y, c.cell.value]),
    [["a", 4, 1, 2]],
  );
});

test("a load: its class, what its prefetches were worth, who evicts its lines", () => {
  assert.equal(loadClass({ unique_share: 0.5, miss_rate: 0.5, stride_share: 1 }), "reused");
  assert.equal(loadClass({ unique_share: 0.5, miss_rate: 0.6, stride_share: 1 }), "thrashed");
  assert.equal(loadClass({ unique_share: 0.6, miss_rate: 1, stride_share: 0.5 }), "strided");
  assert.equal(loadClass({ unique_share: 0.6, miss_rate: 1, stride_share: 0.4 }), "irregular");
  const fetched = { prefetches: 40, prefetch_useful: 10, prefetch_late: 20 };
  near(prefetchUsed(fetched), 0.75);
  near(prefetchLate(fetched), 2 / 3);
  assert.equal(prefetchUsed({}), null);
  assert.equal(prefetchLate({ prefetches: 3, prefetch_useful: 0, prefetch_late: 0 }), null);
  assert.match(evictor({ evicted: 10, evictor_pc: 128, evictor_share: 0.5 }), /^128 \(50(\.0)?%\)$/);
  assert.equal(evictor({}), "–");
  assert.equal(sourceLine({ cuda_line: 12 }), "12");
  assert.equal(sourceLine({ ptx_line: 40 }), "ptx 40");
});

test("Poise's marks stand at the nearest tuples that were measured", () => {
  const tuples = {
    places: [
      [3, 3, 1, 0],
      [5, 3, 0, 2],
      [24, 20, 3, 2],
    ],
    path: [
      [3, 3],
      [5, 3],
    ],
  };
  const { marks, path } = poiseMarks(tuples, [1, 4, 24], [24, 4, 1]);
  assert.deepEqual(marks, [
    { x: 4, y: 4, predicted: 0.25, settled: 0.5 },
    { x: 24, y: 24, predicted: 0.75, settled: 0.5 },
  ]);
  assert.deepEqual(path, [
    { x: 4, y: 4 },
    { x: 4, y: 4 },
  ]);
  assert.deepEqual(poiseMarks(null, [1], [1]), { marks: [], path: [] });
});

test("a map of tuples has the way of Poise in the same experiment and workload", () => {
  const cell = (workload, run) => ({ workload, column: "c", measure: "m", value: 1, paper: null, run });
  const figure = (id, cells, axes) => ({ id, axes, cells, columns: ["c"], measures: [{ name: "m" }] });
  const experiment = (name, figures) => ({
    name,
    machine: "kepler",
    workloads: [],
    columns: [{ name: "c" }],
    figures,
  });
  const report = new Report({
    experiments: [
      experiment("a", [
        figure("map", [cell("bfs", "1")], ["tuple.n", "tuple.p"]),
        figure("other", [cell("bfs", "2")]),
      ]),
      experiment("b", [figure("map", [cell("bfs", "1")], ["tuple.n", "tuple.p"])]),
    ],
    runs: [{ key: "1" }, { key: "2", tuples: { places: [], path: [] } }],
  });
  assert.deepEqual(
    report.figures.map((f) => f.tuples !== null),
    [true, false, false],
  );
});

test("a run with SMs in cache mode shows first its roles and the hit rates of both parts of the LLC", () => {
  const measured = {
    "dram.efficiency": [0.5, 0.5],
    "helper.busy": [40, 60],
    "helper.sms": [0, 8],
    ipc: [3, 4],
    "l2.accesses": [0, 50],
    "l2.hits": [0, 40],
    "l2.miss_rate": [0, 10],
    "morpheus.hit_share": [0, 0.25],
    "morpheus.queue_length": [1, 2],
    "morpheus.queue_wait": [10, 20],
  };
  const { all, names } = chartsOf(measured);
  assert.deepEqual(names.slice(0, 7), [
    "ipc",
    "helper.sms",
    "helper.busy",
    "LLC hit rate %: slices",
    "LLC hit rate %: extended",
    "morpheus.queue_length",
    "morpheus.queue_wait",
  ]);
  assert.deepEqual(IN_PERCENT, names.slice(3, 5));
  assert.deepEqual(all["LLC hit rate %: slices"], [0, 80]);
  assert.deepEqual(all["LLC hit rate %: extended"], [0, 25]);
  assert.equal(names.length, Object.keys(measured).length + 2);
  // a store of before has no hits of the slices
  const { "l2.hits": _, ...older } = measured;
  assert.ok(!chartsOf(older).names.includes("LLC hit rate %: slices"));
  // without SMs in cache mode there are no rates of parts
  const plain = chartsOf({ ...measured, "helper.sms": [0, 0] });
  assert.equal(plain.names[0], "ipc");
  assert.ok(!plain.names.some((n) => IN_PERCENT.includes(n)));
  // CTAs without slots come before
  assert.equal(chartsOf({ "helper.sms": [1], "sm.pending_ctas": [2] }).names[0], "sm.pending_ctas");
});
