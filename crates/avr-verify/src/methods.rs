//! What took part in a verdict besides the step-by-step exploration of three-valued states.

use crate::system::Firmware;

/// The reductions and domains that were at work where a property was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// Interrupts were looked at only where they can be seen.
    pub partial_order_reduction: bool,
    /// States were kept only where something is decided.
    pub path_compression: bool,
    /// Handlers were passed in one step.
    pub handler_summaries: bool,
    /// Cases of a step were joined again a few steps later.
    pub case_merging: bool,
    /// Bytes had ranges besides their bits.
    pub ranges: bool,
    /// Comparisons narrowed what they compare.
    pub facts: bool,
    /// A run at random showed the verdict, and no state space.
    pub random_search: bool,
}

impl Methods {
    /// The methods of a system, of which a state space may have decided, or else a run at random.
    pub(crate) fn of(firmware: &Firmware<'_>, by_state_space: bool) -> Self {
        if !by_state_space {
            return Self { random_search: true, ..Self::default() };
        }
        Self {
            partial_order_reduction: firmware.reduction.is_some(),
            path_compression: firmware.compression.is_some(),
            handler_summaries: firmware.handlers.is_some(),
            case_merging: firmware.compression.is_some(),
            ranges: firmware.learns,
            facts: firmware.learns,
            random_search: false,
        }
    }

    /// The names of those that took part, as reports have them.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.partial_order_reduction, "partial-order-reduction"),
            (self.path_compression, "path-compression"),
            (self.handler_summaries, "handler-summaries"),
            (self.case_merging, "case-merging"),
            (self.ranges, "ranges"),
            (self.facts, "facts"),
            (self.random_search, "random-search"),
        ];
        all.into_iter().filter_map(|(took_part, name)| took_part.then_some(name)).collect()
    }
}
