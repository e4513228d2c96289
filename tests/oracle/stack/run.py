#!/usr/bin/env python3
"""Compares the worst-case stack of the samples with the deepest that libsimavr reaches on random runs.

    tests/oracle/stack/run.py AVR-TVAR [SAMPLE...]   (default: the samples of share.py)

Samples in which tasks have stacks of their own are left out.
SP must never go below the upper bound; where the bound is exact, the deepest of the random runs is printed beside it. Where
expected.ron has a bound that was derived by hand, it must lie between the lower and the upper one, and is counted if it is
both. Needs gcc, libsimavr-dev and libelf-dev. Exit code 1: a run needs more than the bound, or the derived one contradicts it.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/oracle"))
import share
# Steps of a run, how often something is requested, and the seeds.
STEPS, EVERY, SEEDS = 200_000, (20, 200), (1, 2, 3)
# A bound that is not found within this time is not compared.
SECONDS = 5


def images(wanted):
    """The ELF images of the samples, with the part that libsimavr simulates."""
    text = re.sub(r"//.*", "", (ROOT / "firmware-samples/expected.ron").read_text())
    for entry in text.split("sample:")[1:]:
        name = re.match(r'\s*"([^"]+)"', entry).group(1)
        if name not in wanted:
            continue
        part = re.search(r'device:\s*"([^"]+)"', entry).group(1).removesuffix("-gpio")
        listed = re.search(r"images:\s*\[(.*?)\]", entry, re.S).group(1)
        derived = re.search(r"stack:\s*(\d+)", entry)
        for image, properties in re.findall(r'\("([^"]+)",\s*"([^"]+)"\)', listed):
            # Where tasks have stacks of their own, the distance from the end of the SRAM is no depth.
            has_tasks = re.search(r"^\s*stacks:", (ROOT / "properties" / properties).read_text(), re.M)
            if image.endswith(".elf") and not has_tasks:
                yield name, part, image, properties, int(derived.group(1)) if derived else -1


def bound(tool, name, image, properties):
    command = [tool, "stack", f"firmware-samples/{name}/{image}", f"properties/{properties}", "--format", "json"]
    done = subprocess.run([*command, "--timeout", str(SECONDS)], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout)


def deepest(observer, name, part, image):
    """The deepest stack of some random runs."""
    depths = []
    for every in EVERY:
        for seed in SEEDS:
            options = ["--mcu", part, "--steps", str(STEPS), "--seed", str(seed), "--every", str(every)]
            path = ROOT / "firmware-samples" / name / image
            done = subprocess.run([observer, path, *options], capture_output=True, text=True)
            depths += [int(depth) for depth in re.findall(r"^stack (\d+)$", done.stdout, re.M)]
    return max(depths)


def compare(tool, observer, sample):
    """Whether the bounds of a sample are right, what to print, and whether they are the derived one."""
    name, part, image, properties, derived = sample
    found, reached = bound(tool, name, image, properties), deepest(observer, name, part, image)
    lower, upper = found["lower"], found["upper"]
    by_hand = derived if derived >= 0 else "-"
    what = f"{image}: at most {upper}, some run {lower}, by hand {by_hand}, random runs {reached}"
    right = (upper is None or reached <= upper) and (
        derived < 0 or (lower is None or lower <= derived) and (upper is None or derived <= upper)
    )
    kind = "WRONG" if not right else "none" if upper is None else "ok"
    return right, f"{kind:6} {what} ({found['verdict']})", derived >= 0, found["exact"] == derived


def main():
    tool, wanted = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:] or share.selected()
    with tempfile.TemporaryDirectory() as folder:
        observer = pathlib.Path(folder) / "observe"
        source = ROOT / "tests/oracle/samples/observe.c"
        subprocess.run(["gcc", "-O2", "-o", observer, source, "-lsimavr", "-lelf"], check=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(lambda sample: compare(tool, observer, sample), sorted(set(images(wanted)))))
    for _, row, _, _ in rows:
        print(row)
    compared = sum(not row.startswith("none") for _, row, _, _ in rows)
    derived = [equal for _, _, is_derived, equal in rows if is_derived]
    wrong = sum(not right for right, _, _, _ in rows)
    print(f"{compared} of {len(rows)} images have an upper bound, {wrong} are wrong")
    print(f"{sum(derived)} of {len(derived)} bounds that were derived by hand are found exactly within {SECONDS} s")
    if compared == 0 or wrong:
        sys.exit(1)


main()
