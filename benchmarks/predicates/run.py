#!/usr/bin/env python3
"""Configurations of explicit values and predicates against classes of programs, as a heat map.

    benchmarks/predicates/run.py AVR-TVAR                 measures, writes results/predicates.json and docs/scaling/predicates.svg
    benchmarks/predicates/run.py AVR-TVAR --only word     only classes with this text in their name; the others stay as they were
    benchmarks/predicates/run.py --draw                   measures nothing, draws what was measured before

A cell has the programs that were decided, of all in the class, and the CPU time of all of them together. A run is interrupted after
--limit seconds of CPU time; without invariants, so that state spaces decide, on one thread. Exit code 1: a verdict is wrong.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from xml.sax.saxutils import escape

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = BENCHMARKS.parent
IMAGES = BENCHMARKS / "predicates" / "images"
SAMPLES = REPOSITORY / "firmware-samples"
RESULTS = BENCHMARKS / "results" / "predicates.json"
PICTURE = REPOSITORY / "docs" / "scaling" / "predicates.svg"
PROPERTIES = '(device: "atmega328p", properties: [Always(name: "no error", check: "PORTB != 0x2a")])'
CONFIGURATIONS = {
    "explicit, k = 1": ["--no-predicates", "--enumerate", "1"],
    "explicit, k = 2": ["--no-predicates", "--enumerate", "2"],
    "explicit, k = 8": ["--no-predicates", "--enumerate", "8"],
    "explicit, k = 32": ["--no-predicates", "--enumerate", "32"],
    "predicates, k = 1": ["--enumerate", "1"],
    "product, k = 4": [],
    "product, k = 32": ["--enumerate", "32"],
}
# Classes of samples by their names.
SAMPLE_CLASSES = {
    "samples: words": ("word-twice", "word-twice-buggy"),
    "samples: lamps": ("lamp", "lamp-buggy"),
    "samples: packets": ("packet", "message"),
    "samples: blinking": ("blink",),
}
MOST_SAMPLES = 5


def programs():
    """Classes of programs: for each its programs as (name, image, properties, right verdicts)."""
    classes = {}
    for image in sorted(IMAGES.glob("*.hex")):
        held, bits, shape = image.stem.split("-")
        name = "flag" if bits == "1" else f"{bits} bits in {held}"
        right = ["violated" if shape == "changed" else "holds"]
        classes.setdefault(name, []).append((image.stem, image, None, right))
    order = sorted(classes, key=lambda name: (name.split()[-1], int(re.sub(r"\D", "", name) or 0)))
    classes = {name: classes[name] for name in order}
    text = re.sub(r"//.*", "", (SAMPLES / "expected.ron").read_text())
    entry = re.compile(r'sample:\s*"([^"]+)",\s*device:\s*"([^"]+)",\s*images:\s*\[(.*?)\],\s*verdicts:\s*\{(.*?)\}', re.S)
    for sample, _, images, verdicts in entry.findall(text):
        for name, prefixes in SAMPLE_CLASSES.items():
            if not any(sample == one or sample.startswith(f"{one}-") for one in prefixes) or "word-twice" in sample and name != "samples: words":
                continue
            found = re.findall(r'\("([^"]+\.Og\.elf)",\s*"([^"]+)"\)', images)[:1]
            for image, properties in found:
                right = dict(re.findall(r'"([^"]+)":\s*"([^"]+)"', verdicts))
                kept = classes.setdefault(name, [])
                if len(kept) < MOST_SAMPLES:
                    kept.append((sample, SAMPLES / sample / image, REPOSITORY / "properties" / properties, right))
    return classes


def interrupt_after(pid, limit):
    """Interrupts a process that has worked for so many seconds; it then says what it knows."""
    ticks = os.sysconf("SC_CLK_TCK")
    while True:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        if fields[0] == "Z":
            return
        if (int(fields[11]) + int(fields[12])) / ticks >= limit:
            os.kill(pid, signal.SIGINT)
            return
        time.sleep(0.02)


def run(tool, options, image, properties, limit):
    """The verdicts of a run by the names of properties, and its CPU time."""
    command = [tool, "verify", str(image), str(properties), *options, "--no-invariants", "--jobs", "1",
               "--timeout", "none", "--format", "json", "--quiet", "--no-config"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watcher = threading.Thread(target=interrupt_after, args=(process.pid, limit))
    watcher.start()
    output = process.stdout.read()
    watcher.join()
    _, _, usage = os.wait4(process.pid, 0)
    results = json.loads(output)["results"]
    return {result["name"]: result["verdict"] for result in results}, usage.ru_utime + usage.ru_stime


def measure(tool, only, limit, measured):
    """Measures all cells; the number of wrong verdicts."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder, "no-error.ron")
        own.write_text(PROPERTIES)
        for name, members in programs().items():
            if only and only not in name:
                continue
            measured[name] = {}
            for configuration, options in CONFIGURATIONS.items():
                decided, seconds, undecided = 0, 0.0, []
                for program, image, properties, right in members:
                    verdicts, cpu = run(tool, options, image, properties or own, limit)
                    expected = right if isinstance(right, dict) else dict(zip(verdicts, right))
                    for what, verdict in verdicts.items():
                        if verdict != "unknown" and verdict != expected.get(what, verdict):
                            print(f"{program}: {what} is {verdict}, which is wrong", file=sys.stderr)
                            wrong += 1
                    seconds += cpu
                    if all(verdict != "unknown" for verdict in verdicts.values()):
                        decided += 1
                    else:
                        undecided.append(program)
                cell = {"decided": decided, "programs": len(members), "cpu": round(seconds, 2), "undecided": undecided}
                measured[name][configuration] = cell
                print(f"{name}, {configuration}: {decided} of {len(members)}, {seconds:.1f} s", flush=True)
    return wrong


