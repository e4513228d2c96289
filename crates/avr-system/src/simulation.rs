//! Weak simulation of systems: pairs of a state of the system and one of the specification.
//!
//! A pair stays as long as the data of the specification are certainly true in it and each step of the system, whatever it showed, has an
//! answer that leads to a pair that stays (Milner, Communication and Concurrency, ch. 5): the greatest fixed point, by removal. Steps that
//! concern nobody else are silent, change no data and commute with those of others, so a pair stands for all states on the way to it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use three_valued::Truth;

use crate::composition::Space;
use crate::conformance::{Conformance, Labels, States};
use crate::faults::{Fault, is_on};

/// A state of the system, and the number of one of the specification.
type Pair = (u32, usize);

/// The outcome of a search for a simulation.
pub(crate) enum Simulated {
    /// There is one.
    Yes,
    /// None was found.
    No(Lost),
    /// It was given up, for this reason.
    GivenUp(String),
}

/// The place at which a specification has no answer, if it goes to the first state that it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The state of the system; the one that the step enters, if a step is not answered.
    pub(crate) state: u32,
    /// The state of the specification.
    pub(crate) specified: usize,
    pub(crate) what: What,
}

/// The loss at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The path ends.
    End,
    /// The data of the specification are not true.
    Data,
    /// A step is not answered.
    Step,
    /// It is not known if data are true, or if a step showed what is not answered.
    Unknown,
}

/// The cause of the removal of a pair.
#[derive(Clone, Copy)]
enum Cause {
    /// The pair itself.
    Own(What),
    /// A step into a state, with the pair of its first answer.
    Step { to: u32, first: Option<u32>, is_known: bool },
}

/// A step of a pair that needs an answer.
struct Demand {
    of: u32,
    /// The answers that were not removed.
    left: u32,
    to: u32,
    first: u32,
}

/// The pairs that were found.
#[derive(Default)]
struct Pairs {
    numbers: FxHashMap<Pair, u32>,
    found: Vec<Pair>,
    removed: Vec<Option<Cause>>,
    demands: Vec<Demand>,
    /// By pair: the demands that it answers.
    answers: Vec<Vec<u32>>,
}

impl Conformance {
    /// Seeks a weak simulation of all steps of a space that is complete.
    pub(crate) fn simulate(
        &self,
        space: &Space<'_>,
        labels: &Labels<'_>,
        limit: usize,
        is_over: &dyn Fn() -> bool,
    ) -> Simulated {
        let mut pairs = Pairs::default();
        let add = |pairs: &mut Pairs, pair: Pair| pairs.number(pair, || self.own(space, labels, pair));
        let initial: Vec<u32> = self.automaton.first().into_iter().map(|first| add(&mut pairs, (0, first))).collect();
        let mut next = 0;
        while next < pairs.found.len() && initial.iter().any(|pair| pairs.stays(*pair)) {
            if pairs.found.len() > limit || is_over() {
                return Simulated::GivenUp("a limit was hit while a simulation was sought".to_owned());
            }
            let of = next as u32;
            next += 1;
            let (state, specified) = pairs.found[of as usize];
            let members = space.edges.of(state).flat_map(|edge| edge.members.iter().copied());
            for to in members {
                if !pairs.stays(of) {
                    break;
                }
                let Some(sets) = self.answered(&States::from([specified]), to, labels) else {
                    return Simulated::GivenUp("too much is not known of what a step shows".to_owned());
                };
                for (states, is_known) in sets {
                    let answers: Vec<u32> = states.into_iter().map(|it| add(&mut pairs, (to, it))).collect();
                    pairs.demand(of, to, (&answers, is_known));
                }
            }
        }
        match initial.iter().any(|pair| pairs.stays(*pair)) {
            true => Simulated::Yes,
            false => Simulated::No(pairs.lost(initial[0])),
        }
    }

    /// The reason for which a pair goes by itself.
    fn own(&self, space: &Space<'_>, labels: &Labels<'_>, (state, specified): Pair) -> Option<What> {
        if space.is_end(state) {
            return Some(What::End);
        }
        let data = self.data[specified].as_ref().filter(|_| !is_on(Fault::DataUnasked))?;
        match (labels.condition)(state, data) {
            Truth::True => None,
            Truth::False => Some(What::Data),
            Truth::Unknown => Some(What::Unknown),
        }
    }
}

impl Pairs {
    fn stays(&self, pair: u32) -> bool {
        self.removed[pair as usize].is_none()
    }

    /// The number of a pair, which may go by itself.
    fn number(&mut self, pair: Pair, own: impl FnOnce() -> Option<What>) -> u32 {
        let count = self.found.len() as u32;
        let number = *self.numbers.entry(pair).or_insert(count);
        if number == count {
            self.found.push(pair);
            self.removed.push(own().map(Cause::Own));
            self.answers.push(Vec::new());
        }
        number
    }

    /// Adds a step of a pair into a state, with its answers.
    fn demand(&mut self, of: u32, to: u32, (answers, is_known): (&[u32], bool)) {
        let staying: Vec<u32> = answers.iter().copied().filter(|answer| self.stays(*answer)).collect();
        let first = answers.first().copied();
        let Some(one) = first.filter(|_| !staying.is_empty()) else {
            return self.remove(of, Cause::Step { to, first, is_known });
        };
        let number = self.demands.len() as u32;
        self.demands.push(Demand { of, left: staying.len() as u32, to, first: one });
        for answer in staying {
            self.answers[answer as usize].push(number);
        }
    }

    /// Removes a pair, and those whose last answer it is.
    fn remove(&mut self, pair: u32, cause: Cause) {
        let mut waiting = VecDeque::from([(pair, cause)]);
        while let Some((pair, cause)) = waiting.pop_front() {
            if !self.stays(pair) {
                continue;
            }
            self.removed[pair as usize] = Some(cause);
            for demand in std::mem::take(&mut self.answers[pair as usize]) {
                let Demand { of, left, to, first } = &mut self.demands[demand as usize];
                *left -= 1;
                if *left == 0 {
                    waiting.push_back((*of, Cause::Step { to: *to, first: Some(*first), is_known: true }));
                }
            }
        }
    }

    /// The end of the way along the first answers from a pair that was removed. Each answer was removed before what needed it.
    fn lost(&self, mut pair: u32) -> Lost {
        loop {
            let (state, specified) = self.found[pair as usize];
            match self.removed[pair as usize] {
                Some(Cause::Step { first: Some(first), .. }) => pair = first,
                Some(Cause::Step { to, first: None, is_known }) => {
                    let what = if is_known { What::Step } else { What::Unknown };
                    return Lost { state: to, specified, what };
                }
                Some(Cause::Own(what)) => return Lost { state, specified, what },
                None => return Lost { state, specified, what: What::Unknown },
            }
        }
    }
}
