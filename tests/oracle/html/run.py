#!/usr/bin/env python3
"""Opens HTML reports in headless Chromium, clicks through all of them, and makes the screenshots of the book.

    tests/oracle/html/run.py AVR-TVAR [FOLDER]

The page must work without a network, write nothing to the console, open at the failing step, and show there the state that
the run has in the report in JSON. Text has a contrast of 4.5 at least in both colour schemes, no link leads nowhere, nothing is
wider than 400 pixels, and the printed page has at most 6 pages, without controls and black on white also where the screen is dark. The screenshots go into FOLDER, by default
`target/html-report`; `docs/images` has those of the book. Needs Debian's chromium and avr-gcc. Exit code 1: something differs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHECKS = (pathlib.Path(__file__).parent / "checks.js").read_text()
MAX_BYTES, MAX_PAGES, MAX_PICTURE = 2_000_000, 6, 200_000
# A run with inputs and source lines, one with a loop and interrupts, one without symbols, a long one, a handler that overruns
# a buffer, a jump to anywhere, and no answer at all.
SAMPLES = [
    ("branch/branch.Og.elf", "branch.ron", []),
    ("timer-blink/timer-blink.Os.elf", "timer-blink.ron", []),
    ("calibration-original/calibration-original.Os.hex", "calibration-original.Os.hex.ron", []),
    ("deep-recursion-limited/deep-recursion-limited.Os.elf", "deep-recursion-limited.ron", []),
    ("lamp-buggy/lamp-buggy.Os.elf", "lamp-line.ron", ["--clock", "16MHz"]),
    ("parser-overflow/parser-overflow.Og.elf", "inherent.ron", ["--clock", "8MHz"]),
    ("branch/branch.Og.elf", "branch.ron", ["--timeout", "0"]),
    # A claim that two runs show, and a run that goes on behind a loop which takes long.
    ("branch/branch.Og.elf", None, ["--property", "EF (PORTD == 1) && EF (PORTD == 2)"]),
    ("late.elf", None, ["--property", "EF (PORTB == 1)"]),
]
LATE = """
#define F_CPU 16000000UL
#include <avr/io.h>
#include <util/delay.h>

