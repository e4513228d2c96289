//! Wires between nodes: what drives them, and the characters on serial lines.

use std::ops::RangeInclusive;

use avr_isa::DataAddress;
use avr_machine::device::{BitRef, Device};
use three_valued::{Truth, TvByte};

use crate::faults::{Fault, is_on};

/// Bits that let a peripheral take pins over from their ports, by the name of their register, for all devices together. Where one may be
/// set, the levels of pins are not known.
const TAKEN_OVER: &[(&str, u8)] = &[
    ("TCCR0A", 0xf0),
    ("TCCR1A", 0xfc),
    ("TCCR2A", 0xf0),
    ("TCCR3A", 0xfc),
    ("TCCR4A", 0xfc),
    ("TCCR4C", 0x0c),
    ("TCCR5A", 0xfc),
    ("TCCR1", 0x30),
    ("GTCCR", 0x30),
    ("SPCR", 0x40),
    ("TWCR", 0x04),
    ("ASSR", 0x20),
    ("USICR", 0x30),
    // Synchronous modes, and a master of the SPI: the clock has a pin.
    ("UCSR0C", 0xc0),
    ("UCSR1C", 0xc0),
    ("UCSR2C", 0xc0),
    ("UCSR3C", 0xc0),
];

/// The pins of a port that a UART takes over while its receiver or transmitter may be on, or a character may be on its way that was sent
/// before the transmitter was switched off, by the names of its control register and of what tells of such characters, for all devices together.
const SERIAL: &[(&str, &str, &str, RangeInclusive<u8>)] = &[
    ("UCSR0B", "USART transfer", "PORTD", 0..=1),
    ("UCSR0B", "USART transfer", "PORTE", 0..=1),
    ("UCSR1B", "USART1 transfer", "PORTD", 2..=3),
    ("UCSR2B", "USART2 transfer", "PORTH", 0..=1),
    ("UCSR3B", "USART3 transfer", "PORTJ", 0..=1),
];
/// `SENT` and `MORE_SENT`.
const ON_THEIR_WAY: u8 = 0x03;

/// A pin that is read or driven by a wire, with the bits that decide about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The number of the node.
    pub(crate) node: usize,
    /// The bit of PINx.
    pub(crate) pin: BitRef,
    /// The bit of DDRx: 1 if the port drives the pin.
    pub(crate) direction: BitRef,
    /// The bit of PORTx: the level that the port drives, or the pull-up of an input.
    pub(crate) port: BitRef,
}

/// A wire from a pin to a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PinWire {
    pub(crate) from: End,
    pub(crate) to: End,
    /// The level while nothing drives the wire, if a resistor gives one.
    pub(crate) idle: Option<bool>,
}

/// A serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of the sending node.
    pub(crate) from: usize,
    /// The number of the receiving node.
    pub(crate) to: usize,
    /// The characters that the receiver keeps behind its shift register.
    pub(crate) buffer: usize,
}

/// The registers of a UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uart {
    pub(crate) data: DataAddress,
    pub(crate) status: DataAddress,
    pub(crate) control: DataAddress,
    pub(crate) format: DataAddress,
    /// The baud rate.
    pub(crate) rate: [DataAddress; 2],
    /// The bit that switches its clock off.
    pub(crate) stopped: Option<BitRef>,
    /// The pin of the receiver (`RXD`).
    pub(crate) receiver_pin: Option<BitRef>,
}

impl Uart {
    /// The bit of the control register that switches the transmitter on (`TXEN0`).
    pub(crate) const SENDS: u8 = 0x08;
    /// The bit of the status register that doubles the baud rate (`U2X0`).
    pub(crate) const DOUBLE_SPEED: u8 = 0x02;
    pub(crate) const RECEIVED: u8 = 0x80;
    pub(crate) const SENT: u8 = 0x40;
    pub(crate) const EMPTY: u8 = 0x20;
    pub(crate) const FRAME_ERROR: u8 = 0x10;
    pub(crate) const OVERRUN: u8 = 0x08;
    pub(crate) const PARITY_ERROR: u8 = 0x04;

    /// The UART of a device; none where there is none.
    pub(crate) fn of(device: &Device) -> Option<Self> {
        let address = |name: &str| device.register(name).map(|register| register.address);
        let peripheral = device.peripherals.iter().find(|peripheral| peripheral.name == "usart0");
        Some(Self {
            data: address("UDR0")?,
            status: address("UCSR0A")?,
            control: address("UCSR0B")?,
            format: address("UCSR0C")?,
            rate: [address("UBRR0L")?, address("UBRR0H")?],
            stopped: device.bit("PRR", "PRUSART0").or(device.bit("PRR0", "PRUSART0")),
            receiver_pin: peripheral.and_then(|it| it.lines.first().copied()),
        })
    }
}

