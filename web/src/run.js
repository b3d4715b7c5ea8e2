// run.js: the page of one run: what it is, where its time went, kernels, loads, all statistics.
import { command, h } from "./dom.js";
import { drawMatrix } from "./draw/matrix.js";
import { drawSeries } from "./draw/series.js";
import { bytes, number, percent, time } from "./format.js";
import { loads } from "./loads.js";
import { chartsOf, IN_PERCENT } from "./charts.js";
import { address } from "./state.js";
import { table } from "./table.js";
import { current } from "./theme.js";

const list = (items) => (items?.length ? items.join(", ") : "none");

function facts(report, run) {
  const rows = [
    ["State", run.state],
    ["Workload", `${run.workload}, size ${run.size}${run.seed ? `, seed ${run.seed}` : ""}`],
    ["Machine", run.machine],
    ["Settings", list(run.settings)],
    ["Mechanisms", list([...(run.mechs ?? []), ...(run.mech_settings ?? [])])],
    ["Cycles", number(run.cycles)],
    ["IPC", number(run.ipc, 4)],
    ["Hash", run.hash],
    ["Simulator", run.simulator ?? report.simulator],
    // a brief report does not say where and when
    ...("host" in run
      ? [
          ["Host", `${run.host || "–"}, ${number(run.seconds)} s, ${bytes(run.peak_bytes)}`],
          ["Finished", time(run.finished)],
        ]
      : []),
    ["Key", run.key],
  ];
  return h(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value || "–")]),
  );
}

/** Causes as the literature calls them; statistics have shorter names. */
const SLOTS = { data_mem: "data-MEM", data_alu: "data-ALU", str_mem: "str-MEM", str_alu: "str-ALU" };
const L1 = { line: "cache lines", mshr: "MSHRs", queue: "bp-L2", port: "port" };
const L2 = { icnt: "bp-ICNT", dram: "bp-DRAM", port: "data port", line: "cache lines", mshr: "MSHRs" };

/** A bar of shares (in percent) with its parts below. */
function stack(title, raw, names) {
  if (!raw?.length) return null;
  const parts = raw.map((p) => ({ ...p, cause: names[p.cause] ?? p.cause }));
  const palette = current().palette;
  const all = parts.reduce((sum, p) => sum + p.share, 0);
  const color = (i) => `background:${palette[i % palette.length]}`;
  return h(
    "section",
    { class: "stack" },
    h("h3", {}, title),
    all <= 0
      ? h("p", { class: "muted" }, "None.")
      : [
          h(
            "div",
            {
              class: "bar",
              role: "img",
              "aria-label": parts.map((p) => `${p.cause} ${percent(p.share / 100, true)}`).join(", "),
            },
            parts.map(
              (p, i) =>
                p.share > 0 &&
                h("span", {
                  style: `${color(i)};flex-grow:${p.share}`,
                  title: `${p.cause}: ${percent(p.share / 100, true)}`,
                }),
            ),
          ),
          h(
            "ul",
            {},
            parts.map((p, i) =>
              h(
                "li",
                {},
                h("span", { class: "swatch", style: color(i) }),
                p.cause,
                " ",
                h("b", {}, percent(p.share / 100, true)),
              ),
            ),
          ),
        ],
  );
}

/** Joules in the unit that leaves one to three digits before the point. */
function joules(value) {
  const units = [
    [1, "J"],
    [1e-3, "mJ"],
    [1e-6, "µJ"],
    [0, "nJ"],
  ];
  const [scale, unit] = units.find(([least]) => value >= least);
  return `${number(value / (scale || 1e-9), 4)} ${unit}`;
}

/** Energy by part; a run of an older report, or on a machine without a table, has none. */
function energy(run) {
  const e = run.energy;
  if (!e?.parts?.length) return null;
  return stack(`Energy: ${joules(e.joules)}, ${number(e.watts, 4)} W with leakage (${e.table})`, e.parts, {});
}

function kernels(run) {
  if (!run.kernels?.length) return null;
  const dims = (d) => (d ?? []).join(" × ");
  return h(
    "section",
    {},
    h("h3", {}, "Kernels"),
    table({
      caption: `${run.kernels.length} launches`,
      rows: run.kernels,
      columns: [
        { title: "Launch", number: true, value: (k) => k.id },
        { title: "Kernel", value: (k) => k.name, show: (k) => h("code", {}, k.name) },
        { title: "Grid", value: (k) => dims(k.grid) },
        { title: "Block", value: (k) => dims(k.block) },
        { title: "Cycles", number: true, value: (k) => k.cycles },
        { title: "IPC", number: true, value: (k) => k.ipc },
      ],
    }),
  );
}

