//! Coverage of concrete states by abstract ones: all that a replay needs to know of how states are abstracted.

use crate::concretise::view::ConcreteView;
use avr_isa::DataAddress;
use avr_machine::{MachineState, MaskedCopy, Stop};
use avr_model::context::Context;
use avr_model::state::events::occurrence;
use avr_model::state::interner::{BLOCK_PAGES, Store};
use avr_model::state::{AbstractState, Running};
use avr_properties::StateView;
use three_valued::{Truth, TvByte};

/// The outcome of a concrete step.
pub(crate) enum Arrival<'a> {
    /// A state.
    State(ConcreteView<'a>),
    /// The end of the run.
    Stop(Stop),
}

/// The distance of a concrete state from being covered: 0 if it is, else more for worse.
pub(crate) type Distance = u32;

/// More than any number of bits that differ.
const ELSEWHERE: Distance = 1 << 20;

/// Compares concrete with abstract states.
#[derive(Clone, Copy)]
pub(crate) struct Cover<'a> {
    store: &'a Store,
}

impl<'a> Cover<'a> {
    pub(crate) fn new(context: &'a Context<'_>) -> Self {
        Self { store: &context.store }
    }

    /// The distance of the arrival from being covered by `to`. It came by one step from a state that `from` covers;
    /// only the pages noted as changed differ from it. Without `from` all pages are looked at.
    pub(crate) fn distance(&self, from: Option<&AbstractState>, to: &AbstractState, arrival: &Arrival<'_>) -> Distance {
        match (to, arrival) {
            (AbstractState::Running(to), Arrival::State(concrete)) => {
                let from = match from {
                    Some(AbstractState::Running(from)) => Some(from),
                    _ => None,
                };
                self.running(from, to, concrete)
            }
            (AbstractState::Hazard { hazard, .. }, Arrival::Stop(Stop::Hazard(met))) if hazard.kind == met.kind => 0,
            _ => Distance::MAX,
        }
    }

    fn running(&self, from: Option<&Running>, to: &Running, concrete: &ConcreteView<'_>) -> Distance {
        let is_copied = |(one, other): &(DataAddress, DataAddress)| {
            concrete.state.data.get(*one) == concrete.state.data.get(*other)
        };
        let is_masked =
            |copy: &MaskedCopy| *concrete.state.data.get(copy.to()) == *concrete.state.data.get(copy.from) & copy.mask;
        if to.control.of_hardware() != concrete.state.control || !self.has_calls(to, concrete.state) {
            return ELSEWHERE;
        }
        let wrong = to.control.copies.pairs().iter().filter(|pair| !is_copied(pair)).count()
            + to.control.copies.masked().iter().filter(|copy| !is_masked(copy)).count();
        8 * wrong as Distance + self.differing_bits(from, to, concrete.state) + self.differing_events(to, concrete)
    }

    fn has_calls(&self, to: &Running, concrete: &MachineState<u8>) -> bool {
        let frames = concrete.calls.all();
        self.store.depth(to.calls) == frames.len()
            && self.store.frames(to.calls).zip(frames.iter().rev()).all(|(one, other)| one == *other)
    }

    fn differing_bits(&self, from: Option<&Running>, to: &Running, concrete: &MachineState<u8>) -> Distance {
        let page = |page: usize| {
            let cells = self.store.page(to.memory, page).iter().zip(concrete.data.page(page));
            cells.map(|(cell, value)| differing(*cell, *value)).sum::<u32>()
        };
        let pages = concrete.data.pages();
        let Some(from) = from else { return (0..pages).map(page).sum() };
        let changed = concrete.data.changed_pages().map(page).sum::<u32>();
        changed + self.pages_that_differ(from, to).filter(|index| *index < pages).map(page).sum::<u32>()
    }

    /// The pages that the abstract step changed.
    fn pages_that_differ(&self, from: &Running, to: &Running) -> impl Iterator<Item = usize> {
        let (before, after) = (self.store.roots.get(from.memory.0), self.store.roots.get(to.memory.0));
        let blocks = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after);
        blocks.flat_map(|(index, (before, after))| {
            let pages = self.store.blocks.get(*before).iter().zip(self.store.blocks.get(*after)).enumerate();
            pages.filter(|(_, (before, after))| before != after).map(move |(page, _)| index * BLOCK_PAGES + page)
        })
    }

    fn differing_events(&self, to: &Running, concrete: &ConcreteView<'_>) -> Distance {
        let differs = |event: &&avr_properties::Event| {
            let known = occurrence(concrete.watched, self.store.occurrences.get(to.did.0), event);
            let did = concrete.event(event);
            let happened = known.happened == Truth::Unknown || known.happened == did.happened;
            let same_value =
                !did.happened.is_true() || did.value.known().is_none_or(|value| known.value.contains(value));
            !(happened && same_value)
        };
        8 * concrete.watched.iter().filter(differs).count() as Distance
    }

    /// The least value that a cell may have in an abstract state.
    pub(crate) fn hint(&self, state: &AbstractState, cell: DataAddress) -> u8 {
        match state {
            AbstractState::Running(running) => self.store.cell(running.memory, cell).low(),
            _ => 0,
        }
    }
}

/// The distance of a value from those that a cell stands for: 0 if it is one of them.
fn differing(cell: TvByte, value: u8) -> Distance {
    let bits = ((cell.value() ^ value) & cell.known_mask()).count_ones();
    bits.max(Distance::from(!cell.contains(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_cell_stands_for_is_at_no_distance() {
        let bits = TvByte::new(0x10, 0xf4);
        for cell in [bits, TvByte::constant(7), TvByte::UNKNOWN].into_iter().chain(bits.within(0x11, 0x13)) {
            for value in 0..=255 {
                assert_eq!(differing(cell, value) == 0, cell.contains(value), "{value} in {cell}");
            }
        }
    }
}
