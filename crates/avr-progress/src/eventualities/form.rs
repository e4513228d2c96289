//! The properties that say that something comes: `AF q` and `A[p U q]`, in the first state, in every state, or in those where something
//! holds, on all paths or on those that are fair to interrupts.

use super::{Eventuality, FairInterrupt, Ranks, Trigger, check_ranks};
use crate::check::{Accepted, Rejection, check};
use crate::claim::LoopClaim;
use crate::limits::Limits;
use crate::rounds::Target;
use crate::state_formula::StateFormula;
use avr_invariant::{Map, Move};
use avr_machine::{Frame, FrameKind, Machine};
use avr_properties::{Atom, BoundProperty};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::{AtomId, Formula, PathOperator, PathPairOperator, PathQuantifier};
use std::collections::BTreeMap;
use three_valued::BitDomain;

/// The states from which something is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Those after power-on.
    Start,
    /// All.
    Everywhere,
    /// Those in which all of these hold.
    Where(Vec<Formula<AtomId>>),
}

/// `A[holds U until]`, or `AF until`, in some states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    from: Place,
    holds: Option<Formula<AtomId>>,
    until: Formula<AtomId>,
}

/// What is awaited, if a property says no more than that it comes: the property is true if all of that is.
///
/// SOUND: proofs are about all runs, or about those that are fair to interrupts. They say nothing of other conditions, nor of hazards and
/// paths that end.
#[must_use]
pub fn awaited(bound: &BoundProperty) -> Option<Vec<Awaited>> {
    let has_conditions = bound.something_is_left().is_some() || bound.observes_hazards;
    let is_fair = bound.fairness().is_none_or(|fairness| fairness.interrupts.is_some());
    if has_conditions || !is_fair { None } else { awaited_at_start(&bound.formula) }
}

fn awaited_at_start(formula: &Formula<AtomId>) -> Option<Vec<Awaited>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(awaited_at_start).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => awaited_everywhere(inner, &[]),
        _ => of_path(formula, Place::Start),
    }
}

/// The same for a formula that is to be true in every state in which conditions hold.
///
/// SOUND: `p -> q` is true where p is not, and a disjunction with formulas about states is such an implication. `AG q` in some states is
/// true if q is true in all.
fn awaited_everywhere(formula: &Formula<AtomId>, conditions: &[Formula<AtomId>]) -> Option<Vec<Awaited>> {
    let with = |more: Vec<Formula<AtomId>>| [conditions.to_vec(), more].concat();
    match formula {
        Formula::And(parts) => {
            let parts = parts.iter().map(|part| awaited_everywhere(part, conditions));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        Formula::Implies(one, then) if one.is_boolean() => awaited_everywhere(then, &with(vec![(**one).clone()])),
        Formula::Or(parts) => {
            let (states, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_boolean());
            let [other] = others.as_slice() else { return None };
            let negated = states.into_iter().map(|part| Formula::Not(Box::new(part.clone())));
            awaited_everywhere(other, &with(negated.collect()))
        }
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => awaited_everywhere(inner, &[]),
        _ if conditions.is_empty() => of_path(formula, Place::Everywhere),
        _ => of_path(formula, Place::Where(conditions.to_vec())),
    }
}

fn of_path(formula: &Formula<AtomId>, from: Place) -> Option<Vec<Awaited>> {
    let (holds, until) = match formula {
        Formula::Path(PathQuantifier::All, PathOperator::Eventually, until) => (None, until),
        Formula::PathPair(PathQuantifier::All, PathPairOperator::Until, holds, until) => (Some(holds), until),
        _ => return None,
    };
    let are_of_states = until.is_boolean() && holds.is_none_or(|holds| holds.is_boolean());
    let holds = holds.map(|holds| (**holds).clone());
    are_of_states.then(|| vec![Awaited { from, holds, until: (**until).clone() }])
}

/// A property that says that something comes, on a machine.
pub struct Coming<'a> {
    parts: Vec<Part<'a>>,
    fair: Vec<FairInterrupt>,
}

