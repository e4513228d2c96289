//! Numbers, texts and lists from a stream of bytes that may be anything.

use std::io::{ErrorKind, Read};

use crate::error::{ReadError, ReadErrorKind};

/// The largest part of a text or a list that is reserved before it is read.
const CHUNK: usize = 1 << 12;

/// A stream that keeps account of the memory that its content takes.
pub(crate) struct Source<R> {
    input: R,
    /// Bytes that may still be taken.
    left: usize,
    limit: usize,
}

/// The error for a certificate that makes no sense.
pub(crate) fn damaged(what: impl Into<String>) -> ReadError {
    ReadErrorKind::Damaged(what.into()).into()
}

/// The error for a failed read: bytes that end or do not decompress are damage, the rest is the system's.
pub(crate) fn failed(error: std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::UnexpectedEof => damaged("it ends too early"),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => damaged("its content does not decompress"),
        _ => ReadErrorKind::Io(error).into(),
    }
}

impl<R: Read> Source<R> {
    /// A source whose content may take `limit` bytes of memory.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, left: limit, limit }
    }

    /// Accounts for memory.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(ReadErrorKind::TooLarge { limit: self.limit }.into()),
        }
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ReadError> {
        self.input.read_exact(bytes).map_err(failed)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ReadError> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    pub(crate) fn flag(&mut self) -> Result<bool, ReadError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(damaged(format!("{other} is neither yes nor no"))),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64, ReadError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits.checked_shl(shift).is_none_or(|shifted| shifted >> shift != bits) {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged("a number is too large"))
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize, what: &str) -> Result<u32, ReadError> {
        let number = self.number()?;
        let known = usize::try_from(number).is_ok_and(|number| number < end);
        let number = u32::try_from(number).ok().filter(|_| known);
        number.ok_or_else(|| damaged(format!("there is no such {what}")))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ReadError> {
        self.below(1 << 16, "address").map(|number| number as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ReadError> {
        u32::try_from(self.number()?).map_err(|_| damaged("a number is too large"))
    }

    /// A number that was written as its difference from another one.
    pub(crate) fn near(&mut self, other: u32) -> Result<u32, ReadError> {
        let folded = self.number()?;
        let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        let sum = i64::from(other).checked_add(difference);
        sum.and_then(|sum| u32::try_from(sum).ok()).ok_or_else(|| damaged("a number is out of range"))
    }

    pub(crate) fn option(&mut self) -> Result<Option<u32>, ReadError> {
        let number = self.number()?;
        let value = number.checked_sub(1).map(u32::try_from).transpose();
        value.map_err(|_| damaged("a number is too large"))
    }

    /// Bytes, as many as the number before them says.
    pub(crate) fn bytes(&mut self, length: usize) -> Result<Vec<u8>, ReadError> {
        self.charge(length)?;
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let start = bytes.len();
            bytes.resize(length.min(start + CHUNK), 0);
            self.fill(&mut bytes[start..])?;
        }
        Ok(bytes)
    }

    pub(crate) fn length(&mut self) -> Result<usize, ReadError> {
        let length = self.number()?;
        usize::try_from(length).map_err(|_| ReadErrorKind::TooLarge { limit: self.limit }.into())
    }

    pub(crate) fn text(&mut self) -> Result<String, ReadError> {
        let length = self.length()?;
        String::from_utf8(self.bytes(length)?).map_err(|_| damaged("a text is no UTF-8"))
    }

    /// A list after its length.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let length = self.length()?;
        self.items(length, &mut read)
    }

    /// So many items.
    pub(crate) fn items<T>(
        &mut self,
        length: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        // Every item takes memory even if it is empty, so that a false length is noticed early.
        let needed = length.checked_mul(size_of::<T>().max(1)).ok_or(ReadErrorKind::TooLarge { limit: self.limit })?;
        self.charge(needed)?;
        let mut items = Vec::with_capacity(length.min(CHUNK));
        for _ in 0..length {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Makes sure that nothing follows; gives the stream back.
    pub(crate) fn finish(mut self) -> Result<R, ReadError> {
        match self.input.read(&mut [0]).map_err(failed)? {
            0 => Ok(self.input),
            _ => Err(damaged("something follows after its end")),
        }
    }
}
