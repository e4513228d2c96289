//! The environment of a node in one step: what the wires supply, and all answers to what they leave open.

use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::device::BitRef;
use avr_machine::{Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question};
use avr_properties::EventRecorder;
use three_valued::{ByteDomain, Truth, TvByte};

use crate::faults::{Fault, is_on};
use crate::wire::Uart;

/// The most cells that a store through an unknown pointer may select.
const MOST_TARGETS: usize = 256;

/// The player that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The world around the system, in this step.
    World,
    /// The hardware, in a way that the model leaves open.
    Hardware,
    /// The stored state, or the data sheet where it leaves something open: nobody chooses.
    State,
}

/// A question and the answer that a script gives to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) chooser: Chooser,
    index: u32,
    count: u32,
}

/// The bits of a register of pins that wires supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pins {
    /// The register.
    pub(crate) address: DataAddress,
    /// The bits at the ends of wires.
    pub(crate) wired: u8,
    /// Their levels as far as they are known.
    pub(crate) level: TvByte,
    /// Those that nothing drives.
    pub(crate) floating: u8,
}

/// The content of the receiver of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Received {
    /// The oldest character.
    pub(crate) first: Option<TvByte>,
    /// True if a character may be reported as lost.
    pub(crate) overrun: bool,
}

/// The content of the transmitter of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sending {
    /// True if its buffer is empty.
    pub(crate) is_empty: bool,
    /// The flag that tells that everything is sent.
    pub(crate) is_sent: Truth,
}

/// The inputs that the wires supply to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Supply {
    pub(crate) pins: Vec<Pins>,
    pub(crate) received: Option<Received>,
    pub(crate) sending: Option<Sending>,
}

/// The numbers of the interrupts of a UART.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UartInterrupts {
    pub(crate) received: Option<u8>,
    pub(crate) empty: Option<u8>,
    pub(crate) sent: Option<u8>,
}

impl UartInterrupts {
    /// True if the wire says that an interrupt is requested, or may be, false if it says that it is not; none if wires say nothing of it.
    fn requested(self, number: u8, supply: &Supply) -> Option<bool> {
        let number = Some(number);
        match (supply.received, supply.sending) {
            (Some(has), _) if number == self.received => Some(has.first.is_some()),
            (_, Some(has)) if number == self.empty => Some(has.is_empty),
            (_, Some(has)) if number == self.sent => Some(has.is_sent != Truth::False),
            _ => None,
        }
    }

    /// Those that wires request for certain, and that are enabled, as bits of their numbers.
    pub(crate) fn standing(self, supply: &Supply, is_enabled: &dyn Fn(u8) -> bool) -> u128 {
        let is_sent = supply.sending.is_some_and(|has| has.is_sent == Truth::True);
        let all = [self.received, self.empty, self.sent.filter(|_| is_sent)].into_iter().flatten();
        let standing = all.filter(|number| self.requested(*number, supply) == Some(true) && is_enabled(*number));
        standing.fold(0, |bits, number| bits | 1 << number)
    }
}

/// The values of a domain: how they are made of what is known, and how their events are told.
pub(crate) trait Values: ByteDomain {
    /// The value with these bits; none if the domain has no unknown ones.
    fn of(bits: TvByte) -> Option<Self>;
    /// Tells an event.
    fn tell(recorder: &mut EventRecorder<'_>, event: Event<'_, Self>);
}

impl Values for TvByte {
    fn of(bits: TvByte) -> Option<Self> {
        Some(bits)
    }

    fn tell(recorder: &mut EventRecorder<'_>, event: Event<'_, Self>) {
        recorder.note(event);
    }
}

impl Values for u8 {
    fn of(bits: TvByte) -> Option<Self> {
        bits.known()
    }

    fn tell(recorder: &mut EventRecorder<'_>, event: Event<'_, Self>) {
        let known = |value: &u8| TvByte::constant(*value);
        match event {
            Event::Read(cell, value) => recorder.note(Event::Read(cell, &known(value))),
            Event::Write(cell, value) => recorder.note(Event::Write(cell, &known(value))),
            Event::PerhapsRead(cell, value) => recorder.note(Event::PerhapsRead(cell, &known(value))),
            Event::PerhapsWrite(cell, value) => recorder.note(Event::PerhapsWrite(cell, &known(value))),
            Event::Call(target) => recorder.note(Event::Call(target)),
            Event::Return(target, left) => recorder.note(Event::Return(target, left)),
            Event::Interrupt(number) => recorder.note(Event::Interrupt(number)),
            Event::WatchdogRestart => recorder.note(Event::WatchdogRestart),
        }
    }
}

