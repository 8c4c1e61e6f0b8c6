#!/usr/bin/env python3
"""The page of ./inspect --html in a real browser: it renders without errors or a network, shows the numbers of --json,
every control does what it says, by pointer and by keyboard, and nothing is wider than a phone.

Run from the repository root after make, as make test-browser does. Needs chromium, chromium-driver, python3-selenium."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SOURCE = "The old cow sleeps near the </script> house because it is tired."
CONFIG = """
[data]
train_source = {work}/train.en
train_target = {work}/train.fr
[tokenizer]
vocab_size = 400
[model]
d_model = 32
encoder_layers = 2
decoder_layers = 3
heads = 4
ffn_dim = 48
norm = {norm}
[train]
batch_tokens = 600
updates = 30
lr = 0.003
[output]
dir = {work}/run-{norm}
"""
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what)


def make_page(work, norm):
    """A small run, and the page and the JSON of one sentence."""
    for side in ("en", "fr"):
        lines = pathlib.Path(f"data/toy/train.{side}").read_text().split("\n")[:300]
        (work / f"train.{side}").write_text("\n".join(lines) + "\n")
    config = work / f"{norm}.ini"
    config.write_text(CONFIG.format(work=work, norm=norm))
    subprocess.run(["./train", config], check=True, capture_output=True)
    page = work / f"{norm}.html"
    printed = subprocess.run(["./inspect", work / f"run-{norm}", "--source", SOURCE, "--json", "--html", page],
                             check=True, capture_output=True, text=True).stdout
    return page, json.loads(printed)


class Page:
    def __init__(self, driver, path, data):
        self.driver, self.data = driver, data
        driver.get(path.as_uri())

    def one(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.one(css).get_attribute("textContent")

    def run(self, script, *arguments):
        return self.driver.execute_script("return " + script, *arguments)

    def radio(self, name, value):
        self.run(f"document.querySelector('input[name={name}][value={value}]').click()")

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab(self, name):
        self.one("#tab-" + name).click()
        check(self.one("#" + name).is_displayed(), f"the tab {name} is not shown")
        check(sum(p.is_displayed() for p in self.all("[role=tabpanel]")) == 1, f"tab {name}: not one panel")


def piece_count(page):
    return len(page.data["source"]["pieces"]), len(page.data["target"]["pieces"])


def test_header(page):
    shown = page.run("[...document.querySelectorAll('#pair span')].map(s => s.textContent)")
    check(shown == page.data["source"]["pieces"] + page.data["target"]["pieces"], f"pieces {shown}")
    check(float(page.text("#log-p").split()[0]) == page.data["log_p"], "log p")


def test_wall(page):
    page.tab("attention")
    page.radio("view", "wall")
    check(not page.one("#heads-bar").is_displayed() and not page.one("#layer-label").is_displayed(), "the wall shows all heads")
    for kind, layers in (("encoder_self", 2), ("decoder_self", 3), ("cross", 3)):
        page.radio("kind", kind)
        maps = page.data["attention"][kind]
        canvases = page.run("""[...document.querySelectorAll('.wall canvas')].map(c =>
            [c.width, c.height, [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].filter((_, i) => i % 4 === 3)])""")
        check(len(canvases) == 4 * layers, f"{kind}: {len(canvases)} maps")
        for at, (width, height, alpha) in enumerate(canvases):
            weights = maps[at // 4][at % 4]
            check((height, width) == (len(weights), len(weights[0])), f"{kind}: shape of map {at}")
            flat = [w for row in weights for w in row]
            check(all(abs(a - 255 * w) <= 1 for a, w in zip(alpha, flat)), f"{kind}: colours of map {at}")
    page.all(".wall button")[6].click()  # layer 2, head 3
    check(page.run("document.querySelector('input[name=view]:checked').value") == "map", "a map of the wall opens the map")
    check(page.one("#layer").get_property("value") == "1", "layer of the map")
    check([b.is_selected() for b in page.all("#heads input")] == [False, False, True, False], "head of the map")


def read_map(page, i, j):
    """Moves the pointer to a cell of the map and reads what is said."""
    page.run("""(([i, j]) => {
        const rects = document.querySelectorAll('#picture rect'), keys = arguments[1];
        const box = rects[i * keys + j].getBoundingClientRect();
        document.querySelector('#picture svg').dispatchEvent(new PointerEvent('pointermove', { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }));
    })(arguments[0])""", [i, j], len(page.data["source" if page.kind != "decoder_self" else "target"]["pieces"]))
    return page.text("#say")


def test_map(page):
    for page.kind, layer in (("encoder_self", 1), ("decoder_self", 2), ("cross", 0)):
        page.radio("kind", page.kind)
        Select(page.one("#layer")).select_by_value(str(layer))
        page.one("#all-heads").click()
        maps = page.data["attention"][page.kind][layer]
        for i, j in ((0, 0), (3, 1), (2, 5)):
            said = read_map(page, i, j)
            if page.kind == "decoder_self" and j > i:
                check("masked" in said, f"{page.kind} {i},{j}: {said}")
                continue
            mean = sum(m[i][j] for m in maps) / 4
            check(abs(float(said.split(": ")[1].split()[0]) - mean) < 1.1e-5, f"{page.kind} {i},{j}: {said}, not {mean}")
        for head in (0, 1, 3):
            page.all("#heads input")[head].find_element(By.XPATH, "..").click()
        said = read_map(page, 3, 1)
        check(abs(float(said.split(": ")[1].split()[0]) - maps[2][3][1]) < 1.1e-5, f"{page.kind}, head 3 alone: {said}")
        page.all("#heads input")[2].find_element(By.XPATH, "..").click()
        check(page.all("#heads input")[2].is_selected(), "the last head can be taken away")
    page.run("document.querySelector('#picture svg').focus()")
    page.press(Keys.ARROW_DOWN)
    page.press(Keys.ARROW_RIGHT)
    check(f": {maps[2][1][1]:.5f}" in page.text("#say"), f"arrow keys on the map: {page.text('#say')}")


def test_lines(page):
    page.radio("view", "lines")
    page.radio("kind", "cross")
    Select(page.one("#layer")).select_by_value("2")
    page.one("#all-heads").click()
    maps = page.data["attention"]["cross"][2]
    wanted = sum(w >= .01 for m in maps for row in m for w in row)
    check(len(page.all("#picture line")) == wanted, f"{len(page.all('#picture line'))} lines, not {wanted}")
    page.run("document.querySelectorAll('#picture .hit')[4].focus()")
    visible = page.run("[...document.querySelectorAll('#picture line')].filter(l => l.getAttribute('visibility') === 'visible').length")
    check(visible == sum(w >= .01 for m in maps for w in m[4]), f"{visible} lines of one token")
    best = max(sum(m[4][j] for m in maps) / 4 for j in range(len(maps[0][4])))
    check(abs(float(page.text("#say").split("→")[1].split(",")[0].split()[-1]) - best) < 1.1e-5, page.text("#say"))


def test_flow(page):
    page.tab("flow")
    norms = {t["name"]: t for t in page.data["backward"]}
    hits = page.run("[...document.querySelectorAll('#diagram .hit')].map(h => [h.dataset.names, h.querySelector('.number')?.textContent])")
    numbers = [(name, text) for name, text in hits if text]
    for name, text in numbers:
        norm = norms[name]["norm"]
        check(math.isclose(float(text.split()[-1]), norm, rel_tol=6e-3, abs_tol=1e-12), f"{name}: {text}, not {norm}")
    shown = {name for names, _ in hits for name in names.split()}
    missing = {name for name in norms if ".past" not in name and ".from_" not in name} - shown
    check(not missing, f"not in the diagram: {missing}")
    for layer in range(3):
        for part in ("keys", "values"):
            check(f"decoder.{layer}.encoder_attn.memory.grad.{part}" in dict(numbers), f"{part} of layer {layer}")
    for at in range(0, len(hits), 7):  # by keyboard: focus chooses
        page.run("document.querySelectorAll('#diagram .hit')[arguments[0]].focus()", at)
        entries = page.run("[...document.querySelectorAll('#details .entry')].map(e => [e.dataset.name, e.querySelector('.norm').textContent, e.textContent])")
        check([e[0] for e in entries] == hits[at][0].split(), f"details of {hits[at][0]}")
        for name, norm, text in entries:
            t = norms[name]
            check(float(norm) == t["norm"] and t["formula"] in text and f"{t['function']}, {t['file']}" in text, f"details: {text}")


def test_saliency(page):
    page.tab("saliency")
    source, target = piece_count(page)
    Select(page.one("#beside")).select_by_value("all")
    Select(page.one("#saliency-token")).select_by_value("2")
    rows = page.run("[...document.querySelectorAll('#shares tr')].slice(1).map(r => [...r.querySelectorAll('.mono')].map(c => c.textContent))")
    heads = [m for layer in page.data["attention"]["cross"] for m in layer]
    check(len(rows) == source, f"{len(rows)} source tokens")
    for s, (saliency, weight) in enumerate(rows):
        check(math.isclose(float(saliency), page.data["saliency"][2][s], rel_tol=6e-3, abs_tol=1e-12), f"saliency of {s}: {saliency}")
        check(abs(float(weight) - sum(m[2][s] for m in heads) / len(heads)) < 1.1e-5, f"attention beside it: {weight}")
    page.run("document.querySelector('#saliency-map svg').focus()")
    page.press(Keys.ARROW_DOWN)
    check(page.one("#saliency-token").get_property("value") == "1", "arrow keys on the saliency map choose the token")
    check(len(page.all("#cross-map rect")) == source * target + 2, "cells of the map beside it")


def test_decoding(page):
    page.tab("decoding")
    steps = page.data["steps"]
    for t, step in enumerate(steps):
        rows = page.run("[...document.querySelectorAll('#best tr')].map(r => [r.cells[0].textContent, r.cells[1].textContent, r.className])")
        check([r[0] for r in rows[:10]] == [b[0] for b in step["best"]], f"step {t}: {rows}")
        check(all(math.isclose(float(r[1]), b[1], rel_tol=6e-3) for r, b in zip(rows, step["best"])), f"step {t}: probabilities")
        chosen = [i for i, r in enumerate(rows) if r[2] == "chosen"]
        check(chosen == [min(step["rank"], 11) - 1], f"step {t}: chosen {chosen}, rank {step['rank']}")
        check(len(page.all("#so-far span")) == t + 1, f"step {t}: what was there so far")
        if t + 1 < len(steps):
            page.one("#next").click()
    check(not page.one("#next").is_enabled(), "next behind the last step")
    page.one("#back").click()
    check(page.text("#step-text").startswith(f"step {len(steps) - 1} of {len(steps)}"), "back")
    page.all("#strip button")[1].click()
    page.press(Keys.ARROW_LEFT)
    check(page.text("#step-text").startswith("step 1 "), "arrow keys")


def test_tensors(page):
    page.tab("tensors")
    for name in ("forward", "backward", "parameters"):
        page.radio("list", name)
        rows = page.run("[...document.querySelectorAll('#list tr')].slice(1).map(r => [r.cells[0].textContent, r.cells[2].textContent])")
        key = "mean" if name == "forward" else "norm"
        check([r[0] for r in rows] == [t["name"] for t in page.data[name]], f"names of {name}")
        check(all(math.isclose(float(r[1]), t[key], rel_tol=6e-3, abs_tol=1e-12) for r, t in zip(rows, page.data[name])), f"{key} of {name}")
    page.one("#filter").send_keys("k_proj")
    names = page.run("[...document.querySelectorAll('#list tr')].slice(1).map(r => r.cells[0].textContent)")
    check(names and names == [t["name"] for t in page.data["parameters"] if "k_proj" in t["name"]], f"filter: {names}")


def test_tabs_by_keyboard(page):
    page.one("#tab-attention").click()
    for name in ("flow", "saliency", "decoding", "tensors", "attention"):
        page.press(Keys.ARROW_RIGHT)
        check(page.one("#" + name).is_displayed(), f"arrow keys to {name}")


def test_widths(page):
    """No horizontal scroll on a phone, light and dark; colours follow the scheme."""
    colours = set()
    for width in (360, 1280):
        for scheme in ("light", "dark"):
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
            page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            colours.add((scheme, page.run("getComputedStyle(document.body).backgroundColor")))
            for tab in ("flow", "saliency", "decoding", "tensors", "attention"):
                page.tab(tab)
                check(page.run("document.documentElement.scrollWidth") <= width, f"{tab} is wider than {width}")
            for view in ("wall", "lines", "map"):
                page.radio("view", view)
                check(page.run("document.documentElement.scrollWidth") <= width, f"{view} is wider than {width}")
    check(len(colours) == 2, f"colours {colours}")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def requests(driver):
    """Addresses that pages asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        driver = start_browser()
        try:
            for norm in ("pre", "post"):
                path, data = make_page(work, norm)
                check(path.stat().st_size < 2e6, f"{path.stat().st_size} bytes")
                page = Page(driver, path, data)
                for test in (test_header, test_wall, test_map, test_lines, test_flow, test_saliency, test_decoding, test_tensors,
                             test_tabs_by_keyboard, test_widths):
                    test(page)
                    errors = [entry["message"] for entry in driver.get_log("browser")]
                    check(not errors, f"{test.__name__}: {errors}")
                asked = [url for url in requests(driver) if not url.startswith(("file:", "data:"))]
                check(not asked, f"the page asked for {asked}")
        finally:
            driver.quit()
    print("all passed" if failures == 0 else f"{failures} failed")
    sys.exit(failures != 0)


main()
