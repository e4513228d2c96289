//! Checking a run apart from the search that found it. Its inputs are replayed, and what is claimed is looked up in the
//! states that are reached. The formula is evaluated on the run as a graph of its own.

use crate::concretise::view::{ConcreteView, note};
use crate::concretise::{Ending, Walked};
use crate::evidence::AtomChanges;
use crate::narrative::events::{Narrative, Told};
use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_machine::simulator::{Script, Stimulus};
use avr_machine::{Demand, DeterminedBy, Environment, Event, Input, MachineState, Possibilities, Question, Stop};
use avr_model::context::Context;
use avr_model::state::events::{Occurrences, Recorder, watched};
use avr_properties::Event as Watched;
use mu_calculus::{AtomId, GraphBuilder, HyperGraph, Labels, NormalForm, Problem, StateId};
use std::sync::Arc;
use three_valued::Truth;
use tvar::Watch;

/// On longer runs the formula is not evaluated; what is claimed of each state is looked up all the same.
const MAX_EVALUATED: u64 = 300_000;

/// The values of atoms on longer runs are noted for so many of the last steps, and for all of shorter ones.
const TRACED: u64 = 4_096;
/// So many changes of an atom are kept at least, the latest ones.
const MAX_CHANGES: usize = 10_000;

/// The outcome of a replay.
pub(crate) struct Confirmed {
    /// True if the formula has its value on the run alone, whatever else the firmware can do.
    pub(crate) alone: bool,
    pub(crate) cycles: u64,
    /// The last state.
    pub(crate) last: MachineState<u8>,
    pub(crate) narrative: Told,
    /// The values of the atoms of the formula along the run.
    pub(crate) traces: Vec<(AtomId, AtomChanges)>,
    /// True if the run ends before the main program is entered for the first time.
    pub(crate) ends_in_startup: bool,
}

/// The world of a replay.
pub(crate) struct Replay<'a> {
    script: Script,
    events: Recorder<'a>,
}

impl<'a> Replay<'a> {
    /// A world that gives what a stimulus says, before the start.
    pub(crate) fn new(stimulus: Stimulus, watched: &'a [Watched]) -> Self {
        let events = Recorder::new(watched, FlashByteAddress(0));
        Self { script: Script::new(Arc::new(stimulus)), events }
    }

    /// Begins with the first step.
    pub(crate) fn begin(&mut self) {
        self.script.begin();
    }

    /// Gets ready for a step from a state.
    pub(crate) fn before_step(&mut self, watched: &'a [Watched], state: &MachineState<u8>) {
        self.events = Recorder::new(watched, state.control.pc.byte());
    }

    /// The occurrences of the latest step.
    pub(crate) fn occurrences(&mut self) -> Occurrences {
        self.events.occurrences()
    }

    /// Goes on to the step with this number.
    pub(crate) fn after_step(&mut self, step: u64) {
        self.script.after_step(step);
    }
}

impl Environment<u8> for Replay<'_> {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        self.script.input(source, mask, demand, by)
    }

    fn choose(&mut self, count: usize) -> usize {
        Environment::<u8>::choose(&mut self.script, count)
    }

    fn choose_among(&mut self, possible: &Possibilities) -> usize {
        Environment::<u8>::choose_among(&mut self.script, possible)
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        self.script.event(event);
        note(&mut self.events, event);
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.events.moves(from, to)
    }
}

/// The labels of the states of a run, atom by atom.
struct Seen<'a, 'f> {
    context: &'a Context<'f>,
    atoms: Vec<AtomId>,
    /// State by state, the labels of all atoms.
    labels: Vec<Truth>,
    /// The changes of each atom.
    changes: Vec<AtomChanges>,
    states: u32,
    steps: u64,
    evaluated: bool,
}

