//! Bytes that an instruction compares with constants.

use crate::machine::Machine;
use crate::program::Fetched;
use crate::state::MachineState;
use avr_isa::{Instruction as I, Register};
use three_valued::ByteDomain;

/// The registers that the next instruction compares, each with the constant that it compares it with. Of a word each byte
/// is one.
#[must_use]
pub fn compared_bytes<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> Vec<(Register, u8)> {
    let Fetched::Instruction { instruction, .. } = machine.program.fetch(state.control.pc) else { return Vec::new() };
    let known = |register: Register| state.data.get(register.address()).known();
    match instruction {
        I::Cpi { rd, k } | I::Subi { rd, k } | I::Sbci { rd, k } => vec![(rd, k)],
        I::Sbiw { rd, k } => vec![(rd, k), (rd.next(), 0)],
        I::Adiw { rd, k } => {
            let [low, high] = u16::from(k).wrapping_neg().to_le_bytes();
            vec![(rd, low), (rd.next(), high)]
        }
        I::Dec { rd } => vec![(rd, 1)],
        I::Inc { rd } => vec![(rd, 0xff)],
        I::And { rd, rr } if rd == rr => vec![(rd, 0)],
        I::Or { rd, rr } if rd == rr => vec![(rd, 0)],
        I::Or { rd, rr } => vec![(rd, 0), (rr, 0)],
        I::Cp { rd, rr } | I::Cpc { rd, rr } | I::Sub { rd, rr } | I::Sbc { rd, rr } | I::Cpse { rd, rr } => {
            let one = known(rr).map(|value| (rd, value));
            let other = known(rd).map(|value| (rr, value));
            one.into_iter().chain(other).collect()
        }
        _ => Vec::new(),
    }
}
