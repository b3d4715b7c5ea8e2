// format.js: numbers for people. A missing one is a dash.
const MISSING = "–";

/** About `digits` digits that mean something, never an exponent, no zeros behind the last one. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return MISSING;
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  const places = Math.max(0, Math.min(12, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return Number(value.toFixed(places)).toLocaleString("en-US", { maximumFractionDigits: places });
}

/** A share from 0 to 1 as a percentage; one digit behind the point where it tells something. */
export function percent(share, digits = 1) {
  if (share === null || share === undefined || Number.isNaN(share)) return MISSING;
  const shown = Number((share * 100).toFixed(Math.abs(share) >= 10 ? 0 : digits));
  return `${(shown || 0).toLocaleString("en-US")}%`; // no -0%
}

/** How a figure writes values of a measure: { value, difference, tick }. */
export function formats(figure, measure) {
  const unit = measure?.unit ?? "";
  const join = unit === "%" ? "%" : unit ? ` ${unit}` : "";
  const value = figure.percent
    ? (v) => percent(v)
    : (v) => (v === null || v === undefined ? MISSING : number(v) + join);
  const sign = (v) => (v > 0 ? "+" : "");
  return {
    value,
    difference: (v) => (v === null || v === undefined ? MISSING : sign(v) + value(v)),
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
