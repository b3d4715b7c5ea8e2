// data.mjs REPORT.html TITLE: the data of a page is JSON that no text can end, and has a figure of this
// title.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [, , path, title] = process.argv;
const page = readFileSync(path, "utf8");
const begin = page.indexOf('{"schema":');
const end = page.indexOf("</script>", begin);
assert.ok(begin > 0 && end > begin);
const data = page.slice(begin, end);
assert.ok(!data.includes("<"), "a < in the data");
const titles = JSON.parse(data).experiments.flatMap((e) => e.figures.map((f) => f.title));
assert.ok(titles.includes(title), titles.join());