/// Replays a run and checks it.
///
/// # Errors
/// A description of what does not agree.
pub(crate) fn confirm(
    context: &Context<'_>,
    formula: &NormalForm,
    value: bool,
    walked: &Walked,
    watch: &dyn Watch,
) -> Result<Confirmed, String> {
    let stimulus = Stimulus::exact(walked.run.initial.clone(), walked.run.inputs.clone());
    let watched: Vec<Watched> = watched(context.atoms);
    let mut world = Replay::new(stimulus, &watched);
    let mut state = walked.start.clone().unwrap_or_else(|| context.machine.power_on(&mut world));
    state.data.clear_changed();
    world.begin();
    let mut replayed = Replayed {
        context,
        walked,
        watched: &watched,
        claims: 0,
        repeated: None,
        narrative: Narrative::new(&walked.run, &state),
        seen: Seen::new(context, formula, walked),
        entered_main: false,
    };
    let cycles = replayed.run(&mut state, &mut world)?;
    replayed.compare_end(&state)?;
    let Replayed { narrative, seen, entered_main, .. } = replayed;
    let ends_in_startup = context.machine.options().main.is_some() && !entered_main;
    let alone = seen.evaluated && seen.evaluate(formula, value, walked, watch)?;
    let traces = seen.atoms.into_iter().zip(seen.changes).collect();
    Ok(Confirmed { alone, cycles, last: state, narrative: narrative.told(), traces, ends_in_startup })
}

/// A replay under way.
struct Replayed<'a, 'f> {
    context: &'a Context<'f>,
    walked: &'a Walked,
    watched: &'a [Watched],
    /// The present entry of the claims.
    claims: usize,
    /// The state that comes again at the end of a lasso.
    repeated: Option<MachineState<u8>>,
    narrative: Narrative<'a>,
    seen: Seen<'a, 'f>,
    entered_main: bool,
}

impl<'a> Replayed<'a, '_> {
    /// Takes all steps; gives the number of cycles that they took.
    fn run(&mut self, state: &mut MachineState<u8>, world: &mut Replay<'a>) -> Result<u64, String> {
        let machine = self.context.machine;
        let mut cycles = 0;
        let mut did = Occurrences::default();
        for step in 0..self.walked.run.steps {
            self.look(step, state, &did)?;
            if self.walked.ending == Ending::Lasso(step) {
                self.repeated = Some(state.clone());
            }
            world.before_step(self.watched, state);
            self.narrative.before(state);
            match machine.step(state, world) {
                Ok(count) => cycles += u64::from(count),
                Err(stop) => return Err(format!("the replay ends after {step} steps with {stop:?}")),
            }
            did = world.occurrences();
            self.narrative.after(step, state, world.script.happened());
            world.after_step(step + 1);
            state.data.clear_changed();
            if let Some(wanted) = world.script.impossible() {
                return Err(format!("{wanted:?} is not possible after {step} steps"));
            }
        }
        self.look(self.walked.run.steps, state, &did)?;
        self.stop(state, world)?;
        Ok(cycles)
    }

    /// The hazard at the end.
    fn stop(&mut self, state: &MachineState<u8>, world: &mut Replay<'_>) -> Result<(), String> {
        let Ending::Hazard(expected) = self.walked.ending else { return Ok(()) };
        let mut beyond = state.clone();
        self.narrative.before(&beyond);
        match self.context.machine.step(&mut beyond, world) {
            Err(Stop::Hazard(hazard)) if hazard == expected => {
                self.narrative.stopped(self.walked.run.steps, world.script.happened());
                Ok(())
            }
            other => Err(format!("the replay was to end with the hazard {expected}, and comes to {other:?}")),
        }
    }

    /// Looks at a state after so many steps.
    fn look(&mut self, step: u64, state: &MachineState<u8>, did: &Occurrences) -> Result<(), String> {
        self.entered_main |= self.context.machine.options().main == Some(state.control.pc);
        while self.walked.claims.get(self.claims + 1).is_some_and(|(from, _)| *from <= step) {
            self.claims += 1;
        }
        let view = ConcreteView { machine: self.context.machine, state, watched: self.watched, did };
        let claims: &[_] = self.walked.claims.get(self.claims).map_or(&[], |(_, claims)| claims);
        let broken = claims.iter().find(|(atom, value)| view.label(self.context.atoms, *atom) != Truth::from(*value));
        if let Some((atom, value)) = broken {
            let text = self.context.atoms[atom.index()].text();
            return Err(format!("'{text}' is not {value} after {step} steps of the replay"));
        }
        self.seen.add(step, &view);
        Ok(())
    }

    /// The replay must reach the state that the search reached, and a lasso must close.
    fn compare_end(&self, state: &MachineState<u8>) -> Result<(), String> {
        let same = |other: &MachineState<u8>| {
            other.data.cells() == state.data.cells()
                && other.control == state.control
                && other.calls.all() == state.calls.all()
        };
        if self.walked.last.as_ref().is_some_and(|last| !same(last)) {
            return Err("the replay reaches another state than the search did".to_owned());
        }
        if self.repeated.as_ref().is_some_and(|first| !same(first)) {
            return Err("the state that was to come again is another one".to_owned());
        }
        Ok(())
    }
}

