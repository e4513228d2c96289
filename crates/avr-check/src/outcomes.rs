//! Outcomes of one step, and the hyper-edges that they justify.
//!
//! A step is taken again and again with other answers to the questions that it asks, until all were given. Who answers decides
//! what an answer means: the environment chooses, so one good answer is enough; what is merely not known of the stored state may
//! be anything, so every answer must be good. What the model leaves to the hardware is the one or the other, as the claim says.

use avr_certificate::Edges;

use crate::play::{Duties, Foundation};
use crate::rejection::{Reason, Rejection};
use crate::vigilance::{Check, does};

/// Who gives an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The environment.
    Environment,
    /// The hardware, in a way that the model leaves open.
    Hardware,
    /// No player: the stored state has the one or the other.
    State,
}

/// An answer to a question, one of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) who: Who,
    pub(crate) index: u32,
    pub(crate) count: u32,
}

/// The most outcomes of a step that are looked at.
pub(crate) const MAX_OUTCOMES: usize = 1 << 16;

/// The most questions that one step may ask.
pub(crate) const MAX_QUESTIONS: usize = 1 << 10;

/// Answers to the questions of a step, from the first to the last sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    answers: Vec<Answer>,
    position: usize,
    is_too_long: bool,
}

impl Script {
    /// The answer to the next question.
    pub(crate) fn answer(&mut self, who: Who, count: usize) -> usize {
        if self.position == self.answers.len() {
            if self.position == MAX_QUESTIONS {
                self.is_too_long = true;
                return 0;
            }
            self.answers.push(Answer { who, index: 0, count: count as u32 });
        }
        let answer = self.answers[self.position];
        self.position += 1;
        answer.index as usize
    }

    /// Turns to the next sequence; whether there is one.
    fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some(last) = self.answers.last_mut() {
            last.index += 1;
            if last.index < last.count {
                return true;
            }
            self.answers.pop();
        }
        false
    }
}

/// The result of a step with given answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// To something that these states cover.
    CoveredBy(Vec<u32>),
    /// To nothing: no concrete state gives these answers.
    Impossible,
}

/// An outcome of a step.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    answers: Vec<Answer>,
    came: Came,
}

/// All outcomes of a step, in the order of their answers.
///
/// # Errors
/// If there are too many.
pub(crate) fn outcomes(state: u32, mut step: impl FnMut(&mut Script) -> Came) -> Result<Vec<Outcome>, Rejection> {
    let mut script = Script::default();
    let mut all = Vec::new();
    loop {
        let came = step(&mut script);
        if script.is_too_long || all.len() == MAX_OUTCOMES {
            return Err(Reason::TooManyOutcomes.at(state));
        }
        // Questions that were answered before and not asked again would leave answers out.
        debug_assert_eq!(script.position, script.answers.len(), "a step asks the same questions again");
        all.push(Outcome { answers: script.answers.clone(), came });
        if !script.advance() {
            return Ok(all);
        }
    }
}

/// Checks what is relied on in one state, given all outcomes of its step.
///
/// # Errors
/// If the outcomes do not bear it out.
pub(crate) fn check(state: u32, all: &[Outcome], edges: &Edges, duties: &Duties) -> Result<(), Rejection> {
    let is_nowhere = |outcome: &Outcome| matches!(&outcome.came, Came::CoveredBy(members) if members.is_empty());
    if does(Check::AllSuccessors) && duties.all_successors.contains(state as usize) && all.iter().any(is_nowhere) {
        return Err(Reason::NotCovered.at(state));
    }
    for (edge, foundation) in duties.forced_in(state) {
        let members = edges.edge(state, edge).ok_or_else(|| Reason::NoSuchEdge { edge }.at(state))?;
        if does(Check::Forced) && forced(all, 0, members, foundation) == Some(false) {
            return Err(Reason::NotForced { edge }.at(state));
        }
    }
    Ok(())
}

/// True if some choice of the environment leads into `members` for all that is not known; none if these outcomes are
/// impossible. The outcomes have the same answers before `depth`.
///
/// SOUND: that for all stored values there is an input such that the result is covered. An answer of the environment that
/// comes before others is chosen before they are known, which only asks for more.
fn forced(outcomes: &[Outcome], depth: usize, members: &[u32], foundation: Foundation) -> Option<bool> {
    let first = outcomes.first()?;
    let Some(question) = first.answers.get(depth) else {
        return match &first.came {
            Came::CoveredBy(covering) => Some(covering.iter().any(|member| members.contains(member))),
            Came::Impossible => None,
        };
    };
    let one_is_enough = match question.who {
        Who::Environment => true,
        Who::Hardware => foundation == Foundation::Model,
        Who::State => false,
    };
    let groups = outcomes.chunk_by(|a, b| a.answers[depth].index == b.answers[depth].index);
    let mut possible = groups.filter_map(|group| forced(group, depth + 1, members, foundation)).peekable();
    possible.peek()?;
    Some(if one_is_enough { possible.any(|good| good) } else { possible.all(|good| good) })
}

