// The page: what of the data goes where.
const { run, train, valid, norms, average } = data;
const best = valid.findLast((v) => v.best === true);
const latest = last(valid);
const averaged = last(average);
// That of the weights in model.safetensors. Without validation data nothing was measured with an average.
const measured = averaged?.best && isNumber(averaged.nll) ? averaged : best;
const xRange = updateRange([...train, ...valid, ...norms]);

function updateRange(lines) {
  const updates = lines.map((l) => l.update);
  const low = updates.reduce((a, b) => Math.min(a, b), Infinity), high = updates.reduce((a, b) => Math.max(a, b), 0);
  return low < high ? [low, high] : [0, high || 1];
}

// A logarithmic axis takes positive values only.
const pointsOf = (lines, key, positive = false) => lines.map((l) => ({ update: l.update, value: l[key] }))
  .filter((p) => isNumber(p.value) && (!positive || p.value > 0));

const ofTrain = (name, key, more = {}) =>
  ({ name, color: "train", points: pointsOf(train, key, more.positive), ...more });
const ofValid = (name, key, more = {}) =>
  ({ name, color: "valid", dots: true, points: pointsOf(valid, key, more.positive), ...more });

// The configuration is an INI text: {section: [[key, value], ...]}.
function readConfiguration(text) {
  const sections = {};
  let section = [];
  for (const line of text.split("\n")) {
    const head = /^\[(.*)\]$/.exec(line), entry = /^(\w+) =(.*)$/.exec(line);
    if (head) sections[head[1]] = section = [];
    else if (entry) section.push([entry[1], entry[2].trim()]);
  }
  return sections;
}
const configuration = readConfiguration(run.config);
const setting = (section, key) => configuration[section]?.find(([name]) => name === key)?.[1];

function showHead() {
  const limit = Number(setting("train", "updates"));
  const epoch = Math.max(last(train)?.epoch ?? 0, latest?.epoch ?? 0);
  byId("title").textContent = run.directory;
  document.title = `${run.directory}: training report`;
  byId("status").textContent = [run.status, `update ${count(run.update)}${limit > 0 ? ` of ${count(limit)}` : ""}`,
    ...(epoch > 0 ? [`epoch ${epoch}`] : []), `${duration(run.seconds)} of training`,
    `written ${run.written}`].join(" · ");
}

// Of model.safetensors; without validations, of the last logged updates.
function showFigures() {
  const line = measured ?? latest ?? last(train) ?? {};
  const scores = [["BLEU", fixed(1)(line.bleu)], ["chrF", fixed(1)(line.chrf)],
    ["exact match", `${fixed(1)(line.exact_match)} %`]];
  const speed = median(pointsOf(train, "tgt_tokens_per_s").map((p) => p.value));
  const figures = [...(latest ? scores : []), ["perplexity", fixed(2)(line.ppl)],
    ["nll, nats a token", fixed(4)(line.nll)], ["target tokens/s", count(speed)]];
  const source = !measured ? (latest ? "Last validation" : "Training")
    : measured === best ? "Best validation" : "Averaged weights";
  byId("figures").append(...figures.map(([name, value]) =>
    html("div", {}, html("dt", {}, name), html("dd", {}, value))));
  byId("figures").after(
    html("p", { class: "hint" }, `${source}, update ${count(line.update)}; speed: the median of the run.`));
}

function showCurves() {
  const positive = { positive: true }, dashed = { positive: true, dashed: true };
  const all = [
    { title: "Loss", format: fixed(4), log: true, series: [
      ofTrain("train", "loss", positive), ofValid("valid", "loss", positive),
      ofTrain("train nll", "nll", dashed), ofValid("valid nll", "nll", dashed)] },
    { title: "Perplexity", format: fixed(2), log: true, series: [
      ofTrain("train", "ppl", positive), ofValid("valid", "ppl", positive)] },
    { title: "Translation scores", format: fixed(1), series: [
      ofValid("BLEU", "bleu"), ofValid("chrF", "chrf", { color: "third" }),
      ofValid("exact match", "exact_match", { color: "train" })] },
    { title: "Learning rate", format: digits, zero: true, series: [ofTrain("rate", "lr")] },
    { title: "Gradient norm", format: digits, log: true, series: [ofTrain("before clipping", "grad_norm", positive)] },
    { title: "Speed", format: count, zero: true, series: [ofTrain("target tokens/s", "tgt_tokens_per_s")] },
  ].map(lineChart).filter((chart) => chart !== null);
  byId("curves").append(...all.map((chart) => chart.node));
  if (all.length === 0) byId("curves").append(html("p", {}, "Nothing has been logged yet."));
}

