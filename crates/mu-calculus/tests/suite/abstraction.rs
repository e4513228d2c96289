//! Soundness: what is decided on an abstract graph is so in every concrete state that it covers.
//!
//! Concrete systems are small automata with random steps. Abstract states cover random sets of concrete states, and
//! hyper-edges obey design section 2.2: for every covered state and every input of the hyper-edge, some member covers
//! the next state; the hyper-edges together take all inputs.

use mu_calculus::{AtomId, Labels, Problem, StateId};
use three_valued::Truth;

use crate::naive;
use crate::random::{self, ATOMS, Edges};
use avr_testkit::Random;

struct Concrete {
    states: u32,
    inputs: u32,
    /// The next state by state and input.
    step: Vec<Vec<u32>>,
    labels: Labels,
}

impl Concrete {
    fn new(random: &mut Random) -> Self {
        let (states, inputs) = (1 + random.below(5), 1 + random.below(3));
        let step = (0..states).map(|_| (0..inputs).map(|_| random.below(states)).collect()).collect();
        let mut labels = Labels::new(ATOMS as usize, states as usize);
        for atom in (0..ATOMS).map(AtomId) {
            for state in (0..states).map(StateId) {
                labels.set(atom, state, Truth::from(random.chance(50)));
            }
        }
        Self { states, inputs, step, labels }
    }

    fn edges(&self) -> Edges {
        self.step.iter().map(|next| next.iter().map(|&next| vec![next]).collect()).collect()
    }
}

/// The concrete states that each abstract state covers; every concrete state is covered by some.
fn cover(random: &mut Random, concrete: &Concrete) -> Vec<Vec<u32>> {
    let mut covers: Vec<Vec<u32>> = (0..1 + random.below(5))
        .map(|_| {
            let chosen: Vec<u32> = (0..concrete.states).filter(|_| random.chance(50)).collect();
            if chosen.is_empty() { vec![random.below(concrete.states)] } else { chosen }
        })
        .collect();
    for state in 0..concrete.states {
        if !covers.iter().any(|cover| cover.contains(&state)) {
            covers.push(vec![state]);
        }
    }
    covers
}

/// The hyper-edges of one abstract state: the inputs in groups, per group members that cover all that can follow.
fn abstract_edges(random: &mut Random, concrete: &Concrete, covers: &[Vec<u32>], here: usize) -> Vec<Vec<u32>> {
    if random.chance(5) {
        return Vec::new();
    }
    let groups = 1 + random.below(concrete.inputs);
    let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); groups as usize];
    for input in 0..concrete.inputs {
        inputs[random.below(groups) as usize].push(input);
    }
    inputs.retain(|group| !group.is_empty());
    inputs
        .iter()
        .map(|group| {
            let mut members: Vec<u32> = Vec::new();
            for &state in &covers[here] {
                for &input in group {
                    let next = concrete.step[state as usize][input as usize];
                    let covering: Vec<u32> =
                        (0..covers.len() as u32).filter(|&index| covers[index as usize].contains(&next)).collect();
                    if !members.iter().any(|member| covering.contains(member)) {
                        members.push(random.pick(&covering));
                    }
                }
            }
            members
        })
        .collect()
}

fn abstract_labels(random: &mut Random, concrete: &Concrete, covers: &[Vec<u32>]) -> Labels {
    let mut labels = Labels::new(ATOMS as usize, covers.len());
    for atom in (0..ATOMS).map(AtomId) {
        for (index, cover) in covers.iter().enumerate() {
            let values = cover.iter().map(|&state| concrete.labels.get(atom, StateId(state)));
            let joined = values.reduce(Truth::join).unwrap_or_default();
            let weakened = if random.chance(10) { Truth::Unknown } else { joined };
            labels.set(atom, StateId(index as u32), weakened);
        }
    }
    labels
}

#[test]
fn decided_values_hold_in_all_covered_states() {
    let mut decided = 0_u64;
    let cases = random::cases(100_000) / 4;
    for seed in 0..cases {
        let mut random = Random::new(seed ^ 0x7000_0000);
        let concrete = Concrete::new(&mut random);
        let covers = cover(&mut random, &concrete);
        let edges: Edges =
            (0..covers.len()).map(|here| abstract_edges(&mut random, &concrete, &covers, here)).collect();
        let (graph, labels) = (random::graph(&edges), abstract_labels(&mut random, &concrete, &covers));
        let formula = random::formula(&mut random);
        let normal_form = random::normal_form(&formula);
        let solution = random::solve(&Problem { graph: &graph, labels: &labels, formula: &normal_form });
        let truths = naive::evaluate(&random::graph(&concrete.edges()), &concrete.labels, &formula);
        for (index, cover) in covers.iter().enumerate() {
            let value = solution.truth(StateId(index as u32), normal_form.root());
            decided += u64::from(!value.is_unknown());
            for &state in cover {
                let really = truths[state as usize];
                assert!(value.is_unknown() || value == really, "seed {seed}: claimed {value}, but {really}");
            }
        }
    }
    assert!(decided > cases, "too few decided values ({decided}) to mean anything");
}