/// The accesses of a step to what wires are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accesses {
    /// Something was read that a wire supplies.
    pub(crate) looked: bool,
    /// A character was read.
    pub(crate) read: bool,
    /// A character was written, with what is known of it.
    pub(crate) written: Option<TvByte>,
    /// The flag that tells that everything is sent was cleared.
    pub(crate) cleared: Truth,
    /// It is not known whether a character was read or written.
    pub(crate) is_unclear: bool,
    /// The machine was reset.
    pub(crate) is_reset: bool,
    /// A value was needed that is not known, in a domain that has none.
    pub(crate) is_unknown: bool,
    /// Something happened, or did not, that the hardware determines or the data sheet leaves open, besides what a wire requests.
    rests_on_model: bool,
}

impl Default for Accesses {
    fn default() -> Self {
        Self {
            looked: false,
            read: false,
            written: None,
            cleared: Truth::False,
            is_unclear: false,
            is_reset: false,
            is_unknown: false,
            rests_on_model: false,
        }
    }
}

/// An environment that answers from a script and extends it with first answers.
pub(crate) struct Surroundings<'a> {
    supply: &'a Supply,
    uart: Option<Uart>,
    interrupts: UartInterrupts,
    /// True if inputs that no wire supplies are distinguished by their values wherever they are read.
    splits: bool,
    pub(crate) script: Vec<Answer>,
    position: usize,
    /// The number of the initial content, where one is chosen.
    content: Option<u8>,
    /// The input bits that no wire supplied, where concrete values are asked for: register, bits and value.
    pub(crate) inputs: Vec<(DataAddress, u8, u8)>,
    pub(crate) recorder: EventRecorder<'a>,
    pub(crate) accesses: Accesses,
    /// The interrupts that do not wait any more, as bits of their numbers.
    settled: u128,
}

impl<'a> Surroundings<'a> {
    pub(crate) fn new(
        supply: &'a Supply,
        (uart, interrupts): (Option<Uart>, UartInterrupts),
        splits: bool,
        recorder: EventRecorder<'a>,
    ) -> Self {
        let (script, accesses) = (Vec::new(), Accesses::default());
        let (content, inputs) = (None, Vec::new());
        let (position, settled) = (0, 0);
        Self { supply, uart, interrupts, splits, script, position, content, inputs, recorder, accesses, settled }
    }

    /// The same where these interrupts do not wait any more if a wire requests them, as bits of their numbers.
    ///
    /// The processor looks for requests at the end of each instruction (instruction set manual and data sheet, "Interrupt Response Time").
    /// A request that stood, enabled, before the last instruction began was seen at its end. Of one that came since, nothing tells if it
    /// came in time, or during the instruction that is next. So the next step cannot be that instruction, nor the entry of
    /// an interrupt of lower priority, if a request is settled; it may be either if none is. `SEI`, `RETI` and handlers are not
    /// the matter of this: while they hold interrupts off, the machine offers none.
    ///
    /// Proofs do not use that: the states of a node do not tell since when a line requests something, and each interrupt may wait
    /// in them for any number of instructions. That is more than the hardware does, in members of one hyper-edge.
    pub(crate) fn with_settled(self, settled: u128) -> Self {
        Self { settled: if is_on(Fault::RequestsWait) { 0 } else { settled }, ..self }
    }

    /// The same with an initial content.
    pub(crate) fn with_content(self, number: u8) -> Self {
        Self { content: Some(number), ..self }
    }

    /// The same with a script.
    pub(crate) fn answering(self, script: Vec<Answer>) -> Self {
        Self { script, ..self }
    }

    /// Begins the next run of the step.
    pub(crate) fn begin(&mut self) {
        self.position = 0;
        self.accesses = Accesses::default();
        self.inputs.clear();
        self.recorder.clear();
    }

