//! Each rule has a program in which something must be found and one in which nothing may be.

use super::{Objects, Observation, Subjects, Window};
use crate::finding_search::{Seen, look};
use avr_isa::{DataAddress, FlashWordAddress, Instruction as Op, Pointer, PointerMode, Register};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};
use avr_model::context::Context;
use std::ops::Range;
use std::rc::Rc;
use tvar::Unlimited;

/// I/O address of PINB, whose bits are inputs.
const PINB: u8 = 3;
/// The objects of most programs: one after the other.
const FIRST: Range<DataAddress> = DataAddress(0x110)..DataAddress(0x118);
const SECOND: Range<DataAddress> = DataAddress(0x118)..DataAddress(0x120);
/// The main part of a program begins at this word address.
const MAIN: u32 = 0x80;
/// A function is there, and a handler of INT0.
const FUNCTION: u32 = 0x100;
const HANDLER: u32 = 0x180;

fn r(number: u8) -> Register {
    Register::new(number).expect("there are 32 registers")
}

fn ldi(register: u8, k: u8) -> Op {
    Op::Ldi { rd: r(register), k }
}

/// LDI of an address into a pair of registers.
fn address(low: u8, address: DataAddress) -> [Op; 2] {
    let [k, high] = [address.low(), address.high()];
    [ldi(low, k), ldi(low + 1, high)]
}

/// SUBI and SBCI that add an address to a pair of registers.
fn add(low: u8, address: DataAddress) -> [Op; 2] {
    let [k, high] = address.0.wrapping_neg().to_le_bytes();
    [Op::Subi { rd: r(low), k }, Op::Sbci { rd: r(low + 1), k: high }]
}

/// An input of some bits, as a word in a pair of registers.
fn input(low: u8, mask: u8) -> [Op; 3] {
    [Op::In { rd: r(low), io: PINB }, Op::Andi { rd: r(low), k: mask }, ldi(low + 1, 0)]
}

fn store(pointer: Pointer, mode: PointerMode) -> Op {
    Op::St { pointer, mode, rr: r(1) }
}

const AT: PointerMode = PointerMode::Displacement(0);

fn call(from: usize, to: u32) -> Op {
    Op::Rcall { offset: (i64::from(to) - i64::from(MAIN) - from as i64 - 1) as i16 }
}

/// A program of a main part that is repeated, a function, and a handler of INT0.
fn machine(main: &[Op], function: &[Op], handler: &[Op]) -> Machine {
    let mut words: Vec<u16> = Vec::new();
    let mut place = |at: u32, code: &[Op]| {
        words.resize(words.len().max(at as usize), 0);
        for instruction in code {
            let encoded = instruction.encode().expect("it has a code");
            words.extend(std::iter::once(encoded.first).chain(encoded.second));
        }
        words.len()
    };
    place(0, &[Op::Rjmp { offset: MAIN as i16 - 1 }]);
    place(2, &[Op::Rjmp { offset: HANDLER as i16 - 3 }]);
    let end = place(MAIN, main);
    place(end as u32, &[Op::Rjmp { offset: (i64::from(MAIN) - end as i64 - 1) as i16 }]);
    place(FUNCTION, function);
    place(HANDLER, handler);
    let device = Device::named("atmega328p").expect("a device of the tables");
    let program = Program::decode(device.memory.flash_words(), device.core.features, |address| {
        words.get(address as usize).copied()
    });
    Machine::new(device, program, Options::default())
}

/// The subjects of most programs.
fn subjects() -> Subjects {
    Subjects {
        objects: Objects::new([FIRST, SECOND]),
        functions: vec![FUNCTION..FUNCTION + 0x40, HANDLER..HANDLER + 0x40],
        has_stack_cells: true,
        ..Subjects::default()
    }
}

