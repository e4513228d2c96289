#!/usr/bin/env python3
"""Compares the solver with independent tools on random two-valued graphs: CTL with pyModelChecking, LTL with Spin.

Spin checks a few formulas as models of its own; of all others its never claim is taken, the automaton of what violates the
formula, and played on the graph here. Formulas with X are left out, which Spin does not read by default.

pyModelChecking knows LTL as well, but not reliably: version 1.3.4 denies `A G p` where p always holds, and version 1.3.3
errs on nested operators. The first of these is looked up, so that we notice when it is repaired.

Usage: compare.py [--spin COUNT] < lines of `cargo run --release -p logic-oracle`
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from pyModelChecking import CTL, LTL, Kripke

CHOICE = re.compile(r":: (?:atomic \{ )?\((.*)\) -> (goto (\w+)|assert.*)$")


def python_says(case):
    """The states in which pyModelChecking finds the formula of CTL true."""
    edges = [(state, to) for state, targets in enumerate(case["successors"]) for to in targets]
    atoms = {state: {f"p{atom}" for atom in true} for state, true in enumerate(case["atoms"])}
    return sorted(CTL.modelcheck(Kripke(R=edges, L=atoms), case["python"]))


def spin_says(case, state):
    """Whether Spin finds no violation of the formula from a state."""
    steps = "\n".join(
        f"  :: atomic {{ s == {state} -> s = {to} }}"
        for state, targets in enumerate(case["successors"]) for to in targets)
    truths = {atom: [f"s == {s}" for s, true in enumerate(case["atoms"]) if atom in true] for atom in range(2)}
    atoms = "\n".join(f"#define p{atom} ({' || '.join(states or ['false'])})" for atom, states in truths.items())
    model = f"byte s = {state};\n{atoms}\nactive proctype graph() {{\n  do\n{steps}\n  od\n}}\nltl f {{ {case['spin']} }}\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "model.pml").write_text(model)
        command = ["spin", "-search", "-a", "-O0", "model.pml"]
        output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    found = re.search(r"errors: (\d+)", output)
    if found is None:
        sys.exit(f"spin says nothing of errors:\n{model}\n{output}")
    return found.group(1) == "0"


def never_claim(formula):
    """The automaton of the runs that violate a formula: per state whether it accepts, and its (guard, next) pairs."""
    text = subprocess.run(["spin", "-f", f"!({formula})"], capture_output=True, text=True, check=True).stdout
    states, names, fresh = {"accept_all": (True, [("1", "accept_all")])}, {"accept_all": "accept_all"}, True
    for line in text.splitlines()[1:]:
        line = line.strip()
        if line.endswith(":"):
            name = line[:-1]
            if fresh:
                current, fresh = name, False
                states[current] = (False, [])
            names[name] = current
            states[current] = (states[current][0] or name.startswith("accept"), states[current][1])
            continue
        fresh = True
        choice = CHOICE.match(line)
        if choice:
            states[current][1].append((choice.group(1), choice.group(3) or "accept_all"))
        elif line == "skip":
            states[current][1].append(("1", current))
        elif line not in (":: false", "do", "od;", "if", "fi;", "}", "false;"):
            sys.exit(f"spin's claim has a line that is not understood: {line!r} in\n{text}")
    edges = {name: (accepts, [(guard, names[to]) for guard, to in choices]) for name, (accepts, choices) in states.items()}
    return names["T0_init"] if "T0_init" in names else names["accept_init"], edges


def holds(guard, true):
    """The truth of a guard over p0 and p1 where the atoms in `true` hold."""
    text = guard.replace("!", " not ").replace("&&", " and ").replace("||", " or ")
    return bool(eval(text, {"p0": 0 in true, "p1": 1 in true, "true": True, "false": False}))  # pylint: disable=eval-used


def claim_says(case):
    """The states from which no path is accepted by the never claim."""
    first, claim = never_claim(case["spin"])
    product = {(s, q) for s in range(len(case["successors"])) for q in claim}
    after = {
        (s, q): {(t, r) for guard, r in claim[q][1] if holds(guard, case["atoms"][s]) for t in case["successors"][s]}
        for s, q in product}

    def reached(starts):
        seen, pending = set(starts), list(starts)
        while pending:
            for node in after[pending.pop()] - seen:
                seen.add(node)
                pending.append(node)
        return seen

    recurring = {node for node in product if claim[node[1]][0] and node in reached(after[node])}
    return [s for s in range(len(case["successors"])) if not reached([(s, first)]) & recurring]


def main():
    """Compares every line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--spin", type=int, default=40, help="how many formulas Spin checks as models of its own")
    arguments = parser.parse_args()
    ctl, ltl, spun = 0, 0, 0
    for line in sys.stdin:
        case = json.loads(line)
        if case["logic"] == "CTL":
            name, found = "pyModelChecking", python_says(case)
            ctl += 1
        elif case["spin"]:
            name, found = "Spin's never claim", claim_says(case)
            ltl += 1
        else:
            continue
        if found != case["holds"]:
            sys.exit(f"{name} finds the formula true in {found}: {line}")
        if case["spin"] and spun < arguments.spin:
            state = spun % len(case["successors"])
            if spin_says(case, state) != (state in case["holds"]):
                sys.exit(f"Spin differs in state {state}: {line}")
            spun += 1
    if min(ctl, ltl) == 0 or spun < arguments.spin:
        sys.exit(f"too few cases: {ctl} of CTL, {ltl} of LTL, {spun} as models")
    print(f"pyModelChecking agrees on {ctl} formulas of CTL, Spin's claims on {ltl} of LTL, and Spin on {spun} models")
    always = Kripke(R=[(0, 0), (1, 2), (2, 2)], L={0: {"p"}, 1: {"q"}, 2: {"p"}})
    if LTL.modelcheck(always, "A G p") == {0, 2}:
        print("pyModelChecking has learned `A G p`: compare LTL with it as well")


if __name__ == "__main__":
    main()
