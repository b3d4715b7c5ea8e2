// build.mjs [--out FOLDER]: makes report.html (one file: script and style inside, a place for the data) and
// figures.cjs (the same drawing code for node).
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const source = (name) => join(here, "src", name);
const at = process.argv.indexOf("--out");
const out = at > 0 ? process.argv[at + 1] : join(here, "dist");

const shared = {
  bundle: true,
  minify: true,
  write: false,
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
};

/** The licences of the packages that ended in a bundle: they ask to be kept with it. */
function licences(metafile) {
  const folders = new Set();
  for (const file of Object.keys(metafile.inputs)) {
    const found = file.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
    if (found) folders.add(found[1]);
  }
  const texts = new Map(); // the same text once, with all of its packages
  for (const folder of [...folders].sort()) {
    const file = readdirSync(folder).find((f) => /^licen[sc]e/i.test(f));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : licenceName(folder);
    texts.set(text, [...(texts.get(text) ?? []), folder.replace(/^.*node_modules\//, "")]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}:\n${text}`).join("\n\n");
}

/** Of a package without such a file. */
function licenceName(folder) {
  const { license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!license) throw new Error(`${folder} has no licence`);
  return `${license} licence, ${typeof author === "string" ? author : (author?.name ?? "its authors")}`;
}

/** A file is there whole or not at all. */
function write(name, text) {
  writeFileSync(join(out, `${name}.new`), text);
  renameSync(join(out, `${name}.new`), join(out, name));
}

const page = await esbuild.build({
  ...shared,
  entryPoints: [source("main.js")],
  format: "iife",
  target: ["chrome100", "firefox100", "safari15"],
});
const style = await esbuild.build({ ...shared, entryPoints: [source("style.css")] });
const node = await esbuild.build({
  ...shared,
  entryPoints: [source("svg.js")],
  format: "cjs",
  platform: "node",
  target: "node18",
  external: ["canvas"],
});

const inserts = {
  "@STYLE@": style.outputFiles[0].text.trim(),
  "@SCRIPT@": page.outputFiles[0].text.replaceAll("</script", "<\\/script").trim(),
  "@LICENCES@": licences(page.metafile).replaceAll("--", "- -"),
};
let html = readFileSync(source("template.html"), "utf8");
for (const [marker, text] of Object.entries(inserts)) html = html.replace(marker, () => text);
if (html.split("@HEDDLE-DATA@").length !== 2) throw new Error("the page must have exactly one @HEDDLE-DATA@");

mkdirSync(out, { recursive: true });
write("report.html", html);
write(
  "figures.cjs",
  `/*\n${licences(node.metafile).replaceAll("*/", "* /")}\n*/\n${node.outputFiles[0].text}`,
);
console.log(`${join(out, "report.html")}: ${Math.round(html.length / 1024)} KiB`);
