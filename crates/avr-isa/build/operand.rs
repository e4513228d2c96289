//! The operands of a row, as the `syntax` column writes them.

use super::pattern::Pattern;

/// The kind of value that an operand has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A register: `letter` is d or r, field value n is register `first + step * n`.
    Register {
        letter: char,
        first: u32,
        last: u32,
        step: u32,
    },
    /// A register that the instruction implies.
    FixedRegister(u32),
    Constant,
    IoAddress,
    Bit,
    Flag,
    Offset,
    Target,
    Address,
    /// Data memory at a pointer, X, Y or Z.
    Memory {
        pointer: char,
        mode: Mode,
    },
    /// Program memory at Z.
    Flash {
        increment: bool,
    },
}

/// The change of the pointer of a memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing, and no displacement can be given.
    Plain,
    /// Nothing; the displacement q is added for the access.
    Displacement,
    PostIncrement,
    PreDecrement,
}

/// An operand in its row.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    pub kind: Kind,
    /// The bits that hold it.
    pub field: u32,
    /// True if it is left out of the assembler's text.
    pub implied: bool,
    /// Its place among the operands that have a value.
    pub slot: Option<usize>,
}

impl Operand {
    /// Reads one operand; `slot` is the next free one.
    pub fn parse(text: &str, pattern: &Pattern, slot: usize) -> Result<Self, String> {
        let bare = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let kind = Kind::parse(bare.unwrap_or(text))?;
        let field = kind.letter().map_or(0, |letter| pattern.field(letter));
        let operand = Self { kind, field, implied: bare.is_some(), slot: kind.has_value().then_some(slot) };
        operand.check_width(text)?;
        Ok(operand)
    }

    fn check_width(&self, text: &str) -> Result<(), String> {
        let width = self.field.count_ones();
        if self.kind.letter().is_some() && width == 0 {
            return Err(format!("operand `{text}` has no bits in the pattern"));
        }
        match self.kind {
            Kind::Register { first, last, step, .. } if last != first + ((1 << width) - 1) * step => Err(format!(
                "operand `{text}` has {width} bits in the pattern, which do not reach from r{first} to r{last}"
            )),
            _ => Ok(()),
        }
    }
}

impl Kind {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "K" => Self::Constant,
            "A" => Self::IoAddress,
            "b" => Self::Bit,
            "s" => Self::Flag,
            "offset" => Self::Offset,
            "target" => Self::Target,
            "address" => Self::Address,
            "R0" => Self::FixedRegister(0),
            "flash:Z" => Self::Flash { increment: false },
            "flash:Z+" => Self::Flash { increment: true },
            _ => return Self::parse_memory(text).or_else(|| Self::parse_register(text)).ok_or_else(|| unknown(text)),
        })
    }

    fn parse_memory(text: &str) -> Option<Self> {
        let (pointer, mode) = match text.as_bytes() {
            [pointer] => (*pointer, Mode::Plain),
            [pointer, b'+', b'q'] => (*pointer, Mode::Displacement),
            [pointer, b'+'] => (*pointer, Mode::PostIncrement),
            [b'-', pointer] => (*pointer, Mode::PreDecrement),
            _ => return None,
        };
        matches!(pointer, b'X' | b'Y' | b'Z').then_some(Self::Memory { pointer: char::from(pointer), mode })
    }

    fn parse_register(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('R')?.chars();
        let letter = rest.next().filter(|letter| matches!(letter, 'd' | 'r'))?;
        let rest = rest.as_str();
        if rest.is_empty() {
            return Some(Self::Register { letter, first: 0, last: 31, step: 1 });
        }
        let range = rest.strip_prefix('[')?.strip_suffix(']')?;
        let (range, step) = range.split_once('/').unwrap_or((range, "1"));
        let (first, last) = range.split_once("..")?;
        let [first, last, step] = [first.parse().ok()?, last.parse().ok()?, step.parse().ok()?];
        (first <= last && last <= 31).then_some(Self::Register { letter, first, last, step })
    }

    /// The letter of the operand's bits in the pattern.
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Register { letter, .. } => Some(letter),
            Self::Constant => Some('K'),
            Self::IoAddress => Some('A'),
            Self::Bit => Some('b'),
            Self::Flag => Some('s'),
            Self::Offset | Self::Target | Self::Address => Some('k'),
            Self::Memory { mode: Mode::Displacement, .. } => Some('q'),
            Self::FixedRegister(_) | Self::Memory { .. } | Self::Flash { .. } => None,
        }
    }

    /// True if instructions of the same row can differ in this operand. X counts: its displacement is always 0.
    fn has_value(self) -> bool {
        self.letter().is_some() || matches!(self, Self::Memory { mode: Mode::Plain, .. })
    }

    /// The field of `Instruction` that holds the operand (for memory operands, the mode).
    pub fn name(self) -> &'static str {
        match self {
            Self::Register { letter: 'r', .. } => "rr",
            Self::Register { .. } | Self::FixedRegister(_) => "rd",
            Self::Constant => "k",
            Self::IoAddress => "io",
            Self::Bit => "bit",
            Self::Flag => "flag",
            Self::Offset => "offset",
            Self::Target => "target",
            Self::Address => "address",
            Self::Memory { .. } | Self::Flash { .. } => "mode",
        }
    }
}

fn unknown(text: &str) -> String {
    format!("operand `{text}` is not one that the head of the table explains")
}
