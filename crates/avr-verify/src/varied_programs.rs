//! Everything that is left out against nothing left out, on random programs with most of what compilers write.

use crate::Reductions;
use crate::pipeline::portfolio::with_first_budget;
use crate::random_programs::{PROGRAMS, Random, Said, contradict, said};
use avr_testkit::programs::varied::program;
use std::time::Duration;

/// The time for each way to ask.
const BRIEF: Duration = Duration::from_secs(2);

/// The answers where nothing is left out, and in other ways: with everything left out, and where locations are limited
/// soon.
fn said_in_all_ways(words: &[u16]) -> Vec<Said> {
    const ALL: Reductions = Reductions::ALL;
    let limited = |states, reductions| with_first_budget(states, || said(words, reductions, BRIEF));
    vec![
        said(words, Reductions::NONE, BRIEF),
        said(words, ALL, BRIEF),
        limited(50, ALL),
        limited(50, Reductions::NONE),
        limited(300, Reductions { handlers: false, ..ALL }),
    ]
}

#[test]
fn nothing_that_is_left_out_changes_an_answer() {
    let programs = avr_testkit::cases(80, PROGRAMS);
    let (mut hold, mut violated) = (0, 0);
    for seed in 0..programs {
        let answers = said_in_all_ways(&program(&mut Random::new(seed)));
        let contradicted = |one: &Said| answers.iter().any(|other| contradict(one, other));
        assert!(!answers.iter().any(contradicted), "seed {seed}: {answers:?}");
        hold += u64::from(answers[0].holds == Some(true));
        violated += u64::from(answers[0].holds == Some(false));
    }
    assert!(hold > programs / 2 && violated > programs / 20, "{hold} hold, {violated} are violated");
}
