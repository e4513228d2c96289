#!/usr/bin/env python3
"""Compare a device table with avr-libc's header for the part and with simavr.

    tests/oracle/devices/compare.py [DEVICE ...]

Needs avr-gcc and avr-libc (Debian: gcc-avr, avr-libc), and a C compiler with libsimavr (libsimavr-dev). The header is
preprocessed, its macros are read, and every register address, bit number, vector, fuse bit and size is compared in both
directions; the enable and flag bits of the vectors, which flags an interrupt entry leaves, and what plain storage reads
back after a write, with simavr. What the others are known to say differently is in EXCEPTIONS, each with the reason. Exit code 0: no difference; 1: differences
(printed); 2: cannot run.
"""

import os
import re
import sys
import tempfile

from comparison import DEVICES, FAMILY, Comparison, run, table_facts

# Differences that are decided by the data sheet: (device, what) -> why.
OF_FAMILY = {
    "bits of OCR2A": "the header calls the bits of OCR2A and OCR2B alike, OCR2_n",
    "bits of OCR2B": "the header calls the bits of OCR2A and OCR2B alike, OCR2_n",
    "bits of TWAMR": "the header shifts TWAM6:0 down; in the data sheet they are bits 7 to 1",
}
EXCEPTIONS = {
    **{(device, what): why for device in FAMILY for what, why in OF_FAMILY.items()},
    **{("atmega1284p", what): why for what, why in OF_FAMILY.items() if what != "bits of TWAMR"},
    **{
        ("atmega1284p", f"bits of OCR{timer}B{half}"): f"the header names them OCR{timer}A{half}n"
        for timer in "13" for half in "LH"
    },
    ("atmega1284p", "fuse_low"): "the header programs SUT1 as well; the table has 62, 99 and ff, from the default of JTAGEN and the bytes of the ATmega644A",
    ("atmega1284p", "fuse_high"): "the header leaves BOOTSZ1 unprogrammed; likewise",
    **{("atmega2560", f"bits of PORT{port}"): f"the header names them P{port}n" for port in "ABCDEFGHJKL"},
    ("atmega2560", "bits of RAMPZ"): "the header is that of the ATmega1280 as well, which has one bit",
    **{
        ("atmega2560", f"request of {name}"): "simavr does not model it for this part"
        for name in ("PCINT1", "PCINT2", "ANALOG_COMP")
    },
    ("atmega32u4", "a register at the address of TIFR5"): "the header has it without bits; the part has no timer 5",
    ("atmega32u4", "a register at the address of TCNT4"): "the table has no pair of it: all registers of timer 4 share the high byte TC4H",
    ("atmega32u4", "bits of MCUSR"): "the header does not have USBRF, of which the table says that it reads anything",
    **{
        ("atmega32u4", f"bits of {name}"): "the header leaves bits without a name; the table has them read anything"
        for name in "UHWCON USBCON USBSTA USBINT UDCON UDINT UDIEN UDFNUMH UDMFN UENUM UERST UECONX UECFG0X UECFG1X UESTA0X UESTA1X"
        " UEIENX UEBCHX UEINT".split()
    },
    ("atmega32u4", "bits of RAMPZ"): "the header has one bit; the table has both read anything",
    **{
        ("atmega32u4", f"request of {name}"): "simavr does not model it for this part"
        for name in ("TIMER1_COMPC", "TIMER3_COMPC", "TIMER4_COMPA", "TIMER4_COMPB", "TIMER4_COMPD", "TIMER4_OVF", "TIMER4_FPF")
    },
    **{
        ("atmega32u4", f"request of {name}"): "there is no single enable bit; the table has a bit of its own, and simavr has USBE of USBCON"
        for name in ("USB_GEN", "USB_COM")
    },
    ("atmega32u4", "fuse_low"): "the header programs SUT1 and leaves SUT0 unprogrammed; the table has 52, the internal oscillator",
    ("atmega32u4", "fuse_high"): "the header leaves BOOTSZ1 and JTAGEN unprogrammed; the table has 99, with which the pins of JTAG are not free",
    ("atmega32u4", "fuse_extended"): "the header has no byte of the part; the table has f3, with HWBE programmed",
    ("attiny85", "bits of PORTB"): "the header names them PBn",
    ("attiny13", "bits of PORTB"): "the header names them PBn",
    ("attiny13", "a register at the address of SPH"): "the header common to all has it; the part has a stack pointer of eight bits",
    ("attiny13", "fuse FUSE_SELFPRGEN"): "the header calls it FUSE_SPMEN",
    ("attiny13", "fuse_extended"): "the part has two bytes of fuses",
    ("attiny84", "bits of PORTA"): "the header names them PAn",
    ("attiny84", "bits of PORTB"): "the header names them PBn",
    ("attiny85", "request of USI_START"): "simavr does not model the USI",
    ("attiny85", "request of USI_OVF"): "simavr does not model the USI",
    ("attiny84", "request of USI_START"): "simavr does not model the USI",
    ("attiny84", "request of USI_OVF"): "simavr does not model the USI",
}

