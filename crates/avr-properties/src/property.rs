//! Properties as the user states them, and the formulas that they stand for.

use std::sync::Arc;

use crate::allowed_hazard::AllowedHazard;
use crate::conformance::{Relation, SpecificationAutomaton};
use crate::place::Place;

/// A property with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub(crate) kind: PropertyKind,
    pub(crate) name: String,
    pub(crate) under: Vec<String>,
    pub(crate) place: Option<Place>,
    /// The first states that an invariant speaks of, where it says so.
    pub(crate) from: Option<InvariantStart>,
    /// True if it was the text of a condition without temporal operators.
    pub(crate) was_condition: bool,
    /// The hazards that are allowed at one place, as property files have them, if it is the inherent property.
    pub(crate) excepted: Vec<String>,
}

/// The first states that an invariant (`Always`, `Never`, `Mutex`) speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantStart {
    /// All states.
    Reset,
    /// The states that do not lie between a reset of any cause and the next entry of `main`.
    Main,
}

impl InvariantStart {
    /// The name in property files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Main => "main",
        }
    }

    /// The start that a property file names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "reset" => Some(Self::Reset),
            "main" => Some(Self::Main),
            _ => None,
        }
    }
}

/// The pattern of a property with its formulas as texts.
///
/// Every pattern is read over all paths, and gives the formula of CTL or of the mu-calculus that
/// [`crate::formula_text`] shows. If `p` and `q` speak of single states, each says the same as the linear-time
/// formula that is usually meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyKind {
    /// No hazard ever happens, no engine limit is reached.
    Inherent,
    /// The stack never grows beyond a limit, judged wherever the stack pointer is whole.
    Stack(StackLimit),
    /// `to` can be reached from wherever the program gets: `AG EF to`.
    Recovery {
        /// The formula `to`.
        to: String,
    },
    /// A formula of CTL and the mu-calculus.
    Formula {
        /// The formula.
        check: String,
    },
    /// A formula of linear time over all paths.
    Ltl {
        /// The formula.
        check: String,
    },
    /// Every wait of the code, a cycle with a way out, can be left: `AG (pc in L -> EF !(pc in L))` for each wait L.
    NoHang {
        /// The functions, labels or source lines whose waits are left out, each with the reason.
        except: Vec<(String, String)>,
    },
    /// `AG p`.
    Always {
        /// The formula p.
        check: String,
    },
    /// `AG !p`.
    Never {
        /// The formula p.
        check: String,
    },
    /// `EF p`.
    Reachable {
        /// The formula p.
        check: String,
    },
    /// Whenever `after` holds, `eventually` holds then or later: `AG (after -> AF eventually)`.
    Response {
        /// The trigger.
        after: String,
        /// The response.
        eventually: String,
    },
    /// `then` does not hold before `first` has held: `A[!then W first]`. Both may come in the same state.
    Precedence {
        /// The formula that must hold first.
        first: String,
        /// The formula that may hold only then.
        then: String,
    },
    /// `holds` until `until`, which does come: `A[holds U until]`.
    Until {
        /// The formula that holds before.
        holds: String,
        /// The formula that ends it.
        until: String,
    },
    /// No two of these hold in one state: `AG !(p && q)` for each two.
    Mutex {
        /// The formulas; at least two.
        between: Vec<String>,
    },
    /// Once `after` holds, `stays` holds for ever: `AG (after -> AG stays)`.
    StaysAfter {
        /// The trigger.
        after: String,
        /// The formula that then holds for ever; `after` itself where the file does not say.
        stays: String,
    },
    /// p holds again and again on every path: `AG AF p`, the same as `G F p` over all paths.
    InfinitelyOften {
        /// The formula p.
        check: String,
    },
    /// The firmware does nothing that a specification does not allow: a greatest fixed point over its states.
    Conforms {
        /// The path of the specification file, as the property gives it.
        to: String,
        /// The events that are seen, in the order in which those of one step count; those of the specification where the
        /// property does not say.
        alphabet: Option<Vec<String>>,
        /// The relation that is asked for.
        relation: Relation,
        /// True if some event must still be possible unless the specification may stop.
        deadlock: bool,
        /// The specification, once it is read.
        specification: Option<Arc<SpecificationAutomaton>>,
    },
    /// The stack of a task stays within bounds.
    StackOf {
        /// The stack, as `stacks` of the property file names it.
        of: String,
        /// Its limit, counted from the ends of this stack.
        limit: StackLimit,
    },
    /// On every path p holds for ever from some state on: `mu X. nu Y. []X || (p && []Y)`, the same as `F G p` over
    /// all paths. (`AF AG p` says more: it wants a state from which all continuations keep p.)
    EventuallyForever {
        /// The formula p.
        check: String,
    },
}

/// The limit of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackLimit {
    /// SP never goes more than this many bytes below where the stack begins: RAMEND for the main one.
    MaxBytes(u32),
    /// At least this many bytes stay free between the stack and what lies below it: the end of the static data for the main one.
    Margin(u32),
}

impl PropertyKind {
    /// The name of the kind in property files and reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Inherent => "Inherent",
            Self::Stack(_) | Self::StackOf { .. } => "Stack",
            Self::Recovery { .. } => "Recovery",
            Self::NoHang { .. } => "NoHang",
            Self::Formula { .. } => "Formula",
            Self::Ltl { .. } => "Ltl",
            Self::Always { .. } => "Always",
            Self::Never { .. } => "Never",
            Self::Reachable { .. } => "Reachable",
            Self::Response { .. } => "Response",
            Self::Precedence { .. } => "Precedence",
            Self::Until { .. } => "Until",
            Self::Mutex { .. } => "Mutex",
            Self::StaysAfter { .. } => "StaysAfter",
            Self::InfinitelyOften { .. } => "InfinitelyOften",
            Self::EventuallyForever { .. } => "EventuallyForever",
            Self::Conforms { .. } => "Conforms",
        }
    }
}

impl Property {
    /// A property with a name, under no assumption.
    #[must_use]
    pub fn new(name: &str, kind: PropertyKind) -> Self {
        let (under, excepted) = (Vec::new(), Vec::new());
        Self { kind, name: name.to_owned(), under, place: None, from: None, was_condition: false, excepted }
    }

    /// The same where a property file allows hazards at places: the formula of the inherent property excepts them.
    pub(crate) fn except(self, allowed: &[AllowedHazard]) -> Self {
        match self.kind {
            PropertyKind::Inherent => Self { excepted: allowed.iter().map(AllowedHazard::text).collect(), ..self },
            _ => self,
        }
    }

    /// The inherent property, with its kind as its name.
    #[must_use]
    pub fn inherent() -> Self {
        Self::new("Inherent()", PropertyKind::Inherent)
    }

    /// The first states that it names, if it is an invariant that names some.
    #[must_use]
    pub fn stated_start(&self) -> Option<InvariantStart> {
        self.from
    }

    /// The pattern with its formulas.
    #[must_use]
    pub fn kind(&self) -> &PropertyKind {
        &self.kind
    }

    /// Its name: the one given, or else the text of the entry.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fairness assumptions under which it is to be checked.
    #[must_use]
    pub fn under(&self) -> &[String] {
        &self.under
    }

    /// The place in the property file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}
