//! Tests of the built-in tables, of the look-ups, and of what the loader refuses.

use three_valued::Truth;

use super::library::{TABLES, read};
use super::resolve::{Loaded, load};
use super::*;

/// The whole chip.
fn whole() -> &'static Device {
    Device::named("atmega328p").expect("a built-in device")
}

/// Its ports alone.
fn ports() -> &'static Device {
    Device::named("atmega328p-gpio").expect("a built-in device")
}

#[test]
fn every_table_is_accepted_and_has_its_name() {
    for table in &TABLES {
        match read(table) {
            Ok(device) => assert_eq!(device.name, table.name),
            Err(error) => panic!("{}: {error}", table.name),
        }
    }
}
