// Line charts over updates. A chart is drawn for its width, and shows the values at the page's cursor in its legend.
const HEIGHT = 200, MARGIN = { left: 46, right: 10, top: 10, bottom: 24 };
const charts = []; // all that follow the cursor: {draw(), show(update)}

// 1, 2 or 5 times a power of ten: a step that makes about `wanted` of them.
function niceStep(span, wanted) {
  const raw = span / wanted, power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
}

function linearTicks([low, high], wanted) {
  const step = niceStep(high - low || 1, wanted), ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks([low, high], wanted) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
    for (const factor of [1, 2, 5]) ticks.push(Number((factor * 10 ** e).toPrecision(3)));
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  if (inside.length < 2) return linearTicks([low, high], wanted);
  if (inside.length <= wanted + 2) return inside;
  const powers = inside.filter((tick) => /^10*$|^0\.0*1$|^1e/.test(String(tick)));
  const every = Math.ceil(powers.length / wanted);
  return powers.filter((_, i) => i % every === 0);
}

// The range of an axis: the values', a little wider, or from zero.
function rangeOf(values, { log, zero }) {
  let low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  if (log) return low === high ? [low / 1.5, high * 1.5] : [low / (high / low) ** 0.04, high * (high / low) ** 0.04];
  if (zero) low = Math.min(0, low);
  if (low === high) return [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
  return [zero ? low : low - (high - low) * 0.05, high + (high - low) * 0.05];
}

function scale([low, high], from, to, log = false) {
  const f = log ? Math.log : (value) => value;
  return (value) => from + ((f(value) - f(low)) / (f(high) - f(low))) * (to - from);
}

// Where in a sorted list of updates the nearest to one stands; the earlier of two.
function nearestIndex(updates, update) {
  let low = 0, high = updates.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (updates[middle] <= update) low = middle;
    else high = middle;
  }
  return Math.abs(updates[high] - update) < Math.abs(updates[low] - update) ? high : low;
}

const nearest = (points, update) => points[nearestIndex(points.map((p) => p.update), update)];

// {title, series: [{name, color, dashed, dots, points: [{update, value}]}], format, log, zero}; null where there is
// nothing to draw.
function lineChart(options) {
  const series = options.series.filter((s) => s.points.length > 0);
  if (series.length === 0) return null;
  const values = series.map(() => html("b", {}));
  const legend = series.map((s, i) => html("li", { class: classOf(s) }, html("i", {}), s.name, " ", values[i]));
  const at = html("span", { class: "at" });
  const plot = html("div", { class: "plot" });
  const chart = { ...options, series, values, at, plot, updates: updatesOf(series) };
  chart.node = html("figure", { class: "chart" },
    html("figcaption", {}, html("h3", {}, options.title, " ", at), html("ul", {}, ...legend)), plot);
  chart.draw = () => drawChart(chart);
  chart.show = (update) => showValues(chart, update);
  charts.push(chart);
  return chart;
}

const classOf = (s) => (s.dashed ? `${s.color} dashed` : s.color);

const updatesOf = (series) =>
  [...new Set(series.flatMap((s) => s.points.map((p) => p.update)))].sort((a, b) => a - b);

function drawChart(chart) {
  const width = chart.plot.clientWidth;
  const ys = chart.series.flatMap((s) => s.points.map((p) => p.value)), yRange = rangeOf(ys, chart);
  chart.x = scale(xRange, MARGIN.left, width - MARGIN.right);
  chart.y = scale(yRange, HEIGHT - MARGIN.bottom, MARGIN.top, chart.log);
  chart.cursor = svg("g", { class: "cursor" });
  chart.svg = svg("svg", { width, height: HEIGHT, tabindex: 0, role: "slider", "aria-label": chart.title },
    ...drawAxes(chart, width, (chart.log ? logTicks : linearTicks)(yRange, 5)),
    ...chart.series.map((s) => drawSeries(chart, s)), chart.cursor);
  follow(chart.svg, chart.x, chart.updates);
  chart.plot.replaceChildren(chart.svg);
}

function drawAxes(chart, width, ticks) {
  const rows = ticks.map((tick) => svg("g", { transform: `translate(0 ${chart.y(tick)})` },
    svg("line", { x1: MARGIN.left, x2: width - MARGIN.right }),
    svg("text", { x: MARGIN.left - 7, dy: "0.32em", "text-anchor": "end" }, axisNumber(tick))));
  return [...rows, ...drawUpdates(chart.x, width, HEIGHT)];
}

const drawUpdates = (x, width, height) => linearTicks(xRange, width < 420 ? 4 : 6).map((tick) =>
  svg("text", { x: x(tick), y: height - 6, "text-anchor": "middle" }, axisNumber(tick)));

const axisNumber = (value) => (Math.abs(value) >= 10000 ? `${Number((value / 1000).toPrecision(6))}k` : digits(value));

function drawSeries(chart, s) {
  const place = (p) => `${chart.x(p.update).toFixed(1)},${chart.y(p.value).toFixed(1)}`;
  const line = svg("polyline", { points: s.points.map(place).join(" ") });
  const dots = s.dots || s.points.length === 1 ? s.points.slice(-60).map((p) => dot(chart, p)) : [];
  return svg("g", { class: `series ${classOf(s)}` }, line, ...dots);
}

const dot = (chart, p, r = 2.5) => svg("circle", { cx: chart.x(p.update), cy: chart.y(p.value), r });

// What a screen reader says of a chart or map.
function describe(element, update, text) {
  const [low, high] = xRange;
  fill(element, { "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": update, "aria-valuetext": text }, []);
}

// Legend and marks at an update; with null, the last values and no marks.
function showValues(chart, update) {
  const points = chart.series.map((s) => (update === null ? last(s.points) : nearest(s.points, update)));
  const texts = points.map((p) => chart.format(p.value)), at = update ?? last(chart.updates);
  texts.forEach((text, i) => { chart.values[i].textContent = text; });
  chart.at.textContent = update === null ? "" : `update ${count(update)}`;
  describe(chart.svg, at, `update ${at}: ${chart.series.map((s, i) => `${s.name} ${texts[i]}`).join(", ")}`);
  if (update === null) return chart.cursor.replaceChildren();
  const x = chart.x(update);
  chart.cursor.replaceChildren(svg("line", { x1: x, x2: x, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }),
    ...points.map((p, i) => svg("g", { class: chart.series[i].color }, dot(chart, p, 3.5))));
}

// The update that all charts show, or null.
let cursor = null;

function setCursor(update) {
  cursor = update;
  for (const chart of charts) chart.show(update);
}

// The cursor follows the pointer and the arrow keys over an element drawn with scale x.
function follow(element, x, updates) {
  const [low, high] = xRange;
  const point = (event) => {
    const place = event.clientX - element.getBoundingClientRect().left;
    const update = low + ((place - x(low)) / (x(high) - x(low))) * (high - low);
    setCursor(updates[nearestIndex(updates, update)]);
  };
  element.addEventListener("pointermove", point);
  element.addEventListener("pointerdown", point);
  element.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") setCursor(null); });
  element.addEventListener("blur", () => setCursor(null));
  element.addEventListener("keydown", (event) => moveByKey(event, updates));
}

const KEY_STEPS = {
  ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity,
};

function moveByKey(event, updates) {
  if (event.key === "Escape") return setCursor(null);
  const step = KEY_STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const from = cursor === null ? updates.length : nearestIndex(updates, cursor);
  setCursor(updates[Math.min(updates.length - 1, Math.max(0, from + step))]);
}
