//! Whether verdicts rest on choices that the model leaves open and the hardware would determine.

use crate::result::Basis;
use crate::script::HardwareChoice;
use crate::system::Firmware;
use mu_calculus::{Modality, Node, NodeId, NormalForm, Problem};
use three_valued::Truth;
use tvar::{Goal, Outcome, Progress, StateSpace, System, Watch};

/// The basis of each goal's verdict.
///
/// The state space is built once more with the hardware's choices left open instead of free: nobody makes them, they
/// merely are not known. A verdict that remains holds whatever the hardware does; the others rest on the model. Universal
/// verdicts remain, because the successors are the same; verdicts that need a certain choice may not.
pub(crate) fn bases(
    firmware: &mut Firmware<'_>,
    goals: &[Goal],
    outcome: &Outcome<Firmware<'_>>,
    watch: &dyn Watch,
) -> Vec<Basis> {
    let decided = outcome.decisions.iter().any(|decision| !decision.verdict.is_unknown());
    if !firmware.hardware_chose || !decided {
        return vec![Basis::Hardware; goals.len()];
    }
    firmware.hardware = HardwareChoice::Open;
    let space = StateSpace::explore(firmware, &outcome.precision, watch, &mut Progress::default());
    firmware.hardware = HardwareChoice::Free;
    let labels = space.labels(firmware.atoms.len(), |state, atom| firmware.label(state, atom));
    let (plain, with_hazards) = (space.graph(false), space.graph(true));
    let basis = |(goal, verdict): (&Goal, Truth)| {
        let graph = if goal.sees_hazards { &with_hazards } else { &plain };
        let problem = Problem { graph, labels: &labels, formula: &goal.formula };
        let remaining = problem.solve(&|| watch.cancelled()).map_or(Truth::Unknown, |solution| solution.verdict());
        let certain = verdict.is_unknown() || remaining == verdict || speaks_of_all(&goal.formula, verdict);
        if certain { Basis::Hardware } else { Basis::Model }
    };
    let verdicts = outcome.decisions.iter().map(|decision| decision.verdict);
    goals.iter().zip(verdicts).map(basis).collect()
}

/// Whether a verdict speaks of all successors only: a true formula without `<>`, a false one without `[]` apart from the
/// one over the initial content, which nobody chooses in a run. Then the hardware's choices do not matter.
fn speaks_of_all(formula: &NormalForm, verdict: Truth) -> bool {
    let reachable = |root: NodeId, wanted: Modality| {
        let mut waiting = vec![root];
        let mut seen = vec![false; formula.node_count()];
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            match formula.node(node) {
                Node::Modal(modality, _) if modality == wanted => return true,
                other => waiting.extend(other.children().iter()),
            }
        }
        false
    };
    match verdict {
        Truth::True => !reachable(formula.root(), Modality::Diamond),
        Truth::False => formula.node(formula.root()).children().iter().all(|child| !reachable(*child, Modality::Box)),
        Truth::Unknown => true,
    }
}
