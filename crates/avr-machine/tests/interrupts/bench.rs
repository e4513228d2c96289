//! A machine with concrete values on a test bench: the test is the world.

use std::collections::BTreeMap;

use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::device::{Device, ResetCause};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState, Options, Possibilities, Program,
    Question, Stop,
};
use avr_testkit::image::encoded;

/// The start of programs, as a flash word address: behind the vectors.
pub(crate) const START: u32 = 0x40;
/// Byte that power-on leaves in registers and memory whose content is undefined.
const FILL: u8 = 0;

pub(crate) fn device() -> &'static Device {
    Device::named("atmega328p").expect("the device exists")
}

/// The world: what it supplies, and what it is told.
#[derive(Clone, Default)]
pub(crate) struct World {
    /// The values that hardware gives for the bits that it changes, by data address; 0 elsewhere.
    inputs: BTreeMap<DataAddress, u8>,
    /// The event that is to happen in the next step.
    wish: Option<Happening>,
    /// The events that were possible in the last step, where there was a choice.
    offered: Vec<Happening>,
    /// The value of undefined bits after a reset.
    initial: u8,
    /// The interrupt that was entered in the last step.
    entered: Option<u8>,
    /// A register whose input changes when it has been asked for once more, and the value after that.
    next: Option<(DataAddress, u8)>,
    /// The number of times that WDR was executed.
    pub(crate) watchdog_restarts: usize,
}

impl World {
    /// Sets the input at a data address from now on.
    pub(crate) fn supply_at(&mut self, address: DataAddress, value: u8) {
        self.inputs.insert(address, value);
    }

    /// Sets the input of a register, which no program need reach, for all questions but the next one.
    pub(crate) fn change_at_second(&mut self, name: &str, value: u8) {
        self.next = Some((address(name), value));
    }

    /// Wishes that an interrupt comes in the next step.
    pub(crate) fn wish_interrupt(&mut self, name: &str) {
        self.wish = Some(Happening::Interrupt(device().interrupt(name).expect("it exists").number));
    }
}

impl Environment<u8> for World {
    fn input(&mut self, source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        let value = match source {
            Input::Register(address) => {
                let value = self.inputs.get(&address).copied().unwrap_or(0);
                if let Some((_, next)) = self.next.take_if(|(at, _)| *at == address) {
                    self.inputs.insert(address, next);
                }
                value
            }
            Input::Initial(_) => self.initial,
        };
        value & mask
    }

    fn choose(&mut self, _count: usize) -> usize {
        unreachable!("the machine says what it offers")
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        self.offered = possibilities.iter().collect();
        let wish = self.wish.unwrap_or(self.offered[0]);
        self.offered.iter().position(|happening| *happening == wish).unwrap_or(0)
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        unreachable!("concrete states have one case only")
    }

    fn event(&mut self, event: Event<'_, u8>) {
        match event {
            Event::Interrupt(number) => self.entered = Some(number),
            Event::WatchdogRestart => self.watchdog_restarts += 1,
            _ => {}
        }
    }
}

/// A machine, its state and its world.
pub(crate) struct Bench {
    pub(crate) machine: Machine,
    pub(crate) state: MachineState<u8>,
    pub(crate) world: World,
}

impl Bench {
    /// A machine with a program at [`START`] and NOPs everywhere else.
    pub(crate) fn new(program: &[Instruction]) -> Self {
        Self::with(program, Options::default())
    }

    pub(crate) fn with(program: &[Instruction], options: Options) -> Self {
        Self::at(START, program, Options { start: FlashWordAddress(START), ..options })
    }

    /// A machine with code at a flash word address and NOPs everywhere else.
    pub(crate) fn at(place: u32, program: &[Instruction], options: Options) -> Self {
        Self::filled(place, program, Some(0), options)
    }

    /// A machine with code at a flash word address and erased flash everywhere else.
    pub(crate) fn alone_at(place: u32, program: &[Instruction], options: Options) -> Self {
        Self::filled(place, program, None, options)
    }

