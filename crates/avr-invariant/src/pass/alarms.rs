//! The alarms of a map: what opens it, and its marks.

use std::collections::BTreeSet;

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, MemoryAccess, Pointer};
use avr_machine::{Fetched, Machine};

use super::fixpoint::Fixpoint;
use super::hints::Hints;
use super::slice::{Depth, Root, Slice, Touched};
use super::trace::Trace;
use crate::check::Mark;
use crate::gap::{Gap, Reason};

/// What a map fails at, with the steps of the attempt to find it.
pub(crate) struct Alarms {
    trace: Trace,
    touched: Touched,
    roots: Vec<Root>,
    /// The cells before instructions that have too many contents to be told apart.
    pub(crate) abounding: BTreeSet<(FlashWordAddress, DataAddress)>,
}

impl Alarms {
    /// The steps of an attempt, and its jumps to addresses that are not known.
    pub(crate) fn seen(machine: &Machine, fixpoint: &mut Fixpoint<'_>) -> Self {
        let [low, high] = [Pointer::Z.low().address(), Pointer::Z.high().address()];
        let wild = fixpoint.states().filter(|(place, state)| {
            let flow = machine.program.control_flow(place.control.pc);
            matches!(flow, Some(ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. }))
                && [low, high].into_iter().any(|cell| fixpoint.cell(state, cell).known().is_none())
        });
        let mut roots: Vec<Root> = wild.map(|(place, _)| (place.control.pc, vec![low, high])).collect();
        roots.sort_unstable();
        roots.dedup();
        fixpoint.note_few();
        let touched = fixpoint.touched();
        Self { trace: fixpoint.take_trace(), touched, roots, abounding: fixpoint.abounding() }
    }

    /// Those of a map with marks; none if there are none.
    pub(crate) fn marked(mut self, machine: &Machine, marks: &[Mark]) -> Option<Self> {
        if marks.is_empty() {
            return None;
        }
        let words = |mark: &Mark| mark.address.word();
        self.roots = marks.iter().map(|mark| (words(mark), self.looked_at(machine, words(mark)))).collect();
        Some(self)
    }

    /// Those of a map that is open; none if it is for a reason that no partition mends.
    pub(crate) fn open(mut self, machine: &Machine, gap: &Gap) -> Option<Self> {
        let pc = gap.at?.1.word();
        match &gap.reason {
            Reason::Limit(_)
            | Reason::TornPointer
            | Reason::EndedPath(_)
            | Reason::ReturnAddress
            | Reason::LeftFrame
            | Reason::NullCall => {
                let cells = self.looked_at(machine, pc);
                self.roots.push((pc, cells));
            }
            Reason::Nested(cycle, _) => {
                let own = machine.device.interrupts.iter().filter(|one| cycle.0.contains(&one.number));
                self.roots.push((pc, own.map(|one| one.enable.address).collect()));
            }
            Reason::PlainReturn
            | Reason::TooManyOutcomes
            | Reason::StartupEndsAtZero
            | Reason::NotCovered(_)
            | Reason::Misfit(_)
            | Reason::TooManyCalls(_)
            | Reason::TooManySteps(_)
            | Reason::Cancelled
            | Reason::TooManyStates(_) => return None,
        }
        Some(self)
    }

    /// The hints for another attempt, with those of this one.
    pub(crate) fn hints(&self, machine: &Machine, depth: Depth, before: &Hints) -> Hints {
        let found = Slice::new(machine, &self.trace, &self.touched).hints(&self.roots, depth);
        before.with(&found)
    }

    /// The cells that an instruction looks at.
    fn looked_at(&self, machine: &Machine, pc: FlashWordAddress) -> Vec<DataAddress> {
        let Fetched::Instruction { instruction, .. } = machine.program.fetch(pc) else { return Vec::new() };
        let of = |pointer: Pointer| vec![pointer.low().address(), pointer.high().address()];
        match instruction.memory_access() {
            MemoryAccess::Load(Addressing::Indirect { pointer, .. })
            | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => of(pointer),
            MemoryAccess::PopReturnAddress => {
                let first = self.touched.get(&pc).map(|cells| cells.0);
                let bytes = u16::from(machine.device.core.pc_bytes);
                first.into_iter().flat_map(|first| (0..bytes).map(move |offset| first.wrapping_add(offset))).collect()
            }
            _ => instruction.registers_read().iter().map(|register| register.address()).collect(),
        }
    }
}
