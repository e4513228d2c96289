//! Images of machine words.

use avr_image::{Image, LoadOptions};
use avr_isa::{Instruction, Register};

/// The image of a program from flash address 0 on, for a device with 32 KiB of flash and 1 KiB of EEPROM.
///
/// # Panics
/// If there are no words or too many.
#[must_use]
pub fn image(words: &[u16]) -> Image {
    let hex = hex(&bytes(words));
    Image::parse("program.hex", hex.as_bytes(), &LoadOptions::new(0x8000, 0x400)).expect("the image is valid")
}

/// Words as they lie in flash.
#[must_use]
pub fn bytes(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Content of up to 64 KiB from address 0 on as Intel HEX.
///
/// # Panics
/// If it is longer.
#[must_use]
pub fn hex(content: &[u8]) -> String {
    assert!(content.len() <= 1 << 16, "longer content needs records of another kind");
    let mut text = String::new();
    for (line, bytes) in content.chunks(16).enumerate() {
        let mut record = vec![bytes.len() as u8, (line >> 4) as u8, (line << 4) as u8, 0];
        record.extend_from_slice(bytes);
        record.push(record.iter().fold(0, |sum: u8, byte| sum.wrapping_sub(*byte)));
        let digits: String = record.iter().map(|byte| format!("{byte:02X}")).collect();
        text.push_str(&format!(":{digits}\n"));
    }
    text + ":00000001FF\n"
}

/// The words of an instruction.
///
/// # Panics
/// If an operand is none that the instruction can have.
pub fn encoded(instruction: Instruction) -> impl Iterator<Item = u16> {
    let encoded = instruction.encode().expect("it has a code");
    std::iter::once(encoded.first).chain(encoded.second)
}

/// A register by its number.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn r(number: u8) -> Register {
    Register::new(number).expect("there are 32 registers")
}

/// Machine code while it is being written, from flash address 0 on.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The words that were written.
    pub words: Vec<u16>,
}

impl Code {
    /// The beginning of a program for a device whose vectors have two words: jumps to its main part and, from the first
    /// vectors, to handlers. Targets are flash word addresses.
    #[must_use]
    pub fn with_vectors(main: u32, handlers: &[u32]) -> Self {
        let mut code = Self::default();
        code.jump(main);
        for (number, entry) in handlers.iter().enumerate() {
            code.place(2 + 2 * number as u32);
            code.jump(*entry);
        }
        code
    }

    /// Fills up with NOP to a flash word address.
    ///
    /// # Panics
    /// If the code is longer already.
    pub fn place(&mut self, address: u32) {
        assert!(self.words.len() <= address as usize, "the code before it is too long");
        self.words.resize(address as usize, 0);
    }

    /// Adds an instruction.
    pub fn add(&mut self, instruction: Instruction) {
        self.words.extend(encoded(instruction));
    }

    /// Adds a relative jump to a flash word address.
    pub fn jump(&mut self, target: u32) {
        let offset = self.offset(target);
        self.add(Instruction::Rjmp { offset });
    }

    /// Adds a relative call of a flash word address.
    pub fn call(&mut self, target: u32) {
        let offset = self.offset(target);
        self.add(Instruction::Rcall { offset });
    }

    fn offset(&self, target: u32) -> i16 {
        (i64::from(target) - self.words.len() as i64 - 1) as i16
    }

    /// Adds a reserved opcode, unless the register holds something else.
    pub fn trap(&mut self, register: u8, value: u8) {
        self.add(Instruction::Cpi { rd: r(register), k: value });
        self.add(Instruction::Brbc { flag: 1, offset: 1 });
        self.words.push(0xffff);
    }

    /// Adds what `inner` writes, and a branch round it that is taken if a flag is as said.
    pub fn unless(&mut self, flag: u8, is_set: bool, inner: impl FnOnce(&mut Self)) {
        // Calls and jumps in it are relative.
        let start = self.words.len();
        self.words.push(0);
        inner(self);
        let offset = (self.words.len() - start - 1) as i8;
        let branch = if is_set { Instruction::Brbs { flag, offset } } else { Instruction::Brbc { flag, offset } };
        self.words.splice(start..=start, encoded(branch));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_image::FlashWordAddress;

    #[test]
    fn images_hold_the_words() {
        let words: Vec<u16> = (0..0x1234).map(|word| word ^ 0x55aa).collect();
        let image = image(&words);
        let word = |address| image.program.word(FlashWordAddress(address));
        assert!((0..).zip(&words).all(|(address, expected)| word(address) == Some(*expected)));
        assert_eq!(word(words.len() as u32), None);
    }

    #[test]
    fn records_have_checksums() {
        assert_eq!(hex(&bytes(&[0xcfff])), ":02000000FFCF30\n:00000001FF\n");
        assert_eq!(hex(&[]), ":00000001FF\n");
    }

    #[test]
    fn branches_go_round_what_is_inside() {
        let mut code = Code::default();
        code.add(Instruction::Nop);
        code.unless(1, true, |code| {
            code.jump(0);
            code.call(1);
        });
        let expected = [Instruction::Brbs { flag: 1, offset: 2 }, Instruction::Rjmp { offset: -3 }];
        let expected = expected.into_iter().chain([Instruction::Rcall { offset: -3 }]);
        assert_eq!(code.words, [0].into_iter().chain(expected.flat_map(encoded)).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "too long")]
    fn code_is_not_overwritten() {
        Code { words: vec![0; 3] }.place(2);
    }
}
