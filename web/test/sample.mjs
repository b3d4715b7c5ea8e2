// sample.mjs FILE [RUNS [STATISTICS]]: a made-up report of every kind of figure, for tests of the page. The
// numbers mean nothing.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const WORKLOADS = [
  ["bfs", "bfs", "Rodinia"],
  ["cfd", "cfd", "Rodinia"],
  ["dwt2d", "dwt2d", "Rodinia"],
  ["hybridsort", "hybrids", "Rodinia"],
  ["kmeans", "kmeans", "Rodinia"],
  ["lavaMD", "lavaMD", "Rodinia"],
  ["leukocyte", "leuko", "Rodinia"],
  ["mr-ii", "ii", "Mars"],
  ["mr-mm", "mm", "Mars"],
  ["mr-pvr", "pvr", "Mars"],
  ["mr-ss", "ss", "Mars"],
  ["nn", "nn", "Rodinia"],
  ["particlefilter", "pf", "Rodinia"],
  ["sad", "sad", "Parboil"],
  ["lbm", "lbm", "Parboil"],
  ["srad2", "srad_v2", "Rodinia"],
  ["stencil", "stencil", "Parboil"],
  ["streamcluster", "sc", "Rodinia"],
  ["spmv", "spmv", "Parboil"],
].map(([name, as, suite]) => ({ name, as, suite }));
const CAUSES = ["issued", "data-MEM", "data-ALU", "str-MEM", "str-ALU", "fetch", "barrier", "idle"];
const SLOTS = CAUSES.map((c) => c.toLowerCase().replace("-", "_")); // as statistics call them
const LEVELS = ["0 to 25%", "25 to 50%", "50 to 75%", "75 to 100%", "full"];

let seed = 12345;
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const round = (v) => Number(v.toPrecision(6));
const mean = (values) => round(values.reduce((s, v) => s + v, 0) / values.length);
const text = (n) =>
  Math.floor(random() * 16 ** n)
    .toString(16)
    .padStart(n, "0");

/** Shares in percent that add up to 100. */
function shares(names) {
  const raw = names.map(() => random() ** 2 + 0.02);
  const all = raw.reduce((s, v) => s + v, 0);
  return names.map((cause, i) => ({ cause, share: round((100 * raw[i]) / all) }));
}

function makeRun(workload, column, index, statistics) {
  const cycles = 200000 + Math.floor(random() * 3e6);
  const stats = {};
  for (let i = 0; i < statistics; i++)
    stats[`${["sm", "l1", "xbar", "l2", "dram"][i % 5]}.sample_statistic_${i}`] =
      i % 7 ? Math.floor(random() * 1e9) : round(random());
  const failed = index === 7;
  return {
    key: text(8) + text(8) + text(8) + text(8),
    workload,
    size: "small",
    machine: column.machine,
    settings: column.settings,
    mechs: column.mechs,
    mech_settings: [],
    seed: 0,
    state: failed ? "failed" : "done",
    error: failed ? "heddle: error: a queue was full </script><b>odd</b>\n  exit status 1" : "",
    command:
      `heddle run ${workload} --size small -m ${column.machine} ` +
      column.settings.map((s) => `--set ${s}`).join(" "),
    simulator: "0.1.0 3f2a77c1",
    host: "node17",
    seconds: round(random() * 90),
    peak_bytes: 2e8 + Math.floor(random() * 1e9),
    finished: 1760000000 + index,
    cycles,
    ipc: round(random() * 15),
    hash: text(8) + text(8),
    stats,
    log: "bfs: PASS\n",
    stall: shares(SLOTS),
    l1_stall: shares(["line", "mshr", "queue", "port"]),
    l2_stall: shares(["icnt", "dram", "port", "line", "mshr"]),
    energy: {
      table: "gpuwattch",
      joules: 0.1209,
      watts: 91.6,
      parts: shares(["registers", "units", "L1", "DRAM", "leakage"]),
    },
    kernels: Array.from({ length: 1 + Math.floor(random() * 12) }, (_, id) => ({
      id,
      name: `Kernel${id % 2 ? "2" : ""}`,
      grid: [320, 1, 1],
      block: [512, 1, 1],
      cycles: Math.floor(random() * 1e6),
      ipc: round(random() * 15),
    })),
    loads: Array.from({ length: 5 }, (_, i) => ({
      kernel: "Kernel",
      pc: 64 + 8 * i,
      executions: Math.floor(random() * 1e6),
      lines_per_load: round(1 + random() * 8),
      unique_share: (i + 1) / 5,
      miss_rate: round(random()),
      stride: 128 * i,
      stride_share: round(random()),
      share: round(random() / 3),
      merge_rate: round(random() / 2),
      ...(i % 2
        ? { evicted: 1000 * i, evictor_pc: 64, evictor_share: round(random()), cuda_line: 10 + i }
        : {}),
      ...(i === 2 ? { prefetches: 500, prefetch_useful: 300, prefetch_late: 50 } : {}),
    })),
    sharing: Array.from({ length: 15 }, (_, i) =>
      Array.from({ length: 15 }, (_, k) => (i === k ? 0 : Math.round(1000 / Math.abs(i - k)))),
    ),
    series: {
      cycles: Array.from({ length: 60 }, (_, i) => Math.round(((i + 1) * cycles) / 60)),
      ipc: Array.from({ length: 60 }, () => round(random() * 14)),
      "l1.hit_rate": Array.from({ length: 60 }, () => round(random())),
      ...Object.fromEntries(
        ["a", "b", "c", "d", "e", "f"].map((n) => [
          `sm.other_${n}`,
          Array.from({ length: 60 }, () => round(random())),
        ]),
      ),
    },
  };
}

