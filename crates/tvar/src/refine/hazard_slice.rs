//! Hazard slice: the bits that were forgotten on the way to a hazard that some cause may lead to.
//!
//! If much was forgotten, a state that no run reaches may fail for certain: it covers only states that were not
//! distinguished from others before. No unknown value is at fault there. So the cause itself, the choice that may lead
//! to it, tells nothing of what to refine; the dependences of the way to the hazard do.

use crate::abstraction::Abstraction;
use crate::precision::Knob;
use crate::refine::Run;
use crate::state_space::StateSpace;
use crate::system::{Blame, Candidate, StateKind};
use mu_calculus::{Cause, Culprit, Problem, Solution, StateId};
use std::collections::{HashMap, VecDeque};

impl<S: Abstraction> Run<'_, S>
where
    S::State: Send + Sync,
{
    /// The bits that were forgotten last, and are not kept yet, among those on which the way to the nearest certain
    /// hazard depends. The way begins at a cause that a path leads to; the bits are brought back everywhere.
    pub(crate) fn forgotten_beyond(
        &self,
        system: &mut S,
        path: &[S::State],
        space: &StateSpace<S::State>,
        solution: &Solution,
        problem: &Problem<'_>,
        culprit: &Culprit,
    ) -> Option<(S::Location, Knob)> {
        let rest = way_to_hazard(solution, problem, culprit, &|state| {
            system.kind(&space.states[state.index()]) == StateKind::Hazard
        })?;
        let rest = rest.into_iter().map(|state| space.states[state.index()].clone());
        let path: Vec<S::State> = path.iter().cloned().chain(rest).collect();
        let candidates = system.blame(&path, Blame::Sink, &self.precision).into_iter();
        let forgotten = candidates.filter_map(|Candidate { location, knob, step, .. }| match knob {
            Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => {
                Some((step, location, Knob::Everywhere(variable, bits)))
            }
            Knob::Case(..) | Knob::Input(..) | Knob::Value(..) => None,
        });
        let new = forgotten.filter(|(_, location, knob)| self.precision.is_new(location, *knob));
        new.max_by_key(|(step, ..)| *step).map(|(_, location, knob)| (location, knob))
    }
}

/// The states from a member of the hyper-edge of a cause to the nearest hazard, over states in which the formula fails
/// for certain. None if the cause is something else, or no member leads to such a hazard.
fn way_to_hazard(
    solution: &Solution,
    problem: &Problem<'_>,
    culprit: &Culprit,
    is_hazard: &dyn Fn(StateId) -> bool,
) -> Option<Vec<StateId>> {
    let Cause::Edge { edge, .. } = culprit.cause else { return None };
    let fails = |state: &StateId| solution.truth(*state, problem.formula.root()).is_false();
    let first = problem.graph.edge(culprit.state, edge).iter().copied().filter(fails);
    let mut before: HashMap<StateId, Option<StateId>> = first.map(|state| (state, None)).collect();
    let members = problem.graph.edge(culprit.state, edge).iter().copied();
    let mut waiting: VecDeque<StateId> = members.filter(|state| before.contains_key(state)).collect();
    while let Some(state) = waiting.pop_front() {
        if is_hazard(state) {
            let mut way: Vec<_> = std::iter::successors(Some(state), |state| before[state]).collect();
            way.reverse();
            return Some(way);
        }
        for next in problem.graph.may(state).iter().copied().filter(fails) {
            before.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                Some(state)
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use mu_calculus::{AtomId, GraphBuilder, Labels, parse_formula};
    use three_valued::Truth;

    /// The way to a hazard from the first cause that has one, for `AG p` in a graph with these hyper-edges.
    fn way(edges: &[&[&[u32]]], fails: &[u32], hazards: &[u32]) -> Option<(u32, Vec<u32>)> {
        let mut graph = GraphBuilder::new();
        for state in edges {
            graph.state();
            for members in *state {
                graph.edge(members.iter().map(|member| StateId(*member)));
            }
        }
        let graph = graph.finish(StateId(0)).expect("the graph is complete");
        let mut labels = Labels::new(1, edges.len());
        for state in graph.states() {
            labels.set(AtomId(0), state, Truth::from(!fails.contains(&state.0)));
        }
        let parsed = parse_formula("AG p").expect("the formula parses");
        let formula = parsed.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("binding succeeds");
        let formula = mu_calculus::NormalForm::new(&formula).expect("a small formula");
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        let solution = problem.solve(&|| false).expect("nothing cancels it");
        let is_hazard = |state: StateId| hazards.contains(&state.0);
        solution.culprits(&problem).find_map(|culprit| {
            let way = way_to_hazard(&solution, &problem, &culprit, &is_hazard)?;
            Some((culprit.state.0, way.into_iter().map(|state| state.0).collect()))
        })
    }

    #[test]
    fn the_way_leads_over_states_that_fail_to_the_nearest_hazard() {
        // From 0 one member is fine; from the other the way to 4 is certain, over 2 and 3.
        let edges: &[&[&[u32]]] = &[&[&[1, 2]], &[&[1]], &[&[3]], &[&[4], &[1]], &[&[4]]];
        assert_eq!(way(edges, &[4], &[4]), Some((0, vec![2, 3, 4])));
        assert_eq!(way(edges, &[3, 4], &[3, 4]), Some((0, vec![2, 3])), "it ends at the first");
    }

    #[test]
    fn there_is_no_way_to_what_fails_for_another_reason_or_only_perhaps() {
        let edges: &[&[&[u32]]] = &[&[&[1, 2]], &[&[1]], &[&[3]], &[&[4], &[1]], &[&[4]]];
        assert_eq!(way(edges, &[4], &[]), None);
        let perhaps: &[&[&[u32]]] = &[&[&[1, 2]], &[&[1]], &[&[1, 3]], &[&[3]]];
        assert_eq!(way(perhaps, &[3], &[3]), Some((2, vec![3])), "only from where it is certain");
    }
}
