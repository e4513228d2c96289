//! The AVR instruction table with the decoder, encoder and disassembler derived from it.
#![forbid(unsafe_code)]

mod instruction;
mod register;

pub use instruction::{Instruction, LpmMode, Pointer, PointerMode};
pub use register::{Register, RegisterSet};
