//! The program counter of 22 bits of the ATmega2560: calls, returns and interrupts beyond 128 KiB.

use avr_isa::{DataAddress, FlashWordAddress, Instruction, Pointer, Register};
use avr_machine::device::Device;
use avr_machine::{
    Demand, DeterminedBy, Environment, Frame, FrameKind, Happening, Input, Machine, MachineState, Options,
    Possibilities, Program, Question,
};
use avr_testkit::image::encoded;
use three_valued::TvByte;

/// Word addresses of the code, of which the two differ only above bit 15, and of RAMEND.
const FAR: u32 = 0x1_1234;
const NEAR: u32 = 0x0_1234;
const TOP: u16 = 0x21ff;

/// A world in which nothing comes in, and an interrupt if it is wished for.
#[derive(Default)]
struct World {
    wish: Option<Happening>,
}

impl Environment<u8> for World {
    fn input(&mut self, _: Input, _: u8, _: Demand, _: DeterminedBy) -> u8 {
        0
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        possibilities.iter().position(|happening| Some(happening) == self.wish).unwrap_or(0)
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }
}

/// A machine with code at a word address, and RETI at the vector of INT0.
fn machine(place: u32, code: &[Instruction]) -> Machine {
    let device = Device::named("atmega2560").expect("a device of the tables");
    let words: Vec<u16> = code.iter().flat_map(|instruction| encoded(*instruction)).collect();
    let reti = encoded(Instruction::Reti).next();
    let word = |address: u32| match address.checked_sub(place).and_then(|offset| words.get(offset as usize)) {
        Some(word) => Some(*word),
        None if address == 2 => reti,
        None => Some(0),
    };
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    Machine::new(device, program, Options { start: FlashWordAddress(place), ..Options::default() })
}

/// The registers by name.
fn set(machine: &Machine, state: &mut MachineState<u8>, name: &str, value: u8) {
    state.data.set(machine.device.register(name).expect("it has the register").address, value);
}

/// The state before the code, with Z and EIND.
fn start(machine: &Machine, z: u16, extension: u8) -> MachineState<u8> {
    let mut state = machine.power_on(&mut World::default());
    let [low, high] = z.to_le_bytes();
    state.data.set(Pointer::Z.low().address(), low);
    state.data.set(Pointer::Z.high().address(), high);
    set(machine, &mut state, "EIND", extension);
    state
}

/// The cycles of a step.
fn step(machine: &Machine, state: &mut MachineState<u8>) -> u32 {
    machine.step(state, &mut World::default()).expect("it goes on")
}

/// The bytes of the stack from the lowest one that is used on.
fn stack(state: &MachineState<u8>, bytes: u16) -> Vec<u8> {
    (TOP + 1 - bytes..=TOP).map(|cell| *state.data.get(DataAddress(cell))).collect()
}

/// Checks where a call beyond 128 KiB leads, what it pushes and its cycles, and that the return leads back.
#[track_caller]
fn check_call(call: Instruction, (z, extension): (u16, u8), target: u32, cycles: u32) {
    let calling = machine(FAR, &[call]);
    let mut state = start(&calling, z, extension);
    assert_eq!(step(&calling, &mut state), cycles, "{call:?}");
    let next = FAR + u32::from(call.words());
    let [low, high, top, _] = next.to_le_bytes();
    assert_eq!((state.control.pc, stack(&state, 3)), (FlashWordAddress(target), vec![top, high, low]), "{call:?}");
    let frame = Frame {
        position: DataAddress(TOP),
        return_address: FlashWordAddress(next),
        kind: FrameKind::Call,
        stack: 0,
        left: 0,
    };
    assert_eq!(state.calls.frames(), [frame]);
    let returning = machine(target, &[Instruction::Ret]);
    assert_eq!(step(&returning, &mut state), 5);
    assert_eq!((state.control.pc, state.calls.frames()), (FlashWordAddress(next), &[][..]), "{call:?}");
    assert_eq!(returning.stack_pointer().value_in(&state.data), Some(DataAddress(TOP)));
}

#[test]
fn calls_push_three_bytes_and_returns_pop_them() {
    check_call(Instruction::Call { target: 0x1_f000 }, (0, 0), 0x1_f000, 5);
    check_call(Instruction::Call { target: NEAR }, (0, 1), NEAR, 5);
    check_call(Instruction::Rcall { offset: 16 }, (0, 0), FAR + 17, 4);
    check_call(Instruction::Rcall { offset: -2 }, (0, 0), FAR - 1, 4);
    // ICALL leads below 128 KiB whatever EIND is.
    check_call(Instruction::Icall, (0x4567, 1), 0x4567, 4);
    check_call(Instruction::Eicall, (0x4567, 1), 0x1_4567, 4);
    check_call(Instruction::Eicall, (0x4567, 0), 0x4567, 4);
}

