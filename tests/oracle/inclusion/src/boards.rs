//! The devices that generated programs are for: names by avr-libc, and instructions that let interrupts in.

use avr_machine::device::Device;

use crate::subjects::{COMMON, OTHERS, device};

/// An interrupt: its vector, what lets it in, and its flag as I/O register and bit, if SBI reaches it.
#[derive(Clone, Copy)]
pub(crate) struct Interrupt {
    /// The name of avr-libc, without `_vect`.
    name: &'static str,
    pub(crate) vector: u8,
    pub(crate) enabled: &'static [&'static str],
    pub(crate) flag: Option<(&'static str, &'static str)>,
    /// Instructions that let it in, and keep it away, from within a handler.
    pub(crate) switch: Option<(&'static str, &'static str)>,
    /// The load into r24 that ends its request.
    pub(crate) load: Option<&'static str>,
}

/// The facts that a generated program needs of its device.
pub(crate) struct Board {
    pub(crate) name: &'static str,
    pub(crate) interrupts: &'static [Interrupt],
    /// The number of the first of two interrupts that tasks are switched by, and of the other, as indices.
    pub(crate) timer: usize,
    /// The instruction that stores r16 where the sense control of external interrupts is.
    pub(crate) edges: &'static str,
    /// Instructions that enable sleep.
    pub(crate) sleep: [&'static str; 2],
    /// An I/O register that is storage, within reach of SBI.
    pub(crate) storage: &'static str,
    /// The flags of timer 0, if SBI reaches them; else their register.
    pub(crate) timer_flags: (&'static str, bool),
    /// True if there is SPH, and EEARH.
    pub(crate) has_high_bytes: bool,
    pub(crate) has_products: bool,
    /// A high byte of pointers into SRAM, and the base of low bytes with the mask of what is added.
    pub(crate) words: (u8, u8, u8),
}

/// A name with the number of the vector.
type Vector = (&'static str, u8);

const fn plain((name, vector): Vector, enabled: &'static [&'static str]) -> Interrupt {
    Interrupt { name, vector, enabled, flag: None, switch: None, load: None }
}

const fn flagged(vector: Vector, enabled: &'static [&'static str], flag: (&'static str, &'static str)) -> Interrupt {
    Interrupt { flag: Some(flag), ..plain(vector, enabled) }
}

const INT0: Interrupt =
    Interrupt { switch: Some(("EIMSK", "INT0")), ..flagged(("INT0", 1), &["sbi EIMSK, INT0"], ("EIFR", "INTF0")) };
const INT1: Interrupt =
    Interrupt { switch: Some(("EIMSK", "INT1")), ..flagged(("INT1", 2), &["sbi EIMSK, INT1"], ("EIFR", "INTF1")) };

const fn pin_change(vector: u8) -> Interrupt {
    flagged(("PCINT0", vector), &["ldi r16, 1", "sts PCICR, r16", "sts PCMSK0, r16"], ("PCIFR", "PCIF0"))
}

const fn timer_0(vector: u8) -> Interrupt {
    flagged(("TIMER0_OVF", vector), &["ldi r16, 1", "sts TIMSK0, r16", "out TCCR0B, r16"], ("TIFR0", "TOV0"))
}

const fn timer_1(vector: u8) -> Interrupt {
    flagged(("TIMER1_OVF", vector), &["ldi r16, 1", "sts TIMSK1, r16", "sts TCCR1B, r16"], ("TIFR1", "TOV1"))
}

const fn timer_2(vector: u8) -> Interrupt {
    plain(("TIMER2_OVF", vector), &["ldi r16, 1", "sts TIMSK2, r16", "sts TCCR2B, r16"])
}

const fn timer_3(vector: u8) -> Interrupt {
    plain(("TIMER3_OVF", vector), &["ldi r16, 1", "sts TIMSK3, r16", "sts TCCR3B, r16"])
}

const fn receiver(vector: Vector) -> Interrupt {
    Interrupt { load: Some("lds r24, UDR0"), ..plain(vector, &["ldi r16, 0x90", "sts UCSR0B, r16"]) }
}

const fn eeprom(vector: Vector) -> Interrupt {
    Interrupt { switch: Some(("EECR", "EERIE")), ..plain(vector, &["sbi EECR, EERIE"]) }
}

const TINY_INT0: Interrupt = plain(("INT0", 1), &["in r16, GIMSK", "ori r16, 1 << INT0", "out GIMSK, r16"]);
const TINY_PIN_CHANGE: Interrupt =
    plain(("PCINT0", 2), &["ldi r16, 1", "out PCMSK, r16", "in r16, GIMSK", "ori r16, 1 << PCIE", "out GIMSK, r16"]);

const MEGA: Board = Board {
    name: COMMON,
    interrupts: &[
        INT0,
        INT1,
        pin_change(3),
        timer_1(13),
        timer_0(16),
        receiver(("USART_RX", 18)),
        eeprom(("EE_READY", 22)),
        timer_2(9),
    ],
    timer: 4,
    edges: "sts EICRA, r16",
    sleep: ["ldi r16, 1", "out SMCR, r16"],
    storage: "GPIOR0",
    timer_flags: ("TIFR0", true),
    has_high_bytes: true,
    has_products: true,
    words: (2, 0, u8::MAX),
};

const TINY: Board = Board {
    edges: "out MCUCR, r16",
    sleep: ["ldi r16, 0x20", "out MCUCR, r16"],
    timer_flags: ("TIFR0", false),
    has_products: false,
    ..MEGA
};

const BOARDS: [Board; 9] = [
    MEGA,
    Board { name: "atmega168p", ..MEGA },
    Board { name: "atmega88p", ..MEGA },
    Board {
        name: "atmega2560",
        interrupts: &[
            INT0,
            INT1,
            pin_change(9),
            timer_1(20),
            timer_0(23),
            receiver(("USART0_RX", 25)),
            eeprom(("EE_READY", 30)),
            timer_2(15),
            timer_3(35),
        ],
        ..MEGA
    },
    Board {
        name: "atmega1284p",
        interrupts: &[
            INT0,
            INT1,
            pin_change(4),
            timer_1(15),
            timer_0(18),
            receiver(("USART0_RX", 20)),
            eeprom(("EE_READY", 25)),
            timer_2(11),
        ],
        ..MEGA
    },
    Board {
        name: "atmega32u4",
        interrupts: &[
            INT0,
            INT1,
            pin_change(9),
            timer_1(20),
            timer_0(23),
            Interrupt {
                load: Some("lds r24, UDR1"),
                ..plain(("USART1_RX", 25), &["ldi r16, 0x90", "sts UCSR1B, r16"])
            },
            eeprom(("EE_READY", 30)),
            timer_3(35),
        ],
        ..MEGA
    },
    Board {
        name: "attiny85",
        interrupts: &[
            TINY_INT0,
            TINY_PIN_CHANGE,
            plain(
                ("TIMER0_OVF", 5),
                &["in r16, TIMSK", "ori r16, 1 << TOIE0", "out TIMSK, r16", "ldi r16, 1", "out TCCR0B, r16"],
            ),
            plain(
                ("TIMER1_OVF", 4),
                &["in r16, TIMSK", "ori r16, 1 << TOIE1", "out TIMSK, r16", "ldi r16, 1", "out TCCR1, r16"],
            ),
            eeprom(("EE_RDY", 6)),
        ],
        timer: 2,
        timer_flags: ("TIFR", false),
        ..TINY
    },
    Board {
        name: "attiny84",
        interrupts: &[
            TINY_INT0,
            plain(
                ("PCINT0", 2),
                &["ldi r16, 1", "out PCMSK0, r16", "in r16, GIMSK", "ori r16, 1 << PCIE0", "out GIMSK, r16"],
            ),
            plain(("TIM0_OVF", 11), &["ldi r16, 1", "out TIMSK0, r16", "out TCCR0B, r16"]),
            flagged(("TIM1_OVF", 8), &["ldi r16, 1", "out TIMSK1, r16", "out TCCR1B, r16"], ("TIFR1", "TOV1")),
            eeprom(("EE_RDY", 14)),
        ],
        timer: 2,
        ..TINY
    },
    Board {
        name: "attiny13",
        interrupts: &[
            TINY_INT0,
            TINY_PIN_CHANGE,
            plain(("TIM0_OVF", 3), &["ldi r16, 1 << TOIE0", "out TIMSK0, r16", "ldi r16, 1", "out TCCR0B, r16"]),
            eeprom(("EE_RDY", 4)),
        ],
        timer: 2,
        storage: "DIDR0",
        has_high_bytes: false,
        words: (0, 0x60, 0x1f),
        ..TINY
    },
];

impl Board {
    pub(crate) fn named(name: &str) -> &'static Self {
        BOARDS.iter().find(|board| board.name == name).expect("each device has a board")
    }

