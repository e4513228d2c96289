//! Bit patterns such as `0000 11rd dddd rrrr`.

/// The bits of an instruction. One-word patterns use the upper half only: the first word is in bits 31..16, the second
/// in bits 15..0.
#[derive(Debug)]
pub struct Pattern {
    /// Size in words, 1 or 2.
    pub words: usize,
    /// The bits that the pattern fixes.
    pub mask: u32,
    /// Their values.
    pub value: u32,
    /// The letters in it, each with its bits.
    pub fields: Vec<(char, u32)>,
}

impl Pattern {
    /// Reads a pattern of 16 or 32 characters; spaces do not count.
    pub fn parse(text: &str) -> Result<Self, String> {
        let symbols: Vec<char> = text.chars().filter(|symbol| *symbol != ' ').collect();
        if !matches!(symbols.len(), 16 | 32) {
            return Err(format!("pattern `{text}` has {} bits, not 16 or 32", symbols.len()));
        }
        let mut pattern = Self { words: symbols.len() / 16, mask: 0, value: 0, fields: Vec::new() };
        for (position, symbol) in symbols.into_iter().enumerate() {
            pattern.add(symbol, 1 << (31 - position))?;
        }
        if pattern.mask & 0xffff != 0 {
            return Err(format!("pattern `{text}` fixes bits of the second word, which decoding does not look at"));
        }
        Ok(pattern)
    }

    fn add(&mut self, symbol: char, bit: u32) -> Result<(), String> {
        match symbol {
            '0' => self.mask |= bit,
            '1' => {
                self.mask |= bit;
                self.value |= bit;
            }
            'd' | 'r' | 'K' | 'A' | 'b' | 's' | 'k' | 'q' => match self.fields.iter_mut().find(|(l, _)| *l == symbol) {
                Some((_, field)) => *field |= bit,
                None => self.fields.push((symbol, bit)),
            },
            _ => return Err(format!("`{symbol}` in a pattern is neither 0, 1 nor the letter of an operand")),
        }
        Ok(())
    }

    /// The bits of the operand with this letter; none if it does not occur.
    pub fn field(&self, letter: char) -> u32 {
        self.fields.iter().find(|(l, _)| *l == letter).map_or(0, |(_, field)| *field)
    }

    /// True if some first word matches both patterns.
    pub fn overlaps(&self, other: &Self) -> bool {
        (self.value ^ other.value) & self.mask & other.mask == 0
    }

    /// True if the first word matches.
    pub fn matches(&self, word: u16) -> bool {
        u32::from(word) << 16 & self.mask == self.value
    }
}
