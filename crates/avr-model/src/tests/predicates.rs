//! Predicates: random programs that compare numbers of one to four bytes, whose concrete runs are followed through abstract states
//! that forget values and keep predicates.

use crate::Firmware;
use crate::faults::predicates::{Fault as Reading, with_fault as with_reading};
use crate::reduction::passes::Passes;
use crate::reduction::successors::leaves;
use crate::state::view::View;
use crate::state::{AbstractState, Location};
use crate::transfer::hyper_edges::{HardwareChoice, MAX_COMBINATIONS, hyper_edges};
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress, Instruction as I, Pointer, PointerMode, Register};
use avr_machine::device::{Device, ResetCause};
use avr_machine::{
    Demand, DeterminedBy, Environment, Fetched, Input, Machine, MachineState, Options, Program, Question,
};
use avr_predicates::faults::{Fault, with_fault};
use avr_properties::{
    AtomTable, Binding, Definitions, NamedPredicates, Property, PropertyFile, StateView, bind, bind_predicates,
};
use avr_testkit::Random;
use avr_testkit::image::image;
use three_valued::{Truth, TvByte};
use tvar::{Precision, Strategy, System, Variable};

/// The first of the cells that programs compare.
const CELLS: u16 = 0x100;
/// Programs in a test, and the steps that are taken in each.
const PROGRAMS: u64 = 250;
const STEPS: usize = 300;

/// A world that does anything.
struct World<'a>(&'a mut Random);

impl Environment<u8> for World<'_> {
    fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        // Few values, so that numbers are equal and in every order.
        self.0.pick(&[0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff]) & mask
    }

    fn choose(&mut self, count: usize) -> usize {
        if self.0.once_in(8) { self.0.below(count) } else { 0 }
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }
}

fn r(number: u8) -> Register {
    Register::new(number).expect("there are 32 registers")
}

/// Loads the bytes of a number from memory to registers.
fn load(code: &mut Vec<I>, register: u8, cell: u16, bytes: u8) {
    for byte in 0..bytes {
        code.push(I::Lds { rd: r(register + byte), address: DataAddress(cell + u16::from(byte)) });
    }
}

/// Leaves some bits of the bytes of a number in registers, now and then.
fn mask(code: &mut Vec<I>, random: &mut Random, register: u8, bytes: u8) {
    if random.once_in(2) {
        return;
    }
    for byte in 0..bytes {
        let k = random.pick(&[0x0f, 0x0f, 0xf0, 0x81, 3, 0, 0xff]);
        match random.below(4) {
            0 => {}
            1 => code.extend([I::Ldi { rd: r(16), k }, I::And { rd: r(register + byte), rr: r(16) }]),
            _ => code.push(I::Andi { rd: r(register + byte), k }),
        }
    }
}

/// Compares a number in memory or in registers with another one or with a constant, and branches.
fn comparison(code: &mut Vec<I>, random: &mut Random) {
    let bytes: u8 = random.pick(&[1, 1, 2, 2, 3, 4]);
    let cell = CELLS + 4 * random.below(3u16);
    match random.below(3) {
        0 => {
            load(code, 18, CELLS + 4 * random.below(3u16), bytes);
            load(code, 22, cell, bytes);
            match random.below(3) {
                0 => {
                    code.push(I::Subi { rd: r(22), k: random.pick(&[0xfd, 0xff, 0xff, 1]) });
                    (1..bytes)
                        .for_each(|byte| code.push(I::Sbci { rd: r(22 + byte), k: random.pick(&[0xff, 0xff, 0]) }));
                }
                _ => mask(code, random, 22, bytes),
            }
            let (one, other) = random.pick(&[(22, 18), (18, 22)]);
            code.push(random.pick(&[I::Cp { rd: r(one), rr: r(other) }, I::Sub { rd: r(one), rr: r(other) }]));
            for byte in 1..bytes {
                let (rd, rr) = (r(one + byte), r(other + byte));
                code.push(random.pick(&[I::Cpc { rd, rr }, I::Sbc { rd, rr }]));
            }
        }
        1 => {
            if random.below(4) > 0 {
                load(code, 22, cell, bytes);
            }
            mask(code, random, 22, bytes);
            let k = |random: &mut Random| random.pick(&[0, 1, 2, 3, 0x7f, 0x80, 0xff]);
            let (first, k) = (random.pick(&[true, false]), k(random));
            code.push(if first { I::Cpi { rd: r(22), k } } else { I::Subi { rd: r(22), k } });
            for byte in 1..bytes {
                let k = random.pick(&[0, 0, 1, 0x80, 0xff]);
                match random.below(2) {
                    0 => code.push(I::Sbci { rd: r(22 + byte), k }),
                    _ => code.extend([I::Ldi { rd: r(17), k }, I::Cpc { rd: r(22 + byte), rr: r(17) }]),
                }
            }
        }
        _ => {
            load(code, 24, cell, 2);
            mask(code, random, 24, 2);
            let k = random.pick(&[0, 1, 2, 63]);
            code.push(random.pick(&[
                I::Sbiw { rd: r(24), k },
                I::Adiw { rd: r(24), k },
                I::Or { rd: r(24), rr: r(25) },
                I::And { rd: r(24), rr: r(24) },
                I::Andi { rd: r(24), k: 0x0f },
                I::Dec { rd: r(24) },
            ]));
        }
    }
    for _ in 0..1 + random.below(2) {
        let (flag, offset) = (random.pick(&[0, 0, 1, 1, 4, 2]), random.below(4));
        code.push(random.pick(&[I::Brbs { flag, offset }, I::Brbc { flag, offset }]));
    }
}

