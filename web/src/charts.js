// charts.js: which statistics of a run are drawn over time, and in which order.

const FIRST = ["ipc", "l1.hit_rate", "l1.miss_rate", "l1.aml", "l2.ahl", "dram.efficiency"];
// Shown first where a mechanism keeps CTAs without slots: other runs have nothing but 0 there.
const RESIDENCY = ["sm.occupancy", "sm.pending_ctas", "sm.saved_ctas", "finereg.pcrf_rows"];

const SLICES = "LLC hit rate %: slices";
const EXTENDED = "LLC hit rate %: extended";
/** Charts from 0 to 100, so that they can be compared. The timeline's counters have the same names. */
export const IN_PERCENT = [SLICES, EXTENDED];

// And where SMs are in cache mode: who computes, hits of both parts of the LLC, the queue at the controllers.
const ROLES = ["helper.sms", "helper.busy", SLICES, EXTENDED, "morpheus.queue_length", "morpheus.queue_wait"];

const isUsed = (values) => values?.some((n) => n > 0);

/** Hits of a hundred requests. A request for data that is on its way is no hit in either part. */
function hitRates(all) {
  const hits = all["l2.hits"];
  const accesses = all["l2.accesses"];
  const share = all["morpheus.hit_share"];
  return {
    ...(hits && accesses
      ? { [SLICES]: hits.map((n, i) => (accesses[i] > 0 ? (100 * n) / accesses[i] : 0)) }
      : {}),
    ...(share ? { [EXTENDED]: share.map((n) => 100 * (n ?? 0)) } : {}),
  };
}

/** All series of a run by name, and the names in the order in which they are shown. */
export function chartsOf(measured) {
  const hasRoles = isUsed(measured["helper.sms"]);
  const all = hasRoles ? { ...measured, ...hitRates(measured) } : measured;
  const first = isUsed(measured["sm.pending_ctas"])
    ? [...RESIDENCY, ...FIRST]
    : hasRoles
      ? ["ipc", ...ROLES, ...FIRST]
      : FIRST;
  const rank = (name) => (first.includes(name) ? first.indexOf(name) : first.length);
  return { all, names: Object.keys(all).sort((a, b) => rank(a) - rank(b)) };
}
