#!/usr/bin/env python3
"""Mutants of the sample `lamp`: which bugs the tool finds in ten seconds, and whether it raises false alarms.

    tests/oracle/mutants/run.py AVR-TVAR

Each mutant is the repaired firmware with one change that an engineer could make by mistake; each variant is the repaired firmware built
in another way, without a bug. All are compiled with avr-gcc and verified with the invariants that an engineer would write. A bug is
found if a property is violated with a run, or if there is a finding. A violation or a replayed finding in a variant is a false alarm.

Exit code 1: a false alarm, fewer bugs found than LEAST, or a change that does not apply. Mutants that break no invariant are not in the
list. Without AVR_TVAR_TESTS=long a third of the list is taken, by the hash of the commit.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = ROOT / "firmware-samples/common/lamp.h"
LIMIT = "10s"
# The share of the bugs that must be found, in percent.
LEAST = 60
PARTS = 3

INVARIANTS = """(
    device: "atmega328p",
    properties: [
        Inherent(),
        Always(check: "line_len <= 8"),
        Always(check: "power <= 40"),
        Always(check: "cfg.mode < MODES"),
        Always(check: "cfg.level < 10"),
    ],
)
"""

# The name of each mutant, what is replaced in the source, and the replacement.
MUTANTS = [
    ("line bound + 1", "if (line_len < LINE_SIZE) {", "if (line_len <= LINE_SIZE) {"),
    ("line bound gone", "if (line_len < LINE_SIZE) {", "if (1) {"),
    ("line bound other than", "if (line_len < LINE_SIZE) {", "if (line_len != LINE_SIZE + 1) {"),
    ("line one byte short", "line[LINE_SIZE];", "line[LINE_SIZE - 1];"),
    ("line stored behind the length", "    if (line_len < LINE_SIZE) {\n        line[line_len++] = byte;",
     "    if (line_len < LINE_SIZE) {\n        line[++line_len] = byte;"),
    ("level bound + 1", "line_len == 2 && digit < LEVELS", "line_len == 2 && digit <= LEVELS"),
    ("level bound gone", "line_len == 2 && digit < LEVELS", "line_len == 2"),
    ("level signed", "uint8_t digit = line[1] - '0';", "int8_t digit = line[1] - '0';"),
    ("mode bound + 1", "line_len == 2 && digit < MODES", "line_len == 2 && digit <= MODES"),
    ("mode bound gone", "line_len == 2 && digit < MODES", "line_len == 2"),
    ("button bound + 1", "cfg.mode + 1 < MODES ?", "cfg.mode + 1 <= MODES ?"),
    ("button bound gone", "cfg.mode + 1 < MODES ? cfg.mode + 1 : OFF", "cfg.mode + 1"),
    ("saved level bound + 1", "found.level < LEVELS &&", "found.level <= LEVELS &&"),
    ("saved level unchecked", "found.level < LEVELS && ", ""),
    ("saved mode bound + 1", "found.mode < MODES;", "found.mode <= MODES;"),
    ("saved mode unchecked", " && found.mode < MODES;", ";"),
    ("saved settings half checked", "found.magic == MAGIC && found.level < LEVELS", "(found.magic == MAGIC || found.level < LEVELS)"),
    ("saved settings swapped", "        cfg = found;", "        cfg = found;\n        cfg.mode = found.level;"),
    ("default level + 1", "cfg.level = 1;", "cfg.level = LEVELS;"),
    ("default mode + 1", "cfg.mode = OFF;\n    }", "cfg.mode = MODES;\n    }"),
    ("power bound + 1", "power + digit <= MAX_POWER ?", "power + digit <= MAX_POWER + 1 ?"),
    ("power bound gone", "power = power + digit <= MAX_POWER ? power + digit : MAX_POWER;", "power += digit;"),
    ("power bound inverted", "power + digit <= MAX_POWER ?", "power + digit >= MAX_POWER ?"),
    ("counter read without cli", "    uint16_t time;\n    cli();", "    uint16_t time;"),
]

# The name of each variant, its options for the compiler, and a change that is no bug.
VARIANTS = [
    ("-O1", ["-O1"], None),
    ("-O2", ["-O2"], None),
    ("-O3", ["-O3"], None),
    ("-Og", ["-Og"], None),
    ("-Os", ["-Os"], None),
    ("without inlining", ["-Os", "-fno-inline"], None),
    ("common prologues", ["-Os", "-mcall-prologues"], None),
    ("without jump tables", ["-Os", "-fno-jump-tables"], None),
    ("a smaller bound", ["-Os"], ("line_len < LINE_SIZE", "line_len < LINE_SIZE - 1")),
    ("a longer buffer", ["-Os"], ("line[LINE_SIZE];", "line[LINE_SIZE + 4];")),
]


def build(folder, number, options, changes):
    """The image of the lamp with changes of its source."""
    text = SOURCE.read_text()
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"'{old}' is {text.count(old)} times in {SOURCE.name}")
        text = text.replace(old, new)
    source, image = folder / f"{number}.c", folder / f"{number}.elf"
    source.write_text("#define BUGGY 0\n" + text)
    subprocess.run(["avr-gcc", "-mmcu=atmega328p", "-gdwarf-4", "-std=gnu11", *options, "-o", image, source], check=True)
    return image


def judge(tool, folder, image):
    """What is violated, and the findings with their certainty."""
    command = [tool, "verify", image, folder / "invariants.ron", "--format", "json", "--timeout", LIMIT]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"{image.name}: exit code {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    violated = [result["name"] for result in report["results"]
                if result["verdict"] == "violated" and (result["evidence"] or {}).get("replayed")]
    findings = [(finding["name"], finding["certainty"]) for finding in report.get("findings", [])]
    return violated, sorted(set(findings))


def selected(entries):
    """All entries, or a third of them."""
    if os.environ.get("AVR_TVAR_TESTS") == "long":
        return entries
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    part = int(done.stdout.strip() or "0", 16) % PARTS
    return entries[part::PARTS]


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    jobs = [(name, ["-Os"], [(old, new)], True) for name, old, new in selected(MUTANTS)]
    jobs += [(name, options, [change] if change else [], False) for name, options, change in selected(VARIANTS)]
    problems, found = [], 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        (folder / "invariants.ron").write_text(INVARIANTS)

        def work(numbered):
            number, (_, options, changes, _) = numbered
            return judge(tool, folder, build(folder, number, options, changes))

        for (name, _, _, is_bug), (violated, findings) in zip(jobs, pool.map(work, enumerate(jobs))):
            told = violated + [f"{name} ({certainty})" for name, certainty in findings]
            print(f"{'mutant' if is_bug else 'variant':8} {name:30} {', '.join(told) or '-'}")
            found += is_bug and bool(told)
            if not is_bug and (violated or any(certainty == "replayed" for _, certainty in findings)):
                problems.append(f"a false alarm in '{name}': {', '.join(told)}")
    bugs = sum(is_bug for *_, is_bug in jobs)
    print(f"{found} of {bugs} bugs found, {bugs - found} missed, {len(problems)} false alarms in {len(jobs) - bugs} variants")
    if found * 100 < LEAST * bugs:
        problems.append(f"fewer than {LEAST} % of the bugs are found")
    for problem in problems:
        print(f"PROBLEM {problem}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
