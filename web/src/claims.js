// claims.js: the paper's claims beside ours, and how many hold.
import { h } from "./dom.js";
import { formats } from "./format.js";
import { address } from "./state.js";
import { table } from "./table.js";

/** Signs as well as colours. */
export const VERDICTS = [
  {
    name: "reproduced",
    sign: "✓",
    kind: "yes",
    meaning: "sign and order hold, and the value is within a quarter of the paper's",
  },
  { name: "trend only", sign: "≈", kind: "trend", meaning: "sign and order hold" },
  { name: "not reproduced", sign: "✗", kind: "no", meaning: "sign or order does not hold" },
  {
    name: "not comparable",
    sign: "–",
    kind: "open",
    meaning: "one of both numbers is no result, or our runs give none",
  },
  { name: "open", sign: "…", kind: "open", meaning: "runs are missing" },
];

export function badge(verdict) {
  const v = VERDICTS.find((x) => x.name === verdict);
  return h(
    "span",
    { class: `verdict ${v.kind}` },
    h("span", { "aria-hidden": "true" }, v.sign),
    ` ${v.name}`,
  );
}

export const count = (claims, verdict) => claims.filter((c) => c.verdict === verdict).length;

const yesNo = (holds) => (holds ? "holds" : "does not");

/** What is claimed of: the system, and the workload where it is not the mean. */
const subject = (c) => `${c.column || "–"}${c.workload ? `, ${c.workload}` : ""}`;

const hasOurs = (c) => c.verdict !== "open" && c.verdict !== "not comparable";

/** claims: [{ claim, source }] with the figure that each belongs to. */
export function claimsTable(claims, { caption, withFigure }) {
  const format = (row) => formats(row.source.figure, row.source.measures.get(row.claim.measure));
  const unitless = (v) => (v === undefined ? null : v);
  const columns = [
    {
      title: "Claim",
      value: (r) => r.claim.id,
      show: (r) => h("span", { title: r.claim.note || null }, r.claim.id),
    },
    withFigure && {
      title: "Figure",
      value: (r) => r.source.key,
      show: (r) => h("a", { href: address(`at/${r.source.key}`) }, r.source.figure.id),
    },
    { title: "Of", value: (r) => subject(r.claim) },
    { title: "Metric", value: (r) => r.claim.metric },
    { title: "Where", value: (r) => r.claim.where },
    {
      title: "Paper",
      number: true,
      value: (r) => unitless(r.claim.paper),
      show: (r) => format(r).paper(r.claim.paper),
    },
    {
      title: "Heddle",
      number: true,
      value: (r) => unitless(r.claim.ours),
      show: (r) => format(r).value(r.claim.ours),
    },
    {
      title: "Difference",
      number: true,
      value: (r) => unitless(r.claim.difference),
      show: (r) => format(r).difference(r.claim.difference),
    },
    { title: "Sign", value: (r) => (hasOurs(r.claim) ? yesNo(r.claim.sign) : "–") },
    { title: "Order", value: (r) => (hasOurs(r.claim) ? yesNo(r.claim.order) : "–") },
    {
      title: "Verdict",
      value: (r) => VERDICTS.findIndex((v) => v.name === r.claim.verdict),
      show: (r) => badge(r.claim.verdict),
    },
  ].filter(Boolean);
  return table({ caption, columns, rows: claims, className: "claims" });
}
