//! The inputs of one step: those that come by themselves if they lead on, else others. They are searched until the
//! concrete step leads into a member of the hyper-edge that the strategy takes.
//!
//! The inputs that an abstract input stands for are found by trying: the concrete step decides whether the member is
//! reached. So a replay does not depend on how the abstract step was enumerated.

use crate::concretise::concrete_step::{Answer, Answers, Asked, Stepper, Tried};
use crate::concretise::coverage::{Arrival, Cover, Distance};
use avr_isa::DataAddress;
use avr_machine::Input;
use avr_model::state::AbstractState;
use mu_calculus::StateId;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The most ways that are tried to take one step.
const MAX_TRIALS: usize = 20_000;
/// The most members whose known cells are tried as the content of cells after a reset.
const MAX_HINTS: usize = 8;

/// The aim of a step: the states to which it should lead.
pub(crate) struct Aim<'a> {
    /// All states of the space.
    pub(crate) states: &'a [AbstractState],
    /// The state that covers the present one.
    pub(crate) from: StateId,
    /// All states that lead on, best first.
    pub(crate) welcome: Vec<StateId>,
    /// The members of the hyper-edge of the strategy.
    pub(crate) chosen: Vec<StateId>,
}

impl<'a> Aim<'a> {
    fn distance(&self, cover: &Cover<'_>, to: StateId, arrival: &Arrival<'_>) -> Distance {
        cover.distance(Some(self.state(self.from)), self.state(to), arrival)
    }

    fn state(&self, id: StateId) -> &'a AbstractState {
        &self.states[id.index()]
    }
}

/// The cost of answers: the distance, the number that the hardware would determine, and the number that are not
/// natural.
type Cost = (Distance, usize, usize);

/// Takes one step of the run, and gives the state that it led to; none if no inputs lead on. The caller accepts the step.
pub(crate) fn step(stepper: &mut Stepper<'_>, cover: &Cover<'_>, aim: &Aim<'_>) -> Option<(Tried, StateId)> {
    let found = natural(stepper, cover, aim);
    if found.is_some() {
        return found;
    }
    aim.chosen.iter().take(MAX_HINTS).find_map(|hint| {
        let search =
            Search { stepper, cover, aim, hint: aim.state(*hint), seen: BTreeSet::new(), waiting: BinaryHeap::new() };
        search.run()
    })
}

/// Takes the step that comes by itself, if it leads on.
pub(crate) fn natural(stepper: &mut Stepper<'_>, cover: &Cover<'_>, aim: &Aim<'_>) -> Option<(Tried, StateId)> {
    let content = |cell: DataAddress| aim.chosen.first().map_or(0, |member| cover.hint(aim.state(*member), cell));
    let natural = stepper.attempt(&Answers::new(), &content);
    let arrival = stepper.arrival(&natural);
    let covering = aim.welcome.iter().find(|state| aim.distance(cover, **state, &arrival) == 0).copied();
    if covering.is_none() {
        stepper.take_back();
    }
    covering.map(|state| (natural, state))
}

/// A search for answers, best first.
struct Search<'a, 'b, 's, 'f> {
    stepper: &'b mut Stepper<'f>,
    cover: &'b Cover<'s>,
    aim: &'b Aim<'a>,
    hint: &'a AbstractState,
    seen: BTreeSet<Vec<(usize, u8, u16)>>,
    waiting: BinaryHeap<Reverse<(Cost, usize)>>,
}

impl Search<'_, '_, '_, '_> {
    fn run(mut self) -> Option<(Tried, StateId)> {
        let mut tried: Vec<(Answers, Vec<Asked>)> = Vec::new();
        if let Some(found) = self.look(Answers::new(), &mut tried) {
            return Some(found);
        }
        while let Some(Reverse((_, best))) = self.waiting.pop() {
            let (answers, asked) = tried[best].clone();
            for neighbour in neighbours(&answers, &asked) {
                if tried.len() >= MAX_TRIALS {
                    return None;
                }
                if !self.seen.insert(key(&neighbour)) {
                    continue;
                }
                if let Some(found) = self.look(neighbour, &mut tried) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Tries answers: gives the step with its state if they lead on, else keeps them for being improved.
    fn look(&mut self, answers: Answers, all: &mut Vec<(Answers, Vec<Asked>)>) -> Option<(Tried, StateId)> {
        let (cover, hint) = (self.cover, self.hint);
        let attempt = self.stepper.attempt(&answers, &|cell| cover.hint(hint, cell));
        let (distance, nearest) = self.nearest(&self.stepper.arrival(&attempt))?;
        if distance == 0 {
            return Some((attempt, nearest));
        }
        self.stepper.take_back();
        let count = |test: fn(&Asked) -> bool| attempt.asked.iter().filter(|one| test(one)).count();
        let cost = (distance, count(Asked::is_abstracted), count(Asked::is_chosen));
        self.waiting.push(Reverse((cost, all.len())));
        all.push((answers, attempt.asked));
        None
    }

    fn nearest(&self, arrival: &Arrival<'_>) -> Option<(Distance, StateId)> {
        let distances = self.aim.chosen.iter().map(|to| (self.aim.distance(self.cover, *to, arrival), *to));
        distances.min_by_key(|(distance, _)| *distance)
    }
}

/// Answers that differ in one bit of an input or in what happens.
fn neighbours(answers: &Answers, asked: &[Asked]) -> Vec<Answers> {
    let mut all = Vec::new();
    for (index, question) in asked.iter().enumerate() {
        match question {
            Asked::Input { source: Input::Initial(_), .. } => {}
            Asked::Input { mask, value, .. } => {
                for bit in (0..8).rev().map(|bit| 1 << bit).filter(|bit| mask & bit != 0) {
                    all.push(with(answers, index, Answer::Input(value ^ bit)));
                }
            }
            Asked::Choice { possible, chosen, .. } => {
                for happening in possible.iter().filter(|happening| happening != chosen) {
                    all.push(with(answers, index, Answer::Happening(happening)));
                }
            }
        }
    }
    all
}

fn with(answers: &Answers, index: usize, answer: Answer) -> Answers {
    let mut changed = answers.clone();
    changed.insert(index, answer);
    changed
}

/// Answers in a form that can be compared.
fn key(answers: &Answers) -> Vec<(usize, u8, u16)> {
    use avr_machine::Happening;
    let code = |answer: &Answer| match answer {
        Answer::Input(value) => (0, u16::from(*value)),
        Answer::Happening(Happening::Continue) => (1, 0),
        Answer::Happening(Happening::Interrupt(number)) => (2, u16::from(*number)),
        Answer::Happening(Happening::Reset(cause)) => (3, *cause as u16),
        Answer::Happening(Happening::Wake) => (4, 0),
    };
    answers.iter().map(|(index, answer)| (*index, code(answer).0, code(answer).1)).collect()
}
