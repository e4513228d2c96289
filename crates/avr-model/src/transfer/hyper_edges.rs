//! Hyper-edges over the outcomes of a step.

use super::Leaf;
use super::choices::{Answer, Chooser, uses_abstracted_freedom};
use crate::faults::partial_order as faults;
use crate::state::AbstractState;
use three_valued::fault::{Fault, is_on};
use tvar::{HyperEdges, LocationPrecision};

/// The player that makes the choices that the model leaves to the hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HardwareChoice {
    /// The environment: verdicts are about the model.
    #[default]
    Free,
    /// Neither player: verdicts that remain are about the hardware, whatever it does.
    Open,
}

/// The most hyper-edges that are made from independent choices below different cases.
pub(crate) const MAX_COMBINATIONS: usize = 256;
/// The same where states are to be few.
pub(crate) const FEW_COMBINATIONS: usize = 8;

/// The hyper-edges over the leaves of a script tree, each as indices into `scripts`, which are in the order of
/// enumeration.
///
/// An environment's choice gives the hyper-edges of all its answers. Below the cases of a stored unknown, a hyper-edge
/// takes one hyper-edge of every case: whichever case a concrete state is in, there is an input that leads into the set.
///
/// Of more than `most` combinations only some are made.
pub(crate) fn hyper_edges(scripts: &[Vec<Answer>], hardware: HardwareChoice, most: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..scripts.len()).collect();
    if scripts.is_empty() { Vec::new() } else { edges_below(scripts, &all, 0, hardware, most) }
}

fn edges_below(
    scripts: &[Vec<Answer>],
    leaves: &[usize],
    depth: usize,
    hardware: HardwareChoice,
    most: usize,
) -> Vec<Vec<usize>> {
    let Some(question) = scripts[leaves[0]].get(depth) else {
        return vec![leaves.to_vec()];
    };
    let alternatives = leaves.chunk_by(|a, b| scripts[*a][depth].index == scripts[*b][depth].index);
    let below = alternatives.map(|group| edges_below(scripts, group, depth + 1, hardware, most));
    match (question.chooser, hardware) {
        (Chooser::Environment, _) | (Chooser::Hardware, HardwareChoice::Free) => below.flatten().collect(),
        (Chooser::State, _) if is_on(Fault::CasesAreChoices) => below.flatten().collect(),
        (Chooser::State, _) | (Chooser::Hardware, HardwareChoice::Open) => {
            below.reduce(|all, one| combine(&all, &one, most)).unwrap_or_default()
        }
    }
}

/// Every union of a set of the first list and one of the second; when that is too many, a selection in which every set
/// still occurs.
fn combine(all: &[Vec<usize>], one: &[Vec<usize>], most: usize) -> Vec<Vec<usize>> {
    let union = |a: &Vec<usize>, b: &Vec<usize>| a.iter().chain(b).copied().collect();
    if all.len() * one.len() <= most {
        return all.iter().flat_map(|a| one.iter().map(move |b| union(a, b))).collect();
    }
    // SOUND: each of these is one of the unions above, and each leaf stays in some hyper-edge, so may is complete.
    let longest = all.len().max(one.len());
    (0..longest).map(|index| union(&all[index % all.len()], &one[index % one.len()])).collect()
}

/// Adds the hyper-edges over the outcomes of steps.
pub(crate) fn add_edges(
    leaves: Vec<Leaf>,
    (precision, branches): (&LocationPrecision, bool),
    edges: &mut HyperEdges<AbstractState>,
) {
    let is_unsure = |leaf: &Leaf| leaf.defers_certain && !faults::is_on(faults::Fault::DeferredIsSure);
    if let [only] = leaves.as_slice() {
        edges.add([only.state]);
        edges.set_unsure(is_unsure(only).then_some(0));
        return;
    }
    let unsure: Vec<bool> = leaves.iter().map(is_unsure).collect();
    let (scripts, states): (Vec<_>, Vec<_>) = leaves.into_iter().map(|leaf| (leaf.script, leaf.state)).unzip();
    let most = if precision.coarse && !branches { FEW_COMBINATIONS } else { MAX_COMBINATIONS };
    let free = hyper_edges(&scripts, HardwareChoice::Free, most);
    for edge in &free {
        edges.add(edge.iter().map(|leaf| states[*leaf]));
    }
    let members = free.iter().flatten().enumerate();
    edges.set_unsure(members.filter(|(_, leaf)| unsure[**leaf]).map(|(position, _)| position));
    if scripts.iter().any(|script| uses_abstracted_freedom(script)) {
        // Every leaf is a member of some hyper-edge; its first place among them stands for it.
        let members: Vec<usize> = free.into_iter().flatten().collect();
        let position = |leaf: usize| members.iter().position(|member| *member == leaf).expect("a member");
        let open = hyper_edges(&scripts, HardwareChoice::Open, most);
        edges.set_open(open.into_iter().map(|edge| edge.into_iter().map(position).collect()).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(index: u32) -> Answer {
        Answer { chooser: Chooser::Environment, index, count: 2 }
    }

    fn case(index: u32) -> Answer {
        Answer { chooser: Chooser::State, index, count: 2 }
    }

    #[track_caller]
    fn check(scripts: &[&[Answer]], expected: &[&[usize]]) {
        let scripts: Vec<Vec<Answer>> = scripts.iter().map(|script| script.to_vec()).collect();
        assert_eq!(
            hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS),
            expected.iter().map(|edge| edge.to_vec()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn inputs_make_hyper_edges_and_cases_make_members() {
        check(&[&[]], &[&[0]]);
        check(&[&[input(0)], &[input(1)]], &[&[0], &[1]]);
        check(&[&[case(0)], &[case(1)]], &[&[0, 1]]);
        check(&[&[input(0), case(0)], &[input(0), case(1)], &[input(1)]], &[&[0, 1], &[2]]);
        // Below each case the environment still chooses: all combinations.
        check(&[&[case(0), input(0)], &[case(0), input(1)], &[case(1)]], &[&[0, 2], &[1, 2]]);
        check(
            &[&[case(0), input(0)], &[case(0), input(1)], &[case(1), input(0)], &[case(1), input(1)]],
            &[&[0, 2], &[0, 3], &[1, 2], &[1, 3]],
        );
    }

    #[test]
    fn choices_of_the_hardware_are_free_or_open() {
        let hardware = |index| Answer { chooser: Chooser::Hardware, index, count: 2 };
        let scripts = vec![vec![hardware(0), input(0)], vec![hardware(0), input(1)], vec![hardware(1)]];
        assert_eq!(hyper_edges(&scripts, HardwareChoice::Free, MAX_COMBINATIONS), [vec![0], vec![1], vec![2]]);
        assert_eq!(hyper_edges(&scripts, HardwareChoice::Open, MAX_COMBINATIONS), [vec![0, 2], vec![1, 2]]);
    }

    #[test]
    fn too_many_combinations_are_thinned_without_losing_a_leaf() {
        let sets = |from: usize, count: usize| (from..from + count).map(|leaf| vec![leaf]).collect::<Vec<_>>();
        let (all, one) = (sets(0, 64), sets(64, 32));
        for most in [FEW_COMBINATIONS, MAX_COMBINATIONS] {
            let combined = combine(&all, &one, most);
            assert_eq!(combined.len(), 64);
            for leaf in 0..96 {
                assert!(combined.iter().any(|edge| edge.contains(&leaf)));
            }
            assert!(combined.iter().all(|edge| edge.len() == 2 && edge[0] < 64 && edge[1] >= 64));
        }
    }
}
