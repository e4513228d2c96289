//! The map of a certificate: invariants of the whole program, which one step from each of their states confirms.
//!
//! The closing check is that of `avr-invariant`. What of formulas follows from a map that it accepts is told here.

use avr_certificate::{Equal, Handler, Invariant, Map as Written};
use avr_image::{DataAddress, FlashByteAddress};
use avr_invariant::{
    CallStrings, Claims, Entry, Equalities, Equation, Equations, Exit, Map, Memory, Move, Place, Range, Ranges, State,
    Store, Thread, Value, Variable, check_with,
};
use avr_machine::{FrameKind, Machine};
use avr_properties::{Atom, BoundProperty, StateView};
use mu_calculus::{AtomId, FixedPoint, Formula, Modality, Node, NodeId, NormalForm};
use std::collections::BTreeMap;
use three_valued::{Truth, TvByte};

use crate::rejection::{Reason, Rejection};

/// A map that was accepted.
pub(crate) struct Invariants {
    pub(crate) map: Map,
    pub(crate) claims: Claims,
    /// The moves of its check.
    pub(crate) moves: BTreeMap<Move, usize>,
}

impl Invariants {
    /// The invariants that a certificate has written down.
    ///
    /// # Errors
    /// If the map is not closed, or does not exclude every hazard.
    pub(crate) fn check(written: &Written, machine: &Machine) -> Result<Self, Rejection> {
        let mut map = map(written, machine)?;
        let mut moves = BTreeMap::new();
        let checked = check_with(machine, &mut map, &mut |one| *moves.entry(one).or_default() += 1);
        let claims = checked.map_err(|gap| Reason::Invariants(Box::new(gap)))?;
        // SOUND: what is claimed holds of runs up to their first hazard, so that without one it holds of all.
        match claims.marks.first() {
            Some(mark) => Err(Reason::PossibleHazard { hazard: mark.hazard, address: mark.address.0 }.into()),
            None => Ok(Self { map, claims, moves }),
        }
    }

    /// Shows that a property holds.
    ///
    /// # Errors
    /// If it does not follow from the invariants.
    pub(crate) fn show(
        &self,
        atoms: &[Atom],
        bound: &BoundProperty,
        formulas: &[Formula<AtomId>],
    ) -> Result<(), Rejection> {
        // SOUND: they say nothing of the existence of a path.
        if bound.fairness().is_some() || bound.something_is_left().is_some() {
            return Err(Reason::NoInvariant.into());
        }
        formulas.iter().try_for_each(|formula| self.show_formula(atoms, &bound.from_start(formula)?))
    }

    /// Shows a formula after the first step, in which the initial content is chosen.
    fn show_formula(&self, atoms: &[Atom], formula: &NormalForm) -> Result<(), Rejection> {
        let parts = always(formula).ok_or(Reason::NoInvariant)?;
        for entry in &self.map.entries {
            let view = View { map: &self.map, entry };
            let label = |atom: AtomId| atoms[atom.index()].evaluate(&view);
            if !parts.iter().all(|part| truth(formula, *part, &label).is_true()) {
                return Err(Reason::NotShown { address: entry.place.address().0 }.into());
            }
        }
        Ok(())
    }

    /// Shows that no run has a stack deeper than this.
    ///
    /// # Errors
    /// If it does not follow from the invariants.
    pub(crate) fn show_depth(&self, bytes: u32) -> Result<(), Rejection> {
        match self.claims.stack_bound() {
            Some(bound) if bound <= bytes => Ok(()),
            _ => Err(Reason::NoSuchDepth(bytes).into()),
        }
    }
}

/// The map as `avr-invariant` has it.
///
/// # Errors
/// If it does not fit the machine.
pub(crate) fn map(written: &Written, machine: &Machine) -> Result<Map, Reason> {
    let words = machine.device.memory.flash_words();
    if written.calls.iter().flatten().any(|frame| frame.return_address.0 >= words) {
        return Err(Reason::Misfit("a call returns outside of the flash"));
    }
    numbered(written).ok_or(Reason::Misfit("a part of the invariants is there twice"))
}

