//! The parametric automata: naive exploration grows exponentially in all three parameters. Input splitting does not see
//! the unused input, and with decay it does not see the counter either.

use crate::automata::{Parameters, recovery};
use crate::random;
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};
use three_valued::Truth;
use tvar::{Strategy, Unlimited, Unobserved, verify};

/// The refinements and the states in the end.
fn measure(parameters: Parameters, strategy: Strategy) -> (usize, usize) {
    let goals = [random::goal(&recovery())];
    let outcome = verify(&mut parameters.automaton(), &mut Unobserved, 1, &goals, strategy, &Unlimited);
    let decision = &outcome.decisions[0];
    assert_eq!(decision.verdict, Truth::from(parameters.resettable), "{parameters:?} {strategy:?}");
    (decision.refinements, decision.space.states.len())
}

/// The parameters `w`, `u` and `c`, and the refinements and states in the end.
type Row = ((usize, usize, usize), (usize, usize));

#[track_caller]
fn check(strategy: Strategy, resettable: bool, expected: &[Row]) {
    let found =
        expected.iter().map(|&((w, u, c), _)| ((w, u, c), measure(Parameters { w, u, c, resettable }, strategy)));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Every combination of bits can be reached.
#[test]
fn naive_exploration_grows_with_every_parameter() {
    for resettable in [false, true] {
        let cases = [
            ((1, 1, 1), (0, 8)),
            ((2, 1, 1), (0, 16)),
            ((5, 1, 1), (0, 128)),
            ((1, 2, 1), (0, 16)),
            ((1, 5, 1), (0, 128)),
            ((1, 1, 2), (0, 16)),
            ((1, 1, 5), (0, 128)),
        ];
        check(Strategy::Naive, resettable, &cases);
    }
}

/// Next to the start there are, per value of the counter, one state after a reset and one without. If there is no
/// reset, the number has to be split bit by bit to see that the maximum stays. Then there is a state per maximum.
#[test]
fn input_splitting_does_not_see_the_unused_input() {
    let cases = [((2, 1, 2), (1, 9)), ((2, 9, 2), (1, 9)), ((9, 9, 2), (1, 9)), ((2, 1, 6), (1, 129))];
    check(Strategy::Default, true, &cases);
    let cases = [((2, 1, 2), (2, 17)), ((2, 9, 2), (2, 17)), ((3, 9, 2), (3, 33)), ((2, 1, 6), (2, 257))];
    check(Strategy::Default, false, &cases);
}

#[test]
fn decay_does_not_see_the_counter_either() {
    let cases = [((2, 1, 1), (5, 5)), ((2, 9, 1), (5, 5)), ((2, 16, 20), (5, 5)), ((3, 16, 20), (7, 9))];
    check(Strategy::Decay, true, &cases);
    let cases = [((2, 1, 1), (4, 5)), ((2, 9, 1), (4, 5)), ((2, 16, 20), (4, 5)), ((3, 16, 20), (6, 9))];
    check(Strategy::Decay, false, &cases);
}

/// As published: refined state by state, both strategies grow with the number, and neither with the unused input.
#[test]
fn published_refinement_has_the_published_trends() {
    let cases = [((2, 1, 2), (51, 17)), ((2, 9, 2), (51, 17)), ((3, 9, 2), (132, 33)), ((2, 1, 4), (195, 65))];
    check(Strategy::Paper, true, &cases);
    let cases = [((2, 1, 2), (32, 21)), ((2, 9, 2), (32, 21)), ((3, 9, 2), (96, 37)), ((2, 1, 4), (128, 81))];
    check(Strategy::Paper, false, &cases);
    let cases = [((2, 1, 2), (25, 5)), ((2, 9, 9), (25, 5)), ((3, 9, 9), (63, 9))];
    check(Strategy::PaperDecay, true, &cases);
    let cases = [((2, 1, 2), (20, 5)), ((2, 9, 9), (20, 5)), ((3, 9, 9), (54, 9))];
    check(Strategy::PaperDecay, false, &cases);
}

/// A counter too large for one stage: what the first stages show is decided or refined there.
#[track_caller]
fn check_stages(strategy: Strategy, formula: Formula<AtomId>, expected: (Truth, usize, bool)) {
    let parameters = Parameters { w: 1, u: 0, c: 16, resettable: true };
    let outcome =
        verify(&mut parameters.automaton(), &mut Unobserved, 1, &[random::goal(&formula)], strategy, &Unlimited);
    let decision = &outcome.decisions[0];
    let found = (decision.verdict, decision.refinements, decision.space.is_complete());
    assert_eq!(found, expected, "{} states", decision.space.states.len());
    assert_eq!(decision.undecided, None);
}

#[test]
fn large_spaces_are_built_as_far_as_needed() {
    let path = |quantifier, operator, p| Formula::Path(quantifier, operator, Box::new(p));
    let (all, exists) = (PathQuantifier::All, PathQuantifier::Exists);
    let is_zero = || Formula::Atom(AtomId(0));
    let not_zero = || Formula::Not(Box::new(is_zero()));
    // The first stage ends before every counter value had its reset, and takes the open number for a cause as well.
    check_stages(Strategy::Default, recovery(), (Truth::True, 2, true));
    check_stages(Strategy::Naive, path(exists, PathOperator::Eventually, not_zero()), (Truth::True, 0, false));
    check_stages(Strategy::Naive, path(all, PathOperator::Always, is_zero()), (Truth::False, 0, false));
    let stays = Formula::Or(vec![is_zero(), path(exists, PathOperator::Always, not_zero())]);
    check_stages(Strategy::Naive, path(all, PathOperator::Always, stays), (Truth::True, 0, true));
}
