// A heat map of the layers: a column for each "norms" line, a row for each group of tensors, in order of computation.
const ROW = 17;
const MEASURES = { gradient: "gradient norm", weight: "weight norm", ratio: "update / weight" };

function heatMap(lines) {
  const map = { lines, names: lines[0].groups.map((g) => g.name), updates: lines.map((l) => l.update), row: 0 };
  map.draw = () => drawMap(map);
  map.show = (update) => showCell(map, update);
  const measures = Object.keys(MEASURES).filter((key) => valuesOf(map, key).length > 0);
  if (measures.length === 0) return;
  map.measure = measures[0];
  map.buttons = measures.map((key) => measureButton(map, key));
  byId("norms-choices").append(...map.buttons);
  byId("norms").hidden = false;
  charts.push(map);
}

const valuesOf = (map, measure) =>
  map.lines.flatMap((l) => l.groups.map((g) => g[measure])).filter((value) => isNumber(value) && value > 0);

function measureButton(map, key) {
  const button = html("button", { type: "button", "aria-pressed": key === map.measure }, MEASURES[key]);
  button.addEventListener("click", () => {
    map.measure = key;
    map.buttons.forEach((b) => b.setAttribute("aria-pressed", b === button));
    map.draw();
    map.show(cursor);
  });
  return button;
}

// "decoder.0.encoder_attn" in the words of a narrow page.
const shortName = (name) => name.replace("encoder.", "enc ").replace("decoder.", "dec ").replace("embeddings", "emb")
  .replace(/(\d)\./, "$1 ").replace("_attn", "");

function drawMap(map) {
  const width = byId("norms-map").clientWidth, narrow = width < 560, left = narrow ? 92 : 156;
  const values = valuesOf(map, map.measure), range = rangeOf(values, { log: true });
  const height = map.names.length * ROW + 26;
  map.x = scale(xRange, left, width - MARGIN.right);
  map.opacity = scale(range, 0.04, 1, true);
  map.cursor = svg("g", { class: "cursor" });
  const labels = map.names.map((name, row) => svg("text",
    { x: left - 7, y: (row + 0.5) * ROW, dy: "0.32em", "text-anchor": "end" }, narrow ? shortName(name) : name));
  const body = svg("svg",
    { width, height, tabindex: 0, role: "slider", class: "heat", "aria-label": "Norms by layer" },
    ...labels, ...map.lines.flatMap((_, column) => drawColumn(map, column)),
    ...drawUpdates(map.x, width, height), map.cursor);
  followRows(map, body);
  follow(body, map.x, map.updates);
  map.svg = body;
  byId("norms-map").replaceChildren(body);
  byId("norms-least").textContent = digits(values.reduce((a, b) => Math.min(a, b)));
  byId("norms-most").textContent = digits(values.reduce((a, b) => Math.max(a, b)));
}

// A column takes the updates that are nearer to its own than to another.
function columnEdges(map, column) {
  const between = (i) => (map.updates[i - 1] + map.updates[i]) / 2;
  return [column > 0 ? map.x(between(column)) : map.x(xRange[0]),
    column + 1 < map.updates.length ? map.x(between(column + 1)) : map.x(xRange[1])];
}

function drawColumn(map, column) {
  const [from, to] = columnEdges(map, column);
  return map.names.flatMap((_, row) => {
    const value = map.lines[column].groups[row]?.[map.measure];
    if (!isNumber(value) || value <= 0) return [];
    const width = Math.max(1, to - from + 0.3).toFixed(1), opacity = map.opacity(value).toFixed(3);
    return [svg("rect", { x: from.toFixed(1), y: row * ROW, width, height: ROW - 1, "fill-opacity": opacity })];
  });
}

// The pointer, and the up and down arrows, choose a row.
function followRows(map, body) {
  const choose = (row) => { map.row = Math.min(map.names.length - 1, Math.max(0, row)); };
  const fromPointer = (event) => choose(Math.floor((event.clientY - body.getBoundingClientRect().top) / ROW));
  body.addEventListener("pointermove", fromPointer);
  body.addEventListener("pointerdown", fromPointer);
  body.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    choose(map.row + step);
    setCursor(cursor ?? last(map.updates));
  });
}

function showCell(map, update) {
  const column = nearestIndex(map.updates, update ?? last(map.updates));
  const value = digits(map.lines[column].groups[map.row]?.[map.measure]);
  const text = `update ${count(map.updates[column])} · ${map.names[map.row]} · ${value}`;
  byId("norms-readout").textContent = update === null ? "" : text;
  describe(map.svg, map.updates[column], text);
  if (update === null) return map.cursor.replaceChildren();
  const [from, to] = columnEdges(map, column);
  const width = Math.max(2, to - from);
  map.cursor.replaceChildren(svg("rect", { x: from, y: map.row * ROW, width, height: ROW - 1 }));
}
