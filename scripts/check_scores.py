#!/usr/bin/env python3
"""Compare ./evaluate with sacreBLEU: the same lines, figures and signatures, the version's name aside.

Optional; needs the package `sacrebleu` (2.x) and a built ./evaluate. The C tests need neither: their figures were
printed by this script with sacreBLEU alone (--figures).

    scripts/check_scores.py [FILE...]     plain or .gz text, to be perturbed into translations; besides odd and random texts
        --evaluate ./evaluate             the program to compare
        --lines 1000                      lines of each corpus
    scripts/check_scores.py --figures HYP REF...     what sacreBLEU says of two files, in the form of the tests

All tokenizers, smoothings, cases, word orders, one and three references, whole corpora and single sentences are crossed;
then intervals, p-values and JSON. Random text holds only characters that Python's Unicode tables of version 3.2 have
too, where the tables of utf8proc, of Python and of its package regex agree.
"""
import argparse
import gzip
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

WIDTH = 8
ODD = [
    "", "   ", "a", "Hello, world!", "He said &quot;no&quot; &amp;amp; left &lt;b&gt; &amp;lt;", "<skipped>x<skipped>", "&quot", "&&amp;&",
    "1,000.50 and 3.14, 2-3 or 2 - 3; 1999-2004. In 2020.", "...,,,.,.", "a.b,c.1.2,3,x", "10% $5 €20 №7 50°C ½ ² Ⅷ", "x=1;y=2 {a}[b](c) a/b\\c ^_`|~",
    "don't stop-me now - ok? state-of-the-art", "–—‐ dashes – and—more", "« guillemets » „quotes“ ‘single’ ‚x‘", "日本語のテキスト。中文，標點！", "한국어 문장입니다.",
    "ไทยไม่มีช่องว่าง", "हिन्दी में। वाक्य", "שלום עולם?", "مرحبا، بالعالم؟", "👩‍👩‍👧‍👦 👍🏽 ok 🇩🇪❤️", "e\u0301 é a\u0308\u0323", "a\u00a0b\u2003c\u3000d\u200be\ufefff", "a\x00b\x00 \x01",
    "a\x1cb\x1dc\x1ed\x1ff", "tab\tand\x0bvertical\x0cform\x85nel\u2028sep", "İstanbul IĞDIR ıi", "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ. ΑΣ'Β Σ", "STRASSE ẞ ß ǅ Ǆ", "ＦＵＬＬ　ｗｉｄｔｈ．１２３，４",
    "(hi) \"quoted\" 'single' ,x, x, ,x !! !a a! !", "a a a a a a a a", "ab ab ab", "C++ C# .NET node.js", "http://example.org/?a=1&b=2", "3.2.1. .5 5. ,5 5,", "\ufffd \U0010ffff",
    "end in tokenized period .", "A man in a blue shirt is standing on a ladder cleaning a window.", "Ein Mann, der 3,5 km läuft.", "-5 5- 5-5 a-5 5-a - -",
]


def perturb(line, rng):
    """A translation of the kind that a model makes: words dropped, swapped, doubled, changed in case."""
    if rng.random() < 0.03:
        return ""
    words = line.split(" ")
    for _ in range(rng.randrange(4)):
        i = rng.randrange(len(words))
        kind = rng.randrange(5)
        if kind == 0 and len(words) > 1:
            del words[i]
        elif kind == 1 and i + 1 < len(words):
            words[i], words[i + 1] = words[i + 1], words[i]
        elif kind == 2:
            words.insert(i, words[i])
        elif kind == 3:
            words[i] = words[i].upper()
        else:
            words[i] = words[i][::-1]
    return " ".join(words)


def known(code):
    return unicodedata.ucd_3_2_0.category(chr(code)) != "Cn" and not 0xD800 <= code < 0xE000 and code != 10 and \
        unicodedata.ucd_3_2_0.category(chr(code)) == unicodedata.category(chr(code))


def random_line(rng, alphabet):
    return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 2, 5, 20, 60])))


