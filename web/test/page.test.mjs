// page.test.mjs REPORT.html FIGURES.cjs: the page in headless Chromium, and the SVG files, on the made-up
// data of sample.mjs. Exit 77: something that it needs is missing, which it says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser, findChromium } from "./browser.mjs";
import { embed, growTo, makeOddReport, makeReport } from "./sample.mjs";

const [, , template, figures] = process.argv;
const chromium = findChromium();
for (const [what, path] of [
  ["Chromium (Debian: chromium)", chromium],
  ["the built page (target report_page)", template],
])
  if (!path || !existsSync(path)) {
    console.log(`SKIPPED: ${what} is missing${path ? `: ${path}` : ""}`);
    process.exit(77);
  }

const report = makeReport();
const folder = mkdtempSync(join(tmpdir(), "heddle-page-"));
const write = (name, data) => {
  writeFileSync(join(folder, name), embed(readFileSync(template, "utf8"), data));
  return pathToFileURL(join(folder, name)).href;
};
const url = write("page.html", report);
const figure = (id) => report.experiments.flatMap((e) => e.figures).find((f) => f.id === id);
const elementId = (id) =>
  `at/${report.experiments.find((e) => e.figures.some((f) => f.id === id)).name}/${id}`;
const known = (cells) => cells.filter((c) => c.value !== null).length;

let browser;
const pages = [];
before(async () => (browser = await Browser.start(chromium)));
after(async () => {
  await browser.stop();
  rmSync(folder, { recursive: true });
});

/** A page that must end without an error and without having asked anybody for anything. */
async function open({ width = 1400, height = 900, dark = false, hash = "", at = url } = {}) {
  const page = await browser.page({ width, height, dark });
  pages.push(page);
  await page.open(at + hash);
  return page;
}
function isQuiet(page) {
  assert.deepEqual(page.errors, []);
  assert.deepEqual(
    page.requests.filter((r) => !/^(file|data|blob):/.test(r)),
    [],
  );
}

/** Scrolls to a figure and waits until it is drawn. */
async function showFigure(page, id) {
  await page.send("Page.bringToFront"); // pages behind others are not drawn
  await page.get((e) => document.getElementById(e).scrollIntoView(), elementId(id));
  await page.until(
    (e) => document.getElementById(e).querySelector(".drawing").children.length > 0,
    elementId(id),
  );
}
const count = (page, id, selector) =>
  page.get(
    (e, s) => document.getElementById(e).querySelectorAll(s).length,
    elementId(id),
    `.drawing ${selector}`,
  );
const texts = (page, id, selector) =>
  page.get(
    (e, s) => [...document.getElementById(e).querySelectorAll(s)].map((x) => x.textContent),
    elementId(id),
    selector,
  );
const ticks = (page, id) => texts(page, id, `.drawing [aria-label="x-axis tick label"] text`);
const click = (page, selector) => page.get((s) => document.querySelector(s).click(), selector);
const press = (page, id, words) =>
  page.get(
    (e, w) =>
      [...document.getElementById(e).querySelectorAll("button")].find((b) => b.textContent === w).click(),
    elementId(id),
    words,
  );
const middle = (page, id, selector, i) =>
  page.get(
    (e, s, n) => {
      const box = document.getElementById(e).querySelectorAll(s)[n].getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    },
    elementId(id),
    selector,
    i,
  );
const checkbox = (page, name) =>
  page.get((n) => document.querySelector(`.filters input[value="${n}"]`).click(), name);

test("the first screen says what there is", async () => {
  const page = await open();
  const rows = await page.get(() =>
    [...document.querySelectorAll(".overview tbody tr")].map((r) =>
      [...r.children].map((c) => c.textContent.trim()),
    ),
  );
  assert.equal(rows.length, report.experiments.length + 1);
  assert.deepEqual(rows.at(-1), ["All", "7", "✓ 2", "≈ 2", "✗ 1", "0", "… 1", "1"]);
  const summary = await page.get(() => document.querySelector(".summary p").textContent);
  assert.match(summary, /Heddle 0\.1\.0 3f2a77c1 measured: 3 experiments of \d+ runs, /);
  assert.match(summary, /with 19 workloads on fermi, maxwell.*of 6 claims 2 are reproduced/);
  await click(page, ".all-claims summary");
  await page.until(() => document.querySelectorAll(".all-claims tbody tr").length === 6);
  isQuiet(page);
});

