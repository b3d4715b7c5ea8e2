// loads.js: the load instructions of a run: how each uses the L1, who evicts its lines, and what its
// prefetches were worth.
import { h } from "./dom.js";
import { percent } from "./format.js";
import { table } from "./table.js";

/** How a load uses the L1: the rule of src/stats/loads.c. */
export function loadClass(load) {
  if (load.unique_share <= 0.5) return load.miss_rate > 0.5 ? "thrashed" : "reused";
  return load.stride_share >= 0.5 ? "strided" : "irregular";
}

/** Accuracy: the share of its prefetched lines that its accesses found here or on their way; null without
 * any. */
export const prefetchUsed = (load) =>
  load.prefetches ? (load.prefetch_useful + load.prefetch_late) / load.prefetches : null;

/** Timeliness: the share of the used ones that were still on their way; null where none was used. */
export function prefetchLate(load) {
  const used = (load.prefetch_useful ?? 0) + (load.prefetch_late ?? 0);
  return used ? load.prefetch_late / used : null;
}

const share = (value) => (value === null || value === undefined ? "–" : percent(value, true));

/** The load that replaces its lines most often: "128 (70%)". */
export const evictor = (load) =>
  load.evicted ? `${load.evictor_pc} (${percent(load.evictor_share, true)})` : "–";

/** Of the CUDA source, or of the PTX where only that is known. */
export const sourceLine = (load) =>
  load.cuda_line ? String(load.cuda_line) : load.ptx_line ? `ptx ${load.ptx_line}` : "–";

const shared = (title, value) => ({ title, number: true, value, show: (l) => share(value(l)) });

const COLUMNS = [
  { title: "Kernel", value: (l) => l.kernel, show: (l) => h("code", {}, l.kernel) },
  { title: "PC", number: true, value: (l) => l.pc, show: (l) => String(l.pc) },
  { title: "Line", value: (l) => l.cuda_line ?? l.ptx_line ?? 0, show: sourceLine },
  { title: "Class", value: loadClass },
  shared("Share of references", (l) => l.share),
  { title: "Executions", number: true, value: (l) => l.executions },
  { title: "Lines a load", number: true, value: (l) => l.lines_per_load },
  shared("Different lines", (l) => l.unique_share),
  shared("L1 miss rate", (l) => l.miss_rate),
  shared("Merged", (l) => l.merge_rate),
  { title: "Stride, bytes", number: true, value: (l) => l.stride },
  shared("Pairs with it", (l) => l.stride_share),
  { title: "Evicted", number: true, value: (l) => l.evicted ?? 0 },
  { title: "Mostly by PC", value: (l) => l.evictor_share ?? 0, show: evictor },
];

const PREFETCHES = [
  { title: "Prefetches", number: true, value: (l) => l.prefetches ?? 0 },
  shared("Used", prefetchUsed),
  shared("Late", prefetchLate),
];

const CAPTION =
  "Each load instruction; the stride is the commonest between neighbouring warps. Reused and thrashed: " +
  "each line is read twice or more, and half of the reads, or more, hit or miss. Strided: new lines, at " +
  "one stride. Else irregular. Evicted: lines that it brought and that a miss of a load replaced, and the " +
  "load that did so most often, with its share.";
const OF_PREFETCHES =
  " Prefetches: of the lines that were fetched for it, used are those that its accesses found, and late, " +
  "of these, those that were still on their way.";

export function loads(run) {
  if (!run.loads?.length) return null;
  const prefetches = run.loads.some((l) => l.prefetches > 0);
  return h(
    "section",
    {},
    h("h3", {}, "Loads"),
    table({
      caption: prefetches ? CAPTION + OF_PREFETCHES : CAPTION,
      rows: run.loads,
      columns: prefetches ? [...COLUMNS, ...PREFETCHES] : COLUMNS,
    }),
  );
}
