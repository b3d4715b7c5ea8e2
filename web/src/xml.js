// xml.js: a drawing as XML. Under node the drawing is made in an HTML document, whose own text leaves < and &
// of attributes as they are.
const NAMED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const ELEMENT = 1,
  TEXT = 3;

// What XML 1.0 has no way to write: control characters and lone surrogates.
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escaped = (text) =>
  String(text)
    .replace(CONTROL, "\ufffd")
    .replace(LONE_SURROGATE, "\ufffd")
    .replace(/[&<>"]/g, (c) => NAMED[c]);

/** The element and all in it, as text. Comments and the like are left out. */
export function toXml(node) {
  if (node.nodeType === TEXT) return escaped(node.data ?? node.textContent);
  if (node.nodeType !== ELEMENT) return "";
  const attributes = [...node.attributes].map(({ name, value }) => ` ${name}="${escaped(value)}"`).join("");
  const inside = [...node.childNodes].map(toXml).join("");
  const name = node.localName ?? node.nodeName;
  return inside ? `<${name}${attributes}>${inside}</${name}>` : `<${name}${attributes}/>`;
}
