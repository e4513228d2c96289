//! Every hazard ends the path unless the property file allows it; then the machine goes on as
//! [`HazardKind::when_allowed`] says, or the path ends where nothing is defined.

use super::bench::{World, address};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::device::Device;
use avr_machine::{Hazard, HazardKind, Machine, MachineState, Options, Program, Stop};

/// Words of machine code; everything behind them is erased.
type Code<'a> = &'a [u16];

const NOP: u16 = 0x0000;
const RET: u16 = 0x9508;
const RETI: u16 = 0x9518;
const SEI: u16 = 0x9478;
const SLEEP: u16 = 0x9588;
const SPM: u16 = 0x95e8;
/// `rjmp .+0`, where a vector is to lead to the next word.
const RJMP_NEXT: u16 = 0xc000;

/// `ldi r16+register, value`.
fn ldi(register: u16, value: u8) -> u16 {
    let value = u16::from(value);
    0xe000 | (value & 0xf0) << 4 | register << 4 | value & 0x0f
}

/// `lds r16, address`.
fn lds(address: DataAddress) -> [u16; 2] {
    [0x9100, address.0]
}

/// `sts address, r16`.
fn sts(address: DataAddress) -> [u16; 2] {
    [0x9300, address.0]
}

/// `out io, r16`.
fn out(io: u16) -> u16 {
    0xb900 | (io & 0x30) << 5 | io & 0x0f
}

/// A data address behind the SRAM.
const OUTSIDE: DataAddress = DataAddress(0x0900);
/// A reserved I/O register.
const RESERVED: DataAddress = DataAddress(0x0020);

/// `push r16`.
const PUSH: u16 = 0x930f;
/// `pop r16`.
const POP: u16 = 0x910f;

/// A program under way.
struct Run {
    machine: Machine,
    state: MachineState<u8>,
    world: World,
}

impl Run {
    fn new(device: &str, code: Code<'_>, options: Options) -> Self {
        let device = Device::named(device).expect("the device exists");
        let word = |address: u32| code.get(address as usize).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, options);
        let mut world = World::default();
        [OUTSIDE, RESERVED].into_iter().for_each(|address| world.supply_at(address, 0x5a));
        let state = machine.power_on(&mut world);
        Self { machine, state, world }
    }

    /// Takes steps until the machine stops or as many were taken as wanted; the hazard that stopped it.
    fn steps(&mut self, count: usize) -> Option<HazardKind> {
        (0..count).find_map(|_| match self.machine.step(&mut self.state, &mut self.world) {
            Ok(_) => None,
            Err(Stop::Hazard(Hazard { kind, .. })) => Some(kind),
            Err(other) => panic!("{other:?}"),
        })
    }

    fn cell(&self, address: DataAddress) -> u8 {
        *self.state.data.get(address)
    }

    fn r16(&self) -> u8 {
        self.cell(DataAddress(16))
    }

    fn pc(&self) -> u32 {
        self.state.control.pc.0
    }
}

/// The options of a test beside what is allowed.
type Prepare = fn(&mut Options);

fn unprepared(_: &mut Options) {}

/// Runs a program that has the hazard in its last step, first as it is and then with the hazard allowed.
#[track_caller]
fn allow(kind: HazardKind, device: &str, code: Code<'_>, steps: usize, prepare: Prepare) -> (Run, Option<HazardKind>) {
    let mut options = Options::default();
    prepare(&mut options);
    let mut run = Run::new(device, code, options.clone());
    assert_eq!(run.steps(steps - 1), None, "{kind}: too early");
    assert_eq!(run.steps(1), Some(kind), "{kind}: not found");
    options.allowed.insert(kind);
    let mut run = Run::new(device, code, options);
    let stopped = run.steps(steps);
    (run, stopped)
}

/// A hazard without a defined behaviour: the path ends, allowed or not.
#[track_caller]
fn ends(kind: HazardKind, device: &str, code: Code<'_>, steps: usize) {
    assert!(kind.when_allowed().contains("the path ends"), "{kind}");
    let (_, stopped) = allow(kind, device, code, steps, unprepared);
    assert_eq!(stopped, Some(kind));
}

/// A hazard after which the machine goes on.
#[track_caller]
fn goes_on(kind: HazardKind, code: Code<'_>, steps: usize, prepare: Prepare) -> Run {
    assert!(!kind.when_allowed().contains("the path ends"), "{kind}");
    let (run, stopped) = allow(kind, "atmega328p", code, steps, prepare);
    assert_eq!(stopped, None, "{kind}");
    run
}