int main(void)
{
    DDRB = 1;
    while (!(PINB & 2)) {
    }
    _delay_ms(4000);
    PORTB = 1;
    for (;;) {
    }
}
"""
# The sample and the parts of its page that the book shows.
SHOWN = "lamp-buggy/lamp-buggy.Os.elf"


def report(tool, folder, image, properties, options):
    page, data = folder / "report.html", folder / "report.json"
    firmware = f"firmware-samples/{image}" if "/" in image else image
    command = [tool, "verify", firmware, *([f"properties/{properties}"] if properties else []), *options]
    reports = ["--report", f"html={page.name}", "--report", f"json={data.name}"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}
    subprocess.run([*command, *reports], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return page, json.loads(data.read_text())


class Check:
    """The checks of one page."""

    def __init__(self, browser, page, data):
        self.browser, self.page, self.data, self.wrong = browser, page, data, []
        # The number of runs of the property that has most.
        self.most_ways = 0

    def expect(self, what, observed, expected=True):
        if observed != expected:
            self.wrong.append(f"{what}: {observed!r}, expected {expected!r}")

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def shown(self, selector):
        return self.browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].filter((one) => one.checkVisibility()).length")

    def click(self, selector):
        self.browser.run(f"document.querySelector({json.dumps(selector)}).dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true}}))")

    def type(self, selector, text):
        self.browser.run(
            f"(() => {{ const input = document.querySelector({json.dumps(selector)}); input.value = {json.dumps(text)};"
            " input.dispatchEvent(new Event('input')); input.dispatchEvent(new Event('change')); })()"
        )

    def position(self):
        return int(re.match(r"step ([\d,]+) of", self.text("#position"))[1].replace(",", ""))

    def all(self):
        self.expect("size", self.page.stat().st_size < MAX_BYTES)
        self.browser.size(1280, 1000)
        self.browser.open(self.page)
        self.expect("ready", self.browser.run("document.body.dataset.ready"), "yes")
        self.head()
        self.runs()
        self.filters()
        self.coverage()
        self.stack()
        if self.count("#graph"):
            self.graph()
        self.looks()
        return self.wrong + self.browser.problems()

    def head(self):
        results = self.data["results"]
        for verdict in ["violated", "unknown", "holds"]:
            count = sum(result["verdict"] == verdict for result in results)
            self.expect(f"tile {verdict}", self.text(f".tile.{verdict} b"), str(count))
        verdicts = self.browser.run("[...document.querySelectorAll('.list .verdict')].map((one) => one.textContent)")
        self.expect("verdicts", [one for one in verdicts if one != "finding"], [result["verdict"] for result in results])
        facts = self.text(".facts")
        files = ["properties/"] if any(one["role"] == "properties" for one in self.data["inputs"]) else []
        for fact in ["2026-01-01 00:00 UTC", "avr-tvar verify", *files, self.data["firmware"]["device"]]:
            self.expect(f"'{fact}' among the facts", fact in facts)

    def runs(self):
        """The page opens at the first failure; all runs can be stepped through."""
        results = self.data["results"]
        failing = [number for number, result in enumerate(results) if result["verdict"] == "violated" and result["evidence"]]
        if failing:
            self.expect("opens", self.browser.run("document.querySelector('.detail > article:not([hidden])').id"), f"property-{failing[0]}")
        for number, result in enumerate(results):
            self.click(f".list a[href='#property-{number}']")
            self.expect(f"property {number}", self.browser.run(f"document.getElementById('property-{number}').hidden"), False)
            if result["evidence"]:
                self.ways(number, result["evidence"])
        if failing:
            self.click(f".list a[href='#property-{failing[0]}']")

    def ways(self, number, evidence):
        """All runs of a property: what shows it, what shows claims about other continuations, and what comes behind a loop."""
        behind = evidence["continuation"]
        ways = [evidence, *evidence["branches"], *([behind["run"]] if behind else [])]
        self.expect(f"runs of property {number}", self.shown("#ways button"), len(ways) if len(ways) > 1 else 0)
        for index, way in enumerate(ways):
            if len(ways) > 1:
                self.browser.run(f"document.querySelectorAll('#ways button')[{index}].click()")
                marked = "[...document.querySelectorAll('#ways button')].findIndex((one) => one.ariaCurrent === 'true')"
                self.expect(f"run {number}.{index} is marked", self.browser.run(marked), index)
            is_behind = bool(behind) and way is behind["run"]
            begins = ", ".join(f"{cell} = {value:#04x}" for cell, value in behind["cells"].items()) if is_behind else ""
            self.expect(f"run {number}.{index} begins", begins in self.text("#begins") and bool(begins) == bool(self.text("#begins")))
            self.run(f"run {number}.{index}", way)
        self.most_ways = max(self.most_ways, len(ways))

    def run(self, name, evidence):
        end, steps = evidence["end"], evidence["steps"]
        self.expect(f"{name}: position", self.position(), steps)
        self.browser.run("document.querySelector('#machine').open = true")
        self.browser.run("panes.state(stepper.run, stepper.position)")
        flags = "".join(flag if end["sreg"] >> (7 - bit) & 1 else "-" for bit, flag in enumerate("ITHSVNZC"))
        for text in [f"SP {end['sp']:04x}", f"SREG {flags}", f"PC {end['pc']:04x}"]:
            self.expect(f"{name}: '{text}' at the end", text in self.text("#registers"))
        rows = self.browser.run("[...document.querySelectorAll('#watch > table tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        watched = dict(row for row in rows)
        for atom, value in end["atoms"].items():
            self.expect(f"{name}: '{atom}'", watched.get(atom), str(value).lower())
        self.expect(f"{name}: calls", self.count("#calls li"), len(end["calls"]))
        line = end["calls"][0]["line"]
        if line:
            place = line.rsplit("/", 1)[-1]
            self.expect(f"{name}: opens at {place}", self.text("#where").startswith(place))
            self.expect(f"{name}: the line is marked", self.text("#source .here i"), place.rsplit(":", 1)[1])
        else:
            self.expect(f"{name}: something is marked", self.count("#source .here"), 1 if self.count("#source > *") else 0)
        self.expect(f"{name}: what it shows", "here" in self.text("#happens") or "Hazard" in self.text("#happens"))
        self.moves(name, steps)
        self.inputs(name, evidence)
        self.timing(name)
        self.lists(name)
        self.click("[data-move=last]")
        self.expect(f"{name}: the end again", self.position(), steps)

    def moves(self, name, steps):
        positions = [self.position()]
        for _ in range(min(5, steps)):
            self.click("[data-move=back]")
            positions.append(self.position())
        self.expect(f"{name}: back", positions == sorted(set(positions), reverse=True))
        for expected in reversed(positions[:-1]):
            self.click("[data-move=next]")
            self.expect(f"{name}: next", self.position(), expected)
        self.click("[data-move=first]")
        self.expect(f"{name}: first", self.position(), 0)
        first = self.text("#registers")
        visited = [0]
        while visited[-1] < steps and len(visited) < 2000:
            self.click("[data-move=line-next]")
            visited.append(self.position())
        self.expect(f"{name}: by lines to the end", visited[-1], steps)
        self.click("[data-move=line-back]")
        self.expect(f"{name}: back by a line", self.position() < steps or steps == 0)
        self.click("[data-move=first]")
        self.expect(f"{name}: the first state again", self.text("#registers"), first)
        keys = "document.querySelector('#run').dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}))"
        self.browser.run(keys)
        self.expect(f"{name}: key", self.position(), steps)
        self.type("#slider", "0")
        self.expect(f"{name}: slider", self.position(), 0)

    def inputs(self, name, evidence):
        """A click on an input leads to the step that takes it."""
        steps = self.browser.run("[...document.querySelectorAll('#inputs button')].map((one) => Number(one.textContent.split(':')[0]))")
        taken = {one["step"] for one in evidence["inputs"]}
        self.expect(f"{name}: inputs", set(steps) <= taken and (bool(steps) or not taken or evidence["steps"] > 3000))
        for number, step in list(enumerate(steps))[:8]:
            self.browser.run(f"document.querySelectorAll('#inputs button')[{number}].click()")
            self.expect(f"{name}: input at step {step}", self.position(), step)

    def timing(self, name):
        lanes = self.count("#timing .labels > div:not(.head)")
        self.expect(f"{name}: lanes of the timing diagram", lanes > 0)
        self.expect(f"{name}: labels of the time axis", self.count("#timing .tick") > 0)
        width = "Number(document.querySelector('#timing svg').getAttribute('width'))"
        before = self.browser.run(width)
        self.click("[data-time=in]")
        self.expect(f"{name}: more detail", self.browser.run(width) > before)
        self.click("[data-time=out]")
        self.click("[data-time=fit]")
        self.expect(f"{name}: the whole", self.browser.run(width), before)
        expected = self.browser.run(
            "(() => { const box = document.querySelector('#timing svg').getBoundingClientRect();"
            " const clientX = Math.round(box.left + timing.xs[timing.xs.length >> 1]);"
            " document.querySelector('#timing svg').dispatchEvent(new MouseEvent('click', {clientX, bubbles: true}));"
            " return timing.positionAt(clientX - box.left); })()"
        )
        self.expect(f"{name}: a click on the time", self.browser.run("stepper.position"), expected)

    def lists(self, name):
        for filtered in ["inputs", "interrupts", "watch", "all"]:
            self.type("#steps-filter", filtered)
            self.expect(f"{name}: steps {filtered}", self.count("#steps > div") > 0)
        self.browser.run("document.querySelector('#steps > div').click()")
        self.expect(f"{name}: the first step of the list", self.position(), 0)
        self.browser.run("document.querySelectorAll('#calls button').forEach((button) => button.click())")

    def filters(self):
        entries = self.shown(".list li")
        for verdict in ["violated", "unknown", "holds"]:
            count = sum(result["verdict"] == verdict for result in self.data["results"])
            if count:
                self.click(f".tile.{verdict}")
                self.expect(f"entries {verdict}", self.shown(".list li"), count)
                self.click(f".tile.{verdict}")
        self.expect("entries", self.shown(".list li"), entries)
        self.type("#search", "no property has this name")
        self.expect("entries found", self.shown(".list li"), 0)
        self.expect("nothing matches", self.shown("#nothing"), 1)
        self.click("#all")
        self.expect("all entries", self.shown(".list li"), entries)

    def reaches(self):
        """True if the proof reaches something."""
        return bool(self.data["reached"] and self.data["reached"]["instructions"])

    def coverage(self):
        self.expect("percentage", bool(re.match(r"\d+%", self.text("#coverage p b"))))
        for number in range(self.count(".file")):
            text = self.text(f"#file-{number} summary")
            self.expect(f"percentage of file {number}", bool(re.search(r"\d+%.*\d+ of \d+ lines", text)))
            self.browser.run(f"document.querySelector('#file-{number}').open = true")
        if self.count("#gaps"):
            self.click("#gaps")
            self.expect("only what is not reached", self.shown(".file .l.hit"), 0)
            self.click("#gaps")
        self.browser.run("document.querySelector('#listing').open = true; decorate()")
        if self.reaches():
            self.expect("marks", self.count("#code .hit") > 0)
        self.type("#find", "jmp")
        self.expect("found", bool(re.match(r"\d+ line", self.text("#found"))))
        self.type("#find", "")

    def stack(self):
        self.expect("stack", len(self.text("#stack p")) > 0)
        if self.reaches():
            self.expect("routines", self.count("#stack .bars .row") > 0)

    def graph(self):
        width = "Number(document.querySelector('#canvas svg').getAttribute('width'))"
        fitting = self.browser.run(width)
        self.click("[data-zoom=in]")
        self.expect("larger", self.browser.run(width) > fitting)
        self.click("[data-zoom=out]")
        self.click("[data-zoom=out]")
        self.expect("smaller", self.browser.run(width) < fitting)
        self.click("[data-zoom=fit]")
        self.expect("fit", self.browser.run(width), fitting)
        self.expect("functions", self.count("#canvas .cluster"), self.browser.run("new Set([...document.querySelectorAll('#canvas .cluster > .box')].map((one) => one.getAttribute('x') + ' ' + one.getAttribute('y'))).size"))
        self.expect("a lane of interrupts", self.count("#canvas .lane"), int(any(name.startswith("interrupt ") for name in self.data["reached"]["routines"])))
        self.type("#seek", self.browser.run("document.querySelector('#canvas .cluster').dataset.name"))
        self.expect("sought", self.count("#canvas .found") > 0)
        self.type("#seek", "")
        for part in [".cluster > .box", ".block > .heat"]:
            self.click(f"#canvas {part}")
            self.expect(f"about {part}", "abstract state" in self.text("#about"))

    def looks(self):
        """Contrast in both schemes with everything open, links, names of controls, the width, and the pages on paper."""
        self.browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for scheme in ["dark", "light"]:
            self.browser.scheme(scheme)
            self.wrong += [f"{scheme}: {one}" for one in self.browser.run(f"{CHECKS}.contrast()")]
        self.wrong += self.browser.run(f"[...{CHECKS}.links(), ...{CHECKS}.names(), ...{CHECKS}.width()]")
        self.browser.size(400, 900)
        self.browser.open(self.page)
        self.wrong += self.browser.run(f"{CHECKS}.width()")
        self.browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        self.wrong += self.browser.run(f"{CHECKS}.width()")
        self.browser.size(1280, 1000)
        self.browser.open(self.page)
        self.browser.scheme("dark", "print")
        self.wrong += [f"printed: {one}" for one in self.browser.run(f"[...{CHECKS}.paper(), ...{CHECKS}.contrast()]")]
        self.browser.scheme("light")
        self.expect("pages on paper", 1 <= self.browser.pages() <= MAX_PAGES)


def pictures(browser, page, folder):
    """The screenshots of the book, and what is wrong with them."""
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, selector=None):
        picture = browser.picture(selector)
        (folder / f"{name}.png").write_bytes(picture)
        return [f"{name}.png has {len(picture)} bytes"] if len(picture) > MAX_PICTURE else []

    browser.size(1280, 1060)
    browser.open(page)
    wrong = save("report")
    wrong += save("report-run", "#run")
    wrong += save("report-stack", "#stack")
    wrong += save("report-states", "#canvas")
    browser.scheme("dark")
    browser.size(400, 800)
    browser.open(page)
    wrong += save("report-phone")
    browser.scheme("light")
    return wrong


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    pictured = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "target/html-report")
    failed = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        for beside in ["firmware-samples", "properties"]:
            (folder / beside).symlink_to(ROOT / beside)
        browser = Browser(folder / "profile")
        (folder / "late.c").write_text(LATE)
        subprocess.run(["avr-gcc", "-mmcu=atmega328p", "-Os", "-gdwarf-4", "late.c", "-o", "late.elf"], cwd=folder, check=True)
        for image, properties, options in SAMPLES:
            page, data = report(tool, folder, image, properties, options)
            check = Check(browser, page, data)
            wrong = check.all()
            if properties is None and check.most_ways < 2:
                wrong.append("no property has two runs")
            if image == SHOWN:
                wrong += pictures(browser, page, pictured)
            failed |= bool(wrong)
            print("WRONG" if wrong else "ok   ", image, *options, f"{page.stat().st_size} bytes", *wrong, sep="\n  " if wrong else " ")
        browser.end()
    sys.exit(failed)


main()