struct Part<'a> {
    from: OnMachine<'a>,
    holds: Option<StateFormula<'a>>,
    until: StateFormula<'a>,
}

enum OnMachine<'a> {
    Start,
    Everywhere,
    Where(StateFormula<'a>),
}

/// A proof of such a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComingProof {
    /// One for each part of the property.
    pub parts: Vec<Ranks>,
    /// Claims that each fair interrupt can come again and again, from every state: a fair run goes on there.
    pub fair: Vec<Vec<LoopClaim>>,
}

impl<'a> Coming<'a> {
    /// What is awaited under fairness of interrupts, by their numbers; none if it reads cells that depend on the state, or there is no such
    /// interrupt.
    #[must_use]
    pub fn new(machine: &Machine, atoms: &'a [Atom], (awaited, numbers): (&[Awaited], &[u8])) -> Option<Self> {
        let fair = numbers.iter().map(|number| {
            let interrupt = machine.device.interrupts.iter().find(|interrupt| interrupt.number == *number)?;
            Some(FairInterrupt { number: *number, enabled: (interrupt.enable.address, interrupt.enable.mask()) })
        });
        let parts = awaited.iter().map(|Awaited { from, holds, until }| {
            let of_states = |formula: &Formula<AtomId>| StateFormula::new(atoms, formula);
            let from = match from {
                Place::Start => OnMachine::Start,
                Place::Everywhere => OnMachine::Everywhere,
                Place::Where(conditions) => OnMachine::Where(match conditions.as_slice() {
                    [one] => of_states(one)?,
                    all => of_states(&Formula::And(all.to_vec()))?,
                }),
            };
            let holds = match holds {
                Some(holds) => Some(of_states(holds)?),
                None => None,
            };
            Some(Part { from, holds, until: of_states(until)? })
        });
        Some(Self { parts: parts.collect::<Option<_>>()?, fair: fair.collect::<Option<_>>()? })
    }

    /// The parts: the property is true if each is, and a fair run goes on from every state.
    pub fn eventualities(&self) -> impl ExactSizeIterator<Item = Eventuality<'_>> {
        self.parts.iter().map(|Part { from, holds, until }| {
            let trigger = match from {
                OnMachine::Start => Trigger::Start,
                OnMachine::Everywhere => Trigger::Everywhere,
                OnMachine::Where(conditions) => Trigger::When(conditions),
            };
            let holds = holds.as_ref().map(|holds| holds as &dyn Target);
            Eventuality { trigger, holds, until, fair: &self.fair }
        })
    }

    /// The states in the handlers of the fair interrupts.
    ///
    /// SOUND: if from every state a run comes to each of these, some run comes to all of them again and again, because no handler has a
    /// loop. It is a fair one.
    pub fn handlers(&self) -> impl ExactSizeIterator<Item = InHandler> {
        self.fair.iter().map(|fair| InHandler(fair.number))
    }

    /// Accepts a proof of all parts if it is one.
    ///
    /// # Errors
    /// The first reason why it is not.
    pub fn check(
        &self,
        machine: &Machine,
        map: (&Map, &BTreeMap<Move, usize>),
        proof: &ComingProof,
        limits: (&Limits, &dyn Fn() -> bool),
    ) -> Result<Accepted, Rejection> {
        let (parts, handlers) = (self.eventualities(), self.handlers());
        let is_whole = parts.len() == proof.parts.len() && handlers.len() == proof.fair.len();
        if !is_whole {
            return Err(Rejection::Parts);
        }
        let mut all = Accepted::default();
        for (eventuality, ranks) in parts.zip(&proof.parts) {
            all = all.and(check_ranks(machine, map, &eventuality, ranks, limits)?);
        }
        for (handler, claims) in handlers.zip(&proof.fair) {
            all = all.and(check(machine, map, &handler, claims, limits)?);
        }
        Ok(all)
    }
}

/// The states in the handler of an interrupt, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InHandler(u8);

impl Target for InHandler {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let is_own = |frame: &Frame| frame.kind == FrameKind::Interrupt(self.0);
        SymbolicBit::constant(state.calls.frames().iter().any(is_own))
    }
}