/// Stores the bytes of a number, the highest first.
fn store(code: &mut Vec<I>, register: u8, cell: u16, bytes: u8) {
    for byte in (0..bytes).rev() {
        code.push(I::Sts { address: DataAddress(cell + u16::from(byte)), rr: r(register + byte) });
    }
}

/// Adds a constant to a number in memory, or subtracts one.
fn add(code: &mut Vec<I>, random: &mut Random) {
    let cell = CELLS + 4 * random.below(3u16);
    let k = random.pick(&[0, 1, 1, 2, 0x7f, 0x80, 0xff]);
    let bytes = random.pick(&[1, 2, 2, 3, 4]);
    let first = if bytes > 2 { 22 } else { 24 };
    if random.below(5) > 0 {
        load(code, first, cell, bytes);
    }
    match random.below(4) {
        0 if bytes == 1 => {
            code.push(random.pick(&[I::Inc { rd: r(24) }, I::Dec { rd: r(24) }, I::Subi { rd: r(24), k }]))
        }
        0 | 1 if bytes == 2 => {
            code.push(random.pick(&[I::Adiw { rd: r(24), k: k & 63 }, I::Sbiw { rd: r(24), k: k & 63 }]))
        }
        0 | 1 => {
            code.push(I::Subi { rd: r(first), k });
            (1..bytes)
                .for_each(|byte| code.push(I::Sbci { rd: r(first + byte), k: random.pick(&[0, 0, 1, 0xff, 0xff]) }));
        }
        2 => {
            code.extend([I::Ldi { rd: r(16), k }, I::Ldi { rd: r(17), k: random.pick(&[0, 0, 1]) }]);
            code.push(I::Add { rd: r(first), rr: r(16) });
            (1..bytes).for_each(|byte| code.push(I::Adc { rd: r(first + byte), rr: r(17) }));
        }
        _ => {
            code.extend([I::Ldi { rd: r(16), k }, I::Ldi { rd: r(17), k: random.pick(&[0, 0, 1]) }]);
            code.push(I::Sub { rd: r(first), rr: r(16) });
            (1..bytes).for_each(|byte| code.push(I::Sbc { rd: r(first + byte), rr: r(17) }));
        }
    }
    match random.below(5) {
        0 => {}
        1 => store(code, first, CELLS + 4 * random.below(3u16), bytes),
        _ => store(code, first, cell, bytes),
    }
}

/// Something that changes registers or memory.
fn change(code: &mut Vec<I>, random: &mut Random) {
    let cell = DataAddress(CELLS + random.below(12u16));
    let register = r(18 + random.below(8));
    match random.below(10) {
        7 | 8 => add(code, random),
        9 => {
            // A number becomes a copy of another one.
            let bytes = random.pick(&[1, 2, 2, 4]);
            load(code, 22, CELLS + 4 * random.below(3u16), bytes);
            store(code, 22, CELLS + 4 * random.below(3u16), bytes);
        }
        0 => code.push(I::Sts { address: cell, rr: register }),
        1 => code.extend([I::In { rd: r(16), io: 9 }, I::Sts { address: cell, rr: r(16) }]),
        2 => code.push(I::Inc { rd: register }),
        3 => code.push(I::In { rd: register, io: 3 }),
        // A store that hits one of some cells.
        4 => code.extend([
            I::In { rd: r(26), io: 6 },
            I::Andi { rd: r(26), k: random.pick(&[1, 3, 7]) },
            I::Ldi { rd: r(27), k: 1 },
            I::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr: register },
        ]),
        5 => code.push(I::Ldi { rd: register, k: random.pick(&[0, 1, 0xff]) }),
        _ => code.push(I::Mov { rd: register, rr: r(18 + random.below(8)) }),
    }
}

