#!/usr/bin/env python3
"""Repeats the runs that avr-tvar gives for systems in libsimavr, one process for each node.

    tests/oracle/systems/run.py AVR-TVAR

For each system of firmware-samples/systems whose wires are pins, and each violated property: the nodes take their steps in the order of
the run, and see on their pins what the others drive. In the end each must be at the place that the run says. After a deadlock the nodes
go on in random orders, and no driven pin may change. What repeats for ever is taken twice, and all nodes must be where they were. Needs gcc, libsimavr-dev and libelf-dev. Exit code 1: something differs.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SYSTEMS = ROOT / "firmware-samples/systems"
# Steps after a deadlock.
MORE = 20_000
# The systems that must have a violation, so that this test has something to do.
VIOLATED = {"philosophers-2", "philosophers-3", "philosophers-2-starving", "readers-writers-2-hasty", "readers-writers-3-hasty"}
PORTS = {"B": (1, 2), "C": (3, 4), "D": (5, 6)}


class Node:
    """A process with one node."""

    def __init__(self, program, image):
        self.process = subprocess.Popen([program, image], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.state = [0] * 7

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("= "):
                self.state = [int(number, 16) for number in line[2:].split()]
                return
        raise RuntimeError("simavr gave up")

    def drives(self):
        return tuple((port & direction, direction) for port, direction in ((self.state[a], self.state[b]) for a, b in PORTS.values()))


class System:
    """The nodes of a system file, and the wires between them."""

    def __init__(self, program, path):
        text = re.sub(r"//.*", "", path.read_text())
        self.names, self.nodes = [], {}
        for name, firmware in re.findall(r'"(\w+)":\s*\(firmware:\s*"([^"]+)"', text):
            self.names.append(name)
            self.nodes[name] = Node(program, str(path.parent / firmware))
        self.wires = re.findall(r'Pin\(from: "(\w+)\.PORT(\w)\.(\d)", to: "(\w+)\.PIN(\w)\.(\d)", idle: (\d)\)', text)

    def step(self, name):
        for source, port, bit, target, pin, at, idle in self.wires:
            if target != name:
                continue
            level, direction = PORTS[port]
            driver = self.nodes[source].state
            driven = driver[direction] >> int(bit) & 1
            value = driver[level] >> int(bit) & 1 if driven else int(idle)
            self.nodes[name].ask(f"p {pin} {1 << int(at):x} {value << int(at):x}")
        self.nodes[name].ask("s")

    def end(self):
        for node in self.nodes.values():
            node.process.stdin.close()
            node.process.wait()


def check(program, path, result):
    """What differs in the run of a violated property."""
    system = System(program, path)
    try:
        for number, steps in result["run"]["schedule"]:
            for _ in range(steps):
                system.step(system.names[number])
        for name, place in zip(system.names, result["run"]["last"]):
            expected = int(re.search(r"0x[0-9a-f]+", place).group(), 16)
            if system.nodes[name].state[0] != expected:
                return f"{name} is at {system.nodes[name].state[0]:#06x} instead of {expected:#06x}"
        if repeats := result["run"]["repeats"]:
            before = [list(node.state) for node in system.nodes.values()]
            for number, steps in result["run"]["schedule"][repeats["schedule"]:] * 2:
                for _ in range(steps):
                    system.step(system.names[number])
            if [node.state for node in system.nodes.values()] != before:
                return "the steps that repeat lead elsewhere"
        if result["kind"] != "Deadlock":
            return None
        before = [node.drives() for node in system.nodes.values()]
        choose = random.Random(1)
        for _ in range(MORE):
            system.step(choose.choice(system.names))
            if [node.drives() for node in system.nodes.values()] != before:
                return "a pin changes after the deadlock"
        return None
    finally:
        system.end()


def main():
    tool = sys.argv[1]
    problems, checked = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/node"
        source = pathlib.Path(__file__).with_name("node.c")
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-o", program, source, "-lsimavr", "-lelf"], check=True)
        for path in sorted(SYSTEMS.glob("*.ron")):
            if path.name.endswith(".spec.ron") or "Uart(" in path.read_text():
                continue
            command = [tool, "verify-system", path, "--format", "json"]
            report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
            for result in report["properties"]:
                if result["verdict"] != "violated":
                    continue
                problem = check(program, path, result)
                problems += problem is not None
                checked.add(path.stem)
                print("WRONG" if problem else "ok   ", path.stem, result["name"], problem or "")
    for name in sorted(VIOLATED - checked):
        problems += 1
        print("WRONG", name, "has no violated property")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