    /// A machine with code at a flash word address and this word everywhere else.
    fn filled(place: u32, program: &[Instruction], fill: Option<u16>, options: Options) -> Self {
        let code: Vec<u16> = program.iter().flat_map(|instruction| encoded(*instruction)).collect();
        let at = |address: u32| address.checked_sub(place).and_then(|offset| code.get(offset as usize).copied());
        let word = |address: u32| at(address).or(fill);
        let device = device();
        let decoded = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, decoded, options);
        let mut world = World { initial: FILL, ..World::default() };
        let state = machine.power_on(&mut world);
        Self { machine, state, world }
    }

    /// The content of a register of the device, by name, or `NAME.BIT` as 0 or 1.
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> u8 {
        match name.split_once('.') {
            Some((register, bit)) => {
                let place = device().bit(register, bit).unwrap_or_else(|| panic!("there is no {name}"));
                *self.state.data.get(place.address) >> place.bit & 1
            }
            None => *self.state.data.get(address(name)),
        }
    }

    /// Sets stored bits behind the back of the program: `NAME.BIT`.
    #[track_caller]
    pub(crate) fn set(&mut self, names: &[&str]) {
        names.iter().for_each(|name| self.put(name, true));
    }

    #[track_caller]
    pub(crate) fn clear(&mut self, name: &str) {
        self.put(name, false);
    }

    #[track_caller]
    fn put(&mut self, name: &str, one: bool) {
        let (register, bit) = name.split_once('.').expect("NAME.BIT");
        let place = device().bit(register, bit).unwrap_or_else(|| panic!("there is no {name}"));
        let others = *self.state.data.get(place.address) & !place.mask();
        self.state.data.set(place.address, others | if one { place.mask() } else { 0 });
    }

    /// Sets the input of a register from now on, for the bits that hardware changes.
    #[track_caller]
    pub(crate) fn supply(&mut self, name: &str, value: u8) {
        self.world.inputs.insert(address(name), value);
    }

    /// The same for a register that no program reaches.
    #[track_caller]
    pub(crate) fn supply_hidden(&mut self, name: &str, value: u8) {
        let register = device().register(name).filter(|register| register.is_hidden);
        self.world.inputs.insert(register.unwrap_or_else(|| panic!("there is no {name}")).address, value);
    }

    /// Sets the value of undefined bits after the next reset.
    pub(crate) fn leave_undefined(&mut self, value: u8) {
        self.world.initial = value;
    }

    pub(crate) fn register(&self, index: u8) -> u8 {
        *self.state.data.get(DataAddress(index.into()))
    }

    pub(crate) fn cell(&self, address: DataAddress) -> u8 {
        *self.state.data.get(address)
    }

    pub(crate) fn pc(&self) -> u32 {
        self.state.control.pc.0
    }

    pub(crate) fn stack_pointer(&self) -> u16 {
        u16::from_le_bytes([self.get("SPL"), self.get("SPH")])
    }

    /// Takes a step in which the instruction is executed if that is possible, and gives its cycles.
    ///
    /// # Errors
    /// The reason why the machine stopped.
    pub(crate) fn try_step(&mut self) -> Result<u32, Stop> {
        self.try_wish(None)
    }

    fn try_wish(&mut self, wish: Option<Happening>) -> Result<u32, Stop> {
        self.world.wish = wish;
        self.world.offered.clear();
        self.world.entered = None;
        self.machine.step(&mut self.state, &mut self.world)
    }

    /// Takes steps, of which none is an interrupt.
    #[track_caller]
    pub(crate) fn run(&mut self, steps: usize) {
        for step in 0..steps {
            self.try_step().unwrap_or_else(|stop| panic!("step {step}: {stop:?}"));
            assert_eq!(self.world.entered, None, "step {step} enters no handler");
        }
    }

    /// Enters the handler of an interrupt and gives the cycles of that.
    #[track_caller]
    pub(crate) fn interrupt(&mut self, name: &str) -> u32 {
        let number = device().interrupt(name).unwrap_or_else(|| panic!("there is no {name}")).number;
        let cycles = self.try_wish(Some(Happening::Interrupt(number))).unwrap_or_else(|stop| panic!("{stop:?}"));
        assert_eq!(self.world.entered, Some(number), "the handler of {name} is entered");
        cycles
    }

    /// Lets a reset come.
    #[track_caller]
    pub(crate) fn reset(&mut self, cause: ResetCause) {
        self.try_wish(Some(Happening::Reset(cause))).unwrap_or_else(|stop| panic!("{stop:?}"));
        let offered = &self.world.offered;
        assert!(offered.contains(&Happening::Reset(cause)), "{cause:?} is offered among {offered:?}");
    }

    /// The events that are possible in the next step, by name: `go` for the next instruction (or another moment of
    /// sleep), the interrupts, and the causes of resets.
    #[track_caller]
    pub(crate) fn offers(&self) -> String {
        let (mut state, mut world) = (self.state.clone(), self.world.clone());
        (world.wish, world.entered, world.offered) = (None, None, Vec::new());
        let stop = self.machine.step(&mut state, &mut world).err();
        let single = world.entered.map_or(Happening::Continue, Happening::Interrupt);
        let happenings = if world.offered.is_empty() { vec![single] } else { world.offered };
        match stop {
            Some(stop) => format!("{stop:?}"),
            None => happenings.into_iter().map(name_of).collect::<Vec<_>>().join(" "),
        }
    }
}

