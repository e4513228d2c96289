#!/usr/bin/env python3
"""Lets other tools repeat the runs that avr-tvar gives as evidence for the samples.

    tests/oracle/evidence/run.py AVR-TVAR [SAMPLE...]

For every sample (default: those of share.py) and every verdict with a run:

* `replay.c` is compiled and executed: simavr must show the same path, registers, stack and memory;
* `avr-tvar run --stimulus` must end in the same state, or with the same hazard;
* where a verdict rested on the model, `replay-cycles.c` is compiled and executed: simavr, which gets nothing but what comes
  from outside, must show it by itself where `--confirm` says so, and for the samples in CONFIRMED it must say so;
* GTKWave's reader (`vcd2fst`) must read `trace.vcd` and find the same last program counter and stack pointer.

Every violated property must come with a run, except those listed in EXCEPTIONS. Needs gcc, libsimavr-dev, libelf-dev and
gtkwave. Exit code 1: something differs.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/oracle"))
import share

# Runs that simavr cannot repeat, by sample, with the reason.
EXCEPTIONS = {
}

# What simavr must come to by itself, driven by cycle times: properties by sample.
CONFIRMED = {
    "shared-counter-torn": {"only values that the counter had"},
    "watchdog": {"the watchdog can bite"},
}

# A sample that is not decided within this time is not looked at: the tests of the samples have limits of their own.
SECONDS = 20

# A HEX file has the same runs as its ELF file without names: one of so many is looked at, all of them in the long run.
HEX_FILES = 1 if os.environ.get("AVR_TVAR_TESTS") == "long" else 4


def samples():
    """The images of all samples: (sample, image, property file)."""
    hex_files = 0
    text = (ROOT / "firmware-samples/expected.ron").read_text()
    text = re.sub(r"//.*", "", text)
    for entry in text.split("sample:")[1:]:
        name = re.match(r'\s*"([^"]+)"', entry).group(1)
        images = re.search(r"images:\s*\[(.*?)\]", entry, re.S).group(1)
        for image, properties in re.findall(r'\("([^"]+)",\s*"([^"]+)"\)', images):
            if image.endswith(".hex"):
                hex_files += 1
                if hex_files % HEX_FILES:
                    continue
            yield name, ROOT / "firmware-samples" / name / image, ROOT / "properties" / properties


def failed(process):
    return f"exit code {process.returncode}: {(process.stdout + process.stderr).strip()[-300:]}"


def execute(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)


def replay(folder, name="replay"):
    """What simavr says to the run; none if it shows the same."""
    program = folder / name
    if not (folder / f"{name}.c").exists():
        return f"there is no {name}.c"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-Wno-type-limits"]
    compiled = execute("gcc", *flags, "-o", program, folder / f"{name}.c", "-lsimavr", "-lelf")
    if compiled.returncode != 0:
        return f"{name}.c does not compile: " + failed(compiled)
    shown = execute(program)
    program.unlink()
    return None if shown.returncode == 0 else "simavr: " + failed(shown)


def rerun(tool, image, properties, folder, evidence):
    """What differs when the simulator repeats the run."""
    end = evidence["end"]
    steps = evidence["steps"] + (1 if end["hazard"] else 0)
    process = execute(tool, "run", image, "--properties", properties, "--stimulus", folder / "stimulus.ron",
                      "--steps", steps, "--format", "json")
    if process.returncode != 0:
        return "run: " + failed(process)
    state = json.loads(process.stdout)
    seen = (state["steps"], state["cycles"], state["pc"], state["sp"], state["sreg"])
    expected = (evidence["steps"], evidence["cycles"], end["pc"], end["sp"], end["sreg"])
    if seen != expected:
        return f"run: ends with (steps, cycles, pc, sp, sreg) = {seen}, expected {expected}"
    hazard = state["hazard"] and state["hazard"]["name"]
    wanted = end["hazard"] and end["hazard"]["name"]
    # A run ends in a sleep that nothing ends in any case.
    if hazard != wanted and not (wanted == "sleep-for-ever" and state["stopped"] == "sleep"):
        return f"run: ends with the hazard {hazard}, expected {wanted}"
    return None


def waves(folder, evidence):
    """What GTKWave's reader finds wrong."""
    fst = folder / "trace.fst"
    read = execute("vcd2fst", folder / "trace.vcd", fst)
    if read.returncode != 0 or not fst.exists():
        return "vcd2fst: " + failed(read)
    text = execute("fst2vcd", fst).stdout
    fst.unlink()
    last = {}
    for name in ("PC", "SP"):
        code = re.search(rf"\$var \w+ \d+ (\S+) {name}(?: \[\d+:\d+\])? \$end", text)
        if not code:
            return f"vcd2fst finds no wave {name}"
        values = re.findall(rf"^b([01]+) {re.escape(code.group(1))}$", text, re.M)
        last[name] = int(values[-1], 2) if values else None
    expected = {"PC": evidence["end"]["pc"], "SP": evidence["end"]["sp"]}
    return None if last == expected else f"vcd2fst: the last values are {last}, expected {expected}"


