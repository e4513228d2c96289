#!/usr/bin/env python3
"""Opens the HTML report in headless Chromium, clicks through it, and keeps a screenshot.

    tests/oracle/html/run.py AVR-TVAR [SCREENSHOT.png]

The page must work without a network, write nothing to the console, and the stepper must show the state that the run
has in the report in JSON. Needs Debian's chromium; nothing but the standard library of Python, which speaks to the browser
over a pipe. Exit code 1: something differs.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# A run with inputs and source lines, one with a loop and interrupts, one without symbols, and a long one.
SAMPLES = [
    ("branch/branch.Og.elf", "branch.ron"),
    ("timer-blink/timer-blink.Os.elf", "timer-blink.ron"),
    ("calibration-original/calibration-original.Os.hex", "calibration-original.Os.hex.ron"),
    ("deep-recursion-limited/deep-recursion-limited.Os.elf", "deep-recursion-limited.ron"),
]


class Browser:
    """Chromium, spoken to in the DevTools protocol over a pipe."""

    def __init__(self, folder):
        # The browser reads commands from descriptor 3 and writes to descriptor 4.
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        script = f"exec {shutil.which('chromium')} {' '.join(options)} about:blank 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(
            ["bash", "-c", script], pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.session, self.events = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        size = {"width": 1280, "height": 1600, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 16)
            if not part:
                raise SystemExit("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.output, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def problems(self):
        """What was written to the console, thrown, or fetched from elsewhere."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]:
                found.append(json.dumps(parameters)[:400])
            url = parameters.get("request", {}).get("url", "") if method == "Network.requestWillBeSent" else ""
            if url and not url.startswith(("file:", "data:")):
                found.append(f"fetches {url}")
        return found

    def end(self):
        self.process.terminate()
        self.process.wait()


def report(tool, folder, image, properties):
    page, data = folder / "report.html", folder / "report.json"
    command = [tool, "verify", f"firmware-samples/{image}", f"properties/{properties}"]
    reports = ["--report", f"html={page}", "--report", f"json={data}", "--timeout", "60s"]
    subprocess.run([*command, *reports], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return page, json.loads(data.read_text())


def check_page(browser, page, data):
    """What is wrong with a page."""
    wrong = []

    def expect(what, observed, expected):
        if observed != expected:
            wrong.append(f"{what}: {observed!r}, expected {expected!r}")

    browser.open(page)
    expect("ready", browser.run("document.body.dataset.ready"), "yes")
    verdicts = browser.run("[...document.querySelectorAll('td.verdict')].map((cell) => cell.textContent)")
    expect("verdicts", verdicts, [result["verdict"] for result in data["results"]])
    shown = [result["evidence"] for result in data["results"] if result["evidence"]]
    expect("runs", browser.run("document.querySelectorAll('[data-run]').length"), len(shown))
    for number, evidence in enumerate(shown):
        run = f"document.querySelector('[data-run=\"{number}\"]')"
        part = lambda name: browser.run(f"{run}.querySelector('[data-part=\"{name}\"]').textContent")
        click = lambda move: browser.run(f"{run}.querySelector('[data-move={move}]').click()")
        first = part("registers")
        click("last")
        expect(f"run {number}: position", part("position"), str(evidence["steps"]))
        end = evidence["end"]
        flags = "".join(flag if end["sreg"] >> (7 - bit) & 1 else "-" for bit, flag in enumerate("ITHSVNZC"))
        for text in [f"SP {end['sp']:04x}", f"SREG {flags}", f"PC {end['pc']:04x}"]:
            expect(f"run {number}: '{text}' at the end", text in part("registers"), True)
        for step in range(min(5, evidence["steps"])):
            click("back")
        expect(f"run {number}: position", part("position"), str(evidence["steps"] - min(5, evidence["steps"])))
        for step in range(min(5, evidence["steps"])):
            click("next")
        expect(f"run {number}: position", part("position"), str(evidence["steps"]))
        expect(f"run {number}: code", browser.run(f"{run}.querySelectorAll('.code .here').length > 0"), True)
        click("first")
        expect(f"run {number}: registers", part("registers"), first)
        click("last")
    browser.run("document.querySelectorAll('nav a').forEach((link) => link.click())")
    count = browser.run("document.querySelectorAll('.routine').length")
    expect("routines", count > 0, True)
    browser.run("document.querySelector('.routine').dispatchEvent(new MouseEvent('click'))")
    expect("about a routine", "abstract states" in browser.run("document.getElementById('routine').textContent"), True)
    expect("coverage", browser.run("document.querySelectorAll('#coverage ~ pre .reached').length") > 0, True)
    return wrong + browser.problems()


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    screenshot = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "target/html-report.png")
    failed = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        browser = Browser(folder / "profile")
        for image, properties in SAMPLES:
            page, data = report(tool, folder, image, properties)
            wrong = check_page(browser, page, data)
            failed |= bool(wrong)
            print("WRONG" if wrong else "ok   ", image, f"{page.stat().st_size} bytes", *wrong, sep="\n  " if wrong else " ")
            if image == SAMPLES[1][0]:
                browser.run("scrollTo(0, 0)")
                picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                screenshot.parent.mkdir(parents=True, exist_ok=True)
                screenshot.write_bytes(base64.b64decode(picture))
                print("      screenshot:", screenshot)
        browser.end()
    sys.exit(failed)


main()