def corpora(files, lines, seed):
    """Pairs of a name and [hypothesis, another hypothesis, three references]."""
    rng = random.Random(seed)
    for file in files:
        with (gzip.open if file.endswith(".gz") else open)(file, "rb") as f:
            text = [line.rstrip() for line in f.read().decode().split("\n")[:lines]]
        yield file, [[perturb(x, rng) for x in text] for _ in range(2)] + [text] + [[perturb(x, rng) for x in text] for _ in range(2)]
    yield "odd texts against themselves", [ODD] * 5
    yield "odd texts perturbed", [[perturb(x, rng) for x in ODD] for _ in range(2)] + [ODD] + [[perturb(x, rng) for x in ODD] for _ in range(2)]
    yield "odd texts shuffled", [rng.sample(ODD, len(ODD)) for _ in range(5)]
    everything = [chr(c) for c in range(0x30000) if known(c)]
    alphabets = ["ab ", "abAB .,-1", "aΣσ'.: Β", "".join(map(chr, range(32, 127))), everything, everything[:0x500]]
    columns = [[], [], [], [], []]
    for i in range(lines):
        alphabet = alphabets[i % len(alphabets)]
        reference = random_line(rng, alphabet)
        for column, text in zip(columns, [perturb(reference, rng), random_line(rng, alphabet), reference, perturb(reference, rng), random_line(rng, alphabet)]):
            column.append(text)
    yield "random pairs", columns
    yield "empty hypotheses", [[""] * 5, [" "] * 5, ["a b c d e"] * 5, [""] * 5, ["x"] * 5]
    yield "one line", [[x] for x in ["the cat sat on", "the cat sat on the mat", "the cat sat on the mat .", "a cat", "the"]]
    yield "no match", [["x y z"] * 3, ["a"] * 3, ["a b c d"] * 3, ["e"] * 3, ["f"] * 3]


def bleu_options():
    smoothings = [("exp", None), ("floor", None), ("floor", 0.0), ("floor", 0.01), ("add-k", None), ("add-k", 0.5), ("none", None)]
    for tokenizer, (smoothing, value), lowercase in itertools.product(["13a", "intl", "char", "none"], smoothings, [False, True]):
        arguments = ["--metrics", "bleu", "--tokenize", tokenizer, "--smooth-method", smoothing] + ["--lowercase"] * lowercase
        arguments += ["--smooth-value", str(value)] if value is not None else []
        yield arguments, lambda effective, t=tokenizer, s=smoothing, v=value, l=lowercase: BLEU(
            lowercase=l, tokenize=t, smooth_method=s, smooth_value=v, effective_order=effective, force=True)


