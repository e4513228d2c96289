//! The transfer function, one step of firmware: the outcome of the machine for one sequence of answers.

pub mod choices;
pub mod hyper_edges;
pub mod interrupt_timing;
pub mod recorded_splits;
pub mod step_accesses;

use crate::state::AbstractState;
use crate::state::deferral::Deferral;
use crate::state::events::Recorder;
use avr_isa::FlashWordAddress;
use avr_machine::{Event, Input};
use choices::{Answer, Scripted, Unknowns};
use step_accesses::StepAccesses;
use three_valued::TvByte;

/// Unknown inputs as three-valued bytes, and events noted.
pub(crate) struct Open<'a> {
    pub(crate) events: Recorder<'a>,
    /// The accesses of the step, where interrupts are reduced.
    pub(crate) steps: Option<StepAccesses>,
}

impl Unknowns<TvByte> for Open<'_> {
    fn unknown(&mut self, _: Input, mask: u8) -> TvByte {
        TvByte::new(0, !mask)
    }

    fn event(&mut self, event: Event<'_, TvByte>) {
        self.events.note(event);
        if let Some(steps) = &mut self.steps {
            steps.note(event);
        }
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.events.moves(from, to)
    }
}

impl Scripted<'_, Open<'_>> {
    /// Forgets what was noted of the last step.
    pub(crate) fn clear_notes(&mut self) {
        self.unknowns.events.clear();
        self.unknowns.steps.as_mut().map(StepAccesses::clear);
        self.begin();
    }
}

/// A script of one step and the state that it leads to.
pub(crate) struct Leaf {
    pub(crate) script: Vec<Answer>,
    pub(crate) state: AbstractState,
    /// True if an interrupt that is certain on the way was deferred, which the hardware does not do.
    pub(crate) defers_certain: bool,
}

/// The outcome of a step; where it went on, the working state is behind it.
pub(crate) enum Stepped {
    On(Deferral),
    Ended(AbstractState),
    /// No concrete state takes it.
    Infeasible,
}

/// The leaves of one script, as cases: no player chooses among several states.
pub(crate) fn as_cases(
    script: &[Answer],
    states: Vec<AbstractState>,
    defers_certain: bool,
) -> impl Iterator<Item = Leaf> {
    let count = states.len();
    states.into_iter().enumerate().map(move |(index, state)| {
        let case = (count > 1).then(|| Answer::case(index, count));
        Leaf { script: script.iter().copied().chain(case).collect(), state, defers_certain }
    })
}