def confirmation(sample, result, folder):
    """What is wrong with what is said of a verdict that rested on the model."""
    cycle = result["evidence"]["confirmed_cycle"]
    if cycle is None:
        # A run of the simulated hardware needs no confirmation.
        must = result["basis"] == "model" and result["name"] in CONFIRMED.get(sample, ())
        return "is not confirmed" if must else None
    if result["basis"] != "hardware":
        return "is confirmed, and rests on the model"
    return replay(folder, "replay-cycles")


def by_itself(image, result):
    """Whether simavr shows by itself what rested on the model."""
    cycle = result["evidence"]["confirmed_cycle"]
    if cycle is not None:
        return [f"by itself in simavr, after {cycle} cycles: {image.name}: {result['name']}"]
    return [f"in the model only: {image.name}: {result['name']}"] if result["basis"] == "model" else []


def check(tool, sample, image, properties, directory):
    """All differences of an image, and how many runs there were."""
    directory = directory / image.name.replace(".", "-")
    process = execute(tool, "verify", image, properties, "--evidence", directory, "--format", "json",
                      "--timeout", SECONDS, "--confirm")
    if process.returncode not in (0, 1, 3):
        return [f"{image.name}: verify: " + failed(process)], 0, []
    found, runs, model = [], 0, []
    for result in json.loads(process.stdout)["results"]:
        evidence = result["evidence"]
        if evidence is None:
            in_time = "time" not in (result["evidence_missing"] or "")
            if result["verdict"] == "violated" and sample not in EXCEPTIONS and in_time:
                found.append(f"{image.name}: {result['name']}: no run: {result['evidence_missing']}")
            continue
        runs += 1
        folder = folder_of(directory, result["name"])
        model += by_itself(image, result)
        problems = [confirmation(sample, result, folder), rerun(tool, image, properties, folder, evidence), waves(folder, evidence)]
        if sample not in EXCEPTIONS:
            problems.append(replay(folder))
        found += [f"{image.name}: {result['name']}: {problem}" for problem in problems if problem]
    return found, runs, model


def folder_of(directory, name):
    """The folder of a property: the one whose trace names it."""
    for folder in directory.iterdir():
        if json.loads((folder / "trace.json").read_text())["property"]["name"] == name:
            return folder
    raise FileNotFoundError(name)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or share.selected(parts=8)
    chosen = [entry for entry in samples() if entry[0] in wanted]
    differences, total = 0, 0
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(check, tool, *entry, pathlib.Path(directory)) for entry in chosen]
        for task in tasks:
            found, runs, model = task.result()
            total += runs
            differences += len(found)
            for line in found:
                print("WRONG", line)
            for line in model:
                print(line)
    for sample, reason in EXCEPTIONS.items():
        print(f"not repeated by simavr: {sample}: {reason}")
    print(f"{total} runs of {len(chosen)} images, {differences} differences")
    sys.exit(1 if differences or total == 0 else 0)


main()
