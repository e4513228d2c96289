//! The worst-case depth of the stack, read off a state space.

use crate::result::StackBound;
use crate::state::AbstractState;
use crate::system::Firmware;
use avr_machine::Machine;
use avr_properties::StateView;
use mu_calculus::{AtomId, Formula, Labels, Modality, NormalForm, PathOperator, PathQuantifier, Problem, StateId};
use three_valued::Truth;
use tvar::{StateSpace, Watch};

/// The deepest that the stack is in a state, in bytes below RAMEND; none where the pointer is torn or there is none.
pub(crate) fn depth(firmware: &Firmware<'_>, state: &AbstractState) -> Option<u32> {
    depth_in(firmware.machine, &firmware.view(state)?)
}

/// The same of a state as properties see it.
pub(crate) fn depth_in(machine: &Machine, view: &impl StateView) -> Option<u32> {
    if view.stack_pointer_torn() {
        return None;
    }
    let pointer = machine.stack_pointer().value(|address| view.cell(address).known())?;
    Some(u32::from(machine.data_end()).saturating_sub(u32::from(pointer)))
}

/// The stack bound that a state space shows.
///
/// The upper bound speaks of all paths, so it exists only when every path was followed to its end: no engine limit was
/// reached and no hazard, after which nothing is promised. The lower bound is the greatest depth that some run certainly
/// reaches. States from which every path ends are left out of both.
pub(crate) fn bound(firmware: &Firmware<'_>, space: &StateSpace<AbstractState>, watch: &dyn Watch) -> StackBound {
    let Some(ends) = ends(space, watch) else { return StackBound::default() };
    let depth = |(state, ends): (_, &Truth)| depth(firmware, state).filter(|_| !ends.is_true());
    let depths: Vec<Option<u32>> = space.states.iter().zip(&ends).map(depth).collect();
    let greatest = depths.iter().copied().max().flatten();
    let followed = space.is_complete() && space.hazards().is_empty();
    StackBound { lower: reached(space, &depths, &ends, watch), upper: greatest.filter(|_| followed) }
}

/// Whether every path ends, for each state; none if the user cannot wait.
fn ends(space: &StateSpace<AbstractState>, watch: &dyn Watch) -> Option<Vec<Truth>> {
    if space.ends().is_empty() {
        return Some(vec![Truth::False; space.states.len()]);
    }
    let ended = Formula::Path(PathQuantifier::All, PathOperator::Eventually, Box::new(Formula::Atom(AtomId(0))));
    let (graph, formula) = (space.graph(false), NormalForm::new(&ended).expect("the formula is closed"));
    let mut labels = Labels::new(1, space.states.len());
    (0..space.states.len() as u32).for_each(|state| labels.set(AtomId(0), StateId(state), Truth::False));
    space.ends().iter().for_each(|end| labels.set(AtomId(0), StateId(*end), Truth::True));
    let solution = Problem { graph: &graph, labels: &labels, formula: &formula }.solve(&|| watch.cancelled()).ok()?;
    Some(graph.states().map(|state| solution.truth(state, formula.root())).collect())
}

/// The greatest depth for which `EF depth >= d` holds on the paths that do not end.
fn reached(
    space: &StateSpace<AbstractState>,
    depths: &[Option<u32>],
    ends: &[Truth],
    watch: &dyn Watch,
) -> Option<u32> {
    let graph = space.graph(false);
    let deeper = NormalForm::new(&reachable()).expect("the formula is closed");
    let mut different: Vec<u32> = depths.iter().copied().flatten().collect();
    different.sort_unstable();
    different.dedup();
    let holds = |wanted: u32| {
        let mut labels = Labels::new(2, depths.len());
        for ((depth, ends), state) in depths.iter().zip(ends).zip(0..) {
            let is_deep = Truth::from(depth.is_some_and(|depth| depth >= wanted));
            labels.set(AtomId(0), StateId(state), is_deep & !*ends);
            labels.set(AtomId(1), StateId(state), *ends);
        }
        let problem = Problem { graph: &graph, labels: &labels, formula: &deeper };
        problem.solve(&|| watch.cancelled()).is_ok_and(|solution| solution.verdict().is_true())
    };
    // The deepest point is usually reached for certain; otherwise the depths that are form a prefix.
    if different.last().is_some_and(|deepest| holds(*deepest)) {
        return different.last().copied();
    }
    let certain = different.partition_point(|depth| holds(*depth));
    certain.checked_sub(1).map(|index| different[index])
}

/// `AX (EF p || q)` with the first atom p and the second one q: for every initial content, p can be reached, or every path ends.
fn reachable() -> Formula<AtomId> {
    let eventually =
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, Box::new(Formula::Atom(AtomId(0))));
    Formula::Modal(Modality::Box, Box::new(Formula::Or(vec![eventually, Formula::Atom(AtomId(1))])))
}
