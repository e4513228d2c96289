"""The rows of the published tables: images of the authors' crate, properties, and what the papers print for them.

Formulas are given in the language of either tool. Addresses of instructions are words there and bytes here.
"""
from typing import NamedTuple, Optional


class Published(NamedTuple):
    """What a paper prints for a row. Times and sizes are those of its machine."""

    refinements: int
    states: int
    transitions: int
    seconds: str
    mebibytes: str


class Row(NamedTuple):
    group: str
    program: str
    build: str
    property: str
    ours: Optional[str]  # nothing: the inherent property
    peer: Optional[str]
    verdict: str
    published: list  # (table, what it prints)

    @property
    def name(self):
        return f"{self.group}/{self.program}/{self.build}/{self.property}"

    @property
    def image(self):
        return f"{self.group}/{self.program}/{self.build}/{self.program}.hex"


class Program(NamedTuple):
    """A program with the word addresses of its main loop, what stays as it was set, and the least stack pointer."""

    group: str
    name: str
    build: str
    loop: tuple
    lock: tuple  # (port or register, value) of what must not change once it is set
    initial: tuple  # the same of what has a value whenever the loop begins with nothing done
    stack: Optional[int] = None
    recovers: bool = True


def calibration(name, build, loop, recovers):
    directions, outputs = (("DDRC", 1), ("DDRD", 0xFF)), (("PORTC", 0), ("PORTD", 0))
    return Program("normal", name, build, loop, directions, outputs, 0x8FD, recovers)


def factorial(build, loop, stack):
    return Program("normal", "factorial", build, loop, (("DDRB", 0), ("DDRD", 0xFF)), (("PORTB", 0), ("PORTD", 0)), stack, False)


PROGRAMS = [
    calibration("calibration_original", "Debug", (0x46, 0x65), False),
    calibration("calibration_original", "Release", (0x44, 0x5E), False),
    calibration("calibration_fixed", "Debug", (0x46, 0x66), True),
    calibration("calibration_fixed", "Release", (0x44, 0x5F), True),
    calibration("calibration_complicated_original", "Debug", (0x59, 0x82), False),
    calibration("calibration_complicated_original", "Release", (0x57, 0x7B), False),
    calibration("calibration_complicated_fixed", "Debug", (0x59, 0x83), True),
    calibration("calibration_complicated_fixed", "Release", (0x57, 0x7C), True),
    factorial("Debug", (0x5A, 0x5F), 0x8DD),
    factorial("Release", (0x55, 0x5A), 0x8FB),
    Program("toy", "basic_branch", "Debug", (0x41, None), (("DDRB", 2),), (("PORTB", 0),)),
    Program("toy", "basic_branch", "Release", (0x41, None), (("DDRB", 2),), (("PORTB", 0),)),
    Program("toy", "blink", "Debug", (5, None), (("DDRB", 1),), (("PORTB", 0),)),
    Program("toy", "gate_array", "Debug", (5, None), (("DDRB", 0x1E),), (("PORTB", 0),)),
    Program("toy", "independent_nondeterminism", "Debug", (2, None), (("DDRB", 0),), (("r16", 0),), recovers=False),
    Program("toy", "momentary_selection", "Debug", (2, None), (("DDRB", 4),), (("PORTB", 0),)),
]

FAULTY = ["get_from_undescribed", "jump_outside", "set_global_interrupt_flag", "set_to_restricted", "set_to_undescribed", "undescribed_instruction"]


def _table(lines):
    """{row: Published} of lines `program; property; refinements; states; transitions; seconds; mebibytes`."""
    table = {}
    for line in lines.strip().splitlines():
        program, name, *figures = (part.strip() for part in line.split(";"))
        numbers = [int(figure) for figure in figures[:3]]
        table[f"normal/{program}/{name}"] = Published(*numbers, *figures[3:])
    return table


