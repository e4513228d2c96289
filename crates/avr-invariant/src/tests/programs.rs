//! Small programs, each of which goes wrong in a way that a simpler analysis of interrupts overlooks.
//!
//! In each a run comes to a reserved opcode, the *trap*, or returns to it where nothing was called. A map that says that none does is wrong.

use avr_machine::device::Device;
use avr_machine::{HazardKind, Machine, Options as MachineOptions, Program};
use avr_testkit::image::{Code, r};

use super::runs::{Chaos, End, compare, run};
use crate::check::Mark;
use crate::faults::{Fault, with_fault};
use crate::pass::{Analysis, Options, analyse};

include!("../../fault-programs.rs");

fn machine(words: &[u16]) -> Machine {
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, MachineOptions::default())
}

/// The hazards that say that the trap is reached.
const TRAPS: [HazardKind; 2] = [HazardKind::ReservedOpcode, HazardKind::ReturnToNonCall];

/// True if some random run comes to the trap.
fn is_reached(machine: &Machine) -> bool {
    (0..400).any(|seed| {
        let ended = run(machine, &mut Chaos::new(seed, 3), 400, |_, _| Ok(()));
        matches!(ended, Ok((End::Hazard(hazard), _)) if TRAPS.contains(&hazard.kind))
    })
}

/// True if a map says that no run comes to the trap.
fn is_denied(found: &Analysis) -> bool {
    let is_trap = |mark: &Mark| TRAPS.contains(&mark.hazard.kind);
    found.outcome.as_ref().is_ok_and(|claims| !claims.marks.iter().any(is_trap))
}

#[test]
fn no_map_denies_what_runs_come_to() {
    for (name, code) in all() {
        let machine = machine(&code.words);
        assert!(is_reached(&machine), "{name}: no run comes to the trap");
        let found = analyse(&machine, &Options::default());
        assert!(!is_denied(&found), "{name}: {:?}", found.outcome);
    }
}

#[test]
fn what_is_masked_or_restored_is_known() {
    for (name, code) in harmless() {
        let machine = machine(&code.words);
        assert!(!is_reached(&machine), "{name}: a run comes to the trap");
        let found = analyse(&machine, &Options::default());
        assert!(is_denied(&found), "{name}: {:?}", found.outcome);
    }
}

#[test]
fn runs_of_the_programs_stay_inside_of_their_maps() {
    for (name, code) in all().into_iter().chain(harmless()) {
        let machine = machine(&code.words);
        let Analysis { map, outcome, .. } = analyse(&machine, &Options::default());
        let Ok(claims) = outcome else { continue };
        for seed in 0..50 {
            let compared = compare(&machine, &map, &claims, seed, 1 + seed % 4, 300);
            assert!(compared.is_ok(), "{name}, seed {seed}: {compared:?}");
        }
    }
}

/// The faults that make a map deny what runs come to, each with a program.
const DENIED: [(Fault, &str); 9] = [
    (Fault::InterferenceForgotten, "counted"),
    (Fault::NumbersKept, "copied"),
    (Fault::EntryForgotten, "acknowledged"),
    (Fault::ClosedAtJumps, "counted"),
    (Fault::FirstMemoryOnly, "second"),
    (Fault::ReturnAddressTrusted, "redirected"),
    (Fault::RegistersTrusted, "register"),
    (Fault::DeadCellsKept, "below"),
    (Fault::MarksForgotten, "counted"),
];

#[test]
fn faults_are_found() {
    for (fault, name) in DENIED {
        let (_, code) = all().into_iter().find(|one| one.0 == name).expect("there is such a program");
        let machine = machine(&code.words);
        let found = with_fault(fault, || analyse(&machine, &Options::default()));
        assert!(is_denied(&found), "{fault:?} is not found by {name}: {:?}", found.outcome);
    }
}
