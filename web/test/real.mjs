// real.mjs PAGE.html: opens a page that `heddle report` wrote: every figure is drawn, a run's page opens,
// nothing is said on the console and nobody is asked for anything. Exit 77: there is no Chromium.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, findChromium } from "./browser.mjs";

const chromium = findChromium();
if (!chromium) {
  console.log("SKIPPED: Chromium is not installed (Debian: chromium)");
  process.exit(77);
}
assert.ok(existsSync(process.argv[2]), `${process.argv[2]} is not there`);
const browser = await Browser.start(chromium);
try {
  const page = await browser.page({ width: 1200, height: 15000 });
  await page.open(pathToFileURL(resolve(process.argv[2])).href);
  const data = JSON.parse(await page.get(() => document.getElementById("data").textContent));
  await page.until(() => [...document.querySelectorAll(".drawing")].every((d) => d.children.length));
  const figures = data.experiments.flatMap((e) =>
    e.figures.map((f) => ({ ...f, drawnId: `at/${e.name}/${f.id}` })),
  );
  assert.ok(figures.length > 0 && data.runs.length > 0);
  for (const f of figures.filter((x) => x.draw === "bars")) {
    const bars = await page.get(
      (id) => document.getElementById(id).querySelectorAll(".bars rect").length,
      f.drawnId,
    );
    assert.equal(bars, f.cells.filter((c) => c.value !== null).length, f.drawnId);
  }
  for (const run of data.runs) {
    await page.get((key) => void (location.hash = `#run/${key}`), run.key);
    await page.until((key) => document.querySelector("#detail")?.textContent.includes(key), run.key);
    const stacks = await page.get(() => document.querySelectorAll("#detail .stack").length);
    assert.equal(
      stacks,
      run.state === "done"
        ? [run.stall, run.l1_stall, run.l2_stall, run.energy?.parts ?? []].filter((s) => s.length).length
        : 0,
      run.key,
    );
  }
  assert.deepEqual(page.errors, []);
  assert.deepEqual(
    page.requests.filter((r) => !/^(file|data|blob):/.test(r)),
    [],
  );
  console.log(`${figures.length} figures and ${data.runs.length} runs in the browser`);
} finally {
  await browser.stop();
}
