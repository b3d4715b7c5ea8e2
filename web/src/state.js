// state.js: where the reader is and what is filtered, kept in the address behind the '#', so that a link
// shows the same.
//   #PAGE?hide=bfs,cfd&machines-=maxwell&sort.EXPERIMENT/FIGURE=COLUMN|MEASURE|down&table.EXPERIMENT/FIGURE=1
const listeners = new Set();

export const state = read();

function read() {
  const [page, query = ""] = location.hash.slice(1).split("?");
  const params = new URLSearchParams(query);
  const set = (name) => new Set((params.get(name) ?? "").split(",").filter(Boolean));
  const named = (prefix) =>
    new Map([...params].filter(([k]) => k.startsWith(prefix)).map(([k, v]) => [k.slice(prefix.length), v]));
  return {
    page: decoded(page),
    hidden: set("hide"),
    machines: set("without"),
    sorts: new Map([...named("sort.")].map(([k, v]) => [k, readSort(v)])),
    tables: new Set(named("table.").keys()),
  };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // somebody typed a lone %
  }
}

function readSort(text) {
  const parts = text.split("|");
  const down = parts.at(-1) === "down";
  return { by: parts.length > 2 ? [parts.slice(0, -2).join("|"), parts.at(-2)] : parts[0], down };
}

const writeSort = ({ by, down }) => [...[by].flat(), down ? "down" : "up"].join("|");

/** The address of a page with the filters of now. */
export function address(page = state.page) {
  const params = new URLSearchParams();
  if (state.hidden.size) params.set("hide", [...state.hidden].join(","));
  if (state.machines.size) params.set("without", [...state.machines].join(","));
  for (const [k, v] of state.sorts) params.set(`sort.${k}`, writeSort(v));
  for (const k of state.tables) params.set(`table.${k}`, "1");
  const query = params.toString();
  return `#${encodeURI(page)}${query ? `?${query}` : ""}`;
}

/** `listener(what)`: "page", "filter", or the key of the figure whose own settings changed. */
export const onChange = (listener) => listeners.add(listener);
const tell = (what) => listeners.forEach((listener) => listener(what));

/** Changes settings of the page that is shown: no new entry in the browser's history. */
export function change(what, edit) {
  edit(state);
  history.replaceState(null, "", address());
  tell(what);
}

export function go(page) {
  location.hash = address(page);
}

addEventListener("hashchange", () => {
  const old = address();
  const before = state.page;
  Object.assign(state, read());
  if (state.page !== before) tell("page");
  if (address(before) !== old) tell("filter"); // somebody edited the address
});
