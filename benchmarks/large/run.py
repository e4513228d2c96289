#!/usr/bin/env python3
"""Programs in the style of what people write: how long the inherent property takes, or how many alarms are left.

    benchmarks/large/run.py AVR-TVAR                 measures, writes results/large.json and results/large.md
    benchmarks/large/run.py AVR-TVAR --only usb      only programs with this text in their name; writes nothing

The aim is an answer within 2 minutes and 2 GB, or at most five alarms. Exit code 1: some program has neither, or the verdict is `violated`, which none of
them is.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
RESULTS = BENCHMARKS / "results" / "large.json"
TABLE = BENCHMARKS / "results" / "large.md"
LIMIT = "2m"
MOST_BYTES = 2 << 30
MOST_ALARMS = 5
PROPERTIES = '(device: "atmega328p", properties: [Inherent(name: "inherent")])\n'


def measured(tool, image, properties):
    """What `verify` says of an image, with its CPU time and its largest memory."""
    command = [tool, "verify", image, properties, "--timeout", LIMIT, "--format", "json", "-q"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        report = json.load(output)
    found = report["invariants"]
    return {
        "program": image.stem,
        "flash_bytes": flash_bytes(image),
        "verdict": report["results"][0]["verdict"],
        "bound": report["stack"]["upper"],
        "alarms": len(found["alarms"]),
        "open": found["open"],
        "steps_of_the_map": found["steps"],
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "memory_mib": round(used.ru_maxrss / 1024),
    }


def flash_bytes(image):
    """The size of code and constants."""
    sizes = subprocess.run(["avr-size", image], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")[1].split()
    return int(sizes[0]) + int(sizes[1])


def is_reached(row):
    """True if the aim is reached."""
    is_small = row["memory_mib"] << 20 <= MOST_BYTES
    return row["verdict"] == "holds" and is_small or row["verdict"] == "unknown" and 0 < row["alarms"] <= MOST_ALARMS


def table(rows):
    """The rows for people."""
    lines = ["| program | flash | verdict | bound | alarms | CPU | memory | why the map is open |", "|---|--:|---|--:|--:|--:|--:|---|"]
    for row in rows:
        bound = "-" if row["bound"] is None else row["bound"]
        reason = "; ".join(row["open"] or []) or "-"
        lines.append(
            f"| {row['program']} | {row['flash_bytes']} B | {row['verdict']} | {bound} | {row['alarms']} | {row['cpu_seconds']} s "
            f"| {row['memory_mib']} MiB | {reason} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    images = [image for image in sorted((BENCHMARKS / "large/images").glob("*.elf")) if options.only in image.stem]
    with tempfile.TemporaryDirectory() as folder:
        properties = pathlib.Path(folder, "inherent.ron")
        properties.write_text(PROPERTIES)
        rows = [measured(options.tool, image, properties) for image in images]
    print(table(rows), end="")
    if not options.only:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
        TABLE.write_text(table(rows))
    return 0 if all(is_reached(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
