//! What the properties of a request see of the states, and with it what may be left out. See `docs/soundness.md`, section
//! "Properties that do not count steps".

#[cfg(test)]
mod tests;

use crate::asked::{Asked, Bound};
use crate::decide::allows_reduction;
use crate::invariant::parts;
use crate::reduction::{self, faulty, lets_interrupts_in};
use crate::request::Request;
use crate::setup;
use avr_isa::{Instruction, Pointer, PointerMode};
use avr_machine::Machine;
use avr_properties::{Atom, AtomKind, AtomTable, BoundProperty, CellsRead, Property, PropertyKind, bind};
use fixedbitset::FixedBitSet;
use mu_calculus::{AtomId, Formula, PathOperator, PathPairOperator, PathQuantifier};
use std::collections::BTreeMap;
use std::ops::Range;
use three_valued::fault::{self, is_on};

/// What properties see besides hazards and how deep the stack gets.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    /// Whether they see from where which states can be reached, not only which states can be.
    pub(crate) branches: bool,
    /// Whether they see that something comes or can stay away for ever.
    pub(crate) waits: bool,
    /// Whether a part of a state space may tell that they hold.
    pub(crate) is_told_by_parts: bool,
    /// Whether they see anything at all.
    pub(crate) sees_content: bool,
    visible: Visible,
}

/// What atoms may read.
#[derive(Clone, Debug)]
enum Visible {
    /// Any part of a state.
    All,
    /// Cells, by data address, and whether execution is in ranges of flash byte addresses.
    These { cells: FixedBitSet, places: Vec<Range<u32>> },
}

/// An instruction that is about to be executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    /// Flash word address.
    pub(crate) pc: u32,
    pub(crate) instruction: Instruction,
    /// The stack pointer.
    pub(crate) pointer: u16,
}

impl Sight {
    /// What properties see that speak of nothing but hazards and how deep the stack gets.
    pub(crate) fn of_hazards() -> Self {
        Self { branches: false, waits: false, is_told_by_parts: false, sees_content: false, visible: Visible::none() }
    }

    /// What the properties of a request see, if something may be left out for them: none if one of them counts steps.
    pub(crate) fn of(asked: &Asked<'_>, atoms: &[Atom], machine: &Machine) -> Option<Self> {
        let mut sight = Self::of_hazards();
        for (property, bound) in &asked.properties {
            let Bound::Checked { goals, bound } = bound else { continue };
            let group = group(property, bound, atoms);
            match group {
                Group::Hazards => continue,
                Group::Steps => return None,
                Group::Contents => {}
                Group::Branches | Group::Waits => sight.branches = true,
            }
            sight.sees_content = true;
            sight.is_told_by_parts |= parts(&asked.goals[goals.formula].formula, false).is_none();
            sight.waits |= group == Group::Waits;
            for atom in &bound.atoms {
                sight.visible.add(&atoms[atom.index()], machine);
            }
        }
        Some(sight)
    }

    /// The cells that are seen, by rising data address; none if any may be.
    pub(crate) fn cells(&self) -> Option<impl Iterator<Item = u16> + '_> {
        match &self.visible {
            Visible::All => None,
            Visible::These { cells, .. } => Some(cells.ones().map(|cell| cell as u16)),
        }
    }

    /// Whether an instruction may change what is seen. What instructions do to I/O registers does not count: handlers may see that.
    pub(crate) fn sees(
        &self,
        machine: &Machine,
        next: Next,
        hits: impl Fn(Pointer, PointerMode, &dyn Fn(u16) -> bool) -> bool,
    ) -> bool {
        use Instruction as I;
        let (cells, places) = match &self.visible {
            Visible::All => return true,
            Visible::These { cells, places } => (cells, places),
        };
        let is_seen = |cell: u16| cells.contains(cell.into());
        let Next { pc, instruction, pointer } = next;
        if moves_between(places, machine, pc, instruction) {
            return true;
        }
        let written = instruction.registers_written().bits();
        let changes_register = (0..32).any(|register| written >> register & 1 == 1 && is_seen(register));
        let changes_flag = !instruction.flags_written().is_empty() && is_seen(machine.status_address());
        if changes_register || changes_flag {
            return true;
        }
        let (low, high) = machine.stack_pointer_addresses();
        let sees_pointer = is_seen(low) || high.is_some_and(is_seen);
        match instruction {
            I::Push { .. } => sees_pointer || is_seen(pointer),
            I::Call { .. } | I::Rcall { .. } | I::Icall | I::Eicall => {
                let pushed = machine.device.core.pc_bytes.into();
                sees_pointer || (0..pushed).any(|offset| is_seen(pointer.wrapping_sub(offset)))
            }
            I::Pop { .. } | I::Ret | I::Reti => sees_pointer,
            I::St { pointer, mode, .. } => hits(pointer, mode, &is_seen),
            I::Sts { address, .. } => is_seen(address),
            _ => false,
        }
    }
}

