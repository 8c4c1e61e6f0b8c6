// Translations of the same sentences at one validation after another, with what changed since the one before.
const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

// Words, and what stands between them: together the whole text.
const wordsOf = (text) =>
  (segmenter ? Array.from(segmenter.segment(text), (s) => s.segment) : text.match(/\s+|\S+/g) ?? []);

// Length of the longest common subsequence of a[i..] and b[j..], for all i and j.
function commonLengths(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  return lengths;
}

// What leads from one text to the other: [{kind: "same" | "del" | "ins", text}], with neighbours of a kind joined.
function difference(before, after) {
  const a = wordsOf(before), b = wordsOf(after), lengths = commonLengths(a, b), parts = [];
  const add = (kind, text) => {
    if (parts.length > 0 && last(parts).kind === kind) last(parts).text += text;
    else parts.push({ kind, text });
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("same", a[i++]); j++; }
    else if (i < a.length && (j === b.length || lengths[i + 1][j] >= lengths[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return parts;
}

const marked = (parts) => parts.map(({ kind, text }) => (kind === "same" ? text : html(kind, {}, text)));

function sampleItem(sample, before) {
  const text = (name, ...children) => [html("dt", {}, name), html("dd", { dir: "auto", class: name }, ...children)];
  const changed = before ? marked(difference(before.hypothesis, sample.hypothesis)) : [sample.hypothesis];
  const exact = sample.hypothesis === sample.reference ? [html("span", { class: "exact" }, "as the reference")] : [];
  return html("li", {}, html("p", { class: "line" }, `line ${count(sample.line)}`, ...exact),
    html("dl", {}, ...text("source", sample.source), ...text("reference", sample.reference),
      ...text("hypothesis", ...changed)));
}

const isSample = (s) => s && ["source", "reference", "hypothesis"].every((key) => typeof s[key] === "string");

function showSamples(valid, at) {
  const v = valid[at], before = valid[at - 1];
  const earlier = new Map((before?.samples ?? []).map((s) => [s.line, s]));
  byId("samples-list").replaceChildren(...v.samples.filter(isSample).map((s) => sampleItem(s, earlier.get(s.line))));
  byId("samples-readout").textContent = [`update ${count(v.update)}`, `BLEU ${fixed(1)(v.bleu)}`,
    ...(v.best ? ["best so far"] : []), `${at + 1} of ${valid.length}`].join(" · ");
  byId("samples-slider").value = at;
  byId("samples-back").disabled = at === 0;
  byId("samples-forward").disabled = at === valid.length - 1;
}

function samplesView(valid) {
  if (valid.length === 0) return;
  const slider = byId("samples-slider"), show = (at) => showSamples(valid, at);
  slider.max = valid.length - 1;
  slider.addEventListener("input", () => show(Number(slider.value)));
  byId("samples-back").addEventListener("click", () => show(Number(slider.value) - 1));
  byId("samples-forward").addEventListener("click", () => show(Number(slider.value) + 1));
  byId("samples").hidden = false;
  show(valid.length - 1);
}
