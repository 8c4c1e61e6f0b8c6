#!/usr/bin/env python3
"""Compare Tandem's tokenizer with Hugging Face tokenizers: same ids, same text back.

Optional; needs the package `tokenizers` (0.20 or newer) and a built ./tokenize. The C tests need neither: they read
tests/reference/tokenizer_cases.json, which --write-cases makes with the library alone.

    scripts/check_tokenizer.py RUN FILE...      the folder of a tokenizer.json; plain or .gz text files
        --lines 20000                           random Unicode lines besides the files and the odd texts
        --code-points                           every code point on its own line, alone and before two marks
        --tokenize ./tokenize                   the program to compare
    scripts/check_tokenizer.py --train RUN FILE...   first let the library learn RUN/tokenizer.json, to be read by Tandem
    scripts/check_tokenizer.py --write-cases tests/reference/tokenizer_cases.json

With normalisation on, random lines hold only code points that Python's Unicode tables of version 3.2 have too
(unicodedata.ucd_3_2_0): the tables of Tandem (utf8proc) and of the library are of different Unicode versions. For the
same reason --code-points counts, but does not mind, code points that version 3.2 does not have.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import unicodedata

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FIXED = ["<s>", "<pad>", "</s>", "<unk>"] + ["<0x%02X>" % byte for byte in range(256)]

ODD = [
    "", " ", "  ", "   a", "a   ", "  a   b  ", "\t", "a\tb", "\ta \t b\t", "a\rb", "a\x00b", "\x00", "\x01\x1f\x7f",
    "</s>", "<s>", "<unk>", "<pad>", "<0x41>", "<0x0a>", "<0x>", "a</s>b", "<s> a </s>", "▁", "▁▁", "a▁b", " ▁ ", "▁a",
    "👩‍👩‍👧‍👦", "👍🏽 ok", "🏳️‍🌈", "❤️", "🇩🇪🇬🇧", "e\u0301", "\u00e9", "a\u0308\u0323", "a\u0323\u0308", "\u0301", "\u0301a", " \u0301",
    "Zu\u0308rich Zürich", "ﬁne ﬀ ①②③ ½ ｆｕｌｌ", "İstanbul ISTANBUL ıi", "ΣΊΣΥΦΟΣ Σ", "STRASSE straße ẞ", "Ǆ ǅ ǆ",
    "שלום עולם", "مرحبا بالعالم", "می‌خواهم", "\u202bmixed\u202c \u200fabc", "日本語のテキスト", "中文，標點。", "한국어 각 \u1100\u1161\u11a8",
    "ไทยไม่มีช่องว่าง", "हिन्दी क्‍ष", "a\u00a0b\u2003c\u3000d\u202fe\u2009f\u200bg", "\u2028a\u2029b\x0bc\x0cd\x85e", "\ufeffabc", "abc\ufeff",
    "don't stop-me now, ok?", "3.14 1,000 10% $5 a1b2", "C++ C# .NET x=1;y=2", "https://example.org/?a=1&b=2", "\ufffd", "\ufffe\uffff", "\U0010ffff",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ab" * 300,
    "Ein kleines Mädchen klettert in ein Spielhaus aus Holz.", "A man in a blue shirt is standing on a ladder cleaning a window.",
]


def chain(tokenizer, form=None, lowercase=False):
    """The steps of docs: what every tokenizer.json of Tandem holds around its model."""
    steps = {None: [], "nfc": [normalizers.NFC()], "nfkc": [normalizers.NFKC()]}[form]
    steps += [normalizers.Lowercase()] if lowercase else []
    steps += [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="never", split=True)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def library_train(lines, vocab_size, **settings):
    """A tokenizer learned by the library, as the text of its file, without added tokens."""
    tokenizer = chain(Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True)), **settings)
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=FIXED, min_frequency=2, show_progress=False)
    tokenizer.train_from_iterator((line.replace("\0", "") for line in lines), trainer)
    whole = json.loads(tokenizer.to_str())
    whole["added_tokens"] = []
    return whole


def random_lines(count, known_only):
    """Lines of letters, spaces and anything else that is a line of valid UTF-8."""
    draw = random.Random(1)
    ranges = [(0x20, 0x7f), (0x20, 0x7f), (0xa0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700), (0x900, 0xe80), (0x1100, 0x1200),
              (0x1e00, 0x2000), (0x2000, 0x2070), (0x20d0, 0x2700), (0x3000, 0x3100), (0x4e00, 0x5000), (0xac00, 0xad00),
              (0xf900, 0xfb50), (0xfe00, 0x10000), (0x1d100, 0x1d800), (0x1f300, 0x1fa00), (0, 0xd800), (0xe000, 0x110000)]
    lines = []
    while len(lines) < count:
        some = draw.sample(ranges, 3)
        codes = [draw.randrange(*draw.choice(some)) if draw.random() < 0.85 else 0x20 for _ in range(draw.randrange(40))]
        text = "".join(map(chr, codes)).replace("\n", "").rstrip("\r").lstrip("\ufeff")
        if known_only:
            text = "".join(c for c in text if unicodedata.ucd_3_2_0.category(c) != "Cn")
        lines.append(text)
    return lines


def read_lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read().decode("utf-8", "replace").removesuffix("\n").split("\n")


def run(command, lines):
    """The output lines of a program that reads and writes a line each."""
    done = subprocess.run(command, input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().removesuffix("\n").split("\n")


def compare(name, lines, library, program):
    """Ids and text back of Tandem's program and the library; returns the number of lines that differ."""
    lines = [line.rstrip("\r").lstrip("\ufeff") for line in lines]
    expected = [encoding.ids for encoding in library.encode_batch(lines, add_special_tokens=False)]
    ids = [[int(id) for id in line.split()] for line in run(program + ["--ids"], lines)]
    back = run(program + ["--ids", "--decode"], [" ".join(map(str, line)) for line in expected])
    expected_back = library.decode_batch(expected, skip_special_tokens=False)
    if len(ids) != len(lines) or len(back) != len(lines):
        sys.exit(f"{name}: {len(lines)} lines, but {len(ids)} of ids and {len(back)} decoded")
    bad = [i for i in range(len(lines)) if ids[i] != expected[i] or back[i] != expected_back[i]]
    lossless = sum(back[i] == lines[i].replace("▁", " ") for i in range(len(lines)))
    print(f"{name}: {len(lines)} lines, {sum(map(len, ids))} ids, {len(bad)} lines differ, {lossless} come back unchanged")
    for i in bad[:5]:
        print(f"    {lines[i]!r}\n    Tandem  {ids[i]} {back[i]!r}\n    library {expected[i]} {expected_back[i]!r}")
    return len(bad)