#[test]
fn jumps_through_pointers_have_the_bit_above_z_or_not() {
    for (jump, target) in [(Instruction::Ijmp, 0x4567), (Instruction::Eijmp, 0x1_4567)] {
        let machine = machine(FAR, &[jump]);
        let mut state = start(&machine, 0x4567, 1);
        assert_eq!(step(&machine, &mut state), 2);
        assert_eq!(state.control.pc, FlashWordAddress(target), "{jump:?}");
    }
}

#[test]
fn a_return_to_the_same_address_below_128_kib_is_another_one() {
    let machine = machine(0x1_f000, &[Instruction::Ret]);
    let mut state = start(&machine, 0, 0);
    let [low, high, ..] = NEAR.to_le_bytes();
    // The frame says FAR, the stack NEAR: they differ in the highest byte alone.
    for (cell, byte) in (TOP - 2..=TOP).zip([0, high, low]) {
        state.data.set(DataAddress(cell), byte);
    }
    let pointer = machine.stack_pointer();
    for (cell, half) in pointer.cells().zip((TOP - 3).to_le_bytes()) {
        state.data.set(cell, half);
    }
    state.calls.push(Frame {
        position: DataAddress(TOP),
        return_address: FlashWordAddress(FAR),
        kind: FrameKind::Call,
        stack: 0,
        left: 0,
    });
    let mut fitting = state.clone();
    fitting.data.set(DataAddress(TOP - 2), 1);
    assert!(machine.step(&mut state, &mut World::default()).is_err(), "what the call pushed is another address");
    assert!(machine.step(&mut fitting, &mut World::default()).is_ok());
}

#[test]
fn an_interrupt_takes_five_cycles_and_three_bytes() {
    let machine = machine(FAR, &[Instruction::Nop]);
    let mut state = start(&machine, 0, 0);
    for (name, value) in [("EIMSK", 1), ("EIFR", 1), ("EICRA", 2), ("SREG", 0x80)] {
        set(&machine, &mut state, name, value);
    }
    let mut world = World { wish: Some(Happening::Interrupt(1)) };
    let mut asleep = state.clone();
    let entered = machine.step(&mut state, &mut world).expect("the handler is entered");
    let [low, high, top, _] = FAR.to_le_bytes();
    assert_eq!((entered, state.control.pc, stack(&state, 3)), (5, FlashWordAddress(2), vec![top, high, low]));
    assert_eq!(step(&machine, &mut state), 5, "RETI");
    assert_eq!(state.control.pc, FlashWordAddress(FAR));
    asleep.control.sleeping = true;
    let entered = machine.step(&mut asleep, &mut world).expect("the handler is entered");
    assert_eq!(entered, 10, "waking up takes five cycles more");
}

/// An abstract world that notes into how many cases something is cut.
struct Cut(Vec<usize>);

impl Environment<TvByte> for Cut {
    fn input(&mut self, _: Input, _: u8, _: Demand, _: DeterminedBy) -> TvByte {
        TvByte::UNKNOWN
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn case(&mut self, count: usize, _: Question<'_, TvByte>) -> usize {
        self.0.push(count);
        count - 1
    }
}

#[test]
fn an_unknown_bit_above_z_is_cut_into_cases() {
    for instruction in [Instruction::Eijmp, Instruction::Eicall] {
        let machine = machine(FAR, &[instruction]);
        let mut state = machine.power_on(&mut Cut(Vec::new()));
        state.data.set(Pointer::Z.low().address(), TvByte::constant(0x67));
        state.data.set(Pointer::Z.high().address(), TvByte::constant(0x45));
        let extension = machine.extension_read(instruction).expect("it reads EIND");
        state.data.set(extension, TvByte::new(0, 0xfe));
        let mut world = Cut(Vec::new());
        machine.step(&mut state, &mut world).expect("it goes on");
        assert_eq!((world.0, state.control.pc), (vec![2], FlashWordAddress(0x1_4567)), "{instruction:?}");
    }
    let elpm = Instruction::Elpm { rd: Register::new(5).expect("there are 32"), mode: avr_isa::LpmMode::Plain };
    assert_eq!(machine(FAR, &[elpm]).extension_read(elpm), Some(DataAddress(0x5b)));
}
