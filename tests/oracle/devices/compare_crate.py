#!/usr/bin/env python3
"""Compare a device table with the crate avr-device, which has the registers of many parts.

    tests/oracle/devices/compare_crate.py [--faults] [DEVICE ...]

The crate is fetched by cargo into its own cache, with a pinned version; its source is read as text. Names and addresses of
registers, names and numbers of bits, fuses and the vectors are compared in both directions, and the access to the bits that
one of the two says are only read or only written. Where the crate lacks the part the one in NEAREST stands for it. What the
crate is known to say differently is in EXCEPTIONS, each with the reason. Exit code 0: no difference; 1: differences (printed);
2: cannot run, or no network and no crate fetched before.

With --faults each fact of the table of which the crate says something is changed in turn, and the comparison must find it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from comparison import DEVICES, Comparison, run, table_facts

CRATE, VERSION = "avr-device", "0.5.4"

# The parts of the crate that stand for devices that it does not have.
NEAREST = {"atmega168p": "atmega168", "attiny13": "attiny13a"}

# The names that the table and avr-libc have for registers and vectors of the crate.
RENAMED = {
    "atmega32u4": {"TCNT4": "TCNT4L"},
    "attiny85": {"DTPS": "DTPS1"},
    "attiny13": {"EEAR": "EEARL"},
    "attiny84": {"EXT_INT0": "INT0", "USI_STR": "USI_START"},
}

# The spelling of the table for a field of the crate: pattern of REGISTER.FIELD, name, number of the lowest bit in a field of several.
SPELLINGS = [
    (r"(PIN|PORT)([A-L])\.P\2(\d)", r"\1\2\3", 0),
    (r"DDR([A-L])\.P\1(\d)", r"DD\1\2", 0),
    (r"WDTC?S?R\.WDPL", "WDP", 0),
    (r"WDTC?S?R\.WDPH", "WDP3", 0),
    (r"OSCCAL\.OSCCAL", "CAL", 0),
    (r"PCMSK1\.PCINT", "PCINT", 8),
    (r"PCMSK2\.PCINT", "PCINT", 16),
    (r"PCMSK3\.PCINT", "PCINT", 24),
    (r"TCCR(\d)B\.WGM\1", r"WGM\1", 2),
    (r"TWSR\.TWS", "TWS", 3),
    (r"EECR\.EE(M?)WE", r"EE\1PE", 0),
    (r"(GPIOR\d)\.GPIOR", r"\1", 0),
    (r"(DT1[AB])\.DTV([LH])", r"\1\2", 0),
    (r"(SPDR)\.SPD", r"\1", 0),
    (r"(DTPS1)\.DTPS", r"\1", 0),
]

NO_STACK_POINTER = "the crate has neither the stack pointer nor SREG"
READ_ONLY = "the crate has no access of the bit; the sheet has R"
UNNAMED = "bits without a name, which the table has read anything"
OLDER = "the crate has no ATmega168P, which has the bits; avr-libc has them"
NEWER = "the ATtiny13A has it; in the table it is reserved"

PORT_G = (("PING", "PING "), ("DDRG", "DDG"), ("PORTG", "PORTG "))

# Differences of all devices, and of single ones: what -> why.
OF_ALL = {
    "register SREG": NO_STACK_POINTER,
    "access to EECR.EERE": "the sheet has R/W; the bit reads 0, in simavr as well, because the read is over when the next instruction begins",
}
OF_MOST = {f"register {name}": NO_STACK_POINTER for name in ("SPL", "SPH", "SP")}
OF_ATMEGAS = {"access to SPMCSR.RWWSB": READ_ONLY}
OF_TIMER_2 = {f"access to ASSR.{name}": READ_ONLY for name in ("TCR2BUB", "TCR2AUB", "OCR2BUB", "OCR2AUB", "TCN2UB")}
NO_SIGNATURE_BIT = {"other bits of SPMCSR": "the crate does not have SIGRD; avr-libc has it"}
OF_DEVICE = {
    "atmega328p": OF_MOST | OF_ATMEGAS | OF_TIMER_2,
    "atmega168p": OF_MOST | OF_ATMEGAS | OF_TIMER_2 | NO_SIGNATURE_BIT | {"other bits of MCUCR": OLDER},
    "atmega88p": OF_MOST | OF_ATMEGAS | OF_TIMER_2 | NO_SIGNATURE_BIT,
    "atmega1284p": OF_MOST | OF_ATMEGAS | OF_TIMER_2,
    "atmega2560": OF_MOST
    | OF_ATMEGAS
    | OF_TIMER_2
    | {f"{register}.{name}{bit}": "port G has six pins, also in avr-libc" for register, name in PORT_G for bit in (6, 7)},
    "atmega32u4": OF_MOST
    | OF_ATMEGAS
    | {
        "register UEBCX": "the crate has two registers and no pair of them; avr-libc has the pair",
        "ADCSRB.ADTS4": "the crate has a fifth bit, which avr-libc does not have",
        "other bits of MCUSR": "the crate does not have USBRF, of which the table says that it reads anything",
        "other bits of GTCCR": "the crate does not have PSRASY, which avr-libc has; the part has no timer 2",
    }
    | {f"RAMPZ.RES{bit}": "a reserved bit" for bit in range(6)}
    | {
        f"other bits of {register}": UNNAMED
        for register in "UHWCON USBCON USBSTA USBINT UDCON UDINT UDIEN UDMFN UERST UECONX UECFG0X UECFG1X UESTA0X UESTA1X UEIENX".split()
    },
    "attiny85": OF_MOST
    | {"access to GTCCR.PSR1": "the sheet: this bit will always read as zero"},
    "attiny13": {"OSCCAL.CAL7": "avr-libc has seven bits for the ATtiny13A, and names none for the ATtiny13"}
    | {what: NEWER for what in "register PRR,register BODCR,PRR.PRADC,PRR.PRTIM0,BODCR.BODSE,BODCR.BODS,MCUCR.BODSE,MCUCR.BODS".split(",")},
    "attiny84": OF_MOST
    | {
        "register DWDR": "the crate does not have it; avr-libc has it",
        "other bits of DIDR0": "the crate has the bits of the comparator alone; avr-libc has all",
        "other bits of SPMCSR": "the crate does not have RSIG; avr-libc has it",
    },
}
EXCEPTIONS = {(device, what): why for device, own in OF_DEVICE.items() for what, why in (OF_ALL | own).items()}


def crate_folder():
    """The folder with the source of the crate; ends the program if cargo cannot get it."""
    with tempfile.TemporaryDirectory() as project:
        os.mkdir(os.path.join(project, "src"))
        open(os.path.join(project, "src", "lib.rs"), "w").close()
        manifest = os.path.join(project, "Cargo.toml")
        with open(manifest, "w") as file:
            file.write('[package]\nname = "facts"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n')
            file.write(f'{CRATE} = {{ version = "={VERSION}", default-features = false }}\n')
        command = ["cargo", "metadata", "--quiet", "--format-version", "1", "--manifest-path", manifest]
        # Without a network, cargo takes what it has fetched before only if it is told so.
        cached = subprocess.run([*command, "--offline"], capture_output=True, text=True)
        metadata = json.loads(run(command) if cached.returncode else cached.stdout)
    found = next(package for package in metadata["packages"] if package["name"] == CRATE)
    return os.path.dirname(found["manifest_path"])


def read(*path):
    """The text of a file."""
    with open(os.path.join(*path)) as file:
        return file.read()


class Register:
    """A register of the crate: address, width in bits, and fields: name -> (lowest bit, highest bit, access)."""

    def __init__(self, address, text):
        self.address, self.fields = address, {}
        self.width = int(re.search(r"type Ux = u(\d+)", text).group(1))
        for access, body in re.findall(r"\nimpl ([RW]) \{(.*?)\n\}", text, re.S):
            fields = re.findall(r'"Bits? (\d+)(?::(\d+))? - .*?-> (\w+)_[RW]\b', body, re.S)
            for low, high, name in fields:
                before = self.fields.get(name, (0, 0, ""))[2]
                self.fields[name] = (int(low), int(high or low), before + access)


def crate_registers(folder):
    """The registers of a part, and its fuse bytes: name -> Register."""
    registers, fuses = {}, {}
    peripherals = re.findall(r"pub const PTR: \*const (\w+)::RegisterBlock = (\w+) as", read(folder, "mod.rs"))
    for module, base in peripherals:
        block = read(folder, f"{module}.rs")
        for offset, name in re.findall(r'#\[doc = "(0x[0-9a-f]+)[^"]*"\]\s+pub (\w+): \w+,', block):
            register = Register(int(base, 0) + int(offset, 0), read(folder, module, f"{name}.rs"))
            if module == "fuse":
                fuses[name.upper()] = register
            elif module != "lockbit":
                registers.setdefault(name.upper(), register).fields.update(register.fields)
    return registers, fuses


def crate_vectors(folder):
    """The vectors of a part but the reset: name -> number."""
    body = re.search(r"pub enum Interrupt \{(.*?)\n\}", read(folder, "interrupt.rs"), re.S).group(1)
    return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+),", body) if number != "0"}


def spelled(register, field):
    """The spelling of a field in the table, and the number of its lowest bit where it has several."""
    for pattern, name, first in SPELLINGS:
        match = re.fullmatch(pattern, f"{register}.{field}")
        if match:
            return match.expand(name), first
    return field, 0


def numbered(register, name, halves=""):
    """The name of a bit; one that is the name of its register and a number, which is spelled in many ways, as the number in its byte."""
    number = name.removeprefix(register).lstrip(halves + "_")
    return f"{register} {int(number) % 8}" if name.startswith(register) and number.isdigit() else name


def bit_names(register, field, low, high):
    """The names that the table is to have for the bits of a field, lowest first."""
    name, first = spelled(register, field)
    names = [name] if low == high else [f"{name}{first + bit}" for bit in range(high - low + 1)]
    return [numbered(register, name) for name in names]


def bits_of_pairs(lines):
    """The registers of which the bits of each register are a part: name -> [(itself or a pair, offset)]."""
    places = {line[1]: int(line[2], 16) for line in lines if line[0] == "register"}
    pairs = [(line[1], int(line[2], 16)) for line in lines if line[0] == "pair"]
    return {
        name: [(name, 0)] + [(pair, 8 * (place - low)) for pair, low in pairs if place in (low, low + 1)]
        for name, place in places.items()
    }


def table_bits(lines):
    """The bits of each register and each pair of the table: register -> {number: (name, access)}."""
    bits, owners = {}, bits_of_pairs(lines)
    for _, register, name, number, _, access in (line for line in lines if line[0] == "bit"):
        for owner, offset in owners[register]:
            own = numbered(owner, name, "" if owner == register else "LH")
            bits.setdefault(owner, {})[int(number, 16) + offset] = (own, access)
    return bits


def compare_registers(comparison, lines, theirs):
    """Names and addresses of registers and of pairs of them, in both directions."""
    widths = {"register": 8, "pair": 16}
    ours = {line[1]: (int(line[2], 16), widths[line[0]]) for line in lines if line[0] in widths}
    places = {name: (register.address, register.width) for name, register in theirs.items()}
    halves = {f"{name}{half}": (address + "LH".index(half), 8) for name, (address, width) in places.items() if width == 16 for half in "LH"}
    for name, place in ours.items():
        comparison.same(f"register {name}", place, places.get(name) or halves.get(name))
    for name, place in places.items():
        if name not in ours:
            comparison.same(f"register {name}", None, place)


def compare_bits(comparison, lines, theirs):
    """Names and numbers of bits of the registers that have fields in the crate, and the accesses to them."""
    ours = table_bits(lines)
    aliases = {(line[3], line[1]): line[4] for line in lines if line[0] == "alias"}
    for register, facts in theirs.items():
        bits = dict(ours.get(register, {}))
        for field, (low, high, access) in facts.fields.items():
            accesses = set()
            for bit, name in enumerate(bit_names(register, field, low, high), low):
                own, own_access = bits.pop(bit, (None, "anything"))
                comparison.same(f"{register}.{name}", own, aliases.get((register, name), name))
                accesses |= {own_access} - {"anything"}
            # Of a whole register the crate always says that it is read and written.
            if accesses and spelled(register, field)[0] != register:
                expected = {"R": "read_only", "W": "write_only"}.get(access, "read_write")
                comparison.same(f"access to {register}.{field}", sorted(accesses), [expected])
        if facts.fields:
            comparison.same(f"other bits of {register}", [name for name, _ in bits.values()], [])


def compare_vectors(comparison, lines, theirs):
    """Names and numbers of the vectors, in both directions."""
    ours = {line[2]: int(line[1], 16) for line in lines if line[0] == "vector"}
    for name in {**ours, **theirs}:
        if name.startswith("RESERVED"):
            comparison.same(f"no vector at the number of {name}", theirs[name] in ours.values(), False)
        else:
            comparison.same(f"vector {name}", ours.get(name), theirs.get(name))


def compare_fuses(comparison, lines, theirs):
    """Bytes and bits of the fuses, in both directions."""
    ours = {line[1]: (line[2].upper(), int(line[3], 16)) for line in lines if line[0] == "fuse"}
    if {"SUT", "CKSEL"} <= ours.keys():
        (byte, start_up), (other, clock) = ours.pop("SUT"), ours.pop("CKSEL")
        ours["SUT_CKSEL"] = (byte, start_up | clock) if byte == other else None
    masks = {
        name: (byte, (1 << high + 1) - (1 << low)) for byte, register in theirs.items() for name, (low, high, _) in register.fields.items()
    }
    for name in {**ours, **masks}:
        comparison.same(f"fuse {name}", ours.get(name), masks.get(name))


class Part:
    """What the crate says of a part."""

    def __init__(self, crate, device):
        self.name = NEAREST.get(device, device)
        folder = os.path.join(crate, "src", "devices", self.name)
        registers, self.fuses = crate_registers(folder)
        names = RENAMED.get(device, {})
        self.registers = {names.get(name, name): register for name, register in registers.items()}
        self.vectors = {names.get(name, name): number for name, number in crate_vectors(folder).items()}


def compare(device, lines, part):
    """The comparison of the lines of a table with a part of the crate."""
    comparison = Comparison(device, EXCEPTIONS)
    compare_registers(comparison, lines, part.registers)
    compare_bits(comparison, lines, part.registers)
    compare_vectors(comparison, lines, part.vectors)
    compare_fuses(comparison, lines, part.fuses)
    for owner, what in EXCEPTIONS:
        if owner == device and what not in comparison.known:
            comparison.different.append(f"{what}: this exception is not needed")
    return comparison


# The place of the name and of the number in the lines of each kind, and the difference to another number.
CHANGES = {"register": (1, 2, 1), "pair": (1, 2, 1), "bit": (2, 3, 1), "vector": (2, 1, 1), "fuse": (1, 3, -1)}


def changed(lines, line):
    """Copies of the table with one fact of a line changed each: what was changed, and the copy."""
    name, number, change = CHANGES[line[0]]
    bit = line[0] == "bit"
    other = int(line[number], 16) + change
    changes = {"number": (number, f"{other % 8 if bit else other:x}"), "name": (name, f"{line[name]}X")}
    if bit and line[5] != "anything":
        changes["access"] = (5, "read_only" if line[5] == "read_write" else "read_write")
    for what, (place, text) in changes.items():
        copy = [[*other[:place], text, *other[place + 1 :]] if other is line else other for other in lines]
        if (line[0], what) == ("register", "name"):
            copy = [[other[0], text, *other[2:]] if other[:2] == ["bit", line[1]] else other for other in copy]
        yield what, copy


def is_silent(device, line, what, lines, part):
    """True if the crate says nothing of a fact, or something else for a reason."""
    if line[0] != "bit":
        return (device, f"{'vector' if line[0] == 'vector' else 'register'} {line[CHANGES[line[0]][0]]}") in EXCEPTIONS
    owners = bits_of_pairs(lines)[line[1]]
    fields = {owner: part.registers[owner].fields for owner, _ in owners if owner in part.registers}
    if not any(fields.values()) or (what == "access" and any(spelled(owner, name)[0] == owner for owner in fields for name in fields[owner])):
        return True
    named = any(low <= int(line[3], 16) <= high for own in fields.values() for low, high, _ in own.values())
    return not named and (device, f"other bits of {line[1]}") in EXCEPTIONS


def faults_are_found(device, lines, part):
    """Changes each fact of the table of which the crate says something, in turn, and prints which changes are not found."""
    found, silent, unseen = 0, 0, []
    for line in (line for line in lines if line[0] in CHANGES):
        for what, copy in changed(lines, line):
            if compare(device, copy, part).different:
                found += 1
            elif is_silent(device, line, what, lines, part):
                silent += 1
            else:
                unseen.append(f"{what} of {' '.join(line[:4])}")
    for name in unseen:
        print(f"{device}: NOT FOUND: a change of the {name}")
    print(f"{device}: {found} changes of one fact found, {len(unseen)} not found; {silent} others of which the crate says nothing, or that are exceptions")
    return not unseen


def main():
    """Compares the devices named on the command line, or all."""
    crate = crate_folder()
    faults = "--faults" in sys.argv[1:]
    well = True
    for device in [argument for argument in sys.argv[1:] if argument != "--faults"] or DEVICES:
        part, lines = Part(crate, device), table_facts(device)
        if part.name != device:
            print(f"{device}: compared with the {part.name} of the crate")
        well &= compare(device, lines, part).report()
        if faults:
            well &= faults_are_found(device, lines, part)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
