// xml.mjs FILE.svg TITLE: the file is well-formed XML (elements, attributes, text; no comments and no CDATA),
// and its title is TITLE.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [, , path, title] = process.argv;
const NAME = "[A-Za-z_][\\w.:-]*";
const ENTITY = /&(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);/g;
const PLAIN = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };

/** Text without markup; what is neither a character nor an entity is an error. */
function unescaped(text) {
  assert.ok(!text.replace(ENTITY, "").match(/[<&]/), `not escaped: ${text.slice(0, 80)}`);
  return text.replace(ENTITY, (e) => PLAIN[e] ?? e);
}

function attributesOf(text) {
  const found = new Map();
  const rest = text.replace(new RegExp(`\\s+(${NAME})="([^"<]*)"`, "g"), (_, name, value) => {
    assert.ok(!found.has(name), `${name} twice`);
    found.set(name, unescaped(value));
    return "";
  });
  assert.equal(rest.trim(), "", `not attributes: ${rest}`);
  return found;
}

const source = readFileSync(path, "utf8");
const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
assert.ok(source.startsWith(head));
const open = [];
let root = null,
  at = head.length;
const tag = new RegExp(`<(/?)(${NAME})((?:[^"<>]|"[^"]*")*?)(/?)>`, "y");
while (at < source.length) {
  const next = source.indexOf("<", at);
  const text = source.slice(at, next < 0 ? source.length : next);
  if (open.length) unescaped(text);
  else assert.equal(text.trim(), "", "text outside of the root");
  if (next < 0) break;
  tag.lastIndex = next;
  const [all, end, name, inside, empty] =
    tag.exec(source) ?? assert.fail(`not a tag: ${source.slice(next, next + 80)}`);
  if (end) assert.equal(open.pop(), name, `</${name}>`);
  else {
    const attributes = attributesOf(inside);
    assert.ok(root === null || open.length, "two roots");
    root ??= attributes;
    if (!empty) open.push(name);
  }
  at = next + all.length;
}
assert.deepEqual(open, [], "elements that are not closed");
assert.equal(root.get("aria-label"), title);
assert.equal(root.get("xmlns"), "http://www.w3.org/2000/svg");