def chrf_options():
    for order, lowercase in itertools.product([0, 1, 2, 3], [False, True]):
        arguments = ["--metrics", "chrf", "--chrf-word-order", str(order)] + ["--chrf-lowercase"] * lowercase
        yield arguments, lambda effective, o=order, l=lowercase: CHRF(word_order=o, lowercase=l)


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.compared, self.different = program, folder, 0, 0

    def write(self, columns):
        for i, column in enumerate(columns):
            (self.folder / str(i)).write_bytes(("\n".join(column) + "\n").encode())

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, cwd=self.folder, check=True)
        return re.sub(r"tandem-[\w.-]+", sacrebleu.__version__, done.stdout.decode())

    def same(self, what, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.different += 1
            if self.different <= 20:
                print(f"different: {what}\n  evaluate  {ours}\n  sacreBLEU {theirs}")

    def scores(self, name, columns):
        hypothesis, stripped = columns[0], [[x.rstrip() for x in column] for column in columns]
        for (arguments, metric), references in itertools.product([*bleu_options(), *chrf_options()], [1, 3]):
            files = ["0", *map(str, range(2, 2 + references))]
            theirs = metric(False)
            score = theirs.corpus_score(stripped[0], stripped[2:2 + references])
            self.same(f"{name}: {arguments}", self.run(*files, *arguments, "--width", str(WIDTH)).strip(),
                      score.format(WIDTH, False, theirs.get_signature().format()))
            theirs = metric(True)
            ours = self.run(*files, *arguments, "--width", str(WIDTH), "--sentence-level").split("\n")
            for i in range(len(hypothesis)):
                score = theirs.sentence_score(stripped[0][i], [r[i] for r in stripped[2:2 + references]])
                self.same(f"{name}:{i + 1}: {arguments} {columns[0][i]!r} {columns[2][i]!r}", ours[i],
                          score.format(WIDTH, False, theirs.get_signature().format()))

    def resampling(self, name, columns):
        for arguments, metric in [(["--metrics", "bleu"], lambda: BLEU(force=True)), (["--metrics", "chrf"], CHRF),
                                  (["--metrics", "chrf++"], lambda: CHRF(word_order=2))]:
            theirs = metric()
            score = theirs.corpus_score(columns[0], [columns[2]], n_bootstrap=1000)
            signature = theirs.get_signature().format()
            for form in [[], ["--width", "3"]]:
                text = score.format(int(form[1]) if form else 1, False, signature)
                self.same(f"{name}: {arguments} interval", self.run("0", "2", *arguments, "--confidence", *form).strip(), text)
            self.same(f"{name}: {arguments} json", json.loads(self.run("0", "2", *arguments, "--confidence", "--json")),
                      json.loads(score.format(1, False, signature, is_json=True)))
            _, results = PairedTest([("0", columns[0]), ("1", columns[1])], {"M": metric()}, [columns[2]], test_type="bs")()
            key = next(k for k in results if k != "System")
            ours = json.loads(self.run("0", "2", *arguments, "--compare", "1", "--json"))
            for system, result in zip(ours, results[key]):
                figures = [system[key][k] for k in ("score", "mean", "ci")]
                rounded = [[f"{x:.2f}" for x in values] for values in (figures, [result.score, result.mean, result.ci])]
                self.same(f"{name}: {arguments} compared", rounded[0], rounded[1])
                # Where no sample differs evaluate says p = 1, which sacreBLEU's formula makes 1 / 1001.
                if result.p_value is not None and result.mean != results[key][0].mean:
                    self.same(f"{name}: {arguments} p", f"{system[key]['p_value']:.4f}", f"{result.p_value:.4f}")


def lower_case(check):
    """str.lower() of every character that both tables know, between letters and around a capital sigma."""
    codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c != 10 and unicodedata.category(chr(c)) != "Cn"]
    contexts = ["x{}x", "AΣ{}", "AΣ{}B", "{}Σ", "B{}Σ "]
    lines = [context.format(chr(c)) for c in codes for context in contexts]
    check.write([lines, [], [line.lower() for line in lines]])
    ours = check.run("0", "2", "--metrics", "bleu", "--tokenize", "none", "--lowercase", "--sentence-level", "--score-only").split("\n")
    wrong = [line for line, score in zip(lines, ours) if score != "100.0" and line.split()]
    check.compared += len(lines)
    check.different += len(wrong)
    if wrong:
        print(f"different: {len(wrong)} lines in lower case, the first {wrong[:10]!r}")


def figures(hypothesis, references):
    """Every line of the tests' tables that these two files give."""
    read = lambda path: [x.rstrip() for x in Path(path).read_bytes().decode().removesuffix("\n").split("\n")]
    columns = [read(x) for x in [hypothesis, *references]]
    for arguments, metric in [*bleu_options(), *chrf_options()]:
        theirs = metric(False)
        score = theirs.corpus_score(columns[0], columns[1:])
        print(" ".join(arguments) + "\n    " + score.format(1, False, theirs.get_signature().format()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--evaluate", default="./evaluate")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figures", action="store_true")
    options = parser.parse_args()
    if options.figures:
        figures(options.files[0], options.files[1:])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        check = Check(Path(options.evaluate).resolve(), Path(folder))
        lower_case(check)
        for name, columns in corpora(options.files, options.lines, options.seed):
            check.write(columns)
            check.scores(name, columns)
            check.resampling(name, [[x.rstrip() for x in column] for column in columns])
            print(f"{name}: {len(columns[0])} lines, {check.compared} comparisons so far, {check.different} differences", flush=True)
    print(f"sacreBLEU {sacrebleu.__version__}, Python's Unicode {unicodedata.unidata_version}: "
          f"{check.compared} comparisons, {check.different} differences")
    return check.different != 0


if __name__ == "__main__":
    sys.exit(main())
