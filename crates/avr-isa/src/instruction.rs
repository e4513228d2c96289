//! The decoded form of an instruction: one variant for each operation, with its operands as the hardware sees them.
//!
//! Aliases (BREQ, LSL, SEI, ...) are not variants: they are names for certain operands of an operation. LD and LDD
//! are one operation, and so are the forms of LPM. The variants are in the order of the instruction table; its rows
//! say what the fields are in the machine code, and the compiler refuses a table that does not match this type.

use crate::{DataAddress, Register};

/// One of the three registers that address data memory, each a pair of general-purpose registers.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pointer {
    /// r27:r26.
    X,
    /// r29:r28.
    Y,
    /// r31:r30.
    Z,
}

impl Pointer {
    /// The low byte's register: r26, r28 or r30. The high byte is in the next one.
    pub const fn low(self) -> Register {
        match self {
            Self::X => Register::from_low_bits(26),
            Self::Y => Register::from_low_bits(28),
            Self::Z => Register::from_low_bits(30),
        }
    }

    /// The high byte's register: r27, r29 or r31.
    pub const fn high(self) -> Register {
        self.low().next()
    }
}

/// The use of the pointer by LD and ST.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum PointerMode {
    /// Access at pointer + q, which leaves the pointer as it is. `LD Rd, Y` is q = 0; q is 0 to 63 for Y and Z and
    /// always 0 for X.
    Displacement(u8),
    /// Access at the pointer, then add one to it.
    PostIncrement,
    /// Subtract one from the pointer, then access at its new value.
    PreDecrement,
}

/// The use of the pointer into program memory by LPM and ELPM.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum LpmMode {
    /// Leave the pointer as it is.
    Plain,
    /// Add one to the pointer after the access.
    PostIncrement,
}

