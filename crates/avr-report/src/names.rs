//! Names of addresses and cells: symbols, source lines and the device's registers.

use std::fmt::Write;

use avr_image::{DataAddress, FlashByteAddress, FlashWordAddress, Image, without_detours};
use avr_isa::{Disassembly, Instruction, MemoryAccess, Register, decode};
use avr_machine::device::Device;
use avr_verify::Routine;

/// The offset of data memory in the addresses that avr-gcc gives to symbols.
const DATA_SPACE: u32 = 0x80_0000;

/// The names that an image and a device give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) image: &'a Image,
    pub(crate) device: &'a Device,
}

impl Names<'_> {
    /// The instruction at an address as text, with the names of what it addresses.
    pub(crate) fn disassembly(&self, instruction: Instruction, address: FlashByteAddress) -> Disassembly {
        let mut disassembly = instruction.disassemble(address.0, &|target| self.address(target));
        if let (Some(comment), Some(register)) = (&mut disassembly.comment, self.register_of(instruction)) {
            // Writing to a string cannot fail.
            let _ = write!(comment, " <{register}>");
        }
        disassembly
    }

    /// The instruction at a flash byte address in one piece; none where there is no code.
    pub(crate) fn instruction(&self, pc: u32) -> Option<String> {
        let address = FlashByteAddress(pc).word();
        let first = self.image.program.word(address)?;
        let second = self.image.program.word(FlashWordAddress(address.0 + 1));
        let instruction = decode(first, second, self.device.core.features).ok()?;
        let Disassembly { mnemonic, operands, comment } = self.disassembly(instruction, FlashByteAddress(pc));
        let comment = comment.and_then(|comment| Some(comment.split_once('<')?.1.strip_suffix('>')?.to_owned()));
        let comment = comment.map_or(String::new(), |name| format!(" <{name}>"));
        Some(format!("{mnemonic} {operands}{comment}").trim_end().to_owned())
    }

    /// The function at a flash byte address.
    pub(crate) fn function(&self, pc: u32) -> Option<String> {
        let located = self.image.symbols.function_at(FlashByteAddress(pc))?;
        Some(located.symbol.display_name().to_owned())
    }

    /// The source line at a flash byte address, as `file:line` with the path as it was recorded.
    pub(crate) fn source_line(&self, pc: u32) -> Option<String> {
        let line = self.image.source_line(FlashByteAddress(pc))?;
        Some(format!("{}:{}", line.file, line.line))
    }

    /// The same without the folders that the path leaves again, for people: `common/lamp.h:12` for `lamp/../common/lamp.h:12`.
    pub(crate) fn shown_line(&self, pc: u32) -> Option<String> {
        self.source_line(pc).as_deref().map(without_detours)
    }

    /// The name of an address in flash or, as the linker counts, in data memory.
    pub(crate) fn address(&self, address: u32) -> Option<String> {
        let symbols = &self.image.symbols;
        let located = match address.checked_sub(DATA_SPACE) {
            None => symbols.function_at(FlashByteAddress(address)),
            Some(data) => {
                let data = u16::try_from(data).ok()?;
                if let Some(register) = self.device.register_at(DataAddress(data)) {
                    return Some(register.name.to_owned());
                }
                symbols.object_at(DataAddress(data))
            }
        }?;
        let name = located.symbol.display_name();
        Some(if located.offset == 0 { name.to_owned() } else { format!("{name}+{:#x}", located.offset) })
    }

    /// The name of a cell of the machine: a register, a variable, `mem[0x0100]`, `eeprom[0x000]`, `shared[0]`.
    pub(crate) fn cell(&self, cell: DataAddress) -> String {
        let memory = self.device.memory;
        if let Some(register) = Register::at(cell) {
            return register.to_string();
        }
        let (shared, eeprom) = (memory.shared_start(), memory.unreached_end());
        match (cell.offset_from(eeprom), cell.offset_from(shared)) {
            (Some(byte), _) => format!("eeprom[{byte:#05x}]"),
            (None, Some(byte)) => format!("shared[{byte}]"),
            (None, None) => self.address(DATA_SPACE + u32::from(cell.0)).unwrap_or_else(|| format!("mem[{cell:#06x}]")),
        }
    }

    /// The name of an interrupt.
    pub(crate) fn interrupt(&self, number: u8) -> &'static str {
        let found = self.device.interrupts.iter().find(|interrupt| interrupt.number == number);
        found.map_or("an interrupt", |interrupt| interrupt.name)
    }

    /// The name of the register that an instruction addresses as I/O.
    fn register_of(&self, instruction: Instruction) -> Option<&'static str> {
        let address = match instruction.memory_access() {
            MemoryAccess::LoadIo { address } | MemoryAccess::StoreIo { address } => address,
            MemoryAccess::LoadIoBit { address, .. } | MemoryAccess::StoreIoBit { address, .. } => address,
            _ => return None,
        };
        self.device.register_at(address).map(|register| register.name)
    }
}

/// The name of a routine: that of a function, its address without one, that of an interrupt.
pub(crate) fn routine_name(names: &Names<'_>, routine: Routine) -> String {
    match routine {
        Routine::Function(address) => names.function(address).unwrap_or_else(|| format!("{address:#06x}")),
        Routine::Handler(number) => format!("interrupt {}", names.interrupt(number)),
    }
}
