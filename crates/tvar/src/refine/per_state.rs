//! The strategies *paper*: precision per abstract state, chosen as Onderka & Ratschan published it.
//!
//! Precision belongs to whole abstract states (Example 7 of the paper): the input precision of a state says which input
//! bits are split when it takes a step. Its step precision says which bits of the result are kept. One thing is refined
//! at a time. A state also has the precision of every state that covers it (equations 4 of the version with proofs).
//! Without this, more precision could lose verdicts.

use super::candidate_choice::trace;
use super::{Checked, Run, Views};
use crate::abstraction::Abstraction;
use crate::decision::{Goal, Outcome, Source, Undecided};
use crate::hyper_edges::HyperEdges;
use crate::observer::Observer;
use crate::precision::{Knob, LocationPrecision, Place, Precision, StepPrecision, Strategy, Variable};
use crate::state_space::StateSpace;
use crate::system::{Blame, Candidate, Lookup, LookupOf, StateKind, System};
use crate::watch::Watch;
use mu_calculus::AtomId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;
use std::sync::Arc;
use three_valued::Truth;

impl Place for () {}

/// Decides goals over a system with precision per abstract state.
pub(crate) fn verify<S: Abstraction>(
    system: &mut S,
    observer: &mut dyn Observer<S>,
    atoms: usize,
    goals: &[Goal],
    strategy: Strategy,
    watch: &dyn Watch,
) -> Outcome<S>
where
    S::State: Send + Sync,
{
    let mut states = PerState::new(system, strategy);
    // The precision that the loop keeps by location is not looked at.
    let mut observer = OfSystem(observer);
    let run = Run::new(&mut observer, (atoms, goals), strategy, watch).complete(&mut states, refine);
    Outcome {
        passes: run.progress.pass,
        latest: run.latest(),
        decisions: run.decisions(),
        precision: Precision::new(strategy),
        refined_states: states.table.refined,
    }
}

/// A system with per-state precision, which takes the place of precision by location. Steps are taken once and
/// remembered until they change.
#[derive(Debug)]
pub struct PerState<'s, S: System> {
    system: &'s mut S,
    table: Table<S::State>,
}

/// The precision of all abstract states.
#[derive(Debug)]
struct Table<T> {
    start: LocationPrecision,
    known: FxHashMap<T, Known<T>>,
    /// The refinements, each with its state.
    refined: Vec<(T, Knob)>,
}

/// The knowledge of a state that takes a step: its precision and its hyper-edges.
#[derive(Debug)]
struct Known<T> {
    /// Its own precision and that of all states that cover it.
    precision: LocationPrecision,
    /// The hyper-edges under that precision, after decay.
    edges: HyperEdges<T>,
}

impl<T: Clone + Eq + Hash, L> Lookup<T, L> for Table<T> {
    fn leaving(&self, state: &T, _: &L) -> &LocationPrecision {
        self.known.get(state).map_or(&self.start, |known| &known.precision)
    }

    fn arriving(&self, from: &T, location: &L) -> &StepPrecision {
        &Lookup::<T, L>::leaving(self, from, location).step
    }
}

impl<'s, S: System> PerState<'s, S> {
    /// A system where every abstract state has the precision that a strategy starts with.
    pub fn new(system: &'s mut S, strategy: Strategy) -> Self {
        let table = Table { start: strategy.start(), known: FxHashMap::default(), refined: Vec::new() };
        Self { system, table }
    }

    /// Refines a state and all that it covers; whether any state that took a step before takes another one now.
    pub fn refine(&mut self, state: &S::State, knob: Knob) -> bool {
        let covered = self.table.known.keys().filter(|known| self.system.covers(state, known));
        let mut changed = false;
        for covered in covered.cloned().collect::<Vec<_>>() {
            let mut precision = self.table.known[&covered].precision.clone();
            if precision.refine(knob) {
                let edges = self.edges(&covered, &precision);
                let before = self.table.known.insert(covered, Known { precision, edges: edges.clone() });
                changed |= before.is_some_and(|before| before.edges != edges);
            }
        }
        self.table.refined.push((state.clone(), knob));
        changed
    }

    /// The hyper-edges of a state under a precision, after decay.
    fn edges(&mut self, state: &S::State, precision: &LocationPrecision) -> HyperEdges<S::State> {
        let mut fresh = HyperEdges::default();
        self.system.expand(state, precision, &mut fresh);
        fresh.map(|member| match precision.step.keeps_all() {
            true => member,
            false => self.system.decay(member, &precision.step),
        })
    }

    /// The knowledge of a state that takes a step for the first time.
    fn first_step(&mut self, state: &S::State) -> Known<S::State> {
        let mut precision = self.table.start.clone();
        let covering = self.table.refined.iter().filter(|(refined, _)| self.system.covers(refined, state));
        covering.for_each(|(_, knob)| {
            precision.refine(*knob);
        });
        Known { edges: self.edges(state, &precision), precision }
    }

    fn is_new(&self, state: &S::State, knob: Knob) -> bool {
        self.table.known.get(state).is_some_and(|known| known.precision.is_new(knob))
    }
}

