//! Random runs say nothing that the whole state space denies, and find most of what it shows.

use crate::machine;
use crate::random_programs::{LONG, PROGRAMS, Random, Said, program, results, said, with_request};
use crate::request::{Reductions, Request};
use crate::results::{Basis, Verdict};
use avr_model::context::Context;
use avr_model::pass::Pass;
use avr_properties::{AtomTable, Definitions, Property, bind};
use avr_witness::{Sampler, Search};
use mu_calculus::{Formula, Modality, NormalForm};
use tvar::{Goal, Unlimited};

/// The number of steps that are taken for a program.
const STEPS: u64 = 40_000;

/// The findings of random runs on a program: whether a hazard happens, and how deep the stack gets.
#[derive(Debug, PartialEq)]
struct Sampled {
    steps_to_hazard: Option<u64>,
    deepest: Option<u32>,
}

fn sampled(words: &[u16]) -> Sampled {
    with_request(words, &[], Reductions::NONE, LONG, |request: &Request<'_>| {
        let machine = machine(request).expect("there are no assumptions");
        let mut table = AtomTable::default();
        let binding = request.binding();
        let bound = bind(&Property::inherent(), &Definitions::default(), &binding, &mut table).expect("it binds");
        let formula = Formula::Modal(Modality::Box, Box::new(bound.formula));
        let goal = Goal { formula: NormalForm::new(&formula).expect("it translates"), observes_hazards: true };
        let atoms = table.atoms();
        let context = Context::new(&machine, atoms);
        let mut sampler = Sampler::default();
        let mut found = sampler.refute(&context, &[(0, &goal)], (STEPS, 0), &Unlimited);
        let steps_to_hazard = found.pop().map(|(_, search)| match search {
            Search::Found(run) => {
                assert!(run.replayed && run.end.hazard.is_some());
                run.steps
            }
            other => panic!("{other:?}"),
        });
        Sampled { steps_to_hazard, deepest: sampler.deepest(&context, (None, None), STEPS, &Unlimited) }
    })
}

#[test]
fn runs_at_random_show_what_the_state_space_shows() {
    let programs = avr_testkit::cases(40, PROGRAMS);
    let (mut violated, mut found, mut holds, mut as_deep) = (0, 0, 0, 0);
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let (Said { holds: whole, stack, .. }, sampled) = (said(&words, Reductions::NONE, LONG), sampled(&words));
        match whole {
            Some(true) => {
                assert_eq!(sampled.steps_to_hazard, None, "seed {seed}");
                assert!(sampled.deepest <= stack.upper, "seed {seed}: {sampled:?} and {stack:?}");
                holds += 1;
                as_deep += u64::from(sampled.deepest == stack.upper);
            }
            Some(false) => {
                violated += 1;
                found += u64::from(sampled.steps_to_hazard.is_some());
            }
            None => {}
        }
    }
    assert!(found * 10 > violated * 9, "{found} of {violated} hazards are found");
    assert!(as_deep * 10 > holds * 9, "{as_deep} of {holds} stacks get as deep");
}

#[test]
fn runs_at_random_are_the_same_every_time() {
    for seed in 0..10 {
        let words = program(&mut Random::new(seed));
        assert_eq!(sampled(&words), sampled(&words), "seed {seed}");
    }
}

/// Switches the receiver on, waits for a byte, and comes to `nop` at byte address 14.
const WAITS_FOR_BYTE: [u16; 9] = [0xe100, 0x9300, 0x00c1, 0x9110, 0x00c0, 0xff17, 0xcffc, 0x0000, 0xcfff];

#[test]
fn a_run_of_the_hardware_takes_the_place_of_one_that_rests_on_the_model() {
    #[track_caller]
    fn check(reductions: Reductions) {
        // At the first look the byte would come too soon.
        let results = results(&WAITS_FOR_BYTE, &["AG (pc != 14)"], reductions, LONG);
        let result = &results.properties[0];
        assert_eq!((&result.verdict, result.basis), (&Verdict::Violated, Basis::Hardware));
        assert!(result.evidence.as_ref().is_some_and(|run| run.replayed && run.is_of_hardware() && run.cycles > 80));
        assert!(!result.methods.contains(&Pass::RandomSearch));
        assert_eq!((results.stack.lower, results.stack.upper), (Some(0), Some(0)));
    }
    check(Reductions::ALL);
    check(Reductions::NONE);
}