# Registers and bits of every part, which the header takes from a file common to all.
COMMON_REGISTERS = {"SPL": 0x5D, "SPH": 0x5E, "SREG": 0x5F}
UNNUMBERED = re.compile(r"^(I|T|H|S|V|N|Z|C|SP\d+)$")

FACT_MACROS = {
    "flash_end": "FLASHEND",
    "flash_page_bytes": "SPM_PAGESIZE",
    "sram_start": "RAMSTART",
    "sram_end": "RAMEND",
    "eeprom_end": "E2END",
    "fuse_low": "LFUSE_DEFAULT",
    "fuse_high": "HFUSE_DEFAULT",
    "fuse_extended": "EFUSE_DEFAULT",
    "signature_0": "SIGNATURE_0",
    "signature_1": "SIGNATURE_1",
    "signature_2": "SIGNATURE_2",
    "vectors_bytes": "_VECTORS_SIZE",
    "sleep_idle": "SLEEP_MODE_IDLE",
    "sleep_adc_noise_reduction": "SLEEP_MODE_ADC",
    "sleep_power_down": "SLEEP_MODE_PWR_DOWN",
    "sleep_power_save": "SLEEP_MODE_PWR_SAVE",
    "sleep_standby": "SLEEP_MODE_STANDBY",
    "sleep_extended_standby": "SLEEP_MODE_EXT_STANDBY",
}


def header_macros(device):
    """The macros of avr/io.h for a device: name -> text, in the order of the header."""
    source = "#include <avr/io.h>\n"
    output = run(["avr-gcc", f"-mmcu={device}", "-E", "-dM", "-x", "c", "-"], source)
    macros = {}
    for line in output.splitlines():
        match = re.match(r"#define (\w+) ?(.*)", line)
        if match:
            macros[match.group(1)] = match.group(2).strip()
    return macros


def header_bits(device):
    """The bit names that the header of the part itself lists below each register: register -> {bit: number}."""
    output = run(["avr-gcc", f"-mmcu={device}", "-E", "-dD", "-x", "c", "-"], "#include <avr/io.h>\n")
    bits, register = {}, None
    for line in output.splitlines():
        match = re.match(r"#define (\w+) (.*)", line)
        if not match:
            continue
        name, value = match.group(1), match.group(2).strip()
        if re.match(r"_SFR_(IO|MEM)\d+ ?\(", value):
            register = name
            bits.setdefault(register, {})
        elif register and re.fullmatch(r"[0-7]", value) and not re.match(r"__|\w+_vect_num$", name):
            bits[register].setdefault(name, int(value))
        elif register and not re.fullmatch(r"\w+", value):
            register = None
    return bits


def value_of(macros, name, depth=0):
    """The number that a macro stands for, or None."""
    text = macros.get(name)
    if text is None or depth > 8:
        return None
    text = re.sub(r"_BV\((\w+)\)", r"(1<<\1)", text.replace("(unsigned char)", ""))
    text = re.sub(r"(?<![\w])(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", r"\1", text)
    for word in set(re.findall(r"\b[A-Za-z_]\w*\b", text)):
        inner = value_of(macros, word, depth + 1)
        if inner is None:
            return None
        text = re.sub(rf"\b{word}\b", str(inner), text)
    if not re.fullmatch(r"[0-9a-fA-FxX()<>|&~+*\- ]+", text):
        return None
    try:
        return eval(text, {"__builtins__": {}}) & 0xFFFFFFFF
    except SyntaxError:
        return None


def header_registers(macros):
    """The registers of the header: name -> (data address, width)."""
    registers = {}
    for name, text in macros.items():
        match = re.fullmatch(r"_SFR_(IO|MEM)(8|16) ?\((0[xX][0-9a-fA-F]+|\d+)\)", text)
        if match:
            offset = 0x20 if match.group(1) == "IO" else 0
            registers[name] = (int(match.group(3), 0) + offset, int(match.group(2)))
    return registers


def compare_registers(comparison, lines, macros):
    """Addresses of registers and pairs, in both directions."""
    registers = {line[1]: int(line[2], 16) for line in lines if line[0] == "register"}
    pairs = {line[1]: int(line[2], 16) for line in lines if line[0] == "pair"}
    theirs = {**{name: (address, 8) for name, address in COMMON_REGISTERS.items()}, **header_registers(macros)}
    for name, address in {**registers, **pairs}.items():
        if name in COMMON_REGISTERS or name == "SP":
            continue
        comparison.same(f"address of {name}", address, theirs.get(name, (None,))[0])
    for name, (address, width) in theirs.items():
        known = pairs.values() if width == 16 else registers.values()
        comparison.same(f"a register at the address of {name}", address in known, True)


def compare_bits(comparison, lines, device, registers):
    """Names and numbers of the bits of each register, in both directions, where the header names them."""
    ours = {}
    for line in lines:
        if line[0] == "bit" and not UNNUMBERED.match(line[2]):
            ours.setdefault(line[1], {})[line[2]] = int(line[3], 16)
    aliases = {line[1] for line in lines if line[0] == "alias"}
    theirs = header_bits(device)
    for register in registers:
        if register in COMMON_REGISTERS or not theirs.get(register):
            continue
        listed = {name: bit for name, bit in theirs.get(register, {}).items() if name not in aliases}
        comparison.same(f"bits of {register}", sorted(ours.get(register, {}).items()), sorted(listed.items()))


