//! Altering inputs.

use crate::corpus::Corpus;
use avr_testkit::Random;

/// Longer inputs are cut.
const MAX_BYTES: usize = 1 << 16;

/// An input of the corpus with some alterations.
pub(crate) fn altered(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let inputs = corpus.inputs();
    let mut input = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(8) {
        alter(&mut input, corpus, random);
    }
    input.truncate(MAX_BYTES);
    input
}

fn alter(input: &mut Vec<u8>, corpus: &Corpus, random: &mut Random) {
    let at = random.below(input.len() + 1);
    let length = random.below(16).min(input.len() - at);
    match random.below(9) {
        0 if !input.is_empty() => {
            let at = at.min(input.len() - 1);
            input[at] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let at = at.min(input.len() - 1);
            input[at] = [0, 1, 0x7f, 0x80, 0xff, random.byte()][random.below(6)];
        }
        2 => input.insert(at, random.byte()),
        3 => _ = input.drain(at..at + length),
        4 => {
            let part = input[at..at + length].to_vec();
            let times = 1 + random.below(40);
            input.splice(at..at, part.repeat(times));
        }
        5 => {
            let words = corpus.words();
            let word = words[random.below(words.len())].clone();
            input.splice(at..at + length, word);
        }
        6 => input.truncate(at),
        7 => {
            let other = &corpus.inputs()[random.below(corpus.inputs().len())];
            let from = random.below(other.len() + 1);
            let to = (from + random.below(200)).min(other.len());
            input.splice(at..at, other[from..to].iter().copied());
        }
        _ => {
            let word = corpus.words()[random.below(corpus.words().len())].repeat(1 + random.below(300));
            input.splice(at..at, word);
        }
    }
}
