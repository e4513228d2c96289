//! The columns on control flow and memory access.

use super::operand::{Kind, Operand};

/// The continuation of a row: where execution goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Next,
    Skip,
    Branch,
    Jump,
    Call,
    IndirectJump,
    IndirectCall,
    Return,
    InterruptReturn,
    Sleep,
    Break,
}

impl Flow {
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "next" => Self::Next,
            "skip" => Self::Skip,
            "branch" => Self::Branch,
            "jump" => Self::Jump,
            "call" => Self::Call,
            "jump-z" => Self::IndirectJump,
            "call-z" => Self::IndirectCall,
            "return" => Self::Return,
            "return-interrupt" => Self::InterruptReturn,
            "sleep" => Self::Sleep,
            "break" => Self::Break,
            _ => return Err(format!("flow `{text}` is not one that the head of the table explains")),
        })
    }

    /// True where an operand says the destination.
    pub fn has_destination(self) -> bool {
        matches!(self, Self::Branch | Self::Jump | Self::Call)
    }
}

/// The memory access of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    None,
    Load,
    Store,
    LoadIo,
    StoreIo,
    LoadIoBit,
    StoreIoBit,
    Push,
    Pop,
    PushReturnAddress,
    PopReturnAddress,
    LoadFlash,
    StoreFlash,
    ResetWatchdog,
}

impl Access {
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "-" => Self::None,
            "load" => Self::Load,
            "store" => Self::Store,
            "load-io" => Self::LoadIo,
            "store-io" => Self::StoreIo,
            "load-bit" => Self::LoadIoBit,
            "store-bit" => Self::StoreIoBit,
            "push" => Self::Push,
            "pop" => Self::Pop,
            "push-pc" => Self::PushReturnAddress,
            "pop-pc" => Self::PopReturnAddress,
            "load-flash" => Self::LoadFlash,
            "store-flash" => Self::StoreFlash,
            "watchdog" => Self::ResetWatchdog,
            _ => return Err(format!("memory `{text}` is not one that the head of the table explains")),
        })
    }

    /// True where the access goes to what such an operand names.
    pub fn goes_to(self, operand: &Operand) -> bool {
        match operand.kind {
            Kind::Memory { .. } | Kind::Address => matches!(self, Self::Load | Self::Store),
            Kind::IoAddress => {
                matches!(self, Self::LoadIo | Self::StoreIo | Self::LoadIoBit | Self::StoreIoBit)
            }
            Kind::Flash { .. } => self == Self::LoadFlash,
            Kind::Register { .. }
            | Kind::FixedRegister(_)
            | Kind::Constant
            | Kind::Bit
            | Kind::Flag
            | Kind::Offset
            | Kind::Target => false,
        }
    }

    /// True where some operand must name the place.
    pub fn needs_operand(self) -> bool {
        match self {
            Self::Load
            | Self::Store
            | Self::LoadIo
            | Self::StoreIo
            | Self::LoadIoBit
            | Self::StoreIoBit
            | Self::LoadFlash => true,
            Self::None
            | Self::Push
            | Self::Pop
            | Self::PushReturnAddress
            | Self::PopReturnAddress
            | Self::StoreFlash
            | Self::ResetWatchdog => false,
        }
    }
}
