//! Addresses of the memories, each with a type of its own.
//!
//! The AVR core counts flash in 16-bit words, the tools count it in bytes; mixing the two up is the classic mistake. Each
//! conversion is here once: no other module multiplies or divides an address by 2 (`tests/architecture/tests/suite/addresses.rs`).

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
    /// A byte of the data space: registers, I/O and SRAM, without the linker's offset 0x800000. The cells that a state of
    /// the machine has beside them, such as those of the EEPROM, go on behind RAMEND.
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

impl DataAddress {
    /// The first I/O register, behind the general-purpose registers.
    pub const IO: Self = Self(0x20);

    /// The address of the cell with this index; the counterpart of [`Self::index`].
    ///
    /// # Panics
    /// If the index has more than 16 bits, which no cell has.
    #[inline]
    #[must_use]
    pub const fn of_index(index: usize) -> Self {
        debug_assert!(index <= u16::MAX as usize, "a data address has 16 bits");
        Self(index as u16)
    }

    /// The address as an index into what is kept for each cell.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The address that two bytes hold.
    #[inline]
    #[must_use]
    pub const fn of_bytes(low: u8, high: u8) -> Self {
        Self(u16::from_le_bytes([low, high]))
    }

    /// The low byte.
    #[inline]
    #[must_use]
    pub const fn low(self) -> u8 {
        self.0 as u8
    }

    /// The high byte.
    #[inline]
    #[must_use]
    pub const fn high(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The address this many bytes on.
    #[inline]
    #[must_use]
    pub const fn wrapping_add(self, bytes: u16) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// The address this many bytes back.
    #[inline]
    #[must_use]
    pub const fn wrapping_sub(self, bytes: u16) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }

    /// The address this many bytes on; none beyond 16 bits.
    #[inline]
    #[must_use]
    pub fn checked_add(self, bytes: u16) -> Option<Self> {
        self.0.checked_add(bytes).map(Self)
    }

    /// The address this many bytes on, at most the last one of 16 bits.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, bytes: u16) -> Self {
        Self(self.0.saturating_add(bytes))
    }

    /// The address this many bytes back, at least the first one.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, bytes: u16) -> Self {
        Self(self.0.saturating_sub(bytes))
    }

    /// The number of bytes from another address to this one; none if this one is below.
    #[inline]
    #[must_use]
    pub const fn offset_from(self, base: Self) -> Option<u16> {
        self.0.checked_sub(base.0)
    }

    /// The addresses from this one to another, which is excluded.
    #[inline]
    pub fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + use<> {
        (self.0..end.0).map(Self)
    }

    /// The addresses from this one to another, both included.
    #[inline]
    pub fn through(self, last: Self) -> impl DoubleEndedIterator<Item = Self> + Clone + use<> {
        (self.0..=last.0).map(Self)
    }
}

impl From<FlashWordAddress> for FlashByteAddress {
    fn from(word: FlashWordAddress) -> Self {
        word.byte()
    }
}

/// The number, as `{:#06x}` asks for.
impl fmt::LowerHex for DataAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}
