//! The device tables that are built in, each read when it is first asked for.

use std::sync::OnceLock;

use super::resolve::{Loaded, TableError, load, load_restriction, load_variant};
use super::{Device, UnknownDevice};

/// A built-in table.
pub(super) struct Table {
    /// Name of the device.
    pub(super) name: &'static str,
    /// Text of its file.
    pub(super) text: &'static str,
    /// The device, once it has been read.
    device: OnceLock<Device>,
}

/// The table in the file `isa-tables/devices/<name>.ron`: below a link in the repository, a copy in a package.
macro_rules! table {
    ($name:literal) => {
        Table {
            name: $name,
            text: include_str!(concat!("../../isa-tables/devices/", $name, ".ron")),
            device: OnceLock::new(),
        }
    };
}

/// All tables.
pub(super) static TABLES: [Table; 10] = [
    table!("atmega328p"),
    table!("atmega328p-gpio"),
    table!("atmega168p"),
    table!("atmega88p"),
    table!("atmega1284p"),
    table!("atmega2560"),
    table!("atmega32u4"),
    table!("attiny85"),
    table!("attiny13"),
    table!("attiny84"),
];

/// The largest number of names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;

impl Device {
    /// The device of this name, in lower case as [`Device::names`] lists it. Each table is read once.
    ///
    /// # Errors
    /// [`UnknownDevice`] if there is no table for it.
    pub fn named(name: &str) -> Result<&'static Self, UnknownDevice> {
        let table = TABLES.iter().find(|table| table.name == name).ok_or_else(|| unknown(name))?;
        Ok(table.device.get_or_init(|| read(table).expect("the built-in tables are valid: a test reads them all")))
    }

    /// The names of all devices.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLES.iter().map(|table| table.name)
    }
}

/// Reads a table, and first the one that it is based on.
pub(super) fn read(table: &Table) -> Result<Device, TableError> {
    match load(table.text)? {
        Loaded::Device(device) => Ok(*device),
        Loaded::Restriction(restriction) => load_restriction(text_of(restriction.base)?, &restriction),
        Loaded::Variant(variant) => load_variant(text_of(variant.base)?, *variant),
    }
}

/// The text of the table with this name.
fn text_of(base: &str) -> Result<&'static str, TableError> {
    let base_table = TABLES.iter().find(|table| table.name == base);
    base_table.map(|table| table.text).ok_or_else(|| TableError::unknown("base device", base))
}

/// The error for a name that no table has.
fn unknown(name: &str) -> UnknownDevice {
    let mut nearest: Vec<_> = Device::names().collect();
    nearest.sort_by_key(|known| edit_distance(&name.to_lowercase(), known));
    nearest.truncate(MAX_SUGGESTIONS);
    UnknownDevice { name: name.to_owned(), nearest }
}

/// The number of insertions, deletions and replacements of characters that turn one text into the other.
pub(crate) fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, character) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
