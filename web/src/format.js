// format.js: numbers for people. A missing one is a dash.
const MISSING = "–";
const isMissing = (v) => v === null || v === undefined || Number.isNaN(v);

/** With n places behind the point; `keep`: zeros at the end too, so that columns of measured numbers line
 * up. */
function places(value, n, keep) {
  const shown = Number(value.toFixed(n)) || 0; // no -0
  return shown.toLocaleString("en-US", { minimumFractionDigits: keep ? n : 0, maximumFractionDigits: n });
}

/** About `digits` digits that mean something, never an exponent. */
export function number(value, digits = 3, keep = false) {
  if (isMissing(value)) return MISSING;
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return places(value, 0, false);
  return places(value, Math.max(0, Math.min(12, digits - 1 - Math.floor(Math.log10(Math.abs(value))))), keep);
}

/** A share from 0 to 1 as a percentage, one digit behind the point. */
export function percent(share, keep = false) {
  return isMissing(share) ? MISSING : `${places(share * 100, Math.abs(share) >= 10 ? 0 : 1, keep)}%`;
}

/** How a figure writes values of a measure: ours, the paper's (which has as many digits as it printed),
 * differences, marks of an axis. */
export function formats(figure, measure) {
  const unit = measure?.unit ?? "";
  const join = unit === "%" ? "%" : unit ? ` ${unit}` : "";
  const write = (keep) => (v) =>
    isMissing(v)
      ? MISSING
      : figure.percent
        ? percent(v, keep)
        : unit === "%"
          ? percent(v / 100, keep)
          : number(v, 3, keep) + join;
  const ours = write(true);
  return {
    value: ours,
    paper: write(false),
    difference: (v) => (v > 0 ? "+" : "") + ours(v).replace(/%$/, " pp"), // of percentages: percentage points
    tick: figure.percent ? (v) => percent(v) : (v) => number(v) + (unit === "%" ? "%" : ""),
  };
}

export function bytes(n) {
  if (!n) return MISSING;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0;
  for (; n >= 1024 && u + 1 < units.length; u++) n /= 1024;
  return `${number(n)} ${units[u]}`;
}

export function time(unix) {
  return unix ? new Date(unix * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC" : MISSING;
}
