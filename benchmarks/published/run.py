#!/usr/bin/env python3
"""The rows of the published tables on the authors' own images: what the papers print, machine-check-avr 0.7.1, and avr-tvar.

    benchmarks/published/run.py AVR-TVAR --peer MACHINE-CHECK-AVR    measures, writes results/published.json and published.md
    benchmarks/published/run.py AVR-TVAR --only factorial            only rows with this text in their name; written all the same
    benchmarks/published/run.py AVR-TVAR --check                     compares verdicts, and the counts of `paper`, with the written ones; writes nothing

The images are in the crate machine-check-avr, which cargo fetches; nothing of it is copied. Each row is written as soon as it is measured, and
machine-check-avr, which may take up to --limit seconds of CPU time for a row, is not run again for rows that are there: an interrupted
run goes on where it ended. --check leaves out what took longer than SLOW_SECONDS. Exit code 1: a verdict is wrong, or a count differs.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import time

from rows import rows

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
RESULTS = BENCHMARKS / "results" / "published.json"
TABLE = BENCHMARKS / "results" / "published.md"
VERSION = "0.7.1"
STRATEGIES = ("default", "paper")
SLOW_SECONDS = 1.0
PEER_BYTES = 8 << 30
# One state more than the papers count: the one before the first step.
START = 1


def images():
    """The folder of the authors' images, in the crate as cargo unpacked it."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = pathlib.Path(folder, "Cargo.toml")
        pathlib.Path(folder, "lib.rs").touch()
        manifest.write_text(
            '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
            f'[dependencies]\nmachine-check-avr = "={VERSION}"\n[workspace]\n'
        )
        command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(manifest)]
        packages = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["packages"]
    crate = next(package for package in packages if package["name"] == "machine-check-avr")
    return pathlib.Path(crate["manifest_path"]).parent / "tests/programs_2025_04"


def timed(command, limit):
    """What a command writes, its CPU time in seconds and its largest memory in MiB; nothing if a limit ended it."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (PEER_BYTES, PEER_BYTES))

    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, preexec_fn=limits)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    cost = {"seconds": round(used.ru_utime + used.ru_stime, 2), "mebibytes": round(used.ru_maxrss / 1024, 1)}
    return text, cost


def ours(tool, image, row, strategy, limit):
    asked = ["--inherent"] if row.ours is None else ["--property", row.ours]
    options = ["--device", "atmega328p-gpio", "--strategy", strategy, "--timeout", f"{limit}s", "--format", "json", "--quiet", "--no-config"]
    text, cost = timed([tool, "verify", image, *asked, *options], limit + 10)
    result = json.loads(text)["results"][0]
    counts = {name: result["stats"][name] for name in ("refinements", "states", "transitions")}
    return {"verdict": result["verdict"], **counts, **cost}


def theirs(peer, image, row, limit):
    asked = ["--inherent"] if row.peer is None else ["--assume-inherent", "--property", row.peer]
    text, cost = timed([peer, "--batch", "--system-hex-file", image, *asked], limit)
    try:
        report = json.loads(text)
    except ValueError:
        return {"verdict": "none", **cost}
    verdicts = {"True": "holds", "False": "violated"}
    result = report["result"].get("Ok")
    stats = report["stats"]
    counts = {name: stats[f"num_{key}"] for name, key in [("refinements", "refinements"), ("states", "final_states"), ("transitions", "final_transitions")]}
    return {"verdict": verdicts.get(result, "unknown"), **counts, **cost}


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{cpu}, {os.cpu_count()} processors, Linux {platform.release().split('-')[0]}"


def cell(measured):
    if measured is None:
        return "–"
    if measured["verdict"] == "none":
        return f"none after {measured['seconds']:.0f} s"
    return (
        f"{measured['verdict']}: {measured['refinements']}, {measured['states']}, {measured['transitions']}; "
        f"{measured['seconds']:.2f} s, {measured['mebibytes']:.0f} MiB"
    )


def table(results):
    """All rows in Markdown."""
    lines = [
        "# Published tables on the published images",
        "",
        f"Written by `benchmarks/run published` on {results['date']}, {results['machine']}. In each cell: verdict: refinements, states, transitions of the",
        "last state space; CPU time and memory of the whole process. The figures of the papers are those of their machines.",
        "",
        f"| row | papers | machine-check-avr {VERSION} | `default` | `paper` |",
        "|---|---|---|---|---|",
    ]
    for row in rows():
        measured = results["rows"].get(row.name, {})
        papers = "<br>".join(
            f"{name}: {one.refinements}, {one.states}, {one.transitions}; {one.seconds} s, {one.mebibytes} MB" for name, one in row.published
        )
        cells = [cell(measured.get(name)) for name in ("peer", *STRATEGIES)]
        lines.append(f"| {row.name} | {papers or '–'} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(path, text):
    """Writes a file whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def measured_row(arguments, folder, row, before):
    found = dict(before)
    for strategy in STRATEGIES:
        found[strategy] = ours(arguments.tool, folder / row.image, row, strategy, arguments.limit)
    if arguments.peer and "peer" not in before:
        found["peer"] = theirs(arguments.peer, folder / row.image, row, arguments.limit)
    return found


def wrong(row, found):
    """What is wrong with a measured row: another verdict than the right one."""
    for name in STRATEGIES:
        if found[name]["verdict"] != row.verdict:
            yield f"{row.name}, {name}: {found[name]['verdict']}, not {row.verdict}"


def published_differences(row, found):
    """The papers' figures that `paper` does not give."""
    for name, one in row.published:
        counts = (found["paper"]["refinements"], found["paper"]["states"] - START, found["paper"]["transitions"])
        if counts != (one.refinements, one.states, one.transitions):
            yield f"{row.name}, {name}: {counts}, published {one[:3]}"


def check(arguments, folder, results):
    problems, compared = [], 0
    for row in arguments.rows:
        before = results["rows"].get(row.name)
        if before is None:
            problems.append(f"{row.name}: not measured yet")
            continue
        for strategy in STRATEGIES:
            if before[strategy]["seconds"] > SLOW_SECONDS:
                continue
            now = ours(arguments.tool, folder / row.image, row, strategy, arguments.limit)
            compared += 1
            for key in ("verdict", "refinements", "states", "transitions"):
                # What `default` counts changes with every improvement of it.
                if now[key] != before[strategy][key] and (key == "verdict" or strategy == "paper"):
                    problems.append(f"{row.name}, {strategy}: {key} {now[key]}, written {before[strategy][key]}")
    print(f"{compared} runs compared")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--peer")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.tool = os.path.abspath(arguments.tool)
    arguments.rows = [row for row in rows() if arguments.only in row.name]
    folder = images()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": {}}
    if arguments.check:
        problems = check(arguments, folder, results)
    else:
        problems, differences = [], []
        for row in arguments.rows:
            found = measured_row(arguments, folder, row, results["rows"].get(row.name, {}))
            results["rows"][row.name] = found
            results.update(date=time.strftime("%F", time.gmtime()), machine=machine())
            written(RESULTS, json.dumps(results, indent=1, sort_keys=True) + "\n")
            print(row.name, *(cell(found.get(name)) for name in ("peer", *STRATEGIES)), sep=" | ", flush=True)
            problems += wrong(row, found)
            differences += published_differences(row, found)
        written(TABLE, table(results))
        print("\nnot as published:", *(differences or ["nothing"]), sep="\n  ")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