impl Uart {
    /// The bit that has changes of the receiver's pin told of: the first one of the mask of its port.
    pub(crate) fn change_mask(self, device: &Device) -> Option<BitRef> {
        let port = device.register_at(self.receiver_pin?.address)?.name;
        let mask = match port {
            "PINE" => "PCMSK1",
            _ if device.register("PCMSK3").is_some() => "PCMSK3",
            _ => "PCMSK2",
        };
        device.register(mask).map(|mask| BitRef { address: mask.address, bit: 0 })
    }
}

/// The level of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    /// This one, if it is known.
    Of(Truth),
    /// Any at any time: nothing drives it.
    Floating,
}

/// The state of a pin at the end of a wire, as its port makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PinState {
    /// The port drives the pin.
    pub(crate) drives: Truth,
    /// The level that it drives.
    pub(crate) level: Truth,
    /// A pull-up holds the pin.
    pub(crate) pulls: Truth,
}

/// The settings of the UART of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UartState {
    /// It receives; not known where characters may not have the one form that wires carry.
    pub(crate) receives: Truth,
    /// It sends, and characters have that form: eight bits, asynchronous.
    pub(crate) sends: Truth,
    /// A frame that is on its way is not broken: characters have that form, and there is a clock.
    pub(crate) keeps_frames: Truth,
    /// It has a clock.
    pub(crate) is_clocked: Truth,
    /// The settings that frames depend on: the format, with parity and stop bits, and the baud rate.
    pub(crate) settings: [TvByte; 4],
}

/// A bit of a state.
pub(crate) fn bit(read: &dyn Fn(DataAddress) -> TvByte, bit: BitRef) -> Truth {
    let byte = read(bit.address);
    match byte.known_mask() & bit.mask() {
        0 => Truth::Unknown,
        _ => Truth::from(byte.value() & bit.mask() != 0),
    }
}

impl End {
    /// The state of the pin in a state of its node, of which `read` gives the cells.
    pub(crate) fn state(&self, device: &Device, read: &dyn Fn(DataAddress) -> TvByte) -> PinState {
        let possible = |name: &str, mask: u8| {
            let byte = device.register(name).map_or(TvByte::constant(0), |register| read(register.address));
            (byte.value() | byte.unknown_mask()) & mask != 0
        };
        let is_of = |port: &str| device.register(port).is_some_and(|it| it.address == self.port.address);
        let is_among = |port: &str, pins: &RangeInclusive<u8>| pins.contains(&self.port.bit) && is_of(port);
        let is_serial = SERIAL.iter().any(|(control, sent, port, pins)| {
            is_among(port, pins) && (possible(control, 0x18) || possible(sent, ON_THEIR_WAY))
        });
        // JTAG has the upper pins of port F where there is one, and the middle ones of port C elsewhere, unless a fuse switches it off.
        let jtag = if device.register("PORTF").is_some() { ("PORTF", 4..=7) } else { ("PORTC", 2..=5) };
        let no_jtag = device.bit("Debugging", "NO_JTAG").map_or(Truth::True, |off| bit(read, off));
        let is_taken = TAKEN_OVER.iter().any(|(name, mask)| possible(name, *mask))
            || is_serial
            || is_among(jtag.0, &jtag.1) && no_jtag != Truth::True;
        if is_taken {
            return PinState { drives: Truth::Unknown, level: Truth::Unknown, pulls: Truth::Unknown };
        }
        let (drives, level) = (bit(read, self.direction), bit(read, self.port));
        let off = device.bit("MCUCR", "PUD").map_or(Truth::False, |off| bit(read, off));
        PinState { drives, level, pulls: !drives & level & !off }
    }
}

impl PinWire {
    /// The level of the wire from a pin in this state, where a pull-up may hold the wire at some end.
    pub(crate) fn level(&self, from: PinState, pulls: Truth) -> Level {
        let undriven = match (self.idle, pulls) {
            (Some(true), _) => Level::Of(Truth::True),
            (Some(false), Truth::False) => Level::Of(Truth::False),
            (Some(false), _) => Level::Of(Truth::Unknown),
            (None, Truth::True) => Level::Of(Truth::True),
            (None, Truth::False) => Level::Floating,
            (None, Truth::Unknown) => Level::Of(Truth::Unknown),
        };
        match from.drives {
            Truth::True => Level::Of(from.level),
            Truth::False => undriven,
            Truth::Unknown if undriven == Level::Of(from.level) => undriven,
            Truth::Unknown => Level::Of(Truth::Unknown),
        }
    }
}

/// The flag of a transmitter that tells that everything is sent (`TXC0`), as hardware latches it.
///
/// It is set when a whole frame has left the shift register and the buffer is empty, and stays so until a 1 is written to it or its
/// handler is entered (ATmega328P data sheet, "UCSRnA"). A character that is written later does not clear it.
///
/// A receiver takes a character in the middle of its stop bit, and the frame of the sender ends with that bit. So where baud rates agree the flag
/// rises after the character has come, and a program that hears of the character by another wire may write the next one before: then
/// the flag does not rise for the first one. A flag that is cleared between the two rises again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Sent {
    /// The flag is 0.
    #[default]
    No,
    /// The flag is 1.
    Yes,
    /// Nothing is known of the flag.
    Unknown,
}