# Onderka & Ratschan, "Input-based Three-Valued Abstraction Refinement", tables 1 and 2. An asterisk marks rows for which the inherent
# property was verified first.
TABLES = {
    "tables 1 and 2": _table("""
        calibration_original/Debug; inherent; 513; 13059; 13573; 17.09; 87.39
        calibration_original/Debug; recovery; 513; 13059; 13573; 19.88; 111.34
        calibration_original/Debug; infinitely often; 513; 13059; 13573; 672.05; 160.58
        calibration_original/Debug; infinitely often*; 513; 13059; 13573; 17.98; 115.34
        calibration_original/Debug; even non-starts; 0; 17; 18; <0.01; 3.78
        calibration_original/Debug; stack; 513; 13059; 13573; 17.08; 87.30
        calibration_original/Debug; stack above; 0; 17; 18; <0.01; 3.94
        calibration_fixed/Debug; inherent; 513; 13059; 13573; 17.21; 87.60
        calibration_fixed/Debug; recovery; 513; 13059; 13573; 29.16; 112.02
        calibration_fixed/Debug; infinitely often; 513; 13059; 13573; 672.19; 161.65
        calibration_fixed/Debug; infinitely often*; 513; 13059; 13573; 18.07; 115.66
        calibration_fixed/Debug; even non-starts; 0; 17; 18; <0.01; 3.72
        calibration_fixed/Debug; stack; 513; 13059; 13573; 17.2; 87.56
        calibration_fixed/Debug; stack above; 0; 17; 18; <0.01; 3.98
        calibration_complicated_original/Debug; inherent; 771; 17330; 18102; 54.43; 125.83
        calibration_complicated_original/Debug; recovery; 770; 17333; 18104; 65.28; 159.20
        calibration_complicated_original/Debug; infinitely often*; 771; 17330; 18102; 73.29; 173.08
        calibration_complicated_fixed/Debug; inherent; 771; 17330; 18102; 51.63; 125.71
        calibration_complicated_fixed/Debug; recovery; 771; 17330; 18102; 70.74; 159.52
        calibration_complicated_fixed/Debug; infinitely often*; 771; 17330; 18102; 64.2; 173.04
        factorial/Debug; inherent; 576; 51595; 52940; 50.4; 359.79
        factorial/Debug; recovery; 576; 51595; 52940; 76.48; 469.88
        factorial/Debug; infinitely often; 6; 1396; 1411; 5.55; 259.89
        factorial/Debug; even non-starts; 576; 51595; 52940; 46.96; 360.40
        factorial/Debug; stack; 576; 51595; 52940; 52.77; 359.74
        factorial/Debug; stack above; 3; 748; 756; 0.16; 31.58
        factorial/Release; inherent; 45; 4272; 4378; 0.78; 46.84
        factorial/Release; recovery; 45; 4272; 4378; 1.11; 54.58
        factorial/Release; infinitely often; 6; 1006; 1021; 2.93; 148.15
        factorial/Release; even non-starts; 3; 550; 558; 0.04; 17.92
        factorial/Release; stack; 45; 4272; 4378; 0.78; 46.79
        factorial/Release; stack above; 0; 20; 21; <0.01; 3.72
    """),
    # The version with proofs (arXiv:2408.12668), the table of its figure 1: states and transitions of the last state space.
    "version with proofs": _table("""
        calibration_original/Debug; inherent; 513; 13059; 13573; 6.65; 42.50
        calibration_original/Debug; initialisation; 0; 17; 18; <0.01; 3.84
        calibration_original/Debug; invariant lock; 513; 13059; 13573; 8.86; 43.65
        calibration_original/Debug; recovery; 513; 13059; 13573; 8.04; 42.62
        calibration_original/Debug; stack; 513; 13059; 13573; 7.68; 43.22
        calibration_original/Debug; stack above; 0; 17; 18; <0.01; 3.71
        calibration_fixed/Debug; inherent; 513; 13059; 13573; 6.34; 42.36
        calibration_fixed/Debug; initialisation; 0; 17; 18; <0.01; 3.97
        calibration_fixed/Debug; invariant lock; 513; 13059; 13573; 8.78; 43.63
        calibration_fixed/Debug; recovery; 513; 13059; 13573; 7.32; 42.75
        calibration_fixed/Debug; stack; 513; 13059; 13573; 7.33; 43.26
        calibration_fixed/Debug; stack above; 0; 17; 18; <0.01; 3.84
        calibration_complicated_original/Debug; inherent; 771; 17330; 18102; 19.06; 72.52
        calibration_complicated_original/Debug; initialisation; 0; 175; 176; <0.01; 4.22
        calibration_complicated_original/Debug; invariant lock; 771; 17330; 18102; 30.34; 74.13
        calibration_complicated_original/Debug; recovery; 770; 17333; 18104; 29.6; 72.69
        calibration_complicated_original/Debug; stack; 771; 17330; 18102; 30.09; 73.74
        calibration_complicated_original/Debug; stack above; 0; 175; 176; <0.01; 4.48
        calibration_complicated_fixed/Debug; inherent; 771; 17330; 18102; 25.76; 72.53
        calibration_complicated_fixed/Debug; initialisation; 0; 175; 176; <0.01; 4.48
        calibration_complicated_fixed/Debug; invariant lock; 771; 17330; 18102; 31.72; 74.24
        calibration_complicated_fixed/Debug; recovery; 771; 17330; 18102; 27.53; 73.27
        calibration_complicated_fixed/Debug; stack; 771; 17330; 18102; 28.17; 73.51
        calibration_complicated_fixed/Debug; stack above; 0; 175; 176; <0.01; 4.48
    """),
}