/// A machine with a random program, and whether it may be reset.
fn machine(seed: u64) -> (Machine, bool) {
    let mut random = Random::new(seed);
    let mut code = Vec::new();
    for _ in 0..12 {
        comparison(&mut code, &mut random);
        if random.once_in(2) {
            change(&mut code, &mut random);
        }
    }
    let mut words: Vec<u16> = code
        .iter()
        .map(|one| one.encode().expect("it has a code"))
        .flat_map(|encoded| std::iter::once(encoded.first).chain(encoded.second))
        .collect();
    // Branches end behind the last instruction at most.
    words.extend([0; 4]);
    let back = u16::try_from(words.len() + 1).expect("programs are short").wrapping_neg() & 0x0fff;
    words.push(0xc000 | back);
    let device = Device::named("atmega328p").expect("a device of the tables");
    let program = Program::decode(device.memory.flash_words(), device.core.features, |address| {
        words.get(address as usize).copied()
    });
    let resets = if random.once_in(4) { vec![ResetCause::External] } else { Vec::new() };
    let may_reset = !resets.is_empty();
    (Machine::new(device, program, Options { resets, ..Options::default() }), may_reset)
}

/// The predicates that the property file names.
const NAMED: [&str; 14] = [
    "mem[0x100] < 0x80",
    "mem16[0x100] < mem16[0x104]",
    "signed(mem16[0x104]) >= 0",
    "signed(mem16[0x108]) > signed(mem16[0x100])",
    "mem16[0x108] == 0x0201",
    "r24 != mem[0x104]",
    "mem[0x100] == 1 || mem16[0x104] < 0x100",
    "mem[0x108] == 0xff -> mem[0x100] == mem[0x104]",
    "!(mem16[0x108] < mem16[0x104] && mem[0x100] > 2)",
    "mem[0x100] == 0 || mem[0x100] == 0xff",
    "mem16[0x108] == 0x0201 <-> mem[0x104] == r24",
    "(mem[0x100] & 0x0f) == 3",
    "(mem16[0x104] & 0x0ff0) == 0x0120 || mem[0x100] == 3",
    "(mem[0x108] & 0x0f) < mem[0x104]",
];

/// The predicates that are named, and atoms that compare the same numbers, some of them with other constants or in the other order.
fn named() -> (NamedPredicates, AtomTable) {
    let image = image(&[0]);
    let device = Device::named("atmega328p").expect("a device of the tables");
    let binding = Binding { device, image: &image, start: 0, ends_paths: false, stacks: &[], boot_start: None };
    let file = PropertyFile::parse("p.ron", &format!("(predicates: {NAMED:?})")).expect("it is valid");
    let named = bind_predicates(&file, &binding).expect("they compare numbers");
    let mut table = AtomTable::new();
    let more = [
        "mem[0x100] == 0x80",
        "mem16[0x104] >= mem16[0x100]",
        "signed(mem16[0x104]) < 0",
        "mem[0x104] == r24",
        "(mem[0x100] & 0x0f) > 2",
    ];
    for text in NAMED.iter().chain(&more) {
        let property = Property::from_command_line(text).expect("it is valid");
        bind(&property, &Definitions::new(), &binding, &mut table).expect("its cells exist");
    }
    (named, table)
}

/// A concrete state as atoms see it.
struct Concrete<'a>(&'a MachineState<u8>);

impl StateView for Concrete<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        TvByte::constant(*self.0.data.get(address))
    }

    fn pc(&self) -> FlashByteAddress {
        self.0.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.0.control.torn
    }

    fn stack(&self) -> u8 {
        self.0.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        0
    }
}

/// The number of atoms that predicates tell in an abstract state; none if one is not so in a concrete state.
fn told(firmware: &Firmware<'_>, state: &AbstractState, concrete: &MachineState<u8>) -> Option<usize> {
    let context = &firmware.model.context;
    let view = View { predicates: None, ..context.view(state)? };
    let mut told = 0;
    for atom in context.atoms {
        let Some(label) = context.truth(state, atom).known() else { continue };
        if atom.evaluate(&Concrete(concrete)) != Truth::from(label) {
            return None;
        }
        told += usize::from(atom.evaluate(&view) == Truth::Unknown);
    }
    Some(told)
}