impl<S: System> System for PerState<'_, S> {
    type State = S::State;
    type Location = ();

    fn initial(&mut self) -> S::State {
        self.system.initial()
    }

    fn location(&self, _: &S::State) {}

    fn expand(&mut self, state: &S::State, _: &LocationPrecision, edges: &mut HyperEdges<S::State>) {
        if !self.table.known.contains_key(state) {
            let known = self.first_step(state);
            self.table.known.insert(state.clone(), known);
        }
        edges.clone_from(&self.table.known[state].edges);
    }

    fn decay(&mut self, state: S::State, _: &StepPrecision) -> S::State {
        state
    }

    fn covers(&self, coarse: &S::State, fine: &S::State) -> bool {
        self.system.covers(coarse, fine)
    }

    fn label(&self, state: &S::State, atom: AtomId) -> Truth {
        self.system.label(state, atom)
    }

    fn kind(&self, state: &S::State) -> StateKind {
        self.system.kind(state)
    }

    /// As the system blames; what decayed on arrival is refined in the state that the step starts from.
    fn blame(&mut self, path: &[S::State], cause: Blame, _: &LookupOf<'_, Self>) -> Vec<Candidate<()>> {
        let candidates = self.system.blame(path, cause, &self.table);
        let of_state = |Candidate { knob, step, indirection, direct, joint, .. }: Candidate<S::Location>| {
            let (knob, step) = match knob {
                Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => (Knob::Step(variable, bits), step - 1),
                Knob::Case(..) | Knob::Input(..) | Knob::Value(..) => (knob, step),
            };
            Candidate { location: (), knob, step, indirection, direct, joint }
        };
        candidates.into_iter().map(of_state).collect()
    }
}

impl<S: Abstraction> Abstraction for PerState<'_, S> {
    fn steps(&self) -> u64 {
        self.system.steps()
    }
}

/// The observer of the underlying system, as far as precision per state has something to tell.
struct OfSystem<'o, S: System>(&'o mut dyn Observer<S>);

impl<'s, S: System> Observer<PerState<'s, S>> for OfSystem<'_, S> {
    fn refined(&mut self, states: &PerState<'s, S>, state: &S::State) {
        self.0.refined(states.system, state);
    }
}

/// Makes one refinement for the first goal that one helps: bits of one culprit until the transition relation changes. True also where a
/// limit ended the search for one.
fn refine<'s, S: Abstraction>(
    run: &mut Run<'_, PerState<'s, S>>,
    states: &mut PerState<'s, S>,
    space: &Arc<StateSpace<S::State>>,
    views: &Views,
    open: Vec<Checked>,
) -> bool
where
    S::State: Send + Sync,
{
    for checked in &open {
        for culprit in run.culprits(checked, views) {
            run.progress.steps = states.steps();
            if run.watch.check(&run.progress).is_some() {
                return true;
            }
            let (path, cause) = trace(space, &culprit);
            if refine_culprit(states, &path, cause) {
                run.progress.refinements += 1;
                run.spend(checked.goal(), 1);
                run.observer.refined(states, &space.states[culprit.state.index()]);
                return true;
            }
        }
    }
    if space.is_finished() {
        for checked in open {
            let first = run.culprits(&checked, views).next();
            let first = first.expect("an unknown verdict has a culprit (determinacy of parity games)");
            let (path, blame) = trace(space, &first);
            let nothing = Precision::<()>::new(Strategy::Default);
            let sources = states.blame(&path, blame, &nothing).iter().map(Source::of).collect();
            run.leave_undecided(checked, space, Undecided::Stuck { path, blame, sources });
        }
    }
    false
}

/// Refines what a culprit depends on, bit by bit, until a state takes other steps (Example 9 of the paper); whether one
/// does.
fn refine_culprit<S: System>(states: &mut PerState<'_, S>, path: &[S::State], cause: Blame) -> bool {
    let nothing = Precision::<()>::new(Strategy::Default);
    let candidates = states.blame(path, cause, &nothing);
    let mut ranked: Vec<_> = candidates.iter().filter_map(|one| Some((rank(one)?, one.step, one.knob))).collect();
    ranked.sort_unstable_by_key(|(rank, ..)| *rank);
    ranked.into_iter().any(|(_, step, knob)| states.is_new(&path[step], knob) && states.refine(&path[step], knob))
}

/// The order of refinements in the paper (section 4): step precision in the last state that has a candidate, else input
/// precision with the highest indirection, last on the path. Ties are broken by variable, the most significant bit
/// first. The paper cuts nothing into cases, and splits bits only.
type Rank = (bool, Reverse<u8>, Reverse<usize>, Variable, Reverse<u64>);

fn rank<L>(candidate: &Candidate<L>) -> Option<Rank> {
    let (is_input, indirection, variable, bits) = match candidate.knob {
        Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => (false, 0, variable, bits),
        Knob::Input(variable, bits) => (true, candidate.indirection, variable, bits),
        Knob::Case(..) | Knob::Value(..) => return None,
    };
    Some((is_input, Reverse(indirection), Reverse(candidate.step), variable, Reverse(bits)))
}
