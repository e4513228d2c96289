//! The AVR instruction table with the decoder, encoder and disassembler derived from it.
#![forbid(unsafe_code)]
