//! The world of a simulated device: peripherals that behave as the data sheet says, and what a stimulus adds.
//!
//! It only answers what the machine asks. Peripherals look at the registers between two steps; in a step they say what
//! hardware puts into a register and which interrupt is requested.

use std::collections::BTreeMap;
use std::sync::Arc;

use avr_isa::DataAddress;

use super::adc::Adc;
use super::peripheral::{NEVER, Peripheral, Signals, View};
use super::pins::Pins;
use super::spi::Spi;
use super::stimulus::{Action, Stimulus};
use super::system::{EepromTimer, WatchdogTimer};
use super::timers::Timer;
use super::twi::Twi;
use super::usart::Usart;
use crate::device::{BitKind, BitRef, ClearedBy, Device, Interrupt, Request, ResetCause};
use crate::environment::{Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question};
use crate::machine::Machine;
use crate::state::MachineState;

/// A peripheral that is modelled.
#[derive(Clone, Debug)]
enum Unit {
    Timer(Timer),
    Usart(Usart),
    Spi(Spi),
    Twi(Twi),
    Adc(Adc),
    Pins(Pins),
    Eeprom(EepromTimer),
    Watchdog(WatchdogTimer),
}

impl Unit {
    fn peripheral(&self) -> &dyn Peripheral {
        match self {
            Self::Timer(unit) => unit,
            Self::Usart(unit) => unit,
            Self::Spi(unit) => unit,
            Self::Twi(unit) => unit,
            Self::Adc(unit) => unit,
            Self::Pins(unit) => unit,
            Self::Eeprom(unit) => unit,
            Self::Watchdog(unit) => unit,
        }
    }

    fn peripheral_mut(&mut self) -> &mut dyn Peripheral {
        match self {
            Self::Timer(unit) => unit,
            Self::Usart(unit) => unit,
            Self::Spi(unit) => unit,
            Self::Twi(unit) => unit,
            Self::Adc(unit) => unit,
            Self::Pins(unit) => unit,
            Self::Eeprom(unit) => unit,
            Self::Watchdog(unit) => unit,
        }
    }
}

/// The units that a register concerns, as sets of their indices.
#[derive(Clone, Copy, Debug, Default)]
struct Concern {
    written: u32,
    read: u32,
    answered: u32,
    /// Flags, and those of them that writing 1 clears.
    flags: u8,
    write_one: u8,
    /// The bits that a unit determines as the hardware does.
    known: u8,
    /// A pulse, and the flag that is set with its end.
    ends: Option<(u8, BitRef)>,
}

/// Bits of a register that the stimulus determines.
#[derive(Clone, Copy, Debug, Default)]
struct Override {
    mask: u8,
    value: u8,
}

/// The world of a simulated device.
#[derive(Clone, Debug)]
pub(super) struct Board {
    device: &'static Device,
    units: Vec<Unit>,
    /// By data address, up to the hidden registers.
    concerns: Arc<[Concern]>,
    signals: Signals,
    overrides: BTreeMap<DataAddress, Override>,
    stimulus: Arc<Stimulus>,
    /// The next actions of the stimulus, by cycle and by step.
    next_timed: usize,
    next_counted: usize,
    /// Interrupts that the stimulus requested and that were not entered yet.
    forced: u128,
    forced_reset: Option<ResetCause>,
    /// Units that must look at the state after this step.
    touched: u32,
    writes: Vec<(DataAddress, u8)>,
    reads: Vec<DataAddress>,
    /// Clock cycles before this step.
    now: u64,
    /// The cycle of the next event of each unit by itself, and the least of them.
    dues: Vec<u64>,
    due: u64,
    due_step: u64,
    /// Level-sensed external interrupts that are requested now.
    levels: u128,
    /// True if no enabled interrupt and no reset is requested.
    quiet: bool,
    sleeping: bool,
    /// True if that began in this step.
    falls_asleep: bool,
    forsaken: bool,
}

impl Board {
    /// The world of a machine before power-on.
    pub fn new(machine: &Machine, stimulus: Arc<Stimulus>) -> Self {
        let device = machine.device;
        let units = units(machine, stimulus.clock_hertz);
        let size = device.memory.unreached_end().index();
        Self {
            concerns: concerns(device, &units).into(),
            device,
            signals: Signals { raised: vec![0; size], ..Signals::default() },
            overrides: BTreeMap::new(),
            stimulus,
            next_timed: 0,
            next_counted: 0,
            forced: 0,
            forced_reset: None,
            touched: u32::MAX,
            writes: Vec::new(),
            reads: Vec::new(),
            now: 0,
            dues: vec![0; units.len()],
            units,
            due: 0,
            due_step: 0,
            levels: 0,
            quiet: false,
            sleeping: false,
            falls_asleep: false,
            forsaken: false,
        }
    }

