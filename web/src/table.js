// table.js: a table whose heads sort it. columns: [{ title, value(row), show(row)?, number? }]. `fixed(row)`
// rows stay last.
import { h } from "./dom.js";
import { number } from "./format.js";

const FIRST_ROWS = 200; // of long tables; the rest on demand

function order(rows, column, down, fixed) {
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    const x = column.value(a),
      y = column.value(b);
    const noX = x === null || x === undefined,
      noY = y === null || y === undefined;
    if (noX || noY) return noX - noY;
    return (
      sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)))
    );
  };
  const moving = rows.filter((r) => !fixed?.(r)).sort(compare);
  return [...moving, ...rows.filter((r) => fixed?.(r))];
}

/** sort: { index, down } and onSort(index, down), where somebody else keeps the order; else the table keeps
 * it. */
export function table({ caption, columns, rows, sort, onSort, fixed, hideCaption, className }) {
  let own = sort ?? null,
    limit = FIRST_ROWS;
  const body = h("tbody");
  const heads = columns.map((column, i) => {
    const button = h("button", { type: "button", class: "sort", onclick: () => click(i) }, column.title);
    return h("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  const more = h("button", { type: "button", class: "small", onclick: () => ((limit = Infinity), fill()) });

  function click(i) {
    // numbers: the largest first
    const down = own?.index === i ? !own.down : Boolean(columns[i].number);
    if (onSort) return onSort(i, down);
    own = { index: i, down };
    fill();
  }
  function fill() {
    heads.forEach((th, i) => {
      if (own?.index === i) th.setAttribute("aria-sort", own.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    const sorted = own && !onSort ? order(rows, columns[own.index], own.down, fixed) : rows;
    body.replaceChildren(...sorted.slice(0, limit).map((row) => line(columns, row, fixed)));
    more.textContent = `Show all ${number(rows.length)} rows`;
    more.hidden = rows.length <= limit;
  }
  fill();
  const element = h(
    "div",
    { class: `scroll ${className ?? ""}`, tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: hideCaption ? "unseen" : null }, caption),
      h("thead", {}, h("tr", {}, heads)),
      body,
    ),
    more,
  );
  /** Other rows, the same order. */
  element.setRows = (next) => ((rows = next), fill());
  return element;
}

function line(columns, row, fixed) {
  return h(
    "tr",
    { class: fixed?.(row) ? "fixed" : null },
    columns.map((column, i) => {
      const shown = column.show
        ? column.show(row)
        : column.number
          ? number(column.value(row), 3, true)
          : (column.value(row) ?? "–");
      return h(
        i === 0 ? "th" : "td",
        { scope: i === 0 ? "row" : null, class: column.number ? "number" : null },
        shown,
      );
    }),
  );
}
