//! The columns on cycles, flags and registers.

/// The flags in the order of the columns: bit 7 of SREG first.
const FLAGS: &str = "ITHSVNZC";

/// Clock cycles and what adds to them.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cycles {
    pub base: u8,
    pub if_taken: u8,
    pub per_skipped_word: u8,
    pub with_22_bit_pc: u8,
    pub varies: bool,
}

impl Cycles {
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "varies" {
            return Ok(Self { base: 1, varies: true, ..Self::default() });
        }
        let unreadable = || format!("cycles `{text}` are not a number with at most one of the additions");
        let mut words = text.split(' ');
        let base = words.next().and_then(|word| word.parse().ok()).ok_or_else(unreadable)?;
        let cycles = Self { base, ..Self::default() };
        match (words.next(), words.next(), words.next()) {
            (None, ..) => Ok(cycles),
            (Some("+1"), Some("taken"), None) => Ok(Self { if_taken: 1, ..cycles }),
            (Some("+1"), Some("skipped-word"), None) => Ok(Self { per_skipped_word: 1, ..cycles }),
            (Some("+1"), Some("pc22"), None) => Ok(Self { with_22_bit_pc: 1, ..cycles }),
            _ => Err(unreadable()),
        }
    }
}

/// The use of the flags by a row; bits as in SREG.
#[derive(Debug, Default, Clone, Copy)]
pub struct FlagUse {
    pub written: u8,
    pub set: u8,
    pub cleared: u8,
    /// The value that the flag named by operand s gets.
    pub operand_written: Option<bool>,
    pub read: u8,
    pub operand_read: bool,
}

impl FlagUse {
    pub fn parse(output: &str, input: &str) -> Result<Self, String> {
        let mut flags = Self::default();
        match output {
            "s=0" => flags.operand_written = Some(false),
            "s=1" => flags.operand_written = Some(true),
            _ => {
                flags.written = column(output, |symbol, letter| symbol == letter || matches!(symbol, '0' | '1'))?;
                flags.set = column(output, |symbol, _| symbol == '1')?;
                flags.cleared = column(output, |symbol, _| symbol == '0')?;
            }
        }
        flags.operand_read = input == "s";
        if !flags.operand_read {
            flags.read = column(input, |symbol, letter| symbol == letter)?;
        }
        Ok(flags)
    }
}

/// The flags for which `counts` holds, from eight symbols.
fn column(text: &str, counts: impl Fn(char, char) -> bool) -> Result<u8, String> {
    let valid = |(symbol, letter): (char, char)| symbol == letter || matches!(symbol, '.' | '0' | '1');
    if text.chars().count() != 8 || !text.chars().zip(FLAGS.chars()).all(valid) {
        return Err(format!("flags `{text}` are not eight of {FLAGS}, 0, 1 and ."));
    }
    let bits =
        text.chars().zip(FLAGS.chars()).fold(0, |bits, (symbol, letter)| bits << 1 | u8::from(counts(symbol, letter)));
    Ok(bits)
}

/// Registers that a row reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterUse {
    /// The register operand with this letter.
    Operand(char),
    /// That register and the next one.
    Pair(char),
    /// Fixed ones; bit n is rn.
    Fixed(u32),
}

impl RegisterUse {
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        text.split_whitespace().filter(|word| *word != "-").map(Self::parse).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "Rd" => Self::Operand('d'),
            "Rr" => Self::Operand('r'),
            "Rd+1:Rd" => Self::Pair('d'),
            "Rr+1:Rr" => Self::Pair('r'),
            "R0" => Self::Fixed(1),
            "R1:R0" => Self::Fixed(3),
            "X" | "Y" | "Z" => Self::pointer(text.chars().next().unwrap_or('Z')),
            _ => return Err(format!("register `{text}` is not one that the head of the table explains")),
        })
    }

    /// The two registers of a pointer X, Y or Z.
    pub fn pointer(name: char) -> Self {
        Self::Fixed(match name {
            'X' => 3 << 26,
            'Y' => 3 << 28,
            _ => 3 << 30,
        })
    }
}
