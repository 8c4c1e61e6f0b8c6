#!/usr/bin/python3
"""Usage: tests/browser_report.py TRAIN    The report of a small run, in a real Chromium: what it shows, and how it behaves.

Needs Debian's chromium, chromium-driver and python3-selenium; says which are missing, and fails then.
Run it from the repository root. SCREENSHOTS=FOLDER in the environment keeps pictures.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

missing = [package for package, program in [("chromium", "chromium"), ("chromium-driver", "chromedriver")]
           if shutil.which(program) is None]
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    missing.append("python3-selenium")
if missing:
    sys.exit("browser_report.py: please install " + " ".join(missing))

ODD = ["</script><script>document.title='broken out'</script>", "<!-- a comment, \"double\" and 'single' quotes \\",
       "between\u2028lines", "\U0001f600 <b>emoji</b> &amp; &lt;"]
GROUPS = ["embeddings", "encoder.0.self_attn", "encoder.0.ffn", "decoder.0.self_attn", "decoder.0.encoder_attn", "decoder.0.ffn"]
CONFIG = """[data]
train_source = {0}/train.en
train_target = {0}/train.fr
valid_source = {0}/valid.en
valid_target = {0}/valid.fr
[tokenizer]
vocab_size = 400
[model]
d_model = 32
encoder_layers = 1
decoder_layers = 1
heads = 2
ffn_dim = 48
[train]
batch_tokens = 600
updates = 60
lr = 0.01
warmup = 5
threads = 2
[valid]
every = 15
samples = 20
[output]
dir = {0}/run
log_every = 4
"""
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def head(path, lines):
    with open(path, encoding="utf-8") as file:
        return [next(file) for _ in range(lines)]


def write(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def train(program, work):
    result = subprocess.run([program, f"{work}/c.ini"], capture_output=True, text=True, check=False)
    check(result.returncode == 0, "training failed: " + result.stderr)
    check(f"report     {work}/run/report.html" in result.stderr, "train does not say where the report is")


def append_metrics(work, lines):
    with open(f"{work}/run/metrics.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def norms(update, groups=len(GROUPS)):
    names = GROUPS + [f"encoder.{i}.ffn" for i in range(1, groups)]
    return {"kind": "norms", "update": update, "epoch": 1, "groups": [
        {"name": names[i], "gradient": (i + 1) / update, "weight": 1.0 + i, "ratio": None} for i in range(groups)]}


def make_run(program, work):
    """A run with odd sentences among its validation lines, and lines of norms and of an average that are made up."""
    for side in "en", "fr":
        write(f"{work}/train.{side}", head(f"data/toy/train.{side}", 300))
        write(f"{work}/valid.{side}", [line + "\n" for line in ODD] + head(f"data/toy/valid.{side}", 16))
    write(f"{work}/c.ini", CONFIG.format(work))
    train(program, work)
    append_metrics(work, [norms(update) for update in range(4, 61, 4)])
    append_metrics(work, [{"kind": "average", "update": 60, "epoch": 3, "loss": 1.5, "nll": 1.2345, "ppl": 3.4366,
                           "bleu": 12.3, "chrf": 45.6, "snapshots": [40, 50, 60]}])
    train(program, work)
    with open(f"{work}/run/metrics.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Page:
    """A browser with one page open."""

    def __init__(self, path):
        options = Options()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.path = path

    def open(self, width, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.driver.get("file://" + self.path)
        self.run("localStorage.clear()")
        self.driver.get("file://" + self.path)
        self.settle()
        errors = [entry["message"] for entry in self.driver.get_log("browser")]
        check(not errors, f"the console says at {width} px: {errors}")

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def settle(self):
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def text(self, selector):
        return " ".join(self.texts(selector))

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def picture(self, name):
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
            clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
            picture = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
            with open(f"{folder}/{name}.png", "wb") as file:
                file.write(base64.b64decode(picture["data"]))


def check_numbers(page, metrics):
    trained = [m for m in metrics if m["kind"] == "train"][-1]
    valid = [m for m in metrics if m["kind"] == "valid"]
    best = [m for m in valid if m["best"]][-1]
    check(page.texts(".chart h3") == ["Loss ", "Perplexity ", "Translation scores ", "Learning rate ", "Gradient norm ", "Speed "],
          f"charts: {page.texts('.chart h3')}")
    loss = [f"{trained['loss']:.4f}", f"{valid[-1]['loss']:.4f}", f"{trained['nll']:.4f}", f"{valid[-1]['nll']:.4f}"]
    check(page.texts(".chart:first-child b") == loss, f"losses: {page.texts('.chart:first-child b')}, not {loss}")
    figures = page.texts("#figures dd")
    check(figures[4] == f"{best['nll']:.4f}" and figures[0] == f"{best['bleu']:.1f}", f"figures: {figures}")
    cells = page.texts("#lengths-table td.number")
    for bucket in valid[-1]["buckets"]:
        check(f"{bucket['nll']:.4f}" in cells and str(bucket["tokens"]) in cells, f"bucket {bucket} among {cells}")
    check("1.2345" in page.text("#average-table") and "40, 50, 60" in page.text("#average-table"), "the average")
    check("300" in page.text("#corpus"), "the corpus table")
    check("batch_tokens" in page.text("#configuration") and "600" in page.text("#configuration"), "the configuration")
    check("all updates done · update 60 of 60" in page.text("#status"), page.text("#status"))


def check_samples(page, metrics):
    valid = [m for m in metrics if m["kind"] == "valid"]
    for name in "source", "reference":
        expected = [sample[name] for sample in valid[-1]["samples"]]
        check(page.texts(f"dd.{name}") == expected, f"{name}: {page.texts('dd.' + name)}, not {expected}")
    check(set(ODD) <= set(page.texts("dd.source")), "an odd sentence is not among the samples")
    check(page.run("return document.scripts.length") == 3, "a sentence made a script")
    check(page.driver.title.endswith("training report"), "a sentence ran as a script")
    shown = [page.run("const e = arguments[0].cloneNode(true); e.querySelectorAll('del').forEach((d) => d.remove());"
                      "return e.textContent", e) for e in page.all("dd.hypothesis")]
    check(shown == [sample["hypothesis"] for sample in valid[-1]["samples"]], f"hypotheses without what is gone: {shown}")
    check(page.all("dd ins") and page.all("dd del"), "nothing is marked as changed")
    before = page.text("#samples-readout")
    page.all("#samples-back")[0].click()
    check(f"update {valid[-2]['update']} " in page.text("#samples-readout"), "the button goes back")
    page.run("arguments[0].focus()", page.all("#samples-slider")[0])
    page.press(Keys.HOME)
    check(f"update {valid[0]['update']} " in page.text("#samples-readout") and not page.all("dd ins"), "the slider's first")
    page.press(Keys.END)
    check(page.text("#samples-readout") == before, "the slider's last")


def check_hover(page, metrics):
    trained = {m["update"]: m for m in metrics if m["kind"] == "train"}
    chart = page.all(".chart:first-child svg")[0]
    ActionChains(page.driver).move_to_element_with_offset(chart, -60, 0).perform()
    at = page.texts(".at")
    check(len(set(at)) == 1 and at[0].startswith("update "), f"all charts show one update: {at}")
    update = int(at[0].split()[1])
    check(4 < update < 56 and update in trained or update % 15 == 0, f"an update of the run: {update}")
    near = min(trained, key=lambda u: (abs(u - update), u))
    check(page.texts(".chart:first-child b")[0] == f"{trained[near]['loss']:.4f}", f"the loss at update {update}")
    check(len(page.all(".chart:first-child .cursor circle")) == 4, "marks on the lines")
    ActionChains(page.driver).move_to_element(page.all("h1")[0]).perform()
    check(page.texts(".at") == [""] * 6, "leaving a chart resets it")
    page.run("arguments[0].focus()", chart)
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    check(page.texts(".at")[0] == "update 8", f"keys: {page.texts('.at')[0]}")
    check("update 8: train " + f"{trained[8]['loss']:.4f}" in chart.get_attribute("aria-valuetext"), "what a screen reader says")
    page.press(Keys.ESCAPE)
    check(page.texts(".at")[0] == "", "Escape ends it")


def check_layers(page):
    check(len(page.all(".heat > rect")) == 15 * len(GROUPS), f"{len(page.all('.heat > rect'))} cells")
    check(page.texts("#norms-choices button") == ["gradient norm", "weight norm"], "a measure without values has a button")
    ActionChains(page.driver).scroll_to_element(page.all(".heat")[0]).move_to_element(page.all(".heat > rect")[8]).perform()
    check(page.text("#norms-readout") == "update 8 · encoder.0.ffn · 0.375", page.text("#norms-readout"))
    page.all("#norms-choices button")[1].click()
    check(page.text("#norms-most") == "6", f"the largest weight norm: {page.text('#norms-most')}")


def check_theme(page):
    background = "return getComputedStyle(document.body).backgroundColor"
    dark = page.run(background)
    page.all("#theme")[0].click()
    light = page.run(background)
    check(dark != light and page.run("return document.documentElement.dataset.theme") == "light", "the button for the theme")
    page.driver.refresh()
    check(page.run(background) == light, "a theme that was chosen stays")


def check_width(page, width):
    wide = page.run("return document.documentElement.scrollWidth")
    check(wide <= width, f"at {width} px the page is {wide} px wide")


def change_data(page, change):
    """Opens the page with other data: change(data) changes them."""
    with open(page.path, encoding="utf-8") as file:
        before, rest = file.read().split('<script type="application/json" id="data">')
    text, after = rest.split("</script>", 1)
    data = json.loads(text)
    change(data)
    with open(page.path, "w", encoding="utf-8") as file:
        file.write(before + '<script type="application/json" id="data">' + json.dumps(data).replace("<", "\\u003c") + "</script>" + after)
    page.open(1280, "light")


def check_average(page):
    """The figures are those of the average where that is model.safetensors, unless nothing was measured with it."""
    best = page.texts("#figures dd")
    change_data(page, lambda data: data["average"][0].update(best=True))
    figures = page.texts("#figures dd")
    check(figures[0] == "12.3" and figures[4] == "1.2345", f"figures of the average: {figures}")
    check("Averaged weights, update 60" in page.text("main"), "whose figures these are")
    change_data(page, lambda data: data["average"][0].update(nll=None, bleu=None))
    check(page.texts("#figures dd") == best, "figures where nothing was measured with the average")


def check_long(page):
    """As many points and layers as a page has at most, and none of the other parts."""
    line = {"kind": "train", "epoch": 1, "loss": 1.23456789, "nll": 1.23456789, "ppl": 3.43689052, "lr": 1.23456789e-05,
            "grad_norm": 0.123456789, "tgt_tokens_per_s": 12345.6789, "src_tokens_per_s": 12345.6789, "seconds": 12345.6789}
    train = [{**line, "update": 100 * (i + 1)} for i in range(1000)]
    layers = [norms(500 * (i + 1), 40) for i in range(200)]
    change_data(page, lambda data: data.update(train=train, norms=layers, valid=[], average=[]))
    points = page.run("return document.querySelector('.chart polyline').points.length")
    check(points == 1000 and len(page.all(".chart")) == 5 and len(page.all(".heat > rect")) == 8000, "a long run")
    check(not page.all("#samples:not([hidden]), #lengths:not([hidden]), #average:not([hidden])"), "sections without data are hidden")


def main():
    program = "./train"
    with tempfile.TemporaryDirectory() as work:
        metrics = make_run(program, work)
        page = Page(f"{work}/run/report.html")
        try:
            page.open(1280, "light")
            check_numbers(page, metrics)
            check_samples(page, metrics)
            check_hover(page, metrics)
            check_layers(page)
            check(page.run("return performance.getEntriesByType('resource').length") == 0, "the page loads something")
            page.picture("desktop-light")
            for width in 360, 390, 1280:
                page.open(width, "dark")
                check_width(page, width)
                page.picture(f"dark-{width}")
            check_theme(page)
            check_average(page)
            check_long(page)
        finally:
            page.driver.quit()
    print("all passed" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


main()
