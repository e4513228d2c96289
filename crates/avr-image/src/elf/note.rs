//! The note `.note.gnu.avr.deviceinfo`, in which avr-libc names the device.
//!
//! Layout (binutils `binutils/od-elf32_avr.c`): a note header (name size, description size, type) and the owner "AVR".
//! Six words follow: start and size of flash, SRAM and EEPROM. Then come the size of a table of string offsets (its own
//! size word included), that table, and the strings. The first offset names the device.

use super::container::Container;

const NOTE: &str = ".note.gnu.avr.deviceinfo";
const NOTE_HEADER_BYTES: usize = 12;
/// The place in the description where the size of the offset table stands.
const TABLE: usize = 24;
const MAX_NAME_BYTES: usize = 64;

/// The name of the device, such as `atmega328p`; `None` where the file does not say or the note makes no sense.
pub(super) fn device_name(elf: &Container<'_>) -> Option<String> {
    parse(elf.content(elf.section(NOTE)?))
}

fn parse(note: &[u8]) -> Option<String> {
    let owner_bytes = word(note, 0)?;
    let owner = note.get(NOTE_HEADER_BYTES..)?.get(..owner_bytes)?;
    if owner != b"AVR\0" {
        return None;
    }
    let description = note.get(NOTE_HEADER_BYTES + owner_bytes..)?;
    let strings = TABLE.checked_add(word(description, TABLE)?)?;
    let start = strings.checked_add(word(description, TABLE + 4)?)?;
    let name = description.get(start..)?.split(|&byte| byte == 0).next()?;
    let plausible = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.iter().all(u8::is_ascii_graphic);
    plausible.then(|| String::from_utf8_lossy(name).into_owned())
}

fn word(bytes: &[u8], offset: usize) -> Option<usize> {
    let word = bytes.get(offset..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note as avr-libc 2.0 writes it.
    fn note(owner: &[u8; 4], table: u32, offset: u32, strings: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [4, 0x2d, 1] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend(owner);
        for word in [0, 0x8000, 0x100, 0x800, 0, 0x400, table, offset] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend(strings);
        bytes
    }

    #[track_caller]
    fn check(note: &[u8], expected: Option<&str>) {
        assert_eq!(parse(note).as_deref(), expected);
    }

    #[test]
    fn a_note_names_the_device_or_nothing() {
        check(&note(b"AVR\0", 8, 1, b"\0atmega328p\0"), Some("atmega328p"));
        check(&note(b"GNU\0", 8, 1, b"\0atmega328p\0"), None);
        check(&note(b"AVR\0", u32::MAX, u32::MAX, b"\0atmega328p\0"), None);
        check(&note(b"AVR\0", 8, 0, b"\0atmega328p\0"), None);
        check(&note(b"AVR\0", 8, 1, b"\0atmega 328p\0"), None);
        check(&note(b"AVR\0", 8, 1, b"\0atmega328p\0")[..30], None);
        check(&[], None);
    }
}
