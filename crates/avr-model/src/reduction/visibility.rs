//! Visibility: the part of a state that goals can observe (Clarke et al., Model Checking, ch. 10). It decides which
//! states reductions may skip. See `docs/soundness.md`, section "Stutter-invariant properties".

use avr_isa::{Addressing, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Pointer, PointerMode};
use avr_machine::Machine;
use avr_properties::{Atom, AtomKind, CellsRead};
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// The visibility of properties besides hazards and the depth of the stack.
#[derive(Clone, Debug)]
pub struct Visibility {
    /// True if they see which states can be reached from which, not only which states can be reached.
    pub branches: bool,
    /// True if they see that something comes or can stay away for ever.
    pub has_eventualities: bool,
    /// True if a part of a state space may tell that they hold.
    pub is_decided_by_parts: bool,
    /// True if they see anything at all.
    pub observes_content: bool,
    observed: Observed,
}

/// The parts of a state that atoms may read.
#[derive(Clone, Debug)]
enum Observed {
    /// Any part of a state.
    All,
    /// Cells, by data address, and whether execution is in ranges of flash byte addresses.
    These { cells: FixedBitSet, places: Vec<Range<u32>> },
}

/// An instruction that is about to be executed.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Flash word address.
    pub pc: FlashWordAddress,
    /// The instruction there.
    pub instruction: Instruction,
    /// The stack pointer.
    pub pointer: DataAddress,
}

impl Visibility {
    /// Adds the parts that an atom may read.
    pub fn observe(&mut self, atom: &Atom, machine: &Machine) {
        self.observed.add(atom, machine);
    }

    /// The visibility of properties that speak of nothing but hazards and the depth of the stack.
    pub fn of_hazards() -> Self {
        Self {
            branches: false,
            has_eventualities: false,
            is_decided_by_parts: false,
            observes_content: false,
            observed: Observed::none(),
        }
    }

    /// The cells that are seen, by rising data address; none if any may be.
    pub fn cells(&self) -> Option<impl Iterator<Item = DataAddress> + '_> {
        match &self.observed {
            Observed::All => None,
            Observed::These { cells, .. } => Some(cells.ones().map(DataAddress::of_index)),
        }
    }

    /// True if an instruction may change a visible part of the state. Changes of I/O registers do not count: handlers
    /// may see these.
    pub fn observes(
        &self,
        machine: &Machine,
        next: Next,
        hits: impl Fn(Pointer, PointerMode, &dyn Fn(DataAddress) -> bool) -> bool,
    ) -> bool {
        let (cells, places) = match &self.observed {
            Observed::All => return true,
            Observed::These { cells, places } => (cells, places),
        };
        let is_seen = |cell: DataAddress| cells.contains(cell.index());
        let Next { pc, instruction, pointer } = next;
        if moves_between(places, machine, pc, instruction) {
            return true;
        }
        let changes_register = instruction.registers_written().iter().any(|register| is_seen(register.address()));
        let changes_flag = !instruction.flags_written().is_empty() && is_seen(machine.status_address());
        if changes_register || changes_flag {
            return true;
        }
        let sees_pointer = machine.stack_pointer().cells().any(is_seen);
        match instruction.memory_access() {
            MemoryAccess::Push => sees_pointer || is_seen(pointer),
            MemoryAccess::PushReturnAddress => {
                let pushed = machine.device.core.pc_bytes.into();
                sees_pointer || (0..pushed).any(|offset| is_seen(pointer.wrapping_sub(offset)))
            }
            MemoryAccess::Pop | MemoryAccess::PopReturnAddress => sees_pointer,
            MemoryAccess::Store(Addressing::Indirect { pointer, mode }) => hits(pointer, mode, &is_seen),
            MemoryAccess::Store(Addressing::Direct(address)) => is_seen(address),
            MemoryAccess::StoreIo { .. } | MemoryAccess::StoreIoBit { .. } => false,
            MemoryAccess::None
            | MemoryAccess::Load(_)
            | MemoryAccess::LoadIo { .. }
            | MemoryAccess::LoadIoBit { .. }
            | MemoryAccess::LoadFlash
            | MemoryAccess::StoreFlash
            | MemoryAccess::ResetWatchdog => false,
        }
    }
}

impl Observed {
    fn none() -> Self {
        Self::These { cells: FixedBitSet::with_capacity(1 << 16), places: Vec::new() }
    }

    /// Adds the parts that an atom may read.
    fn add(&mut self, atom: &Atom, machine: &Machine) {
        let Self::These { cells, places } = self else { return };
        match atom.kind() {
            // The events of a step.
            AtomKind::Event(..) => *self = Self::All,
            AtomKind::PcEquals(address) => places.push(*address..*address + 1),
            AtomKind::PcIn(range) => places.push(range.clone()),
            AtomKind::PcAmong(ranges) => places.extend(ranges.iter().cloned()),
            AtomKind::InStartup => {
                // Resets are no instructions. What goes to the main program ends the start-up.
                let end = machine.startup_end().map(|end| end.byte().0);
                places.extend(end.map(|end| end..end + 1));
            }
            AtomKind::Compare(_) if atom.reads_pc() => *self = Self::All,
            AtomKind::StackPointerTorn | AtomKind::OnStack(_) => {
                cells.extend(machine.stack_pointer().cells().map(DataAddress::index));
            }
            _ => match atom.cells() {
                CellsRead::These(read) => cells.extend(read.into_iter().map(|(cell, _)| cell.index())),
                CellsRead::All => *self = Self::All,
            },
        }
    }
}

/// True if an instruction that goes forward (flash word address) leads into one of these places, or out of it.
fn moves_between(places: &[Range<u32>], machine: &Machine, pc: FlashWordAddress, instruction: Instruction) -> bool {
    if places.is_empty() {
        return false;
    }
    let Some(targets) = instruction.control_flow(pc, &machine.program).destinations() else { return true };
    let is_at = |word: FlashWordAddress| places.iter().map(move |place| place.contains(&(word.byte().0)));
    targets.into_iter().any(|target| !is_at(pc).eq(is_at(target)))
}
