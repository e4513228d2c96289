//! The race of strategies: the same report for any number of threads, verdicts that the strategies alone give, and no more than they decide.

use crate::pipeline::portfolio::without_race;
use crate::random_programs::{Code, LONG, r, results, with_request};
use crate::request::{Reductions, Request};
use crate::results::{PropertyResult, Verdict};
use avr_isa::Instruction;
use avr_model::pass::Pass;
use std::time::Duration;
use tvar::Strategy;

/// The flash byte address at which the loop of [`recursion`] begins.
const LOOP: u32 = 2;

/// A loop that calls a function with bits of port B, which calls itself with one less until nothing is left. Under coarse precision it calls
/// itself without end.
fn recursion(mask: u8) -> Vec<u16> {
    let mut code = Code::default();
    let function = 6;
    code.jump(LOOP / 2);
    code.add(Instruction::In { rd: r(24), io: 3 });
    code.add(Instruction::Andi { rd: r(24), k: mask });
    code.call(function);
    code.jump(LOOP / 2);
    code.place(function);
    code.add(Instruction::And { rd: r(24), rr: r(24) });
    code.unless(1, true, |code| {
        code.add(Instruction::Push { rr: r(24) });
        code.add(Instruction::Dec { rd: r(24) });
        code.call(function);
        code.add(Instruction::Pop { rd: r(24) });
    });
    code.add(Instruction::Ret);
    code.words
}

fn properties() -> Vec<String> {
    vec![
        format!("mu X. nu Y. []X || (pc != {LOOP} && []Y)"),
        format!("AG EF (pc == {LOOP} && r24 == 1)"),
        format!("nu X. pc != {LOOP} && [][]X"),
    ]
}

/// The results on threads of a pool of this size, without times.
fn on_threads(threads: usize, words: &[u16], properties: &[&str]) -> Vec<PropertyResult> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let mut all = pool.install(|| results(words, properties, Reductions::ALL, LONG)).properties;
    all.iter_mut().for_each(|result| result.statistics.time = Duration::ZERO);
    all
}

#[test]
fn any_number_of_threads_has_the_same_winner() {
    let words = recursion(7);
    for property in properties() {
        let one = on_threads(1, &words, &[&property]);
        assert!(!matches!(one[0].verdict, Verdict::Unknown(_)), "{property}");
        for threads in [2, 8] {
            assert_eq!(on_threads(threads, &words, &[&property]), one, "{property}, {threads} threads");
        }
    }
}

#[test]
fn the_winner_says_what_it_says_alone() {
    let words = recursion(7);
    let mut per_state = 0;
    for property in properties() {
        let raced = on_threads(2, &words, &[&property]).remove(0);
        let alone = with_request(&words, &[&property], Reductions::ALL, LONG, |request| {
            let request = Request { strategy: Strategy::Paper, ..*request };
            crate::verify(&request).expect("it is bound").properties.remove(0)
        });
        assert_eq!(raced.verdict, alone.verdict, "{property}");
        if raced.methods.contains(&Pass::PrecisionPerState) {
            per_state += 1;
            assert_eq!(raced.statistics.states, alone.statistics.states, "{property}");
            assert_eq!(raced.statistics.refinements, alone.statistics.refinements, "{property}");
        }
    }
    assert!(per_state > 0, "the second strategy never wins");
}

#[test]
fn little_work_is_left_to_the_first_strategy() {
    // in r24, PINB; rjmp .-4
    let words = [0xb183, 0xcffe];
    let properties = ["Inherent()", "AG EF (r24 == 3)"];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
    let alone = || without_race(|| results(&words, &properties, Reductions::ALL, LONG)).properties;
    let mut alone = pool.install(alone);
    alone.iter_mut().for_each(|result| result.statistics.time = Duration::ZERO);
    assert_eq!(on_threads(2, &words, &properties), alone);
}
