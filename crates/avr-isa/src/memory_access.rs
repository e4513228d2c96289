//! The memory access of an instruction: the column `memory` of the table, with its operands.

use crate::{DataAddress, Pointer, PointerMode};

/// The addressing mode of a load or store.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Addressing {
    /// The data address in the instruction.
    Direct(DataAddress),
    /// The data address in a pointer.
    Indirect {
        /// The pointer.
        pointer: Pointer,
        /// Its displacement or change.
        mode: PointerMode,
    },
}

/// The access of an instruction to data memory, program memory or the watchdog by its operation. Addresses are data addresses.
///
/// It does not have registers and flags that are read and written by name, nor the stack pointer of stack instructions.
/// It does not have the effects of accesses on peripherals either.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "`address` is the data address of an I/O register, `bit` a bit number in it, 0 to 7")]
pub enum MemoryAccess {
    /// None.
    None,
    /// A byte is loaded (LD, LDD, LDS).
    Load(Addressing),
    /// A byte is stored (ST, STD, STS).
    Store(Addressing),
    /// An I/O register is read (IN).
    LoadIo { address: DataAddress },
    /// An I/O register is written (OUT).
    StoreIo { address: DataAddress },
    /// A bit of an I/O register is read (SBIC, SBIS).
    LoadIoBit { address: DataAddress, bit: u8 },
    /// A bit of an I/O register is written (SBI, CBI).
    StoreIoBit { address: DataAddress, bit: u8 },
    /// A byte is stored at SP (PUSH).
    Push,
    /// A byte is loaded from SP + 1 (POP).
    Pop,
    /// The bytes of a return address are stored at SP and below (RCALL, CALL, ICALL, EICALL).
    PushReturnAddress,
    /// The bytes of a return address are loaded from SP + 1 on (RET, RETI).
    PopReturnAddress,
    /// A byte of program memory is read (LPM, ELPM).
    LoadFlash,
    /// Program memory is erased or written, or its buffer is (SPM).
    StoreFlash,
    /// The watchdog timer is reset (WDR).
    ResetWatchdog,
}

impl MemoryAccess {
    /// True where memory at SP is read or written, and SP changes.
    pub const fn uses_stack(self) -> bool {
        matches!(self.kind(), Kind::Push | Kind::Pop)
    }

    /// True where memory at SP is read, and SP rises.
    pub const fn pops(self) -> bool {
        matches!(self.kind(), Kind::Pop)
    }

    /// True for a load or store of data memory at any address (LD, LDD, LDS, ST, STD, STS).
    pub const fn is_load_or_store(self) -> bool {
        matches!(self.kind(), Kind::Data)
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Push | Self::PushReturnAddress => Kind::Push,
            Self::Pop | Self::PopReturnAddress => Kind::Pop,
            Self::Load(_) | Self::Store(_) => Kind::Data,
            Self::None
            | Self::LoadIo { .. }
            | Self::StoreIo { .. }
            | Self::LoadIoBit { .. }
            | Self::StoreIoBit { .. }
            | Self::LoadFlash
            | Self::StoreFlash
            | Self::ResetWatchdog => Kind::Other,
        }
    }
}

/// The kinds of accesses that matter to several analyses.
enum Kind {
    Push,
    Pop,
    Data,
    Other,
}

/// The data address of an I/O address.
pub const fn io_address(io: u8) -> DataAddress {
    DataAddress::IO.wrapping_add(io as u16)
}