/// All hyper-edges that can be forced, each as its members, as far as each outcome is covered by one state: what a verifier
/// would find. The outcomes have the same answers before `depth`.
#[cfg(test)]
pub(crate) fn all_forced(outcomes: &[Outcome], depth: usize, foundation: Foundation) -> Vec<Vec<u32>> {
    let Some(question) = outcomes[0].answers.get(depth) else {
        return match &outcomes[0].came {
            Came::CoveredBy(members) => vec![members.clone()],
            Came::Impossible => Vec::new(),
        };
    };
    let is_choice =
        question.who == Who::Environment || question.who == Who::Hardware && foundation == Foundation::Model;
    let groups = outcomes.chunk_by(|a, b| a.answers[depth].index == b.answers[depth].index);
    let below = groups.map(|group| all_forced(group, depth + 1, foundation));
    if is_choice {
        return below.flatten().collect();
    }
    let union = |one: &Vec<u32>, other: &Vec<u32>| {
        let mut members = [one.as_slice(), other].concat();
        members.sort_unstable();
        members.dedup();
        members
    };
    let combine = |all: Vec<Vec<u32>>, one: Vec<Vec<u32>>| {
        let pairs = all.iter().flat_map(|a| one.iter().map(move |b| union(a, b)));
        let mut combined: Vec<Vec<u32>> = pairs.collect();
        combined.sort_unstable();
        combined.dedup();
        combined
    };
    below.reduce(combine).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Answer, Came, Foundation, Outcome, Who, forced, outcomes};

    /// The outcomes of a step with two questions of two answers each; `None` is impossible.
    fn two(who: [Who; 2], came: [Option<u32>; 4]) -> Vec<Outcome> {
        let mut next = came.into_iter();
        outcomes(0, |script| {
            script.answer(who[0], 2);
            script.answer(who[1], 2);
            match next.next().flatten() {
                Some(member) => Came::CoveredBy(vec![member]),
                None => Came::Impossible,
            }
        })
        .expect("there are four")
    }

    #[track_caller]
    fn check(who: [Who; 2], came: [Option<u32>; 4], members: &[u32], model: bool, hardware: bool) {
        let all = two(who, came);
        assert_eq!(forced(&all, 0, members, Foundation::Model), Some(model));
        assert_eq!(forced(&all, 0, members, Foundation::Hardware), Some(hardware));
    }

    #[test]
    fn inputs_need_one_good_answer_and_stored_values_all() {
        use Who::{Environment as E, Hardware as H, State as S};
        let four = [Some(0), Some(1), Some(2), Some(3)];
        check([E, E], four, &[3], true, true);
        check([S, S], four, &[0, 1, 2], false, false);
        check([S, S], four, &[0, 1, 2, 3], true, true);
        check([S, E], four, &[1, 2], true, true);
        check([S, E], four, &[0, 1], false, false);
        check([E, S], four, &[0, 1], true, true);
        check([E, S], four, &[0, 2], false, false);
        check([H, E], four, &[1], true, false);
        check([H, E], four, &[1, 2], true, true);
        check([S, H], four, &[1, 2], true, false);
    }

    #[test]
    fn what_is_impossible_does_not_count() {
        use Who::{Environment as E, State as S};
        check([S, E], [Some(0), None, None, None], &[0], true, true);
        check([S, E], [Some(0), None, Some(2), None], &[0], false, false);
        check([E, S], [Some(0), None, Some(2), None], &[0], true, true);
        assert_eq!(forced(&two([E, S], [None; 4]), 0, &[0], Foundation::Model), None);
    }

    #[test]
    fn every_answer_is_given_once() {
        let all = outcomes(0, |script| match script.answer(Who::State, 3) {
            1 => Came::CoveredBy(vec![script.answer(Who::Environment, 2) as u32]),
            _ => Came::Impossible,
        });
        let indices: Vec<Vec<u32>> = all
            .expect("there are four")
            .iter()
            .map(|one| one.answers.iter().map(|answer| answer.index).collect())
            .collect();
        assert_eq!(indices, [vec![0], vec![1, 0], vec![1, 1], vec![2]]);
        assert_eq!(Answer { who: Who::State, index: 0, count: 1 }.count, 1);
    }

    #[test]
    fn too_many_answers_are_refused() {
        assert!(
            outcomes(0, |script| {
                (0..17).for_each(|_| _ = script.answer(Who::State, 2));
                Came::Impossible
            })
            .is_err()
        );
        assert!(
            outcomes(0, |script| {
                (0..2000).for_each(|_| _ = script.answer(Who::State, 1));
                Came::Impossible
            })
            .is_err()
        );
    }
}
