//! Values that are split from all others: choices where the input is read, and nowhere else.

use crate::Firmware;
use crate::reduction::passes::Passes;
use crate::reduction::successors::leaves;
use crate::state::{AbstractState, Location};
use crate::transfer::choices::INITIAL_INPUTS;
use crate::transfer::hyper_edges::{HardwareChoice, MAX_COMBINATIONS, hyper_edges};
use avr_isa::{DataAddress, Instruction as I, Register};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};
use avr_testkit::Random;
use three_valued::TvByte;
use tvar::{Knob, Precision, Strategy, System, Variable};

/// The data address of the pins of port B, and a cell of the SRAM.
const PINS: u16 = 0x23;
const CELL: u16 = 0x100;

fn r24() -> Register {
    Register::new(24).expect("there are 32 registers")
}

/// A machine that reads a port or a cell, compares it, and waits.
fn machine(read: I, k: u8) -> Machine {
    let code = [read, I::Cpi { rd: r24(), k }, I::Brbs { flag: 1, offset: 0 }, I::Rjmp { offset: -1 }];
    let words: Vec<u16> = code
        .iter()
        .map(|one| one.encode().expect("it has a code"))
        .flat_map(|encoded| std::iter::once(encoded.first).chain(encoded.second))
        .collect();
    let device = Device::named("atmega328p-gpio").expect("a device of the tables");
    let program = Program::decode(device.memory.flash_words(), device.core.features, |address| {
        words.get(address as usize).copied()
    });
    Machine::new(device, program, Options::default())
}

/// The hyper-edges of the step from a state, each with what its members know of a cell, and their first members.
fn edges(
    firmware: &mut Firmware<'_>,
    state: AbstractState,
    precision: &Precision<Location>,
    cell: u16,
) -> Vec<(Vec<TvByte>, AbstractState)> {
    let here = firmware.location(&state);
    let leaves = leaves(&mut firmware.model, &state, precision.at(&here));
    let scripts: Vec<_> = leaves.iter().map(|leaf| leaf.script.clone()).collect();
    let content = |state: &AbstractState| match state {
        AbstractState::Running(running) => firmware.model.context.store.cell(running.memory, DataAddress(cell)),
        other => panic!("the program goes on, not {other:?}"),
    };
    let edges = hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS);
    let members = |edge: Vec<usize>| {
        let known = edge.iter().map(|leaf| content(&leaves[*leaf].state)).collect();
        (known, leaves[edge[0]].state)
    };
    edges.into_iter().map(members).collect()
}

/// Checks that each hyper-edge has one member, and that every value is in one of them.
fn check_choices(edges: &[(Vec<TvByte>, AbstractState)], values: &[u8]) {
    for (members, _) in edges {
        assert_eq!(members.len(), 1, "each is a choice: {members:?}");
    }
    for value in 0..=0xff {
        let count = edges.iter().filter(|(members, _)| members[0].contains(value)).count();
        assert_eq!(count, 1, "{value} is one choice");
    }
    for value in values {
        assert!(edges.iter().any(|(members, _)| members[0].known() == Some(*value)), "{value} is alone");
    }
    assert!(edges.len() <= 2 * values.len() + 1);
}

#[test]
fn values_are_choices_where_the_input_is_read() {
    let mut random = Random::new(1);
    for count in [1, 2, 5] {
        let values: Vec<u8> = (0..count).map(|_| random.byte()).collect();
        let machine = machine(I::In { rd: r24(), io: 3 }, values[0]);
        let mut firmware = Firmware::with_passes(&machine, &[], Passes::default().with_facts());
        let mut precision = Precision::new(Strategy::Default);
        let dummy = firmware.initial();
        let start = edges(&mut firmware, dummy, &precision, 24)[0].1;
        for value in &values {
            precision.refine(firmware.location(&start), Knob::Value(Variable(PINS.into()), (*value).into()));
        }
        let read = edges(&mut firmware, start, &precision, 24);
        check_choices(&read, &values);
        // Bits that are split besides leave each value one choice.
        precision.refine(firmware.location(&start), Knob::Input(Variable(PINS.into()), 0x81));
        for (members, _) in edges(&mut firmware, start, &precision, 24) {
            assert!(members.len() == 1 && members[0].unknown_mask() & 0x81 == 0, "{members:?}");
        }
        // Without facts there are no ranges, so nothing is split.
        let mut without = Firmware::with_passes(&machine, &[], Passes::default());
        let mut precision = Precision::new(Strategy::Default);
        let dummy = without.initial();
        let start = edges(&mut without, dummy, &precision, 24)[0].1;
        precision.refine(without.location(&start), Knob::Value(Variable(PINS.into()), values[0].into()));
        assert_eq!(edges(&mut without, start, &precision, 24).len(), 1);
    }
}

#[test]
fn initial_contents_are_chosen_once() {
    let mut random = Random::new(2);
    for _ in 0..10 {
        let value = random.byte();
        let machine = machine(I::Lds { rd: r24(), address: DataAddress(CELL) }, value);
        let mut firmware = Firmware::with_passes(&machine, &[], Passes::default().with_facts());
        let mut precision = Precision::new(Strategy::Default);
        let dummy = firmware.initial();
        let start = edges(&mut firmware, dummy, &precision, CELL)[0].1;
        // The content is stored when it is loaded: no value of it is a choice.
        for variable in [INITIAL_INPUTS + u32::from(CELL), CELL.into(), 24] {
            precision.refine(firmware.location(&start), Knob::Value(Variable(variable), value.into()));
        }
        let loaded = edges(&mut firmware, start, &precision, CELL);
        assert_eq!(loaded.len(), 1);
        assert_eq!(loaded[0].0, [TvByte::UNKNOWN]);
        let initial = Variable(INITIAL_INPUTS + u32::from(CELL));
        precision.refine(firmware.location(&dummy), Knob::Value(initial, value.into()));
        check_choices(&edges(&mut firmware, dummy, &precision, CELL), &[value]);
    }
}
