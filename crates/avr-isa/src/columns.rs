//! The columns of the instruction table, as methods of what the table describes.

use std::fmt;

use crate::control_flow::{CodeSpace, Continuation, ControlFlow, Destination};
use crate::effect::{RegisterUse, register_of};
use crate::{
    Cycles, Feature, FeatureSet, FlagSet, FlashWordAddress, Instruction, MemoryAccess, Opcode, RegisterSet, table,
};

impl Instruction {
    /// The operation.
    pub fn opcode(self) -> Opcode {
        table::row(self).0.opcode
    }

    /// Size in flash words, 1 or 2.
    pub fn words(self) -> u8 {
        table::row(self).0.words
    }

    /// Clock cycles.
    pub fn cycles(self) -> Cycles {
        table::row(self).0.cycles
    }

    /// The title of the instruction's section in the AVR Instruction Set Manual (DS40002198).
    pub fn manual_section(self) -> &'static str {
        table::row(self).0.section
    }

    /// Flags that the instruction may change through its result or by definition. Writes to SREG through I/O or data
    /// memory are not among them.
    pub fn flags_written(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.map(|_| row.flag_operand(&values));
        FlagSet::from_bits(row.flags.written).union(operand.unwrap_or_default())
    }

    /// The flags among [`Self::flags_written`] that always become 1.
    pub fn flags_set(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.filter(|value| *value).map(|_| row.flag_operand(&values));
        FlagSet::from_bits(row.flags.set).union(operand.unwrap_or_default())
    }

    /// The flags among [`Self::flags_written`] that always become 0.
    pub fn flags_cleared(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.filter(|value| !value).map(|_| row.flag_operand(&values));
        FlagSet::from_bits(row.flags.cleared).union(operand.unwrap_or_default())
    }

    /// Flags on which the effect depends. Reads of SREG through I/O or data memory are not among them.
    pub fn flags_read(self) -> FlagSet {
        let (row, values) = table::row(self);
        if row.flags.operand_read { row.flag_operand(&values) } else { FlagSet::from_bits(row.flags.read) }
    }

    /// Registers that the instruction writes by name. A store or a push whose address is below 0x20 writes a register
    /// too, which is not among them.
    pub fn registers_written(self) -> RegisterSet {
        let (row, values) = table::row(self);
        registers(row.writes, &values)
    }

    /// Registers that the instruction reads by name, pointers included. A load or a pop whose address is below 0x20
    /// reads a register too, which is not among them.
    pub fn registers_read(self) -> RegisterSet {
        let (row, values) = table::row(self);
        registers(row.reads, &values)
    }

    /// True for a push, pop, call or return: the instruction reads or writes memory at SP.
    pub fn uses_stack(self) -> bool {
        self.memory_access().uses_stack()
    }

    /// True if the manual calls the result undefined: a pointer that changes is also the register loaded or stored
    /// (LD, ST, LPM, ELPM).
    pub fn has_undefined_result(self) -> bool {
        let (row, values) = table::row(self);
        let pointer = row.moved_pointer();
        row.operand_registers(&values).any(|register| pointer.contains(register))
    }

    /// The access to data memory, program memory or the watchdog.
    pub fn memory_access(self) -> MemoryAccess {
        table::memory_access(self)
    }

    /// The control flow of the instruction if it is at this flash word address.
    pub fn control_flow(self, address: FlashWordAddress, code: &impl CodeSpace) -> ControlFlow {
        let behind = address.wrapping_add(self.words().into());
        let next = behind.masked(code.pc_mask());
        let resolve = |destination: Destination| match destination {
            Destination::Relative(offset) => behind.wrapping_add_signed(offset).masked(code.pc_mask()),
            Destination::Absolute(target) => target.masked(code.pc_mask()),
        };
        match table::control_flow(self) {
            Continuation::Next => ControlFlow::Next { next },
            Continuation::Skip => {
                ControlFlow::Skip { next, target: next.wrapping_add(code.words_at(next)).masked(code.pc_mask()) }
            }
            Continuation::Branch(to) => ControlFlow::Branch { next, target: resolve(to) },
            Continuation::Jump(to) => ControlFlow::Jump { target: resolve(to) },
            Continuation::Call(to) => ControlFlow::Call { next, target: resolve(to) },
            Continuation::IndirectJump => ControlFlow::IndirectJump,
            Continuation::IndirectCall => ControlFlow::IndirectCall { next },
            Continuation::Return => ControlFlow::Return,
            Continuation::InterruptReturn => ControlFlow::InterruptReturn,
            Continuation::Sleep => ControlFlow::Sleep { next },
            Continuation::Break => ControlFlow::Break { next },
        }
    }

    /// True for `rcall .+0`. It calls nothing: compilers use it to take the bytes of a return address from the stack.
    pub fn only_reserves_stack(self) -> bool {
        self == Self::Rcall { offset: 0 }
    }
}

fn registers(uses: &[RegisterUse], values: &[i32; 2]) -> RegisterSet {
    uses.iter().fold(RegisterSet::EMPTY, |set, register| match register {
        RegisterUse::Operand(slot) => set.with(register_of(values[*slot])),
        RegisterUse::Pair(slot) => {
            let low = register_of(values[*slot]);
            set.with(low).with(low.next())
        }
        RegisterUse::Fixed(bits) => set.union(RegisterSet::from_bits(*bits)),
    })
}

impl Feature {
    /// The feature with this name in the tables, such as `jmp-call`.
    pub fn from_name(name: &str) -> Option<Self> {
        table::features().iter().find(|(known, _)| *known == name).map(|(_, feature)| *feature)
    }

    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        table::features().iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FeatureSet {
    /// The features of the parts of a GCC architecture, such as `avr5` for the ATmega328P; `None` if the instruction
    /// table does not name it.
    pub fn architecture(name: &str) -> Option<Self> {
        table::architectures().iter().find(|(known, _)| *known == name).map(|(_, features)| *features)
    }
}