    /// The board of the program with a seed: two of five programs are for another device than the ATmega328P.
    pub(crate) fn of_program(seed: u64) -> &'static Self {
        match seed % 5 {
            0 => Self::other(2 * (seed / 5)),
            4 => Self::other(2 * (seed / 5) + 1),
            _ => Self::named(COMMON),
        }
    }

    /// The board of the kernel with a seed: one of four is for another device, if that has both halves of SP, which a kernel writes.
    pub(crate) fn of_kernel(seed: u64) -> &'static Self {
        let board = if seed % 4 == 2 { Self::other(seed / 4) } else { Self::named(COMMON) };
        if board.has_high_bytes { board } else { Self::named(COMMON) }
    }

    fn other(number: u64) -> &'static Self {
        Self::named(OTHERS[(number % OTHERS.len() as u64) as usize])
    }

    /// Its device.
    pub(crate) fn device(&self) -> &'static Device {
        device(self.name)
    }

    /// The bytes of a return address.
    pub(crate) fn return_bytes(&self) -> u8 {
        self.device().core.pc_bytes
    }

    /// True if there are JMP and CALL.
    pub(crate) fn has_long_jumps(&self) -> bool {
        self.device().memory.flash_bytes > 0x2000
    }

    /// True if there is code that a program counter of 16 bits does not reach.
    pub(crate) fn has_far_code(&self) -> bool {
        self.return_bytes() > 2
    }

    /// The table of vectors. Those that a program does not define lead to 0. A number that is not that of avr-libc is an error.
    pub(crate) fn vectors(&self) -> String {
        let numbers = self.interrupts.iter().map(|Interrupt { name, vector, .. }| {
            format!("#if {name}_vect_num != {vector}\n#error \"{name} has another number\"\n#endif\n")
        });
        let jump = if self.has_long_jumps() { "jmp" } else { "rjmp" };
        let last = self.device().interrupts.iter().map(|interrupt| interrupt.number).max().unwrap_or(0);
        let vector = |number| format!("        .weak vector_{number}\n        {jump} vector_{number}\n");
        format!("{}        {jump} start\n{}", numbers.collect::<String>(), (1..=last).map(vector).collect::<String>())
    }
}