fn name_of(happening: Happening) -> String {
    match happening {
        Happening::Continue => "go".to_owned(),
        Happening::Wake => "wake".to_owned(),
        Happening::Reset(cause) => format!("{cause:?}"),
        Happening::Interrupt(number) => {
            let mut all = device().interrupts.iter();
            all.find(|interrupt| interrupt.number == number).expect("it is one of the device").name.to_owned()
        }
    }
}

/// The data address of a register of the device.
#[track_caller]
pub(crate) fn address(name: &str) -> DataAddress {
    device().register(name).unwrap_or_else(|| panic!("there is no {name}")).address
}

fn io(name: &str) -> u8 {
    device().register(name).and_then(|register| register.io_address()).unwrap_or_else(|| panic!("{name} is no I/O"))
}

pub(crate) fn general(index: u8) -> Register {
    Register::new(index).expect("there are 32 registers")
}

pub(crate) const NOP: Instruction = Instruction::Nop;
pub(crate) const RETI: Instruction = Instruction::Reti;
pub(crate) const SLEEP: Instruction = Instruction::Sleep;
pub(crate) const SEI: Instruction = Instruction::Bset { flag: 7 };
pub(crate) const CLI: Instruction = Instruction::Bclr { flag: 7 };

pub(crate) fn ldi(index: u8, k: u8) -> Instruction {
    Instruction::Ldi { rd: general(index), k }
}

pub(crate) fn input(index: u8, name: &str) -> Instruction {
    Instruction::In { rd: general(index), io: io(name) }
}

pub(crate) fn out(name: &str, index: u8) -> Instruction {
    Instruction::Out { io: io(name), rr: general(index) }
}

pub(crate) fn lds(index: u8, name: &str) -> Instruction {
    Instruction::Lds { rd: general(index), address: address(name) }
}

pub(crate) fn sts(name: &str, index: u8) -> Instruction {
    Instruction::Sts { address: address(name), rr: general(index) }
}

pub(crate) fn sbi(name: &str, bit: &str) -> Instruction {
    Instruction::Sbi { io: io(name), bit: device().bit(name, bit).expect("the bit exists").bit }
}

pub(crate) fn cbi(name: &str, bit: &str) -> Instruction {
    Instruction::Cbi { io: io(name), bit: device().bit(name, bit).expect("the bit exists").bit }
}