/** cells of a figure: value(workload index, column index, measure index) makes the numbers. Members that are
 * undefined are not in the file. */
function makeCells(columns, measures, withMean, runOf, value, paper) {
  const cells = [];
  columns.forEach((column, c) =>
    measures.forEach((measure, m) => {
      const values = WORKLOADS.map((w, i) => {
        const v = value(i, c, m);
        cells.push({
          workload: w.name,
          column,
          measure: measure.name,
          value: v,
          paper: paper?.(i, c, m) ?? undefined,
          run: runOf(w.name, column),
        });
        return v;
      });
      if (withMean)
        cells.push({
          column,
          measure: measure.name,
          value: values.includes(null) ? null : mean(values),
          paper: paper?.(-1, c, m) ?? undefined,
        });
    }),
  );
  return cells;
}

const claim = (id, column, measure, paper, ours, verdict, workload = null) => ({
  id,
  metric: "IPC gain, mean",
  where: "Fig 3.10",
  column,
  measure,
  workload,
  paper,
  ours,
  difference: ours === null ? null : round(ours - paper),
  sign: verdict !== "not reproduced",
  order: verdict !== "not reproduced",
  verdict,
  note: "mm -33%, sc +240%",
});

export function makeReport(statistics = 40) {
  const names = ["base", "L1", "L2", "DRAM", "L1+L2", "L2+DRAM", "all"];
  const columns = names.map((name, i) => ({
    name,
    machine: "fermi",
    settings: i ? [`l1.mshrs=${32 * i}`, "l2.mshrs=128"] : [],
    mechs: [],
    x: null,
  }));
  columns.push({ name: "maxwell", machine: "maxwell", settings: [], mechs: ["gto"], x: null });
  const latency = [0, 50, 100, 200, 300, 400, 600, 800].map((x) => ({
    name: `latency=${x}`,
    machine: "fermi",
    settings: [`l1.fixed_latency=${x}`],
    mechs: [],
    x,
  }));
  const runs = [],
    byPlace = new Map();
  for (const w of WORKLOADS)
    for (const c of [...columns, ...latency]) {
      const run = makeRun(w.name, c, runs.length, statistics);
      byPlace.set(`${w.name} ${c.name}`, run.key);
      runs.push(run);
    }
  const runOf = (w, c) => byPlace.get(`${w} ${c}`);
  const gain = { name: "gain", title: "IPC gain", unit: "" };
  const figure = (o) => ({
    percent: false,
    x: { title: "", numeric: false },
    y: { title: "" },
    mean: null,
    note: "",
    claims: [],
    missing: 0,
    command: `heddle reproduce ${o.experiment}`,
    ...o,
  });
  const six = names.slice(1);
  const gains = [0.04, 0.59, 0.11, 0.69, 0.76, 0.9];
  const bars = figure({
    experiment: "thesis-fig3.10",
    id: "fig3.10",
    title: "IPC gain with four times the bandwidth resources",
    where: "thesis, Figure 3.10",
    draw: "bars",
    percent: true,
    y: { title: "IPC gain" },
    mean: "arithmetic",
    note: "Each level of the hierarchy alone, then together. An odd text: </script><script>throw 1</script>",
    columns: six,
    measures: [gain],
    cells: makeCells(
      six,
      [gain],
      true,
      runOf,
      (i, c) =>
        i === 3 && c === 2 ? null : round(gains[c] * (0.3 + 1.5 * random()) - (i % 5 === 2 ? 0.3 : 0)),
      (i, c) => (i === -1 ? gains[c] : i === 8 && c < 2 ? [-0.33, 2.66][c] : null),
    ),
    claims: [
      claim("bw.x4.l1", "L1", "gain", 0.04, 0.043, "reproduced"),
      claim("bw.x4.l2", "L2", "gain", 0.59, 0.36, "trend only"),
      claim("bw.x4.l1.mm", "L1", "gain", -0.33, 0.12, "not reproduced", "mr-mm"),
      claim("bw.x4.dram", "DRAM", "gain", 0.11, null, "open"),
    ],
    missing: 1,
  });
  const two = figure({
    experiment: "thesis-fig3.10",
    id: "table",
    title: "The same on another machine",
    where: "no paper",
    draw: "table",
    columns: ["base", "maxwell"],
    measures: [{ name: "ipc", title: "IPC", unit: "" }],
    mean: "geometric",
    cells: makeCells(["base", "maxwell"], [{ name: "ipc" }], true, runOf, () => round(1 + random() * 9)),
  });
  const parts = CAUSES.slice(1, 6).map((c) => ({ name: c.toLowerCase(), title: c, unit: "%" }));
  const stackValues = WORKLOADS.map(() => shares(parts.map((p) => p.title)).map((s) => s.share));
  const stalls = figure({
    experiment: "thesis-fig3.6",
    id: "fig3.6",
    title: "Where issue slots are lost",
    where: "thesis, Figure 3.6",
    draw: "stacked",
    y: { title: "share of issue stalls" },
    columns: ["base"],
    measures: parts,
    mean: "arithmetic",
    cells: makeCells(["base"], parts, true, runOf, (i, c, m) => stackValues[i][m]),
    claims: [
      claim("bw.stall.strmem", "base", "str-mem", 71, 64.2, "reproduced"),
      claim("bw.stall.fetch", "base", "fetch", 8, 14, "trend only"),
    ],
  });
  const levels = LEVELS.map((t, i) => ({ name: `level${i}`, title: t, unit: "%" }));
  const queues = figure({
    experiment: "thesis-fig3.6",
    id: "fig3.3",
    title: "Occupancy of the L2 access queues",
    where: "thesis, Figure 3.3",
    draw: "stacked",
    y: { title: "share of usage lifetime" },
    columns: ["base", "L2"],
    measures: levels,
    mean: "arithmetic",
    cells: makeCells(["base", "L2"], levels, true, runOf, () => 20),
  });
  const speed = { name: "ipc", title: "IPC, normalised", unit: "" };
  const curves = figure({
    experiment: "thesis-fig3.2",
    id: "fig3.2",
    title: "Normalised IPC over a fixed L1 miss latency",
    where: "thesis, Figure 3.2",
    draw: "lines",
    x: { title: "L1 miss latency, core cycles", numeric: true },
    y: { title: "IPC, normalised" },
    columns: latency.map((c) => c.name),
    measures: [speed],
    mean: "arithmetic",
    cells: makeCells(
      latency.map((c) => c.name),
      [speed],
      true,
      runOf,
      (i, c) => round((1 + (i % 6) * 0.8) / (1 + (latency[c].x * (0.2 + (i % 4) * 0.3)) / 300)),
      (i, c) => (i === -1 && c === 2 ? 1.9 : null),
    ),
  });
  const heat = figure({
    experiment: "thesis-fig3.2",
    id: "heat",
    title: "Gain as a heat map",
    where: "no paper",
    draw: "heatmap",
    percent: true,
    columns: six,
    measures: [gain],
    mean: "arithmetic",
    cells: bars.cells.map((c) => ({ ...c, value: c.value ?? 0.1 })),
  });
  const pair = [
    { name: "aml", title: "average memory latency", unit: "cycles" },
    { name: "stall", title: "stalled share", unit: "%" },
  ];
  const dots = figure({
    experiment: "thesis-fig3.2",
    id: "fig3.1",
    title: "Stalls over memory latency",
    where: "thesis, Figure 3.1",
    draw: "scatter",
    columns: ["base", "all"],
    measures: pair,
    cells: makeCells(["base", "all"], pair, false, runOf, (i, c, m) =>
      round(m ? 20 + random() * 70 : 200 + random() * 700),
    ),
  });
  const experiment = (name, title, about, figures) => ({
    name,
    title,
    about,
    paper: "thesis-ch3",
    machine: "fermi",
    size: "small",
    command: `heddle reproduce ${name}`,
    workloads: WORKLOADS,
    columns: [...columns, ...latency],
    figures,
  });
  return {
    schema: 1,
    heddle: "0.1.0",
    simulator: "0.1.0 3f2a77c1",
    experiments: [
      experiment(
        "thesis-fig3.10",
        "Scaling of bandwidth resources",
        "Each queue, port and MSHR file of a level is four times as large; Table 3.3 has the parameters.",
        [bars, two],
      ),
      experiment(
        "thesis-fig3.6",
        "Stalls of the pipeline and of the caches",
        "Which cause each lost slot has.",
        [stalls, queues],
      ),
      experiment("thesis-fig3.2", "Tolerance of memory latency", "Every L1 miss takes the same time.", [
        curves,
        heat,
        dots,
      ]),
    ],
    runs,
  };
}