/// The same; none if two pages, blocks or call strings are the same.
fn numbered(written: &Written) -> Option<Map> {
    let mut store = Store::default();
    let mut calls = CallStrings::default();
    let is_next = |number: u32, index: usize| (number as usize == index).then_some(());
    for (index, page) in written.pages.iter().enumerate() {
        is_next(store.page_number(*page), index)?;
    }
    for (index, block) in written.blocks.iter().enumerate() {
        is_next(store.block_number(*block), index)?;
    }
    for (index, frames) in written.calls.iter().enumerate() {
        is_next(calls.number(frames), index)?;
    }
    let entries = written.entries.iter().map(|entry| {
        let thread = entry.handler.map_or(Thread::Main, thread);
        let place = Place { thread, control: entry.control, calls: entry.calls };
        Entry { place, state: state(&entry.invariant) }
    });
    let exits = written.exits.iter().map(|exit| Exit {
        thread: thread(exit.handler),
        control: exit.control,
        state: state(&exit.invariant),
    });
    Some(Map { store, calls, entries: entries.collect(), exits: exits.collect() })
}

fn thread(handler: Handler) -> Thread {
    Thread::Handler { interrupt: handler.interrupt, pointer: handler.pointer }
}

fn state(invariant: &Invariant) -> State {
    let value = |equal: &Equal| match equal {
        Equal::Of(cell) => Value::Of(*cell),
        Equal::Entry(cell) => Value::Entry(*cell),
        Equal::Result(register) => Value::Result(*register),
    };
    let equalities = invariant.equalities.iter().map(|(cell, equal)| (*cell, value(equal)));
    let ranges =
        invariant.ranges.iter().map(|range| Range { bytes: range.bytes.iter().map(value).collect(), when: range.when });
    let equations = invariant.equations.iter().map(|equation| {
        let bytes = equation.bytes.iter().map(|(byte, coefficient)| (Variable::Byte(value(byte)), *coefficient));
        let terms = bytes.chain([(Variable::Carry, equation.carry)]).collect();
        Equation { terms, constant: equation.constant }
    });
    State {
        memory: Memory::new(invariant.memory.clone()),
        equalities: Equalities::new(equalities.collect()),
        ranges: Ranges::new(ranges.collect()),
        equations: Equations::new(equations.collect()),
    }
}

/// The parts p, q, … of `AG (p && q && …)` after the first step; none if the formula is another one.
fn always(formula: &NormalForm) -> Option<Vec<NodeId>> {
    let Node::Modal(Modality::Box, everywhere) = formula.node(formula.root()) else { return None };
    let Node::Fixed(FixedPoint::Greatest, body) = formula.node(everywhere) else { return None };
    let (mut waiting, mut parts) = (vec![body], Vec::new());
    while let Some(node) = waiting.pop() {
        match formula.node(node) {
            Node::And(p, q) => waiting.extend([p, q]),
            Node::Modal(Modality::Box, next) if next == everywhere => {}
            _ => parts.push(node),
        }
    }
    Some(parts)
}

/// The truth value of a part in a state. What speaks of other states is unknown.
pub(crate) fn truth(formula: &NormalForm, node: NodeId, label: &dyn Fn(AtomId) -> Truth) -> Truth {
    match formula.node(node) {
        Node::Constant(value) => Truth::from(value),
        Node::Atom(atom) => label(atom),
        Node::NegatedAtom(atom) => !label(atom),
        Node::And(p, q) => truth(formula, p, label) & truth(formula, q, label),
        Node::Or(p, q) => truth(formula, p, label) | truth(formula, q, label),
        Node::Modal(..) | Node::Fixed(..) => Truth::Unknown,
    }
}

/// A state of a map as atoms see it. The verifier has a view of its own, as of the states of spaces.
pub(crate) struct View<'a> {
    pub(crate) map: &'a Map,
    pub(crate) entry: &'a Entry,
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        self.map.store.cell(&self.entry.state.memory, address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.entry.place.address()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.entry.place.control.torn
    }

    fn stack(&self) -> u8 {
        self.entry.place.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        // SOUND: the frames of what a handler interrupts are left out, so that there may be more; whether there are any is all that is asked.
        let frames = self.map.calls.frames(self.entry.place.calls).iter();
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.entry.place.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.entry.place.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        // SOUND: the map excludes every hazard.
        Truth::False
    }
}
