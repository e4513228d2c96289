#!/usr/bin/env python3
"""Systems that grow: how many states philosophers at a round table have, and how long their properties take.

    benchmarks/systems/run.py AVR-TVAR                 measures, writes results/systems.json and results/systems.md
    benchmarks/systems/run.py AVR-TVAR --most 4        up to so many philosophers; writes nothing

Each node is an image of firmware-samples/. `Deadlock()` is asked of those who all take the fork to the left first, and of those of whom one
takes the fork to the right first. Exit code 1: a verdict is wrong, or none although the limit of states was not hit.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks/results/systems.json"
TABLE = ROOT / "benchmarks/results/systems.md"
NAMES = "abcdef"
LIMIT = 2_000_000


def system(count, repaired):
    """The text of a system file."""
    def image(number):
        name = "philosopher-right-first" if repaired and number == 0 else "philosopher"
        return ROOT / f"firmware-samples/{name}/{name}.Os.elf"

    nodes = [f'"{NAMES[n]}": (firmware: "{image(n)}", device: "atmega328p-gpio")' for n in range(count)]
    wires = []
    for number in range(count):
        here, right = NAMES[number], NAMES[(number + 1) % count]
        wires.append(f'Pin(from: "{here}.PORTB.1", to: "{right}.PIND.2", idle: 0)')
        wires.append(f'Pin(from: "{right}.PORTB.0", to: "{here}.PIND.3", idle: 0)')
    return f"(nodes: {{{', '.join(nodes)}}}, wires: [{', '.join(wires)}], properties: [Deadlock()])"


def measured(tool, count, repaired, folder):
    """The verdict, the states and the cost of a system."""
    path = pathlib.Path(folder) / "system.ron"
    path.write_text(system(count, repaired))
    command = [tool, "verify-system", path, "--format", "json", "--states", str(LIMIT), "-q"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        report = json.load(output)
    result = report["properties"][0]
    return {
        "nodes": count,
        "repaired": repaired,
        "verdict": result["verdict"],
        "reason": result["reason"],
        "states": result["states"],
        "node_states": max(node["states"] for node in report["nodes"]),
        "run_steps": sum(result["run"]["steps"]) if result["run"] else None,
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "memory_mib": round(used.ru_maxrss / 1024),
    }


def table(rows):
    """The rows for people."""
    lines = [
        "# Philosophers at a round table",
        "",
        "Written by `benchmarks/run systems`. `Deadlock()` of systems of 2 to 6 nodes, each an image of an ATmega328P.",
        "",
        "| nodes | one takes the right fork first | verdict | states of the system | states of a node | steps of the run | CPU time | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        shown = row["run_steps"] if row["run_steps"] is not None else ""
        first = "yes" if row["repaired"] else "no"
        lines.append(
            f"| {row['nodes']} | {first} | {row['verdict']} | {row['states']:,} | {row['node_states']} | {shown} | "
            f"{row['cpu_seconds']} s | {row['memory_mib']} MiB |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for count in range(2, (arguments.most or 6) + 1):
            for repaired in (False, True):
                row = measured(arguments.tool, count, repaired, folder)
                rows.append(row)
                print(row, flush=True)
                is_limit = "limit" in (row["reason"] or "")
                wrong += row["verdict"] != ("holds" if repaired else "violated") and not is_limit
    if arguments.most is None:
        RESULTS.write_text(json.dumps({"limit_states": LIMIT, "rows": rows}, indent=1) + "\n")
        TABLE.write_text(table(rows))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
