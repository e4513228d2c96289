//! The passes that may take part in a verdict.

use std::fmt;

/// A pass that may take part in a verdict besides the step-by-step exploration of three-valued states, in the order in which reports
/// name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// Interrupts are reduced by partial order.
    PartialOrderReduction,
    /// Paths are compressed.
    PathCompression,
    /// Handlers are summarised in one step.
    HandlerSummaries,
    /// Cases of a step are merged again a few steps later.
    CaseMerging,
    /// Bytes have ranges besides their bits.
    Ranges,
    /// Comparisons narrow what they compare.
    Facts,
    /// Predicates keep outcomes of comparisons where values are forgotten.
    Predicates,
    /// Precision belongs to states, not to locations (Onderka & Ratschan, Example 7).
    PrecisionPerState,
    /// A random run shows the verdict, and no state space.
    RandomSearch,
    /// Invariants of the whole program prove the verdict, and no state space.
    Invariants,
    /// Claims about loops prove that they can be left.
    Claims,
    /// Ranks that fall on all paths prove that something comes.
    Ranks,
    /// Symbolic execution proves a formula on all paths between the heads of loops.
    SymbolicExecution,
}

impl Pass {
    /// The name that reports have (`docs/reports.md`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PartialOrderReduction => "partial-order-reduction",
            Self::PathCompression => "path-compression",
            Self::HandlerSummaries => "handler-summaries",
            Self::CaseMerging => "case-merging",
            Self::Ranges => "ranges",
            Self::Facts => "facts",
            Self::Predicates => "predicates",
            Self::PrecisionPerState => "precision-per-state",
            Self::RandomSearch => "random-search",
            Self::Invariants => "invariants",
            Self::Claims => "claims",
            Self::Ranks => "ranks",
            Self::SymbolicExecution => "symbolic-execution",
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