#[test]
fn without_a_defined_behaviour_the_path_ends() {
    ends(HazardKind::ReservedOpcode, "atmega328p", &[NOP, 0x0001], 2);
    ends(HazardKind::OutsideImage, "atmega328p", &[NOP], 2);
    // LD r30, Z+ overwrites the pointer that it increments.
    ends(HazardKind::UndefinedPointerUse, "atmega328p", &[ldi(14, 0), ldi(15, 1), 0x91e1], 3);
    ends(HazardKind::InterruptsUnavailable, "atmega328p-gpio", &[SEI], 1);
}

#[test]
fn a_lost_access_outside_the_data_memory() {
    let [first, second] = sts(OUTSIDE);
    let [load, from] = lds(OUTSIDE);
    let run = goes_on(HazardKind::OutsideMemory, &[ldi(0, 7), first, second, load, from], 2, unprepared);
    assert_eq!(run.pc(), 3);
    let run = goes_on(HazardKind::OutsideMemory, &[load, from], 1, unprepared);
    assert_eq!(run.r16(), 0x5a, "an unknown byte");
}

#[test]
fn a_lost_access_to_a_reserved_register() {
    let [load, from] = lds(RESERVED);
    let [store, to] = sts(RESERVED);
    let run = goes_on(HazardKind::ReservedRegister, &[load, from], 1, unprepared);
    assert_eq!(run.r16(), 0x5a, "an unknown byte");
    let run = goes_on(HazardKind::ReservedRegister, &[ldi(0, 7), store, to], 2, unprepared);
    assert_eq!(run.pc(), 3);
}

#[test]
fn a_reserved_bit_is_not_stored() {
    let code = [ldi(0, 0xff), out(0x33)]; // SMCR has bits 0 to 3
    let prepare: Prepare = |options| _ = options.forbidden.insert(HazardKind::ReservedBitWrite);
    let run = goes_on(HazardKind::ReservedBitWrite, &code, 2, prepare);
    assert_eq!(run.cell(address("SMCR")), 0x0f);
}

#[test]
fn a_stack_outside_the_sram_accesses_what_is_there() {
    let code = [ldi(0, 0), out(0x3e), ldi(0, 5), out(0x3d), ldi(0, 0x77), PUSH];
    let run = goes_on(HazardKind::StackOutsideSram, &code, 6, unprepared);
    assert_eq!((run.cell(DataAddress(5)), run.cell(address("SPL"))), (0x77, 4), "the stack is in the registers");
}

#[test]
fn a_stack_in_static_data_overwrites_it() {
    let code = [ldi(0, 1), out(0x3e), ldi(0, 0x10), out(0x3d), ldi(0, 0x77), PUSH];
    let prepare: Prepare = |options| options.static_data_end = Some(DataAddress(0x0120));
    let mut run = goes_on(HazardKind::StackIntoData, &code, 4, prepare);
    assert_eq!(run.steps(2), None);
    assert_eq!(run.cell(DataAddress(0x0110)), 0x77);
    // One byte of the stack is free until it is pushed.
    let code = [ldi(0, 1), out(0x3e), ldi(0, 0x20), out(0x3d), PUSH, PUSH];
    let run = goes_on(HazardKind::StackIntoData, &code, 6, prepare);
    assert_eq!(run.cell(address("SPL")), 0x1e);
}

#[test]
fn a_return_goes_where_the_popped_address_says() {
    // Nothing was called: 0x0005 lies on the stack.
    let forged = [ldi(0, 5), PUSH, ldi(0, 0), PUSH, RET, NOP];
    let run = goes_on(HazardKind::CallStackUnderflow, &forged, 5, unprepared);
    assert_eq!(run.pc(), 5);
    // RCALL pushes 1; its low byte is replaced by 7.
    let changed = [0xd000, POP, POP, ldi(0, 7), PUSH, ldi(0, 0), PUSH, RET];
    let run = goes_on(HazardKind::ReturnToNonCall, &changed, 8, unprepared);
    assert_eq!(run.pc(), 7);
    let deeper = [0xd000, ldi(0, 9), PUSH, ldi(0, 0), PUSH, RET];
    let run = goes_on(HazardKind::ReturnToNonCall, &deeper, 6, unprepared);
    assert_eq!(run.pc(), 9);
}