/// A decoded instruction.
///
/// Offsets and targets count flash **words**; offsets are relative to the word after the instruction. `io` is an I/O
/// address (the data address less 0x20). `bit` and `flag` are bit numbers 0 to 7; flags are numbered as in SREG
/// (C 0, Z 1, N 2, V 3, S 4, H 5, T 6, I 7).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the fields are described above and in the instruction table")]
pub enum Instruction {
    /// Add without carry.
    Add { rd: Register, rr: Register },
    /// Add with carry.
    Adc { rd: Register, rr: Register },
    /// Add immediate to word; `rd` is the low byte of the pair (r24, r26, r28 or r30), `k` is 0 to 63.
    Adiw { rd: Register, k: u8 },
    /// Subtract without carry.
    Sub { rd: Register, rr: Register },
    /// Subtract immediate; `rd` is r16 to r31.
    Subi { rd: Register, k: u8 },
    /// Subtract with carry.
    Sbc { rd: Register, rr: Register },
    /// Subtract immediate with carry; `rd` is r16 to r31.
    Sbci { rd: Register, k: u8 },
    /// Subtract immediate from word; `rd` is the low byte of the pair (r24, r26, r28 or r30), `k` is 0 to 63.
    Sbiw { rd: Register, k: u8 },
    /// Logical and.
    And { rd: Register, rr: Register },
    /// Logical and with immediate; `rd` is r16 to r31.
    Andi { rd: Register, k: u8 },
    /// Logical or.
    Or { rd: Register, rr: Register },
    /// Logical or with immediate; `rd` is r16 to r31.
    Ori { rd: Register, k: u8 },
    /// Exclusive or.
    Eor { rd: Register, rr: Register },
    /// One's complement.
    Com { rd: Register },
    /// Two's complement.
    Neg { rd: Register },
    /// Increment.
    Inc { rd: Register },
    /// Decrement.
    Dec { rd: Register },
    /// Multiply unsigned into r1:r0.
    Mul { rd: Register, rr: Register },
    /// Multiply signed into r1:r0; both are r16 to r31.
    Muls { rd: Register, rr: Register },
    /// Multiply signed `rd` with unsigned `rr` into r1:r0; both are r16 to r23.
    Mulsu { rd: Register, rr: Register },
    /// Fractional multiply unsigned into r1:r0; both are r16 to r23.
    Fmul { rd: Register, rr: Register },
    /// Fractional multiply signed into r1:r0; both are r16 to r23.
    Fmuls { rd: Register, rr: Register },
    /// Fractional multiply signed `rd` with unsigned `rr` into r1:r0; both are r16 to r23.
    Fmulsu { rd: Register, rr: Register },
    /// Relative jump; the offset is -2048 to 2047 words.
    Rjmp { offset: i16 },
    /// Indirect jump to the word address in Z.
    Ijmp,
    /// Extended indirect jump to the word address in EIND:Z.
    Eijmp,
    /// Jump; the target is a word address of 22 bits, of which the hardware ignores those that its PC does not have.
    Jmp { target: u32 },
    /// Relative call; the offset is -2048 to 2047 words.
    Rcall { offset: i16 },
    /// Indirect call of the word address in Z.
    Icall,
    /// Extended indirect call of the word address in EIND:Z.
    Eicall,
    /// Call; the target is a word address of 22 bits, of which the hardware ignores those that its PC does not have.
    Call { target: u32 },
    /// Return from subroutine.
    Ret,
    /// Return from interrupt; sets I.
    Reti,
    /// Skip the next instruction if the registers are equal.
    Cpse { rd: Register, rr: Register },
    /// Compare.
    Cp { rd: Register, rr: Register },
    /// Compare with carry.
    Cpc { rd: Register, rr: Register },
    /// Compare with immediate; `rd` is r16 to r31.
    Cpi { rd: Register, k: u8 },
    /// Skip the next instruction if the bit in the register is 0.
    Sbrc { rr: Register, bit: u8 },
    /// Skip the next instruction if the bit in the register is 1.
    Sbrs { rr: Register, bit: u8 },
    /// Skip the next instruction if the bit in the I/O register is 0; `io` is 0 to 31.
    Sbic { io: u8, bit: u8 },
    /// Skip the next instruction if the bit in the I/O register is 1; `io` is 0 to 31.
    Sbis { io: u8, bit: u8 },
    /// Branch if the flag is 1; the offset is -64 to 63 words.
    Brbs { flag: u8, offset: i8 },
    /// Branch if the flag is 0; the offset is -64 to 63 words.
    Brbc { flag: u8, offset: i8 },
    /// Copy a register.
    Mov { rd: Register, rr: Register },
    /// Copy a pair of registers; both fields are even, the low bytes of the pairs.
    Movw { rd: Register, rr: Register },
    /// Load immediate; `rd` is r16 to r31.
    Ldi { rd: Register, k: u8 },
    /// Load from data memory through a pointer (LD and LDD).
    Ld { rd: Register, pointer: Pointer, mode: PointerMode },
    /// Load from the data address.
    Lds { rd: Register, address: DataAddress },
    /// Store to data memory through a pointer (ST and STD).
    St { pointer: Pointer, mode: PointerMode, rr: Register },
    /// Store to the data address.
    Sts { address: DataAddress, rr: Register },
    /// Load from program memory at the byte address in Z; the form without operands has `rd` = r0.
    Lpm { rd: Register, mode: LpmMode },
    /// Load from program memory at the byte address in RAMPZ:Z; the form without operands has `rd` = r0.
    Elpm { rd: Register, mode: LpmMode },
    /// Self-programming command on the page or word that Z (RAMPZ:Z) addresses, with data in r1:r0.
    Spm,
    /// Read an I/O register; `io` is 0 to 63.
    In { rd: Register, io: u8 },
    /// Write an I/O register; `io` is 0 to 63.
    Out { io: u8, rr: Register },
    /// Push onto the stack.
    Push { rr: Register },
    /// Pop from the stack.
    Pop { rd: Register },
    /// Logical shift right.
    Lsr { rd: Register },
    /// Rotate right through carry.
    Ror { rd: Register },
    /// Arithmetic shift right.
    Asr { rd: Register },
    /// Exchange the nibbles.
    Swap { rd: Register },
    /// Set the flag in SREG.
    Bset { flag: u8 },
    /// Clear the flag in SREG.
    Bclr { flag: u8 },
    /// Set the bit in the I/O register; `io` is 0 to 31.
    Sbi { io: u8, bit: u8 },
    /// Clear the bit in the I/O register; `io` is 0 to 31.
    Cbi { io: u8, bit: u8 },
    /// Copy a bit of a register to T.
    Bst { rd: Register, bit: u8 },
    /// Copy T to a bit of a register.
    Bld { rd: Register, bit: u8 },
    /// Break into the on-chip debugger; without one attached, no operation.
    Break,
    /// No operation.
    Nop,
    /// Sleep, if SMCR.SE is set.
    Sleep,
    /// Reset the watchdog timer.
    Wdr,
}

const _: () = assert!(size_of::<Instruction>() <= 8, "decoded programs are kept as arrays of instructions");
