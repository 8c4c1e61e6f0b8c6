#!/usr/bin/env python3
"""Time ./tokenize against SentencePiece's spm_train and spm_encode, in turn, on the same text: medians of processor time.

Optional; needs the package `sentencepiece` of Debian and a built ./tokenize.

    scripts/time_tokenizer.py FILE...           learning and encoding; plain text files
        --vocab-size 10400                      entries of both vocabularies
        --runs 5
    scripts/time_tokenizer.py --grow FILE...    learning alone, from this text made larger: 1, 2, 4, ... copies whose words are changed
        --lines 2000000                         lines of the largest
"""
import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time


def timed(command, **settings):
    """Seconds of processor time and of the clock, and peak megabytes of a command."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **settings)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def report(name, ours, theirs):
    """Medians of both; each list holds what timed() gave."""
    rows = [[statistics.median(column) for column in zip(*runs)] for runs in (ours, theirs)]
    for program, (cpu, wall, memory) in zip(("tokenize", "sentencepiece"), rows):
        print(f"{name:9}{program:14}{cpu:7.2f} s processor {wall:7.2f} s clock {memory:6.0f} MB")
    print(f"{name:9}{'ratio':14}{rows[1][0] / rows[0][0]:7.1f}")


def compare(files, vocab_size, runs, folder):
    model, prefix, text = folder + "/model.json", folder + "/spm", folder + "/text"
    with open(text, "wb") as out:
        for name in files:
            out.write(open(name, "rb").read())
    learn = ["./tokenize", "--train", "--vocab-size", str(vocab_size), "--output", model] + files
    spm_learn = ["spm_train", "--model_type=bpe", "--byte_fallback", "--character_coverage=1", f"--vocab_size={vocab_size}",
                 f"--model_prefix={prefix}", "--input=" + ",".join(files)]
    report("learning", *zip(*[(timed(learn), timed(spm_learn)) for _ in range(runs)]))
    encode, spm_encode = ["./tokenize", "--model", model], ["spm_encode", f"--model={prefix}.model"]
    report("encoding", *zip(*[(timed(encode, stdin=open(text)), timed(spm_encode, stdin=open(text))) for _ in range(runs)]))


SYLLABLES = "er en ung lich keit s e ing ed ly ness ab un ver te ra mo ki lu heit tion bar los sam ion ment al ist".split()


def changed(word, draw):
    """One word in twenty gets an ending of its own, so that distinct words grow with the text as those of real text do."""
    return word if draw.random() > 0.05 else word + "".join(draw.choice(SYLLABLES) for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))))


def grow(files, vocab_size, most, folder):
    lines = [line.split(" ") for name in files for line in open(name, encoding="utf-8").read().split("\n")[:-1]]
    draw, words, written, text = random.Random(5), set(), 0, folder + "/grown"
    for count in (most // 8, most // 4, most // 2, most):
        with open(text, "a", encoding="utf-8") as out:
            while written < count:
                line = [changed(word, draw) for word in lines[written % len(lines)]]
                words.update(line)
                out.write(" ".join(line) + "\n")
                written += 1
        command = ["./tokenize", "--train", "--vocab-size", str(vocab_size), "--output", folder + "/model.json", text]
        cpu, wall, memory = timed(command)
        print(f"{count} lines, {len(words)} distinct words: {cpu:.2f} s processor, {wall:.2f} s clock, {memory:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--vocab-size", type=int)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--lines", type=int, default=2000000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.grow:
            grow(options.files, options.vocab_size or 32000, options.lines, folder)
        else:
            compare(options.files, options.vocab_size or 10400, options.runs, folder)


if __name__ == "__main__":
    main()
