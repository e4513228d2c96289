//! Verdicts about systems.
//!
//! * A condition *holds* if it is certainly true in every state that may be reached. *No deadlock* holds if from each of them something
//!   on a wire can certainly happen, or is not asked for.
//! * A property is *violated* by a concrete run of all nodes that leads into a state in which the condition is certainly false, or from
//!   which nothing on a wire can happen whatever comes.
//! * A formula of linear time holds if it is true of every fair run. It is violated by a concrete fair run of all nodes of which the end
//!   repeats for ever.
//! * A specification simulates the system if pairs of states do that for all that may happen. It is violated by a run that it does not allow.
//! * A formula of branching time holds if it is certainly true at the start. It is violated by a run into a state without something that it
//!   says to be possible.
//! * Else it is *unknown*, for the reason that comes first.

mod branching;
mod conforms;

use avr_properties::Atom;
use mu_calculus::{
    AtomId, Formula, GraphBuilder, HyperGraph, Labels as Labelling, NormalForm, PathOperator, PathQuantifier, Problem,
    StateId,
};
use three_valued::Truth;

use crate::binding::{Goal, HAPPENED, NodeAtom, System, SystemProperty};
use crate::branching::{again_and_again, counts_steps, speaks_of_fair_runs};
use crate::composition::{Limits, Space, Told};
use crate::faults::{Fault, is_on};
use crate::lasso::{Lasso, Refutation};
use crate::moments::{are_untold, without_events};
use crate::node::{Distinctions, Node, Parts};
use crate::replay::replay;
use crate::run::Run;
use crate::wire::Uart;
use crate::word::Word;

/// The contents of the memory at the start that runs are tried with.
const CONTENTS: u8 = 4;
/// The most states in which a property is violated to which runs are sought.
const CANDIDATES: usize = 8;
const TOO_MANY: &str = "there are too many states to number";
const GIVEN_UP: &str = "the search was given up";
const NO_LASSO: &str = "a fair run of the abstraction violates it, and no concrete run of all nodes was found that does and repeats for ever";

/// The answer about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is proved.
    Holds,
    /// A run of all nodes violates it.
    Violated(Box<Run>),
    /// Neither is shown, for this reason.
    Unknown(String),
}

/// The basis of a verdict: the freedom of the model on which it rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The verdict is about the hardware.
    Hardware,
    /// The verdict uses a choice that the model leaves open and the hardware would determine.
    Model,
}

/// The result for a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyResult {
    /// The name.
    pub name: String,
    /// The kind, as files name it.
    pub kind: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The basis of the answer; none if it is unknown.
    pub basis: Option<Basis>,
    /// The number of states of the system that were found.
    pub states: usize,
}

/// The results for a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// One for each property, in the order of the file.
    pub properties: Vec<PropertyResult>,
    /// The number of states of each node that were told apart, in the order of nodes: the most of all searches.
    pub node_states: Vec<usize>,
    /// The steps of single nodes that were taken.
    pub steps: u64,
}

/// The result for a property, with what the states rest on.
struct Decided {
    result: PropertyResult,
    /// True if some state has an outcome that the hardware would determine.
    rests_on_model: bool,
}

