//! Alphabets: the events that are seen, and the bits of their values.

use std::fmt;

/// An event that is seen, as in `write(PORTB) & 0x03`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The text of the event.
    pub event: String,
    /// The bits of its value that are seen; none where it has no value of one byte.
    pub mask: Option<u8>,
}

/// A text that is no letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterError {
    /// The mask is no number from 1 to 255.
    Mask {
        /// The text of the letter.
        letter: String,
        /// The text of the mask.
        mask: String,
    },
    /// A mask on an event that has no value of one byte.
    NoValue {
        /// The text of the event.
        event: String,
    },
}

impl fmt::Display for LetterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mask { letter, mask } => {
                write!(f, "`{letter}`: '{mask}' is no mask; write a number from 1 to 255, as in `read(PINB) & 0x04`")
            }
            Self::NoValue { event } => {
                write!(f, "`{event}` has no value of one byte, so no bits of it can be chosen; leave the mask out")
            }
        }
    }
}

impl fmt::Display for Letter {
    /// The event, with the mask where not all bits of its value are seen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event)?;
        match self.mask {
            Some(mask) if mask != u8::MAX => write!(f, " & {mask:#04x}"),
            _ => Ok(()),
        }
    }
}

impl Letter {
    /// The event of a text, and its mask if it has one.
    ///
    /// # Errors
    /// If what follows `&` is no mask.
    pub fn parse(text: &str) -> Result<(String, Option<u8>), LetterError> {
        let Some((event, mask)) = text.rsplit_once('&').filter(|(event, _)| is_closed(event)) else {
            return Ok((text.trim().to_owned(), None));
        };
        match number(mask.trim()) {
            Some(bits) if bits > 0 => Ok((event.trim().to_owned(), Some(bits))),
            _ => Err(LetterError::Mask { letter: text.to_owned(), mask: mask.trim().to_owned() }),
        }
    }

    /// The bits that are seen, each as a mask.
    pub(crate) fn bits(&self) -> impl Iterator<Item = u8> + '_ {
        (0..8).map(|bit| 1 << bit).filter(|bit| self.mask.unwrap_or(0) & bit != 0)
    }

    /// The text of an atom: the event with this bit set.
    pub(crate) fn bit_atom(&self, bit: u8) -> String {
        format!("{} & {bit:#04x} == {bit:#04x}", self.event)
    }
}

/// True if all parentheses are closed.
fn is_closed(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
}

/// A number of one byte in decimal, hexadecimal or binary notation.
fn number(text: &str) -> Option<u8> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ => (text, 10),
    };
    u8::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

/// The events that are seen, in the order in which those of one step count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    /// The letters.
    pub letters: Vec<Letter>,
}

impl Alphabet {
    /// The texts of the events.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        self.letters.iter().map(|letter| letter.event.clone()).collect()
    }

    /// The atoms that tell what is seen of a step: of each letter the event, and the bits of its value.
    #[must_use]
    pub fn atoms(&self) -> Vec<String> {
        let of_letter = |letter: &Letter| -> Vec<String> {
            std::iter::once(letter.event.clone()).chain(letter.bits().map(|bit| letter.bit_atom(bit))).collect()
        };
        self.letters.iter().flat_map(of_letter).collect()
    }

    /// The formula that is decided only where all of these atoms are known in all states. It is true of every firmware.
    #[must_use]
    pub fn known(&self) -> String {
        let parts: Vec<String> = self.atoms().iter().map(|atom| format!("({atom} || !({atom}))")).collect();
        format!("AG ({})", parts.join(" && "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Letter, LetterError};

    #[test]
    fn letters_have_masks() {
        let read = |text| Letter::parse(text);
        assert_eq!(read("write(PORTB)"), Ok(("write(PORTB)".to_owned(), None)));
        assert_eq!(read(" read(PINB) & 0x04"), Ok(("read(PINB)".to_owned(), Some(4))));
        assert_eq!(read("read(PINB)&0b11"), Ok(("read(PINB)".to_owned(), Some(3))));
        assert_eq!(read("write(mem[0x100 & 0x1ff])"), Ok(("write(mem[0x100 & 0x1ff])".to_owned(), None)));
        for wrong in ["read(PINB) & 0", "read(PINB) & 256", "read(PINB) & x", "read(PINB) & +1", "read(PINB) &"] {
            assert!(matches!(read(wrong), Err(LetterError::Mask { .. })), "{wrong}");
        }
    }
}
