//! Small programs, each of which goes wrong in a way that a simpler analysis of interrupts overlooks.
//!
//! In each a run comes to a reserved opcode, the *trap*, or returns to it where nothing was called. A map that says that none does is wrong.

use avr_machine::device::Device;
use avr_machine::{HazardKind, Machine, Options as MachineOptions, Program};
use avr_testkit::image::{Code, r};

use super::runs::{Chaos, End, compare, run};
use crate::check::Mark;
use crate::faults::{Fault, with_fault};
use crate::gap::{Cycle, Reason};
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
fn a_return_address_in_registers_is_not_trusted() {
    // What a handler's entry pushes to the registers of ports is not what is read there.
    let main = [ldi(17, 0), I::Out { io: SPH, rr: r(17) }, ldi(17, 0x29), I::Out { io: SPL, rr: r(17) }, SEI, I::Nop];
    let code = checked([&[], &[]], 1, &main, 17, 0x29);
    let device = Device::named("atmega328p").expect("the device exists");
    let word = |address: u32| code.words.get(address as usize).copied();
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    let allowed = [HazardKind::StackOutsideSram, HazardKind::ReservedRegister].into();
    let machine = Machine::new(device, program, MachineOptions { allowed, ..MachineOptions::default() });
    let found = analyse(&machine, &Options::default());
    assert_eq!(found.outcome.map_err(|gap| gap.reason), Err(Reason::ReturnAddress));
}

/// The reason why the map of a program with these handlers is open.
fn open(handlers: [&[I]; 2], enabled: u8) -> Reason {
    let code = checked(handlers, enabled, &[SEI, I::Nop], 18, 0);
    analyse(&machine(&code.words), &Options::default()).outcome.expect_err("handlers nest without end").reason
}

#[test]
fn handlers_that_nest_without_end_are_named() {
    let alone = [SEI, I::Nop, CLI];
    assert_eq!(open([&alone, &[]], 1), Reason::Nested(Cycle(vec![1]), 8));
    let first = lets_in(&[], &[]);
    let second = [I::Sbi { io: EIMSK, bit: 0 }, I::Cbi { io: EIMSK, bit: 1 }, SEI, I::Nop, CLI];
    let reason = open([&first, &second], 1);
    assert_eq!(reason, Reason::Nested(Cycle(vec![1, 2]), 8));
    assert_eq!(reason.to_string(), "handlers interrupt each other in a cycle: 1, 2, 1, more than 8 times");
}

/// The flash word address of a function.
const FUNCTION: u8 = 0xb0;

/// A program whose handler of INT0 calls through a pointer in memory. Before interrupts are enabled the pointer is set to 0, and then to
/// the address of a function that consists of some instructions and a return, if there is one.
fn calling(function: Option<&[I]>) -> Code {
    let handler = [lds(30, X), lds(31, Y), I::Icall];
    let stack = [ldi(17, 8), I::Out { io: SPH, rr: r(17) }, ldi(17, 0xff), I::Out { io: SPL, rr: r(17) }];
    let pointer = [ldi(17, 0), sts(X, 17), sts(Y, 17)];
    let set: Vec<I> = function.iter().flat_map(|_| [ldi(17, FUNCTION), sts(X, 17)]).collect();
    let main = [&stack[..], &pointer, &set, &[SEI, I::Rjmp { offset: -1 }]].concat();
    let mut code = program([&handler, &[]], 1, &main);
    code.place(FUNCTION.into());
    function.into_iter().flatten().for_each(|one| code.add(*one));
    code.add(I::Ret);
    code
}

#[test]
fn calls_of_handlers_through_null_pointers_are_named() {
    let found = |function| analyse(&machine(&calling(function).words), &Options::default()).outcome;
    let gap = found(None).expect_err("the handler leaves its return address");
    // Two loads of two words each come before the call.
    assert_eq!((gap.reason, gap.at.map(|at| at.1.word().0)), (Reason::NullCall, Some(HANDLERS[0] + 4)));
    assert_eq!(
        Reason::NullCall.to_string(),
        "an indirect call of a handler through a pointer that may be 0 (null, the start of the flash)"
    );
    assert!(found(Some(&[])).is_ok_and(|claims| claims.has_no_hazard()));
    // The same end without a null pointer: the function drops its return address, and that of the handler.
    let gap = found(Some(&[I::Pop { rd: r(16) }; 4])).expect_err("the handler leaves its return address");
    assert_eq!(gap.reason, Reason::LeftFrame);
}

#[test]
fn the_bound_counts_handlers_on_top_of_each_other() {
    let bound = |name: &str| {
        let (_, code) = harmless().into_iter().find(|one| one.0 == name).expect("there is such a program");
        let claims = analyse(&machine(&code.words), &Options::default()).outcome.expect("it is closed");
        claims.stack_bound()
    };
    // A return address, three bytes, and the same again for INT1 with one byte.
    assert_eq!(bound("nested-alone"), Some(8));
    // Three times a return address and two bytes.
    assert_eq!(bound("nested-twice"), Some(12));
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
const DENIED: [(Fault, &str); 26] = [
    (Fault::InterferenceForgotten, "counted"),
    (Fault::NumbersKept, "copied"),
    (Fault::EntryForgotten, "acknowledged"),
    (Fault::ClosedAtJumps, "counted"),
    (Fault::FirstMemoryOnly, "second"),
    (Fault::ReturnAddressTrusted, "redirected"),
    (Fault::RegistersTrusted, "register"),
    (Fault::DeadCellsKept, "below"),
    (Fault::MarksForgotten, "counted"),
    (Fault::GapsForgotten, "plain"),
    (Fault::RangesOfInterrupted, "number"),
    (Fault::RangesOfInterrupted, "difference"),
    (Fault::EntryTakenForNow, "overwritten"),
    (Fault::NestingForgotten, "nested-read"),
    (Fault::NestingForgotten, "nested-enabled"),
    (Fault::NestedWritesForgotten, "nested-write"),
    (Fault::EntryOfInterrupted, "nested-entry"),
    (Fault::InterferenceForgotten, "nested-read"),
    (Fault::InterferenceForgotten, "nested-enabled"),
    (Fault::RegistersTrusted, "nested-register"),
    (Fault::ReturnAddressTrusted, "nested-redirected"),
    (Fault::EntryForgotten, "nested-frame"),
    (Fault::ResultsOfInterrupted, "divided-changed"),
    (Fault::GreatestDivisor, "divided-by-some"),
    (Fault::GreatestDivisor, "divided-by-zero"),
    (Fault::RoutineUnread, "divided-otherwise"),
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
