#!/usr/bin/env python3
"""Lets libsimavr come to the place in each program of tests/regressions on which its verdict turns.

    tests/oracle/regressions/run.py

Every program must come to its label `reached` in some random run, and where expected.ron has a `deepest`, SP must get as deep.
Needs gcc, libsimavr-dev, libelf-dev and binutils-avr. Exit code 1: something is not seen.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "tests/regressions"
SEEDS = range(1, 41)


def entries():
    """(image, options, deepest stack or 0) of each entry that simavr is to see."""
    text = re.sub(r"^ *//.*$", "", (FOLDER / "expected.ron").read_text(), flags=re.M)
    for entry in re.findall(r"\(image: .*?\),\n", text, re.S):
        if "observe:" not in entry:
            continue
        options = re.findall(r'"([^"]*)"', re.search(r"observe: \[(.*?)\]", entry).group(1))
        deepest = re.search(r"deepest: (\d+)", entry)
        yield re.search(r'image: "([^"]+)"', entry).group(1), options, int(deepest.group(1)) if deepest else 0


def label(image):
    names = subprocess.run(["avr-nm", image], capture_output=True, text=True, check=True).stdout
    return re.search(r"^(\w+) . reached$", names, re.M).group(1)


def problem(observer, entry):
    """The label or depth that simavr does not come to in any run; none if it does."""
    name, options, wanted = entry
    image = FOLDER / "images" / f"{name}.elf"
    seen, deepest = False, 0
    for seed in SEEDS:
        command = [observer, image, "--seed", str(seed), "--watch", label(image), "--any-depth", "1", *options]
        shown = subprocess.run([str(part) for part in command], capture_output=True, text=True).stdout
        seen = seen or re.search(r"^(?:[0-9a-f]{2} ){5}", shown, re.M) is not None
        deepest = max([deepest] + [int(depth) for depth in re.findall(r"^stack (\d+)$", shown, re.M)])
        if seen and deepest >= wanted:
            return None
    return f"{name}: reached: {seen}, deepest {deepest} of {wanted}"


def main():
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        observer = pathlib.Path(folder) / "observe"
        source = ROOT / "tests/oracle/samples/observe.c"
        subprocess.run(["gcc", "-O2", "-o", observer, source, "-lsimavr", "-lelf"], check=True)
        all_entries = sorted(set((name, tuple(options), deepest) for name, options, deepest in entries()))
        found = [wrong for wrong in pool.map(lambda entry: problem(observer, entry), all_entries) if wrong]
    for line in found:
        print("WRONG", line)
    print(f"{len(all_entries)} regressions in libsimavr, {len(found)} of them do not come where they should")
    sys.exit(1 if found or len(all_entries) < 20 else 0)


main()