/** Of a run that measured it (mechanism `sharing`): which L1s held the lines that each SM missed. */
function sharing(run, width) {
  if (!run.sharing?.length) return null;
  return h(
    "section",
    {},
    h("h3", {}, "Who shares with whom"),
    h(
      "p",
      { class: "muted" },
      "Loads of global memory that missed in the L1 of the row's SM while the L1 of the column's SM held " +
        "the line. A miss counts for each of its holders.",
    ),
    h("figure", {}, drawMatrix(run.sharing, { width, theme: current(), label: "who shares with whom" })),
  );
}

const SERIES_SHOWN = 6;

/** A few at first; the reader adds others by name. */
function series(run, width) {
  const { cycles, ...measured } = run.series ?? {};
  if (!cycles?.length) return null;
  const { all, names } = chartsOf(measured);
  const chart = (name) =>
    h(
      "figure",
      {},
      h("figcaption", {}, name),
      drawSeries(cycles, all[name], {
        name,
        width,
        theme: current(),
        most: IN_PERCENT.includes(name) ? 100 : undefined,
      }),
    );
  const charts = h("div", { class: "series" }, names.slice(0, SERIES_SHOWN).map(chart));
  const select = h(
    "select",
    {},
    h("option", { value: "" }, "choose"),
    names.slice(SERIES_SHOWN).map((n) => h("option", {}, n)),
  );
  select.addEventListener("change", () => {
    if (!select.value) return;
    charts.prepend(chart(select.value));
    select.selectedOptions[0].remove();
    select.value = "";
  });
  return h(
    "section",
    {},
    h("h3", {}, "Over time"),
    names.length > SERIES_SHOWN &&
      h("label", { class: "row" }, `Another of ${names.length} statistics: `, select),
    charts,
  );
}

function statistics(run) {
  const rows = Object.entries(run.stats ?? {}).map(([name, value]) => ({ name, value }));
  if (!rows.length) return null;
  const search = h("input", {
    type: "search",
    placeholder: "Search statistics",
    "aria-label": "Search statistics",
  });
  const shown = h("span", { class: "muted", "aria-live": "polite" }, `${rows.length} statistics`);
  const all = table({
    caption: "All statistics of the run",
    hideCaption: true,
    rows,
    className: "statistics",
    columns: [
      { title: "Statistic", value: (s) => s.name, show: (s) => h("code", {}, s.name) },
      { title: "Value", number: true, value: (s) => s.value, show: (s) => number(s.value, 5) },
    ],
  });
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    const left = rows.filter((s) => words.every((w) => s.name.toLowerCase().includes(w)));
    shown.textContent = `${left.length} of ${rows.length} statistics`;
    all.setRows(left);
  });
  return h("section", {}, h("h3", {}, "All statistics"), h("div", { class: "row" }, search, shown), all);
}

const notThere = (key) =>
  h(
    "article",
    { class: "run" },
    h("p", {}, h("a", { href: address("") }, "← All figures")),
    h("h2", { tabindex: "-1" }, "No such run"),
    h("p", {}, `This report has no run ${key}.`),
  );

const SETTINGS_IN_TITLE = 2;

/** As much as tells it from its neighbours. */
function title(run) {
  const differs = [...(run.settings ?? []), ...(run.mechs ?? []), ...(run.mech_settings ?? [])];
  const more = differs.length > SETTINGS_IN_TITLE ? ", ..." : "";
  const end = differs.length ? `, ${differs.slice(0, SETTINGS_IN_TITLE).join(", ")}${more}` : "";
  return `${run.workload} on ${run.machine}${end}`;
}

export function runPage(report, key, width) {
  const run = report.runs.get(key);
  if (!run) return notThere(key);
  const figures = report.figuresOf(key);
  return h(
    "article",
    { class: "run" },
    h("p", {}, h("a", { href: address(""), class: "back" }, "← All figures")),
    h("h2", { tabindex: "-1" }, title(run)),
    run.state === "failed" && h("pre", { class: "warning" }, run.error || "It failed, and left no message."),
    run.state === "running" && h("p", { class: "warning" }, "It was running when this report was written."),
    facts(report, run),
    h("p", { class: "again" }, h("span", { class: "muted" }, "Make it again: "), command(run.command)),
    figures.length > 0 &&
      h(
        "p",
        {},
        "Shown in: ",
        figures.map((f, i) => [
          i ? ", " : "",
          h("a", { href: address(`at/${f.key}`) }, `${f.figure.title} (${f.figure.id})`),
        ]),
      ),
    stack("Issue slots", run.stall, SLOTS),
    stack("L1 stalls", run.l1_stall, L1),
    stack("L2 stalls", run.l2_stall, L2),
    energy(run),
    run.log && h("details", {}, h("summary", {}, "What it printed"), h("pre", { class: "log" }, run.log)),
    series(run, width),
    loads(run),
    sharing(run, width),
    kernels(run),
    statistics(run),
    report.brief &&
      h(
        "p",
        { class: "muted" },
        "This page was written without the statistics of its runs. A store that has them shows them by ",
        command(`heddle query results.db --run ${run.key}`),
      ),
  );
}