test("every kind of figure has a mark for each of its numbers", async () => {
  const page = await open();
  for (const [id, selector, marks] of [
    ["fig3.10", ".bars rect", known(figure("fig3.10").cells)],
    ["fig3.10", ".paper-mark path", figure("fig3.10").cells.filter((c) => c.paper !== undefined).length],
    ["fig3.6", ".bars rect", known(figure("fig3.6").cells)],
    ["fig3.3", ".bars rect", known(figure("fig3.3").cells)],
    ["fig3.2", "g.line path", 20],
    ["fig3.2", ".points circle", known(figure("fig3.2").cells)],
    ["heat", ".cells rect", known(figure("heat").cells)],
    ["fig3.1", ".dots circle", known(figure("fig3.1").cells) / 2],
    ["table", "tbody tr", 20],
  ]) {
    await showFigure(page, id);
    assert.equal(await count(page, id, selector), marks, `${id}: ${selector}`);
  }
  isQuiet(page);
});

test("bars are as high as their values, and the mean stands last", async () => {
  const page = await open();
  await showFigure(page, "fig3.10");
  const heights = await page.get(
    (e) =>
      [...document.getElementById(e).querySelectorAll(".bars rect")].map((r) =>
        Number(r.getAttribute("height")),
      ),
    elementId("fig3.10"),
  );
  // drawn row by row
  const { cells, columns } = figure("fig3.10");
  const rows = [...report.experiments[0].workloads.map((w) => w.name), null];
  const values = rows
    .flatMap((w) => columns.map((c) => cells.find((x) => (x.workload ?? null) === w && x.column === c).value))
    .filter((v) => v !== null);
  const scale = Math.max(...heights) / Math.max(...values.map(Math.abs));
  heights.forEach((h, i) =>
    assert.ok(Math.abs(h - Math.abs(values[i]) * scale) < 1, `bar ${i}: ${h} for ${values[i]}`),
  );
  assert.equal((await ticks(page, "fig3.10")).at(-1), "mean");
});

test("hovering says workload, column, value and the paper's", async () => {
  const page = await open();
  await showFigure(page, "fig3.10");
  // mm is the ninth workload; one bar before it is missing
  const { x, y } = await middle(page, "fig3.10", ".bars rect", 8 * 6 - 1 + 1);
  await page.mouse("mouseMoved", x, y);
  await page.until(
    (e) => document.getElementById(e).querySelector(".drawing [aria-label=tip] text"),
    elementId("fig3.10"),
  );
  const tip = (await texts(page, "fig3.10", ".drawing [aria-label=tip] text"))[0];
  const value = figure("fig3.10").cells.find((c) => c.workload === "mr-mm" && c.column === "L2").value;
  assert.match(tip, /mr-mm \(mm\), L2/);
  assert.ok(tip.includes(`${(value * 100).toFixed(1)}%`), tip);
  assert.match(tip, /paper: 266%/);
  isQuiet(page);
});

