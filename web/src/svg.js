// svg.js: `heddle report --svg` runs this under node: node figures.cjs REPORT.json FOLDER. Each figure
// becomes a file with the name of its experiment and its own, drawn by the page's code for print: white
// ground, black ink.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { Report } from "./data.js";
import { canDraw, draw } from "./draw/index.js";
import { themes } from "./theme.js";
import { toXml } from "./xml.js";

const WIDTH = 760; // the text width of a page at this size has 12-pixel letters of about 8 points
const EVERYTHING = { hidden: new Set(), machines: new Set() };

/** thesis-fig3.10 has fig3.10: that is said once. */
function fileName({ experiment, figure }) {
  const name = experiment.name.endsWith(figure.id) ? experiment.name : `${experiment.name}-${figure.id}`;
  return `${name.replace(/[^\w.+-]/g, "_")}.svg`;
}

/** The file is complete, or is not there. */
function writeWhole(path, text) {
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, text);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    console.error(`heddle: error: cannot write ${path}: ${error.message}`);
    process.exit(1);
  }
}

const [, , input, folder] = process.argv;
const report = new Report(JSON.parse(readFileSync(input, "utf8")));
const { document } = parseHTML("<!doctype html><html><body></body></html>");
mkdirSync(folder, { recursive: true });
for (const source of report.figures) {
  if (!canDraw(source.figure)) {
    console.log(`${source.key}: a table, no picture`);
    continue;
  }
  const svg = draw(source.view(EVERYTHING, null), {
    width: WIDTH,
    theme: themes.paper,
    interactive: false,
    document,
    background: "white",
    label: source.figure.title,
  });
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const path = join(folder, fileName(source));
  writeWhole(path, `<?xml version="1.0" encoding="UTF-8"?>\n${toXml(svg)}\n`);
  console.log(path);
}