/// The characters on a serial line, from the transmitter's buffer to the receiver's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct LineState {
    /// The flag of the transmitter that tells that everything is sent.
    pub(crate) sent: Sent,
    /// True if the last character has come, and its frame is about to end: then the flag rises. Never where nothing is known of the flag.
    pub(crate) ending: bool,
    /// The character in the transmitter's buffer.
    pub(crate) waiting: Option<TvByte>,
    /// The character that is being sent.
    pub(crate) moving: Option<TvByte>,
    /// The characters that were received and not read, the oldest first: those of the buffer, and one in the shift register.
    pub(crate) received: Vec<TvByte>,
    /// True if a character was lost since the last one was read.
    pub(crate) overrun: bool,
}

impl LineState {
    /// The line at the start, with nothing known of the flag that tells that everything is sent. It stays so.
    pub(crate) fn of_unknown_flag() -> Self {
        Self { sent: Sent::Unknown, ..Self::default() }
    }

    /// A program writes a character. One that comes while the buffer is full is ignored (data sheet, "Sending Frames").
    pub(crate) fn write(&mut self, character: TvByte) {
        if self.waiting.is_none() {
            self.waiting = Some(character);
        }
        self.ending = false;
    }

    /// A program clears the flag that tells that everything is sent, if that is so.
    pub(crate) fn clear_sent(&mut self, clears: Truth) {
        match (self.sent, clears) {
            (Sent::Yes, Truth::True) => self.sent = Sent::No,
            (Sent::Yes, Truth::Unknown) => (self.sent, self.ending) = (Sent::Unknown, false),
            _ => {}
        }
    }

    /// The transmitter may be off: what was on the line may never be told of.
    pub(crate) fn switched_off(&mut self) {
        if !self.is_idle() || self.sent != Sent::No {
            (self.sent, self.ending) = (Sent::Unknown, false);
        }
    }

    /// The flag that tells that everything is sent.
    pub(crate) fn is_sent(&self) -> Truth {
        if is_on(Fault::SentIsIdle) {
            return Truth::from(self.waiting.is_none() && self.moving.is_none());
        }
        match self.sent {
            Sent::No => Truth::False,
            Sent::Yes => Truth::True,
            Sent::Unknown => Truth::Unknown,
        }
    }

    /// True if the line does nothing by itself.
    pub(crate) fn is_idle(&self) -> bool {
        !self.goes_on() && self.moving.is_none()
    }

    /// True if the wire carries the same characters.
    pub(crate) fn carries_same(&self, other: &Self) -> bool {
        *self == Self { sent: self.sent, ending: self.ending, ..other.clone() }
    }

    /// A program reads a character.
    pub(crate) fn read(&mut self) {
        if !self.received.is_empty() {
            self.received.remove(0);
        }
        self.overrun = false;
    }

    /// The receiver is off, and has nothing.
    pub(crate) fn flush(&mut self) {
        self.received.clear();
        self.overrun = false;
    }

    /// True if the character in the transmitter's buffer can begin to move, or the last frame can end.
    pub(crate) fn goes_on(&self) -> bool {
        self.moving.is_none() && (self.waiting.is_some() || self.ending)
    }

    /// The line after the character in the transmitter's buffer began to move, or the last frame ended.
    pub(crate) fn gone_on(&self) -> Self {
        let sent = if self.ending { Sent::Yes } else { self.sent };
        Self { waiting: None, moving: self.waiting, sent, ending: false, ..self.clone() }
    }

    /// The lines that can follow when the moving character arrives; the first is the one in which the character that is new is lost, if one
    /// is.
    ///
    /// The receiver has a buffer and a shift register. If both are full when another character begins, one is lost (data sheet, "Receiver
    /// Error Flags"), which the data sheet does not say: the new one, or the one in the shift register.
    pub(crate) fn arrived(&self, buffer: usize, is_on_now: bool) -> Vec<Self> {
        let Some(character) = self.moving else { return vec![self.clone()] };
        let ends = self.waiting.is_none() && self.sent != Sent::Unknown;
        let is_at_once = is_on(Fault::SentAtOnce);
        let ending = ends && !is_at_once && (self.sent == Sent::No || !is_on(Fault::RisesFromLowOnly));
        let sent = if ends && is_at_once { Sent::Yes } else { self.sent };
        let mut after = Self { moving: None, sent, ending, ..self.clone() };
        if is_on(Fault::CharacterDropped) {
            return vec![after];
        }
        if !is_on_now {
            return vec![after];
        }
        if after.received.len() <= buffer || is_on(Fault::NothingLost) {
            after.received.push(character);
            return vec![after];
        }
        after.overrun = true;
        let mut replaced = after.clone();
        if let Some(last) = replaced.received.last_mut() {
            *last = character;
        }
        if replaced == after { vec![after] } else { vec![after, replaced] }
    }
}
