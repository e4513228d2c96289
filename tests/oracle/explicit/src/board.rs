//! The devices that programs are for, after avr-libc.
//!
//! Programs are made for the ATmega328P: they have its data addresses until they are written down, and its numbers of interrupts (1 to 3).

use crate::program::{CELLS, EICRA, EIMSK, GPIOR0, Op, PCICR, PCMSK0, PINB, PORTB};

/// The interrupts: INT0, INT1 and PCINT0 by their numbers on the ATmega328P.
const NAMES: [&str; 4] = ["RESET", "INT0", "INT1", "PCINT0"];

/// An interrupt of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupt {
    pub(crate) name: &'static str,
    /// The word address of its vector.
    pub(crate) vector: u16,
    /// True if PCICR enables it; else it is EIMSK, or GIMSK.
    pub(crate) is_in_pcicr: bool,
    /// The bit there.
    pub(crate) mask: u8,
}

/// A device.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) name: &'static str,
    /// The words of a vector, and the bytes of a return address.
    pub(crate) vector_words: u16,
    pub(crate) return_bytes: u8,
    /// The numbers of the vectors of INT0, INT1 (0 if there is none) and PCINT0.
    numbers: [u16; 3],
    /// The bits in GIMSK of INT0 and PCINT0, where there is GIMSK and SBI does not reach it.
    pub(crate) general: Option<[u8; 2]>,
    /// The register of the bits of INT0 and INT1 as formulas have it, without bits that hardware changes.
    pub(crate) enables: &'static str,
    /// A value for the register of sense control.
    pub(crate) edges: u8,
    /// The pins of port B.
    pub(crate) pins: u8,
    pub(crate) top: u16,
    first_cell: u16,
    /// Data addresses of PINB, PORTB, GPIOR0, of the register of sense control, and of EIMSK, PCICR and PCMSK0.
    addresses: [u16; 7],
}

const MEGA: Board = Board {
    name: "atmega328p",
    vector_words: 2,
    return_bytes: 2,
    numbers: [1, 2, 3],
    general: None,
    enables: "EIMSK",
    edges: 0x0a,
    pins: 0xff,
    top: 0x8ff,
    first_cell: 0x100,
    addresses: [PINB, PORTB, GPIOR0, EICRA, EIMSK, PCICR, PCMSK0],
};

/// The sense control is in MCUCR, and GIMSK enables both interrupts.
const TINY: Board = Board {
    name: "attiny85",
    vector_words: 1,
    numbers: [1, 0, 2],
    general: Some([0x40, 0x20]),
    enables: "GIMSK",
    edges: 0x02,
    pins: 0x3f,
    top: 0x25f,
    first_cell: 0x60,
    addresses: [0x36, 0x38, 0x31, 0x55, 0x5b, 0x5b, 0x35],
    ..MEGA
};

/// The ATtiny13 has no register for storage that SBI reaches.
pub(crate) static BOARDS: [Board; 8] = [
    MEGA,
    Board { name: "atmega2560", return_bytes: 3, numbers: [1, 2, 9], top: 0x21ff, first_cell: 0x200, ..MEGA },
    TINY,
    Board { name: "atmega88p", vector_words: 1, top: 0x4ff, ..MEGA },
    Board {
        name: "attiny84",
        general: Some([0x40, 0x10]),
        pins: 0x0f,
        addresses: [0x36, 0x38, 0x33, 0x55, 0x5b, 0x5b, 0x32],
        ..TINY
    },
    Board { name: "atmega1284p", numbers: [1, 2, 4], top: 0x40ff, ..MEGA },
    Board { name: "atmega32u4", numbers: [1, 2, 9], enables: "EIMSK & 0x4f", top: 0xaff, ..MEGA },
    Board { name: "atmega168p", top: 0x4ff, ..MEGA },
];

impl Board {
    /// The board of the program with a seed: two of seven are for another device than the ATmega328P.
    pub(crate) fn of(seed: u64) -> &'static Self {
        let others = BOARDS.len() as u64 - 1;
        let number = match seed % 7 {
            3 => 1 + (2 * (seed / 7)) % others,
            5 => 1 + (2 * (seed / 7) + 1) % others,
            _ => 0,
        };
        &BOARDS[number as usize]
    }

    /// The interrupts that it has, by their numbers on the ATmega328P.
    pub(crate) fn interrupts(&self) -> Vec<u16> {
        (1..=3).filter(|interrupt| self.number(*interrupt) != 0).collect()
    }

    /// The number of the vector of an interrupt.
    pub(crate) fn number(&self, interrupt: u16) -> u16 {
        self.numbers[usize::from(interrupt) - 1]
    }

    /// The number of vectors that a program has, reset included.
    pub(crate) fn vectors(&self) -> u16 {
        self.numbers[2] + 1
    }

    /// One of its interrupts.
    pub(crate) fn interrupt(&self, interrupt: u16) -> Interrupt {
        let (is_in_pcicr, mask) = match (self.general, interrupt) {
            (Some([external, _]), 1) => (false, external),
            (Some([_, change]), _) => (false, change),
            (None, 3) => (true, 1),
            (None, _) => (false, interrupt as u8),
        };
        let vector = self.vector_words * self.number(interrupt);
        Interrupt { name: NAMES[usize::from(interrupt)], vector, is_in_pcicr, mask }
    }

    /// A jump to anywhere in a program, as long as a vector.
    pub(crate) fn jump(&self, target: u16) -> Op {
        if self.vector_words == 2 { Op::Jmp(target) } else { Op::Rjmp(target) }
    }

    /// The data address that this device has for one of the ATmega328P.
    pub(crate) fn address(&self, address: u16) -> u16 {
        if CELLS.contains(&address) {
            return self.first_cell + (address - CELLS[0]);
        }
        let place = MEGA.addresses.iter().position(|one| *one == address);
        place.map_or(address, |place| self.addresses[place])
    }
}
