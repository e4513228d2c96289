//! AVR firmware images: Intel HEX and ELF into program memory, symbols and source lines.
#![forbid(unsafe_code)]
