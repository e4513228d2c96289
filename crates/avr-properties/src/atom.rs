//! Atomic propositions bound to a device and an image: what the labels of states are computed from.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use avr_isa::DataAddress;
use mu_calculus::{AtomId, ComparisonOperator};
use three_valued::{Truth, TvByte};

use crate::expression::{Expression, Scope};
use crate::view::{Event, StateView};

/// An atomic proposition.
///
/// Atoms are equal when they mean the same, whatever their text; [`AtomTable`] keeps each once.
#[derive(Clone, Debug)]
pub struct Atom {
    text: String,
    kind: AtomKind,
    pub(crate) stack_pointer: [Option<DataAddress>; 2],
}

/// The meaning of an atom. A caller may refuse kinds that it cannot label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AtomKind {
    /// The same in every state.
    Constant(bool),
    /// The bits under `mask` of the cell at a data address have the value `equals`.
    CellEquals {
        /// Data address.
        address: DataAddress,
        /// The bits that are compared.
        mask: u8,
        /// The value that they are compared with; 0 outside of `mask`.
        equals: u8,
    },
    /// The program counter is this flash byte address.
    PcEquals(u32),
    /// The program counter is in this range of flash byte addresses.
    PcIn(Range<u32>),
    /// The program counter is in one of these ranges of flash byte addresses.
    PcAmong(Vec<Range<u32>>),
    /// Two integers are compared.
    Compare(Compare),
    /// An interrupt handler has been entered and not left.
    InInterrupt,
    /// One half of the stack pointer is written and the other has not followed.
    StackPointerTorn,
    /// The stack of this number is in use ([`avr_machine::Control::stack`]).
    OnStack(u8),
    /// The processor sleeps.
    Sleeping,
    /// No instruction of the main program was executed since the last reset.
    InStartup,
    /// The run came to a hazard that is not allowed.
    Hazard,
    /// The run came to a hazard that is allowed and after which nothing is defined.
    Ended,
    /// The step that entered the state showed the event, and its value compares as stated. Other operands of the
    /// comparison are read in the state that was entered. Without the event the atom is false, also with `!=`.
    Event(Event, Option<Compare>),
}

/// A comparison of two integer expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    pub(crate) operator: ComparisonOperator,
    pub(crate) left: Expression,
    pub(crate) right: Expression,
}

impl Compare {
    pub(crate) fn evaluate(&self, scope: Scope<'_>) -> Truth {
        let (left, right) = (self.left.evaluate(scope), self.right.evaluate(scope));
        match self.operator {
            ComparisonOperator::Equal => left.equals(right),
            ComparisonOperator::NotEqual => !left.equals(right),
            ComparisonOperator::Less => left.less(right),
            ComparisonOperator::GreaterOrEqual => !left.less(right),
            ComparisonOperator::Greater => right.less(left),
            ComparisonOperator::LessOrEqual => !right.less(left),
        }
    }
}

impl Atom {
    /// `stack_pointer` are the data addresses of the cells that make up the stack pointer.
    pub(crate) fn new(text: &str, kind: AtomKind, stack_pointer: [Option<DataAddress>; 2]) -> Self {
        Self { text: text.to_owned(), kind, stack_pointer }
    }

    /// The text of the atom where it was first used.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The meaning of the atom.
    #[must_use]
    pub fn kind(&self) -> &AtomKind {
        &self.kind
    }

    /// The truth of the comparison of an event for each byte that it may have; all unknown where nothing is compared.
    #[must_use]
    pub fn truths_of_values(&self) -> Vec<Truth> {
        let AtomKind::Event(_, Some(compare)) = &self.kind else { return vec![Truth::Unknown; 256] };
        let truth = |byte: u8| compare.evaluate(Scope::any_state().with_event(TvByte::constant(byte)));
        (0..=u8::MAX).map(truth).collect()
    }

    /// The truth of the atom in the states that the view stands for.
    ///
    /// It is exact where all that the atom reads is known. The exceptions are memory that does not exist and bits that
    /// hardware changes, both reached through an address that depends on the state: those are unknown.
    #[must_use]
    pub fn evaluate(&self, view: &dyn StateView) -> Truth {
        match &self.kind {
            AtomKind::Constant(value) => Truth::from(*value),
            AtomKind::CellEquals { address, mask, equals } => {
                let cell = view.cell(*address);
                if (cell.value() ^ equals) & mask & cell.known_mask() != 0 {
                    Truth::False
                } else if mask & cell.unknown_mask() == 0 {
                    Truth::True
                } else {
                    view.told(self)
                }
            }
            AtomKind::PcEquals(address) => Truth::from(view.pc().0 == *address),
            AtomKind::PcIn(range) => Truth::from(range.contains(&view.pc().0)),
            AtomKind::PcAmong(ranges) => Truth::from(ranges.iter().any(|range| range.contains(&view.pc().0))),
            AtomKind::Compare(compare) => match compare.evaluate(Scope::of(view)) {
                Truth::Unknown => view.told(self),
                known => known,
            },
            AtomKind::InInterrupt => Truth::from(view.interrupt_depth() > 0),
            AtomKind::StackPointerTorn => Truth::from(view.stack_pointer_torn()),
            AtomKind::OnStack(stack) => Truth::from(view.stack() == *stack),
            AtomKind::Sleeping => view.sleeping(),
            AtomKind::InStartup => view.in_startup(),
            AtomKind::Hazard => view.hazard(),
            AtomKind::Ended => Truth::False,
            AtomKind::Event(event, condition) => evaluate_event(event, condition.as_ref(), view),
        }
    }
}

fn evaluate_event(event: &Event, condition: Option<&Compare>, view: &dyn StateView) -> Truth {
    let occurrence = view.event(event);
    let Some(condition) = condition.filter(|_| !occurrence.happened.is_false()) else { return occurrence.happened };
    occurrence.happened & condition.evaluate(Scope::of(view).with_event(occurrence.value))
}

impl AtomKind {
    /// The truth of an atom in what is left of a run that came to a hazard, after which nothing is known: whether the hazard
    /// `ends_path` ([`avr_machine::Machine::ends_path`]) or is one that is not allowed is all that can be told.
    #[must_use]
    pub fn at_hazard(&self, ends_path: bool) -> Truth {
        match self {
            Self::Hazard => Truth::from(!ends_path),
            Self::Ended => Truth::from(ends_path),
            _ => Truth::Unknown,
        }
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Atom {}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The atoms of all properties that share a state space, each once.
#[derive(Clone, Debug, Default)]
pub struct AtomTable {
    atoms: Vec<Atom>,
    ids: HashMap<AtomKind, AtomId>,
}

impl AtomTable {
    /// No atoms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of an atom, which is new if no equal one is there.
    pub fn intern(&mut self, atom: Atom) -> AtomId {
        let next = AtomId(u32::try_from(self.atoms.len()).expect("formulas are limited in size"));
        let id = *self.ids.entry(atom.kind.clone()).or_insert(next);
        if id == next {
            self.atoms.push(atom);
        }
        id
    }

    /// The atom with this number.
    ///
    /// # Panics
    /// If the table did not give it.
    #[must_use]
    pub fn get(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }

    /// All atoms; an [`AtomId`] is an index into them.
    #[must_use]
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Removes the atoms from the number `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.atoms.truncate(len);
        self.ids.retain(|_, id| id.index() < len);
    }
}