impl System<'_> {
    /// Decides all properties.
    #[must_use]
    pub fn verify(&self, limits: Limits, is_over: &(dyn Fn() -> bool + Sync)) -> Results {
        let mut results = Results { properties: Vec::new(), node_states: vec![0; self.names.len()], steps: 0 };
        for property in &self.properties {
            let mut ladder = self.ladder(&property.goal, limits.single_steps).into_iter();
            let mut distinctions = ladder.next().unwrap_or_default();
            let mut decided = self.decided(property, (limits, distinctions), is_over, &mut results);
            for finer in ladder {
                if matches!(decided.result.verdict, Verdict::Unknown(_)) && !is_over() {
                    let again = self.decided(property, (limits, finer), is_over, &mut results);
                    if !finer.splits || !matches!(again.result.verdict, Verdict::Unknown(_)) {
                        (decided, distinctions) = (again, finer);
                    }
                }
            }
            // That something can happen may rest on what the hardware would determine.
            if decided.result.verdict == Verdict::Holds
                && decided.rests_on_model
                && matches!(property.goal, Goal::Live(_) | Goal::Branching(_))
            {
                let strict = Distinctions { is_strict: true, ..distinctions };
                let again = self.decided(property, (limits, strict), is_over, &mut results);
                if again.result.verdict != Verdict::Holds {
                    decided.result.basis = Some(Basis::Model);
                }
            }
            results.properties.push(decided.result);
        }
        results
    }

    fn decided(
        &self,
        property: &SystemProperty,
        (limits, distinctions): (Limits, Distinctions),
        is_over: &(dyn Fn() -> bool + Sync),
        results: &mut Results,
    ) -> Decided {
        let told = Told {
            movers: self.tells_movers(&property.goal),
            happening: matches!(property.goal, Goal::Live(_)),
            rounds: match &property.goal {
                Goal::Linear(_) => true,
                Goal::Branching(formula) => speaks_of_fair_runs(formula),
                Goal::Always(_) | Goal::Live(_) | Goal::Conforms(_) => false,
            },
        };
        let wanted = self.wanted(&property.goal);
        let nodes = wanted.iter().enumerate().map(|(node, atoms)| Node::new(self.parts(node, atoms), distinctions));
        let nodes = nodes.collect();
        let mut space = Space::new(nodes, self.wires.clone(), told, distinctions);
        let is_complete = space.explore(limits, &|| is_over());
        let verdict = match &property.goal {
            Goal::Always(check) => self.always(&mut space, check, is_complete),
            Goal::Linear(path) => self.linear(&mut space, path, is_complete, is_over),
            Goal::Conforms(conformance) => {
                self.conforms(&mut space, conformance, (is_complete, limits.states), is_over)
            }
            Goal::Live(except) => self.live(&mut space, except.as_ref(), is_complete, is_over),
            Goal::Branching(formula) => self.branching(&mut space, formula, is_complete, is_over),
        };
        for (most, node) in results.node_states.iter_mut().zip(&space.nodes) {
            *most = (*most).max(node.len());
        }
        results.steps += space.nodes.iter().map(|node| node.steps).sum::<u64>();
        let states = space.states.len();
        let basis = match &verdict {
            Verdict::Holds => Some(Basis::Hardware),
            Verdict::Violated(run) if run.rests_on_model => Some(Basis::Model),
            Verdict::Violated(_) => Some(Basis::Hardware),
            Verdict::Unknown(_) => None,
        };
        let rests_on_model = space.nodes.iter().any(|node| node.rests_on_model);
        let result = PropertyResult { name: property.name.clone(), kind: property.kind, verdict, basis, states };
        Decided { result, rests_on_model }
    }

    /// The distinctions that are tried one after the other until the property is decided: values of characters, the flags of transmitters
    /// and inputs that no wire supplies are told apart only where that helps.
    fn ladder(&self, goal: &Goal, single_steps: bool) -> Vec<Distinctions> {
        // Moments in which a frame ends are moments of runs.
        let follows_sent = self.tells_moments(goal);
        // SOUND: behind an event a local step of another node is a moment without it.
        let single_steps = single_steps || follows_sent && !is_on(Fault::EventsOverAtOnce);
        // SOUND: automata of linear time take a label that is not known for one value or the other, the same in all moments that one state stands for.
        let tells_unknown = matches!(goal, Goal::Linear(_) | Goal::Branching(_));
        let first = Distinctions { single_steps, tells_unknown, follows_sent, ..Distinctions::default() };
        let with_values = Distinctions { follows_values: true, ..first };
        let with_flags = Distinctions { follows_sent: true, ..with_values };
        let with_inputs = Distinctions { splits: true, ..with_flags };
        let all = match self.wires.lines.is_empty() {
            true => vec![first, with_inputs],
            false => vec![first, with_values, with_flags, with_inputs],
        };
        let mut ladder: Vec<Distinctions> = Vec::new();
        ladder.extend(all.into_iter().filter(|it| follows_sent <= it.follows_sent));
        ladder.dedup();
        ladder
    }

    /// True if a goal tells moments in which no node does anything.
    fn tells_moments(&self, goal: &Goal) -> bool {
        let is_event = |atom: AtomId| self.atom(atom).is_some_and(|atom| atom.is_event);
        let speaks = |formula: &Formula<AtomId>| formula.atoms().into_iter().any(|atom| is_event(*atom));
        match goal {
            Goal::Always(check) => speaks(check) && without_events(check, &is_event) != Truth::True,
            Goal::Live(except) => except.as_ref().is_some_and(speaks),
            Goal::Linear(path) => !are_untold(path, &is_event),
            Goal::Branching(formula) => tells_steps(formula) || speaks(formula),
            // A moment without events leaves a specification where it is.
            Goal::Conforms(_) => false,
        }
    }

    /// True if a goal speaks of events.
    fn tells_movers(&self, goal: &Goal) -> bool {
        goal.atoms().iter().any(|atom| self.atom(*atom).is_some_and(|atom| atom.is_event))
    }

    /// By node: the atoms that a goal speaks of, with their numbers.
    fn wanted(&self, goal: &Goal) -> Vec<(Vec<usize>, Vec<Atom>)> {
        let mut all = vec![(Vec::new(), Vec::new()); self.names.len()];
        for NodeAtom { node, atom, .. } in goal.atoms().into_iter().filter_map(|atom| self.atom(atom)) {
            all[*node].0.push(*atom);
            all[*node].1.push(self.tables[*node].atoms()[*atom].clone());
        }
        all
    }

    fn parts<'p>(&'p self, node: usize, (numbers, atoms): &'p (Vec<usize>, Vec<Atom>)) -> Parts<'p> {
        let machine = &self.machines[node];
        Parts {
            name: &self.names[node],
            machine,
            image: self.images[node],
            numbers,
            atoms,
            ends: self.wires.ends(node),
            uart: Uart::of(machine.device).filter(|_| self.wires.has_line(node)),
        }
    }

    fn atom(&self, atom: AtomId) -> Option<&NodeAtom> {
        self.atoms.get(atom.index().checked_sub(1)?)
    }

    /// The truth of an atom in a state.
    fn label(&self, space: &Space<'_>, state: u32, atom: AtomId) -> Truth {
        if space.is_end(state) {
            return Truth::Unknown;
        }
        let here = &space.states[state as usize];
        let Some(NodeAtom { node, atom, is_event }) = self.atom(atom) else { return here.happened };
        if *is_event && !here.is_mover(*node) {
            return Truth::False;
        }
        space.nodes[*node].label(here.node(*node), *atom)
    }

    /// The truth of a condition in a state.
    fn truth(&self, space: &Space<'_>, state: u32, formula: &Formula<AtomId>) -> Truth {
        let truth = |p: &Formula<AtomId>| self.truth(space, state, p);
        match formula {
            Formula::Constant(value) => Truth::from(*value),
            Formula::Atom(atom) => self.label(space, state, *atom),
            Formula::Not(p) => !truth(p),
            Formula::And(all) => all.iter().fold(Truth::True, |so_far, p| so_far & truth(p)),
            Formula::Or(all) => all.iter().fold(Truth::False, |so_far, p| so_far | truth(p)),
            Formula::Implies(p, q) => !truth(p) | truth(q),
            Formula::Iff(p, q) => {
                let (p, q) = (truth(p), truth(q));
                (p & q) | (!p & !q)
            }
            Formula::Choice(a, p, q) => match truth(a) {
                Truth::True => truth(p),
                Truth::False => truth(q),
                Truth::Unknown => truth(p).join(truth(q)),
            },
            _ => Truth::Unknown,
        }
    }

    fn always(&self, space: &mut Space<'_>, check: &Formula<AtomId>, is_complete: bool) -> Verdict {
        let truths: Vec<Truth> = (0..space.states.len() as u32).map(|state| self.truth(space, state, check)).collect();
        let name = |state: u32| self.described(space, state);
        let unknown = truths.iter().position(|truth| *truth == Truth::Unknown);
        let reason = unknown.map(|state| match space.end(state as u32) {
            Some((node, reason)) => format!("a path ends in {}: {reason}", self.names[node]),
            None => format!("the condition is not known {}", name(state as u32)),
        });
        self.concluded(space, &truths, is_complete, reason)
    }

    fn live(
        &self,
        space: &mut Space<'_>,
        except: Option<&Formula<AtomId>>,
        is_complete: bool,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Verdict {
        let happens =
            Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, Box::new(Formula::Atom(HAPPENED)));
        let goal = match except {
            Some(except) => Formula::Or(vec![except.clone(), happens]),
            None => happens,
        };
        let truths = match self.truths(space, &goal, is_over) {
            Ok(truths) => truths,
            Err(reason) => return Verdict::Unknown(reason),
        };
        let truths = match is_on(Fault::DeadlockIgnored) {
            true => truths.into_iter().map(|truth| truth | Truth::True).collect(),
            false => truths,
        };
        let end = (0..space.states.len() as u32).find_map(|state| space.end(state));
        let reason = truths.iter().position(|truth| *truth == Truth::Unknown).map(|state| match end {
            Some((node, reason)) => format!("a path ends in {}: {reason}", self.names[node]),
            None => format!("it is not known if something can happen {}", self.described(space, state as u32)),
        });
        self.concluded(space, &truths, is_complete, reason)
    }

    /// The atom behind all others: a round ends in which each node and each line had its turn.
    fn round(&self) -> AtomId {
        AtomId(self.atoms.len() as u32 + 1)
    }

    /// The truth of atoms in all states.
    fn labelling(&self, space: &Space<'_>, formula: &NormalForm) -> Labelling {
        let mut labels = Labelling::new(self.round().index() + 1, space.states.len());
        for atom in formula.atoms() {
            for state in 0..space.states.len() as u32 {
                let label = match atom == self.round() {
                    true => Truth::from(space.ends_round(state)),
                    false => self.label(space, state, atom),
                };
                labels.set(atom, StateId(state), label);
            }
        }
        labels
    }

    /// The truth of a formula in each state; the reason for which it was given up.
    fn truths(
        &self,
        space: &Space<'_>,
        formula: &Formula<AtomId>,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Truth>, String> {
        let formula = NormalForm::new(formula).map_err(|error| format!("the formula cannot be followed: {error}"))?;
        let graph = graph(space).ok_or(TOO_MANY)?;
        let labels = self.labelling(space, &formula);
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        let solution = problem.solve(is_over).map_err(|_| GIVEN_UP)?;
        Ok(graph.states().map(|state| solution.truth(state, formula.root())).collect())
    }

    /// The verdict about a formula of linear time over the fair runs: each node takes steps again and again, and characters move on.
    fn linear(
        &self,
        space: &mut Space<'_>,
        path: &Formula<AtomId>,
        is_complete: bool,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Verdict {
        if !is_complete {
            return Verdict::Unknown(format!("a limit was hit after {} states of the system", space.states.len()));
        }
        let all_fair = match is_on(Fault::UnfairCounts) || is_on(Fault::RepetitionIsUnfair) {
            true => Formula::Constant(true),
            false => again_and_again(self.round()),
        };
        let goal = Formula::Implies(Box::new(all_fair), Box::new(path.clone()));
        let Ok(formula) = NormalForm::new(&Formula::quantified(PathQuantifier::All, goal)) else {
            return Verdict::Unknown("the formula is too large".to_owned());
        };
        let Some(graph) = graph(space) else {
            return Verdict::Unknown(TOO_MANY.to_owned());
        };
        let labels = self.labelling(space, &formula);
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        let Ok(solution) = problem.solve(is_over) else {
            return Verdict::Unknown(GIVEN_UP.to_owned());
        };
        let end = (0..space.states.len() as u32).find_map(|state| space.end(state));
        let end = end.map(|(node, reason)| (node, reason.to_owned()));
        match (solution.truth(graph.initial(), formula.root()), end) {
            (Truth::True, _) => Verdict::Holds,
            (Truth::False, _) => {
                let refutation = Refutation { problem: &problem, solution: &solution };
                let run = |content| {
                    let lasso = refutation.lasso(space, content)?;
                    self.refuted(space, path, lasso)
                };
                match (0..CONTENTS).find_map(run) {
                    Some(run) => Verdict::Violated(Box::new(run)),
                    None => Verdict::Unknown(NO_LASSO.to_owned()),
                }
            }
            (Truth::Unknown, Some((node, reason))) => {
                Verdict::Unknown(format!("a path ends in {}: {reason}", self.names[node]))
            }
            (Truth::Unknown, None) => Verdict::Unknown("it depends on what is not known".to_owned()),
        }
    }

    /// The run of a lasso, if it is fair and the formula is certainly false of it.
    fn refuted(&self, space: &Space<'_>, path: &Formula<AtomId>, lasso: Lasso) -> Option<Run> {
        let Lasso { run, states, back, is_fair } = lasso;
        let letter = |position: usize, atom: AtomId| self.label(space, states[position], atom);
        let word = Word { letter: &letter, length: states.len(), back };
        let is_fair = is_fair.iter().all(|fair| *fair) || is_on(Fault::RepetitionIsUnfair);
        (is_fair && word.value(path) == Truth::False).then_some(run)
    }

    /// The verdict about a goal that has these truths in the states that were found.
    fn concluded(&self, space: &mut Space<'_>, truths: &[Truth], is_complete: bool, reason: Option<String>) -> Verdict {
        let violated: Vec<u32> =
            (0..truths.len() as u32).filter(|state| truths[*state as usize] == Truth::False).collect();
        for state in violated.iter().take(CANDIDATES) {
            if let Some(run) = replay(space, *state, CONTENTS) {
                return Verdict::Violated(Box::new(run));
            }
        }
        if !violated.is_empty() {
            let reason = "a state violates it, and no concrete run of all nodes to it was found";
            return Verdict::Unknown(reason.to_owned());
        }
        if !is_complete {
            return Verdict::Unknown(format!("a limit was hit after {} states of the system", space.states.len()));
        }
        reason.map_or(Verdict::Holds, Verdict::Unknown)
    }

    /// The places of all nodes in a state.
    fn described(&self, space: &Space<'_>, state: u32) -> String {
        let here = &space.states[state as usize];
        let places = space.nodes.iter().enumerate();
        let places: Vec<String> =
            places.map(|(node, it)| format!("{} is {}", self.names[node], it.place_of(here.node(node)))).collect();
        format!("where {}", places.join(", "))
    }
}

/// True if a formula tells steps from each other that change nothing that it speaks of.
fn tells_steps(formula: &Formula<AtomId>) -> bool {
    counts_steps(formula) && !is_on(Fault::StepsUncounted)
}

/// The states as a graph; none if they are too many.
fn graph(space: &Space<'_>) -> Option<HyperGraph> {
    let mut builder = GraphBuilder::new();
    for state in 0..space.states.len() as u32 {
        builder.state();
        for edge in space.edges.of(state) {
            builder.edge(edge.members.iter().map(|member| StateId(*member)));
        }
    }
    builder.finish(StateId(0)).ok()
}