test("the filter takes a workload away, makes the mean again, and stays in the address", async () => {
  const page = await open();
  await showFigure(page, "fig3.10");
  const bars = await count(page, "fig3.10", ".bars rect");
  await checkbox(page, "cfd");
  await page.until(
    (e) => ![...document.getElementById(e).querySelectorAll("text")].some((t) => t.textContent === "cfd"),
    elementId("fig3.10"),
  );
  assert.equal(await count(page, "fig3.10", ".bars rect"), bars - 6);
  assert.equal((await ticks(page, "fig3.10")).at(-1), "mean of 18");
  const left = figure("fig3.10")
    .cells.filter((c) => c.column === "L1" && c.workload && c.workload !== "cfd")
    .map((c) => c.value);
  await press(page, "fig3.10", "Show the numbers");
  const mean = (await texts(page, "fig3.10", ".drawing tr.fixed td"))[0];
  assert.equal(mean, `${((left.reduce((a, b) => a + b, 0) / left.length) * 100).toFixed(1)}%`);
  const hash = await page.get(() => location.hash);
  assert.match(hash, /hide=cfd/);
  const again = await open({ hash });
  await showFigure(again, "fig3.10");
  assert.equal(await count(again, "fig3.10", "tbody tr"), 19);
  assert.equal(await again.get(() => document.querySelector('.filters input[value="cfd"]').checked), false);
  await showFigure(page, "fig3.2"); // a line keeps its colour: dwt2d is the third workload, now the second
  const stroke = (p, i) =>
    p.get(
      (e, n) => document.getElementById(e).querySelectorAll("g.line")[n].getAttribute("stroke"),
      elementId("fig3.2"),
      i,
    );
  const whole = await open();
  await showFigure(whole, "fig3.2");
  assert.equal(await stroke(page, 1), await stroke(whole, 2));
  isQuiet(page);
  isQuiet(again);
});

test("the search box narrows the list of workloads; None hides what it shows", async () => {
  const page = await open();
  await page.get(() => {
    document.querySelector(".filters details").open = true;
    const box = document.querySelector(".filters input[type=search]");
    box.value = "parboil";
    box.dispatchEvent(new Event("input"));
    [...document.querySelectorAll(".filters button")].find((b) => b.textContent === "None").click();
  });
  assert.match(
    await page.get(() => document.querySelector(".filters summary").textContent),
    /15 of 19 workloads/,
  );
  isQuiet(page);
});

test("the filter of machines takes columns away", async () => {
  const page = await open();
  await showFigure(page, "table");
  await checkbox(page, "fermi");
  await showFigure(page, "table");
  assert.deepEqual(await texts(page, "table", ".drawing thead th"), ["Workload", "maxwell"]);
  await showFigure(page, "fig3.10");
  assert.match((await texts(page, "fig3.10", ".drawing p"))[0], /leaves nothing/);
  isQuiet(page);
});

test("sorting by a column, by the control and by the table's head", async () => {
  const page = await open();
  await showFigure(page, "fig3.10");
  const cells = figure("fig3.10").cells.filter((c) => c.column === "DRAM" && c.workload);
  const label = new Map(report.experiments[0].workloads.map((w) => [w.name, w.as]));
  const down = [...cells]
    .sort((a, b) => (a.value === null) - (b.value === null) || b.value - a.value)
    .map((c) => label.get(c.workload));
  await page.get((e) => {
    const select = document.getElementById(e).querySelector("select");
    select.value = "DRAM|gain";
    select.dispatchEvent(new Event("change"));
  }, elementId("fig3.10"));
  assert.deepEqual((await ticks(page, "fig3.10")).slice(0, -1), down);
  await press(page, "fig3.10", "Show the numbers");
  const head = () =>
    page.get(
      (e) => document.getElementById(e).querySelectorAll(".drawing thead th")[3].getAttribute("aria-sort"),
      elementId("fig3.10"),
    );
  assert.equal(await head(), "descending");
  await page.get(
    (e) => document.getElementById(e).querySelectorAll(".drawing thead button")[3].click(),
    elementId("fig3.10"),
  );
  assert.equal(await head(), "ascending");
  const rows = await texts(page, "fig3.10", ".drawing tbody th");
  const unknown = down.at(-1); // what is not known stays last, either way
  assert.deepEqual(
    rows.slice(0, -1).map((r) => r.split(" ").at(-1)),
    [...down.slice(0, -1).reverse(), unknown],
  );
  assert.equal(rows.at(-1), "mean");
  isQuiet(page);
});

