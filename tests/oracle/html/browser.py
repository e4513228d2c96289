"""Chromium, spoken to in the DevTools protocol over a pipe: nothing but the standard library of Python."""
import base64
import json
import os
import re
import shutil
import subprocess

OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
]


class Browser:
    """A browser with one page."""

    def __init__(self, folder):
        # The browser reads commands from descriptor 3 and writes to descriptor 4.
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        options = [*OPTIONS, f"--user-data-dir={folder}"]
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
        self.size(1280, 1000)

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

    def size(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def scheme(self, name, medium=""):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def picture(self, selector=None):
        """The page as it is on the screen as PNG, or all of an element."""
        if selector is None:
            return base64.b64decode(self.call("Page.captureScreenshot")["data"])
        box = self.run(
            f"(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect();"
            " return { x: box.x, y: box.y + scrollY, width: box.width, height: box.height }; })()"
        )
        clip = {**box, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])

    def pages(self):
        """The number of pages when printed on A4."""
        parameters = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": False}
        text = base64.b64decode(self.call("Page.printToPDF", **parameters)["data"])
        return len(re.findall(rb"/Type\s*/Page[^s]", text))

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
