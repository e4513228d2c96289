//! The reason why something is not decided, and the place, in words.

use avr_image::Image;
use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_model::context::Context;
use avr_model::state::AbstractState;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use tvar::{Blame, Decision, StateSpace, Undecided};

/// The obstacle to a decision, and how far the work got.
pub(crate) fn reason(
    context: &Context<'_>,
    image: &Image,
    decision: &Decision<AbstractState>,
    undecided: &Undecided<AbstractState>,
) -> String {
    match undecided {
        Undecided::Exhausted(limit) => format!(
            "{limit}, with {} states reached, {} of them expanded, after {} refinements{}",
            decision.largest.states,
            decision.largest.expanded,
            decision.refinements,
            most_states(image, &decision.space)
        ),
        Undecided::Stuck { path, blame, .. } => {
            let last = path.last().expect("a path has a state");
            format!("{} {}, and no refinement removes it", cause(context, last, *blame), place(context, image, last))
        }
    }
}

/// The instruction that has the most states, as the end of a sentence.
fn most_states(image: &Image, space: &StateSpace<AbstractState>) -> String {
    let mut states: FxHashMap<FlashWordAddress, usize> = FxHashMap::default();
    for state in &space.states {
        if let AbstractState::Running(running) = state {
            *states.entry(running.control.pc).or_default() += 1;
        }
    }
    let most = states.into_iter().max_by_key(|(pc, states)| (*states, Reverse(*pc)));
    most.map_or_else(String::new, |(pc, states)| {
        format!("; the most of them, {states}, are {}", place_at(image, pc.byte().0))
    })
}

pub(crate) fn cause(context: &Context<'_>, state: &AbstractState, blame: Blame) -> String {
    match (blame, state) {
        (_, AbstractState::Hazard { hazard, .. }) => format!("what comes after the hazard {hazard} is not defined"),
        (_, AbstractState::Limit { limit, .. }) => limit.to_string(),
        (Blame::Atom(atom), _) => format!("'{}' is unknown", context.atoms[atom.index()]),
        (Blame::Edge(_), _) => "the next state depends on an unknown stored value".to_owned(),
        (Blame::Sink, _) => "the path was not followed further".to_owned(),
    }
}

/// The place of a state, as the engineer knows it.
pub(crate) fn place(context: &Context<'_>, image: &Image, state: &AbstractState) -> String {
    let pc = match state {
        AbstractState::Hazard { pc, .. } | AbstractState::Limit { pc, .. } => Some(*pc),
        AbstractState::Running(_) | AbstractState::Dummy => context.location(state).pc(),
    };
    pc.map_or_else(|| "before the start".to_owned(), |pc| place_at(image, pc.byte().0))
}

/// A flash byte address with function and source line, as far as the image tells.
#[must_use]
pub fn place_at(image: &Image, address: u32) -> String {
    let address = FlashByteAddress(address);
    let function = image.symbols.function_at(address).map(|located| located.symbol.display_name().to_owned());
    let line = image.source_line(address).map(|line| line.shown());
    let named = [function.map(|name| format!("in {name}")), line].into_iter().flatten();
    let detail: Vec<String> = named.collect();
    match detail.is_empty() {
        true => format!("at {:#06x}", address.0),
        false => format!("at {:#06x} ({})", address.0, detail.join(", ")),
    }
}