test("a click on a bar opens its run, and back comes back to the same place", async () => {
  const page = await open();
  await showFigure(page, "fig3.6");
  await page.get(() => scrollBy(0, -60));
  const before = await page.get(() => scrollY);
  const { x, y } = await middle(page, "fig3.6", ".bars rect", 0);
  await page.click(x, y);
  const run = report.runs.find((r) => r.key === figure("fig3.6").cells.find((c) => c.workload === "bfs").run);
  await page.until((k) => location.hash.startsWith(`#run/${k}`), run.key);
  await page.until(() => document.querySelector("#detail h2"));
  assert.equal(await page.get(() => document.querySelector("#detail h2").textContent), "bfs on fermi");
  assert.equal(await page.get(() => document.querySelectorAll("#detail .stack .bar").length), 4);
  assert.equal(
    await page.get(() => document.querySelectorAll("#detail .stack .bar")[0].children.length),
    run.stall.length,
  );
  assert.equal(
    await page.get(() => document.querySelectorAll("#detail .stack .bar")[3].children.length),
    run.energy.parts.length,
  );
  assert.match(
    await page.get(() => document.querySelectorAll("#detail .stack h3")[3].textContent),
    /^Energy: 120\.9 mJ, 91\.6\d? W with leakage \(gpuwattch\)$/,
  );
  const sides = run.sharing.length;
  assert.equal(
    await page.get(
      () => document.querySelectorAll('#detail svg[aria-label="who shares with whom"] .cells rect').length,
    ),
    sides * sides,
  );
  const heads = await page.get(() =>
    [...document.querySelectorAll("#detail th[scope=col]")].map((t) => t.textContent.trim()),
  );
  for (const column of ["Class", "Mostly by PC", "Used", "Late"])
    assert.ok(
      heads.some((t) => t.startsWith(column)),
      `no column ${column}`,
    );
  const charts = () => page.get(() => document.querySelectorAll("#detail .series g.line path").length);
  assert.equal(await charts(), 6);
  await page.get(() => {
    const select = document.querySelector("#detail select");
    select.value = "sm.other_f";
    select.dispatchEvent(new Event("change"));
  });
  assert.equal(await charts(), 7);
  assert.equal(
    await page.get(() => document.querySelectorAll("#detail .statistics tbody tr").length),
    Object.keys(run.stats).length,
  );
  assert.equal(
    await page.get(() => document.querySelector("#detail .command code").textContent),
    run.command,
  );
  await page.get(() => {
    const box = document.querySelector('#detail input[type="search"]');
    box.value = "l2. _13";
    box.dispatchEvent(new Event("input"));
  });
  assert.deepEqual(
    await page.get(() =>
      [...document.querySelectorAll("#detail .statistics tbody th")].map((t) => t.textContent),
    ),
    ["l2.sample_statistic_13"],
  );
  await page.get(() => history.back());
  await page.until(() => !document.getElementById("figures").hidden);
  assert.equal(await page.get(() => scrollY), before);
  isQuiet(page);
});

test("a run that failed, a run that is not there, texts that look like HTML", async () => {
  const failed = report.runs.find((r) => r.state === "failed");
  const page = await open({ hash: `#run/${failed.key}` });
  assert.equal(await page.get(() => document.querySelector("#detail pre").textContent), failed.error);
  const lost = await open({ hash: "#run/no-such-key" });
  assert.match(await lost.get(() => document.querySelector("#detail").textContent), /no run no-such-key/);
  const note = await open();
  assert.equal((await texts(note, "fig3.10", ".note"))[0], figure("fig3.10").note);
  [page, lost, note].forEach(isQuiet);
});

test("dark: by the system's wish, and by the switch", async () => {
  const colors = (page) =>
    page.get(() => [
      getComputedStyle(document.body).backgroundColor,
      document.querySelector(".bars rect").getAttribute("fill"),
    ]);
  const light = await open();
  await showFigure(light, "fig3.10");
  const dark = await open({ dark: true });
  await showFigure(dark, "fig3.10");
  const [a, b] = [await colors(light), await colors(dark)];
  assert.notEqual(a[0], b[0]);
  assert.notEqual(a[1], b[1]);
  await click(light, "#theme");
  assert.deepEqual(await colors(light), b);
  await click(light, "#theme");
  assert.deepEqual(await colors(light), a);
  [light, dark].forEach(isQuiet);
});