    /// Takes note of the end of a step.
    #[inline]
    pub fn after_step(&mut self, state: &MachineState<u8>, cycles: u64, steps: u64) {
        self.now = cycles;
        self.falls_asleep = state.control.sleeping && !self.sleeping;
        self.sleeping = state.control.sleeping;
        if self.falls_asleep {
            self.touched = u32::MAX;
        }
        if self.touched != 0 || cycles >= self.due || steps >= self.due_step {
            self.settle(state, steps);
        }
    }

    /// The stimulus.
    pub fn stimulus(&self) -> &Stimulus {
        &self.stimulus
    }

    /// True if the processor sleeps and nothing that can wake it will ever come.
    pub fn is_forsaken(&self) -> bool {
        self.forsaken
    }

    /// The bytes that the first USART sent since the last call.
    pub fn take_sent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.signals.sent)
    }

    /// Lets everything happen that is due, and shows the peripherals what the program did.
    fn settle(&mut self, state: &MachineState<u8>, steps: u64) {
        let now = self.now;
        let sleeping = self.falls_asleep;
        let view = View { cells: &state.data, writes: &self.writes, reads: &self.reads, now, sleeping };
        for (index, unit) in self.units.iter_mut().enumerate() {
            let (is_due, is_touched) = (self.dues[index] <= now, self.touched >> index & 1 == 1);
            if !is_due && !is_touched {
                continue;
            }
            let peripheral = unit.peripheral_mut();
            if is_due {
                peripheral.run(now, &mut self.signals);
            }
            if is_touched {
                peripheral.observe(&view, &mut self.signals);
            }
            self.dues[index] = peripheral.due();
            if let Unit::Pins(pins) = unit {
                self.levels = pins.levels(&view);
            }
        }
        self.touched = 0;
        self.writes.clear();
        self.reads.clear();
        self.stimulate(state, steps);
        self.quiet = self.is_left_alone(state);
        let next = self.dues.iter().copied().min().unwrap_or(NEVER);
        self.due = next.min(self.stimulus.timed(self.next_timed).map_or(NEVER, |(cycle, _)| cycle));
        self.due_step = self.stimulus.counted(self.next_counted).map_or(NEVER, |(step, _)| step);
    }

    /// Takes the actions of the stimulus that are due.
    fn stimulate(&mut self, state: &MachineState<u8>, steps: u64) {
        let stimulus = Arc::clone(&self.stimulus);
        while let Some((_, action)) = stimulus.timed(self.next_timed).filter(|(cycle, _)| *cycle <= self.now) {
            self.next_timed += 1;
            self.act(action, state);
        }
        while let Some((_, action)) = stimulus.counted(self.next_counted).filter(|(step, _)| *step <= steps) {
            self.next_counted += 1;
            self.act(action, state);
        }
    }

    fn act(&mut self, action: &Action, state: &MachineState<u8>) {
        let view = View { cells: &state.data, writes: &[], reads: &[], now: self.now, sleeping: false };
        match action {
            Action::Interrupt(number) => self.forced |= 1 << number,
            Action::Reset(cause) => self.forced_reset = Some(*cause),
            Action::Input { register, mask, value } => {
                let entry = self.overrides.entry(*register).or_default();
                *entry = Override { mask: entry.mask | mask, value: entry.value & !mask | value & mask };
            }
            Action::Release(register) => {
                self.overrides.remove(register);
            }
            Action::Pins { .. } | Action::Uart(_) | Action::Adc { .. } => {
                for (unit, due) in self.units.iter_mut().zip(&mut self.dues) {
                    act_on(unit, action, &view, &mut self.signals);
                    *due = unit.peripheral().due();
                    if let Unit::Pins(pins) = unit {
                        self.levels = pins.levels(&view);
                    }
                }
            }
        }
    }

    /// True if no enabled interrupt and no reset is requested now, neither in the state nor by the world.
    fn is_left_alone(&self, state: &MachineState<u8>) -> bool {
        let set = |bit: BitRef| state.data.get(bit.address) & bit.mask() != 0;
        let requested = |interrupt: &Interrupt| {
            set(interrupt.enable)
                && (interrupt.flag().is_none_or(set) || self.wants(Happening::Interrupt(interrupt.number)))
        };
        self.forced_reset.is_none() && !self.signals.watchdog_bites && !self.device.interrupts.iter().any(requested)
    }

    /// True if some peripheral determines bits of a register as the hardware does.
    pub(super) fn knows(&self, address: DataAddress, mask: u8) -> bool {
        let known = self.concerns.get(address.index()).map_or(0, |concern| concern.known);
        mask & !known == 0
    }

    /// True if the hardware surely has in some bits of a register what the peripherals have there.
    pub(super) fn is_exact(&self, address: DataAddress, mask: u8) -> bool {
        self.knows(address, mask) && self.units.iter().all(|unit| unit.peripheral().is_exact(address, mask, self.now))
    }

    /// The input bits of a register; the program is told of raised flags.
    fn register(&mut self, address: DataAddress, mask: u8) -> u8 {
        let Some(concern) = self.concerns.get(address.index()).copied() else { return 0 };
        let mut value = self.signals.take(address, mask);
        if concern.answered != 0 {
            value |= self.units[concern.answered.trailing_zeros() as usize].peripheral().input(address, self.now);
        }
        if let Some((pulse, flag)) = concern.ends
            && mask & !value & pulse != 0
        {
            // The program is told of the end of the operation, and so of its flag.
            self.signals.take(flag.address, flag.mask());
            self.quiet = false;
            self.touched |= 1;
        }
        if let Some(fixed) = self.overrides.get(&address) {
            value = value & !fixed.mask | fixed.value;
        }
        if value & mask & concern.flags != 0 {
            // The state may have a request now.
            self.quiet = false;
            self.touched |= 1;
        }
        value & mask
    }

    /// True if hardware has a flag at 1 that the program may not have been told of.
    fn flag(&self, flag: BitRef) -> bool {
        let answered = self.concerns.get(flag.address.index()).map_or(0, |concern| concern.answered);
        let by_unit = |index: u32| self.units[index as usize].peripheral().input(flag.address, self.now);
        let by_stimulus = self.overrides.get(&flag.address).map_or(0, |fixed| fixed.value);
        let answer = if answered == 0 { 0 } else { by_unit(answered.trailing_zeros()) };
        (answer | by_stimulus) & flag.mask() != 0 || self.signals.is_raised(flag)
    }

    /// True if something is to happen now.
    fn wants(&self, happening: Happening) -> bool {
        match happening {
            Happening::Continue | Happening::Wake => false,
            Happening::Reset(ResetCause::Watchdog) if self.signals.watchdog_bites => true,
            Happening::Reset(cause) => self.forced_reset == Some(cause),
            Happening::Interrupt(number) => {
                let flag = self.interrupt_flag(number);
                (self.forced | self.levels) >> number & 1 == 1 || flag.is_some_and(|flag| self.flag(flag))
            }
        }
    }

    fn interrupt_flag(&self, number: u8) -> Option<BitRef> {
        let mut all = self.device.interrupts.iter();
        all.find(|interrupt| interrupt.number == number).and_then(|interrupt| interrupt.flag())
    }

    /// True if something will happen at some time if the program does nothing.
    fn will_come(&self, happening: Happening) -> bool {
        match happening {
            Happening::Continue | Happening::Wake => false,
            Happening::Reset(cause) => cause == ResetCause::Watchdog || self.forced_reset == Some(cause),
            Happening::Interrupt(number) => match self.interrupt_flag(number) {
                Some(flag) => self.units.iter().any(|unit| unit.peripheral().will_raise(flag)),
                None => false,
            },
        }
    }

    /// True if everything of the stimulus has happened.
    fn is_stimulus_over(&self) -> bool {
        self.stimulus.timed(self.next_timed).is_none() && self.stimulus.counted(self.next_counted).is_none()
    }

    /// Changes the hardware as the entry into a handler does.
    fn entered(&mut self, number: u8) {
        self.forced &= !(1 << number);
        let interrupt = self.device.interrupts.iter().find(|interrupt| interrupt.number == number);
        if let Some(Request::Latched { flag }) = interrupt.map(|interrupt| &interrupt.request) {
            self.signals.raised[flag.address.index()] &= !flag.mask();
        }
        self.touched = u32::MAX;
    }

    /// A reset begins: peripherals start anew, what comes from outside stays.
    fn reset(&mut self) {
        self.forced_reset = None;
        self.signals.watchdog_bites = false;
        self.signals.raised.fill(0);
        self.touched = u32::MAX;
    }

    fn wrote(&mut self, address: DataAddress, value: u8) {
        let Some(concern) = self.concerns.get(address.index()) else { return };
        self.signals.raised[address.index()] &= !(value & concern.write_one);
        if concern.written != 0 {
            self.touched |= concern.written;
            self.writes.push((address, value));
        }
    }

    fn read(&mut self, address: DataAddress) {
        let concern = self.concerns.get(address.index()).copied().unwrap_or_default();
        if concern.read != 0 {
            self.touched |= concern.read;
            self.reads.push(address);
        }
    }
}