impl Visible {
    fn none() -> Self {
        Self::These { cells: FixedBitSet::with_capacity(1 << 16), places: Vec::new() }
    }

    /// Adds what an atom may read.
    fn add(&mut self, atom: &Atom, machine: &Machine) {
        let Self::These { cells, places } = self else { return };
        match atom.kind() {
            // What a step did.
            AtomKind::Event(..) => *self = Self::All,
            AtomKind::PcEquals(address) => places.push(*address..*address + 1),
            AtomKind::PcIn(range) => places.push(range.clone()),
            AtomKind::Compare(_) if atom.reads_pc() => *self = Self::All,
            AtomKind::StackPointerTorn => {
                let (low, high) = machine.stack_pointer_addresses();
                cells.insert(low.into());
                cells.extend(high.map(usize::from));
            }
            _ => match atom.cells() {
                CellsRead::These(read) => cells.extend(read.into_iter().map(|(cell, _)| usize::from(cell))),
                CellsRead::All => *self = Self::All,
            },
        }
    }
}

/// Whether an instruction that goes forward (flash word address) leads into one of these places, or out of it.
fn moves_between(places: &[Range<u32>], machine: &Machine, pc: u32, instruction: Instruction) -> bool {
    use Instruction as I;
    if places.is_empty() {
        return false;
    }
    let next = pc + u32::from(instruction.words());
    let relative = |offset: i32| next.wrapping_add_signed(offset) & (machine.program.words() - 1);
    let targets = match instruction {
        I::Rjmp { offset } | I::Rcall { offset } => [relative(offset.into()); 3],
        I::Jmp { target } | I::Call { target } => [target; 3],
        I::Brbs { offset, .. } | I::Brbc { offset, .. } => [next, next, relative(offset.into())],
        I::Ijmp | I::Eijmp | I::Icall | I::Eicall | I::Ret | I::Reti => return true,
        I::Cpse { .. } | I::Sbrc { .. } | I::Sbrs { .. } | I::Sbic { .. } | I::Sbis { .. } => {
            [next, next + 1, next + 2]
        }
        _ => [next; 3],
    };
    let is_at = |word: u32| places.iter().map(move |place| place.contains(&(word * 2)));
    targets.into_iter().any(|target| !is_at(pc).eq(is_at(target)))
}

/// Whether a property speaks of nothing but hazards and how deep the stack gets.
fn speaks_of_hazards(property: &Property) -> bool {
    matches!(property.kind(), PropertyKind::Inherent | PropertyKind::Stack(_)) && property.under().is_empty()
}

/// Properties for which the same may be left out, the least that is seen first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// Nothing but hazards and how deep the stack gets.
    Hazards,
    /// What is in the states of each run, in their order.
    Contents,
    /// From where which states can be reached.
    Branches,
    /// That something comes, or stays away for ever.
    Waits,
    /// Every step.
    Steps,
}

