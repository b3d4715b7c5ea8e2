// figure.js: a figure on the page: title, controls, the picture or its numbers, the claims, the command. It
// is drawn when it comes near the window, and again only when something that it shows has changed.
import { claimsTable } from "./claims.js";
import { command, h } from "./dom.js";
import { canDraw, draw } from "./draw/index.js";
import { formats } from "./format.js";
import { address, change, go, onChange, state } from "./state.js";
import { table } from "./table.js";
import { current, themes } from "./theme.js";

const FILE_WIDTH = 760;

const sortOf = (source) => state.sorts.get(source.key) ?? { by: "file", down: false };
const viewOf = (source) => source.view({ hidden: state.hidden, machines: state.machines }, sortOf(source));
const cellTitle = (source, column, measure) => {
  const name = measure.title || measure.name;
  if (source.figure.measures.length === 1) return column;
  return source.figure.columns.length === 1 ? name : `${column}: ${name}`;
};

/** The numbers, each with its run behind it and the paper's beside it. */
export function numbers(source) {
  const view = viewOf(source),
    sort = sortOf(source);
  const pairs = view.columns.flatMap((column) => view.measures.map((measure) => ({ column, measure })));
  const columns = [
    {
      title: "Workload",
      value: (r) => r.label,
      show: (r) =>
        r.isMean
          ? r.label
          : h(
              "span",
              { title: r.suite },
              r.workload,
              r.label !== r.workload && h("small", { class: "muted" }, ` ${r.label}`),
            ),
    },
    ...pairs.map(({ column, measure }) => ({
      title: cellTitle(source, column, measure),
      number: true,
      value: (r) => view.cell(r, column, measure.name).value,
      show: (r) => shownCell(source, view.cell(r, column, measure.name), measure),
    })),
  ];
  const index =
    sort.by === "name"
      ? 0
      : 1 + pairs.findIndex((p) => p.column === sort.by[0] && p.measure.name === sort.by[1]);
  return table({
    caption: `${source.figure.title}: values`,
    hideCaption: true,
    columns,
    rows: view.rows,
    fixed: (r) => r.isMean,
    sort: sort.by === "file" ? undefined : { index, down: sort.down },
    onSort: (i, down) =>
      setSort(source, { by: i === 0 ? "name" : [pairs[i - 1].column, pairs[i - 1].measure.name], down }),
  });
}

function shownCell(source, cell, measure) {
  const format = formats(source.figure, measure);
  const text = format.value(cell.value);
  return [
    cell.run ? h("a", { href: address(`run/${cell.run}`) }, text) : text,
    cell.chosen && cell.chosen !== cell.column && h("small", { class: "muted" }, ` ${cell.chosen}`),
    cell.paper !== null &&
      h("small", { class: "paper", title: "the paper's" }, ` ◆ ${format.paper(cell.paper)}`),
  ];
}

const setSort = (source, sort) => change(source.key, (s) => s.sorts.set(source.key, sort));

function sortControl(source) {
  const options = [
    ["file", "the experiment's order"],
    ["name", "name"],
  ];
  for (const column of source.figure.columns)
    for (const m of source.figure.measures)
      options.push([`${column}|${m.name}`, cellTitle(source, column, m)]);
  const select = h(
    "select",
    {},
    options.map(([value, text]) => h("option", { value }, text)),
  );
  const way = h("button", {
    type: "button",
    class: "small",
    onclick: () => setSort(source, { ...sortOf(source), down: !sortOf(source).down }),
  });
  select.addEventListener("change", () => {
    const by = select.value.includes("|")
      ? [
          select.value.slice(0, select.value.lastIndexOf("|")),
          select.value.slice(select.value.lastIndexOf("|") + 1),
        ]
      : select.value;
    setSort(source, { by, down: Array.isArray(by) });
  });
  const update = () => {
    const { by, down } = sortOf(source);
    select.value = [by].flat().join("|");
    way.textContent = down ? "↓" : "↑";
    way.setAttribute("aria-label", down ? "Descending; make it ascending" : "Ascending; make it descending");
  };
  update();
  return { element: h("label", { class: "row" }, "Sort by ", select, way), update };
}