    /// Turns to the next script; false when all were tried.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(last) = self.script.last_mut() {
            last.index += 1;
            if last.index < last.count {
                return true;
            }
            self.script.pop();
        }
        false
    }

    fn answer(&mut self, chooser: Chooser, count: usize) -> usize {
        if self.position == self.script.len() {
            self.script.push(Answer { chooser, index: 0, count: count as u32 });
        }
        let answer = self.script[self.position];
        self.position += 1;
        answer.index as usize
    }

    /// True if the hardware would determine what a script chose in the last run of the step.
    pub(crate) fn rests_on_model(&self) -> bool {
        let asked = &self.script[..self.position];
        let is_chosen = asked.iter().any(|answer| answer.chooser == Chooser::Hardware);
        (is_chosen || self.accesses.rests_on_model) && !is_on(Fault::HardwareIsWorld)
    }

    /// A value with these bits, of which those in `open` are any, as the player of each bit chooses.
    fn made<V: Values>(&mut self, known: TvByte, open: u8, chooser: impl Fn(u8) -> Chooser, is_split: bool) -> V {
        let whole = V::of(TvByte::new(known.value() & !open, known.known_mask() & !open));
        if let Some(value) = whole.filter(|_| !is_split || open == 0) {
            return value;
        }
        let mut value = known.value() & !open;
        let unknown = known.unknown_mask() & !open;
        for bit in (0..8).filter(|bit| open >> bit & 1 == 1) {
            value |= (self.answer(chooser(1 << bit), 2) as u8) << bit;
        }
        V::of(TvByte::new(value, !unknown)).unwrap_or_else(|| {
            self.accesses.is_unknown = true;
            V::constant(value & !unknown)
        })
    }

    /// The pin of a receiver that a line comes to.
    fn line_pin(&self) -> Option<BitRef> {
        let uart = self.uart.filter(|_| self.supply.received.is_some() && !is_on(Fault::LinePinIsWorld))?;
        uart.receiver_pin
    }

    /// The bits of a register that wires supply when a player determines them, those of them that are any, and all of them.
    fn wired(&self, address: DataAddress, mask: u8, by: DeterminedBy) -> (TvByte, u8, u8) {
        if let Some(pins) = self.supply.pins.iter().find(|pins| pins.address == address) {
            // A pin that is an output, or became an input just now, is not read from the wire.
            let wired = if by == DeterminedBy::Environment { pins.wired & mask } else { 0 };
            let level = TvByte::new(pins.level.value() & wired, pins.level.known_mask() | !wired);
            return match is_on(Fault::FloatingIsLow) {
                true => (TvByte::new(level.value(), level.known_mask() | pins.floating & wired), 0, wired),
                false => (level, pins.floating & wired, wired),
            };
        }
        // A UART without a clock has registers that do not read as they are (data sheet, "PRR").
        let uart = self.uart.filter(|_| by != DeterminedBy::Undefined || is_on(Fault::StoppedIsRead));
        let Some(uart) = uart else { return (TvByte::constant(0), 0, 0) };
        let bit = |mask: u8, value: bool| if value { mask } else { 0 };
        if address == uart.data
            && let Some(Received { first: Some(first), .. }) = self.supply.received
        {
            return (TvByte::new(first.value() & mask, first.known_mask() | !mask), 0, mask);
        }
        if address != uart.status {
            return (TvByte::constant(0), 0, 0);
        }
        let (mut value, mut unknown, mut wired) = (0, 0, 0);
        if let Some(received) = self.supply.received {
            wired |= Uart::RECEIVED | Uart::FRAME_ERROR | Uart::PARITY_ERROR | Uart::OVERRUN;
            value |= bit(Uart::RECEIVED, received.first.is_some());
            // With which character the loss is reported the data sheet does not say clearly.
            unknown |= bit(Uart::OVERRUN, received.overrun);
        }
        if let Some(sending) = self.supply.sending {
            wired |= Uart::EMPTY | Uart::SENT;
            value |= bit(Uart::EMPTY, sending.is_empty) | bit(Uart::SENT, sending.is_sent == Truth::True);
            unknown |= bit(Uart::SENT, sending.is_sent == Truth::Unknown);
        }
        let wired = wired & mask;
        (TvByte::new(value & wired & !unknown, !(unknown & wired)), 0, wired)
    }
}