def colour(share):
    """From a light red over white to green."""
    ends = ((0xF4, 0xB6, 0xA6), (0xFF, 0xF6, 0xD5), (0x9F, 0xD8, 0xA4))
    low, high, part = (ends[0], ends[1], 2 * share) if share < 0.5 else (ends[1], ends[2], 2 * share - 1)
    return "#" + "".join(f"{round(a + (b - a) * part):02X}" for a, b in zip(low, high))


def drawn(measured):
    """The heat map."""
    left, top, width, height = 170, 40, 112, 38
    columns, rows = list(CONFIGURATIONS), list(measured)
    size = (left + width * len(columns) + 10, top + height * len(rows) + 30)
    parts = [f'<svg width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" xmlns="http://www.w3.org/2000/svg" '
             'font-family="sans-serif" font-size="12">',
             "<title>Programs decided and CPU time, by configuration and class of programs</title>",
             f'<rect width="{size[0]}" height="{size[1]}" fill="#FFFFFF"/>']
    for column, name in enumerate(columns):
        parts.append(f'<text x="{left + width * column + width / 2}" y="{top - 12}" text-anchor="middle">{escape(name)}</text>')
    for row, name in enumerate(rows):
        y = top + height * row
        parts.append(f'<text x="{left - 10}" y="{y + height / 2 + 4}" text-anchor="end">{escape(name)}</text>')
        for column, configuration in enumerate(columns):
            cell = measured[name].get(configuration)
            if cell is None:
                continue
            x = left + width * column
            parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{height - 2}" '
                         f'fill="{colour(cell["decided"] / cell["programs"])}"/>')
            text = f'{cell["decided"]} of {cell["programs"]}, {cell["cpu"]:.1f} s'
            parts.append(f'<text x="{x + width / 2}" y="{y + height / 2 + 4}" text-anchor="middle">{text}</text>')
    note = "programs decided, and CPU time of all of them together; state spaces only, without invariants"
    parts.append(f'<text x="{left}" y="{size[1] - 8}" fill="#555555">{note}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="?", help="avr-tvar")
    parser.add_argument("--only", default="", help="only classes with this text in their name")
    parser.add_argument("--limit", type=int, default=5, help="seconds of CPU time for each run (5)")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    measured = json.loads(RESULTS.read_text())["classes"] if RESULTS.exists() else {}
    wrong = 0
    if not arguments.draw:
        if arguments.tool is None:
            parser.error("name avr-tvar, or draw what was measured before with --draw")
        wrong = measure(arguments.tool, arguments.only, arguments.limit, measured)
        RESULTS.write_text(json.dumps({"limit": arguments.limit, "classes": measured}, indent=2) + "\n")
    PICTURE.write_text(drawn(measured))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
