// filters.js: which workloads and machines are shown, in every figure.
import { h } from "./dom.js";
import { change, onChange, state } from "./state.js";

function checkboxes(title, items, hiddenSet) {
  const boxes = items.map((item) => {
    const input = h("input", { type: "checkbox", value: item.name });
    input.addEventListener("change", () => setHidden(hiddenSet, [item.name], !input.checked));
    const label = h("label", { class: "check", title: item.about ?? null }, input, item.label);
    label.dataset.search = `${item.label} ${item.about ?? ""}`.toLowerCase();
    return { item, input, label };
  });
  const update = () => boxes.forEach(({ item, input }) => (input.checked = !state[hiddenSet].has(item.name)));
  update();
  onChange((what) => what === "filter" && update());
  return {
    boxes,
    group: h(
      "div",
      { class: "checks", role: "group", "aria-label": title },
      boxes.map((b) => b.label),
    ),
  };
}

function setHidden(hiddenSet, names, hide) {
  change("filter", (s) => names.forEach((n) => (hide ? s[hiddenSet].add(n) : s[hiddenSet].delete(n))));
}

/** A search box narrows the list; All and None act on what it shows. */
function workloadFilter(report) {
  const items = report.workloads.map((w) => ({
    name: w.name,
    label: w.name,
    about: [w.suite, w.as && w.as !== w.name ? `in the paper: ${w.as}` : ""].filter(Boolean).join("; "),
  }));
  const { boxes, group } = checkboxes("Workloads", items, "hidden");
  const search = h("input", {
    type: "search",
    placeholder: "Search workloads or suites",
    "aria-label": "Search workloads or suites",
  });
  search.addEventListener("input", () => {
    for (const { label } of boxes)
      label.hidden = !label.dataset.search.includes(search.value.trim().toLowerCase());
  });
  const all = (hide) => () =>
    setHidden(
      "hidden",
      boxes.filter((b) => !b.label.hidden).map((b) => b.item.name),
      hide,
    );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "row" },
      search,
      h("button", { type: "button", class: "small", onclick: all(false) }, "All"),
      h("button", { type: "button", class: "small", onclick: all(true) }, "None"),
    ),
    group,
  );
}

export function filterBar(report) {
  const summary = h("span", { class: "muted", "aria-live": "polite" });
  const update = () => {
    const names = new Set(report.workloads.map((w) => w.name));
    const hidden = [...state.hidden].filter((n) => names.has(n)).length;
    const machines = report.machines.filter((m) => !state.machines.has(m)).length;
    summary.textContent =
      `${names.size - hidden} of ${names.size} workloads, ` +
      `${machines} of ${report.machines.length} machines`;
    reset.hidden = !state.hidden.size && !state.machines.size;
  };
  const reset = h(
    "button",
    {
      type: "button",
      class: "small",
      onclick: () => change("filter", (s) => (s.hidden.clear(), s.machines.clear())),
    },
    "Show all",
  );
  onChange((what) => what === "filter" && update());
  update();
  return h(
    "div",
    { class: "filters" },
    h(
      "details",
      {},
      h("summary", {}, "Filter ", summary),
      h(
        "div",
        { class: "panel" },
        h("div", {}, h("h3", {}, "Workloads"), workloadFilter(report)),
        h(
          "div",
          {},
          h("h3", {}, "Machines"),
          checkboxes(
            "Machines",
            report.machines.map((m) => ({ name: m, label: m })),
            "machines",
          ).group,
        ),
      ),
    ),
    reset,
  );
}
