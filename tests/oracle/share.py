#!/usr/bin/env python3
"""Prints the samples that the oracles take, one in each line.

    tests/oracle/share.py [PARTS]
    tests/oracle/share.py --part PARTS

A quarter of all samples (or one of PARTS), chosen by the hash of the commit as if at random; and always
those whose files changed since the commit before, and those in ALWAYS. With `AVR_TVAR_TESTS=long` in the environment, all of them.

With --part only the number of the part: less than PARTS, by the hash of the commit.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Samples that some verdict of theirs makes indispensable: hazards, torn copies, a stack that overflows, resets and sleep.
ALWAYS = {"branch", "calibration-original", "shared-counter-torn", "watchdog", "timer-blink", "parser-overflow", "sleep-wake"}


def all_samples():
    text = re.sub(r"//.*", "", (ROOT / "firmware-samples/expected.ron").read_text())
    return sorted(set(re.findall(r'sample:\s*"([^"]+)"', text)))


def git(*arguments):
    """What Git prints; nothing where the repository or the commit is not there."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def part_of_commit(parts):
    """A number below `parts`, chosen by the hash of the commit as if at random."""
    return int(git("rev-parse", "HEAD").strip() or "0", 16) % parts


def selected(parts=4):
    """The names of the samples to take: one of so many parts."""
    names = all_samples()
    if os.environ.get("AVR_TVAR_TESTS") == "long":
        return names
    changed = git("diff", "--name-only", "HEAD~1", "--", "firmware-samples", "properties")
    part = part_of_commit(parts)
    is_taken = lambda number, name: number % parts == part or name in ALWAYS or f"/{name}" in changed
    return [name for number, name in enumerate(names) if is_taken(number, name)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        print(part_of_commit(int(sys.argv[2])))
    else:
        print("\n".join(selected(*map(int, sys.argv[1:]))))
