// summary.js: the first screen: what this is, which experiments, how many claims hold.
import { claimsTable, count, VERDICTS } from "./claims.js";
import { h } from "./dom.js";
import { number } from "./format.js";
import { address } from "./state.js";
import { table } from "./table.js";

const claimsOf = (experiment) => experiment.figures.flatMap((f) => f.claims);
const missingOf = (experiment) => experiment.figures.reduce((n, f) => n + f.missing, 0);

const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

function experimentsTable(report) {
  const total = { isTotal: true, title: "All", figures: report.experiments.flatMap((e) => e.figures) };
  const verdicts = claimsOf(total).length ? VERDICTS : [];
  const rows = report.experiments.length > 1 ? [...report.experiments, total] : report.experiments;
  const columns = [
    {
      title: "Experiment",
      value: (e) => e.title,
      show: (e) => (e.isTotal ? e.title : h("a", { href: address(`at/${e.name}`) }, e.title)),
    },
    { title: "Figures", number: true, value: (e) => e.figures.length },
    ...verdicts.map((v) => ({
      title: v.name[0].toUpperCase() + v.name.slice(1),
      number: true,
      value: (e) => count(claimsOf(e), v.name),
      show: (e) => {
        const n = count(claimsOf(e), v.name);
        return n
          ? h("span", { class: `verdict ${v.kind}` }, h("span", { "aria-hidden": "true" }, v.sign), ` ${n}`)
          : h("span", { class: "muted" }, "0");
      },
    })),
    { title: "Runs missing", number: true, value: missingOf },
  ];
  return table({
    caption: verdicts.length ? "Experiments, and what became of their papers' claims" : "Experiments",
    columns,
    rows,
    fixed: (e) => e.isTotal,
    className: "overview",
  });
}

export function summary(report) {
  const claims = report.figures.flatMap((source) => source.figure.claims.map((claim) => ({ claim, source })));
  const failed = [...report.runs.values()].filter((r) => r.state === "failed");
  return h(
    "section",
    { class: "summary" },
    h(
      "p",
      {},
      `What the GPU simulator Heddle ${report.simulator || report.heddle} measured: ` +
        `${plural(report.experiments.length, "experiment")} of ${plural(report.runs.size, "run")}, ` +
        `with ${plural(report.workloads.length, "workload")} on ${report.machines.join(", ")}. `,
      claims.length
        ? `Where a paper has a number, it stands beside ours; of ${plural(claims.length, "claim")} ${count(
            claims.map((c) => c.claim),
            "reproduced",
          )} are reproduced.`
        : "",
    ),
    experimentsTable(report),
    claims.length > 0 && verdictLegend(),
    failed.length > 0 && failedRuns(failed),
    claims.length > 0 &&
      lazyDetails(`All ${plural(claims.length, "claim")} in one table`, () =>
        claimsTable(claims, { caption: "All claims", withFigure: true }),
      ),
  );
}

function verdictLegend() {
  const entry = (v) => [
    h("dt", {}, h("span", { class: `verdict ${v.kind}` }, `${v.sign} ${v.name}`)),
    h("dd", {}, v.meaning),
  ];
  return h("dl", { class: "legend" }, VERDICTS.map(entry));
}

const FAILED_SHOWN = 12;

function failedRuns(failed) {
  const link = (r, i) => [
    i ? ", " : "",
    h("a", { href: address(`run/${r.key}`) }, `${r.workload} on ${r.machine}`),
  ];
  const more = failed.length > FAILED_SHOWN ? `, and ${failed.length - FAILED_SHOWN} more` : "";
  return h(
    "p",
    { class: "warning" },
    `${plural(failed.length, "run")} failed: `,
    failed.slice(0, FAILED_SHOWN).map(link),
    more,
  );
}

/** Its content is made when it is opened. */
function lazyDetails(title, make) {
  const details = h("details", { class: "all-claims" }, h("summary", {}, title));
  details.addEventListener(
    "toggle",
    () => details.open && details.children.length === 1 && details.append(make()),
  );
  return details;
}

function runsOn(e) {
  const machines = [...new Set(e.columns.map((c) => c.machine))],
    sizes = [...new Set(e.workloads.map((w) => w.size ?? e.size))];
  const on = `Machine${machines.length > 1 ? "s" : ""} ${machines.join(", ")}`;
  return e.workloads.length
    ? `${on}; ${e.workloads.length} workloads of size ${sizes.join(", ")}.`
    : `${on}; no runs, parameters only.`;
}

export function experimentHead(e) {
  return h(
    "header",
    { class: "experiment", id: `at/${e.name}`, tabindex: "-1" },
    h("h2", {}, e.title),
    e.about && h("p", {}, e.about),
    h("p", { class: "muted" }, runsOn(e)),
  );
}
