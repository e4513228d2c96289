//! The closing check against maps that were changed: it rejects them, or what they claim is true all the same.

use avr_isa::DataAddress;
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_machine::{Options as MachineOptions, Program};
use avr_testkit::programs::interrupted;
use avr_testkit::{Random, cases};
use three_valued::TvByte;

use super::runs::compare;
use crate::check::check;
use crate::equalities::{Equalities, Silence, Value};
use crate::equations::{Equation, Equations, Variable};
use crate::intervals::{Range, Ranges};
use crate::map::{Map, State};
use crate::memory::{BLOCK_PAGES, Memory, Store};
use crate::pass::{Options, analyse};

/// A machine with a random program; handlers let each other in in every second one.
fn machine(seed: u64) -> Machine {
    let program = if seed.is_multiple_of(2) { interrupted::program } else { interrupted::nested };
    let words = program(&mut Random::new(seed));
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, MachineOptions::default())
}

/// A cell that programs use.
fn cell(random: &mut Random) -> DataAddress {
    match random.below(4) {
        0 => DataAddress(0x100 + random.below(3)),
        1 => DataAddress(0x8f8 + random.below(8)),
        2 => DataAddress(random.pick(&[0x3c, 0x3d, 0x5d, 0x5e, 0x5f])),
        _ => DataAddress(random.below(32)),
    }
}

/// A state with one more range, of a number in two cells one behind the other.
fn with_range(state: &State, silence: Silence, random: &mut Random) -> State {
    let first = cell(random);
    let value = |cell: DataAddress| match silence {
        Silence::Unchanged if random.below(2) == 0 => Value::Entry(cell),
        _ => Value::Of(cell),
    };
    let bytes = [first, first.wrapping_add(1)].map(value).into();
    let mut interval = || {
        let [one, other] = [random.below(0x300), random.below(0x300)];
        (random.below(8) != 0).then_some((u32::min(one, other), u32::max(one, other)))
    };
    let range = Range { bytes, when: [interval(), interval()] };
    let list = [state.ranges.list(), &[range]].concat();
    State { ranges: Ranges::new(list), ..state.clone() }
}

/// A state with one more equation, between two cells or with the carry.
fn with_equation(state: &State, silence: Silence, random: &mut Random) -> State {
    let byte = |random: &mut Random| {
        let cell = cell(random);
        Variable::Byte(if silence == Silence::Unchanged && random.below(2) == 0 {
            Value::Entry(cell)
        } else {
            Value::Of(cell)
        })
    };
    let times = random.pick(&[1_u32, 1 << 16, 1 << 24]);
    let other = if random.below(5) == 0 { Variable::Carry } else { byte(random) };
    let terms = vec![(byte(random), times), (other, times.wrapping_neg())].into();
    let equation = Equation { terms, constant: times.wrapping_mul(random.below(3)) };
    let list = [state.equations.list(), &[equation]].concat();
    State { equations: Equations::new(list), ..state.clone() }
}

/// Narrows a cell of a state, or tells that it is equal to something, or in a range with the next one.
fn changed(state: &State, silence: Silence, store: &mut Store, random: &mut Random) -> State {
    if random.chance(20) {
        return with_range(state, silence, random);
    }
    if random.chance(20) {
        return with_equation(state, silence, random);
    }
    let cell = cell(random);
    if random.chance(60) {
        let byte = store.cell(&state.memory, cell);
        let values: Vec<u8> = byte.concretisations().collect();
        let narrowed = match random.below(3) {
            0 => Some(TvByte::constant(random.pick(&values))),
            1 => byte.within(byte.low(), random.pick(&values)),
            _ => byte.within(random.pick(&values), byte.high()),
        };
        let memory = store.overwrite(&state.memory, &[(cell, narrowed.unwrap_or(byte))]);
        return State { memory, ..state.clone() };
    }
    let mut list: Vec<(DataAddress, Value)> = state.equalities.list().to_vec();
    list.retain(|one| one.0 != cell);
    if silence == Silence::Nothing || random.below(2) == 0 {
        list.push((cell, Value::Of(DataAddress(random.below(cell.0.max(1))))));
        list.sort_unstable();
    }
    State { equalities: Equalities::new(list), ..state.clone() }
}