const bucketName = (b) => (b.to === null ? `${b.from} and more` : `${b.from}–${b.to}`);

// A bar as long as its share of `most`, in the colour of the class.
const bar = (value, most, name) =>
  html("i", { class: `length ${name}`, style: `width: ${isNumber(value) ? (100 * value) / most : 0}%` });

const hasBuckets = (v) => v?.buckets?.length > 0;

// The last validation, and the best where that is another one.
function showLengths() {
  const now = valid.findLast(hasBuckets), then = hasBuckets(best) && best !== now ? best : null;
  if (!now) return;
  const ofBest = (b) => then?.buckets.find((other) => other.from === b.from)?.nll;
  const most = now.buckets.flatMap((b) => [b.nll, ofBest(b)]).filter(isNumber).reduce((a, b) => Math.max(a, b), 0);
  const bars = (b) => html("div", { class: "bars" }, bar(b.nll, most, "valid"),
    ...(then ? [bar(ofBest(b), most, "third")] : []));
  const rows = now.buckets.map((b) => [bucketName(b), count(b.pairs), count(b.tokens), fixed(4)(b.nll),
    ...(then ? [fixed(4)(ofBest(b))] : []), bars(b)]);
  const head = ["source", "pairs", "target tokens", ...(then ? ["last", "best"] : ["nll"]), ""];
  const which = then ? `, and the best, update ${count(then.update)}` : best === now ? ", the last and the best" : "";
  byId("lengths-hint").textContent =
    `Nats a target token (nll), by the source's length in tokens; update ${count(now.update)}${which}.`;
  byId("lengths-table").append(table(head, rows));
  byId("lengths").hidden = false;
}

function showAverage() {
  if (!averaged) return;
  const snapshots = Array.isArray(averaged.snapshots) ? averaged.snapshots.map(count).join(", ") : MISSING;
  const row = (name, line) =>
    [name, fixed(4)(line.nll), fixed(2)(line.ppl), fixed(1)(line.bleu), fixed(1)(line.chrf)];
  const rows = [row("average", averaged), ...(best ? [row("best validation", best)] : [])];
  byId("average-table").append(table(["weights", "nll", "ppl", "BLEU", "chrF"], rows),
    html("p", { class: "hint" }, `Mean of the weights after updates ${snapshots}.`));
  byId("average").hidden = false;
}

function showCorpus() {
  const rows = [["pairs", (c) => c.pairs], ["kept", (c) => c.kept], ["empty side", (c) => c.empty_side],
    ["too long", (c) => c.too_long], ["over max_ratio", (c) => c.over_max_ratio], ["duplicate", (c) => c.duplicate],
    ["source tokens", (c) => c.source.tokens], ["longest source", (c) => c.source.longest],
    ["target tokens", (c) => c.target.tokens], ["longest target", (c) => c.target.longest],
    ["characters in byte tokens", (c) => c.source.in_bytes + c.target.in_bytes]];
  byId("corpus").append(table(["", ...run.corpora.map((c) => c.name)],
    rows.map(([name, of]) => [name, ...run.corpora.map((c) => count(of(c)))])));
}

function showConfiguration() {
  const entry = ([key, value]) => [html("dt", {}, key), html("dd", {}, value || MISSING)];
  byId("configuration").append(...Object.entries(configuration).map(([name, entries]) =>
    html("div", {}, html("h3", {}, name), html("dl", {}, ...entries.flatMap(entry)))));
  byId("footer").textContent = [`Tandem ${run.version}`,
    `${count(run.parameters)} parameters in ${count(run.tensors)} tensors`,
    `${run.machine}, BLAS kernel ${run.blas_kernel}`].join(" · ");
}

function drawAll() {
  for (const chart of charts) chart.draw();
  setCursor(cursor);
}

showHead();
showFigures();
showCurves();
const layers = norms.filter((l) => Array.isArray(l.groups) && l.groups.length > 0);
if (layers.length > 0) heatMap(layers);
showLengths();
samplesView(valid.filter((v) => v.samples?.length > 0));
showAverage();
showCorpus();
showConfiguration();

let drawnWidth = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === drawnWidth) return;
  drawnWidth = document.body.clientWidth;
  drawAll();
}).observe(document.body);
