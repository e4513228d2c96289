//! States in which loops are left, for the runs that reports show. Nothing rests on them.

use crate::claim::{LoopClaim, Region};
use crate::limits::Limits;
use crate::obligation::{ends_well, served};
use crate::places::Places;
use crate::possibility::Possibility;
use crate::rounds::{AtTriggers, Route, Start};
use avr_invariant::{Map, Move};
use avr_isa::DataAddress;
use avr_machine::{Control, Machine, MachineState};
use avr_symbolic::{Answer, Executor, Graph, SymbolicBit, SymbolicByte, SymbolicState, Valuation, satisfy};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// A state at the head of a claim from which one of its rounds leads to what is to be reached, or to a head of a group with a smaller number.
/// It differs from another state at the head in the cells of the rank alone, if there is such a state. None if none is found.
pub fn exit(
    machine: &Machine,
    (map, moves): (&Map, &BTreeMap<Move, usize>),
    (possibility, limits): (&Possibility<'_>, &Limits),
    (claims, number): (&[LoopClaim], usize),
    near: &MachineState<u8>,
) -> Option<MachineState<u8>> {
    let places = Places::new(machine, map, moves).ok()?;
    let claim = &claims[number];
    let head = places.head(&claim.head)?;
    let passed: Option<BTreeSet<usize>> = claim.passed.iter().map(|passed| places.head(passed)).collect();
    let passed = passed?;
    let route = Route { head: Some(head), passed: &passed, at_triggers: AtTriggers::Never };
    let nearer = claims.iter().filter(|one| one.group < claim.group);
    let nearer: BTreeMap<usize, Region> =
        nearer.filter_map(|one| Some((places.head(&one.head)?, one.region))).collect();
    let of_rank: BTreeSet<DataAddress> = claim.rank.iter().flat_map(|term| term.cells()).collect();
    let executor = Executor::new(machine, limits.execution);
    let is_like = |control: Control| control.of_hardware() == near.control.of_hardware();
    places.entries(head).filter(|entry| is_like(entry.place.control)).find_map(|entry| {
        let graph = Graph::new(limits.nodes);
        let start = Start::of(machine, map, entry, &graph);
        let none = SymbolicBit::ZERO;
        let left = claim.rounds.iter().fold(none, |left, rounds| {
            let round = start.round(&executor, (route, rounds), (&places, possibility), &|| false);
            left.or(&served(&round, |end| {
                ends_well(&places, end, &|to, after| {
                    nearer.get(&to).map_or(SymbolicBit::ZERO, |region| possibility.surely_in(*region, after))
                })
            }))
        });
        let left = left.and(&start.condition.bit());
        let like_near = same(&start.state, near, &of_rank);
        [left.and(&like_near), left].iter().find_map(|wanted| match satisfy(wanted, limits.query) {
            Answer::Satisfiable(assignment) => concrete(&start, Valuation::new(&graph, assignment), near),
            Answer::Unsatisfiable | Answer::None(_) => None,
        })
    })
}

/// The bit that is 1 if all cells but some are as in a concrete state.
fn same<'g>(state: &SymbolicState<'g>, near: &MachineState<u8>, but: &BTreeSet<DataAddress>) -> SymbolicBit<'g> {
    let cells = state.data.cells().iter().zip(near.data.cells()).zip((0..).map(DataAddress));
    let kept = cells.filter(|(_, address)| !but.contains(address));
    kept.fold(SymbolicBit::ONE, |all, ((cell, content), _)| {
        let bits = cell.to_bits().into_iter().zip(0..);
        bits.fold(all, |all, (bit, place)| all.and(&if content >> place & 1 == 1 { bit } else { bit.not() }))
    })
}

/// The concrete state that an assignment gives.
fn concrete<'g>(start: &Start<'g>, mut values: Valuation<'g>, near: &MachineState<u8>) -> Option<MachineState<u8>> {
    let mut state = near.clone();
    let cells: Vec<SymbolicByte<'g>> = start.state.data.cells().to_vec();
    for (cell, address) in cells.iter().zip((0..).map(DataAddress)) {
        state.data.set(address, values.byte(cell)?);
    }
    Some(state)
}