fn covers(firmware: &Firmware<'_>, state: &AbstractState, concrete: &MachineState<u8>) -> Result<bool, &'static str> {
    let AbstractState::Running(running) = state else { return Ok(false) };
    if running.control.of_hardware() != concrete.control {
        return Ok(false);
    }
    let (store, data) = (&firmware.model.context.store, &concrete.data);
    let cells = firmware.model.context.machine.addresses().zip(data.cells());
    let are_copies = running.control.copies.are_true(|cell| *data.get(cell));
    if !are_copies || !cells.into_iter().all(|(address, value)| store.cell(running.memory, address).contains(*value)) {
        return Ok(false);
    }
    let predicates = firmware.model.passes.predicates.as_ref().expect("they are kept").get();
    let byte = |cell| *data.get(cell);
    let status = *data.get(firmware.model.context.machine.status_address());
    if !predicates.all().are_true(|cell| store.cell(running.memory, cell), &byte) {
        return Err("a predicate is not true");
    }
    if !predicates.all().is_related(running.control.copies.relation(), status, &byte) {
        return Err("flags are not the outcome of their comparison");
    }
    Ok(true)
}

/// True if a program branches at a place.
fn is_branch(machine: &Machine, at: FlashWordAddress) -> bool {
    let fetched = machine.program.fetch(at);
    matches!(fetched, Fetched::Instruction { instruction: I::Brbs { .. } | I::Brbc { .. }, .. })
}

/// Follows a run of a program; the number of steps in which predicates decided a flag, and that of atoms that they told, or what is
/// wrong.
fn follow(seed: u64) -> Result<(usize, usize), String> {
    let ((machine, resets), mut random) = (machine(seed), Random::new(!seed));
    let (named, table) = named();
    let passes = Passes::default().with_facts().with_predicates(&machine, named);
    let mut firmware = Firmware::with_passes(&machine, table.atoms(), passes);
    let mut precision = Precision::new(Strategy::Default);
    precision.be_coarse(true);
    let mut concrete: MachineState<u8> = machine.power_on(&mut World(&mut random));
    let start = firmware.initial();
    let first = leaves(&mut firmware.model, &start, precision.at(&Location::Dummy))[0].state;
    let mut state = tvar::arrive(&mut firmware, &precision, first);
    let (mut used, mut atoms) = (0, 0);
    for taken in 0..STEPS {
        let here = firmware.location(&state);
        let at = concrete.control.pc;
        let leaves = leaves(&mut firmware.model, &state, precision.at(&here));
        if random.once_in(3) && !leaves.is_empty() {
            let location = firmware.location(&leaves[random.below(leaves.len())].state);
            let cell = if random.once_in(3) { 16 + random.below(16) } else { u32::from(CELLS) + random.below(12) };
            precision.drop_bits(location, Variable(cell), 0xff);
        }
        let members: Vec<_> = leaves.iter().map(|leaf| tvar::arrive(&mut firmware, &precision, leaf.state)).collect();
        if members.iter().any(|member| matches!(member, AbstractState::Limit { .. })) {
            return Ok((used, atoms));
        }
        used += usize::from(firmware.model.passes.predicates.as_ref().expect("they are kept").get().are_used());
        if machine.step(&mut concrete, &mut World(&mut random)).is_err() {
            return Ok((used, atoms));
        }
        let covering = |member: &&AbstractState| covers(&firmware, member, &concrete) == Ok(true);
        let Some(next) = members.iter().find(covering) else {
            let why = members.iter().find_map(|member| covers(&firmware, member, &concrete).err());
            return Err(format!(
                "{} behind {:#x} in step {taken}",
                why.unwrap_or("no member covers the state"),
                at.byte().0
            ));
        };
        // No choice is made in a branch: whatever hyper-edge is taken, it leads where the program goes.
        if !resets && is_branch(&machine, at) {
            let scripts: Vec<_> = leaves.iter().map(|leaf| leaf.script.clone()).collect();
            let edges = hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS);
            let leads =
                |edge: &Vec<usize>| edge.iter().any(|leaf| covers(&firmware, &members[*leaf], &concrete) == Ok(true));
            if !edges.iter().all(leads) {
                return Err(format!("a hyper-edge behind {:#x} in step {taken} is no choice", at.byte().0));
            }
        }
        state = *next;
        let Some(told) = told(&firmware, &state, &concrete) else {
            return Err(format!("an atom is told wrongly behind {:#x} in step {taken}", at.byte().0));
        };
        atoms += told;
    }
    Ok((used, atoms))
}

#[test]
fn concrete_runs_stay_inside_states_with_predicates() {
    let (mut used, mut atoms) = (0, 0);
    for seed in 0..avr_testkit::cases(PROGRAMS / 8, 4 * PROGRAMS) {
        let (flags, told) = follow(seed).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        (used, atoms) = (used + flags, atoms + told);
    }
    assert!(used > 800, "predicates decided something in {used} steps only");
    assert!(atoms > 150, "predicates told {atoms} atoms only");
}

#[test]
fn predicates_that_are_kept_or_read_wrongly_are_found() {
    let is_found = || (0..PROGRAMS).any(|seed| follow(seed).is_err());
    for fault in Fault::ALL {
        assert!(with_fault(*fault, is_found), "{fault:?}");
    }
    assert!(with_reading(Reading::SplitsApart, is_found));
}
