#!/usr/bin/env python3
"""Compares the worst-case stack of the samples with the deepest that libsimavr reaches on random runs.

    tests/oracle/stack/run.py AVR-TVAR [SAMPLE...]

SP must never go below the upper bound; where the bound is exact, the deepest of the random runs is printed beside it. Needs
gcc, libsimavr-dev and libelf-dev. Exit code 1: a run needs more than the bound.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Steps of a run, how often something is requested, and the seeds.
STEPS, EVERY, SEEDS = 200_000, (20, 200), (1, 2, 3)
# A bound that is not found within this time is not compared.
SECONDS = 5


def images(wanted):
    """The ELF images of the samples for the chip that libsimavr knows best."""
    text = re.sub(r"//.*", "", (ROOT / "firmware-samples/expected.ron").read_text())
    for entry in text.split("sample:")[1:]:
        name = re.match(r'\s*"([^"]+)"', entry).group(1)
        if 'device: "attiny85"' in entry or wanted and name not in wanted:
            continue
        listed = re.search(r"images:\s*\[(.*?)\]", entry, re.S).group(1)
        for image, properties in re.findall(r'\("([^"]+)",\s*"([^"]+)"\)', listed):
            if image.endswith(".elf"):
                yield name, image, properties


def bound(tool, name, image, properties):
    command = [tool, "stack", f"firmware-samples/{name}/{image}", f"properties/{properties}", "--format", "json"]
    done = subprocess.run([*command, "--timeout", str(SECONDS)], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout)


def deepest(observer, name, image):
    """The deepest stack of some random runs."""
    depths = []
    for every in EVERY:
        for seed in SEEDS:
            options = ["--steps", str(STEPS), "--seed", str(seed), "--every", str(every)]
            path = ROOT / "firmware-samples" / name / image
            done = subprocess.run([observer, path, *options], capture_output=True, text=True)
            depths += [int(depth) for depth in re.findall(r"^stack (\d+)$", done.stdout, re.M)]
    return max(depths)


def compare(tool, observer, sample):
    name, image, properties = sample
    found, reached = bound(tool, name, image, properties), deepest(observer, name, image)
    upper = found["upper"]
    what = f"{image}: at most {upper}, some run {found['lower']}, random runs {reached}"
    if upper is None:
        return True, f"none   {what} ({found['verdict']})"
    return reached <= upper, f"{'ok    ' if reached <= upper else 'WRONG '} {what}"


def main():
    tool, wanted = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        observer = pathlib.Path(folder) / "observe"
        source = ROOT / "tests/oracle/samples/observe.c"
        subprocess.run(["gcc", "-O2", "-o", observer, source, "-lsimavr", "-lelf"], check=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(lambda sample: compare(tool, observer, sample), sorted(set(images(wanted)))))
    for _, row in rows:
        print(row)
    compared = sum(not row.startswith("none") for _, row in rows)
    print(f"{compared} of {len(rows)} images have an upper bound, {sum(not right for right, _ in rows)} are wrong")
    if compared == 0 or not all(right for right, _ in rows):
        sys.exit(1)


main()
