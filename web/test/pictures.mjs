// pictures.mjs PAGE.html FOLDER [SVG-FOLDER]: screenshots of the page, and of SVG files, for people to look
// at.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, findChromium } from "./browser.mjs";

const [, , page, folder, svgs] = process.argv;
const url = pathToFileURL(resolve(page)).href;
mkdirSync(folder, { recursive: true });
const browser = await Browser.start(findChromium());
const PIECE = 1450; // pixels; a picture of all of it would be too small to see anything
const settle = () => new Promise((done) => setTimeout(done, 400));

async function shoot(name, { width, dark, hash = "" }) {
  const p = await browser.page({ width, height: 900, dark });
  await p.open(url + hash);
  const height = await p.get("document.documentElement.scrollHeight");
  await p.size(width, Math.min(12000, height + 4000)); // so that everything is near the window, and drawn
  await settle();
  const whole = Math.min(
    height + 4000,
    await p.get("Math.ceil(document.body.getBoundingClientRect().height)"),
  );
  for (let y = 0; y < whole; y += PIECE)
    await p.screenshot(join(folder, `${name}-${y / PIECE}.png`), {
      x: 0,
      y,
      width,
      height: Math.min(PIECE, whole - y),
    });
  if (p.errors.length) console.log(name, p.errors);
}

const p = await browser.page({ width: 1400, height: 900 });
await p.open(url);
const run = await p.get(`JSON.parse(document.getElementById("data").textContent).runs[0].key`);
await shoot("light", { width: 1400 });
await shoot("dark", { width: 1400, dark: true });
await shoot("narrow", { width: 390 });
await shoot("run", { width: 1400, hash: `#run/${run}` });
await shoot("run-narrow-dark", { width: 390, dark: true, hash: `#run/${run}` });
for (const file of svgs && existsSync(svgs) ? readdirSync(svgs) : []) {
  const s = await browser.page({ width: 800, height: 640 });
  await s.open(pathToFileURL(resolve(svgs, file)).href);
  await s.screenshot(join(folder, `${file}.png`));
}
await browser.stop();