impl<V: Values> Environment<V> for Surroundings<'_> {
    fn most_targets(&self) -> usize {
        MOST_TARGETS
    }

    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> V {
        let (level, floating, wired) = match source {
            Input::Register(address) => self.wired(address, mask, by),
            Input::Initial(_) => (TvByte::constant(0), 0, 0),
        };
        if let (Input::Initial(address), Some(number)) = (source, self.content) {
            return content::<V>(number, address).and(&V::constant(mask));
        }
        self.accesses.looked |= wired != 0;
        let is_split = matches!(source, Input::Register(_)) && (self.splits || demand == Demand::Decides);
        let open = mask & !wired | floating;
        // The content at the start is no choice of anybody.
        let line = self.line_pin();
        let chooser = |mask: u8| match source {
            // The receiver's pin has the levels of frames, which are not followed.
            Input::Register(address) if line == Some(BitRef { address, bit: mask.trailing_zeros() as u8 }) => {
                Chooser::Hardware
            }
            Input::Register(_) => chooser(by),
            Input::Initial(_) => Chooser::World,
        };
        let value: V = self.made(level, open, chooser, is_split);
        if let (Input::Register(address), Some(value), true) = (source, value.known(), open != 0) {
            self.inputs.push((address, open, value & open));
        }
        value
    }

    fn choose(&mut self, count: usize) -> usize {
        self.answer(Chooser::World, count)
    }

    /// Interrupts that a wire requests come or wait, unless they are settled; those that it does not request do not come.
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let all: Vec<Happening> = possibilities.iter().collect();
        let told = |happening: &Happening| match happening {
            Happening::Interrupt(number) => self.interrupts.requested(*number, self.supply),
            _ => None,
        };
        let told: Vec<Option<bool>> = all.iter().map(told).collect();
        self.accesses.looked |= told.iter().any(Option::is_some);
        let is_undefined = |index: usize| possibilities.determined_by(all[index]) == DeterminedBy::Undefined;
        let is_settled = |index: usize| match all[index] {
            Happening::Interrupt(number) => {
                told[index] == Some(true) && self.settled >> number & 1 == 1 && !is_undefined(index)
            }
            _ => false,
        };
        let is_unknown = self.supply.sending.is_some_and(|has| has.is_sent == Truth::Unknown);
        let doubtful = self.interrupts.sent.filter(|_| is_unknown).map(Happening::Interrupt);
        let is_doubtful = |index: usize| doubtful == Some(all[index]);
        let first = (0..all.len()).find(|index| is_settled(*index));
        let is_possible = |index: usize| match (all[index], first) {
            (Happening::Continue, Some(_)) => false,
            // Those of higher priority have the lower numbers.
            (Happening::Interrupt(_), Some(first)) => index <= first && told[index] != Some(false),
            _ => told[index] != Some(false),
        };
        let possible: Vec<usize> = (0..all.len()).filter(|index| is_possible(*index)).collect();
        let chosen = match possible.as_slice() {
            // The machine offers nothing else: a request that it has stored stands.
            [] => 0,
            [only] => *only,
            several => {
                let is_told = several.iter().any(|index| told[*index] == Some(true));
                let is_of_hardware = |index: &usize| match told[*index] {
                    Some(true) => is_undefined(*index) || is_doubtful(*index),
                    _ => chooser(possibilities.determined_by(all[*index])) == Chooser::Hardware,
                };
                let of_hardware = several.iter().any(is_of_hardware);
                self.accesses.rests_on_model |= of_hardware;
                let chooser = match (is_told, of_hardware) {
                    (true, _) => Chooser::State,
                    (false, true) => Chooser::Hardware,
                    (false, false) => Chooser::World,
                };
                several[self.answer(chooser, several.len())]
            }
        };
        // Concrete states do not take what nobody knows.
        self.accesses.is_unknown |= is_doubtful(chosen);
        self.accesses.is_reset = matches!(all[chosen], Happening::Reset(_));
        chosen
    }

    fn case(&mut self, count: usize, _: Question<'_, V>) -> usize {
        self.answer(Chooser::State, count)
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.recorder.moves(from, to)
    }

    fn event(&mut self, event: Event<'_, V>) {
        if let Some(uart) = self.uart {
            match event {
                Event::Read(address, _) if address == uart.data => self.accesses.read = true,
                Event::Write(address, value) if address == uart.data => self.accesses.written = Some(value.bits()),
                Event::Write(address, value) if address == uart.status => {
                    self.accesses.cleared = bit_of(value.bits(), Uart::SENT);
                }
                Event::PerhapsWrite(address, _) if address == uart.status => self.accesses.cleared = Truth::Unknown,
                Event::Interrupt(number) if self.interrupts.sent == Some(number) => self.accesses.cleared = Truth::True,
                Event::PerhapsRead(address, _) | Event::PerhapsWrite(address, _) if address == uart.data => {
                    self.accesses.is_unclear = true;
                }
                _ => {}
            }
        }
        V::tell(&mut self.recorder, event);
    }
}

/// A bit of a byte.
fn bit_of(byte: TvByte, mask: u8) -> Truth {
    match byte.known_mask() & mask {
        0 => Truth::Unknown,
        _ => Truth::from(byte.value() & mask != 0),
    }
}

/// The player of a script for one of the machine.
fn chooser(by: DeterminedBy) -> Chooser {
    match by {
        DeterminedBy::Environment => Chooser::World,
        DeterminedBy::EnvironmentInTime | DeterminedBy::Hardware | DeterminedBy::Undefined => Chooser::Hardware,
    }
}

/// The value of a byte of the initial content with this number: all 0, all 1, or mixed.
fn content<V: Values>(number: u8, address: DataAddress) -> V {
    V::constant(match number {
        0 => 0,
        1 => 0xff,
        _ => (u32::from(address.0).wrapping_add(u32::from(number) << 16)).wrapping_mul(0x9e37_79b1).to_le_bytes()[3],
    })
}
