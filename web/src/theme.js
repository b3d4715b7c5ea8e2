// theme.js: colours of figures. Hues are Okabe and Ito's, which colour-blind readers can tell apart, then
// Tol's; order puts neighbours far from each other. The yellow of the original is too pale on white and is
// left out.
const LIGHT = [
  "#0072B2",
  "#E69F00",
  "#009E73",
  "#CC79A7",
  "#D55E00",
  "#56B4E9",
  "#7A5C00",
  "#6E6E78",
  "#332288",
  "#999933",
  "#882255",
  "#44AA99",
];
const DARK = [
  "#4BA3DC",
  "#EDB136",
  "#2DBE94",
  "#E09AC4",
  "#F0803C",
  "#8FCDF3",
  "#C9B05E",
  "#A5A5B2",
  "#9C8CF0",
  "#CFCF6A",
  "#D9669A",
  "#7FD6C8",
];
const PAGE_FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', 'DejaVu Sans', sans-serif";
const PAPER_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

export const themes = {
  light: {
    name: "light",
    font: PAGE_FONT,
    ink: "#1b1f24",
    muted: "#5a626c",
    grid: "#d9dde2",
    back: "#ffffff",
    shade: "#f1f3f6",
    palette: LIGHT,
  },
  dark: {
    name: "dark",
    font: PAGE_FONT,
    ink: "#e7e9ec",
    muted: "#a3abb5",
    grid: "#3a4048",
    back: "#16191d",
    shade: "#22262c",
    palette: DARK,
  },
  paper: {
    name: "paper",
    font: PAPER_FONT,
    ink: "#000000",
    muted: "#333333",
    grid: "#cccccc",
    back: "#ffffff",
    shade: "#f0f0f0",
    palette: LIGHT,
  },
};

const KEY = "heddle-theme";
const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

function stored() {
  try {
    return localStorage.getItem(KEY); // some browsers forbid it on file://
  } catch {
    return null;
  }
}

let chosen = typeof document === "undefined" ? null : stored();

export const current = () => themes[chosen ?? (system?.matches ? "dark" : "light")];

/** Marks the document for the style sheet, and calls `changed` whenever reader or system change their
 * mind. */
export function watch(changed) {
  const apply = () => {
    document.documentElement.dataset.theme = current().name;
    changed?.();
  };
  apply();
  system.addEventListener("change", apply);
  return function toggle() {
    chosen = current().name === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // kept for this visit only
    }
    apply();
  };
}