fn look_at(machine: &Machine, subjects: Subjects) -> Vec<Observation> {
    let context = Context::new(machine, &[]);
    let seen = look(&context, &Rc::new(subjects), (100_000, 100_000), &Unlimited);
    assert!(seen.iter().all(|Seen { evidence, .. }| evidence.replayed));
    seen.into_iter().map(|seen| seen.observation).collect()
}

/// Expects that the only finding is a store that leaves the first object.
#[track_caller]
fn leaves(main: &[Op]) {
    let found = look_at(&machine(main, &[Op::Ret], &[Op::Reti]), subjects());
    assert!(
        matches!(found[..], [Observation::OutOfObject { object: 0, address, .. }] if !FIRST.contains(&address)),
        "{found:?}"
    );
}

/// Expects that nothing is found.
#[track_caller]
fn stays(main: &[Op]) {
    let found = look_at(&machine(main, &[Op::Ret], &[Op::Reti]), subjects());
    assert_eq!(found, []);
}

#[test]
fn an_index_beyond_the_end_is_found() {
    let program = |mask| [&input(30, mask)[..], &add(30, FIRST.start), &[store(Pointer::Z, AT)]].concat();
    leaves(&program(15));
    stays(&program(7));
}

#[test]
fn an_index_in_another_register_pair_is_found() {
    let program = |mask| {
        let sum = [Op::Add { rd: r(26), rr: r(24) }, Op::Adc { rd: r(27), rr: r(25) }];
        [&input(24, mask)[..], &address(26, FIRST.start), &sum, &[store(Pointer::X, AT)]].concat()
    };
    leaves(&program(15));
    stays(&program(7));
}

#[test]
fn a_pointer_is_followed_through_moves_memory_and_the_stack() {
    let kept = |mask| {
        let moves = [
            Op::Movw { rd: r(18), rr: r(24) },
            Op::Push { rr: r(18) },
            Op::Pop { rd: r(20) },
            Op::Sts { address: DataAddress(0x130), rr: r(20) },
            Op::Sts { address: DataAddress(0x131), rr: r(19) },
            Op::Lds { rd: r(30), address: DataAddress(0x130) },
            Op::Lds { rd: r(31), address: DataAddress(0x131) },
            Op::Adiw { rd: r(30), k: 4 },
            Op::Sbiw { rd: r(30), k: 4 },
        ];
        let sum = [Op::Add { rd: r(30), rr: r(16) }, Op::Adc { rd: r(31), rr: r(17) }];
        [&input(16, mask)[..], &address(24, FIRST.start), &moves, &sum, &[store(Pointer::Z, AT)]].concat()
    };
    leaves(&kept(15));
    stays(&kept(7));
}

#[test]
fn a_loop_beyond_the_end_is_found() {
    // It stores once more where the input says so.
    let program = |stores| {
        let all = std::iter::repeat_n(store(Pointer::X, PointerMode::PostIncrement), stores);
        address(26, FIRST.start).into_iter().chain(all).collect::<Vec<_>>()
    };
    leaves(&program(9));
    stays(&program(8));
    let down = |stores| {
        let all = std::iter::repeat_n(store(Pointer::X, PointerMode::PreDecrement), stores);
        address(26, FIRST.end).into_iter().chain(all).collect::<Vec<_>>()
    };
    leaves(&down(9));
    stays(&down(8));
}

#[test]
fn a_displacement_beyond_the_end_is_found() {
    let program = |by| {
        let stores = [store(Pointer::Y, AT), store(Pointer::Y, PointerMode::Displacement(by))];
        address(28, FIRST.start).into_iter().chain(stores).collect::<Vec<_>>()
    };
    leaves(&program(17));
    stays(&program(7));
}

