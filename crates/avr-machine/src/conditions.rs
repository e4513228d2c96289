//! Conditions under which a machine is looked at: the states in which the program begins, and the application besides the image.

use std::collections::BTreeMap;

use avr_isa::DataAddress;
use three_valued::TvByte;

/// Restrictions of the states in which the program begins. Only cells of the SRAM and the EEPROM and the register of reset causes
/// may be among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// The content of cells at the first start: known bits have these values, the others hold anything.
    pub first: BTreeMap<DataAddress, TvByte>,
    /// The content of cells after each later reset: one that would leave another value in a known bit does not come.
    pub later: BTreeMap<DataAddress, TvByte>,
}

/// The content of the application section, besides what the image has there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// Nothing is said: what the image does not have is erased flash.
    #[default]
    Unsaid,
    /// No application is there: the section is erased.
    Absent,
    /// Any application may be there. Runs end where it is entered: nothing happens any more.
    Any,
}