#[test]
fn self_programming_outside_the_boot_section_does_nothing() {
    let run = goes_on(HazardKind::SelfProgramming, &[SPM, NOP], 1, |options| options.start = FlashWordAddress(0));
    assert_eq!(run.pc(), 1);
}

#[test]
fn the_default_handler_is_executed() {
    // INT0's vector (word 2) leads to the default handler at word 6.
    let code = [SEI, NOP, 0xc003, RJMP_NEXT, NOP, NOP, RETI];
    let prepare: Prepare = |options| options.default_handler = Some(FlashWordAddress(6));
    let request = |run: &mut Run| {
        run.state.data.set(address("EIMSK"), 1);
        run.state.data.set(address("EIFR"), 1);
        run.world.wish_interrupt("INT0");
    };
    let attempt = |allowed: bool| {
        let mut options = Options::default();
        prepare(&mut options);
        if allowed {
            options.allowed.insert(HazardKind::BadInterrupt);
        }
        let mut run = Run::new("atmega328p", &code, options);
        assert_eq!(run.steps(2), None);
        request(&mut run);
        (run.steps(1), run.pc())
    };
    assert_eq!(attempt(false).0, Some(HazardKind::BadInterrupt));
    assert_eq!(attempt(true), (None, 2));
}

#[test]
fn the_processor_stays_asleep() {
    let [store, to] = sts(address("SMCR"));
    let mut run = goes_on(HazardKind::SleepForEver, &[ldi(0, 1), store, to, SLEEP, NOP], 4, unprepared);
    assert_eq!(run.steps(3), None);
    assert_eq!((run.pc(), run.state.control.sleeping), (4, true));
}

#[test]
fn a_broken_watchdog_sequence_leaves_the_bits() {
    let [store, to] = sts(address("WDTCSR"));
    let run = goes_on(HazardKind::WatchdogSequence, &[ldi(0, 0x41), store, to], 2, unprepared);
    assert_eq!(run.cell(address("WDTCSR")) & 0x7f, 0x40);
}

#[test]
fn a_hazard_is_allowed_where_its_instruction_is() {
    let [store, to] = sts(RESERVED);
    let code = [ldi(0, 7), store, to, store, to];
    let attempt = |places: &[u32]| {
        let places = places.iter().copied().map(FlashWordAddress).collect();
        let options = Options { allowed_at: [(HazardKind::ReservedRegister, places)].into(), ..Options::default() };
        let mut run = Run::new("atmega328p", &code, options);
        (run.steps(3), run.pc())
    };
    assert_eq!(attempt(&[]).0, Some(HazardKind::ReservedRegister));
    assert_eq!(attempt(&[1]), (Some(HazardKind::ReservedRegister), 5), "the second store is elsewhere");
    assert_eq!(attempt(&[0, 2, 3, 4]).0, Some(HazardKind::ReservedRegister), "the first store is elsewhere");
    assert_eq!(attempt(&[1, 3]), (None, 5));
}

#[test]
fn a_path_ends_where_its_instruction_is() {
    let kind = HazardKind::UndefinedPointerUse;
    let options = Options { allowed_at: [(kind, [FlashWordAddress(3)].into())].into(), ..Options::default() };
    let run = Run::new("atmega328p", &[NOP], options);
    assert!(run.machine.may_end_paths());
    assert!(run.machine.ends_path(kind, FlashWordAddress(3)) && !run.machine.ends_path(kind, FlashWordAddress(2)));
    assert!(!run.machine.ends_path(HazardKind::OutsideImage, FlashWordAddress(3)));
}

#[test]
fn the_entry_into_a_handler_has_no_place() {
    // The stack lies in the registers when INT0 comes.
    let code = [ldi(0, 0), out(0x3e), ldi(0, 5), out(0x3d), SEI, NOP, NOP];
    let attempt = |options: Options| {
        let mut run = Run::new("atmega328p", &code, options);
        assert_eq!(run.steps(6), None);
        run.state.data.set(address("EIMSK"), 1);
        run.state.data.set(address("EIFR"), 1);
        run.world.wish_interrupt("INT0");
        run.steps(1)
    };
    let kind = HazardKind::StackOutsideSram;
    let everywhere = (0..16).map(FlashWordAddress).collect();
    assert_eq!(attempt(Options { allowed_at: [(kind, everywhere)].into(), ..Options::default() }), Some(kind));
    assert_eq!(attempt(Options { allowed: [kind].into(), ..Options::default() }), None);
}
