#!/usr/bin/env python3
"""Runs the programs of tests/data-sheet in libsimavr and in `avr-tvar run`, without any input, and compares them step by step.

    tests/oracle/data-sheet/run.py AVR-TVAR

After every instruction, entry into a handler, cycle of sleep and reset: program counter, clock cycle, SP, SREG and r0 to r31. In the end: SRAM.
Where libsimavr is known to differ from the data sheet, `player.c` corrects it, or EXCEPTIONS has the program.
Needs gcc, libsimavr-dev and libelf-dev. Exit code 1: a program differs and is no exception, or is one and does not differ.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "tests/data-sheet"
STEPS = 5000
FEWEST = 150
SRAM_START = {"atmega328p": 0x100, "attiny85": 0x60}

# The reason why libsimavr differs, with what the data sheet says, and the programs.
EXCEPTIONS = {
    "libsimavr has a bit of ADIF that is written 0 cleared and one that is written 1 kept; sheet, ADIF: cleared by writing a one":
        "adc-adif-one adc-adif-zero",
    "libsimavr converts 1.1 V for the reference; the sheet leaves the result of this channel open, and the stimulus has 0":
        "adc-bandgap",
    "libsimavr counts a conversion from the beginning of the instruction that starts it; sheet, ADSC: the write starts it":
        "adc-flag-with-end adc-irq-entry adc-irq-stable tiny-vectors",
    "libsimavr keeps ADSC that is written while ADEN is 0; sheet, ADEN: the converter is off":
        "adc-off-start",
    "libsimavr starts no conversion by sleep; sheet, ADC Noise Canceler: a conversion starts once the CPU has been halted":
        "adc-sleep-irq",
    "libsimavr lets the converter go on in power-down; sheet, Power-down Mode: all generated clocks halt":
        "sleep-down-converter",
    "libsimavr keeps BODS and BODSE as any bits; sheet, BODS: a timed sequence sets it, and it is cleared after three cycles":
        "brown-out-active brown-out-alone brown-out-late brown-out-sequence tiny-brown-out-alone tiny-brown-out-sequence",
    "libsimavr keeps CLKPR as any byte and has 0 after reset; sheet, CLKPR: a timed sequence changes it, and CKDIV8 is programmed":
        "clock-late clock-once clock-together clock-unlocked tiny-clock-late tiny-clock-once window-eeprom-read window-eeprom-write",
    "libsimavr compares no levels that the program drives; sheet, ACO: the output of the comparator":
        "comparator-reference comparator-reference-pin",
    "libsimavr has EEPE at 0 at once; sheet, EEPE: it is 1 until the write has ended, and EEAR, EEDR and EEPM are locked":
        "eempe-with-eepe eeprom-address-high-locked eeprom-address-locked eeprom-erased eeprom-mode-locked eeprom-ready eeprom-split"
        " eeprom-two-cells eeprom-write-only eeprom-written sleep-down-eeprom sleep-idle-eeprom sleep-noise-eeprom tiny-eeprom-locked"
        " tiny-eeprom-written",
    "libsimavr counts the four cycles of EEMPE from the beginning of SBI; sheet, EEMPE: four cycles after it was written":
        "window-skip",
    "libsimavr keeps IVCE and IVSEL as any bits; sheet, IVCE: cleared four cycles after it was written or when IVSEL is written":
        "ivce-again vectors-locked",
    "libsimavr has no delay from a pin to its flag; sheet, Pin Change Interrupt Timing: some cycles":
        "pin-change-late",
    "libsimavr has an input with a pull-up at 1; the sheet leaves the level to the environment, and the stimulus has 0":
        "port-input",
    "libsimavr has SBI on PIN toggle all bits that read 1; sheet, Toggling the Pin: SBI toggles one single bit":
        "port-toggle-bit",
    "libsimavr knows nothing of TSM, PSRSYNC and PSR1; sheet, GTCCR: they halt the prescaler and are cleared by hardware":
        "prescaler-bypassed prescaler-halts prescaler-pulse prescaler-reset tiny-prescaler1",
    "libsimavr sets reset flags that are written 1; sheet, MCUSR: only a reset sets them":
        "reset-cause-one",
    "libsimavr keeps SPMCSR as it is written and has no signature row; sheet, SPMCSR: hardware clears SPMEN and sets RWWSB":
        "self-programming-busy self-programming-late self-programming-ready signature-row signature-row-late tiny-self-programming-late"
        " tiny-signature-row",
    "libsimavr counts from the beginning of the instruction that starts the timer; sheet, Timer/Counter: the write starts it":
        "sleep-idle-timer sleep-idle-timer2",
    "libsimavr sleeps while SE is 0; sheet, SE: it must be 1 for SLEEP to have the MCU sleep":
        "sleep-not-enabled",
    "libsimavr has every transfer last 100 us and no WCOL; sheet, SPI: eight cycles of SCK, and WCOL set by a write during a transfer":
        "spi-collision-cleared spi-flag-entry spi-flag-kept spi-flag-read spi-master-received spi-no-collision spi-stable spi-status-write"
        " spi-write-collision",
    "libsimavr knows nothing of PRTIM0; sheet, PRR: the registers of a stopped module cannot be read or written":
        "stopped-timer",
    "libsimavr has the bits FOC read as written; sheet, FOC0A: always read as zero":
        "timer0-force timer1-force timer2-force tiny-timer0-force tiny-timer1-force",
    "libsimavr reads a stopped counter as 0; sheet, TCNT: the content of the counter":
        "timer0-halted timer0-written timer1-stopped timer2-halted timer2-written",
    "libsimavr lets ICR1 be written in all modes; sheet, ICR1: only in modes that have it as the top":
        "timer1-capture-locked",
    "libsimavr has no high byte that 16-bit registers share; sheet, Accessing 16-bit Registers: TEMP":
        "timer1-shared",
    "libsimavr keeps OCR2A when AS2 changes; the sheet has it that the content might be corrupted":
        "timer2-switched",
    "libsimavr has no universal serial interface; sheet, USI":
        "tiny-port-strobe tiny-usi-buffered tiny-usi-flag-entry tiny-usi-flag-one tiny-usi-overflow tiny-usi-selected tiny-usi-shifted"
        " tiny-usi-strobe",
    "libsimavr sends START in no time, has no TWWC, and TWAR and TWDR are 0 after reset; sheet, TWI Register Description":
        "twi-engaged twi-reset twi-start twi-write-early",
    "libsimavr has no buffer in front of the shift register, so UDRE0 is 0 during a frame, and no master SPI; sheet, USART":
        "usart-sent-entry usart-sent-one usart-sent-ready usart-sent-twice usart-sent-zero usart-spi-once usart-spi-transfer usart-spi-twice",
}


def programs():
    """(name, device) of each program."""
    text = re.sub(r"^ *//.*$", "", (FOLDER / "expected.ron").read_text(), flags=re.M)
    for entry in re.findall(r"\(\s*image: .*?\n    \),", text, re.S):
        device = re.search(r'device: "([^"]+)"', entry)
        yield re.search(r'image: "([^"]+)"', entry).group(1), device.group(1) if device else "atmega328p"


def simulated(tool, image, device):
    """The lines and the SRAM of `avr-tvar run`, and the last step's outcome if it ended early: `sleep`, `hazard` or none."""
    command = [tool, "run", image, "--device", device, "--steps", str(STEPS)]
    shown = subprocess.run(command + ["--trace", "--format", "json"], capture_output=True, text=True, check=True).stdout
    *steps, end = [json.loads(line) for line in shown.splitlines()]
    registers, lines = [0] * 32, []
    for step in steps:
        for name, value in step["registers"].items():
            registers[int(name[1:])] = value
        lines.append(f"{step['pc']} {step['cycle']} {step['sp']} {step['sreg']} {bytes(registers).hex()}")
    if len(lines) == STEPS:
        return lines, end["data"][2 * SRAM_START[device]:], None
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return lines, None, "sleep" if said.endswith("a sleep that nothing ends") else "hazard"


