#!/usr/bin/env python3
"""Check that TensorBoard reads a run's curves as metrics.jsonl has them, after resumes too, with both of its readers.

Optional; needs the package `tensorboard` (2.10 or newer). The C tests need no such thing.

    scripts/check_tensorboard.py RUN        the folder of a run trained with [output] tensorboard = yes
    scripts/check_tensorboard.py            trains one of its own: stopped, continued, with a record cut in two
        --train ./train                     the program to use
"""
import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

KEYS = {"train": {"loss": "loss", "nll": "nll", "lr": "lr", "grad_norm": "grad_norm", "tokens_per_s": "tgt_tokens_per_s"},
        "valid": {"loss": "loss", "nll": "nll", "bleu": "bleu", "chrf": "chrf", "exact_match": "exact_match"}}

CONFIG = """[data]
train_source = data/toy/valid.en
train_target = data/toy/valid.fr
valid_source = {0}/valid.en
valid_target = {0}/valid.fr
[tokenizer]
vocab_size = 400
[model]
d_model = 16
encoder_layers = 1
decoder_layers = 1
heads = 2
ffn_dim = 16
[train]
batch_tokens = 300
lr = 0.003
warmup = 5
[valid]
every = 4
[output]
dir = {0}/run
log_every = 2
save_every = 1000000
tensorboard = yes
"""


def expected(run):
    """{tag: {update: value}} of metrics.jsonl, without what a resume supersedes."""
    curves = {"%s/%s" % (kind, tag): {} for kind in KEYS for tag in KEYS[kind]}
    with open(os.path.join(run, "metrics.jsonl")) as file:
        for line in map(json.loads, file):
            if line["kind"] == "resume":
                curves = {tag: {u: v for u, v in curve.items() if u <= line["update"]} for tag, curve in curves.items()}
            for tag, key in KEYS.get(line["kind"], {}).items():
                curves[line["kind"] + "/" + tag][line["update"]] = line[key]
    return curves


def python_reader(directory):
    reader = EventAccumulator(directory, size_guidance={"scalars": 0})
    reader.Reload()
    return {tag: [(e.step, e.value) for e in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def server_reader(directory, tags):
    """What the web page gets: from the Rust data server where that is installed."""
    port_line, server = re.compile(r"http://localhost:(\d+)"), None
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", directory, "--port", "0", "--load_fast", "true"]
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            for _ in range(600):
                log.seek(0)
                text = log.read()
                if port_line.search(text) or server.poll() is not None:
                    break
                time.sleep(0.1)
            port = port_line.search(text)
            if port is None:
                raise SystemExit("tensorboard does not start:\n" + text)
            base = "http://localhost:%s/data/plugin/scalars/" % port.group(1)
            for _ in range(100):  # it loads in the background
                with urllib.request.urlopen(base + "tags") as answer:
                    if len(json.load(answer).get(".", {})) == len(tags):
                        break
                time.sleep(0.1)
            curves = {}
            for tag in tags:
                with urllib.request.urlopen(base + "scalars?run=.&tag=" + tag) as answer:
                    curves[tag] = [(step, value) for _, step, value in json.load(answer)]
            return curves
        finally:
            server.terminate()
            server.wait()


def compare(name, found, wanted):
    """The number of points; ends the program where one differs. Values are floats in the files."""
    points = 0
    for tag, curve in wanted.items():
        steps = [step for step, _ in found.get(tag, [])]
        if steps != sorted(curve):
            raise SystemExit("%s: %s has the steps %s, not %s" % (name, tag, steps, sorted(curve)))
        for step, value in found[tag]:
            if abs(value - curve[step]) > 1e-6 * abs(curve[step]):
                raise SystemExit("%s: %s at %d is %r, not %r" % (name, tag, step, value, curve[step]))
        points += len(curve)
    return points


def check(run):
    directory, wanted = os.path.join(run, "tensorboard"), expected(run)
    files = len(os.listdir(directory))
    points = compare("Python reader", python_reader(directory), wanted)
    compare("server", server_reader(directory, list(wanted)), wanted)
    print("%d points of %d curves in %d files, the same for both readers" % (points, len(wanted), files))


def train_interrupted(train, work):
    """Killed after an update that is not saved, with half a record at the end, and continued from before it; twice."""
    config = os.path.join(work, "c.ini")
    with open(config, "w") as file:
        file.write(CONFIG.format(work))
    for side in ("en", "fr"):
        with open("data/toy/test." + side) as source, open(os.path.join(work, "valid." + side), "w") as file:
            file.writelines(list(source)[:10])
    run, events = os.path.join(work, "run"), os.path.join(work, "run", "tensorboard")

    def go(updates, wait_for=None):
        command = [train, config, "--set", "train.updates=%d" % updates]
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            while wait_for is not None and process.poll() is None:
                with contextlib.suppress(FileNotFoundError), open(os.path.join(run, "metrics.jsonl")) as file:
                    if '"update":%d,' % wait_for in file.read():
                        process.kill()
                time.sleep(0.01)
            if process.wait() != (0 if wait_for is None else -9):
                log.seek(0)
                raise SystemExit("train failed:\n" + log.read().decode())

    go(12)
    for killed in (30, 40):
        go(1000000, wait_for=killed)
        last = os.path.join(events, max(os.listdir(events)))
        os.truncate(last, os.path.getsize(last) - 5)
        if killed == 40:
            go(21)
        else:
            go(15)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?")
    parser.add_argument("--train", default="./train")
    arguments = parser.parse_args()
    if arguments.run:
        check(arguments.run)
        return
    with tempfile.TemporaryDirectory() as work:
        check(train_interrupted(arguments.train, work))


main()