#[test]
fn a_biased_base_may_lie_in_another_object() {
    // The second object with an index from 1 on: its base is the last byte of the first one.
    let one = [Op::Adiw { rd: r(30), k: 1 }];
    stays(&[&input(30, 7)[..], &one, &add(30, SECOND.start.wrapping_sub(1)), &[store(Pointer::Z, AT)]].concat());
    // It is also right after accesses that begin at 0, which the first object's last byte is hit by.
    stays(&[&input(30, 7)[..], &add(30, SECOND.start.wrapping_sub(1)), &[store(Pointer::Z, AT)]].concat());
    // `table[c - 'a']`, where the base happens to be the address of the first object.
    let far = Subjects { objects: Objects::new([FIRST, DataAddress(0x171)..DataAddress(0x179)]), ..subjects() };
    let biased =
        [&input(30, 7)[..], &[Op::Adiw { rd: r(30), k: 0x30 }, Op::Adiw { rd: r(30), k: 0x31 }], &add(30, FIRST.start)];
    let program = [&biased.concat()[..], &[store(Pointer::Z, AT)]].concat();
    assert_eq!(look_at(&machine(&program, &[Op::Ret], &[Op::Reti]), far), []);
}

#[test]
fn a_number_that_equals_an_address_is_no_pointer() {
    // A large frame on the stack: SP + 0x110.
    let frame = [&address(30, DataAddress(0x0400))[..], &add(30, FIRST.start), &[store(Pointer::Z, AT)]].concat();
    stays(&frame);
    let sum = [Op::Add { rd: r(30), rr: r(24) }, Op::Adc { rd: r(31), rr: r(25) }];
    stays(&[&address(30, DataAddress(0x0400))[..], &address(24, FIRST.start), &sum, &[store(Pointer::Z, AT)]].concat());
    // Halves of different pointers.
    let mixed = [
        &address(24, FIRST.start)[..],
        &address(30, SECOND.start),
        &[Op::Mov { rd: r(30), rr: r(24) }, store(Pointer::Z, AT)],
    ];
    stays(&mixed.concat());
    // A pointer that was calculated with.
    let changed =
        [&address(30, FIRST.start)[..], &[store(Pointer::Z, AT), Op::Lsr { rd: r(30) }, store(Pointer::Z, AT)]];
    stays(&changed.concat());
}

#[test]
fn code_that_speaks_of_sections_makes_no_pointers() {
    let all = std::iter::repeat_n(store(Pointer::X, PointerMode::PostIncrement), 9);
    let program: Vec<Op> = address(26, FIRST.start).into_iter().chain(all).collect();
    let machine = machine(&program, &[Op::Ret], &[Op::Reti]);
    assert_eq!(look_at(&machine, Subjects { section_code: vec![MAIN..MAIN + 0x20, 0..1], ..subjects() }), []);
}

#[test]
fn a_program_is_not_judged_after_its_first_fault() {
    // The second store is a fault only because the first one was.
    let second =
        [&address(28, SECOND.start)[..], &[store(Pointer::Y, AT), store(Pointer::Y, PointerMode::Displacement(63))]];
    let all = std::iter::repeat_n(store(Pointer::X, PointerMode::PostIncrement), 9);
    let first: Vec<Op> = address(26, FIRST.start).into_iter().chain(all).collect();
    leaves(&[&first[..], &second.concat()].concat());
}

/// A pointer to the top of the stack in Z: SP plus a distance.
fn stack(by: u8) -> Vec<Op> {
    let pointer = [Op::In { rd: r(30), io: 0x3d }, Op::In { rd: r(31), io: 0x3e }];
    pointer.into_iter().chain([store(Pointer::Z, PointerMode::Displacement(by))]).collect()
}

#[track_caller]
fn on_stack(function: &[Op], expected: Option<&str>) {
    let main = [Op::Push { rr: r(0) }, call(1, FUNCTION), Op::Pop { rd: r(0) }];
    let found = look_at(&machine(&main, function, &[Op::Reti]), subjects());
    let name = |one: &Observation| match one {
        Observation::ReturnAddress { returns_to, .. } => format!("return to {:#x}", returns_to.0),
        Observation::SavedRegister { register, .. } => format!("r{register}"),
        other => format!("{other:?}"),
    };
    assert_eq!(found.iter().map(name).collect::<Vec<_>>(), Vec::from_iter(expected));
}

