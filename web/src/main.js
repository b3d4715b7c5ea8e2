// main.js: puts the page together and shows what the address asks for: all figures, or one run.
import { Report } from "./data.js";
import { h } from "./dom.js";
import { FigureCard, watchCards } from "./figure.js";
import { filterBar } from "./filters.js";
import { runPage } from "./run.js";
import { onChange, state } from "./state.js";
import { experimentHead, summary } from "./summary.js";
import { watch } from "./theme.js";

const report = new Report(JSON.parse(document.getElementById("data").textContent));
const cards = report.figures.map((source) => new FigureCard(source));
const overview = h(
  "main",
  { id: "figures" },
  summary(report),
  filterBar(report),
  report.experiments.map((e) => [
    experimentHead(e),
    cards.filter((c) => c.source.experiment === e).map((c) => c.element),
  ]),
);
const detail = h("main", { id: "detail", hidden: true });

const toggleTheme = watch(() => {
  cards.forEach((c) => c.redraw());
  if (!detail.hidden) showPage();
});
document.body.append(
  h(
    "header",
    { class: "page" },
    h("h1", {}, "Heddle report"),
    h("button", { type: "button", id: "theme", onclick: toggleTheme, "aria-label": "Light or dark" }, "◐"),
  ),
  overview,
  detail,
  h("footer", { class: "muted" }, `Heddle ${report.heddle}. This page is one file and needs no network.`),
);

let scrolled = 0;
function showPage(fresh) {
  const isRun = state.page.startsWith("run/");
  if (isRun && detail.hidden) scrolled = scrollY;
  overview.hidden = isRun;
  detail.hidden = !isRun;
  if (isRun) {
    detail.replaceChildren(
      runPage(report, state.page.slice("run/".length), Math.min(detail.clientWidth, 540)),
    );
    document.title = `${detail.querySelector("h2").textContent} · Heddle report`;
    if (fresh) focusOn(detail.querySelector("h2"), 0);
    return;
  }
  detail.replaceChildren();
  document.title = "Heddle report";
  cards.forEach((c) => c.near && c.show());
  const target = state.page && document.getElementById(state.page);
  if (target) focusOn(target);
  else scrollTo(0, scrolled);
}

function focusOn(element, top) {
  element.focus({ preventScroll: true });
  if (top === undefined) element.scrollIntoView();
  else scrollTo(0, top);
}

onChange((what) => what === "page" && showPage(true));
watchCards(cards);
if (state.page) showPage(true);
