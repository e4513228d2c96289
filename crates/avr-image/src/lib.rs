//! AVR firmware images: Intel HEX and ELF into program memory, symbols and source lines.
//!
//! [`Image::load`] reads the file that would be flashed and says what the flash then holds, byte by byte. The content
//! decides the format. A file that is damaged, contradictory or meant for something else is refused with an
//! [`ImageError`] that says where and what to do; what is merely noteworthy is a [`Warning`].
//!
//! Any bytes may be given: sizes and counts are checked before memory is taken for them, debug information has limits
//! of its own, and no input panics.
//!
//! The crate knows no devices: the caller states the sizes of the memories in [`LoadOptions`].
//!
//! ```
//! use avr_image::{FlashWordAddress, Image, LoadOptions};
//!
//! let atmega328p = LoadOptions::new(0x8000, 0x400);
//! let image = Image::parse("blink.hex", b":02000000FFCF30\n:00000001FF\n", &atmega328p)?;
//! assert_eq!(image.program.word(FlashWordAddress(0)), Some(0xcfff));
//! # Ok::<(), avr_image::ImageError>(())
//! ```
#![forbid(unsafe_code)]

mod debug;
mod demangle;
mod elf;
mod error;
mod hex;
mod image;
mod memory;
mod placement;
mod problem;
mod section;
mod source_path;
mod symbols;
mod types;
mod warning;

pub use avr_isa::{DataAddress, EepromAddress, FlashByteAddress, FlashWordAddress};
pub use debug::SourceLine;
pub use error::{ImageError, ImageErrorKind, Position, known_part};
pub use image::{Format, Image, LoadOptions, MAX_FILE_BYTES};
pub use memory::{EepromContent, ProgramMemory};
pub use problem::{ElfProblem, HexProblem};
pub use section::{Section, SectionPlace};
pub use source_path::without_detours;
pub use symbols::{Binding, Extent, Located, Symbol, SymbolError, SymbolKind, SymbolPlace, Symbols};
pub use types::{Member, Scalar, Type};
pub use warning::{LeftOut, Region, Warning};