test("390 pixels are enough: nothing scrolls sideways but tables in their own frame", async () => {
  const run = report.runs[0].key;
  for (const hash of ["", `#run/${run}`, "#?table.thesis-fig3.10/fig3.10=1"]) {
    const page = await open({ width: 390, height: 15000, hash });
    if (!hash.startsWith("#run"))
      await page.until(() => [...document.querySelectorAll(".drawing")].every((d) => d.children.length));
    assert.equal(await page.get(() => document.documentElement.scrollWidth), 390, hash);
    isQuiet(page);
  }
});

test("controls have names, pictures have words, and each page one first heading", async () => {
  const page = await open({ height: 15000 });
  await page.until(() => [...document.querySelectorAll(".drawing")].every((d) => d.children.length));
  assert.deepEqual(
    await page.get(() =>
      [...document.querySelectorAll("button, select, input")]
        .filter(
          (e) =>
            !(e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label")?.textContent.trim()),
        )
        .map((e) => e.outerHTML),
    ),
    [],
  );
  assert.deepEqual(
    await page.get(
      () =>
        [...document.querySelectorAll(".drawing svg")].filter(
          (s) => s.getAttribute("role") !== "img" || !s.getAttribute("aria-label"),
        ).length,
    ),
    0,
  );
  assert.equal(await page.get(() => document.querySelectorAll("h1").length), 1);
});

test("odd figures are drawn: nothing run, one workload, none, all negative, all zero", async () => {
  const odd = makeOddReport();
  const at = write("odd.html", odd);
  for (const width of [1400, 390]) {
    const page = await open({ at, width, height: 30000 });
    await page.until(() => [...document.querySelectorAll(".drawing")].every((d) => d.children.length));
    const broken = await page.get(() =>
      [...document.querySelectorAll(".drawing svg")]
        .filter((s) => /NaN|Infinity/.test(s.outerHTML))
        .map((s) => s.closest("section").id),
    );
    assert.deepEqual(broken, []);
    assert.equal(await page.get(() => document.querySelectorAll(".drawing svg").length), 35);
    isQuiet(page);
  }
});

test("a large report opens: 500 runs of 300 statistics", async (t) => {
  const large = growTo(makeReport(300), 500);
  const at = write("large.html", large);
  const page = await open({ at });
  await showFigure(page, "fig3.10");
  assert.equal(await count(page, "fig3.10", ".bars rect"), known(figure("fig3.10").cells));
  const ms = await page.get(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  const megabytes = Math.round(readFileSync(join(folder, "large.html")).length / 1e6);
  t.diagnostic(`${megabytes} MB, load event after ${Math.round(ms)} ms`);
  isQuiet(page);
});

test("every figure as an SVG file that a browser reads", { skip: !figures }, async () => {
  const json = join(folder, "report.json"),
    out = join(folder, "svg");
  writeFileSync(json, JSON.stringify(report));
  execFileSync(process.execPath, [figures, json, out]);
  assert.deepEqual(readdirSync(out).sort(), [
    "thesis-fig3.10.svg",
    "thesis-fig3.2-fig3.1.svg",
    "thesis-fig3.2-heat.svg",
    "thesis-fig3.2.svg",
    "thesis-fig3.6-fig3.3.svg",
    "thesis-fig3.6.svg",
  ]);
  for (const [file, selector, marks] of [
    ["thesis-fig3.10.svg", ".bars rect", known(figure("fig3.10").cells)],
    ["thesis-fig3.2.svg", ".points circle", known(figure("fig3.2").cells)],
    ["thesis-fig3.2-heat.svg", ".cells rect", known(figure("heat").cells)],
  ]) {
    const page = await open({ at: pathToFileURL(join(out, file)).href });
    assert.equal(await page.get((s) => document.querySelectorAll(s).length, selector), marks, file);
    assert.equal(await page.get(() => document.documentElement.style.background), "white");
    isQuiet(page);
  }
});
