//! The evaluation of goals under a precision that is not refined.

use crate::abstraction::Abstraction;
use crate::decision::Goal;
use crate::explorer::Explorer;
use crate::precision::Precision;
use crate::watch::{Progress, Watch};
use mu_calculus::Problem;
use three_valued::Truth;

/// The number of times that a state space is built until what it assumes is discharged.
const ATTEMPTS: usize = 3;

/// The verdicts of goals on one state space with limited locations, under a precision that is not refined. None if it is not finished
/// after so many states, or if what it assumes is not discharged.
pub fn evaluate_limited<S: Abstraction>(
    system: &mut S,
    precision: &Precision<S::Location>,
    (atoms, goals): (usize, &[&Goal]),
    budget: usize,
    watch: &dyn Watch,
) -> Option<Vec<Truth>> {
    (0..ATTEMPTS).find_map(|_| {
        let mut precision = precision.clone();
        let mut explorer = Explorer::new(system, true);
        explorer.explore(system, &mut precision, budget, watch, &mut Progress::default());
        let space = explorer.into_space(system);
        let is_complete = space.exhausted.is_none() && space.is_finished() && system.is_discharged();
        is_complete.then(|| {
            let labels = space.labels(atoms, |state, atom| system.label(state, atom));
            let verdict = |goal: &&Goal| {
                let graph = space.graph(goal.observes_hazards);
                let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
                problem.solve(&|| watch.cancelled()).map_or(Truth::Unknown, |solution| solution.verdict())
            };
            goals.iter().map(verdict).collect()
        })
    })
}