function saveSvg(source) {
  const svg = draw(viewOf(source), {
    width: FILE_WIDTH,
    theme: themes.paper,
    interactive: false,
    background: "white",
    label: source.figure.title,
  });
  const text = new XMLSerializer().serializeToString(svg);
  const link = h("a", {
    href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })),
    download: `${source.figure.id}.svg`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The experiment's heading says it already. */
const isOnly = ({ experiment, figure }) =>
  experiment.figures.length === 1 && experiment.title === figure.title;

export class FigureCard {
  constructor(source) {
    this.source = source;
    const { figure } = source;
    this.body = h("div", { class: "drawing" });
    this.sort = sortControl(source);
    this.hasPicture = canDraw(figure);
    this.toggle = h("button", { type: "button", class: "small", onclick: () => this.flip() });
    this.element = h(
      "section",
      { class: "figure", id: `at/${source.key}`, tabindex: "-1" },
      h(
        "header",
        {},
        h("h3", { class: isOnly(source) ? "unseen" : null }, figure.title),
        h("p", { class: "muted" }, [figure.where, figure.id].filter(Boolean).join(" · ")),
      ),
      h(
        "div",
        { class: "controls" },
        this.sort.element,
        this.hasPicture && this.toggle,
        this.hasPicture &&
          h("button", { type: "button", class: "small", onclick: () => saveSvg(source) }, "Save SVG"),
      ),
      figure.missing > 0 &&
        h(
          "p",
          { class: "warning" },
          `${figure.missing} of its runs ${figure.missing === 1 ? "is" : "are"} missing or failed.`,
        ),
      this.body,
      figure.note && h("p", { class: "note" }, figure.note),
      figure.claims.length > 0 &&
        claimsTable(
          figure.claims.map((claim) => ({ claim, source })),
          { caption: "The paper's claims and ours" },
        ),
      h("p", { class: "again" }, h("span", { class: "muted" }, "Make it again: "), command(figure.command)),
    );
    this.dirty = true;
    this.near = false;
    onChange((what) => {
      if (what === "filter" || what === source.key) this.redraw();
    });
  }

  flip() {
    change(this.source.key, (s) =>
      s.tables.has(this.source.key) ? s.tables.delete(this.source.key) : s.tables.add(this.source.key),
    );
  }

  redraw() {
    this.dirty = true;
    if (this.near) this.show();
  }

  show() {
    if (!this.dirty || !this.body.clientWidth) return;
    this.dirty = false;
    this.sort.update();
    const asTable = !this.hasPicture || state.tables.has(this.source.key);
    this.toggle.textContent = asTable ? "Show the picture" : "Show the numbers";
    const view = viewOf(this.source);
    if (view.columns.length === 0 || view.rows.length === 0)
      this.body.replaceChildren(h("p", { class: "muted" }, "The filter leaves nothing of this figure."));
    else if (asTable) this.body.replaceChildren(numbers(this.source));
    else this.body.replaceChildren(this.picture(view));
  }

  picture(view) {
    const svg = draw(view, {
      width: this.body.clientWidth,
      theme: current(),
      interactive: true,
      label: `${this.source.figure.title}. “Show the numbers” has the same as a table.`,
    });
    svg.addEventListener("click", () => svg.value?.run && go(`run/${svg.value.run}`));
    svg.addEventListener("input", () => svg.classList.toggle("link", Boolean(svg.value?.run)));
    return svg;
  }
}

/** Draws what comes near the window. */
export function watchCards(cards) {
  const byElement = new Map(cards.map((c) => [c.element, c]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const card = byElement.get(entry.target);
        card.near = entry.isIntersecting;
        if (card.near) card.show();
      }
    },
    { rootMargin: "600px 0px" },
  );
  cards.forEach((c) => observer.observe(c.element));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) cards.forEach((c) => c.redraw());
    width = innerWidth;
  });
}
