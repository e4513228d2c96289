//! Messages over the pipe to `stepper.c`, whose structs these are. The executor is compared in the same form.

/// Words of flash of the ATmega328P.
pub const FLASH_WORDS: usize = 0x4000;
/// Cells of data memory, registers and I/O registers included: RAMEND + 1.
pub const DATA_CELLS: usize = 0x900;
/// Data addresses of SPL, SPH and SREG.
pub const CORE: [u16; 3] = [0x5d, 0x5e, 0x5f];
/// Data address of SREG.
pub const STATUS: usize = 0x5f;
/// Data address of SPL.
pub const STACK_LOW: usize = 0x5d;
/// Pairs of operands of a block.
pub const OPERANDS: usize = 1 << 16;

/// The words of the flash.
pub type Flash = [u16; FLASH_WORDS];

/// The state before a step, beside the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// r0 to r31.
    pub registers: [u8; 32],
    /// SREG.
    pub status: u8,
    /// SP.
    pub stack_pointer: u16,
    /// Flash word address.
    pub pc: u16,
}

impl Start {
    /// Size on the pipe.
    pub const BYTES: usize = 40;

    /// As it goes over the pipe.
    pub fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.registers);
        into.extend([self.status, 0]);
        into.extend(self.stack_pointer.to_le_bytes());
        into.extend(self.pc.to_le_bytes());
        into.extend([0, 0]);
    }

    /// The 16-bit value in a register and the next one.
    pub fn pair(&self, low: u8) -> u16 {
        let low = usize::from(low);
        u16::from_le_bytes([self.registers[low], self.registers[low + 1]])
    }

    /// Sets a register and the next one.
    pub fn set_pair(&mut self, low: u8, value: u16) {
        let low = usize::from(low);
        self.registers[low..low + 2].copy_from_slice(&value.to_le_bytes());
    }
}

/// The most changed cells that are told; no instruction changes more.
pub const MOST_CHANGES: usize = 4;

/// The state after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// r0 to r31.
    pub registers: [u8; 32],
    /// SREG.
    pub status: u8,
    /// SP.
    pub stack_pointer: u16,
    /// Flash word address.
    pub pc: u32,
    /// Clock cycles of the step.
    pub cycles: u32,
    /// The number of cells other than registers, SREG and SP that changed.
    pub count: u8,
    /// The first of them by rising address, with their new values; (0, 0) behind the last.
    pub changes: [(u16, u8); MOST_CHANGES],
}

impl Outcome {
    /// Size on the pipe.
    pub const BYTES: usize = 64;

    /// Reads one of [`Self::BYTES`] bytes.
    pub fn decode(bytes: &[u8]) -> Self {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let mut registers = [0; 32];
        registers.copy_from_slice(&bytes[..32]);
        Self {
            registers,
            status: bytes[32],
            count: bytes[33],
            stack_pointer: half(34),
            pc: word(36) / 2,
            cycles: word(40),
            changes: std::array::from_fn(|index| (half(44 + 4 * index), bytes[46 + 4 * index])),
        }
    }
}

/// The kind of second operand of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// The content of the register with this number.
    Register(u8),
    /// The place of the instruction, that many words behind that of the block.
    Place,
    /// SREG.
    Status,
}

/// One instruction with all pairs of operands: the first is the content of a register and runs fastest.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Flash word address.
    pub pc: u16,
    /// Number of the register with the first operand.
    pub first: u8,
    /// The second operand.
    pub second: Second,
    /// SREG, unless it is the second operand.
    pub status: u8,
}

impl Block {
    /// As it goes over the pipe.
    pub fn encode(&self) -> [u8; 8] {
        let [low, high] = self.pc.to_le_bytes();
        let (second, meaning) = match self.second {
            Second::Register(register) => (register, 0),
            Second::Place => (0, 1),
            Second::Status => (0, 2),
        };
        [low, high, self.first, second, self.status, meaning, 0, 0]
    }

    /// The operands of a case.
    pub fn operands(case: usize) -> (u8, u8) {
        (case as u8, (case >> 8) as u8)
    }
}

/// The result of a step of a block: the register with the first operand and the next one, r0, r1, SREG, clock cycles,
/// and PC in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect(pub [u8; 8]);

/// The end of a program that ran in a simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Instructions executed.
    pub steps: u32,
    /// Clock cycles of all of them, modulo 2^32.
    pub cycles: u32,
    /// Flash word address.
    pub pc: u32,
    /// The data memory, with registers, SP and SREG.
    pub data: Vec<u8>,
}

impl End {
    /// Size on the pipe.
    pub const BYTES: usize = 16 + DATA_CELLS;

    /// Reads one of [`Self::BYTES`] bytes.
    pub fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self { steps: word(0), cycles: word(4), pc: word(8) / 2, data: bytes[16..].to_vec() }
    }
}