def code_points(library, program):
    """Every code point, alone and before two marks in the wrong order; returns how many of Unicode 3.2 come back differently."""
    codes = [code for code in range(0x110000) if not 0xd800 <= code < 0xe000 and chr(code) not in "\n\r\ufeff"]
    bad = set()
    for after in ("y", "\u0301\u0323y"):
        lines = ["x" + chr(code) + after for code in codes]
        back = run(program + ["--decode"], run(program, lines))
        for code, line, text in zip(codes, lines, back):
            if text != library.normalizer.normalize_str(line)[1:].replace("▁", " "):
                bad.add(code)
    old = sum(unicodedata.ucd_3_2_0.category(chr(code)) != "Cn" for code in bad)
    print(f"code points: {len(codes)}, {len(bad)} differ, {old} of them in Unicode 3.2"
          + (", the lowest U+%04X" % min(bad) if bad else ""))
    return old


def random_decoding(library, program, count=2000):
    """Random ids: byte tokens that are not UTF-8 must be repaired alike. Line feeds and special pieces are left out."""
    draw = random.Random(2)
    allowed = [id for id in range(4, library.get_vocab_size()) if id != FIXED.index("<0x0A>")]
    lists = [[draw.choice(allowed[: draw.choice([256, len(allowed)])]) for _ in range(draw.randrange(12))] for _ in range(count)]
    back = run(program + ["--ids", "--decode"], [" ".join(map(str, ids)) for ids in lists])
    bad = sum(a != b for a, b in zip(back, library.decode_batch(lists, skip_special_tokens=False)))
    print(f"random ids: {count} lists, {bad} decode differently")
    return bad


def write_cases(path):
    """Small tokenizers learned by the library, and what it makes of the odd texts and some random lines."""
    groups = []
    for form, lowercase, words in ((None, False, False), ("nfkc", True, False), (None, False, True)):
        tokenizer = library_train(ODD * 2, 500, form=form, lowercase=lowercase)
        if words:  # whole words, which no merge reaches, as [tokenizer] type = word has them
            tokenizer["model"]["ignore_merges"] = True
            for word in sorted({"▁" + word for line in ODD for word in line.split(" ") if "\0" not in word and "▁" not in word}):
                tokenizer["model"]["vocab"].setdefault(word, len(tokenizer["model"]["vocab"]))
        library = Tokenizer.from_str(json.dumps(tokenizer))
        if form:  # the older form of merges, which has to be read as well
            tokenizer["model"]["merges"] = [" ".join(merge) for merge in tokenizer["model"]["merges"]]
        cases = []
        for text in [line for line in ODD if "\0" not in line] + random_lines(150, known_only=True):
            if "\0" in text:
                continue
            ids = library.encode(text, add_special_tokens=False).ids
            cases.append({"text": text, "ids": ids, "back": library.decode(ids, skip_special_tokens=False)})
        groups.append({"normalization": form or "none", "lowercase": lowercase, "tokenizer": tokenizer, "cases": cases})
    with open(path, "w", encoding="ascii") as file:
        file.write("[\n" + ",\n".join(json.dumps(group) for group in groups) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", metavar="RUN")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--lines", type=int, default=20000)
    parser.add_argument("--code-points", action="store_true")
    parser.add_argument("--tokenize", default="./tokenize")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--write-cases", metavar="PATH")
    options = parser.parse_args()
    if options.write_cases:
        return write_cases(options.write_cases)
    if not options.run:
        parser.error("name the folder of a tokenizer.json")
    path = os.path.join(options.run, "tokenizer.json")
    if options.train:
        os.makedirs(options.run, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(library_train([line for name in options.files for line in read_lines(name)], 4000), file)
    library = Tokenizer.from_file(path)
    program = [options.tokenize, options.run]
    normalises = len(json.load(open(path, encoding="utf-8"))["normalizer"]["normalizers"]) > 2
    bad = sum(compare(name, read_lines(name), library, program) for name in options.files)
    bad += compare("odd texts", ODD, library, program)
    bad += compare("random lines", random_lines(options.lines, normalises), library, program)
    bad += random_decoding(library, program)
    if options.code_points:
        bad += code_points(library, program)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
