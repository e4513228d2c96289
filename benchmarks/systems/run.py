#!/usr/bin/env python3
"""Systems that grow: how many states philosophers at a round table, and readers with a writer, have, and how long their properties take; and
surge protectors whose values grow.

    benchmarks/systems/run.py AVR-TVAR                 measures, writes results/systems.json and results/systems.md
    benchmarks/systems/run.py AVR-TVAR --most 4        up to so many nodes; writes nothing

Each node is an image of firmware-samples/. `Deadlock()` is asked of philosophers who all take the fork to the left first, and of those of whom one
takes the fork to the right first; of readers and a writer it is asked that they are never at it together, where all look at the claim of the writer, and
where the last one does not. Surge protectors (surge.c, images/ by build.sh) have values from 0 to a range: it is asked that no current is beyond the
threshold. Each system is measured as it is, and with `--single-steps`: without the reduction that takes steps that concern nobody else at once. Exit code 1: a verdict is
wrong, or none although the limit of states was not hit.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks/results/systems.json"
TABLE = ROOT / "benchmarks/results/systems.md"
NAMES = "abcdef"
MOST = {"philosophers": 5, "readers and a writer": 5}
LIMIT = 2_000_000
RANGES = (2, 4, 8, 12, 15)


def node(name, image):
    """A node of a system file."""
    return f'"{name}": (firmware: "{ROOT}/firmware-samples/{image}/{image}.Os.elf", device: "atmega328p-gpio")'


def system(nodes, wires, properties):
    """The text of a system file."""
    return f"(nodes: {{{', '.join(nodes)}}}, wires: [{', '.join(wires)}], properties: [{', '.join(properties)}])"


def philosophers(count, right):
    """Philosophers, of whom the first is another one if all is right."""
    nodes = [node(NAMES[n], "philosopher-right-first" if right and n == 0 else "philosopher") for n in range(count)]
    wires = []
    for number in range(count):
        here, beside = NAMES[number], NAMES[(number + 1) % count]
        wires.append(f'Pin(from: "{here}.PORTB.1", to: "{beside}.PIND.2", idle: 0)')
        wires.append(f'Pin(from: "{beside}.PORTB.0", to: "{here}.PIND.3", idle: 0)')
    return system(nodes, wires, ["Deadlock()"])


def readers(count, right):
    """A writer and readers, of whom the last one is hasty if not all is right."""
    names = NAMES[:count - 1]
    nodes = [node("w", "writer")]
    nodes += [node(name, "reader" if right or name != names[-1] else "reader-hasty") for name in names]
    wires = [f'Pin(from: "w.PORTB.0", to: "{name}.PIND.2", idle: 0)' for name in names]
    # The last reader has the pins that are left.
    wires += [f'Pin(from: "{names[min(pin, len(names) - 1)]}.PORTB.0", to: "w.PIND.{2 + pin}", idle: 0)' for pin in range(4)]
    return system(nodes, wires, [f'Never("w.PORTB.2 == 1 && {names[-1]}.PORTB.2 == 1")'])


def machine():
    """The description of the machine."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{cpu}, {os.cpu_count()} processors, Linux {platform.release().split('-')[0]}"


def run(command):
    """The report of a command, and what it used."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        report = json.load(output)
    return report, {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "memory_mib": round(used.ru_maxrss / 1024),
    }


def surge(tool, most, folder):
    """The row of a surge protector with values up to this one."""
    checks = [f"(write(PORTD) == {value} -> threshold >= {value})" for value in range(1, most + 1)]
    path = pathlib.Path(folder) / "surge.ron"
    check = " && ".join(checks)
    path.write_text(f'(device: "atmega328p-gpio", properties: [Ltl(name: "surge", check: "G ({check})")])')
    image = ROOT / f"benchmarks/systems/images/surge-{most}.elf"
    report, cost = run([tool, "verify", image, path, "--format", "json", "-q"])
    result = report["results"][0]
    return {"range": most, "verdict": result["verdict"], "states": result["stats"]["states"]} | cost


def measured(tool, text, single_steps, folder):
    """The verdict, the states and the cost of a system."""
    path = pathlib.Path(folder) / "system.ron"
    path.write_text(text)
    command = [tool, "verify-system", path, "--format", "json", "--states", str(LIMIT), "-q"]
    command += ["--single-steps"] if single_steps else []
    report, cost = run(command)
    result = report["properties"][0]
    return {
        "single_steps": single_steps,
        "verdict": result["verdict"],
        "basis": result["basis"],
        "reason": result["reason"],
        "states": result["states"],
        "node_states": max(node["states"] for node in report["nodes"]),
        "run_steps": sum(result["run"]["steps"]) if result["run"] else None,
    } | cost


def table(results):
    """The rows for people."""
    lines = [
        "# Systems that grow",
        "",
        f"Written by `benchmarks/run systems` on {results['date']}, {results['machine']}. Each node is an image of an ATmega328P;",
        f"at most {LIMIT:,} states. `Deadlock()` of philosophers at a round table, who are",
        "right where one of them takes the fork to the right first; `Never` of a reader and a writer at the same time, where all is right if each reader looks",
        "at the claim of the writer after its own. Steps that concern nobody else are taken at once, or one by one (`--single-steps`).",
        "",
        "| system | nodes | right | steps | verdict | states of the system | states of a node | steps of the run | CPU time | memory |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        shown = row["run_steps"] if row["run_steps"] is not None else ""
        right, steps = "yes" if row["right"] else "no", "one by one" if row["single_steps"] else "at once"
        lines.append(
            f"| {row['system']} | {row['nodes']} | {right} | {steps} | {row['verdict']} | {row['states']:,} | {row['node_states']} | {shown} | "
            f"{row['cpu_seconds']} s | {row['memory_mib']} MiB |"
        )
    lines += [
        "",
        "Surge protectors with values from 0 to a range, one firmware each:",
        "",
        "| range | verdict | states | CPU time | memory |",
        "|---|---|---|---|---|",
    ]
    for row in results["surge"]:
        lines.append(f"| {row['range']} | {row['verdict']} | {row['states']:,} | {row['cpu_seconds']} s | {row['memory_mib']} MiB |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    rows, surges, wrong = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, made in (("philosophers", philosophers), ("readers and a writer", readers)):
            for count in range(2, (arguments.most or MOST[name]) + 1):
                for right, single_steps in ((False, False), (False, True), (True, False), (True, True)):
                    row = {"system": name, "nodes": count, "right": right}
                    row |= measured(arguments.tool, made(count, right), single_steps, folder)
                    rows.append(row)
                    print(row, flush=True)
                    is_limit = "limit" in (row["reason"] or "")
                    wrong += row["verdict"] != ("holds" if right else "violated") and not is_limit
        for most in RANGES if arguments.most is None else ():
            surges.append(surge(arguments.tool, most, folder))
            print(surges[-1], flush=True)
            wrong += surges[-1]["verdict"] != "holds"
    if arguments.most is None:
        date = time.strftime("%F", time.gmtime())
        results = {"date": date, "machine": machine(), "limit_states": LIMIT, "rows": rows, "surge": surges}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        TABLE.write_text(table(results))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
