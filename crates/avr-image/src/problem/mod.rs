//! Problems of the two file formats, as errors name them.

mod elf;
mod hex;

pub use elf::ElfProblem;
pub use hex::HexProblem;
