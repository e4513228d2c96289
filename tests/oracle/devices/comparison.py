"""The parts that compare.py and compare_crate.py share."""

import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

# The devices with the registers of the ATmega328P, and all.
FAMILY = ("atmega328p", "atmega168p", "atmega88p")
DEVICES = (*FAMILY, "atmega1284p", "atmega2560", "atmega32u4", "attiny85", "attiny13", "attiny84")


def run(command, text=""):
    """The output of a command; ends the program if it fails."""
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"cannot run {command[0]}: {getattr(error, 'stderr', None) or error}", file=sys.stderr)
        sys.exit(2)


def table_facts(device):
    """The lines of the device table, split."""
    output = run(["cargo", "run", "--quiet", "-p", "avr-machine", "--example", "device-table", "--", device])
    return [line.split() for line in output.splitlines()]


class Comparison:
    """Collects differences; those with a reason in the table of exceptions, (device, what) -> why, are known."""

    def __init__(self, device, exceptions):
        self.device, self.exceptions = device, exceptions
        self.compared, self.different, self.excepted, self.known = 0, [], [], set()

    def same(self, what, ours, theirs):
        """Notes whether the two agree."""
        self.compared += 1
        if ours != theirs:
            line = f"{what}: table {show(ours)}, other {show(theirs)}"
            reason = self.exceptions.get((self.device, what))
            self.known.add(what)
            (self.excepted if reason else self.different).append(f"{line} ({reason})" if reason else line)

    def report(self):
        """Prints the result and says whether all is well."""
        for line in self.excepted:
            print(f"{self.device}: known: {line}")
        for line in self.different:
            print(f"{self.device}: DIFFERENT: {line}")
        print(f"{self.device}: {self.compared} facts compared, {len(self.different)} differences")
        return not self.different


def show(value):
    """A value as text."""
    return hex(value) if isinstance(value, int) else str(value)