/// Changes something in a map.
fn change(map: &mut Map, random: &mut Random) {
    let exits = map.exits.len();
    if exits > 0 && random.chance(30) {
        let number = random.below(exits);
        if random.below(6) == 0 {
            map.exits.remove(number);
        } else {
            let exit = &mut map.exits[number];
            exit.state = changed(&exit.state, exit.thread.silence(), &mut map.store, random);
        }
        return;
    }
    let number = random.below(map.entries.len());
    match random.below(8) {
        0 => drop(map.entries.remove(number)),
        1 => map.entries[number].place.control.interrupt_delay ^= true,
        2 => map.entries[number].place.control.fresh_request ^= true,
        _ => {
            let entry = &mut map.entries[number];
            entry.state = changed(&entry.state, entry.place.thread.silence(), &mut map.store, random);
        }
    }
}

#[test]
fn what_is_accepted_is_true_whatever_was_changed() {
    let mut random = Random::new(7);
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..cases(25, 400) {
        let machine = machine(seed);
        let found = analyse(&machine, &Options::default());
        if found.outcome.is_err() {
            continue;
        }
        for _ in 0..cases(25, 100) {
            let mut map = found.map.clone();
            change(&mut map, &mut random);
            let Ok(claims) = check(&machine, &mut map) else {
                rejected += 1;
                continue;
            };
            accepted += 1;
            for run in 0..4 {
                let compared = compare(&machine, &map, &claims, random.bits(), [2, 5, 1, 30][run], 400);
                assert!(compared.is_ok(), "program {seed}: {compared:?}");
            }
        }
    }
    assert!(rejected > accepted && accepted > 20, "{accepted} are accepted, {rejected} rejected");
}

#[test]
fn maps_of_another_form_are_rejected() {
    let machine = machine(0);
    let found = analyse(&machine, &Options::default());
    assert!(found.outcome.is_ok());
    let rejects = |change: &dyn Fn(&mut Map)| {
        let mut map = found.map.clone();
        change(&mut map);
        assert!(check(&machine, &mut map).is_err());
    };
    rejects(&|map| map.entries.clear());
    rejects(&|map| map.entries[0].state.memory = Memory::new(Vec::new()));
    rejects(&|map| {
        let blocks = map.entries[0].state.memory.blocks().len();
        map.entries[0].state.memory = Memory::new(vec![u32::MAX; blocks]);
    });
    rejects(&|map| _ = map.store.block_number([u32::MAX; BLOCK_PAGES]));
    rejects(&|map| map.entries[0].place.calls = u32::MAX);
    rejects(&|map| map.entries[0].place.control.pc.0 = u32::MAX);
    let range = |bytes: usize, high: u32| {
        let bytes = (0..bytes).map(|_| Value::Of(DataAddress(7))).collect();
        Ranges::new(vec![Range { bytes, when: [Some((1, high)), None] }])
    };
    for (bytes, high) in [(0, 1), (5, 1), (1, 256), (2, 0)] {
        rejects(&|map| map.entries[0].state.ranges = range(bytes, high));
    }
    let of_cell = |cell: Value| {
        let terms = vec![(Variable::Byte(cell), 1)].into();
        Equations::new(vec![Equation { terms, constant: 1 }])
    };
    for cell in [Value::Of(DataAddress(u16::MAX)), Value::Entry(DataAddress(7))] {
        rejects(&|map| map.entries[0].state.equations = of_cell(cell));
    }
    rejects(&|map| {
        map.entries[0].state.equalities = Equalities::new(vec![(DataAddress(7), Value::Entry(DataAddress(3)))])
    });
}
