//! Input bits that stand for what the hardware decides: a verdict is robust if it stands however it decides.

use crate::concrete::Concrete;
use crate::random;
use crate::toy::{ATOMS, Toy};
use avr_testkit::Random;
use three_valued::Truth;
use tvar::{Strategy, Unlimited, Unobserved, verify};

/// A hardware that decides by the state and by what the environment does.
fn hardware(random: &mut Random, toy: &Toy) -> Concrete {
    let decisions: Vec<u64> = (0..1 << (toy.width + toy.inputs)).map(|_| random.bits() & toy.abstracted).collect();
    let decide = |state: u64, input: u64| {
        let real = input & !toy.abstracted;
        real | decisions[(state | real << toy.width) as usize]
    };
    Concrete::with_inputs(toy, decide)
}

/// The numbers of robust verdicts, of those that are not and depend on the hardware, and of decided verdicts.
fn count(seed: u64) -> [u64; 3] {
    let mut random = Random::new(seed ^ 0xc000_0000);
    let toy = random::toy(&mut random);
    let toy = Toy { abstracted: random.number(toy.inputs), ..toy };
    let formula = random::formula(&mut random, &toy);
    let strategy = random.pick(&Strategy::ALL);
    let outcome =
        verify(&mut toy.clone(), &mut Unobserved, ATOMS as usize, &[random::goal(&formula)], strategy, &Unlimited);
    let decision = &outcome.decisions[0];
    assert_eq!(decision.verdict, Truth::from(Concrete::new(&toy).holds(&formula)));
    let stands = |random: &mut Random| Truth::from(hardware(random, &toy).holds(&formula)) == decision.verdict;
    let always = (0..4).all(|_| stands(&mut random));
    assert!(always || !decision.robust, "seed {seed}, {strategy:?}: {formula:?} on {toy:?}");
    [decision.robust.into(), (!always).into(), 1]
}

#[test]
fn robust_verdicts_stand_for_every_hardware() {
    let [robust, dependent, all] = random::run(random::cases(20_000), count);
    assert!(robust < all && dependent * 200 > all, "{robust} robust, {dependent} dependent of {all}");
}

/// Without abstracted bits every verdict is robust.
#[test]
fn real_choices_are_robust() {
    random::run(random::cases(2_000), |seed| {
        let mut random = Random::new(seed ^ 0xd000_0000);
        let toy = random::toy(&mut random);
        let goal = random::goal(&random::formula(&mut random, &toy));
        let outcome = verify(&mut toy.clone(), &mut Unobserved, ATOMS as usize, &[goal], Strategy::Default, &Unlimited);
        assert!(outcome.decisions[0].robust, "seed {seed}: {toy:?}");
        []
    });
}
