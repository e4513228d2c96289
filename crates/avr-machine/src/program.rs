//! The decoded content of the flash.

use avr_isa::{
    CodeSpace, ControlFlow, Cycles, DecodeErrorKind, FeatureSet, FlashByteAddress, FlashWordAddress, Instruction,
    decode, is_two_words,
};

/// The content of a flash word address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// An instruction, its length in words and its clock cycles when it neither branches nor skips.
    Instruction {
        /// The instruction.
        instruction: Instruction,
        /// 1 or 2.
        words: u8,
        /// Clock cycles.
        cycles: u8,
    },
    /// An opcode that the device does not implement.
    Reserved,
    /// Nothing: the image has no word here, or the instruction's second word is missing.
    Outside,
}

/// The flash, decoded once at load.
#[derive(Clone, Debug)]
pub struct Program {
    fetched: Vec<Fetched>,
    two_words: Vec<bool>,
    bytes: Vec<u8>,
}

impl Program {
    /// Decodes `flash_words` words of flash; `word` gives what the image has at a word address, none where the flash is
    /// erased.
    #[must_use]
    pub fn decode(flash_words: u32, features: FeatureSet, word: impl Fn(u32) -> Option<u16>) -> Self {
        let words: Vec<Option<u16>> = (0..flash_words).map(word).collect();
        let next = |index: usize| words[(index + 1) % words.len()];
        let fetch = |(index, first): (usize, &Option<u16>)| match first {
            Some(first) => fetched(*first, next(index), features),
            None => Fetched::Outside,
        };
        Self {
            fetched: words.iter().enumerate().map(fetch).collect(),
            two_words: words.iter().map(|word| word.is_some_and(is_two_words)).collect(),
            bytes: words.iter().flat_map(|word| word.unwrap_or(0xffff).to_le_bytes()).collect(),
        }
    }

    /// The instruction at a flash word address, modulo the size of the flash.
    #[inline]
    #[must_use]
    pub fn fetch(&self, address: FlashWordAddress) -> Fetched {
        self.fetched.get(address.index()).copied().unwrap_or(Fetched::Outside)
    }

    /// Puts what is fetched at a flash word address; bytes that LPM reads stay.
    pub(crate) fn put(&mut self, address: FlashWordAddress, fetched: Fetched) {
        if let Some(place) = self.fetched.get_mut(address.index()) {
            *place = fetched;
        }
    }

    /// The words that a skip passes over at a flash word address: 2 where the first word says so.
    #[inline]
    #[must_use]
    pub fn words_at(&self, address: FlashWordAddress) -> u32 {
        if self.two_words.get(address.index()).copied().unwrap_or(false) { 2 } else { 1 }
    }

    /// The control flow of the instruction at a flash word address, if one is there.
    #[must_use]
    pub fn control_flow(&self, address: FlashWordAddress) -> Option<ControlFlow> {
        match self.fetch(address) {
            Fetched::Instruction { instruction, .. } => Some(instruction.control_flow(address, self)),
            Fetched::Reserved | Fetched::Outside => None,
        }
    }

    /// A byte of flash as LPM reads it: erased flash is 0xff; addresses beyond the flash wrap.
    #[must_use]
    pub fn byte(&self, address: u32) -> u8 {
        self.bytes[self.wrapped(address).0 as usize]
    }

    /// The byte of flash that LPM means by an address.
    pub(crate) fn wrapped(&self, address: u32) -> FlashByteAddress {
        FlashByteAddress(address % self.bytes.len() as u32)
    }

    /// The size in words.
    #[must_use]
    pub fn words(&self) -> u32 {
        self.fetched.len() as u32
    }

    /// All addresses of words, in ascending order.
    pub fn addresses(&self) -> impl Iterator<Item = FlashWordAddress> + use<> {
        (0..self.words()).map(FlashWordAddress)
    }

    /// The instructions with their word addresses, in ascending order. Data among them are decoded as well.
    pub fn instructions(&self) -> impl Iterator<Item = (FlashWordAddress, Instruction)> + '_ {
        self.fetched.iter().enumerate().filter_map(|(address, fetched)| match fetched {
            Fetched::Instruction { instruction, .. } => Some((FlashWordAddress(address as u32), *instruction)),
            Fetched::Reserved | Fetched::Outside => None,
        })
    }
}

impl CodeSpace for Program {
    fn pc_mask(&self) -> u32 {
        self.words().next_power_of_two() - 1
    }

    fn words_at(&self, address: FlashWordAddress) -> u32 {
        self.words_at(address)
    }
}

fn fetched(first: u16, second: Option<u16>, features: FeatureSet) -> Fetched {
    match decode(first, second, features) {
        Ok(instruction) => {
            let cycles: Cycles = instruction.cycles();
            Fetched::Instruction { instruction, words: instruction.words(), cycles: cycles.not_taken(features) }
        }
        Err(error) if matches!(error.kind, DecodeErrorKind::MissingSecondWord { .. }) => Fetched::Outside,
        Err(_) => Fetched::Reserved,
    }
}
