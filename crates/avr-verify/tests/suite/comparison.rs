//! Comparisons of random programs, against the inclusion of their sequences of events that is computed anew here on concrete states:
//! no formula, no abstraction, no automaton that is read off.

use std::collections::BTreeSet;
use std::time::Duration;

use avr_events::faults::{Fault, with_fault};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::image::image;
use avr_testkit::{Random, cases};
use avr_verify::{Compared, Comparison, Request, Verdict, compare, event_automaton, events};

use crate::blocks::{Action, Block, Concrete, LETTERS, Letter, edges, program, words};

/// The time for one case.
const TIME: Duration = Duration::from_secs(30);

/// An event with its value, where the alphabet has it.
type Seen = Option<(Letter, u8)>;

/// The steps of a state as far as an alphabet sees them.
fn steps(blocks: &[Block], from: Concrete, alphabet: &[Letter]) -> Vec<(Seen, Concrete)> {
    let seen = |event: Seen| event.filter(|(letter, _)| alphabet.contains(letter));
    edges(blocks, from).into_iter().map(|(event, next)| (seen(event), next)).collect()
}

/// The states that silent steps lead to.
fn silently(blocks: &[Block], mut states: BTreeSet<Concrete>, alphabet: &[Letter]) -> BTreeSet<Concrete> {
    let mut waiting: Vec<Concrete> = states.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        for (event, next) in steps(blocks, state, alphabet) {
            if event.is_none() && states.insert(next) {
                waiting.push(next);
            }
        }
    }
    states
}

fn first() -> impl Iterator<Item = Concrete> {
    (0..4).map(|register| Concrete { block: 0, register, port: 0 })
}

/// True if each sequence of events of one program is one of the other.
fn is_included(new: &[Block], old: &[Block], alphabet: &[Letter]) -> bool {
    let begin = silently(old, first().collect(), alphabet);
    let mut waiting: Vec<(Concrete, BTreeSet<Concrete>)> = first().map(|state| (state, begin.clone())).collect();
    let mut known = BTreeSet::new();
    while let Some((state, others)) = waiting.pop() {
        if !known.insert((state, others.clone())) {
            continue;
        }
        for (event, next) in steps(new, state, alphabet) {
            let Some(event) = event else {
                waiting.push((next, others.clone()));
                continue;
            };
            let answers = others.iter().flat_map(|other| steps(old, *other, alphabet));
            let after: BTreeSet<Concrete> =
                answers.filter(|(other, _)| *other == Some(event)).map(|(_, state)| state).collect();
            if after.is_empty() {
                return false;
            }
            waiting.push((next, silently(old, after, alphabet)));
        }
    }
    true
}

/// The program with something changed or not.
fn changed(blocks: &[Block], random: &mut Random) -> Vec<Block> {
    let mut blocks = blocks.to_vec();
    let (count, which) = (blocks.len(), random.below(blocks.len()));
    match random.below(5) {
        0 => blocks[which].action = Action::WriteB(random.below(4) as u8),
        1 => blocks[which].bit = None,
        2 => blocks[which].next[0] = random.below(count),
        3 => {
            // A step more that nobody sees.
            blocks.push(Block { action: Action::Nothing, ..blocks[which] });
            blocks[which].next = [count, count];
            blocks[which].bit = None;
        }
        _ => {}
    }
    blocks
}

/// The answers about random cases.
#[derive(Debug, Default)]
struct Count {
    holds: u64,
    violated: u64,
    unknown: u64,
    /// Automata of which both directions are proved.
    exact: u64,
    /// The reasons of the first that are unknown.
    reasons: Vec<String>,
}

/// Compares two programs; an error says where the verifier is wrong.
fn check(seed: u64, count: &mut Count) -> Result<(), String> {
    let mut random = Random::new(seed);
    let old = program(&mut random);
    let new = if random.chance(80) { changed(&old, &mut random) } else { program(&mut random) };
    let mut alphabet: Vec<Letter> = LETTERS.iter().map(|(letter, _)| *letter).filter(|_| random.chance(60)).collect();
    if alphabet.is_empty() {
        alphabet.push(Letter::WriteB);
    }
    let expected = is_included(&new, &old, &alphabet);
    let text = |letter: &Letter| {
        let name = LETTERS.iter().find(|(known, _)| known == letter).expect("it is there").1;
        if *letter == Letter::ReadB { format!("{name} & 0x03") } else { name.to_owned() }
    };
    let texts: Vec<String> = alphabet.iter().map(text).collect();
    let device = Device::named("atmega328p-gpio").expect("it exists");
    let file = PropertyFile::parse("p.ron", "()").expect("the file is right");
    let (old_image, new_image) = (image(&words(&old)), image(&words(&new)));
    let (old_request, new_request) = (Request::of(&old_image, device, &file), Request::of(&new_image, device, &file));
    let alphabet = events(&texts, &[&old_request, &new_request]).expect("these are events");
    let time = Some(TIME);
    let comparison = Comparison { old: old_request, new: new_request, name: "old", alphabet: &alphabet, time };
    let compared = compare(&comparison).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let verdict = match &compared {
        Compared::Results(results, _) => &results.properties[0].verdict,
        Compared::Nothing(reason) => return Err(format!("seed {seed}: {reason}")),
    };
    let is_right = match verdict {
        Verdict::Holds => {
            count.holds += 1;
            expected
        }
        Verdict::Violated => {
            count.violated += 1;
            !expected
        }
        Verdict::Unknown(unknown) => {
            count.unknown += 1;
            if count.reasons.len() < 8 {
                count.reasons.push(format!("seed {seed}, {expected}: {} {old:?} {new:?} {texts:?}", unknown.reason));
            }
            !unknown.self_check_failed
        }
    };
    if !is_right {
        return Err(format!("seed {seed}: {verdict:?}, and should be {expected}: {old:?} {new:?} {texts:?}"));
    }
    if seed.is_multiple_of(4) {
        let extracted = event_automaton((&old_request, "old"), &alphabet, time);
        let extracted = extracted.unwrap_or_else(|error| panic!("seed {seed}: {error}"))?;
        count.exact += u64::from(extracted.has_all && extracted.has_only);
    }
    Ok(())
}

fn check_all(seeds: u64) -> Result<Count, String> {
    let mut count = Count::default();
    (0..seeds).try_for_each(|seed| check(seed, &mut count))?;
    Ok(count)
}

/// True if most of the cases are decided.
fn is_decisive(count: &Count, seeds: u64) -> bool {
    count.holds * 5 > seeds && count.violated * 10 > seeds && count.unknown * 10 < seeds && count.exact * 5 > seeds
}

#[test]
fn comparisons_are_those_of_concrete_states() {
    let seeds = cases(25, 10_000);
    let count = check_all(seeds).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(is_decisive(&count, seeds), "{count:?}");
    let few = 60;
    for fault in Fault::ALL {
        let found = with_fault(*fault, || check_all(few));
        assert!(!found.as_ref().is_ok_and(|count| is_decisive(count, few)), "{fault:?} is not found: {found:?}");
    }
}
