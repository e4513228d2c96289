//! Addresses of the memories, each with a type of its own.
//!
//! The AVR core counts flash in 16-bit words, the tools count it in bytes; mixing the two up is the classic mistake. Each
//! conversion is here once: no other module multiplies or divides an address by 2 (`tests/architecture/tests/addresses.rs`).

use std::fmt;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident($repr:ty), $digits:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $digits, self.0)
            }
        }
    };
}

address!(
    /// A byte of flash, as `avr-objdump` and `avr-nm` print it.
    FlashByteAddress(u32),
    "{:#x}"
);
address!(
    /// A 16-bit word of flash, as the program counter holds it.
    FlashWordAddress(u32),
    "word {:#x}"
);
address!(
    /// A byte of the data space: registers, I/O and SRAM, without the linker's offset 0x800000.
    DataAddress(u16),
    "{:#06x}"
);
address!(
    /// A byte of the EEPROM, without the linker's offset 0x810000.
    EepromAddress(u16),
    "{:#06x}"
);

impl FlashByteAddress {
    /// The word that contains this byte.
    #[inline]
    #[must_use]
    pub const fn word(self) -> FlashWordAddress {
        FlashWordAddress(self.0 / 2)
    }

    /// True for the first byte of a word, where an instruction can begin.
    #[inline]
    #[must_use]
    pub const fn is_word_aligned(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

impl FlashWordAddress {
    /// The address of the low byte; saturates above 2³¹ words, far beyond any device.
    #[inline]
    #[must_use]
    pub const fn byte(self) -> FlashByteAddress {
        FlashByteAddress(self.0.saturating_mul(2))
    }
}

impl FlashWordAddress {
    /// The address as an index into what is kept for each word of the flash.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The address this many words on.
    #[inline]
    #[must_use]
    pub const fn wrapping_add(self, words: u32) -> Self {
        Self(self.0.wrapping_add(words))
    }

    /// The address this many words on, or back.
    #[inline]
    #[must_use]
    pub const fn wrapping_add_signed(self, words: i32) -> Self {
        Self(self.0.wrapping_add_signed(words))
    }

    /// The address this many words back.
    #[inline]
    #[must_use]
    pub const fn wrapping_sub(self, words: u32) -> Self {
        Self(self.0.wrapping_sub(words))
    }

    /// The address this many words back; none before the beginning of the flash.
    #[inline]
    #[must_use]
    pub fn checked_sub(self, words: u32) -> Option<Self> {
        self.0.checked_sub(words).map(Self)
    }

    /// The addresses from this one to another, both included.
    pub fn through(self, last: Self) -> impl DoubleEndedIterator<Item = Self> + use<> {
        (self.0..=last.0).map(Self)
    }

    /// The address with the bits that the program counter has: flash wraps.
    #[inline]
    #[must_use]
    pub const fn masked(self, pc_mask: u32) -> Self {
        Self(self.0 & pc_mask)
    }
}

impl From<FlashWordAddress> for FlashByteAddress {
    fn from(word: FlashWordAddress) -> Self {
        word.byte()
    }
}
