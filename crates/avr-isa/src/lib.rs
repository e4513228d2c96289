//! The AVR instruction table with the decoder, encoder and disassembler derived from it.
//!
//! `isa-tables/instructions.txt` has one row for each encoding; the build script checks it and makes the static tables
//! that all functions of this crate look into. [`Instruction`] is the one hand-written list of operations; the
//! compiler refuses a table that does not match it. What instructions *do* is the executor's business, not this
//! crate's.
//!
//! ```
//! use avr_isa::{FeatureSet, Instruction, decode};
//!
//! let instruction = decode(0xcffe, None, FeatureSet::AVR5)?;
//! assert_eq!(instruction, Instruction::Rjmp { offset: -2 });
//! assert_eq!(instruction.disassemble(0x6c, &|_| None).to_string(), "rjmp\t.-4\t; 0x6a");
//! # Ok::<(), avr_isa::DecodeError>(())
//! ```
#![forbid(unsafe_code)]

mod address;
mod columns;
mod control_flow;
mod decode;
mod disassemble;
mod effect;
mod encode;
mod feature;
mod instruction;
mod memory_access;
mod register;
mod table;

pub use address::{DataAddress, EepromAddress, FlashByteAddress, FlashWordAddress};
pub use control_flow::{CodeSpace, ControlFlow};
pub use decode::{DecodeError, DecodeErrorKind, decode, is_two_words};
pub use disassemble::Disassembly;
pub use effect::{Cycles, FlagSet};
pub use encode::{EncodeError, Encoded};
pub use feature::{Feature, FeatureSet};
pub use instruction::{Instruction, LpmMode, Pointer, PointerMode};
pub use memory_access::{Addressing, MemoryAccess, io_address};
pub use register::{Register, RegisterSet};
pub use table::Opcode;
