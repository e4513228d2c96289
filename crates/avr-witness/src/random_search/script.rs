//! Answers that a run is to get again: those of another run, some of them changed.

use crate::concretise::concrete_step::{Answer, Answers, Asked, ChosenStep, Run};
use avr_machine::{DeterminedBy, Input};
use std::collections::VecDeque;

/// An answer waits for its question for so many steps, or where it waits until the environment has had time, for so many.
const PATIENCE: u64 = 512;
const PATIENCE_IN_TIME: u64 = 200_000;

/// An answer with the question that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Item {
    step: u64,
    /// The number of the question in the other run; none if all questions about its source in the step get the answer.
    question: Option<usize>,
    /// The source of an input; none for a happening.
    source: Option<Input>,
    answer: Answer,
}

/// An input of a step that changes: all bits that the step asks for from this source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) step: u64,
    pub(super) source: Input,
    pub(super) value: u8,
}

/// Answers for a run that is like another one up to a step. From there on each answer is given when a question like its
/// own comes up, as many steps after the answer before it as in the other run, or later.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    items: VecDeque<Item>,
    /// The first step in which the run may be another one.
    same_until: u64,
    /// The steps by which the run is behind the other one.
    behind: u64,
    /// The steps for which the next answer has waited.
    waited: u64,
    /// True if answers wait until the environment has had time for them.
    in_time: bool,
}

impl Script {
    /// The answers of another run from a step on, with other values for inputs.
    pub(super) fn changed(run: &[ChosenStep], from: u64, changes: &[Change]) -> Self {
        let mut items: Vec<Item> = run.iter().filter(|(step, _)| *step >= from).flat_map(items_of).collect();
        for Change { step, source, value } in changes {
            items.retain(|item| item.step != *step || item.source != Some(*source));
            let place = items.partition_point(|item| item.step <= *step);
            items.insert(
                place,
                Item { step: *step, question: None, source: Some(*source), answer: Answer::Input(*value) },
            );
        }
        let same_until = changes.iter().map(|change| change.step + 1).min().unwrap_or(0);
        Self { items: items.into(), same_until, ..Self::default() }
    }

    /// The answers of a run that the environment gave, each when it has had time for it.
    pub(super) fn in_time(run: &Run) -> Self {
        let is_free = |who: DeterminedBy| !matches!(who, DeterminedBy::Hardware | DeterminedBy::Undefined);
        let of_environment = |(step, asked): &ChosenStep| {
            let free = asked.iter().filter(|(_, one)| match one {
                Asked::Input { who, .. } => is_free(*who),
                Asked::Choice { possible, chosen, .. } => is_free(possible.determined_by(*chosen)),
            });
            items_of(&(*step, free.cloned().collect()))
        };
        Self { items: run.chosen.iter().flat_map(of_environment).collect(), in_time: true, ..Self::default() }
    }

    /// True if all answers were given.
    pub(super) fn is_over(&self) -> bool {
        self.items.is_empty()
    }

    /// True if answers wait until the environment has had time for them.
    pub(super) fn waits_for_time(&self) -> bool {
        self.in_time
    }

    /// The answers for a step, in which so far these questions come up.
    pub(super) fn answers(&mut self, step: u64, asked: &[Asked]) -> Answers {
        let mut answers = Answers::new();
        let mut question = 0;
        while let Some(item) = self.items.front().copied() {
            if step < item.step + self.behind {
                break;
            }
            let place = match item.question.filter(|_| step < self.same_until) {
                known @ Some(_) => known,
                None => (question..asked.len()).find(|place| item.is_for(&asked[*place])),
            };
            let Some(place) = place else {
                self.wait();
                break;
            };
            answers.insert(place, item.answer);
            if item.question.is_none() {
                let others = (place + 1..asked.len()).filter(|other| item.is_for(&asked[*other]));
                answers.extend(others.map(|other| (other, item.answer)));
            }
            question = place + 1;
            self.behind = step - item.step;
            self.waited = 0;
            self.items.pop_front();
        }
        answers
    }

    /// Takes note that a step was too soon for its answers, which come later again.
    pub(super) fn put_back(&mut self, before: Self) {
        *self = before;
        self.wait();
    }

    fn wait(&mut self) {
        self.waited += 1;
        if self.waited > if self.in_time { PATIENCE_IN_TIME } else { PATIENCE } {
            self.items.pop_front();
            self.waited = 0;
        }
    }
}

impl Item {
    fn is_for(&self, asked: &Asked) -> bool {
        match (asked, self.answer) {
            (Asked::Input { source, .. }, Answer::Input(_)) => Some(*source) == self.source,
            (Asked::Choice { possible, .. }, Answer::Happening(wanted)) => possible.iter().any(|one| one == wanted),
            _ => false,
        }
    }
}

fn items_of((step, asked): &ChosenStep) -> Vec<Item> {
    let item = |(question, asked): &(usize, Asked)| {
        let (source, answer) = match asked {
            Asked::Input { source, value, .. } => (Some(*source), Answer::Input(*value)),
            Asked::Choice { chosen, .. } => (None, Answer::Happening(*chosen)),
        };
        Item { step: *step, question: Some(*question), source, answer }
    };
    asked.iter().filter(|(_, one)| !is_initial(one)).map(item).collect()
}

fn is_initial(asked: &Asked) -> bool {
    matches!(asked, Asked::Input { source: Input::Initial(_), .. })
}