impl Environment<u8> for Board {
    fn input(&mut self, source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        match source {
            Input::Initial(cell) => self.stimulus.initial.get(&cell).copied().unwrap_or(0) & mask,
            Input::Register(address) => self.register(address, mask),
        }
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let mut wanted = None;
        let mut last_interrupt = 0;
        for (index, happening) in possibilities.iter().enumerate() {
            match happening {
                Happening::Reset(_) if self.wants(happening) => {
                    self.reset();
                    return index;
                }
                Happening::Interrupt(_) if wanted.is_none() && self.wants(happening) => wanted = Some(index),
                Happening::Interrupt(_) => last_interrupt = index,
                _ => {}
            }
        }
        // If going on is not possible, the last interrupt is the one that certainly is requested.
        let may_continue = possibilities.iter().next() == Some(Happening::Continue);
        if wanted.is_none() && self.sleeping && may_continue {
            self.forsaken = self.is_stimulus_over() && !possibilities.iter().any(|happening| self.will_come(happening));
        }
        wanted.unwrap_or(if may_continue { 0 } else { last_interrupt })
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    #[inline]
    fn event(&mut self, event: Event<'_, u8>) {
        match event {
            Event::Write(address, value) if address < self.device.memory.sram_start => self.wrote(address, *value),
            Event::Read(address, _) if address < self.device.memory.sram_start => self.read(address),
            Event::Interrupt(number) => self.entered(number),
            Event::WatchdogRestart => {
                for unit in &mut self.units {
                    if let Unit::Watchdog(watchdog) = unit {
                        watchdog.restart(self.now);
                    }
                }
                self.touched |= 1;
            }
            Event::Read(..)
            | Event::Write(..)
            | Event::PerhapsRead(..)
            | Event::PerhapsWrite(..)
            | Event::Call(_)
            | Event::Return(..) => {}
        }
    }
}

/// Lets an action of the stimulus act on a peripheral, if it concerns it.
fn act_on(unit: &mut Unit, action: &Action, view: &View<'_>, signals: &mut Signals) {
    match (unit, action) {
        (Unit::Pins(pins), Action::Pins { register, mask, level }) => {
            pins.drive(*register, *mask, *level, view, signals);
        }
        (Unit::Usart(usart), Action::Uart(bytes)) if usart.is_first() => {
            usart.receive(bytes, view.now);
            usart.run(view.now, signals);
        }
        (Unit::Adc(adc), Action::Adc { channel, value }) => adc.set_level(usize::from(*channel), *value),
        _ => {}
    }
}

/// The peripherals that a device has.
fn units(machine: &Machine, clock: u32) -> Vec<Unit> {
    let device = machine.device;
    let mut units: Vec<Unit> = Timer::all(machine).map(Unit::Timer).collect();
    units.extend(Usart::all(device).map(Unit::Usart));
    units.extend(Spi::new(device).map(Unit::Spi));
    units.extend(Twi::new(device).map(Unit::Twi));
    units.extend(Adc::new(device).map(Unit::Adc));
    units.push(Unit::Pins(Pins::new(machine)));
    units.extend(EepromTimer::new(device, clock).map(Unit::Eeprom));
    units.extend(WatchdogTimer::new(device, clock).map(Unit::Watchdog));
    units
}

/// The units that each register of the I/O area concerns.
fn concerns(device: &'static Device, units: &[Unit]) -> Vec<Concern> {
    let mut all = vec![Concern::default(); device.memory.unreached_end().index()];
    for (index, unit) in units.iter().enumerate() {
        let peripheral = unit.peripheral();
        peripheral.written_registers().iter().for_each(|at| all[at.index()].written |= 1 << index);
        peripheral.read_registers().iter().for_each(|at| all[at.index()].read |= 1 << index);
        peripheral.known_bits().iter().for_each(|(at, mask)| all[at.index()].known |= mask);
        peripheral.answered_registers().iter().for_each(|at| all[at.index()].answered |= 1 << index);
    }
    // Enabling an interrupt lets the world look whether it is wanted: the first unit stands for all.
    for enable in device.interrupts.iter().map(|interrupt| interrupt.enable) {
        let start = device.bit_at(enable).and_then(|bit| bit.set_by_write.as_ref());
        all[start.map_or(enable.address, |start| start.register).index()].written |= 1;
    }
    for register in &device.registers {
        for (bit, mask) in register.bits.iter().zip((0..8).map(|number| 1u8 << number)) {
            let BitKind::Flag(flag) = &bit.kind else { continue };
            all[register.address.index()].flags |= mask;
            if flag.cleared_by.contains(&ClearedBy::WriteOne) {
                all[register.address.index()].write_one |= mask;
            }
            if let Some(pulse) = flag.raised_by {
                let flag = BitRef { address: register.address, bit: mask.trailing_zeros() as u8 };
                all[pulse.address.index()].ends = Some((pulse.mask(), flag));
            }
        }
    }
    all
}