def compare_vectors(comparison, lines, macros):
    """Numbers and names of the vectors, in both directions."""
    ours = {line[2]: int(line[1], 16) for line in lines if line[0] == "vector"}
    theirs = {name[: -len("_vect_num")]: value_of(macros, name) for name in macros if name.endswith("_vect_num")}
    for name, number in ours.items():
        comparison.same(f"vector {name}", number, theirs.get(name))
    for name, number in theirs.items():
        comparison.same(f"a vector with the number of {name}", number in ours.values(), True)


def run_simavr(folder, name, device, text=""):
    """The output of a program of this folder that uses libsimavr, made in another folder."""
    program = os.path.join(folder, name)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
    run(["cc", "-o", program, source, "-lsimavr", "-lelf"])
    return run([program, device], text)


def simavr_vectors(device):
    """What simavr knows: vector number -> (enable address, bit, flag address, bit, flag stays)."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [line.split() for line in run_simavr(folder, "simavr_vectors", device).splitlines()]
    return {int(line[1], 16): tuple(int(part, 16) for part in line[2:]) for line in lines if line[0] == "vector"}


def compare_requests(comparison, lines, device):
    """Enable and flag bits of the vectors."""
    theirs = simavr_vectors(device)
    for line in (line for line in lines if line[0] == "vector"):
        number, ours = int(line[1], 16), tuple(int(part, 16) for part in line[4:])
        comparison.same(f"request of {line[2]}", ours, theirs.get(number))


def read_back(address, value, pairs):
    """A program that writes a value to a register and, after six cycles, reads it into r17, as words after their count.

    Of a 16-bit register the high byte is written first and the low byte read first, each half with the same value."""
    low = next((low for low in pairs if address in (low, low + 1)), None)
    written = [address] if low is None else [low + 1, low]
    read = [low, address] if address - 1 == low else [address]
    code = [[0xE000 | (value & 0xF0) << 4 | value & 0x0F]]
    code += [[0x9300, place] for place in written]
    code += [[0x0000]] * 6
    code += [[0x9110, place] for place in read]
    return " ".join(f"{word:x}" for word in [len(code)] + [word for instruction in code for word in instruction])


def compare_storage(comparison, lines, device):
    """Bits of plain storage read back what was written."""
    places = {line[1]: int(line[2], 16) for line in lines if line[0] == "register"}
    pairs = [int(line[2], 16) for line in lines if line[0] == "pair"]
    masks = {}
    for line in (line for line in lines if line[0] == "bit" and line[4] == "storage"):
        masks[line[1]] = masks.get(line[1], 0) | 1 << int(line[3], 16)
    cases = [(register, value) for register in masks for value in (0x55, 0xAA, 0x0F, 0xF0)]
    text = "".join(read_back(places[register], value, pairs) + "\n" for register, value in cases)
    with tempfile.TemporaryDirectory() as folder:
        output = run_simavr(folder, "simavr_storage", device, text).split()
    theirs = {}
    for (register, value), found in zip(cases, output, strict=True):
        theirs.setdefault(register, {})[value] = int(found, 16) & masks[register]
    for register, found in theirs.items():
        comparison.same(f"storage of {register}", {value: value & masks[register] for value in found}, found)


def compare_fuses(comparison, lines, macros):
    """The bit of each fuse; a field of several is compared by its lowest bit."""
    for line in (line for line in lines if line[0] == "fuse"):
        name, mask = line[1], int(line[3], 16)
        for bit in (bit for bit in range(8) if mask >> bit & 1):
            lowest = (mask & -mask).bit_length() - 1
            numbered = f"FUSE_{name}{bit - lowest}" if mask & (mask - 1) else f"FUSE_{name}"
            theirs = value_of(macros, numbered)
            comparison.same(f"fuse {numbered}", ~(1 << bit) & 0xFF, None if theirs is None else theirs & 0xFF)


def compare_facts(comparison, lines, macros):
    """Sizes, signature, default fuses and sleep modes."""
    for line in (line for line in lines if line[0] == "fact"):
        theirs = value_of(macros, FACT_MACROS[line[1]])
        if theirs is not None and line[1].startswith("fuse_"):
            theirs &= 0xFF
        comparison.same(line[1], int(line[2], 16), theirs)


def compare(device):
    """Compares one device and says whether all is well."""
    comparison = Comparison(device, EXCEPTIONS)
    lines, macros = table_facts(device), header_macros(device)
    compare_registers(comparison, lines, macros)
    compare_bits(comparison, lines, device, [line[1] for line in lines if line[0] == "register"])
    compare_vectors(comparison, lines, macros)
    compare_requests(comparison, lines, device)
    compare_storage(comparison, lines, device)
    compare_fuses(comparison, lines, macros)
    compare_facts(comparison, lines, macros)
    return comparison.report()


def main():
    """Compares the devices named on the command line, or all parts that there are."""
    results = [compare(device) for device in sys.argv[1:] or DEVICES]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