/// The properties of a request in groups, as their numbers, where it is of use to decide these apart: where interrupts may come.
/// All in one group if one of them cannot be bound.
pub(crate) fn groups(request: &Request<'_>) -> Vec<Vec<usize>> {
    let properties = &request.file.properties;
    let together = vec![(0..properties.len()).collect()];
    let is_of_use = properties.len() > 1 && allows_reduction(request);
    if !is_of_use || !setup::machine(request).is_ok_and(|machine| lets_interrupts_in(&machine)) {
        return together;
    }
    let binding = request.binding();
    let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for (number, property) in properties.iter().enumerate() {
        let mut table = AtomTable::default();
        let group = match bind(property, &request.file.definitions, &binding, &mut table) {
            Ok(bound) => group(property, &bound, table.atoms()),
            Err(error) if error.undecided().is_some() => Group::Steps,
            Err(_) => return together,
        };
        groups.entry(group).or_default().push(number);
    }
    groups.into_values().collect()
}

/// The group of a property.
fn group(property: &Property, bound: &BoundProperty, atoms: &[Atom]) -> Group {
    let names_event = |atom: &AtomId| matches!(atoms[atom.index()].kind(), AtomKind::Event(..));
    let counts = bound.fairness().is_some() || bound.counts_steps || !is_branching(&bound.formula);
    let is_blind = faulty(reduction::Fault::HazardsUnseen) || is_on(fault::Fault::HazardsUnseen);
    let sees_hazards = bound.sees_hazards && !is_blind;
    if speaks_of_hazards(property) {
        Group::Hazards
    } else if counts || sees_hazards || bound.atoms.iter().any(names_event) {
        // SOUND: in which order a handler and an instruction that runs into a hazard come can be told by such a formula, and so
        // can whether a state has a hazard as its only future.
        Group::Steps
    } else if is_linear(&bound.formula) {
        Group::Contents
    } else if waits(&bound.formula) {
        Group::Waits
    } else {
        Group::Branches
    }
}

/// Whether a formula is one of CTL without next steps, whose value does not change when steps are left out that change nothing.
fn is_branching(formula: &Formula<AtomId>) -> bool {
    let is_here = match formula {
        Formula::PathPair(..) => true,
        Formula::Path(_, operator, _) => *operator != PathOperator::Next,
        other => is_boolean(other),
    };
    is_here && formula.children().into_iter().all(is_branching)
}

/// Whether a formula says of all runs that something bad never comes, and whether it comes is told by each run alone: `AG p`, `A[p W q]`
/// with p and q about states, such formulas with `&&` between them, or one of them with `||` or `->` behind what is about states, and `AG` of them. (Maidl:
/// these say the same in linear time.)
fn is_linear(formula: &Formula<AtomId>) -> bool {
    match formula {
        Formula::And(parts) => parts.iter().all(is_linear),
        Formula::Or(parts) => {
            parts.iter().filter(|part| !is_of_state(part)).count() <= 1 && parts.iter().all(is_linear)
        }
        Formula::Implies(when, then) => is_of_state(when) && is_linear(then),
        Formula::Path(PathQuantifier::All, PathOperator::Always, always) => is_linear(always),
        Formula::PathPair(PathQuantifier::All, PathPairOperator::WeakUntil | PathPairOperator::Release, one, other) => {
            is_of_state(one) && is_of_state(other)
        }
        _ => is_of_state(formula),
    }
}

/// Whether a formula is about a single state.
fn is_of_state(formula: &Formula<AtomId>) -> bool {
    is_boolean(formula) && formula.children().into_iter().all(is_of_state)
}

/// Whether a formula is a constant, an atom, or made of its parts by a Boolean operator.
fn is_boolean(formula: &Formula<AtomId>) -> bool {
    use Formula as F;
    matches!(formula, F::Constant(_) | F::Atom(_) | F::Not(_) | F::And(_) | F::Or(_) | F::Implies(..) | F::Iff(..))
}

/// Whether a formula says that something comes on all paths, or stays away on one for ever.
fn waits(formula: &Formula<AtomId>) -> bool {
    use {PathOperator as One, PathPairOperator as Two, PathQuantifier as Over};
    let waits_here = matches!(
        formula,
        Formula::Path(Over::All, One::Eventually, _)
            | Formula::Path(Over::Exists, One::Always, _)
            | Formula::PathPair(Over::All, Two::Until, ..)
            | Formula::PathPair(Over::Exists, Two::Release | Two::WeakUntil, ..)
    );
    waits_here || formula.children().into_iter().any(waits)
}
