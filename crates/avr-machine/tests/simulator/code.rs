//! Machine code for the programs of these tests, after the opcodes of the Instruction Set Manual.

pub(crate) const BREAK: u16 = 0x9598;
pub(crate) const NOP: u16 = 0x0000;
pub(crate) const RETI: u16 = 0x9518;
pub(crate) const SEI: u16 = 0x9478;
pub(crate) const SLEEP: u16 = 0x9588;
pub(crate) const WDR: u16 = 0x95a8;

/// LDI, with a register from 16 to 31.
pub(crate) const fn ldi(register: u16, value: u8) -> u16 {
    0xe000 | (value as u16 & 0xf0) << 4 | (register - 16) << 4 | value as u16 & 0xf
}

/// IN, with a data address.
pub(crate) const fn input(register: u16, address: u16) -> u16 {
    let io = address - 0x20;
    0xb000 | (io & 0x30) << 5 | register << 4 | io & 0xf
}

/// OUT, with a data address.
pub(crate) const fn out(address: u16, register: u16) -> u16 {
    input(register, address) | 0x0800
}

/// LDS.
pub(crate) const fn lds(register: u16, address: u16) -> [u16; 2] {
    [0x9000 | register << 4, address]
}

/// STS.
pub(crate) const fn sts(address: u16, register: u16) -> [u16; 2] {
    [0x9200 | register << 4, address]
}

/// ST X+.
pub(crate) const fn store(register: u16) -> u16 {
    0x920d | register << 4
}

/// SBRS.
pub(crate) const fn skip_if_set(register: u16, bit: u16) -> u16 {
    0xfe00 | register << 4 | bit
}

/// SBRC.
pub(crate) const fn skip_if_clear(register: u16, bit: u16) -> u16 {
    0xfc00 | register << 4 | bit
}

/// INC.
pub(crate) const fn inc(register: u16) -> u16 {
    0x9403 | register << 4
}

/// RJMP, with an offset in words from the next instruction.
pub(crate) const fn rjmp(offset: i16) -> u16 {
    0xc000 | offset as u16 & 0xfff
}

/// Instructions one after the other.
pub(crate) fn program(parts: &[&[u16]]) -> Vec<u16> {
    parts.concat()
}

/// A program that begins at word address 0x34, with a handler of three words at each given vector.
pub(crate) fn with_handlers(handlers: &[(usize, u16)], main: &[u16]) -> Vec<u16> {
    let mut code = vec![RETI; 0x34];
    code[0] = rjmp(0x33);
    for (vector, instruction) in handlers {
        code[2 * vector] = *instruction;
        code[2 * vector + 1] = RETI;
    }
    code.extend(main);
    code
}
