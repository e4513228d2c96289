//! Differences between states at one location.

use crate::state::cell_variable::variable_of;
use avr_isa::DataAddress;
use three_valued::TvByte;
use tvar::Difference;

/// The flags of SREG that arithmetic and comparisons set: H, S, V, N, Z and C.
pub(crate) const COMPUTED_FLAGS: u64 = 0b0011_1111;

/// The difference of a cell in two states.
pub(crate) fn difference(address: DataAddress, one: TvByte, other: TvByte) -> Difference {
    let bits = (one.known_mask() ^ other.known_mask()) | (one.value() ^ other.value());
    let is_in_range = one.is_ranged() || other.is_ranged();
    let bits = if is_in_range { bits | one.unknown_mask() | other.unknown_mask() } else { bits };
    let content = u32::from_le_bytes(content(other));
    Difference { variable: variable_of(address), bits: bits.into(), other: content.into() }
}

/// A byte as data that distinguishes it from all others.
pub(crate) fn content(byte: TvByte) -> [u8; 4] {
    [byte.value(), byte.known_mask(), byte.low(), byte.high()]
}
