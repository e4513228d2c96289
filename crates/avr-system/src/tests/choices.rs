//! The basis of verdicts about random systems, against a composition of concrete states that knows who chooses.
//!
//! The level that a pin reads just after it became an input is determined by the hardware, all other reads by the world around the system. A violation
//! whose basis is the hardware must be there in the composition without such reads. That something can always happen must then be true
//! for each of their outcomes.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_testkit::cases;

use super::pins::{Machine, State, Wire, after, carried, of_fair_runs, system_with};
use super::{letters, results};
use crate::Basis;
use crate::faults::{Fault, with_fault};

/// The outcomes of a step of a node among which nobody chooses: the number of each state, and true if something happened on a wire.
struct Edge {
    node: usize,
    members: Vec<(usize, bool)>,
}

/// All states, with or without the reads that the hardware determines.
struct Composition {
    numbers: BTreeMap<State, usize>,
    states: Vec<State>,
    edges: Vec<Vec<Edge>>,
}

/// True if the next step of a node reads what the hardware determines.
fn is_of_hardware(state: &State, programs: &[Vec<I>], node: usize) -> bool {
    let reads = matches!(programs[node][state[node].pc], I::Sbis { .. } | I::Sbic { .. } | I::In { .. });
    reads && state[node].settling
}

fn composed(programs: &[Vec<I>], wires: &[Wire], with_hardware: bool) -> Composition {
    let initial: State = vec![Machine::default(); programs.len()];
    let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    while edges.len() < states.len() {
        let state = states[edges.len()].clone();
        let mut here = Vec::new();
        for node in 0..programs.len() {
            let is_hardware = is_of_hardware(&state, programs, node);
            if is_hardware && !with_hardware {
                continue;
            }
            let all = after(&state, programs, wires, node).into_iter().map(|next| {
                let happened = carried(&next, wires) != carried(&state, wires);
                let count = numbers.len();
                let number = *numbers.entry(next.clone()).or_insert(count);
                if number == states.len() {
                    states.push(next);
                }
                (number, happened)
            });
            let all: Vec<(usize, bool)> = all.collect();
            match is_hardware {
                true => here.push(Edge { node, members: all }),
                false => here.extend(all.into_iter().map(|one| Edge { node, members: vec![one] })),
            }
        }
        edges.push(here);
    }
    Composition { numbers, states, edges }
}

impl Composition {
    /// The states from which something can happen: for each outcome of what the hardware determines, or for one of them.
    fn alive(&self, each: bool) -> BTreeSet<usize> {
        let mut alive = BTreeSet::new();
        loop {
            let is_good = |(to, happened): &(usize, bool)| *happened || alive.contains(to);
            let can = |edge: &Edge| match each {
                true => edge.members.iter().all(is_good),
                false => edge.members.iter().any(is_good),
            };
            let more: Vec<usize> = (0..self.states.len())
                .filter(|state| !alive.contains(state) && self.edges[*state].iter().any(can))
                .collect();
            if more.is_empty() {
                return alive;
            }
            alive.extend(more);
        }
    }

    /// The properties of [`system_with`] that are violated, in their order, if nothing happens any more in the states that are not in `alive`
    /// of another composition.
    fn violated(&self, whole: &Self, alive: &BTreeSet<usize>) -> [bool; 5] {
        let is = |port: u8, bit: u8| port >> bit & 1 == 1;
        let never = self.states.iter().any(|state| is(state[0].port, 0) && is(state[1].port, 0));
        let always = self.states.iter().any(|state| is(state[0].port, 1) && !is(state[1].port, 0));
        let stuck = self.states.iter().any(|state| !alive.contains(&whole.numbers[state]));
        let movers = |all: &Vec<Edge>| -> Vec<(usize, usize)> {
            all.iter().flat_map(|edge| edge.members.iter().map(|(to, _)| (edge.node, *to))).collect()
        };
        let movers: Vec<Vec<(usize, usize)>> = self.edges.iter().map(movers).collect();
        let [again, stays] = of_fair_runs(&self.states, &movers);
        [never, always, stuck, !again, !stays]
    }
}

/// The comparison of a random system.
#[derive(Default)]
struct Compared {
    /// The verdicts that rest on the model, and those of them that would not have to.
    model: usize,
    needless: usize,
    unknown: usize,
}

fn compare(seed: u64) -> Result<Compared, String> {
    let (text, programs, wires) = system_with(seed, true);
    let whole = composed(&programs, &wires, true);
    let free = composed(&programs, &wires, false);
    let (alive, surely) = (whole.alive(false), whole.alive(true));
    let in_some = whole.violated(&whole, &alive);
    let without = free.violated(&whole, &alive);
    let found = results(&text, "atmega328p-gpio", &programs);
    let mut compared = Compared::default();
    for (index, (letter, result)) in letters(&found).chars().zip(&found.properties).enumerate() {
        let is_model = result.basis == Some(Basis::Model);
        // The basis of what holds is the model where it can only be that something can happen.
        let is_sure = index != 2 || surely.len() == whole.states.len();
        let is_right = match letter {
            'u' => true,
            'h' => !in_some[index] && (is_model || is_sure) && !(is_model && index != 2),
            _ => in_some[index] && (is_model || without[index]),
        };
        if !is_right {
            return Err(format!(
                "seed {seed}: {index} is {letter}, {in_some:?} {without:?} {is_sure}\n{programs:?}\n{found:?}"
            ));
        }
        compared.unknown += usize::from(letter == 'u');
        compared.model += usize::from(is_model);
        compared.needless += usize::from(is_model && if letter == 'h' { is_sure } else { without[index] });
    }
    Ok(compared)
}

#[test]
fn the_basis_of_random_verdicts_is_that_of_all_concrete_states() {
    let cases = cases(60, 10_000);
    let all = (0..cases).map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}")));
    let all: Vec<Compared> = all.collect();
    let sum = |of: fn(&Compared) -> usize| all.iter().map(of).sum::<usize>();
    let (model, needless, unknown) = (sum(|it| it.model), sum(|it| it.needless), sum(|it| it.unknown));
    let told = format!("{model} of {} rest on the model, {needless} needlessly; {unknown} are unknown", 5 * cases);
    assert!(model as u64 > cases / 10 && needless < model && unknown as u64 <= cases, "{told}");
}

#[test]
fn choices_of_the_hardware_taken_for_the_world_s_are_found() {
    let found = (0..60).find(|seed| with_fault(Fault::HardwareIsWorld, || compare(*seed)).is_err());
    assert!(found.is_some());
}
