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
STEPS = 10000
FEWEST = 150
SRAM_START = {"atmega328p": 0x100, "atmega1284p": 0x100, "atmega2560": 0x200, "atmega32u4": 0x100, "attiny85": 0x60, "attiny13": 0x60, "attiny84": 0x60}

# The reason why libsimavr differs, with what the data sheet says, and the programs, each with the first step that differs.
EXCEPTIONS = {
    "libsimavr has a bit of ADIF that is written 0 cleared and one that is written 1 kept; sheet, ADIF: cleared by writing a one":
        "adc-adif-one@40 adc-adif-zero@40 adc-off-late@6067 promise-conversion@38 u4-channel@49",
    "libsimavr converts 1.1 V for the reference; the sheet leaves the result of this channel open, and the stimulus has 0":
        "adc-bandgap@38",
    "libsimavr counts a conversion from the beginning of the instruction that starts it; sheet, ADSC: the write starts it":
        "adc-flag-with-end@34 adc-irq-entry@30 adc-irq-stable@31 tiny-vectors@39 tiny13-vectors@37 tiny84-vectors@41",
    "libsimavr keeps ADSC that is written while ADEN is 0; sheet, ADEN: the converter is off":
        "adc-off-start@5",
    "libsimavr starts no conversion by sleep; sheet, ADC Noise Canceler: a conversion starts once the CPU has been halted":
        "adc-sleep-irq@60",
    "libsimavr lets the converter go on in power-down; sheet, Power-down Mode: all generated clocks halt":
        "sleep-down-converter@11",
    "libsimavr keeps BODS and BODSE as any bits; sheet, BODS: a timed sequence sets it, and it is cleared after three cycles":
        "brown-out-active@6 brown-out-alone@4 brown-out-late@11 brown-out-sequence@12 tiny-brown-out-alone@4"
        " tiny-brown-out-sequence@12 tiny84-brown-out-alone@4 tiny84-brown-out-sequence@12",
    "libsimavr keeps CLKPR as any byte and has 0 after reset; sheet, CLKPR: a timed sequence changes it, and CKDIV8 is programmed":
        "clock-late@2 clock-once@10 clock-together@2 clock-unlocked@2 tiny-clock-late@2 tiny-clock-once@8 tiny13-clock-late@2 tiny13-clock-once@8 tiny84-clock-late@2 tiny84-clock-once@8 window-eeprom-read@11",
    "libsimavr compares no levels that the program drives; sheet, ACO: the output of the comparator":
        "comparator-reference@1258 comparator-reference-pin@1255",
    "libsimavr has EEPE at 0 at once; sheet, EEPE: it is 1 until the write has ended, and EEAR, EEDR and EEPM are locked":
        "eempe-with-eepe@10 eeprom-address-high-locked@14 eeprom-address-locked@15 eeprom-busy@13 eeprom-erased@13"
        " eeprom-kept-busy@15 eeprom-mode-locked@15"
        " eeprom-ready@17 eeprom-split@13 eeprom-two-cells@13 eeprom-write-only@13 eeprom-written@13 sleep-down-eeprom@15"
        " promise-eeprom@9 sleep-idle-eeprom@15 sleep-noise-eeprom@15 tiny-eeprom-locked@14 tiny-eeprom-written@14 tiny13-eeprom-locked@11 tiny13-eeprom-written@14 tiny84-eeprom-locked@14 tiny84-eeprom-written@14",
    "libsimavr counts the four cycles of EEMPE from the beginning of SBI; sheet, EEMPE: four cycles after it was written":
        "window-eeprom-write@18 window-skip@10",
    "libsimavr keeps IVCE and IVSEL as any bits; sheet, IVCE: cleared four cycles after it was written or when IVSEL is written":
        "ivce-again@6 vectors-locked@4",
    "libsimavr has no delay from a pin to its flag; sheet, Pin Change Interrupt Timing: some cycles":
        "pin-change-late@9",
    "libsimavr has an input with a pull-up at 1; the sheet leaves the level to the environment, and the stimulus has 0":
        "port-input@5 tiny84-port-input@5 m2560-port-h@26",
    "libsimavr has SBI on PIN toggle all bits that read 1; sheet, Toggling the Pin: SBI toggles one single bit":
        "port-toggle-bit@7",
    "libsimavr knows nothing of TSM, PSRSYNC and PSR1; sheet, GTCCR: they halt the prescaler and are cleared by hardware":
        "prescaler-bypassed@87 prescaler-halts@14 prescaler-pulse@4 prescaler-reset@6 tiny-prescaler1@4 tiny84-prescaler-bypassed@87 tiny84-prescaler-halts@14 tiny84-prescaler-halts-1@14",
    "libsimavr keeps no cause of a reset for the ATtiny13; sheet, MCUSR: PORF is set if a power-on reset occurs":
        "tiny13-mcusr@3 tiny13-watchdog-flag-zero@2 tiny13-watchdog-forced@3",
    "libsimavr sets reset flags that are written 1; sheet, MCUSR: only a reset sets them":
        "reset-cause-one@6",
    "libsimavr keeps SPMCSR as it is written and has no signature row; sheet, SPMCSR: hardware clears SPMEN and sets RWWSB":
        "self-programming-busy@4 self-programming-late@7 self-programming-ready@6 signature-row@6 signature-row-late@10"
        " tiny-self-programming-late@7 tiny-signature-row@6 tiny13-fuse-bits@6 tiny13-self-programming-late@7 tiny84-self-programming-late@7 tiny84-signature-row@6",
    "libsimavr counts from the beginning of the instruction that starts the timer; sheet, Timer/Counter: the write starts it":
        "promise-compare@544 promise-compare-b@536 promise-overflow@302 promise-timer2@174 sleep-idle-timer@263 sleep-idle-timer2@262",
    "libsimavr sleeps while SE is 0; sheet, SE: it must be 1 for SLEEP to have the MCU sleep":
        "sleep-not-enabled@5",
    "libsimavr has every transfer last 100 us and no WCOL; sheet, SPI: eight cycles of SCK, and WCOL set by a write during a transfer":
        "spi-collision-cleared@8 spi-flag-entry@26 spi-flag-kept@32 spi-flag-read@32 spi-master-received@32 spi-no-collision@32"
        " spi-off-and-on@11 spi-off-late@70 spi-slave-for-a-moment@11 spi-stable@32 spi-status-write@32 spi-write-collision@8",
    "the sheet leaves open what else accesses without a clock do; libsimavr has them do it, and avr-tvar run does not":
        "spi-stopped-read@33 timer1-stopped-pair@12 usart-stopped-write@9",
    "the sheet leaves open if a write without a clock is stored; avr-tvar run has MSTR afterwards, and libsimavr has all that was written":
        "spi-stopped-write@13",
    "libsimavr knows nothing of PRTIM0; sheet, PRR: the registers of a stopped module cannot be read or written":
        "stopped-timer@6",
    "libsimavr has the bits FOC read as written; sheet, FOC0A: always read as zero":
        "timer0-force@4 timer1-force@4 timer2-force@4 tiny-timer0-force@4 tiny13-timer0-force@4 tiny-timer1-force@4 tiny84-timer0-force@4 tiny84-timer1-force@4",
    "libsimavr reads a stopped counter as 0; sheet, TCNT: the content of the counter":
        "timer0-halted@9 timer0-written@4 timer1-stopped@6 timer2-halted@9 timer2-written@4 tiny84-timer1-stopped@6",
    "libsimavr lets ICR1 be written in all modes; sheet, ICR1: only in modes that have it as the top":
        "timer1-capture-locked@6 tiny84-timer1-capture-locked@6",
    "libsimavr raises no flag of a comparison with 0; sheet, OCF1C: set after the counter matches the compare register":
        "u4-timer-vectors@12",
    "libsimavr keeps bits of ports that have no pins; sheet, Register Summary: they are reserved":
        "u4-absent-pins@11",
    "libsimavr has the PLL locked at once and PLLFRQ at 0 after reset; sheet, PLL: it takes some time, and PDIV2 is 1":
        "u4-pll-lock@4 u4-pll-setting@2",
    "libsimavr has no timer of ten bits, nor the USB controller as its registers; avr-tvar run has nothing certain of them":
        "u4-timer4-counter@16 u4-timer4-modes@4 u4-usb-control@4 u4-usb-registers@2",
    "libsimavr triggers no capture of the ATtiny84 by its pin; sheet, Input Capture Unit: software triggers one by controlling the port":
        "tiny84-timer1-software-capture@23",
    "libsimavr has no high byte that 16-bit registers share; sheet, Accessing 16-bit Registers: TEMP":
        "timer1-shared@7 tiny84-timer1-shared@7",
    "libsimavr keeps OCR2A when AS2 changes; the sheet has it that the content might be corrupted":
        "timer2-switched@6",
    "libsimavr has no universal serial interface; sheet, USI":
        "tiny-port-strobe@7 tiny-usi-buffered@12 tiny-usi-flag-entry@10 tiny-usi-flag-one@8 tiny-usi-overflow@12"
        " tiny-usi-selected@9 tiny-usi-shifted@107 tiny-usi-strobe@11 tiny84-port-strobe@7 tiny84-usi-buffered@12 tiny84-usi-flag-entry@10 tiny84-usi-flag-one@8 tiny84-usi-overflow@12 tiny84-usi-selected@9 tiny84-usi-shifted@107 tiny84-usi-strobe@11",
    "libsimavr sends START in no time, has no TWWC, and TWAR and TWDR are 0 after reset; sheet, TWI Register Description":
        "twi-engaged@4 twi-reset@5 twi-start@4 twi-write-early@6",
    "libsimavr sends a character in 100 us until UBRR0 is written; sheet, UBRR0: 0 after reset, which is 16 cycles for a bit":
        "usart-sent-entry@57",
    "libsimavr has no buffer in front of the shift register, so UDRE0 is 0 during a frame, and no master SPI; sheet, USART":
        "usart-sent-one@6 usart-sent-ready@6 usart-sent-twice@408 usart-sent-zero@6 usart-spi-once@10 usart-spi-transfer@10"
        " usart-spi-twice@20 promise-usart@102 u4-promise-usart@102",
    "libsimavr counts the watchdog from the beginning of the instruction and resets in no time; the sheet leaves its oscillator open":
        "tiny-watchdog-change-bit@8010 tiny-watchdog-forced@8007 tiny13-watchdog-change-bit@8010 tiny84-watchdog-change-bit@8010 tiny84-watchdog-forced@8007 watchdog-change-bit@8009 watchdog-entry@8006 watchdog-forced@8006",
    "libsimavr keeps WDIF that is written 1; sheet, WDIF: cleared by writing a logic one":
        "watchdog-flag-one@9610",
    "libsimavr keeps the time-out that runs when WDP changes; sheet, WDP: they determine the prescaling":
        "watchdog-prescaler@8008",
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
    """The first step that differs, and what does; none if nothing does."""
    name, device = program
    image = FOLDER / "images" / f"{name}.elf"
    ours, our_sram, early = simulated(tool, image, device)
    kinds, theirs, their_sram = played(player, image, device)
    for number, (our, their) in enumerate(zip(ours, theirs), 1):
        if our != their:
            return number, f"avr-tvar {our}, libsimavr {their}"
    if len(theirs) < len(ours):
        return len(theirs) + 1, "libsimavr has ended"
    if early == "sleep" and set(kinds[len(ours):]) != {"s"}:
        return len(ours) + 1, "libsimavr does not sleep for ever"
    if early is None and our_sram != their_sram:
        return STEPS + 1, "the SRAM in the end"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tests/oracle/data-sheet/run.py AVR-TVAR")
    tool = sys.argv[1]
    excepted = {name: int(step) for names in EXCEPTIONS.values() for name, step in re.findall(r"(\S+)@(\d+)", names)}
    everything = sorted(set(programs()))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        player = pathlib.Path(folder) / "player"
        source = ROOT / "tests/oracle/data-sheet/player.c"
        subprocess.run(["gcc", "-O2", "-o", player, source, "-lsimavr", "-lelf"], check=True)
        found = dict(zip(everything, pool.map(lambda program: difference(tool, player, program), everything)))
    wrong = [f"{name}: is an exception and no program" for name in sorted(set(excepted) - {name for name, _ in everything})]
    for (name, _), what in found.items():
        if what and what[0] != excepted.get(name):
            wrong.append(f"{name}: step {what[0]}: {what[1]}")
        elif not what and name in excepted:
            wrong.append(f"{name}: is an exception and does not differ")
    agreeing = sum(not what for what in found.values())
    for line in wrong:
        print("WRONG", line)
    print(f"{len(everything)} programs of data sheets: {agreeing} agree with libsimavr step by step, {len(excepted)} are exceptions")
    sys.exit(1 if wrong or agreeing < FEWEST else 0)


main()
