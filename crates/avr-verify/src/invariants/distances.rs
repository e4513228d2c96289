//! The distances of places of a map from those with the deepest stack.

use super::{Invariants, View};
use avr_invariant::{Move, Place, Thread};
use avr_machine::Machine;
use avr_properties::StateView;
use avr_witness::{Distances, Interrupt, Spot, Way};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

impl Invariants {
    /// The distances from the places where the stack may be so many bytes deep; none if there are no such places.
    pub(crate) fn distances(&self, machine: &Machine, depth: u32) -> Option<Distances> {
        let mut numbers = FxHashMap::default();
        let (mut spots, mut targets) = (Vec::new(), BTreeSet::new());
        for entry in &self.map.entries {
            let Place { control, calls, .. } = entry.place;
            let number = *numbers.entry((calls, control.pc)).or_insert_with(|| {
                spots.push(Spot { frames: self.map.calls.frames(calls), pc: control.pc });
                spots.len() - 1
            });
            if deepest(machine, &View { map: &self.map, entry }) >= Some(depth) {
                targets.insert(number);
            }
        }
        if targets.is_empty() {
            return None;
        }
        let number = |place: &Place| numbers.get(&(place.calls, place.control.pc)).copied();
        let way = |from: &Place, to: &Place, interrupt| Some(Way { from: number(from)?, to: number(to)?, interrupt });
        let told = self.moves.keys().filter_map(|one| match one {
            Move::To(from, to) => way(from, to, None),
            Move::Begins(from, to) => match to.thread {
                Thread::Handler { interrupt, pointer } => way(from, to, Some(Interrupt { number: interrupt, pointer })),
                Thread::Main => None,
            },
            Move::Returns(_) => None,
        });
        // Steps to the instruction behind are not told.
        let behind = numbers.iter().filter_map(|((calls, pc), from)| {
            let next = pc.wrapping_add(1);
            let destinations = machine.program.control_flow(*pc)?.destinations()?;
            let to = numbers.get(&(*calls, next)).filter(|_| destinations.into_iter().any(|target| target == next))?;
            Some(Way { from: *from, to: *to, interrupt: None })
        });
        Some(Distances::new(&spots, told.chain(behind), &targets))
    }
}

/// The greatest depth of the stack in a state of a map, in bytes below RAMEND.
fn deepest(machine: &Machine, view: &View<'_>) -> Option<u32> {
    let lowest = machine.stack_pointer().value(|address| Some(view.cell(address).low()))?;
    (!view.stack_pointer_torn()).then(|| machine.data_end().offset_from(lowest).unwrap_or_default().into())
}
