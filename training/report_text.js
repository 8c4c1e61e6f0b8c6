// Elements, numbers as text, and the data of the page.
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
const html = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const MISSING = "–";

const count = (value) => (isNumber(value) ? value.toLocaleString("en-US", { maximumFractionDigits: 0 }) : MISSING);
const fixed = (digits) => (value) => (isNumber(value) ? value.toFixed(digits) : MISSING);

// Four digits, whatever the size: 0.004, 12.35, 3.664e-5.
function digits(value) {
  if (!isNumber(value)) return MISSING;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(4)));
}

// As log_duration does.
function duration(seconds) {
  const s = Math.round(seconds), two = (value) => String(value).padStart(2, "0");
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  return `${Math.floor(s / 3600)}h${two(Math.floor((s % 3600) / 60))}m`;
}

const last = (list) => list[list.length - 1];

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

// A table from its head and rows of cells; a cell is text or an element. All columns but the first are numbers.
function table(head, rows) {
  const cells = (name, row) => row.map((cell, i) => html(name, { class: i === 0 ? "words" : "number" }, cell));
  return html("div", { class: "scroll" }, html("table", {},
    html("thead", {}, html("tr", {}, ...cells("th", head))),
    html("tbody", {}, ...rows.map((row) => html("tr", {}, ...cells("td", row))))));
}

const data = JSON.parse(byId("data").textContent);