def played(player, image, device):
    """The kinds and lines and the SRAM of libsimavr."""
    shown = subprocess.run([player, device, image, str(STEPS)], capture_output=True, text=True, check=True).stdout
    steps = [line.split(" ", 1) for line in shown.splitlines() if re.match(r"[iesr] \d", line)]
    return [kind for kind, _ in steps], [line for _, line in steps], re.search(r"^sram (\w+)$", shown, re.M).group(1)


def difference(tool, player, program):
    """The first difference; none if there is none."""
    name, device = program
    image = FOLDER / "images" / f"{name}.elf"
    ours, our_sram, early = simulated(tool, image, device)
    kinds, theirs, their_sram = played(player, image, device)
    for number, (our, their) in enumerate(zip(ours, theirs), 1):
        if our != their:
            return f"step {number}: avr-tvar {our}, libsimavr {their}"
    if len(theirs) < len(ours):
        return f"libsimavr ends after {len(theirs)} steps"
    if early == "sleep" and set(kinds[len(ours):]) != {"s"}:
        return f"libsimavr does not sleep for ever after step {len(ours)}"
    if early is None and our_sram != their_sram:
        return "the SRAM in the end"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tests/oracle/data-sheet/run.py AVR-TVAR")
    tool = sys.argv[1]
    excepted = {name for names in EXCEPTIONS.values() for name in names.split()}
    everything = sorted(set(programs()))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        player = pathlib.Path(folder) / "player"
        source = ROOT / "tests/oracle/data-sheet/player.c"
        subprocess.run(["gcc", "-O2", "-o", player, source, "-lsimavr", "-lelf"], check=True)
        found = dict(zip(everything, pool.map(lambda program: difference(tool, player, program), everything)))
    wrong = [f"{name}: {what}" for (name, _), what in found.items() if what and name not in excepted]
    wrong += [f"{name}: is an exception and does not differ" for (name, _), what in found.items() if not what and name in excepted]
    wrong += [f"{name}: is an exception and no program" for name in sorted(excepted - {name for name, _ in everything})]
    agreeing = sum(not what for what in found.values())
    for line in wrong:
        print("WRONG", line)
    print(f"{len(everything)} programs of data sheets: {agreeing} agree with libsimavr step by step, {len(excepted)} are exceptions")
    sys.exit(1 if wrong or agreeing < FEWEST else 0)


main()