def _both(atoms):
    """A conjunction of (cell, value) in the language of either tool."""
    ours = " && ".join(f"{cell} == {value}" for cell, value in atoms)
    names = {"r16": "R[16]"}
    peer = f"{names.get(atoms[0][0], atoms[0][0])} == {atoms[0][1]}"
    for cell, value in atoms[1:]:
        peer = f"({peer} && {names.get(cell, cell)} == {value})"
    return ours, peer


def _properties(program):
    """(name, ours, peer, verdict) of each property of a program."""
    start, end = program.loop
    lock, lock_peer = _both(program.lock)
    begun, begun_peer = _both(program.lock + program.initial)
    idle, idle_peer = _both(program.initial)
    here, here_peer = f"pc == {2 * start:#x}", f"PC == {start:#x}"
    yield "inherent", None, None, "holds"
    yield "initialisation", f"AF ({here} && {begun})", f"AF![({here_peer} && ({begun_peer}))]", "holds"
    yield "invariant lock", f"AG (!({lock}) || AG ({lock}))", f"AG![(!({lock_peer}) || AG![({lock_peer})])]", "holds"
    verdict = "holds" if program.recovers else "violated"
    yield "recovery", f"AG EF ({here} && {idle})", f"AG![EF![({here_peer} && ({idle_peer}))]]", verdict
    if program.stack is None:
        return
    for name, least, verdict in [("stack", program.stack, "holds"), ("stack above", program.stack + 1, "violated")]:
        low = least & 0xFF
        ours = f"AG (SPH > 8 || (SPH == 8 && SPL >= {low:#x}))"
        peer = f"AG![(as_unsigned(SPH) > 0x08 || (SPH == 0x08 && as_unsigned(SPL) >= {low:#x}))]"
        yield name, ours, peer, verdict
    is_factorial = program.name == "factorial"
    ours = f"mu X. nu Y. []X || ((pc >= {2 * start:#x} && pc <= {2 * end:#x}) && []Y)"
    inside = f"(as_unsigned(PC) >= {start:#x} && as_unsigned(PC) <= {end:#x})"
    yield "infinitely often", ours, f"lfp![X, gfp![Y, AX![X] || ({inside} && AX![Y])]]", "violated" if is_factorial else "holds"
    even = "holds" if is_factorial and program.build == "Debug" else "violated"
    yield "even non-starts", f"nu X. pc != {2 * start:#x} && [][]X", f"gfp![X, PC != {start:#x} && AX![AX![X]]]", even


def rows():
    """All rows: every property of every program, and the programs that have a fault."""
    all_rows = []
    for program in PROGRAMS:
        for name, ours, peer, verdict in _properties(program):
            place = f"{program.group}/{program.name}/{program.build}/{name}"
            published = [(table + key[len(place):], found[key]) for table, found in TABLES.items() for key in (place, place + "*") if key in found]
            all_rows.append(Row(program.group, program.name, program.build, name, ours, peer, verdict, published))
    for name in FAULTY:
        for build in ("Debug", "Release"):
            all_rows.append(Row("disprove_inherent", name, build, "inherent", None, None, "violated", []))
    return all_rows