#[test]
fn a_return_address_that_is_overwritten_is_found() {
    on_stack(&[&stack(1)[..], &[Op::Ret]].concat(), Some("return to 0x82"));
    on_stack(&[&stack(2)[..], &[Op::Ret]].concat(), Some("return to 0x82"));
    on_stack(&[&stack(0)[..], &[Op::Ret]].concat(), None);
    on_stack(&[&stack(3)[..], &[Op::Ret]].concat(), None);
}

#[test]
fn a_kept_register_that_is_overwritten_is_found() {
    let function = |register: u8, popped: u8, by: u8| {
        let push = [Op::Push { rr: r(register) }, Op::Nop];
        [&push[..], &stack(by), &[Op::Pop { rd: r(popped) }, Op::Ret]].concat()
    };
    on_stack(&function(28, 28, 1), Some("r28"));
    on_stack(&function(28, 28, 0), None);
    // Registers that functions need not keep, and arguments, which are taken away by another register.
    on_stack(&function(24, 24, 1), None);
    on_stack(&function(28, 0, 1), None);
}

#[test]
fn locals_are_no_cells_of_the_caller() {
    // `push r0` and `rcall .` take bytes from the stack.
    let locals = [Op::Push { rr: r(28) }, Op::Nop, Op::Push { rr: r(0) }, Op::Rcall { offset: 0 }];
    let away = [Op::Pop { rd: r(0) }, Op::Pop { rd: r(0) }, Op::Pop { rd: r(0) }, Op::Pop { rd: r(28) }, Op::Ret];
    for by in 1..=3 {
        on_stack(&[&locals[..], &stack(by), &away].concat(), None);
    }
    on_stack(&[&locals[..], &stack(4), &away].concat(), Some("r28"));
}

#[test]
fn cells_of_functions_that_returned_are_free() {
    // r28 was kept where the second part stores.
    let main = [call(0, FUNCTION), Op::Push { rr: r(0) }, Op::Push { rr: r(0) }, Op::Push { rr: r(0) }];
    let away = [Op::Pop { rd: r(0) }, Op::Pop { rd: r(0) }, Op::Pop { rd: r(0) }];
    let main = [&main[..], &stack(1), &away].concat();
    let function = [Op::Push { rr: r(28) }, Op::Pop { rd: r(28) }, Op::Ret];
    assert_eq!(look_at(&machine(&main, &function, &[Op::Reti]), subjects()), []);
}

/// A window of two loads in a main program with INT0 enabled, and a handler that stores or does not.
fn torn(handler: &[Op]) -> Vec<Observation> {
    let enable = [ldi(16, 1), Op::Out { io: 0x1d, rr: r(16) }, Op::Bset { flag: 7 }];
    let loads =
        [Op::Lds { rd: r(24), address: DataAddress(0x100) }, Op::Lds { rd: r(25), address: DataAddress(0x101) }];
    let main = [&enable[..], &loads].concat();
    let accesses = vec![FlashWordAddress(MAIN + 3), FlashWordAddress(MAIN + 5)];
    let window = Window { cells: DataAddress(0x100)..DataAddress(0x102), accesses, is_write: false, vectors: vec![1] };
    look_at(&machine(&main, &[Op::Ret], handler), Subjects { windows: vec![window], ..Subjects::default() })
}

#[test]
fn a_handler_between_two_accesses_is_found() {
    let writes = [Op::Sts { address: DataAddress(0x100), rr: r(1) }, Op::Reti];
    let found = torn(&writes);
    assert!(matches!(found[..], [Observation::Torn { window: 0, vector: 1, .. }]), "{found:?}");
    assert_eq!(torn(&[Op::Nop, Op::Reti]), [], "it writes nothing");
    assert_eq!(torn(&[Op::Sts { address: DataAddress(0x102), rr: r(1) }, Op::Reti]), [], "it writes something else");
}