/** Figures at the edges of what an experiment may say: nothing run yet, no workloads, one workload, several
 * measures side by side, all negative. */
export function makeOddReport() {
  const report = makeReport(5);
  const [first] = report.experiments;
  const bars = first.figures[0];
  const base = { ...bars, claims: [], missing: 0, note: "" };
  const two = [
    { name: "gain", title: "gain", unit: "" },
    { name: "loss", title: "loss", unit: "" },
  ];
  const others = (cells, measures) => measures.flatMap((m) => cells.map((c) => ({ ...c, measure: m.name })));
  const kinds = ["bars", "stacked", "lines", "heatmap", "scatter", "table"];
  const variants = {
    open: { cells: base.cells.map((c) => ({ ...c, value: null, run: null })) },
    negative: { cells: base.cells.map((c) => ({ ...c, value: -1, paper: undefined })) },
    zero: { cells: base.cells.map((c) => ({ ...c, value: 0 })) },
    one: { cells: base.cells.filter((c) => c.workload === "bfs"), mean: null },
    parameters: { cells: base.cells.filter((c) => !c.workload), mean: null },
    measures: { cells: others(base.cells, two), measures: two },
    column: { cells: base.cells.filter((c) => c.column === "L1"), columns: ["L1"] },
  };
  first.figures = kinds.flatMap((draw) =>
    Object.entries(variants).map(([name, v]) => ({
      ...base,
      ...v,
      draw,
      id: `${draw}-${name}`,
      title: `${draw}: ${name}`,
    })),
  );
  report.experiments = [first];
  return report;
}

/** As many runs as asked for: copies under other keys, which no figure shows. */
export function growTo(report, count) {
  for (let i = 0; report.runs.length < count; i++)
    report.runs.push({ ...report.runs[i], key: text(8) + text(8) + text(8) + text(8) });
  return report;
}

/** As src/lab/report.c embeds it: '<' never stands in the page as itself. */
export const embed = (template, report) =>
  template.replace("@HEDDLE-DATA@", () => JSON.stringify(report).replaceAll("<", "\\u003c"));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file, runs = "0", statistics = "40"] = process.argv;
  writeFileSync(file, JSON.stringify(growTo(makeReport(Number(statistics)), Number(runs))));
}