impl<'a, 'f> Seen<'a, 'f> {
    fn new(context: &'a Context<'f>, formula: &NormalForm, walked: &Walked) -> Self {
        let (atoms, steps) = (formula.atoms(), walked.run.steps);
        let changes = vec![Vec::new(); atoms.len()];
        Self { context, atoms, labels: Vec::new(), changes, states: 0, steps, evaluated: steps <= MAX_EVALUATED }
    }

    /// Adds the state after so many steps.
    fn add(&mut self, step: u64, view: &ConcreteView<'_>) {
        if !self.evaluated && step + TRACED < self.steps {
            return;
        }
        for (atom, changes) in self.atoms.iter().zip(&mut self.changes) {
            let label = view.label(self.context.atoms, *atom);
            note_change(changes, step, label.known());
            if self.evaluated {
                self.labels.push(label);
            }
        }
        self.states += u32::from(self.evaluated);
    }

    /// True if the formula has its value on the run alone.
    fn evaluate(&self, formula: &NormalForm, value: bool, walked: &Walked, watch: &dyn Watch) -> Result<bool, String> {
        let graph = graph(self.states, value, walked.ending);
        let labels = self.all_labels(&graph, walked.ending);
        let problem = Problem { graph: &graph, labels: &labels, formula };
        let Ok(solution) = problem.solve(&|| watch.cancelled()) else { return Ok(false) };
        match solution.verdict() {
            Truth::Unknown if walked.leaves_a_remainder() => Ok(false),
            verdict if verdict == Truth::from(value) => Ok(true),
            verdict => Err(format!("the formula is {verdict:?} on the run, and not {value}")),
        }
    }

    fn all_labels(&self, graph: &HyperGraph, ending: Ending) -> Labels {
        let count = self.atoms.last().map_or(0, |last| last.index() + 1);
        let mut labels = Labels::new(count, graph.state_count());
        for state in 0..self.states {
            let seen = &self.labels[state as usize * self.atoms.len()..];
            self.atoms.iter().zip(seen).for_each(|(atom, label)| labels.set(*atom, StateId(state + 1), *label));
        }
        if let Ending::Hazard(_) = ending {
            for atom in &self.atoms {
                labels.set(*atom, StateId(self.states + 1), self.context.atoms[atom.index()].kind().at_hazard(false));
            }
        }
        labels
    }
}

/// Notes the value of an atom after so many steps, if it is another one. The oldest changes are forgotten when there are many.
fn note_change(changes: &mut AtomChanges, step: u64, value: Option<bool>) {
    if changes.last().is_some_and(|(_, last)| *last == value) {
        return;
    }
    if changes.len() == 2 * MAX_CHANGES {
        changes.drain(..MAX_CHANGES);
    }
    changes.push((step, value));
}

/// The run as a graph: the dummy state, the states of the run, the hazard if there is one, and a sink. The sink stands
/// for all that the firmware may do besides. With `value` the formula is to be true for this initial content, else
/// false for some.
fn graph(states: u32, value: bool, ending: Ending) -> HyperGraph {
    let mut builder = GraphBuilder::new();
    let hazard = states + 1;
    let sink = StateId(if matches!(ending, Ending::Hazard(_)) { hazard + 1 } else { hazard });
    let dummy = builder.state();
    builder.edge([StateId(1)]);
    if !value {
        builder.edge([sink]);
    }
    for state in 1..=states {
        builder.state();
        let next = match ending {
            Ending::Lasso(start) if state == states => Some(StateId(start as u32 + 2)),
            Ending::Hazard(_) if state == states => Some(StateId(hazard)),
            _ if state < states => Some(StateId(state + 1)),
            _ => None,
        };
        builder.edge([sink]);
        if let Some(next) = next {
            builder.edge([next]);
        }
    }
    if let Ending::Hazard(_) = ending {
        builder.state();
        builder.edge([StateId(hazard)]);
    }
    builder.state();
    builder.finish(dummy).expect("all members are states of this graph")
}
